"""Facts read from files and chats have their source, follow edits, and go with forgotten texts."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from cuetrail import Memory
from cuetrail.errors import InputError, ReadError
from cuetrail.extract.facts_by_llm import PAUSE, OpenAIReader
from cuetrail.extract.facts_by_rules import Passage, Triple

NOW = 1_765_929_600_000
DAY = 86_400_000
NOTE = """---
status: draft
owner: "[[Ines Okafor]]"
voice: me
---
JACQ Server uses DuckDB.

---

I live in Oslo.

2025-03-04: We decided to keep the relay.
"""


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "m", embedder=None) as opened:
        yield opened


def said(memory: Memory, subject: str, **when: Any) -> set[tuple[str, str]]:
    found = memory.facts(subject, **(when or {"now": NOW + 9 * DAY}))
    objects = memory.nodes(*[f.object for f in found if f.object])
    return {(f.predicate, f.value or "" if f.object is None else objects[f.object].name or "") for f in found}


def test_a_note_states_its_fields_and_what_its_sentences_say(memory: Memory) -> None:
    memory.ingest_text(NOTE, source="vault/Plan.md", now=NOW)
    assert said(memory, "Plan") == {("status", "draft"), ("owner", "Ines Okafor"), ("decided", "keep the relay")}
    assert said(memory, "JACQ Server") == {("uses", "DuckDB")}
    assert said(memory, "user") == {("lives_in", "Oslo")}
    (fact,) = memory.facts("JACQ Server", now=NOW)
    assert (fact.source, fact.status, fact.provenance, fact.confidence) == ("file", "staged", "inference", 0.75)
    assert memory.nodes(str(fact.source_ref))[str(fact.source_ref)].text == "JACQ Server uses DuckDB."
    assert "- uses: DuckDB" in memory.narrate("JACQ Server", now=NOW).text


def test_taking_it_in_again_changes_nothing(memory: Memory) -> None:
    memory.ingest_text(NOTE, source="vault/Plan.md", now=NOW)
    before = memory.stats()
    memory.ingest_text(NOTE, source="vault/Plan.md", now=NOW + DAY)
    assert (memory.stats().facts, memory.stats().nodes) == (before.facts, before.nodes)


def test_an_edit_makes_what_was_stated_history(memory: Memory) -> None:
    memory.ingest_text(NOTE, source="vault/Plan.md", now=NOW)
    edited = NOTE.replace("draft", "final").replace("DuckDB", "SQLite").replace("Oslo", "Bergen")
    memory.ingest_text(edited, source="vault/Plan.md", now=NOW + DAY)
    assert ("status", "final") in said(memory, "Plan")
    assert said(memory, "JACQ Server") == {("uses", "SQLite")}
    assert said(memory, "user") == {("lives_in", "Bergen")}
    assert ("status", "draft") in said(memory, "Plan", as_of=NOW)
    assert [f.status for f in memory.fact_history("Plan", predicate="status") if f.value == "draft"] == ["superseded"]
    assert said(memory, "JACQ Server", as_of=NOW) == {("uses", "DuckDB")}
    assert said(memory, "user", as_of=NOW) == {("lives_in", "Oslo")}


def test_a_text_that_goes_takes_its_facts_back_but_not_what_a_user_stated(memory: Memory) -> None:
    memory.ingest_text(NOTE, source="vault/Plan.md", now=NOW)
    memory.fact("JACQ Server", "uses", "DuckDB", now=NOW)
    memory.ingest_text("Nothing here.", source="vault/Plan.md", now=NOW + DAY)
    assert said(memory, "user") == set()
    assert said(memory, "JACQ Server") == {("uses", "DuckDB")}


def test_forgetting_a_text_forgets_what_was_read_out_of_it(memory: Memory) -> None:
    memory.ingest_text(NOTE, source="vault/Plan.md", now=NOW)
    atom = memory.recall("JACQ Server").hits[0].node.id
    memory.forget(atom)
    assert memory.get("JACQ Server") is None
    memory.ingest_text(NOTE + "\nMore.", source="vault/Plan.md", now=NOW + DAY)
    assert memory.get("JACQ Server") is None
    assert said(memory, "user") == {("lives_in", "Oslo")}


def test_in_a_chat_only_people_state_things_and_i_is_who_speaks(memory: Memory) -> None:
    turns = [
        {"role": "user", "content": "I live in Oslo.", "created_at": "2025-01-01T00:00:00Z"},
        {"role": "assistant", "content": "I live in a data centre. JACQ Server uses Redis."},
        {"role": "Marek", "content": "I work on the relay."},
    ]
    memory.ingest_text(json.dumps(turns), source="chat.json", now=NOW)
    assert said(memory, "user") == {("lives_in", "Oslo")}
    assert said(memory, "Marek") == {("works_on", "relay")}
    assert memory.get("JACQ Server") is None
    assert memory.facts("user", now=NOW)[0].source == "conversation"


def test_who_is_named_beside_a_role_is_who_speaks(memory: Memory) -> None:
    turns = [
        {"role": "user", "name": "Ines Okafor", "content": "I live in Oslo."},
        {"role": "human", "speaker": "Tom Berg", "content": "I live in Rome."},
        {"role": "assistant", "name": "Ada Bot", "content": "I live in Paris."},
        {"role": "user", "name": "", "content": "I live in Bonn."},
    ]
    memory.ingest_text(json.dumps(turns), source="chat.json", now=NOW)
    found = {name: said(memory, name) for name in ("Ines Okafor", "Tom Berg", "Ada Bot", "user")}
    cities = ("Oslo", "Rome", None, "Bonn")
    assert found == {n: {("lives_in", c)} if c else set() for n, c in zip(found, cities, strict=True)}


@pytest.mark.parametrize(
    ("source", "head"),
    [
        ("vault/a.md", "type: journal"),
        ("vault/a.md", "voice: me"),
        ("vault/a.md", "voice: I"),
        ("vault/a.md", "tags: [diary, oslo]"),
        ("vault/a.md", "tags: journal/2026"),
        ("vault/Journal/a.md", "x: y z"),
        ("vault/daily notes/monday.md", "x: y z"),
        ("vault/2026-03-02.md", "x: y z"),
        ("vault/20260302.md", "x: y z"),
    ],
)
def test_in_a_note_marked_as_a_journal_i_is_the_user(memory: Memory, source: str, head: str) -> None:
    memory.ingest_text(f"---\n{head}\n---\nI live in Oslo.", source=source, now=NOW)
    assert said(memory, "user") == {("lives_in", "Oslo")}


@pytest.mark.parametrize(
    ("source", "head"),
    [
        ("vault/a.md", "type: article"),
        ("vault/2026-03-02-meeting.md", "x: y z"),
        ("vault/2026_w10.md", "x: y z"),
        ("vault/journalism/a.md", "tags: journalism"),
        ("blog/a.txt", "voice: Ann"),
        ("page.html", "x"),
    ],
)
def test_in_any_other_file_i_states_nothing_of_the_user(memory: Memory, source: str, head: str) -> None:
    memory.ingest_text(f"---\n{head}\n---\nI live in Oslo. I like making things.", source=source, now=NOW)
    assert said(memory, "user") == set()
    assert "likes" not in memory.brief(now=NOW).text


def test_a_file_that_is_deleted_leaves_what_another_says_to_hold(memory: Memory, tmp_path: Path) -> None:
    vault = tmp_path / "journal"
    vault.mkdir()
    for number, (name, city) in enumerate((("a", "Oslo"), ("b", "Rome"), ("c", "Rome"))):
        (vault / f"{name}.md").write_text(
            f"date: 2025\n\nInes Okafor works on it.\n\nstatus:: x\n\nI live in {city}.\n"
        )
        memory.ingest(vault, now=NOW + number * DAY)
    assert said(memory, "user") == {("lives_in", "Rome")}
    left: list[tuple[str, str | None]] = [("c", "Rome"), ("b", "Oslo"), ("a", None)]
    for name, home in left:
        (vault / f"{name}.md").unlink()
        memory.ingest(vault, now=NOW + 9 * DAY)
        assert said(memory, "user") == ({("lives_in", home)} if home else set())


def test_an_edit_elsewhere_in_a_text_leaves_a_value_and_its_use_as_they_were(memory: Memory) -> None:
    memory.ingest_text("I live in Oslo. It rains.", source="diary/a.md", now=NOW)
    memory.narrate("user", now=NOW)
    memory.ingest_text("I live in Oslo. It snows.", source="diary/a.md", now=NOW + DAY)
    (fact,) = memory.fact_history("user")
    assert (fact.status, fact.created, fact.access_count) == ("staged", NOW, 1)
    memory.ingest_text("It snows.", source="diary/a.md", now=NOW + 2 * DAY)
    assert said(memory, "user") == set()


def test_an_older_note_that_comes_in_later_does_not_change_what_holds_now(memory: Memory) -> None:
    for day, city in (("2025-05-01", "Oslo"), ("2024-05-01", "Bergen")):
        memory.ingest_text(
            f"---\ndate: {day}\n---\nMy hometown is {city}.\n\n---\n\nI live in {city}.", source=f"{day}.md", now=NOW
        )
    memory.fact("user", "lives_in", "Oslo", confidence=0.9, source="file", valid_from=NOW - 99 * DAY, now=NOW)
    assert ("lives_in", "Oslo") in said(memory, "user")
    assert ("lives_in", "Bergen") not in said(memory, "user")


def test_what_was_stated_of_a_name_passes_to_the_note_that_gets_it(memory: Memory) -> None:
    memory.ingest_text("JACQ Server uses DuckDB.", source="vault/One.md", now=NOW)
    memory.ingest_text("The plan of it.", source="vault/JACQ Server.md", now=NOW + DAY)
    node = memory.get("JACQ Server")
    assert node is not None
    assert node.kind == "source"
    assert said(memory, "JACQ Server") == {("uses", "DuckDB")}
    memory.ingest_text("JACQ Server uses SQLite.", source="vault/Two.md", now=NOW + DAY)
    assert said(memory, "JACQ Server") == {("uses", "DuckDB"), ("uses", "SQLite")}
    assert memory.stats().kinds["source"] == 3
    assert "entity" not in memory.stats().kinds


def test_what_is_in_quarantine_states_nothing(memory: Memory) -> None:
    memory.ingest_text(NOTE, source="spam.md", provenance="quarantine", now=NOW)
    assert memory.stats().facts == 0


def test_without_an_extractor_nothing_is_read(tmp_path: Path) -> None:
    with Memory(tmp_path / "m", embedder=None, extractor="none") as memory:
        memory.ingest_text(NOTE, source="vault/Plan.md", now=NOW)
        assert memory.stats().facts == 0
    with pytest.raises(InputError, match="there is no extractor 'magic'"):
        Memory(tmp_path / "m", embedder=None, extractor="magic")


def test_a_reader_of_ones_own_takes_the_place_of_the_rules_and_may_fail(tmp_path: Path) -> None:
    def reader(passages: Sequence[Passage]) -> list[list[Triple]]:
        if any("fail" in one.text for one in passages):
            raise ValueError("no idea")
        return [[Triple("Zeta", "seen_in", one.title, 0.8)] for one in passages]

    with Memory(tmp_path / "m", embedder=None, extractor=reader) as memory:
        memory.ingest_text("Something.", source="a/One.md", now=NOW)
        memory.ingest_text("fail", source="a/Two.md", now=NOW)
        assert said(memory, "Zeta") == {("seen_in", "One")}
        assert memory.recall("fail").hits


# --- a model behind an endpoint


ANSWER = {"subject": "Zeta", "predicate": "runs on", "object": "steam", "confidence": 0.7}


class Endpoint(BaseHTTPRequestHandler):
    """Answers as an OpenAI-compatible server does; the first answers are failures."""

    failures: ClassVar[list[int]]
    contents: ClassVar[list[str]]
    asked: ClassVar[list[Any]]
    content: str

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).asked.append((body, self.headers.get("Authorization")))
        if self.failures:
            self.send_error(self.failures.pop(0))
            return
        content = self.contents.pop(0) if self.contents else self.content
        answer = json.dumps({"choices": [{"message": {"content": content}}]}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[tuple[str, type[Endpoint]]]:
    class Handler(Endpoint):
        failures: ClassVar[list[int]] = []
        contents: ClassVar[list[str]] = []
        asked: ClassVar[list[Any]] = []
        content = json.dumps({"facts": [ANSWER, {"subject": ""}]})

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1", Handler
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_model_reads_facts_that_fit_the_schema_and_is_asked_again_when_it_fails(endpoint: Any) -> None:
    url, handler = endpoint
    handler.failures += [500, 429]
    waited: list[float] = []
    reader = OpenAIReader(url, "small", "secret", wait=waited.append)
    assert reader([Passage("a", "Zeta runs on steam.", "Plan")]) == [[Triple("Zeta", "runs_on", "steam", 0.7)]]
    assert waited == [0.5, 1.0]
    body, key = handler.asked[-1]
    assert (body["response_format"]["type"], key) == ("json_schema", "Bearer secret")
    assert "Zeta runs on steam." in body["messages"][1]["content"]


GARBAGE = [
    "", "no", "[]", "{}", '{"facts": 3}', '{"facts": ["x", 1, null]}', '{"facts": {"a": 1}}', "\ud800", "null",
    '{"facts": [{"subject": {}, "predicate": [], "object": 3, "confidence": "high"}]}', '{"facts": [' + "[" * 200,
]  # fmt: skip


@pytest.mark.parametrize("content", GARBAGE)
def test_garbage_costs_the_facts_of_its_text_and_nothing_else(endpoint: Any, content: str) -> None:
    url, handler = endpoint
    handler.contents += [content] * 3
    reader = OpenAIReader(url, "small", wait=lambda _: None)
    read = reader([Passage(id_, "Zeta runs on steam.", "Plan") for id_ in "ab"])
    assert read[0] == []
    assert read[1] in ([Triple("Zeta", "runs_on", "steam", 0.7)], [])
    handler.contents.clear()
    assert reader([Passage("c", "Zeta runs on steam.", "Plan")]) == [[Triple("Zeta", "runs_on", "steam", 0.7)]]


def test_an_endpoint_that_is_away_is_left_alone_for_a_while(endpoint: Any) -> None:
    url, handler = endpoint
    handler.failures += [503] * 9
    moment = 0.0
    reader = OpenAIReader(url, "small", wait=lambda _: None, clock=lambda: moment)
    with pytest.raises(ReadError, match="503"):
        reader([Passage("a", "text", "Plan")])
    with pytest.raises(ReadError, match="did not answer a moment ago"):
        reader([Passage(id_, "text", "Plan") for id_ in "bc"])
    assert len(handler.asked) == 3
    moment = PAUSE
    handler.failures.clear()
    assert reader([Passage("d", "text", "Plan")]) != [[]]


def test_an_answer_that_never_ends_is_given_up(endpoint: Any) -> None:
    url, _ = endpoint
    moments = iter(range(0, 10**6, 40))
    reader = OpenAIReader(url, "small", wait=lambda _: None, clock=lambda: next(moments), seconds=30)
    with pytest.raises(ReadError, match="does not come to an end"):
        reader([Passage("a", "text", "Plan")])


def test_a_model_that_does_not_answer_costs_its_facts_and_never_a_write(endpoint: Any, tmp_path: Path) -> None:
    url, handler = endpoint
    handler.failures += [401]
    with pytest.raises(ReadError, match="no facts could be read by small"):
        OpenAIReader(url, "small")([Passage("a", "text", "Plan")])
    with Memory(tmp_path / "m", embedder=None, extractor=f"openai:{url}#small") as memory:
        handler.failures += [400]
        memory.ingest_text("Zeta runs on steam.", source="One.md", now=NOW)
        assert (memory.recall("steam").answerable, memory.stats().facts) == (True, 0)
        memory.ingest_text("Zeta runs on steam!", source="Two.md", now=NOW)
        assert said(memory, "Zeta") == {("runs_on", "steam")}
