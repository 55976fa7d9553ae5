"""Every kind of record comes back as it was written; replacing, removing and failing have exactly their documented
effect.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuetrail.errors import InputError, NotFound
from cuetrail.model import (
    Edge,
    Fact,
    FactStatus,
    Life,
    Link,
    Mention,
    Node,
    Note,
    Origin,
    Provenance,
    Retention,
    Scope,
    SourceFile,
    State,
    Tag,
    TextQuery,
    Tombstone,
    Version,
    Where,
)
from cuetrail.store.ports import Store
from cuetrail.store.read import Record, edges_by_id, forgotten_ids
from cuetrail.store.vector_space import VectorSpace
from cuetrail.store.write import Batch, Forgetting
from tests.store.contract.conftest import Engine

ME = Scope()


def vector(*numbers: float) -> bytes:
    """A unit vector as the engines want it."""
    array = np.array(numbers, np.float64)
    return bytes((array / np.linalg.norm(array)).astype("<f2").tobytes())


def records(store: Store, kind: type[Any], scope: Scope = ME) -> list[Any]:
    return [record for _, record in store.scan(scope) if isinstance(record, kind)]


def dump(store: Store, scope: Scope = ME) -> list[tuple[str | None, Record]]:
    return list(store.scan(scope))


def full_node(id_: str = "n", **changes: Any) -> Node:
    """A node in which every field differs from its default."""
    node = Node(
        id=id_,
        kind="person",
        name="Ada Lovelace",
        text="She wrote the first program.\nÄ 日本 😀",
        aliases=("Countess", "A. L."),
        tag_details=tuple(Tag(f"tag_{origin}", f"Tag {origin}", origin) for origin in get_args(Origin)),
        buckets=("zeta", "alpha", "mid"),
        source="docs/a.md",
        seq=7,
        at=1_700_000_000_123,
        provenance="external",
        simhash=2**64 - 5,
        props={"deep": {"list": [1, 2.5, None, True, "é"]}, "z": 1, "a": 2},
        life=Life(0.75, "core", 0.5, 12, 99, 98, 97, 1.5, "keep_forever"),
        created=11,
        updated=12,
        valid_from=-5,
        valid_until=2**53,
        owner="me",
        team=None,
    )
    return replace(node, **changes)


def test_the_full_node_leaves_no_field_at_its_default() -> None:
    usual = Node("x")
    same = [f.name for f in fields(Node) if getattr(full_node(), f.name) == getattr(usual, f.name)]
    assert same == ["owner", "team"]


def test_every_field_of_a_node_comes_back(store: Store) -> None:
    written = store.write(ME, Batch(nodes=[full_node()]))
    assert (written.added, written.replaced, written.removed) == (1, 0, 0)
    assert store.get(ME, ["n"]) == {"n": full_node()}
    assert records(store, Node) == [full_node()]


def test_a_bare_node_comes_back_with_the_defaults(store: Store) -> None:
    store.write(ME, Batch(nodes=[Node("n")]))
    assert store.get(ME, ["n"]) == {"n": Node("n")}


def test_whole_numbers_come_back_as_floats_where_the_model_has_floats(store: Store) -> None:
    node, edge = Node("a", life=Life(1, confidence=0)), Edge("e", "a", "a", weight=1, confidence=1)
    store.write(ME, Batch(nodes=[node], edges=[edge], facts=[Fact("f", "a", "is", value="b", confidence=1)]))
    life, found = store.get(ME, ["a"])["a"].life, edges_by_id(store, ME, ["e"])["e"]
    (fact,) = records(store, Fact)
    assert isinstance(fact, Fact)
    numbers = [life.salience, life.confidence, found.weight, found.confidence, fact.confidence]
    assert list(map(repr, numbers)) == ["1.0", "0.0", "1.0", "1.0", "1.0"]


# Engines get text that was cleaned at the boundary: no lone surrogates, no NUL.
words = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12)
times = st.integers(-(2**62), 2**62)
maybe_time = st.none() | times
shares = st.floats(0, 1)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(-1e9, 1e9) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
props = st.dictionaries(words, json_values, max_size=3)
lives = st.builds(
    Life,
    shares,
    st.sampled_from(get_args(State)),
    shares,
    st.integers(0, 10**6),
    maybe_time,
    maybe_time,
    maybe_time,
    st.floats(0.5, 3),
    st.sampled_from(get_args(Retention)),
)
tags = st.lists(
    st.builds(Tag, words.filter(bool), words, st.sampled_from(get_args(Origin))),
    max_size=4,
    unique_by=lambda tag: tag.name,
).map(tuple)
names = st.lists(words.filter(bool), max_size=3, unique=True).map(tuple)
nodes = st.builds(
    Node,
    id=words.filter(bool),
    kind=words.filter(bool),
    name=st.none() | words,
    text=words,
    aliases=names,
    tag_details=tags,
    buckets=names,
    source=st.none() | words.filter(bool),
    seq=st.integers(0, 2**40),
    at=times,
    provenance=st.sampled_from(get_args(Provenance)),
    simhash=st.none() | st.integers(0, 2**64 - 1),
    props=props,
    life=lives,
    created=times,
    updated=times,
    valid_from=maybe_time,
    valid_until=maybe_time,
)
edges = st.builds(
    Edge,
    id=words.filter(bool),
    src=st.sampled_from(["a", "b"]),
    dst=st.sampled_from(["a", "b"]),
    kind=words,
    weight=st.none() | st.floats(0.25, 1),
    tags=names,
    text=words,
    type=st.none() | words,
    attitude=st.none() | st.integers(1, 5),
    proximity=st.none() | st.integers(1, 5),
    confidence=shares,
    via=st.none() | words,
    props=props,
    created=times,
    updated=times,
    valid_from=maybe_time,
    valid_until=maybe_time,
)
facts = st.builds(
    Fact,
    id=words.filter(bool),
    subject=st.sampled_from(["a", "b"]),
    predicate=words,
    confidence=shares,
    status=st.sampled_from(get_args(FactStatus)),
    source=words,
    source_ref=st.none() | words,
    provenance=words,
    tags=names,
    access_count=st.integers(0, 10**6),
    last_accessed=maybe_time,
    created=times,
    valid_from=maybe_time,
    valid_until=maybe_time,
    superseded_by=st.none() | words,
).flatmap(
    lambda fact: (
        st.builds(lambda o: replace(fact, object=o), st.sampled_from(["a", "b"]))
        | st.builds(lambda v: replace(fact, value=v), words)
    )
)
many = settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@many
@given(some=st.lists(nodes, min_size=10, max_size=30, unique_by=lambda node: node.id))
def test_any_nodes_come_back_as_they_were(engine: Engine, some: list[Node]) -> None:
    store = engine()
    store.write(ME, Batch(nodes=some))
    assert store.get(ME, [node.id for node in some]) == {node.id: node for node in some}
    assert records(store, Node) == sorted(some, key=lambda node: node.id.encode())
    assert store.doctor(False, None) == []


@many
@given(some=st.lists(edges, min_size=10, max_size=30, unique_by=lambda edge: edge.id))
def test_any_edges_come_back_as_they_were(engine: Engine, some: list[Edge]) -> None:
    store = engine()
    store.write(ME, Batch(nodes=[Node("a"), Node("b")], edges=some))
    assert edges_by_id(store, ME, [edge.id for edge in some]) == {edge.id: edge for edge in some}
    assert records(store, Edge) == sorted(some, key=lambda edge: edge.id.encode())
    assert store.doctor(False, None) == []


@many
@given(some=st.lists(facts, min_size=10, max_size=30, unique_by=lambda fact: fact.id))
def test_any_facts_come_back_as_they_were(engine: Engine, some: list[Fact]) -> None:
    store = engine()
    store.write(ME, Batch(nodes=[Node("a"), Node("b")], facts=some))
    found = store.facts(ME, ["a", "b"])
    order = sorted(some, key=lambda f: (-f.confidence, -f.created, f.id.encode()))
    assert found == {s: mine for s in ("a", "b") if (mine := [f for f in order if f.subject == s])}


def test_a_fact_has_an_object_or_a_value_and_not_both(store: Store) -> None:
    store.write(ME, Batch(nodes=[Node("a")]))
    for wrong in (Fact("f", "a", "is"), Fact("f", "a", "is", object="a", value="x")):
        with pytest.raises(InputError, match="either an object or a value"):
            store.write(ME, Batch(facts=[wrong]))
    store.write(ME, Batch(facts=[Fact("f", "a", "is", value="")]))
    assert store.facts(ME, ["a"])["a"][0].value == ""


def whole_batch() -> Batch:
    """One of every kind of record."""
    return Batch(
        nodes=[full_node("a"), full_node("b", name="Charles", aliases=()), Node("c", text="third")],
        edges=[Edge("e1", "a", "b", weight=0.9, tags=("x", "y")), Edge("e2", "a", "a"), Edge("e3", "b", "c")],
        facts=[Fact("f1", "a", "knows", object="b"), Fact("f2", "b", "is", value="clever")],
        notes=[Note("o1", "a", "on a node", "node", 1, 2), Note("o2", "e1", "on an edge", "edge", 3)],
        mentions=[Mention("c", "a", 5), Mention("c", "b", 6)],
        links=[Link("c", "ada", "Ada", "wikilink"), Link("c", "ada", "Ada", "name"), Link("a", "bob", "Bob", "name")],
        sources=[SourceFile("docs/a.md", 10, 20, "hash", 30)],
        tombstones=[Tombstone("0" * 32, 4)],
        versions=[Version("a", 3, "Ada", "earlier"), Version("a", 4, None, "later")],
        roots={"docs": "some/where"},
    )


def test_every_record_kind_comes_back_from_a_scan(store: Store) -> None:
    batch = whole_batch()
    store.write(ME, batch)
    links = sorted(batch.links, key=lambda link: (link.src, link.norm, link.kind))
    expected: Sequence[Sequence[Record]] = (
        batch.sources,
        batch.tombstones,
        batch.nodes,
        batch.versions,
        batch.edges,
        batch.facts,
        batch.notes,
        batch.mentions,
        links,
    )
    assert dump(store) == [(None, record) for kind in expected for record in kind]
    assert store.ingested(ME).roots == {"docs": "some/where"}
    assert store.ingested(ME, "docs").files == {"docs/a.md": batch.sources[0]}
    assert store.ingested(ME, "doc").files == {}
    assert store.history(ME, "a") == batch.versions
    assert store.links(ME, ["a", "c", "none"]) == {
        "a": [batch.links[2]],
        "c": [Link("c", "ada", "Ada", "name"), Link("c", "ada", "Ada", "wikilink")],
    }
    assert [link.src for link in store.links(ME, ["ada", "bob"], "name")["ada"]] == ["c", "c"]
    assert {path: [n.id for n in some] for path, some in store.atoms_of(ME, ["docs/a.md", "x"]).items()} == {
        "docs/a.md": ["a", "b"],
        "x": [],
    }


def test_writing_the_same_batch_again_changes_nothing(store: Store) -> None:
    store.write(ME, whole_batch())
    before, stats = dump(store), store.stats(ME)
    again = store.write(ME, whole_batch())
    assert (again.added, again.replaced) == (0, 3)
    assert dump(store) == before
    assert store.stats(ME) == stats
    assert store.doctor(False, None) == []


def test_an_import_of_a_scan_gives_an_equal_store(engine: Engine) -> None:
    first = engine()
    first.write(ME, whole_batch())
    scanned = dump(first)
    second = engine()
    for _, record in scanned:
        batch = Batch()
        lists: dict[type[Any], list[Any]] = {
            Node: batch.nodes, Edge: batch.edges, Fact: batch.facts, Note: batch.notes, Mention: batch.mentions,
            Link: batch.links, SourceFile: batch.sources, Tombstone: batch.tombstones, Version: batch.versions,
        }  # fmt: skip
        lists[type(record)].append(record)
        second.write(ME, batch)
    assert dump(second) == scanned


def test_a_replaced_node_keeps_its_birth_and_life_and_leaves_history(store: Store) -> None:
    store.write(ME, Batch(nodes=[full_node()], edges=[Edge("e", "n", "n")], notes=[Note("o", "n", "kept")]))
    new = Node("n", text="corrected", tag_details=(Tag("new", "new"),), created=500, updated=600)
    written = store.write(ME, Batch(nodes=[new]))
    assert (written.added, written.replaced) == (0, 1)
    assert store.get(ME, ["n"])["n"] == replace(new, created=11, life=full_node().life)
    assert store.history(ME, "n") == [Version("n", 600, "Ada Lovelace", full_node().text)]
    assert store.neighbours(ME, ["n"], 5)["n"].degree == 1
    assert records(store, Note) == [Note("o", "n", "kept")]
    assert store.named(ME, ["ada lovelace", "countess"]) == {}
    assert store.stats(ME).tags == 1
    assert store.stats(ME).buckets == {}


def test_a_replaced_node_takes_a_life_that_is_given(store: Store) -> None:
    store.write(ME, Batch(nodes=[full_node()]))
    store.write(ME, Batch(nodes=[full_node(life=Life(accesses=1))]))
    assert store.get(ME, ["n"])["n"].life == Life(accesses=1)
    assert store.history(ME, "n") == []


def test_what_is_said_of_a_life_leaves_the_uses_it_had(store: Store) -> None:
    used = Life(0.7, "core", 0.5, 12, 99, 98, 97, 1.5)
    store.write(ME, Batch(nodes=[full_node(life=used)]))
    store.write(ME, Batch(nodes=[full_node(life=Life(1.0, retention="keep_forever"))]))
    kept = replace(used, salience=1.0, confidence=1.0, retention="keep_forever")
    assert store.get(ME, ["n"])["n"].life == kept
    store.write(ME, Batch(nodes=[full_node(life=replace(used, state="archived"))]))
    store.write(ME, Batch(nodes=[full_node(life=Life(confidence=0.9))]))
    assert store.get(ME, ["n"])["n"].life == replace(used, state="active", confidence=0.9)


def test_two_corrections_in_one_millisecond_are_both_in_the_history(store: Store) -> None:
    for text in ("one", "two", "three"):
        store.write(ME, Batch(nodes=[Node("n", text=text, updated=5)]))
    assert [version.text for version in store.history(ME, "n")] == ["one", "two"]


def test_a_replaced_edge_keeps_its_birth_and_its_notes(store: Store) -> None:
    store.write(ME, Batch(nodes=[Node("a"), Node("b")], edges=[Edge("e", "a", "b", weight=0.5, created=3)]))
    store.write(ME, Batch(notes=[Note("o", "e", "why", "edge")]))
    store.write(ME, Batch(edges=[Edge("e", "b", "a", weight=0.9, tags=("t",), created=9)]))
    assert edges_by_id(store, ME, ["e"])["e"] == Edge("e", "b", "a", weight=0.9, tags=("t",), created=3)
    assert records(store, Note) == [Note("o", "e", "why", "edge")]
    assert store.neighbours(ME, ["a"], 5)["a"].degree == 1
    assert store.doctor(False, None) == []


@pytest.mark.parametrize("seed", range(3))
def test_edges_put_again_with_another_weight_or_more_are_as_if_they_had_been_put_so_at_once(
    store: Store, seed: int
) -> None:
    chance = random.Random(seed)

    def some_edge(number: int, now: int) -> Edge:
        src, dst = chance.choices("abc", k=2) if not chance.randrange(4) else "ab" if number % 3 else "cc"
        tags = ("t",) if not chance.randrange(5) else ()
        via = chance.choice((None, "rule", "rule", "rule"))
        weight = chance.choice((None, 0.25, 0.5, 1.0))
        return Edge(f"e{number}", src, dst, weight=weight, tags=tags, via=via, created=now, updated=now)

    store.write(ME, Batch(nodes=[Node(id_) for id_ in "abc"]))
    wanted: dict[str, Edge] = {}
    for now in range(1, 6):
        edges = [some_edge(number, now) for number in chance.sample(range(9), 6)]
        store.write(ME, Batch(edges=edges))
        wanted |= {e.id: replace(e, created=wanted[e.id].created if e.id in wanted else now) for e in edges}
        assert edges_by_id(store, ME, list(wanted)) == wanted
        for id_, around in store.neighbours(ME, list("abc"), 99).items():
            own = [e for e in wanted.values() if id_ in (e.src, e.dst)]
            own.sort(key=lambda e: (-(0.01 if e.weight is None else e.weight), e.dst if e.src == id_ else e.src, e.id))
            assert ([step.edge for step in around.neighbours], around.degree) == ([e.id for e in own], len(own))
        assert store.doctor(False, None) == []


def test_a_fact_stated_again_keeps_its_birth_and_use(store: Store) -> None:
    first = Fact("f", "a", "is", value="x", created=3, access_count=4, last_accessed=5)
    store.write(ME, Batch(nodes=[Node("a")], facts=[first]))
    store.write(ME, Batch(facts=[Fact("f", "a", "is", value="x", confidence=0.5, created=9)]))
    assert store.facts(ME, ["a"])["a"] == [replace(first, confidence=0.5)]


@pytest.mark.parametrize("way", ["remove", "forget"])
def test_a_fact_goes_with_its_object(store: Store, way: str) -> None:
    facts = [Fact("f", "a", "knows", "b"), Fact("g", "a", "knows", "c"), Fact("h", "a", "is", value="b")]
    store.write(ME, Batch(nodes=[Node("a"), Node("b"), Node("c")], facts=facts))
    if way == "remove":
        store.write(ME, Batch(remove_nodes=["b"]))
    else:
        store.forget(ME, ["b"], 9)
    assert [fact.id for fact in store.facts(ME, ["a"])["a"]] == ["g", "h"]
    assert [fact.id for fact in records(store, Fact)] == ["g", "h"]
    assert store.stats(ME).facts == 2


def test_a_node_given_twice_in_one_batch_is_the_last_one(store: Store) -> None:
    written = store.write(ME, Batch(nodes=[Node("n", text="one"), Node("n", text="two")]))
    assert written.added == 1
    assert store.get(ME, ["n"])["n"].text == "two"
    assert store.doctor(False, None) == []


def test_removing_a_node_takes_everything_that_leads_to_it(store: Store) -> None:
    store.vector_spaces().start(VectorSpace("test", 2))
    batch = whole_batch()
    batch.vectors = {"a": vector(1, 0), "b": vector(0, 1)}
    store.write(ME, batch)
    store.touch(ME, ["a"], 50)
    assert store.write(ME, Batch(remove_nodes=["a", "unknown"])).removed == 1
    assert store.get(ME, ["a"]) == {}
    assert edges_by_id(store, ME, ["e1", "e2"]) == {}
    assert {n.id: store.neighbours(ME, [n.id], 9)[n.id].degree for n in records(store, Node)} == {"b": 1, "c": 1}
    assert [fact.id for fact in records(store, Fact)] == ["f2"]
    assert records(store, Note) == []
    assert records(store, Mention) == [Mention("c", "b", 6)]
    assert [link.src for link in records(store, Link)] == ["c", "c"]
    assert store.named(ME, ["ada lovelace", "countess"]) == {}
    assert store.vectors(ME, ["a", "b"]).keys() == {"b"}
    assert [f.id for f in store.vector(ME, vector(1, 0), 9, Where())] == ["b"]
    assert [f.id for f in store.text(ME, TextQuery("first program"), 9, Where())] == ["b"]
    stats = store.stats(ME)
    assert (stats.nodes, stats.edges, stats.facts, stats.notes, stats.mentions, stats.vectors) == (2, 1, 1, 0, 1, 1)
    assert store.doctor(False, None) == []
    # The same id again is a new node: nothing of the old one is there.
    store.write(ME, Batch(nodes=[Node("a", text="fresh")]))
    assert store.get(ME, ["a"])["a"] == Node("a", text="fresh")
    assert store.neighbours(ME, ["a"], 9)["a"].degree == 0


def test_removing_an_edge_takes_its_notes_and_tags(store: Store) -> None:
    store.write(ME, whole_batch())
    store.write(ME, Batch(remove_edges=["e1", "e2", "unknown"]))
    assert [edge.id for edge in records(store, Edge)] == ["e3"]
    assert [note.id for note in records(store, Note)] == ["o1"]
    assert store.neighbours(ME, ["a"], 9)["a"].degree == 0
    assert store.doctor(False, None) == []


def test_a_source_is_forgotten_only_when_nothing_is_left_of_it(store: Store) -> None:
    store.write(ME, whole_batch())
    store.write(ME, Batch(remove_sources=["docs/a.md"]))
    assert store.ingested(ME, "").files.keys() == {"docs/a.md"}
    store.write(ME, Batch(remove_nodes=["a", "b"], remove_sources=["docs/a.md"], remove_roots=["docs"]))
    assert store.ingested(ME, "").files == {}
    assert store.ingested(ME).roots == {}


@pytest.mark.parametrize(
    "broken",
    [
        Batch(edges=[Edge("x", "a", "nowhere")]),
        Batch(edges=[Edge("x", "nowhere", "a")]),
        Batch(facts=[Fact("x", "nowhere", "is", value="1")]),
        Batch(facts=[Fact("x", "a", "is", object="nowhere")]),
        Batch(notes=[Note("x", "nowhere", "text")]),
        Batch(notes=[Note("x", "a", "text", "edge")]),
        Batch(mentions=[Mention("a", "nowhere", 1)]),
        Batch(mentions=[Mention("nowhere", "a", 1)]),
        Batch(links=[Link("nowhere", "ada", "Ada", "name")]),
    ],
    ids=lambda batch: next(str(getattr(batch, f.name)[0])[:40] for f in fields(batch) if getattr(batch, f.name)),
)
def test_a_batch_that_leads_nowhere_changes_nothing_at_all(store: Store, broken: Batch) -> None:
    store.vector_spaces().start(VectorSpace("test", 2))
    store.write(ME, whole_batch())
    before, stats = dump(store), store.stats(ME)
    good = Batch(
        nodes=[full_node("a", text="must not be seen"), Node("new", text="must not be seen")],
        edges=[Edge("e1", "b", "a", weight=0.3)],
        facts=[Fact("f1", "a", "knows", value="nobody")],
        notes=[Note("o1", "b", "moved")],
        mentions=[Mention("c", "a", 99)],
        links=[Link("c", "new", "New", "name")],
        vectors={"a": vector(1, 0)},
        sources=[SourceFile("other.md", 1, 1, "h", 1)],
        roots={"other": "place"},
        remove_nodes=["c"],
        remove_edges=["e2"],
    )
    for kind in ("edges", "facts", "notes", "mentions", "links"):
        getattr(good, kind).extend(getattr(broken, kind))
    with pytest.raises(NotFound, match=r"there is no (node|edge)"):
        store.write(ME, good)
    assert dump(store) == before
    assert store.stats(ME) == stats
    assert store.ingested(ME).roots == {"docs": "some/where"}
    assert store.text(ME, TextQuery("seen"), 9, Where()) == []
    assert store.vectors(ME, ["a"]) == {}
    assert store.doctor(False, None) == []


def test_a_vector_of_the_wrong_size_changes_nothing(store: Store) -> None:
    store.vector_spaces().start(VectorSpace("test", 2))
    with pytest.raises(InputError, match="embed it again"):
        store.write(ME, Batch(nodes=[Node("a")], vectors={"a": vector(1, 0, 0)}))
    assert store.get(ME, ["a"]) == {}


def test_forgetting_leaves_a_hash_and_keeps_the_memory_out(store: Store) -> None:
    store.write(ME, Batch(nodes=[Node("a", text="Secret thing"), Node("b", text="other")], edges=[Edge("e", "a", "b")]))
    store.write(ME, Batch(nodes=[Node("a", text="Secret thing, corrected", updated=2)]))
    assert store.forget(ME, ["a", "unknown"], 9) == ["a"]
    assert store.get(ME, ["a"]) == {}
    assert store.history(ME, "a") == []
    assert store.neighbours(ME, ["b"], 3)["b"].degree == 0
    stones = records(store, Tombstone)
    assert {stone.at for stone in stones} == {9}
    assert "ecret" not in repr(stones)
    back = [Node("a", text="anything"), Node("z", text="secret  THING, corrected"), Node("fine", text="new")]
    assert forgotten_ids(store, ME, back) == {"a", "z"}
    written = store.write(ME, Batch(nodes=back, edges=[Edge("e2", "a", "b"), Edge("e3", "fine", "b")]))
    assert (written.added, written.edges, written.forgotten) == (1, 1, ("a", "z"))
    assert store.text(ME, TextQuery("secret"), 9, Where()) == []
    assert store.write(ME, Batch(nodes=back[:2], allow_again=True)).added == 2
    assert forgotten_ids(store, ME, back) == set()
    assert store.doctor(False, None) == []


def test_touching_counts_each_node_once_per_call(store: Store) -> None:
    store.write(ME, Batch(nodes=[Node("a", text="x"), Node("b", text="x")]))
    store.touch(ME, ["a", "a", "unknown"], 10)
    store.touch(ME, ["a"], 25)
    life = store.get(ME, ["a"])["a"].life
    assert (life.accesses, life.last_access, life.interval) == (2, 25, 15)
    assert store.get(ME, ["b"])["b"].life == Life()


def test_ids_that_cannot_exist_are_not_found(store: Store) -> None:
    strange = ["", "\x00", "\ud800", "x" * 100_000]
    assert store.get(ME, strange) == {}
    assert edges_by_id(store, ME, strange) == {}
    assert store.facts(ME, strange) == {}
    assert store.named(ME, strange) == {}
    assert store.neighbours(ME, strange, 5) == {}
    assert store.vectors(ME, strange) == {}
    assert store.links(ME, strange) == {}
    assert store.forget(ME, strange, 1) == []


def test_a_text_with_a_forgotten_sentence_comes_in_without_it(store: Store) -> None:
    secret, rest = "The key is under the mat", "The boat leaves on Friday. Dinner is at seven."
    text = f"The boat leaves on Friday. {secret}! Dinner is at seven."
    store.write(ME, Batch(nodes=[Node("a", text=secret), Node("b", text=f"- **{secret}**.")]))
    assert [node.id for node in store.copies(ME, [Node("a", text=secret)])] == ["b"]
    store.forget(ME, ["a", "b"], 9)
    coming = [Node("n", text=text, simhash=7), Node("m", text=f"{secret} #x"), Node("o", name=secret)]
    assert store.redacted_texts(ME, coming) == {"n": rest, "m": "", "o": ""}
    assert forgotten_ids(store, ME, coming) == {"m", "o"}
    written = store.write(ME, Batch(nodes=coming))
    assert (written.forgotten, written.cut) == (("m", "o"), ("n",))
    stored = store.get(ME, ["n"])["n"]
    assert (stored.text, stored.simhash) == (rest, None)
    assert store.write(ME, Batch(nodes=coming[:1])).cut == ("n",)
    assert store.history(ME, "n") == []
    store.write(ME, Batch(nodes=coming, allow_again=True))
    assert store.get(ME, ["n"])["n"].text == text


def test_what_is_left_is_judged_again_where_forgotten_words_meet(store: Store) -> None:
    inner, outer = "The key is under the mat.", "The boat leaves on Friday. Dinner is at seven."
    store.write(ME, Batch(nodes=[Node("a", text=inner), Node("b", text=outer)]))
    store.forget(ME, ["a", "b"], 9)
    text = f"Hello there, you. The boat leaves on Friday. {inner} Dinner is at seven."
    assert store.redacted_texts(ME, [Node("n", text=text)]) == {"n": "Hello there, you."}


def test_the_unsaid_are_forgotten_by_their_ids_alone(store: Store) -> None:
    text, secret = "Thanks everyone for coming.", "A secret of some length."
    store.write(ME, Batch(nodes=[Node("a", text="An earlier wording of it."), Node("b", text=secret)]))
    store.write(ME, Batch(nodes=[Node("a", text=text)]))
    assert store.forget(ME, ["a", "b"], 9, Forgetting(id_only={"a"})) == ["a", "b"]
    coming = [Node("a", text="Anything"), Node("c", text=text), Node("d", text="An earlier wording of it.")]
    assert forgotten_ids(store, ME, [*coming, Node("e", text=secret)]) == {"a", "e"}
