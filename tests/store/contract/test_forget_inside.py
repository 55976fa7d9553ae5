"""What is forgotten is at once gone from every other memory that contains it, on both engines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuetrail import Memory, Node, Scope
from cuetrail.errors import Forgotten
from tests.traces import traces

SECRET = "Zanzibarquux keeps the vermilionish ledger under floorboardium seventeen"
WORDS = ("zanzibarquux", "vermilionish", "floorboardium", "skeletonkeyish")
OPENING = "The harbour opens at nine on every market day of the year."
END = "Boats leave for the island when the tide has turned again."
OTHER = f"# Harbour\n\n{OPENING}\n\n**{SECRET}**.[^1]\n\n{END}\n"


@pytest.fixture
def memory(address: str) -> Iterator[Memory]:
    with Memory(address) as opened:
        yield opened


def said(memory: Memory, source: str) -> list[str]:
    """The texts that the memory holds of a file."""
    return [node.text for node in memory.store.atoms_of(memory.scope, [source])[source] if node.kind == "atom"]


def passage(memory: Memory, source: str) -> Node:
    (found,) = [node for node in memory.store.atoms_of(memory.scope, [source])[source] if node.kind == "atom"]
    return found


def notes(memory: Memory, id_: str) -> list[str]:
    return [note.text for some in memory.store.notes(memory.scope, [id_], "node", 0, 9).values() for note in some]


def exported(memory: Memory, tmp_path: Path) -> str:
    memory.export(tmp_path / "now.jsonl")
    text = (tmp_path / "now.jsonl").read_text("utf-8")
    (tmp_path / "now.jsonl").unlink()
    return text


def test_a_forgotten_passage_is_cut_out_of_other_passages_which_keep_all_else(memory: Memory, tmp_path: Path) -> None:
    memory.ingest_text(f"The plan of the year is this.\n\n{SECRET}.", source="plans.md")
    memory.ingest_text(OTHER, source="harbour.md")
    kept = passage(memory, "harbour.md")
    memory.edit(kept.id, tags=["tide"])
    other = memory.add("A walk to the harbour with Pia")
    tie = memory.link(other.id, kept.id, text="leads to it")
    memory.note(kept.id, "Ask when it opens")
    memory.dream()
    doomed = memory.doomed(passage(memory, "plans.md").id)
    assert ([node.id for node in doomed.cut], doomed.copies) == ([kept.id], ())
    memory.forget(*doomed.ids)
    now = memory.get(kept.id)
    assert now is not None
    assert now.text == f"{OPENING}\n\n{END}"
    assert "tide" in now.tags
    assert memory.edge(tie.id) is not None
    assert notes(memory, kept.id) == ["Ask when it opens"]
    assert memory.history(kept.id) == []
    assert not any(word in exported(memory, tmp_path).lower() for word in WORDS)
    assert traces(memory, WORDS) == []
    assert memory.doctor() == []
    assert [hit.node.id for hit in memory.recall("when does the harbour open").hits if hit.node.id == kept.id]
    assert not any("zanzibarquux" in hit.node.text.lower() for hit in memory.recall(SECRET).hits)


def test_a_file_that_lost_a_forgotten_paragraph_is_the_same_when_it_is_read_again(memory: Memory) -> None:
    memory.ingest_text(OTHER, source="harbour.md")
    memory.forget(memory.add(SECRET).id)
    before = passage(memory, "harbour.md")
    report = memory.ingest_text(OTHER, source="harbour.md")
    assert (report.added, report.removed) == (0, 0)
    assert passage(memory, "harbour.md") == before


def test_a_text_that_a_person_added_is_cut_out_of_passages_and_of_their_history(memory: Memory) -> None:
    memory.add(f"{OPENING}\n\n{SECRET}.", id="first")
    memory.edit("first", text=f"{END} {SECRET}.")
    memory.edit("first", text=f"{END} {SECRET}. It is late.")
    memory.add(f"{SECRET}!", id="second")
    memory.edit("second", text="Quite another text by now.")
    memory.forget(memory.add(SECRET, id="named").id)
    first = memory.get("first")
    assert first is not None
    assert first.text == f"{END} It is late."
    assert [one.text for one in memory.history("first")] == [OPENING, END]
    assert memory.history("second") == []
    assert traces(memory, WORDS) == []
    assert memory.doctor() == []


def test_every_field_of_other_memories_loses_it(memory: Memory, tmp_path: Path) -> None:
    memory.fact("Bob", "said", SECRET)
    memory.fact("Bob", "uses", "SQLite")
    memory.add("Something else", id="a", name="A thing", props={"deep": {"list": [SECRET, "b"]}}, aliases=[SECRET])
    memory.add("One more thing", id="b", tags=[SECRET, "blue"])
    memory.add("A third thing", id="c", name=f"{SECRET}.")
    tie = memory.link("a", "b", text=f"Colleagues. {SECRET}.")
    memory.note("a", SECRET)
    memory.note("a", f"A note that stays. {SECRET}.")
    memory.note(tie.id, SECRET)
    memory.forget(memory.add(SECRET).id)
    a, b, c = (memory.get(id_) for id_ in "abc")
    assert a is not None
    assert b is not None
    assert c is not None
    assert (a.props["deep"], a.aliases, b.tags, c.name) == ({"list": ["b"]}, (), ("blue",), None)
    assert notes(memory, "a") == ["A note that stays."]
    left = memory.edge(tie.id)
    assert left is not None
    assert left.text == "Colleagues."
    assert [fact.value for fact in memory.facts("Bob")] == ["SQLite"]
    assert traces(memory, WORDS) == []
    assert memory.doctor() == []
    assert not any(word in exported(memory, tmp_path).lower() for word in WORDS)


def test_facts_links_and_tags_of_a_paragraph_that_is_cut_go_with_it(memory: Memory) -> None:
    secret = "Phone of [[Zanzibarquux]]: skeletonkeyish #hushtag"
    memory.ingest_text(f"# Harbour\n\n{OPENING} #open [[Pia]]\n\n{secret}\n\nMarina: the east basin\n", source="h.md")
    kept = passage(memory, "h.md")
    assert "hushtag" in kept.tags
    memory.forget(memory.add(secret).id)
    now = passage(memory, "h.md")
    assert ("open" in now.tags, "hushtag" in now.tags) == (True, False)
    links = memory.store.links(memory.scope, [now.id])[now.id]
    assert [link.norm for link in links if link.kind == "wikilink"] == ["pia"]
    assert traces(memory, ("hushtag", "skeletonkeyish", "zanzibarquux")) == []


def test_passages_of_nothing_but_forgotten_paragraphs_go(memory: Memory) -> None:
    memory.ingest_text(f"{OPENING}\n\n{SECRET}.\n\n{END}", source="plans.md")
    memory.add(f"> {END}\n\n> {SECRET}", id="quoted")
    doomed = memory.doomed(passage(memory, "plans.md").id)
    assert [node.id for node in doomed.copies] == ["quoted"]
    memory.forget(*[node.id for node in doomed.meant])
    assert memory.get("quoted") is None
    with pytest.raises(Forgotten):
        memory.add("Other words under the same id", id="quoted")


def test_many_passages_are_cut_at_once_and_boilerplate_of_a_file_is_not(memory: Memory) -> None:
    thanks = "Thanks everyone for coming."
    for number in range(30):
        memory.ingest_text(f"Note {number} is on topic {number}.\n\n{SECRET}.\n\n{thanks}", source=f"n{number}.md")
    memory.ingest_text(f"{OPENING}\n\n{'Nobody else knows of it. ' * 3}{SECRET[:30]}\n\n{thanks}", source="diary.md")
    memory.forget(source="diary.md")
    assert said(memory, "n3.md") == [f"Note 3 is on topic 3.\n\n{SECRET}.\n\n{thanks}"]
    memory.forget(memory.add(SECRET).id)
    for number in range(30):
        assert said(memory, f"n{number}.md") == [f"Note {number} is on topic {number}.\n\n{thanks}"]
    assert traces(memory, WORDS) == []


def test_edited_copies_of_a_forgotten_file_are_no_boilerplate(memory: Memory) -> None:
    body = f"{OPENING}\n\n{SECRET}.\n\n{END}"
    memory.ingest_text(body, source="diary.md")
    for number in range(5):
        memory.ingest_text(f"Copy number {number} of the diary.\n\n{body}", source=f"copy{number}.md")
    memory.forget(source="diary.md")
    assert said(memory, "copy3.md") == ["Copy number 3 of the diary."]
    assert traces(memory, WORDS) == []


def test_one_changed_word_makes_another_text_which_stays(memory: Memory) -> None:
    other = f"{OPENING}\n\n{SECRET.replace('seventeen', 'eighteen')}.\n\n{END}"
    memory.add(other, id="other")
    memory.forget(memory.add(SECRET).id)
    now = memory.get("other")
    assert now is not None
    assert now.text == other


def test_the_users_memories_in_every_team_lose_it_and_those_of_others_do_not(address: str) -> None:
    text = f"{OPENING}\n\n{SECRET}.\n\n{END}"
    with Memory(address, scope=Scope("acme", "bob", ("ops",), "ops")) as bob:
        bob.add(text, id="bobs")
    with Memory(address, scope=Scope("acme", "ann", ("ops",), "ops")) as shared:
        shared.add(text, id="anns")
    with Memory(address, scope=Scope("acme", "ann")) as ann:
        ann.forget(ann.add(SECRET).id)
    with Memory(address, scope=Scope("acme", "ann", ("ops",), "ops")) as shared:
        texts = {id_: node.text for id_, node in shared.nodes("anns", "bobs").items()}
        assert texts == {"anns": f"{OPENING}\n\n{END}", "bobs": text}


def test_vectors_of_what_is_left_are_those_of_its_text(memory: Memory) -> None:
    memory.add(f"{OPENING}\n\n{SECRET}.", id="a")
    memory.forget(memory.add(SECRET).id)
    memory.add(OPENING, id="b")
    vectors = memory.store.vectors(memory.scope, ["a", "b"])
    assert vectors["a"] == vectors["b"]


def test_an_export_of_before_does_not_bring_a_cut_passage_back(memory: Memory, tmp_path: Path) -> None:
    memory.add(f"{OPENING}\n\n{SECRET}.", id="a")
    memory.edit("a", tags=["x"])
    memory.add(SECRET, id="s")
    memory.export(tmp_path / "before.jsonl")
    memory.forget("s")
    memory.import_(tmp_path / "before.jsonl")
    assert memory.get("s") is None
    lines = [json.loads(line) for line in exported(memory, tmp_path).splitlines()]
    assert [line["text"] for line in lines if line.get("id") == "a"] == [OPENING]
    assert traces(memory, WORDS) == []


def test_the_keywords_of_a_file_are_gone_with_a_passage_of_which_its_summary_says_a_sentence(memory: Memory) -> None:
    # Of a short file the summary is the whole text, and so contains the forgotten one.
    memory.ingest_text(f"# Plans\n\nThe plan of the year is this.\n\n{SECRET}\n\n{SECRET}!\n", source="plans.md")
    memory.dream()
    (file,) = (node for node in memory.timeline(kinds=["source"]).nodes if node.source == "plans.md")
    assert "summary" in file.props
    memory.forget(passage(memory, "plans.md").id)
    assert traces(memory, WORDS) == []
    memory.dream()
    assert traces(memory, WORDS) == []
