"""The dream port: changes of one partition, the ledger, and tags written without touching anything else."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from cuetrail.errors import InputError
from cuetrail.model import Edge, Life, Mention, Node, Note, Origin, Scope, Tag, TextQuery, Where
from cuetrail.model.ids import ledger_hash
from cuetrail.store.dream import Book, DreamPass, Entry, Writes
from cuetrail.store.ports import Store
from cuetrail.store.vector_space import VectorSpace
from cuetrail.store.write import Batch

ANN = Scope("t", "ann")
ANN_RED = Scope("t", "ann", ("red",), "red")
BOB = Scope("t", "bob")
SPACE = VectorSpace("test", 2)
VECTOR = b"\x00\x3c\x00\x00"


def atoms(store: Store, scope: Scope, *ids: str, text: str = "text", **fields: object) -> None:
    store.write(scope, Batch(nodes=[Node(id_, text=f"{text} {id_}", **fields) for id_ in ids]))  # type: ignore[arg-type]  # fields are a node's


def read(dreaming: DreamPass, limit: int = 100, listens: tuple[str, ...] = ()) -> list[str]:
    """The ids of what changed since, slice by slice, each saved as seen."""
    found = []
    while (some := dreaming.slice("1", limit, listens)) is not None:
        found += [atom.id for atom in some.atoms]
        dreaming.save(Writes(mark=some.mark))
    return found


def relabel(store: Store, scope: Scope, name: str, tags: tuple[Tag, ...]) -> int:
    """Give every atom these tags, as the pass of this name."""
    dreaming, changed = store.dream_pass(scope, name), 0
    while (some := dreaming.slice("1", 100)) is not None:
        changed += dreaming.save(Writes(mark=some.mark, relabelled=[(atom, tags) for atom in some.atoms])).atoms
    return changed


# --- places


def test_the_places_of_a_user_are_those_it_has_written_to(store: Store) -> None:
    atoms(store, ANN, "a")
    atoms(store, ANN_RED, "b")
    atoms(store, BOB, "c")
    assert store.partitions(ANN) == [ANN, ANN_RED]
    assert store.partitions(None) == [ANN, ANN_RED, BOB]
    assert store.partitions(Scope("t", "nobody")) == []


def test_a_pass_sees_its_own_place_only(store: Store) -> None:
    for scope, id_ in ((ANN, "a"), (ANN_RED, "b"), (BOB, "c")):
        atoms(store, scope, id_)
        store.write(scope, Batch(nodes=[Node(f"n{id_}", "person", f"Name {id_}", tag_details=(Tag(id_, id_),))]))
    for scope, id_ in ((ANN, "a"), (ANN_RED, "b"), (BOB, "c")):
        dreaming = store.dream_pass(scope, "p")
        assert [name.norm for name in dreaming.names()] == [f"name {id_}"]
        assert dreaming.tags() == [id_]
        assert [text for _, text in dreaming.texts(0, 9)] == [f"text {id_}"]
        dreaming.save(Writes(put=[(Book.RECOUNT, Entry(7))]))
        assert dreaming.all(Book.RECOUNT) == [Entry(7)]
        assert read(dreaming) == [id_]


def test_quarantined_nodes_take_no_part(store: Store) -> None:
    tag = (Tag("x", "x"),)
    atoms(store, ANN, "a", provenance="quarantine", tag_details=tag)
    store.write(ANN, Batch(nodes=[Node("n", "person", "Name", provenance="quarantine")]))
    dreaming = store.dream_pass(ANN, "p")
    assert (dreaming.names(), dreaming.tags(), dreaming.texts(0, 9), read(dreaming)) == ([], [], [], [])


def test_rows_beside_others_are_those_with_the_same_first_number(store: Store) -> None:
    atoms(store, ANN, "a")
    dreaming = store.dream_pass(ANN, "p")
    rows = [Entry(1, 5), Entry(1, 6), Entry(2, 6), Entry(3, 7)]
    dreaming.save(Writes(put=[(Book.ATOM_NAMES, row) for row in rows] + [(Book.SOURCE_NAMES, Entry(1, 8))]))
    assert dreaming.beside(Book.ATOM_NAMES, [5]) == [(1, 5), (1, 6)]
    assert dreaming.beside(Book.ATOM_NAMES, [7, 6]) == [(1, 5), (1, 6), (2, 6), (3, 7)]
    assert dreaming.beside(Book.ATOM_NAMES, []) == []


def test_the_index_tells_which_atoms_have_a_name(store: Store) -> None:
    said = {"both": "Ada-Lovelace spoke", "turned": "Lovelace, Ada", "one": "ada", "place": "東京に"}
    for id_, text in said.items():
        store.write(ANN, Batch(nodes=[Node(id_, text=text), Node(f"p {id_}", "person", text)]))
    store.write(ANN, Batch(nodes=[Node("hidden", text="Ada Lovelace", provenance="quarantine")]))
    store.write(BOB, Batch(nodes=[Node("b", text="Ada Lovelace")]))
    store.refresh(None)
    dreaming = store.dream_pass(ANN, "p")
    for names, holders in (
        (["ada lovelace"], ["both"]),
        (["ada", "東京"], ["both", "turned", "one", "place"]),
        ([], []),
    ):
        found = dreaming.containing(names)
        assert found is not None
        assert sorted(atom.id for atom in dreaming.atoms(found)) == sorted(holders)
    # The index has λόγος as it is written, the name has it folded.
    assert dreaming.containing(["λόγοσ"]) is None


# --- what changed


def test_the_first_look_sees_everything_and_the_next_what_changed(store: Store) -> None:
    atoms(store, ANN, "a", "b", "c")
    dreaming = store.dream_pass(ANN, "p")
    assert dreaming.state("1") == "new"
    assert read(dreaming) == ["a", "b", "c"]
    assert dreaming.state("1") != "new"
    assert dreaming.state("1") == "idle"
    atoms(store, ANN, "b", text="other")
    atoms(store, BOB, "z")
    later = store.dream_pass(ANN, "p")
    assert later.state("1") != "idle"
    assert read(later) == ["b"]
    assert read(store.dream_pass(ANN, "p")) == []


def test_slices_are_small_and_go_on_where_they_stopped(store: Store) -> None:
    atoms(store, ANN, *(f"a{n}" for n in range(10)))
    first = store.dream_pass(ANN, "p").slice("1", 4)
    assert first is not None
    assert ([atom.id for atom in first.atoms], first.left) == (["a0", "a1", "a2", "a3"], 6)
    # Not saved, so not seen.
    again = store.dream_pass(ANN, "p").slice("1", 4)
    assert again == first
    store.dream_pass(ANN, "p").save(Writes(mark=first.mark))
    # One that was seen changes before the rest is; it comes last.
    atoms(store, ANN, "a1", text="other")
    assert read(store.dream_pass(ANN, "p"), 4) == ["a4", "a5", "a6", "a7", "a8", "a9", "a1"]


def test_the_next_slice_can_be_read_before_one_is_saved(store: Store) -> None:
    atoms(store, ANN, *(f"a{n}" for n in range(10)))
    dreaming = store.dream_pass(ANN, "p")
    ahead = [dreaming.slice("1", 4)]
    while (last := ahead[-1]) is not None:
        ahead.append(dreaming.slice("1", 4, behind=last.mark))
    saved = []
    while (some := dreaming.slice("1", 4)) is not None:
        saved.append(some)
        dreaming.save(Writes(mark=some.mark))
    assert ahead == [*saved, None]
    assert [len(some.atoms) for some in saved] == [4, 4, 2]


def test_a_pass_does_not_see_what_comes_after_it_began(store: Store) -> None:
    atoms(store, ANN, "a")
    dreaming = store.dream_pass(ANN, "p")
    assert read(dreaming) == ["a"]
    atoms(store, ANN, "b")
    assert read(dreaming) == []
    assert read(store.dream_pass(ANN, "p")) == ["b"]


def test_other_rules_look_at_everything_anew(store: Store) -> None:
    atoms(store, ANN, "a")
    assert read(store.dream_pass(ANN, "p")) == ["a"]
    some = store.dream_pass(ANN, "p").slice("2", 9)
    assert some is not None
    assert [atom.id for atom in some.atoms] == ["a"]


def test_the_keys_of_what_is_gone_are_in_the_runs(store: Store) -> None:
    atoms(store, ANN, "a", "b", "c")
    dreaming = store.dream_pass(ANN, "p")
    some = dreaming.slice("1", 9)
    assert some is not None
    key = some.atoms[1].key
    dreaming.save(Writes(mark=some.mark))
    store.write(ANN, Batch(remove_nodes=["b"]))
    later = store.dream_pass(ANN, "p").slice("1", 9)
    assert later is not None
    assert later.atoms == []
    assert any(low <= key <= high for low, high in later.runs)


def test_dreams_do_not_see_their_own_changes_unless_they_listen(store: Store) -> None:
    atoms(store, ANN, "a")
    assert read(store.dream_pass(ANN, "deaf")) == read(store.dream_pass(ANN, "listening")) == ["a"]
    assert relabel(store, ANN, "p", (Tag("x", "x", "auto"),)) == 1
    assert read(store.dream_pass(ANN, "deaf")) == []
    assert read(store.dream_pass(ANN, "listening"), listens=("p",)) == ["a"]


def test_after_a_dream_every_pass_is_idle(store: Store) -> None:
    atoms(store, ANN, "a")
    for name in ("one", "two", "listening"):
        read(store.dream_pass(ANN, name))
    relabel(store, ANN, "p", (Tag("x", "x", "auto"),))
    store.dream_pass(ANN, "").skip_dreamt({"listening": ("p",)})
    assert [store.dream_pass(ANN, name).state("1") == "idle" for name in ("one", "two", "listening")] == [
        True,
        True,
        False,
    ]


# --- tags


def test_relabelling_changes_the_tags_and_nothing_else(store: Store) -> None:
    store.vector_spaces().start(SPACE)
    node = Node("a", name="A", text="text", tag_details=(Tag("own", "Own"),), buckets=("b",), props={"x": 1}, at=5)
    store.write(ANN, Batch(nodes=[node], vectors={"a": VECTOR}, space=SPACE))
    before = store.get(ANN, ["a"])["a"]
    tags = (Tag("own", "Own"), Tag("new", "New", "auto"))
    assert relabel(store, ANN, "p", tags) == 1
    after = store.get(ANN, ["a"])["a"]
    assert after == Node(**{**{f: getattr(before, f) for f in Node.__dataclass_fields__}, "tag_details": tags})
    assert store.vectors(ANN, ["a"]) == {"a": VECTOR}
    assert store.history(ANN, "a") == []
    assert store.doctor(repair=False, progress=None) == []


def test_an_atom_that_somebody_changed_meanwhile_is_left_alone(store: Store) -> None:
    atoms(store, ANN, "a", "b")
    dreaming = store.dream_pass(ANN, "p")
    some = dreaming.slice("1", 9)
    assert some is not None
    atoms(store, ANN, "a", text="changed")
    tag = (Tag("x", "x", "auto"),)
    assert dreaming.save(Writes(mark=some.mark, relabelled=[(atom, tag) for atom in some.atoms])) == (1, 1, 0)
    nodes = store.get(ANN, ["a", "b"])
    assert (nodes["a"].text, nodes["a"].tags, nodes["b"].tags) == ("changed a", (), ("x",))
    assert read(store.dream_pass(ANN, "p")) == ["a"]
    assert store.doctor(repair=False, progress=None) == []


def test_tags_that_people_or_rules_gave_are_known_others_are_not(store: Store) -> None:
    origins: tuple[Origin, ...] = ("user", "auto", "temporal", "infected")
    tags = tuple(Tag(origin, origin, origin) for origin in origins)
    atoms(store, ANN, "a", "b", tag_details=tags)
    assert store.dream_pass(ANN, "p").tags() == ["auto", "user"]
    relabel(store, ANN, "p", (tags[0], *tags[2:]))
    assert store.dream_pass(ANN, "p").tags() == ["user"]
    atoms(store, ANN, "a", "b", tag_details=tags)
    store.write(ANN, Batch(remove_nodes=["a"]))
    assert store.dream_pass(ANN, "p").tags() == ["auto", "user"]
    store.forget(ANN, ["b"], 1)
    assert store.dream_pass(ANN, "p").tags() == []
    assert store.doctor(repair=False, progress=None) == []


@pytest.mark.parametrize("tags", [(), (Tag("x", "x", "auto"),), (Tag("x", "x"), Tag("y", "y"))])
def test_a_dream_cannot_touch_a_users_tag(store: Store, tags: tuple[Tag, ...]) -> None:
    atoms(store, ANN, "a", tag_details=(Tag("x", "x"),))
    with pytest.raises(InputError, match="user"):
        relabel(store, ANN, "p", tags)
    assert store.get(ANN, ["a"])["a"].tag_details == (Tag("x", "x"),)


def test_carriers_of_a_tag_are_found_by_its_hash(store: Store) -> None:
    atoms(store, ANN, "a", tag_details=(Tag("x", "x"),))
    atoms(store, ANN, "b", tag_details=(Tag("y", "y", "infected"),))
    dreaming = store.dream_pass(ANN, "p")
    assert [atom.id for atom in dreaming.atoms(dreaming.tagged({ledger_hash("y"), ledger_hash("z")}))] == ["b"]


@pytest.mark.parametrize("odd", ["a\x1fb", "[a", "a\x1eb", "\x1d"])
def test_tags_with_odd_characters_survive(store: Store, odd: str) -> None:
    tags = (Tag("plain", "plain"), Tag(odd, odd, "auto"))
    atoms(store, ANN, "a", tag_details=tags, buckets=("b", odd))
    relabel(store, ANN, "p", (*tags, Tag("new", "new", "infected")))
    node = store.get(ANN, ["a"])["a"]
    assert (node.tag_details, node.buckets) == ((*tags, Tag("new", "new", "infected")), ("b", odd))


# --- nodes


def test_names_say_whether_a_rule_found_them(store: Store) -> None:
    found = Node("e", "entity", "Ada", props={"found": "shared name"})
    stated = Node("p", "person", "Ada", aliases=("Countess",))
    episode = Node("x", "episode", "Ada")
    store.write(ANN, Batch(nodes=[found, stated, episode]))
    names = [(one.norm, one.id, one.found) for one in store.dream_pass(ANN, "p").names()]
    assert names == [("ada", "e", True), ("ada", "p", False), ("countess", "p", False)]


def test_the_keys_of_nodes_are_told_by_their_ids_of_this_place_alone(store: Store) -> None:
    store.write(ANN, Batch(nodes=[Node("a"), Node("b" * 5_000)]))
    store.write(BOB, Batch(nodes=[Node("a"), Node("c")]))
    dreaming = store.dream_pass(ANN, "p")
    keys = dreaming.keys(["a", "b" * 5_000, "c", "nobody"])
    assert {brief.id: key for key, brief in dreaming.nodes(keys.values()).items()} == keys
    assert set(keys) == {"a", "b" * 5_000}


def test_sources_and_edges_of_ingest_are_known(store: Store) -> None:
    top = Node("s", "source", "File", source="f.md", seq=-1)
    atom, alone, node = Node("a", text="t", source="f.md"), Node("b", text="u"), Node("n", "person", "N")
    by_name, by_hand = Edge("1", "a", "n", "mentions", 0.3, via="name:n"), Edge("2", "b", "n", "mentions", 0.3)
    store.write(ANN, Batch(nodes=[top, atom, alone, node], edges=[by_name, by_hand]))
    dreaming = store.dream_pass(ANN, "p")
    keys = {brief.id: key for key, brief in dreaming.nodes(range(20)).items()}
    assert dreaming.sources([keys["a"], keys["b"]]) == {keys["a"]: keys["s"]}
    assert dreaming.linked([keys["a"], keys["b"]]) == {(keys["a"], keys["n"])}


# --- the ledger


def test_the_ledger_is_read_by_either_number(store: Store) -> None:
    atoms(store, ANN, "a")
    dreaming = store.dream_pass(ANN, "p")
    rows = [Entry(1, 10, 3, 4), Entry(1, 20), Entry(2, 10), Entry(5, 30), Entry(-(2**63), 2**63 - 1)]
    dreaming.save(Writes(put=[(Book.ATOM_NAMES, row) for row in rows]))
    assert dreaming.by_first(Book.ATOM_NAMES, [1, 9]) == [Entry(1, 10, 3, 4), Entry(1, 20)]
    assert dreaming.by_second(Book.ATOM_NAMES, [10, 30]) == [Entry(1, 10, 3, 4), Entry(2, 10), Entry(5, 30)]
    assert dreaming.by_second(Book.ATOM_NAMES, [10], each=1) == [Entry(1, 10, 3, 4)]
    assert dreaming.firsts(Book.ATOM_NAMES, [10, 30, 40]) == {10: [1, 2], 30: [5]}
    assert dreaming.firsts(Book.ATOM_NAMES, []) == {}
    assert dreaming.firsts(Book.ATOM_NAMES, [2**63 - 1]) == {2**63 - 1: [-(2**63)]}
    assert dreaming.within(Book.ATOM_NAMES, [(2, 4), (5, 9)]) == [Entry(2, 10), Entry(5, 30)]
    assert dreaming.between(Book.ATOM_NAMES, 20, 30) == [Entry(1, 20), Entry(5, 30)]
    assert dreaming.seconds(Book.ATOM_NAMES, 10, False, 2) == [10, 20]
    assert dreaming.seconds(Book.ATOM_NAMES, 30, True, 2) == [30, 20]
    assert dreaming.all(Book.ATOM_NAMES, 2) == [Entry(-(2**63), 2**63 - 1), Entry(1, 10, 3, 4)]
    assert dreaming.all(Book.SOURCE_NAMES) == []
    dreaming.save(
        Writes(
            drop=[(Book.ATOM_NAMES, Entry(1, 10)), (Book.ATOM_NAMES, Entry(9, 9))],
            put=[(Book.ATOM_NAMES, Entry(1, 20, 7))],
        )
    )
    assert dreaming.by_first(Book.ATOM_NAMES, [1]) == [Entry(1, 20, 7)]


def test_all_of_a_save_happens_or_nothing(store: Store) -> None:
    atoms(store, ANN, "a")
    dreaming = store.dream_pass(ANN, "p")
    some = dreaming.slice("1", 9)
    assert some is not None
    broken = Writes(
        mark=some.mark,
        relabelled=[(some.atoms[0], (Tag("x", "x", "auto"),))],
        put=[(Book.RECOUNT, Entry(1))],
        batch=Batch(edges=[Edge("e", "a", "nowhere")]),
    )
    with pytest.raises(Exception, match="nowhere"):
        dreaming.save(broken)
    assert store.get(ANN, ["a"])["a"].tags == ()
    assert dreaming.all(Book.RECOUNT) == []
    assert dreaming.state("1") == "new"


def test_mentions_can_be_taken_back(store: Store) -> None:
    nodes = [Node("a", text="t"), Node("n", "person", "N")]
    store.write(ANN, Batch(nodes=nodes, mentions=[Mention("a", "n", 1)]))
    store.dream_pass(ANN, "p").save(Writes(remove_mentions=[("a", "n"), ("n", "a")]))
    assert store.stats(ANN).mentions == 0


# --- one at a time, and trying things out


def test_only_one_dream_at_a_time(store: Store) -> None:
    seen = []

    def look() -> None:
        with store.single_dream() as alone:
            seen.append(alone is store)

    with store.single_dream() as alone:
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        look()
    look()
    assert (alone is store, seen) == (True, [False, False, True])


def test_a_rehearsal_leaves_no_trace(store: Store) -> None:
    atoms(store, ANN, "a")
    with store.single_dream(dry_run=True) as copy:
        assert copy is not None
        assert read(copy.dream_pass(ANN, "p")) == ["a"]
        atoms(copy, ANN, "b")
        assert set(copy.get(ANN, ["a", "b"])) == {"a", "b"}
    assert set(store.get(ANN, ["a", "b"])) == {"a"}
    assert store.dream_pass(ANN, "p").state("1") == "new"


# --- lives and notes


def test_lives_are_read_by_page_and_settled_unless_they_were_used_meanwhile(store: Store) -> None:
    nodes = [Node(id_, name="mast", life=Life(accesses=1, state="active", last_access=5)) for id_ in ("a", "b", "c")]
    store.write(ANN, Batch(nodes=[*nodes, Node("newborn", name="n")]))
    dreaming = store.dream_pass(ANN, "decay")
    assert not dreaming.used(5, -1, 10)
    first = dreaming.used(6, -1, 2)
    assert [one.id for one in (*first, *dreaming.used(6, first[-1].key, 2))] == ["a", "b", "c"]
    store.touch(ANN, ["b"], 9)
    gone = [(one, replace(one.life, salience=0.001, state="archived", last_decay=7)) for one in first]
    dreaming.save(Writes(lives=gone))
    found = store.get(ANN, ["a", "b"])
    assert [found[id_].life.state for id_ in ("a", "b")] == ["archived", "active"]
    assert sorted(one.id for one in store.text(ANN, TextQuery("mast"), 9, Where())) == ["b", "c"]


def test_a_life_that_was_corrected_meanwhile_is_not_settled(store: Store) -> None:
    old = Life(confidence=0.5)
    store.write(ANN, Batch(nodes=[Node("a", name="mast", life=old), Node("b", name="mast", life=old)]))
    dreaming = store.dream_pass(ANN, "decay")
    read = dreaming.used(6, -1, 10)
    kept = Life(1.0, retention="keep_forever")
    store.write(ANN, Batch(nodes=[Node("a", name="mast", life=kept)]))
    dreaming.save(Writes(lives=[(one, replace(one.life, salience=0.4, last_decay=7)) for one in read]))
    found = store.get(ANN, ["a", "b"])
    assert (found["a"].life, found["b"].life.salience) == (kept, 0.4)


def test_what_is_touched_in_the_archive_is_found_again(store: Store) -> None:
    store.write(ANN, Batch(nodes=[Node("a", name="antenna", life=Life(state="archived", accesses=1, last_access=1))]))
    assert not store.text(ANN, TextQuery("antenna"), 9, Where())
    store.touch(ANN, ["a"], 9)
    assert store.get(ANN, ["a"])["a"].life.state == "active"
    assert [one.id for one in store.text(ANN, TextQuery("antenna"), 9, Where())] == ["a"]


def test_notes_whose_time_is_over_are_told_and_can_be_removed(store: Store) -> None:
    notes = [Note("never", "a", "tea"), Note("late", "a", "on leave", expires=9), Note("soon", "a", "ill", expires=4)]
    store.write(ANN, Batch(nodes=[Node("a")], notes=notes))
    dreaming = store.dream_pass(ANN, "note_expiry")
    assert dreaming.expired_notes(3, 10) == []
    assert dreaming.expired_notes(9, 10) == ["soon", "late"]
    writes = Writes()
    writes.batch.remove_notes = dreaming.expired_notes(4, 10)
    dreaming.save(writes)
    assert dreaming.expired_notes(9, 10) == ["late"]
    assert store.stats(ANN).notes == 2


def test_a_node_that_changed_since_it_was_read_is_left_as_it_is(store: Store) -> None:
    atoms(store, ANN, "a", "b", "c")
    dreaming = store.dream_pass(ANN, "p")
    some = dreaming.slice("1", 9)
    assert some is not None
    store.write(ANN, Batch(nodes=[Node("a", text="edited")]))
    store.forget(ANN, ["c"], 1)
    found = [Node(atom.id, text=atom.text, props={"found": 1}) for atom in some.atoms]
    dreaming.save(Writes(mark=some.mark, batch=Batch(nodes=found), unchanged=list(some.atoms)))
    assert {id_: (node.text, dict(node.props)) for id_, node in store.get(ANN, ["a", "b", "c"]).items()} == {
        "a": ("edited", {}), "b": ("text b", {"found": 1})
    }  # fmt: skip
