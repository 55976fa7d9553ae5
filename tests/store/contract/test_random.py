"""Random operations: the engine answers like a plain model in Python, and doctor finds nothing."""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

from cuetrail.errors import NotFound
from cuetrail.model import Edge, Fact, Link, Mention, Node, Note, Scope, Tag, TextQuery, Version, Where
from cuetrail.model.ids import fingerprint
from cuetrail.model.salience import accessed
from cuetrail.store.ports import Store
from cuetrail.store.vector_space import VectorSpace
from cuetrail.store.write import Batch
from cuetrail.text.normalise import norm_name
from tests.store.contract.test_records import records, vector

ME = Scope()
IDS = [f"n{i}" for i in range(6)]
WORDS = ["apple", "pear", "plum"]


def some_labels(chance: random.Random) -> tuple[str, ...]:
    return tuple(chance.sample(["red", "green", "blue"], chance.randint(0, 2)))


def some_node(chance: random.Random) -> Node:
    return Node(
        chance.choice(IDS),
        name=chance.choice([None, *WORDS]),
        aliases=chance.choice([(), ("Alias",), ("Plum", "pear")]),
        text=chance.choice(["", "apple", "apple pear", "plum plum"]),
        tag_details=tuple(Tag(name, name.title(), "auto") for name in some_labels(chance)),
        buckets=some_labels(chance),
        source=chance.choice([None, "one.md", "two.md"]),
        updated=chance.randint(1, 3),
    )


def some_edge(chance: random.Random) -> Edge:
    ends = chance.choice(IDS), chance.choice(IDS)
    weight = chance.choice([None, 0.25, 1.0])
    return Edge(
        f"e{chance.randint(0, 9)}", *ends, weight=weight, tags=some_labels(chance), created=chance.randint(0, 9)
    )


def some_fact(chance: random.Random) -> Fact:
    fact = Fact(f"f{chance.randint(0, 3)}", chance.choice(IDS), "is", value="x")
    return fact if chance.random() < 0.5 else replace(fact, value=None, object=chance.choice(IDS))


def some_batch(chance: random.Random) -> Batch:
    def few(most: int) -> range:
        return range(chance.randint(0, most))

    return Batch(
        nodes=[some_node(chance) for _ in few(3)],
        edges=[some_edge(chance) for _ in few(4)],
        facts=[some_fact(chance) for _ in few(1)],
        notes=[Note(f"o{chance.randint(0, 2)}", chance.choice(IDS), "note") for _ in few(1)],
        mentions=[Mention(chance.choice(IDS), chance.choice(IDS), chance.randint(0, 5)) for _ in few(1)],
        links=[Link(chance.choice(IDS), "plum", "Plum", "name") for _ in few(1)],
        vectors={chance.choice(IDS): chance.choice([vector(1, 0), vector(0, 1)]) for _ in few(2)},
        remove_nodes=[chance.choice(IDS)] if chance.random() < 0.15 else [],
        remove_edges=[f"e{chance.randint(0, 9)}" for _ in few(1)],
        allow_again=chance.random() < 0.7,
    )


@dataclass
class Model:
    """What a store should hold, in plain dictionaries."""

    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[str, Edge] = field(default_factory=dict)
    facts: dict[str, Fact] = field(default_factory=dict)
    notes: dict[str, Note] = field(default_factory=dict)
    mentions: dict[tuple[str, str], Mention] = field(default_factory=dict)
    links: dict[str, Link] = field(default_factory=dict)
    vectors: dict[str, bytes] = field(default_factory=dict)
    history: dict[str, list[Version]] = field(default_factory=dict)
    stones: set[str] = field(default_factory=set)

    def write(self, batch: Batch) -> None:
        for id_ in batch.remove_nodes:
            self.remove(id_)
        for id_ in batch.remove_edges:
            self.edges.pop(id_, None)
        forgotten = self.keep_out(batch)
        for node in {n.id: n for n in batch.nodes if n.id not in forgotten}.values():
            self.put(node)
        self.edges |= {e.id: self.born(e) for e in batch.edges if forgotten.isdisjoint((e.src, e.dst))}
        self.facts |= {f.id: f for f in batch.facts if forgotten.isdisjoint((f.subject, f.object))}
        self.notes |= {o.id: o for o in batch.notes if o.target not in forgotten}
        self.mentions |= {(m.source, m.node): m for m in batch.mentions if forgotten.isdisjoint((m.source, m.node))}
        self.links |= {link.src: link for link in batch.links if link.src not in forgotten}
        self.vectors |= {i: v for i, v in batch.vectors.items() if i in self.nodes and i not in forgotten}

    def keep_out(self, batch: Batch) -> set[str]:
        forgotten = {n.id for n in batch.nodes if self.stones & stones_of(n) and not self.is_here(n)}
        if batch.allow_again:
            for node in batch.nodes:
                if node.id in forgotten:
                    self.stones -= stones_of(node)
            return set()
        return forgotten

    def is_here(self, node: Node) -> bool:
        """One that is here and says just that does not come back."""
        was = self.nodes.get(node.id)
        return was is not None and (was.name, was.text) == (node.name, node.text)

    def put(self, node: Node) -> None:
        was = self.nodes.get(node.id)
        if was is not None:
            if (was.text, was.name) != (node.text, node.name):
                self.vectors.pop(node.id, None)
                past = self.history.setdefault(node.id, [])
                at = max(node.updated, past[-1].at + 1) if past else node.updated
                past.append(Version(node.id, at, was.name, was.text))
            node = replace(node, created=was.created, life=was.life)
        self.nodes[node.id] = node

    def born(self, edge: Edge) -> Edge:
        return replace(edge, created=self.edges[edge.id].created) if edge.id in self.edges else edge

    def remove(self, id_: str) -> None:
        self.nodes.pop(id_, None)
        self.edges = {k: e for k, e in self.edges.items() if id_ not in (e.src, e.dst)}
        self.facts = {k: f for k, f in self.facts.items() if id_ not in (f.subject, f.object)}
        self.notes = {k: o for k, o in self.notes.items() if o.target != id_}
        self.mentions = {k: m for k, m in self.mentions.items() if id_ not in k}
        self.links.pop(id_, None)
        self.vectors.pop(id_, None)

    def forget(self, id_: str) -> list[str]:
        if id_ not in self.nodes:
            return []
        self.stones |= stones_of(self.nodes[id_])
        for version in self.history.pop(id_, []):
            self.stones |= stones_of(Node(id_, name=version.name, text=version.text))
        self.remove(id_)
        return [id_]

    def touch(self, id_: str, now: int) -> None:
        if id_ in self.nodes:
            self.nodes[id_] = replace(self.nodes[id_], life=accessed(self.nodes[id_].life, now))

    def around(self, id_: str) -> Iterator[tuple[float, str, str]]:
        """(-weight, neighbour, edge) of the edges at a node."""
        for edge in self.edges.values():
            rank = -0.01 if edge.weight is None else -edge.weight
            if edge.src == id_:
                yield rank, edge.dst, edge.id
            elif edge.dst == id_:
                yield rank, edge.src, edge.id


def stones_of(node: Node) -> set[str]:
    content = node.text or node.name
    return {fingerprint("id\n" + node.id)} | ({fingerprint("text\n" + content)} if content else set())


def check(store: Store, model: Model) -> None:
    """The store answers every question as the model does."""
    assert store.get(ME, IDS) == {i: model.nodes[i] for i in IDS if i in model.nodes}
    assert records(store, Node) == [model.nodes[i] for i in sorted(model.nodes)]
    assert records(store, Edge) == [model.edges[i] for i in sorted(model.edges)]
    assert records(store, Fact) == [model.facts[i] for i in sorted(model.facts)]
    assert records(store, Note) == [model.notes[i] for i in sorted(model.notes)]
    assert records(store, Mention) == [model.mentions[i] for i in sorted(model.mentions)]
    assert records(store, Link) == [model.links[i] for i in sorted(model.links)]
    assert store.vectors(ME, IDS) == model.vectors
    assert {i: past for i in IDS if (past := store.history(ME, i))} == model.history
    found = store.neighbours(ME, IDS, 100)
    for id_ in model.nodes:
        steps = sorted(model.around(id_))
        assert found[id_].degree == len(steps)
        assert [(s.id, s.edge) for s in found[id_].neighbours] == [(other, edge) for _, other, edge in steps]
    named: dict[str, list[str]] = {}
    for id_, node in sorted(model.nodes.items()):
        for norm in {norm_name(name) for name in (node.name or "", *node.aliases) if name}:
            named.setdefault(norm, []).append(id_)
    assert store.named(ME, ["apple", "pear", "plum", "alias"]) == named
    for word in WORDS:
        held = {
            i for i, n in model.nodes.items() if word in " ".join((n.name or "", *n.aliases, n.text)).lower().split()
        }
        assert {f.id for f in store.text(ME, TextQuery(word), 50, Where())} == held
    assert {f.id for f in store.vector(ME, vector(1, 1), 50, Where())} == set(model.vectors)
    stats = store.stats(ME)
    assert (stats.nodes, stats.edges, stats.facts) == (len(model.nodes), len(model.edges), len(model.facts))
    assert (stats.notes, stats.mentions, stats.vectors) == (len(model.notes), len(model.mentions), len(model.vectors))
    tags = [tag for node in model.nodes.values() for tag in node.tag_details]
    assert stats.tags == len({tag.name for tag in tags if tag.origin == "user"})
    assert stats.automatic_tags == len({tag.name for tag in tags if tag.origin != "user"})
    assert stats.buckets == Counter(bucket for node in model.nodes.values() for bucket in node.buckets)
    assert stats.tombstones == len(model.stones)
    assert store.doctor(False, None) == []


@pytest.mark.parametrize("seed", range(10))
def test_any_sequence_of_operations_ends_as_the_model_says(store: Store, seed: int) -> None:
    chance, model = random.Random(seed), Model()
    store.vector_spaces().start(VectorSpace("test", 2))
    first = Batch(nodes=[Node(id_, text="apple") for id_ in IDS])
    store.write(ME, first)
    model.write(first)
    for now in range(24):
        dice, id_ = chance.random(), chance.choice(IDS)
        if dice < 0.1:
            assert store.forget(ME, [id_], now) == model.forget(id_)
        elif dice < 0.2:
            store.touch(ME, [id_], now)
            model.touch(id_, now)
        else:
            model = write_both(store, model, some_batch(chance))
        if now % 4 == 3:
            check(store, model)


def write_both(store: Store, model: Model, batch: Batch) -> Model:
    after = copy.deepcopy(model)
    after.write(batch)
    if not missing(after):
        store.write(ME, batch)
        return after
    with pytest.raises(NotFound):
        store.write(ME, batch)
    return model


def missing(model: Model) -> bool:
    """Whether something leads to a node that is not there."""
    ends = [end for e in model.edges.values() for end in (e.src, e.dst)]
    ends += [end for f in model.facts.values() for end in (f.subject, f.object) if end is not None]
    ends += [note.target for note in model.notes.values()]
    ends += [end for pair in model.mentions for end in pair] + list(model.links)
    return not set(ends) <= set(model.nodes)
