"""A snapshot shows the atoms of a scope by file at one moment, and tells what has changed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cuetrail.model import Edge, Life, Node, Note, Scope, Tag
from cuetrail.store.ports import Store
from cuetrail.store.read import AtomLabels, AtomText, FileDigest
from cuetrail.store.upkeep import LAST_FORGOTTEN
from cuetrail.store.write import Batch

ME = Scope()
ANN = Scope(user="ann", teams=("ops",), share="ops")
BOB = Scope(user="bob", teams=("ops",))


def sources(store: Store, scope: Scope = ME) -> dict[str | None, FileDigest]:
    with store.snapshot(scope) as view:
        return view.sources()


def placed(store: Store, *paths: str | None, scope: Scope = ME) -> list[tuple[str | None, str]]:
    """Source and id of the atoms of these files, as they come."""
    with store.snapshot(scope) as view:
        found = list(view.atoms(paths))
        said = view.texts([atom.key for atom in found])
        return [(atom.source, said[atom.key].id) for atom in found]


def test_atoms_come_file_by_file_as_asked_each_by_sequence_time_and_id(store: Store) -> None:
    nodes = [
        Node(f"{s}{q}{t}", text="x", source=s or None, seq=q, at=t)
        for s in ("b", "a", "")
        for q in (1, 0)
        for t in (2, 1)
    ]
    store.write(ME, Batch(nodes=nodes))
    order = ["01", "02", "11", "12"]
    assert placed(store, "b", None, "a") == [(s or None, s + rest) for s in ("b", "", "a") for rest in order]
    assert placed(store, "a", "no such file") == [("a", "a" + rest) for rest in order]
    assert placed(store) == []
    store.write(ME, Batch(nodes=[Node("z", text="x", source="a", at=1), Node("y", text="x", source="a", at=1)]))
    assert [id_ for _, id_ in placed(store, "a")] == ["a01", "y", "z", "a02", "a11", "a12"]


def test_an_atom_tells_the_labels_that_people_gave_and_what_it_says(store: Store) -> None:
    tags = (Tag("b", "B"), Tag("a", "a", "temporal"))
    store.write(ME, Batch(nodes=[Node("x", name="N", text="T", tag_details=tags, buckets=("q", "p"), source="s")]))
    with store.snapshot(ME) as view:
        (atom,) = view.atoms(["s"])
        assert atom._replace(check=0) == AtomLabels(atom.key, "s", ["b"], ["q", "p"], 0)
        assert view.texts([atom.key]) == {atom.key: AtomText("x", "N", "T")}
        assert view.texts([]) == {}


def test_only_atoms_that_may_be_shown_are_there(store: Store) -> None:
    hidden = [
        Node("q", text="x", provenance="quarantine"),
        Node("r", text="x", life=Life(state="archived")),
        Node("s", kind="source", name="x"),
        Node("p", kind="person", name="x", text="y"),
    ]
    store.write(ME, Batch(nodes=[*hidden, Node("a", text="x", provenance="external", life=Life(state="core"))]))
    assert placed(store, None) == [(None, "a")]
    assert sources(store)[None].atoms == 1
    store.write(ME, Batch(remove_nodes=["a"]))
    assert sources(store) == {}


@pytest.mark.parametrize(
    "change",
    [{"text": "y"}, {"name": "y"}, {"tag_details": (Tag("t", "t"),)}, {"buckets": ("b",)}, {"seq": 3}, {"at": 4},
     {"life": Life(state="archived")}, {"source": "other"}, {"provenance": "quarantine"}, {"kind": "person"}],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_a_file_is_told_to_have_changed_when_an_atom_of_it_has(store: Store, change: dict[str, object]) -> None:
    node = Node("a", text="x", source="f")
    store.write(ME, Batch(nodes=[node, Node("b", text="x", source="f"), Node("c", text="x", source="g")]))
    before = sources(store)
    assert {path: content.atoms for path, content in before.items()} == {"f": 2, "g": 1}
    store.write(ME, Batch(nodes=[replace(node, **change)]))  # type: ignore[arg-type]
    after = sources(store)
    assert after["f"] != before["f"]
    assert after["g"] == before["g"]


def test_what_is_not_shown_of_atoms_changes_nothing(store: Store) -> None:
    store.write(ME, Batch(nodes=[Node("a", text="x", source="f"), Node("b", text="x")]))
    before = sources(store)
    store.touch(ME, ["a"], 5)
    store.write(ME, Batch(edges=[Edge("e", "a", "b")], notes=[Note("n", "a", "remark")]))
    assert sources(store) == before


def test_an_atom_that_is_removed_moved_or_swapped_is_noticed(store: Store) -> None:
    one, other = Node("a", text="x", source="f"), Node("b", text="y", source="g")
    store.write(ME, Batch(nodes=[one, other]))
    before = sources(store)
    store.write(ME, Batch(nodes=[replace(one, source="g"), replace(other, source="f")]))
    swapped = sources(store)
    assert before["f"] != swapped["f"]
    assert before["g"] != swapped["g"]
    store.forget(ME, ["b"], 1)
    assert set(sources(store)) == {"g"}


def test_a_snapshot_stays_as_it_was(store: Store) -> None:
    store.write(ME, Batch(nodes=[Node("a", text="old", source="f"), Node("b", text="x", source="f")]))
    with store.snapshot(ME) as view:
        before = view.sources()
        store.write(ME, Batch(nodes=[Node("a", text="new", source="f"), Node("c", text="x")], remove_nodes=["b"]))
        assert view.sources() == before
        atoms = list(view.atoms(["f", None]))
        assert [said.text for said in view.texts([atom.key for atom in atoms]).values()] == ["old", "x"]
    assert sources(store) != before


def test_a_snapshot_keeps_to_its_scope(store: Store) -> None:
    store.write(ANN, Batch(nodes=[Node("a", text="shared", source="f")]))
    store.write(replace(ANN, share=None), Batch(nodes=[Node("p", text="private", source="f")]))
    store.write(BOB, Batch(nodes=[Node("b", text="his", source="f")]))
    assert [id_ for _, id_ in placed(store, "f", scope=BOB)] == ["a", "b"]
    assert placed(store, "f", scope=ME) == []
    assert sources(store, BOB)["f"].atoms == 2
    assert sources(store, ME) == {}


def test_a_file_is_told_to_have_changed_when_an_atom_of_it_is_called_otherwise(store: Store) -> None:
    store.write(ANN, Batch(nodes=[Node("a", text="hers", source="f")]))
    before = sources(store, BOB)
    store.write(BOB, Batch(nodes=[Node("a", text="his", source="g")]))
    after = sources(store, BOB)
    assert after["f"].atoms == 1
    assert after["f"] != before["f"]
    ((_, hers), (_, his)) = placed(store, "f", "g", scope=BOB)
    assert his == "a"
    assert store.get(BOB, [hers])[hers].text == "hers"


def test_settings_are_kept_by_name(store: Store) -> None:
    assert store.settings.beginning_with("") == {}
    store.settings["mirror:x"] = "1"
    store.settings["mirror:x%"] = "2"
    store.settings["other"] = "3"
    assert store.settings.beginning_with("mirror:") == {"mirror:x": "1", "mirror:x%": "2"}
    assert store.settings.beginning_with("mirror:x%") == {"mirror:x%": "2"}
    store.settings["mirror:x"] = "4"
    del store.settings["other"]
    del store.settings["nothing"]
    assert store.settings.beginning_with("") == {"mirror:x": "4", "mirror:x%": "2"}


def test_a_setting_changes_when_something_is_forgotten_and_only_then(store: Store) -> None:
    marks = []
    for step in (
        lambda: store.write(ME, Batch(nodes=[Node("a", text="one"), Node("b", text="two")])),
        lambda: store.forget(ME, ["nobody"], 1),
        lambda: store.forget(ME, ["a"], 1),
        lambda: store.write(ME, Batch(remove_nodes=["nobody"])),
        lambda: store.forget(ME, ["b"], 1),
    ):
        step()
        marks.append(store.settings.get(LAST_FORGOTTEN))
    assert marks[:2] == [None, None]
    assert marks[2] == marks[3] != marks[4] is not None
