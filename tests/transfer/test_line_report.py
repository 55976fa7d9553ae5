"""The report of an import, line by line: what was read, or why it was refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cuetrail import Memory, Scope
from cuetrail.transfer.import_file import LineReport

LINES: tuple[Any, ...] = (
    {"cuetrail": 1},
    {"type": "node", "id": "a", "text": "The first", "at": 1, "source": "log.md", "seq": 4, "tags": ["Radio mast"]},
    {"type": "node", "id": "b", "text": "The second", "at": 1, "source": "log.md", "seq": 5,
     "life": {"accesses": 7, "last_access": 5}},
    {"type": "edge", "id": "e", "src": "a", "dst": "b", "weight": 0.7},
    {"type": "edge", "id": "f", "src": "a", "dst": "nowhere"},
    "not JSON",
    {"type": "fact", "id": "x", "subject": "a", "predicate": "uses", "value": "SQLite", "access_count": 3,
     "last_accessed": 9, "status": "confirmed"},
    {"type": "note", "id": "n", "target": "a", "text": "Ask about this"},
    {"type": "node", "id": "c", "text": "too heavy", "at": 1, "life": {"salience": 44}},
    {"type": "node", "id": "s", "text": "The key is under the mat by the door", "at": 1},
    {"type": "node", "id": "t", "text": "of a team", "at": 1, "team": "ops"},
)  # fmt: skip


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", embedder=None, scope=Scope("acme", "ann")) as opened:
        opened.forget(opened.add("The key is under the mat by the door").id)
        yield opened


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in LINES))
    return path


def results(memory: Memory, file: Path, **options: Any) -> dict[int, LineReport]:
    told: list[LineReport] = []
    memory.import_(file, on_line=told.append, **options)
    assert len({report.line for report in told}) == len(told)
    return {report.line: report for report in told}


@pytest.mark.parametrize("dry_run", [True, False], ids=["dry run", "import"])
def test_each_line_is_reported_once_with_its_result(memory: Memory, file: Path, dry_run: bool) -> None:
    told = results(memory, file, dry_run=dry_run)
    assert {line: (report.type, report.id, report.result) for line, report in told.items()} == {
        2: ("node", "a", "added"), 3: ("node", "b", "added"), 4: ("edge", "e", "added"), 5: ("edge", "f", "refused"),
        6: ("", "", "refused"), 7: ("fact", "x", "added"), 8: ("note", "n", "written"), 9: ("node", "c", "refused"),
        10: ("node", "s", "forgotten"), 11: ("node", "t", "refused"),
    }  # fmt: skip
    assert "nowhere" in told[5].reason
    assert "not a record" in told[6].reason
    assert "salience" in told[9].reason
    assert "team" in told[11].reason
    assert memory.stats().nodes == (0 if dry_run else 2)


def test_positions_tags_and_counts_of_use_come_in(memory: Memory, file: Path) -> None:
    memory.import_(file)
    first, second = memory.get("a"), memory.get("b")
    assert first is not None
    assert second is not None
    assert (first.seq, second.seq, first.own_tags) == (4, 5, ("radio_mast",))
    assert (second.life.accesses, second.life.last_access) == (7, 5)
    [fact] = memory.facts("a")
    assert (fact.access_count, fact.last_accessed, fact.status) == (3, 9, "confirmed")
    assert results(memory, file)[2].result == "unchanged"


def test_a_vector_may_be_a_list_of_numbers(tmp_path: Path) -> None:
    line = {"type": "node", "id": "a", "text": "A text", "at": 1}
    with Memory(tmp_path / "memory") as memory:
        space = memory.session.vectors.space()
        assert space is not None
        head = {"cuetrail": 1, "vectors": {"model": space.model, "dim": space.dim}}
        (tmp_path / "in.jsonl").write_text(f"{json.dumps(head)}\n{json.dumps({**line, 'vector': [3] * space.dim})}\n")
        memory.import_(tmp_path / "in.jsonl")
        memory.export(tmp_path / "out.jsonl", vectors=True)
    plain = {"cuetrail": 1}
    with Memory(tmp_path / "other") as other:
        (tmp_path / "plain.jsonl").write_text(f"{json.dumps(plain)}\n{json.dumps(line)}\n")
        other.import_(tmp_path / "plain.jsonl")
        other.export(tmp_path / "made.jsonl", vectors=True)
    own, made = ((tmp_path / name).read_text().splitlines()[1] for name in ("out.jsonl", "made.jsonl"))
    assert json.loads(own)["vector"] != json.loads(made)["vector"]


def test_the_lines_of_the_documentation_come_in(memory: Memory, tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "format.md"
    (tmp_path / "lines.jsonl").write_text(page.read_text(encoding="utf-8").split("```json\n")[1].split("```")[0])
    report = memory.import_(tmp_path / "lines.jsonl")
    assert (report.records, report.errors) == (5, ())
    [fact] = memory.facts("ada")
    assert (fact.value, fact.access_count, fact.status) == ("Tromsø", 3, "confirmed")
