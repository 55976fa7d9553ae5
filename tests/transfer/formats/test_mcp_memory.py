"""Import and export of the memory file of the reference MCP server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuetrail.errors import InputError
from cuetrail.model import Edge, Fact, FileError, Node
from cuetrail.store.read import Record
from cuetrail.transfer.formats import mcp_memory

ADA = {"type": "entity", "name": "Ada", "entityType": "person", "observations": ["Lives in Turin", 'Says "hi"\n🍵']}
JACQ = {"type": "entity", "name": "JACQ", "entityType": "software", "observations": []}
WORKS = {"type": "relation", "from": "Ada", "to": "JACQ", "relationType": "works_on"}


def write(path: Path, *rows: Any) -> Path:
    lines = [
        row if isinstance(row, str) else json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows
    ]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def nodes(records: list[Record]) -> dict[str, Node]:
    return {r.name or r.text: r for r in records if isinstance(r, Node)}


def edges(records: list[Record]) -> list[Edge]:
    return [r for r in records if isinstance(r, Edge)]


def test_each_observation_is_an_atom_tied_to_its_entity(tmp_path: Path) -> None:
    records = list(mcp_memory.load(write(tmp_path / "memory.jsonl", ADA)))
    found = nodes(records)
    assert (found["Ada"].kind, found["Lives in Turin"].kind) == ("person", "atom")
    assert found["Lives in Turin"].props == {"of": found["Ada"].id}
    ties = [(e.src, e.dst, e.kind, e.weight) for e in edges(records)]
    assert (found['Says "hi"\n🍵'].id, found["Ada"].id, "observation", 0.85) in ties


def test_a_relation_is_an_edge_with_its_type(tmp_path: Path) -> None:
    records = list(mcp_memory.load(write(tmp_path / "memory.jsonl", ADA, JACQ, WORKS)))
    (edge,) = [e for e in edges(records) if e.type]
    found = nodes(records)
    assert (edge.src, edge.dst, edge.type, edge.weight) == (found["Ada"].id, found["JACQ"].id, "works_on", 0.65)


def test_an_unknown_type_becomes_an_entity_that_remembers_it(tmp_path: Path) -> None:
    found = nodes(list(mcp_memory.load(write(tmp_path / "memory.jsonl", JACQ, {**ADA, "entityType": "Person"}))))
    assert (found["JACQ"].kind, found["JACQ"].props) == ("entity", {"entityType": "software"})
    assert (found["Ada"].kind, found["Ada"].props) == ("person", {"entityType": "Person"})


def test_a_file_as_the_server_writes_it_comes_back_byte_for_byte(tmp_path: Path) -> None:
    file = write(tmp_path / "memory.jsonl", ADA, JACQ, WORKS, {**WORKS, "to": "Nobody"})
    assert mcp_memory.dump(mcp_memory.load(file), tmp_path / "out.jsonl") == 4
    assert (tmp_path / "out.jsonl").read_bytes() == file.read_bytes()


def test_the_order_of_records_does_not_matter_for_what_is_written(tmp_path: Path) -> None:
    file = write(tmp_path / "memory.jsonl", JACQ, ADA, WORKS, {**WORKS, "relationType": "made"})
    shuffled = sorted(mcp_memory.load(file), key=lambda r: r.id if isinstance(r, Node | Edge) else "")
    mcp_memory.dump(shuffled, tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == file.read_bytes()


def test_a_missing_end_of_a_relation_becomes_a_placeholder_and_is_not_written(tmp_path: Path) -> None:
    records = list(mcp_memory.load(write(tmp_path / "memory.jsonl", WORKS)))
    assert {n.name: dict(n.props) for n in nodes(records).values()} == {
        "Ada": {"placeholder": True},
        "JACQ": {"placeholder": True},
    }
    mcp_memory.dump(records, tmp_path / "out.jsonl")
    assert json.loads((tmp_path / "out.jsonl").read_text()) == WORKS


def test_names_that_differ_in_case_are_one_entity_with_both_spellings(tmp_path: Path) -> None:
    small = {**ADA, "name": "ada", "observations": ["Plays chess"]}
    file = write(tmp_path / "memory.jsonl", ADA, small)
    records = list(mcp_memory.load(file))
    assert nodes(records)["Ada"].aliases == ("ada",)
    assert len([e for e in edges(records) if e.dst == nodes(records)["Ada"].id]) == 3
    mcp_memory.dump(records, tmp_path / "out.jsonl")
    assert list(mcp_memory.load(tmp_path / "out.jsonl")) == records


def test_two_types_for_one_name_are_reported(tmp_path: Path) -> None:
    errors: list[FileError] = []
    list(mcp_memory.load(write(tmp_path / "memory.jsonl", ADA, {**ADA, "entityType": "robot"}), errors))
    assert [e.error.split(":")[0] for e in errors] == ["line 2"]


def test_a_bad_line_is_reported_with_its_number_and_the_rest_is_read(tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    bad = ["{oops", "[1]", '{"type":"song"}', '{"type":"entity","name":" "}', '{"type":"relation","from":"Ada"}']
    bad.append("[" * 100_000)
    write(file, *bad, "", {**ADA, "observations": ["kept", 7, " "]})
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes() + b"\xff\xfe bad bytes\n")
    errors: list[FileError] = []
    records = list(mcp_memory.load(file, errors))
    assert set(nodes(records)) == {"Ada", "kept"}
    lines = sorted(int(e.error.removeprefix("line ").split(":")[0]) for e in errors)
    assert lines == [1, 2, 3, 4, 5, 6, 8, 9]
    assert {e.path for e in errors} == {str(file)}


def test_an_empty_file_gives_nothing_and_no_error(tmp_path: Path) -> None:
    errors: list[FileError] = []
    assert list(mcp_memory.load(write(tmp_path / "memory.jsonl"), errors)) == []
    assert errors == []


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no"):
        mcp_memory.load(tmp_path / "nothing.jsonl")
    with pytest.raises(InputError, match="folder"):
        mcp_memory.load(tmp_path)


def test_what_read_graph_prints_is_read_too(tmp_path: Path) -> None:
    lines = write(tmp_path / "memory.jsonl", ADA, JACQ, WORKS)
    graph = {"entities": [{k: v for k, v in e.items() if k != "type"} for e in (ADA, JACQ)], "relations": [WORKS]}
    (tmp_path / "graph.json").write_text(json.dumps(graph, indent=2), encoding="utf-8")
    assert list(mcp_memory.load(tmp_path / "graph.json")) == list(mcp_memory.load(lines))


def test_a_file_in_utf16_is_read(tmp_path: Path) -> None:
    file = write(tmp_path / "memory.jsonl", ADA)
    (tmp_path / "wide.jsonl").write_bytes(file.read_text(encoding="utf-8").encode("utf-16"))
    assert list(mcp_memory.load(tmp_path / "wide.jsonl")) == list(mcp_memory.load(file))


def test_fields_we_do_not_know_are_written_back(tmp_path: Path) -> None:
    file = write(tmp_path / "memory.jsonl", {**ADA, "importance": 3}, JACQ, {**WORKS, "since": "2024"})
    mcp_memory.dump(mcp_memory.load(file), tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == file.read_bytes()


def test_records_from_elsewhere_are_written_as_entities_and_observations(tmp_path: Path) -> None:
    records: list[Record] = [
        Node("A0", text="A loose thought"),
        Node("p", "person", "Ada", text="Mathematician"),
        Node("c", "concept", "Tea"),
        Fact("f1", "p", "lives_in", value="Turin"),
        Fact("f2", "p", "likes", object="c"),
        Fact("f3", "p", "lives_in", value="Rome", status="superseded"),
        Edge("e1", "p", "c", via="tea"),
    ]
    mcp_memory.dump(records, tmp_path / "out.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert {row["name"]: row["observations"] for row in rows if row["type"] == "entity"} == {
        "A0": ["A loose thought"],
        "Ada": ["Mathematician", "lives_in: Turin"],
        "Tea": [],
    }
    assert [row["relationType"] for row in rows if row["type"] == "relation"] == ["likes"]


texts = st.text(max_size=30) | st.sampled_from(
    ['a "quoted"\nline', "🍵\u2028tea", "\r\nback\\slash", "Ada", "ada ", "É"]
)
entities = st.fixed_dictionaries(
    {"type": st.just("entity"), "name": texts, "entityType": st.sampled_from(["person", "Concept", "software", ""])},
    optional={"observations": st.lists(texts, max_size=4), "extra": st.integers() | texts},
)
relations = st.fixed_dictionaries(
    {"type": st.just("relation"), "from": texts, "to": texts, "relationType": texts}, optional={"extra": texts}
)


@given(st.lists(entities | relations, max_size=12))
def test_any_graph_survives_the_round_trip(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("mcp")
    file = folder / "memory.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    records = list(mcp_memory.load(file))
    mcp_memory.dump(records, folder / "once.jsonl")
    again = list(mcp_memory.load(folder / "once.jsonl"))
    mcp_memory.dump(again, folder / "twice.jsonl")
    assert again == records
    assert (folder / "twice.jsonl").read_bytes() == (folder / "once.jsonl").read_bytes()
    assert len({r.id for r in records if isinstance(r, Node | Edge)}) == len(records)


@given(st.binary(max_size=200))
def test_no_bytes_make_it_fail(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    file = tmp_path_factory.mktemp("mcp") / "memory.jsonl"
    file.write_bytes(data)
    list(mcp_memory.load(file, []))
