"""What people put on a paragraph or a file survives edits of the file."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuetrail import Memory, Scope
from cuetrail.model import Tag
from cuetrail.model.ids import source_id
from tests.ingest.test_order import PATHS, do, texts
from tests.ingest.tools import (
    DAY,
    EDITED,
    EVERYTHING,
    FIRST,
    NOW,
    OTHER,
    Vault,
    atom,
    atoms,
    label,
    lines,
    state,
    state_all,
    stated,
)

# --- edits


def test_what_is_stated_of_a_paragraph_follows_it_through_an_edit(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("a.md", f"Before.\n\n---\n\n{FIRST}\n\n---\n\n{OTHER}")
    memory.ingest(vault.root, now=NOW)
    memory.recall("receiver", limit=1, now=NOW + 5)
    old = atom(memory, tmp_path, FIRST)
    label(memory, old, colour="red")
    state_all(memory, old.id)
    vault.write("a.md", f"Before.\n\n---\n\n{EDITED}\n\n---\n\n{OTHER}")
    report = memory.ingest(vault.root, now=NOW + DAY)
    assert (report.added, report.removed, report.kept) == (1, 1, 2)
    new = atom(memory, tmp_path, EDITED)
    assert stated(memory, tmp_path, new.id) == EVERYTHING
    assert (new.tags, new.buckets) == (("project:vault", "doc", "mine"), ("shelf",))
    assert new.props == {"colour": "red", "title": "a"}
    assert (new.created, new.updated, new.life.accesses) == (NOW, NOW + DAY, 1)
    assert memory.get(old.id) is None
    assert memory.doctor() == []


def test_it_follows_through_edit_after_edit(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    words = FIRST.split()
    vault.write("a.md", FIRST)
    memory.ingest(vault.root)
    label(memory, atom(memory, tmp_path, FIRST))
    state_all(memory, atom(memory, tmp_path, FIRST).id)
    for number in range(len(words)):
        words[number] = f"word{number}"
        vault.write("a.md", " ".join(words))
        memory.ingest(vault.root)
    last = atom(memory, tmp_path, " ".join(words))
    assert stated(memory, tmp_path, last.id) == EVERYTHING
    assert ("mine" in last.tags, last.buckets) == (True, ("shelf",))


def test_a_paragraph_that_says_something_else_inherits_nothing(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("a.md", f"Before.\n\n---\n\n{FIRST}\n\n---\n\nAfter.")
    memory.ingest(vault.root)
    old = atom(memory, tmp_path, FIRST)
    label(memory, old)
    state_all(memory, old.id)
    vault.write("a.md", f"Before.\n\n---\n\n{OTHER}\n\n---\n\nAfter.")
    memory.ingest(vault.root)
    new = atom(memory, tmp_path, OTHER)
    assert (stated(memory, tmp_path, new.id), "mine" in new.tags) == ([], False)
    assert (memory.stats().facts, memory.stats().notes) == (0, 0)


def test_the_part_of_a_split_paragraph_that_is_most_like_it_inherits(
    vault: Vault, memory: Memory, tmp_path: Path
) -> None:
    vault.write("a.md", f"{FIRST} So we climbed up.")
    memory.ingest(vault.root)
    state_all(memory, atom(memory, tmp_path, f"{FIRST} So we climbed up.").id)
    vault.write("a.md", f"So we climbed up.\n\n---\n\n{FIRST}")
    memory.ingest(vault.root)
    assert stated(memory, tmp_path, atom(memory, tmp_path, FIRST).id) == EVERYTHING
    assert stated(memory, tmp_path, atom(memory, tmp_path, "So we climbed up.").id) == []


def test_two_paragraphs_that_were_joined_pass_on_what_was_stated_of_both(
    vault: Vault, memory: Memory, tmp_path: Path
) -> None:
    vault.write("a.md", f"{FIRST}\n\n---\n\n{OTHER}")
    memory.ingest(vault.root)
    memory.fact(atom(memory, tmp_path, FIRST).id, "about", "radio")
    memory.fact(atom(memory, tmp_path, OTHER).id, "about", "cake")
    memory.link(atom(memory, tmp_path, FIRST).id, atom(memory, tmp_path, OTHER).id, kind="before")
    vault.write("a.md", f"{FIRST}\n{OTHER}")
    memory.ingest(vault.root)
    joined = atom(memory, tmp_path, f"{FIRST}\n{OTHER}")
    assert {fact.value for fact in memory.facts(joined.id)} == {"radio", "cake"}
    assert memory.doctor() == []


def test_an_entry_deleted_beside_a_similar_one_that_was_edited_is_not_joined_with_it(
    vault: Vault, memory: Memory, tmp_path: Path
) -> None:
    one, two = "We met Ines on Monday about the budget.", "We met Ines on Friday about the budget."
    vault.write("a.md", f"{one}\n\n---\n\n{two}")
    memory.ingest(vault.root)
    memory.fact(atom(memory, tmp_path, one).id, "mood", "grim")
    memory.fact(atom(memory, tmp_path, two).id, "mood", "merry")
    vault.write("a.md", "We met Ines on Friday about the new budget.")
    memory.ingest(vault.root)
    left = atom(memory, tmp_path, "We met Ines on Friday about the new budget.")
    assert [fact.value for fact in memory.facts(left.id)] == ["merry"]


def test_stating_the_same_of_the_successor_is_not_stating_it_twice(
    vault: Vault, memory: Memory, tmp_path: Path
) -> None:
    vault.write("a.md", FIRST)
    memory.ingest(vault.root)
    state_all(memory, atom(memory, tmp_path, FIRST).id)
    vault.write("a.md", EDITED)
    memory.ingest(vault.root)
    state_all(memory, atom(memory, tmp_path, EDITED).id)
    said = stated(memory, tmp_path, atom(memory, tmp_path, EDITED).id)
    assert [text for text in said if not text.startswith("Ask")] == EVERYTHING[1:]


def test_a_name_given_to_a_paragraph_means_its_successor(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("a.md", f"{FIRST}\n\n---\n\nSee [[the outage]].")
    memory.ingest(vault.root)
    memory.add_many([replace(atom(memory, tmp_path, FIRST), name="The Outage")])
    vault.write("a.md", f"{EDITED}\n\n---\n\nSee [[the outage]].")
    memory.ingest(vault.root)
    named = memory.get("the outage")
    assert named is not None
    assert named.text == EDITED
    assert [step.kind for step in memory.neighbours(named.id).neighbours].count("links") == 1


# --- what the file states, and what is by hand


def test_labels_by_hand_stay_on_a_paragraph_whose_file_is_edited(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("f/a.md", f"---\ntags: [red]\nbucket: own\n---\n# Head\n\n{FIRST} #loud")
    memory.ingest(vault.root)
    label(memory, atom(memory, tmp_path, f"{FIRST} #loud"), colour="blue")
    vault.write("f/a.md", f"---\ntags: [green]\nbucket: new\n---\n# Head\n\n{FIRST} #loud\n\n---\n\nMore.")
    memory.ingest(vault.root)
    kept = atom(memory, tmp_path, f"{FIRST} #loud")
    assert kept.tags == ("loud", "green", "project:vault", "doc", "mine")
    assert (kept.buckets, kept.props["colour"]) == (("new", "shelf"), "blue")


def test_what_a_file_no_longer_states_does_not_stay_behind(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("a.md", f"---\ntags: [red]\nbucket: own\nmood: grim\naliases: [alpha]\n---\n{FIRST} #loud")
    memory.ingest(vault.root)
    label(memory, atom(memory, tmp_path, f"{FIRST} #loud"))
    vault.write("a.md", EDITED)
    memory.ingest(vault.root)
    top = memory.get(source_id("vault/a.md"))
    assert top is not None
    assert (top.tags, top.buckets, top.aliases) == (("project:vault", "doc"), (), ())
    assert "mood" not in top.props
    assert atom(memory, tmp_path, EDITED).tags == ("project:vault", "doc", "mine")


def test_a_bucket_put_first_by_hand_stays_first(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("f/a.md", FIRST)
    memory.ingest(vault.root)
    memory.add_many([replace(atom(memory, tmp_path, FIRST), buckets=("shelf", "f"))])
    vault.write("f/a.md", EDITED)
    memory.ingest(vault.root)
    assert atom(memory, tmp_path, EDITED).buckets == ("shelf", "f")


def test_what_is_put_on_the_node_of_a_file_stays_when_the_file_is_edited(
    vault: Vault, memory: Memory, tmp_path: Path
) -> None:
    vault.write("a.md", f"---\naliases: [alpha]\n---\n{FIRST}")
    memory.ingest(vault.root)
    top = memory.get("alpha")
    assert top is not None
    label(memory, replace(top, aliases=(*top.aliases, "my note"), valid_until=9), colour="red")
    state_all(memory, top.id)
    vault.write("a.md", f"---\naliases: [beta]\n---\n{EDITED}")
    memory.ingest(vault.root)
    after = memory.get("my note")
    assert after is not None
    assert (after.id, after.aliases, after.valid_until) == (top.id, ("beta", "my note"), 9)
    assert ("mine" in after.tags, after.buckets, after.props["colour"]) == (True, ("shelf",), "red")
    assert stated(memory, tmp_path, top.id) == EVERYTHING


@pytest.mark.parametrize("after", [f"{FIRST}\n\n---\n\nMore.", EDITED])
def test_a_paragraph_that_was_added_again_by_its_id_still_belongs_to_its_file(
    vault: Vault, memory: Memory, tmp_path: Path, after: str
) -> None:
    vault.write("a.md", f"Before.\n\n---\n\n{FIRST}")
    memory.ingest(vault.root)
    memory.add(FIRST, id=atom(memory, tmp_path, FIRST).id, tags=["mine"])
    vault.write("a.md", f"Before.\n\n---\n\n{after}")
    memory.ingest(vault.root)
    found = atoms(memory, tmp_path)
    assert set(found) == {"Before.", *after.split("\n\n---\n\n")}
    labelled = found[after.split("\n\n---\n\n")[0]]
    assert "mine" in {tag[0] for tag in labelled["tag_details"]}
    assert labelled["source"] == "vault/a.md"


def test_a_paragraph_that_was_corrected_by_hand_is_the_persons_own_once_its_file_drops_it(
    vault: Vault, memory: Memory, tmp_path: Path
) -> None:
    vault.write("a.md", f"Before.\n\n---\n\n{FIRST}")
    memory.ingest(vault.root)
    memory.add("It was the south mast.", id=atom(memory, tmp_path, FIRST).id)
    vault.write("a.md", "Before.")
    memory.ingest(vault.root)
    assert set(atoms(memory, tmp_path)) == {"Before.", "It was the south mast."}


def test_a_field_that_is_called_like_ours_harms_nothing(vault: Vault, memory: Memory) -> None:
    for number in range(3):
        vault.write("a.md", f"---\nnear: the harbour\nfrom_file: yes\nformat: odd\n---\nText {number}.")
        assert memory.ingest(vault.root).errors == ()
    top = memory.get("a")
    assert top is not None
    assert top.props["near"] == "the harbour"


# --- forgetting


def test_an_edit_into_what_was_forgotten_brings_nothing_back(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("a.md", f"Before.\n\n---\n\n{EDITED}")
    memory.ingest(vault.root)
    memory.forget(atom(memory, tmp_path, EDITED).id)
    vault.write("a.md", f"Before.\n\n---\n\n{FIRST}")
    memory.ingest(vault.root)
    memory.fact(atom(memory, tmp_path, FIRST).id, "severity", "high")
    vault.write("a.md", f"Before.\n\n---\n\n{EDITED}")
    report = memory.ingest(vault.root)
    assert (report.forgotten, set(atoms(memory, tmp_path))) == (1, {"Before."})
    assert memory.stats().facts == 0


def test_forgetting_a_paragraph_forgets_what_it_inherited(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("a.md", FIRST)
    memory.ingest(vault.root)
    state_all(memory, atom(memory, tmp_path, FIRST).id)
    vault.write("a.md", EDITED)
    memory.ingest(vault.root)
    memory.forget(atom(memory, tmp_path, EDITED).id)
    assert (memory.stats().facts, memory.stats().notes, memory.neighbours("Ada").degree) == (0, 0, 0)
    memory.ingest(vault.root)
    assert atoms(memory, tmp_path) == {}


# --- teams


def test_what_a_teammate_stated_privately_of_a_shared_paragraph_follows_it_and_stays_private(
    vault: Vault, tmp_path: Path
) -> None:
    ann, bob = Scope("acme", "ann", ("ops",), "ops"), Scope("acme", "bob", ("ops",))
    vault.write("a.md", FIRST)
    with (
        Memory(tmp_path / "m", scope=ann, embedder="none") as of_ann,
        Memory(tmp_path / "m", scope=bob, embedder="none") as of_bob,
    ):
        of_ann.ingest(vault.root)
        of_bob.fact(atom(of_ann, tmp_path, FIRST).id, "doubtful", "yes")
        vault.write("a.md", EDITED)
        of_ann.ingest(vault.root)
        new = atom(of_ann, tmp_path, EDITED)
        assert [fact.value for fact in of_bob.facts(new.id)] == ["yes"]
        assert of_ann.facts(new.id) == []


# --- only what is there counts


def _without_hand(memory: Memory, folder: Path) -> list[str]:
    """What the memory holds but for what the steps below state by hand."""
    kept = []
    for line in map(json.loads, state(memory, folder)):
        if line["type"] in ("fact", "note") or line.get("kind") in ("by_hand", "person"):
            continue
        if "tag_details" in line:
            line["tag_details"] = [tag for tag in line["tag_details"] if tag[0] != "mine"]
        borrowed = line.get("props", {}).get("near")
        if borrowed:
            borrowed["tags"] = [tag for tag in borrowed["tags"] if tag != "mine"]
            if not any(borrowed.values()):
                del line["props"]["near"]
        if not line.get("props", True):
            del line["props"]
        kept.append(json.dumps(line, sort_keys=True))
    return sorted(kept)


_paths = st.sampled_from(PATHS)
_steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), _paths, texts),
        st.tuples(st.just("move"), _paths, _paths),
        st.tuples(st.just("delete"), _paths, st.just("")),
        st.tuples(st.just("ingest"), st.just(""), st.just("")),
        st.tuples(st.just("state"), st.just(""), st.integers(0, 9).map(str)),
    ),
    min_size=4,
    max_size=14,
)


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(steps=_steps)
def test_what_is_by_hand_changes_nothing_of_what_the_files_say(
    steps: list[tuple[str, str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("hand")
    vault = Vault(place / "vault")
    vault.root.mkdir()
    with Memory(place / "followed", embedder="none") as followed, Memory(place / "fresh", embedder="none") as fresh:
        ada = followed.add(name="Somebody", kind="person")
        for what, path, other in steps:
            if what != "state":
                do(vault, followed, (what, path, other))
                continue
            nodes = [line["id"] for line in lines(followed, place) if line["type"] == "node" and line.get("source")]
            if nodes:
                node = followed.get(sorted(nodes)[int(other) % len(nodes)])
                assert node is not None
                followed.add_many([replace(node, tag_details=(*node.tag_details, Tag("mine", "mine")))])
                followed.fact(node.id, "number", other)
                followed.note(node.id, other)
                followed.link(node.id, ada.id, kind="by_hand")
        followed.ingest(vault.root)
        fresh.ingest(vault.root)
        assert _without_hand(followed, place) == _without_hand(fresh, place)
        assert followed.doctor() == []
    shutil.rmtree(place)
