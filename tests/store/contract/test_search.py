"""Searches see every write at once, apply every filter, and have a total order."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from cuetrail.formulas import bands
from cuetrail.model import Edge, Life, Link, Neighbour, Node, Scope, Stats, Tag, TextQuery, Where
from cuetrail.store.ports import Store
from cuetrail.store.vector_space import VectorSpace
from cuetrail.store.write import Batch
from tests.store.contract.test_records import full_node, vector, whole_batch

ME = Scope()
NO_FILTER = Where(quarantined=True, archived=True)


def texts(store: Store, words: str, where: Where = NO_FILTER, limit: int = 50) -> list[str]:
    return [found.id for found in store.text(ME, TextQuery(words), limit, where)]


def nearest(store: Store, to: bytes, where: Where = NO_FILTER, limit: int = 50) -> list[str]:
    return [found.id for found in store.vector(ME, to, limit, where)]


def with_vectors(store: Store) -> Store:
    store.vector_spaces().start(VectorSpace("test", 2))
    return store


def test_a_match_says_whether_a_label_doubled_its_score(store: Store) -> None:
    tagged = Node("a", text="the radio mast is high", tag_details=(Tag("radio", "radio"),))
    store.write(ME, Batch(nodes=[tagged, Node("b", text="the radio is on")]))
    found = store.text(ME, TextQuery("radio"), 9, NO_FILTER)
    assert {match.id: match.boosted for match in found} == {"a": True, "b": False}


def test_a_link_without_its_words_is_removed(store: Store) -> None:
    store.write(ME, Batch(nodes=[Node("a", text="See [[Pia]] and [[Tom]].")]))
    pia, tom = (Link("a", name, name.title(), "wikilink") for name in ("pia", "tom"))
    store.write(ME, Batch(links=[pia, tom]))
    store.write(ME, Batch(links=[replace(pia, display="")]))
    assert [link.norm for link in store.links(ME, ["a"])["a"]] == ["tom"]
    assert store.links(ME, ["pia"], by="name") == {}


def test_text_search_sees_each_write_at_once(store: Store) -> None:
    assert texts(store, "apple") == []
    store.write(ME, Batch(nodes=[Node("a", text="an apple")]))
    assert texts(store, "apple") == ["a"]
    store.write(ME, Batch(nodes=[Node("a", text="a pear"), Node("b", name="Apple", text="")]))
    assert (texts(store, "apple"), texts(store, "pear")) == (["b"], ["a"])
    store.write(ME, Batch(remove_nodes=["b"], nodes=[Node("c", aliases=("apple pie",))]))
    assert texts(store, "apple") == ["c"]
    store.forget(ME, ["c"], 1)
    assert texts(store, "apple") == []


def test_vector_search_sees_each_write_at_once(store: Store) -> None:
    assert nearest(store, vector(1, 0)) == []
    with_vectors(store)
    assert nearest(store, vector(1, 0)) == []
    store.write(ME, Batch(nodes=[Node("a", text="x"), Node("b", text="y")], vectors={"a": vector(1, 0)}))
    assert nearest(store, vector(1, 0)) == ["a"]
    (missing,) = store.vector_spaces().missing(VectorSpace("test", 2), 9)
    assert missing.record == store.get(ME, ["b"])["b"]
    assert store.vector_spaces().put(VectorSpace("test", 2), [(missing, vector(1, 0.1))]) == 1
    assert nearest(store, vector(1, 0.1)) == ["b", "a"]
    store.write(ME, Batch(nodes=[Node("a", text="other words")]))
    assert nearest(store, vector(1, 0)) == ["b"]
    store.write(ME, Batch(nodes=[Node("b", text="y", tag_details=(Tag("t", "t"),))]))
    assert nearest(store, vector(1, 0)) == ["b"]
    store.forget(ME, ["b"], 1)
    assert nearest(store, vector(1, 0)) == []
    assert store.doctor(False, None) == []


def test_a_cosine_is_what_two_vectors_give(store: Store) -> None:
    with_vectors(store)
    store.write(ME, Batch(nodes=[Node("a")], vectors={"a": vector(3, 4)}))
    (found,) = store.vector(ME, vector(1, 0), 5, Where())
    assert found.score == pytest.approx(0.6, abs=1e-3)
    assert store.vectors(ME, ["a", "b"]) == {"a": vector(3, 4)}


def test_vector_search_equals_comparing_with_every_vector(store: Store) -> None:
    store.vector_spaces().start(VectorSpace("test", 16))
    chance = np.random.default_rng(7)
    rows = {f"n{i:03}": vector(*chance.normal(size=16)) for i in range(300)}
    for some in (list(rows)[:100], list(rows)[100:]):
        store.write(ME, Batch(nodes=[Node(id_) for id_ in some], vectors={id_: rows[id_] for id_ in some}))
        store.refresh(None)
    store.write(ME, Batch(remove_nodes=[f"n{i:03}" for i in range(0, 300, 7)]))
    living = {id_: np.frombuffer(row, "<f2").astype(float) for n, (id_, row) in enumerate(rows.items()) if n % 7}
    for _ in range(20):
        query = vector(*chance.normal(size=16))
        exact = {id_: float(row @ np.frombuffer(query, "<f2").astype(float)) for id_, row in living.items()}
        order = sorted(exact, key=lambda id_: -exact[id_])[:10]
        assert nearest(store, query, limit=10) == order


def test_equal_vectors_come_newest_first_then_by_id(store: Store) -> None:
    with_vectors(store)
    at = {f"n{i:04}": i % 7 for i in range(400)}
    store.write(ME, Batch(nodes=[Node(i, at=t) for i, t in at.items()], vectors=dict.fromkeys(at, vector(1, 0))))
    assert nearest(store, vector(1, 0), limit=70) == sorted(at, key=lambda i: (-at[i], i))[:70]


@pytest.mark.parametrize("step", [2, 90])
def test_a_vector_search_among_few_or_many_labels_equals_comparing_with_each(store: Store, step: int) -> None:
    store.vector_spaces().start(VectorSpace("test", 8))
    chance = np.random.default_rng(step)
    rows = {f"n{i:03}": vector(*chance.normal(size=8)) for i in range(300)}
    label = (Tag("rare", "rare"),)
    nodes = [
        Node(
            id_, text="said" * (n % 4 > 0), at=n % 3, tag_details=label * (n % step == 0), buckets=("b",) * (n % 2 == 0)
        )
        for n, id_ in enumerate(rows)
    ]
    store.write(ME, Batch(nodes=nodes, vectors=rows))
    for where in (Where(tags=("rare",)), Where(tags=("rare",), buckets=("b",), since=1), Where(tags=("none",))):
        query = vector(*chance.normal(size=8))
        meant = np.frombuffer(query, "<f2").astype(float)
        exact = {node.id: float(np.frombuffer(rows[node.id], "<f2").astype(float) @ meant) for node in nodes}
        order = sorted((node.id for node in nodes if where.finds(node)), key=lambda id_: -exact[id_])
        assert nearest(store, query, limit=10, where=where) == order[:10]


def test_starting_the_same_vector_space_again_keeps_its_vectors(store: Store) -> None:
    with_vectors(store)
    store.write(ME, Batch(nodes=[Node("a")], vectors={"a": vector(1, 0)}))
    store.vector_spaces().start(VectorSpace("test", 2))
    assert nearest(store, vector(1, 0)) == ["a"]
    assert store.doctor(False, None) == []


def test_without_a_vector_space_no_vector_is_stored(store: Store) -> None:
    store.write(ME, Batch(nodes=[Node("a")], vectors={"a": vector(1, 0)}))
    assert store.vectors(ME, ["a"]) == {}


KINDS = ("atom", "person", "source")
NAMES = ("red", "green", "blue")


def random_nodes(chance: random.Random, count: int) -> list[Node]:
    return [
        Node(
            f"n{i:03}",
            kind=chance.choice(KINDS),
            name="word",
            text=chance.choice(("word", "")),
            tag_details=tuple(Tag(t, t) for t in chance.sample(NAMES, chance.randint(0, 3))),
            buckets=tuple(chance.sample(NAMES, chance.randint(0, 2))),
            at=chance.randint(0, 9),
            provenance=chance.choice(("internal", "external", "quarantine")),
            life=Life(state=chance.choice(("candidate", "active", "core", "archived"))),
        )
        for i in range(count)
    ]


def passes(node: Node, where: Where) -> bool:
    """The rule for filters, as the specification has it."""
    return all(
        (
            all(tag in node.tags for tag in where.tags),
            not where.buckets or any(bucket in node.buckets for bucket in where.buckets),
            not where.kinds or node.kind in where.kinds,
            where.since is None or node.at >= where.since,
            where.until is None or node.at <= where.until,
            where.quarantined or node.provenance != "quarantine",
            where.archived or node.life.state != "archived",
            not where.with_text or bool(node.text) or node.kind == "source",
        )
    )


def test_filters_hold_in_text_and_vector_search(store: Store) -> None:
    chance = random.Random(3)
    with_vectors(store)
    nodes = random_nodes(chance, 150)
    store.write(ME, Batch(nodes=nodes, vectors={node.id: vector(1, 0) for node in nodes}))
    cases = [
        Where(),
        NO_FILTER,
        Where(tags=("none",)),
        Where(kinds=("none",)),
        Where(since=10**40),
        Where(until=-(10**40)),
        Where(with_text=True),
    ]
    cases += [
        Where(
            tuple(chance.sample(NAMES, chance.choice((0, 0, 1, 2)))),
            tuple(chance.sample(NAMES, chance.choice((0, 0, 1, 2)))),
            tuple(chance.sample(KINDS, chance.choice((0, 1, 2)))),
            chance.choice((None, chance.randint(0, 9))),
            chance.choice((None, chance.randint(0, 9))),
            chance.random() < 0.5,
            chance.random() < 0.5,
            chance.random() < 0.5,
        )
        for _ in range(60)
    ]
    for where in cases:
        wanted = sorted((n for n in nodes if passes(n, where)), key=lambda n: (-n.at, n.id))
        assert set(texts(store, "word", where, 500)) == {n.id for n in wanted}, where
        for limit in (3, 500):
            assert nearest(store, vector(1, 0), where, limit) == [n.id for n in wanted][:limit], where


def test_filters_follow_a_node_that_changes(store: Store) -> None:
    store.write(ME, Batch(nodes=[Node("a", text="word", kind="atom")]))
    store.write(ME, Batch(nodes=[Node("a", text="word", kind="person", life=Life(state="archived"))]))
    assert texts(store, "word", Where()) == []
    assert texts(store, "word", Where(kinds=("atom",), archived=True)) == []
    assert texts(store, "word", Where(kinds=("person",), archived=True)) == ["a"]


def test_what_is_a_name_and_no_more_is_told_apart_as_it_changes(store: Store) -> None:
    saying = Where(with_text=True)
    with_vectors(store)
    for text in ("", "word", ""):
        store.write(ME, Batch(nodes=[Node("a", "person", "word", text)], vectors={"a": vector(1, 0)}))
        expected = ["a"] if text else []
        assert texts(store, "word", saying) == nearest(store, vector(1, 0), saying) == expected
        assert texts(store, "word", Where()) == nearest(store, vector(1, 0)) == ["a"]


def test_limits_of_nothing_and_of_more_than_there_is(store: Store) -> None:
    with_vectors(store)
    tagged = Node("a", text="word", tag_details=(Tag("t", "t"),))
    store.write(ME, Batch(nodes=[tagged, Node("b")], edges=[Edge("e", "a", "b")], vectors={"a": vector(1, 0)}))
    for limit in (0, -1, -(10**9)):
        assert texts(store, "word", limit=limit) == []
        assert nearest(store, vector(1, 0), limit=limit) == []
        assert store.neighbours(ME, ["a"], limit)["a"].neighbours == ()
        assert store.neighbours(ME, ["a"], limit)["a"].degree == 1
    for limit in (1, 10**9, 2**31, 2**62):
        assert texts(store, "word", limit=limit) == ["a"]
        assert texts(store, "", Where(tags=("t",)), limit=limit) == ["a"]
        assert nearest(store, vector(1, 0), limit=limit) == ["a"]
        assert len(store.neighbours(ME, ["a"], limit)["a"].neighbours) == 1


def test_neighbours_come_by_weight_then_neighbour_then_edge(store: Store) -> None:
    chance = random.Random(5)
    ids = [f"n{i}" for i in range(12)]
    edges = [
        Edge(
            f"e{number:03}",
            chance.choice(ids),
            chance.choice(ids),
            kind=chance.choice(("relates", "links")),
            weight=chance.choice((None, 0.25, 0.5, 1.0)),
            tags=tuple(chance.sample(("s", "t"), chance.randint(0, 2))),
        )
        for number in chance.sample(range(400), 200)
    ]
    store.write(ME, Batch(nodes=[Node(id_) for id_ in ids], edges=edges[:120]))
    store.write(ME, Batch(edges=edges[120:]))
    found = store.neighbours(ME, [*reversed(ids), "unknown"], 1000)
    assert list(found) == list(reversed(ids))
    for id_ in ids:
        steps = [Neighbour(e.dst, e.id, e.kind, e.weight, e.tags, True) for e in edges if e.src == id_]
        steps += [Neighbour(e.src, e.id, e.kind, e.weight, e.tags, False) for e in edges if e.dst == id_ != e.src]
        steps.sort(key=lambda s: (-(0.01 if s.weight is None else s.weight), s.id, s.edge))
        assert found[id_].degree == len(steps)
        assert list(found[id_].neighbours) == steps
        for limit in (1, 2, 3, 7):
            assert list(store.neighbours(ME, [id_], limit)[id_].neighbours) == steps[:limit]


def test_a_self_loop_counts_once_and_parallel_edges_each(store: Store) -> None:
    edges = [
        Edge("loop", "a", "a"),
        Edge("one", "a", "b"),
        Edge("two", "b", "a"),
        Edge("three", "a", "b", kind="links"),
    ]
    store.write(ME, Batch(nodes=[Node("a"), Node("b"), Node("c")], edges=edges))
    found = store.neighbours(ME, ["a", "b", "c"], 9)
    assert {id_: around.degree for id_, around in found.items()} == {"a": 4, "b": 3, "c": 0}
    assert [(step.id, step.edge, step.outgoing) for step in found["a"].neighbours] == [
        ("a", "loop", True),
        ("b", "one", True),
        ("b", "three", True),
        ("b", "two", False),
    ]


def test_names_and_aliases_are_found_by_their_normal_form(store: Store) -> None:
    store.write(
        ME,
        Batch(
            nodes=[
                Node("b", name="Straße  der Ada"),
                Node("a", name="Other", aliases=("ADA", "STRASSE DER ADA", "other")),
                Node("c", text="ada"),
            ]
        ),
    )
    assert store.named(ME, ["strasse der ada", "ada", "other", "none"]) == {
        "strasse der ada": ["a", "b"],
        "ada": ["a"],
        "other": ["a"],
    }


def test_texts_are_found_by_the_bands_of_their_hash(store: Store) -> None:
    base = 0xDEAD_BEEF_0123_4567
    hashes = {"base": base, "low": base ^ 1, "high": base ^ (1 << 63), "both": base ^ (1 << 63) ^ 1, "none": None}
    store.write(ME, Batch(nodes=[Node(id_, simhash=value) for id_, value in hashes.items()]))
    low, middle, high = enumerate(bands(base))
    found = store.simhash_bands(ME, [low, middle, high, (0, 5)], 10)
    assert {band: dict(some) for band, some in found.items()} == {
        low: {"base": base, "high": hashes["high"]},
        middle: {id_: value for id_, value in hashes.items() if value is not None},
        high: {"base": base, "low": hashes["low"]},
    }
    assert len(store.simhash_bands(ME, [middle], 3)[middle]) == 3


def test_edges_of_a_rule_are_found_by_the_name_they_came_through(store: Store) -> None:
    edges = [Edge("e2", "a", "b", via="name:x"), Edge("e1", "b", "a", via="name:x"), Edge("e3", "a", "a")]
    store.write(ME, Batch(nodes=[Node("a"), Node("b")], edges=edges))
    assert store.edges(ME, ["name:x", "name:y"], "via") == {"name:x": [edges[1], edges[0]]}


def test_chats_of_a_file_count_as_the_file(store: Store) -> None:
    sources = {"c": "chat.json#2", "a": "chat.json#1", "b": "chat.json", "x": "chat.json2", "y": "chat"}
    store.write(ME, Batch(nodes=[Node(id_, source=path) for id_, path in sources.items()]))
    assert {node.id for node in store.atoms_of(ME, ["chat.json"])["chat.json"]} == {"a", "b", "c"}


def test_the_tokens_of_whole_sources_are_those_that_the_scope_sees(store: Store) -> None:
    long = "x" * 5_000  # longer than the index of a server takes
    texts = {
        "a": ("a.md", "eight by"),
        "b": ("a.md", "日本"),
        "c": ("a.md#1", "other"),
        "d": (long, "four"),
        "e": (None, "e"),
    }
    store.write(ME, Batch(nodes=[Node(id_, text=text, source=path) for id_, (path, text) in texts.items()]))
    sources = ["a.md", long, long[:-1] + "y", "none.md", "\ud800"]
    assert store.source_tokens(ME, sources) == {"a.md": 4, long: 1}
    assert store.source_tokens(Scope(user="eve"), sources) == {}


def test_stats_count_what_is_there(store: Store) -> None:
    with_vectors(store)
    batch = whole_batch()
    batch.vectors = {"a": vector(1, 0)}
    store.write(ME, batch)
    assert store.stats(ME) == Stats(
        nodes=3, edges=3, facts=2, notes=2, mentions=2, vectors=1, tombstones=1, kinds={"atom": 1, "person": 2},
        tags=1, automatic_tags=3, buckets={"alpha": 2, "mid": 2, "zeta": 2}, embedder="test",
        schema=store.stats(ME).schema,
    )  # fmt: skip


def test_a_scan_gives_one_moment_in_a_fixed_order(store: Store) -> None:
    nodes = [full_node(f"n{i:02}") for i in range(30)]
    random.Random(1).shuffle(nodes)
    store.write(ME, Batch(nodes=nodes))
    records = store.scan(ME)
    first = next(records)
    rest = list(records)
    assert [first, *rest] == [(None, node) for node in sorted(nodes, key=lambda n: n.id)]
    assert [first, *rest] == list(store.scan(ME))


def test_scores_of_vectors_are_their_cosines(store: Store) -> None:
    chance = np.random.default_rng(5)
    # As halves they are not quite as long as one.
    made = [(row / np.linalg.norm(row)).astype("<f2") for row in chance.normal(size=(9, 16))]
    space = store.vector_spaces().start(VectorSpace("test", 16))
    vectors = {f"n{number}": row.tobytes() for number, row in enumerate(made[1:])}
    store.write(ME, Batch(nodes=[Node(id_, text=id_) for id_ in vectors], vectors=vectors))
    asked, others = made[0].astype(float), [row.astype(float) for row in made[1:]]
    true = [row @ asked / np.linalg.norm(row) / np.linalg.norm(asked) for row in others]
    found = store.vector(ME, made[0].tobytes(), 8, Where(), space)
    assert [one.score for one in found] == pytest.approx(sorted(true, reverse=True), abs=1e-6)
