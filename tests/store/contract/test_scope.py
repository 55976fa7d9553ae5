"""Nobody reads or changes what is not theirs: a row is visible iff same tenant and (mine, or its team is mine).

Several people write, link, touch, remove and forget at random, with the same ids on purpose. After every step everyone
asks everything, and only the data of the one who acted may have changed. Two effects on others are meant: a teammate's
access of a shared memory counts, and what teammates said about a shared memory goes when its owner removes it.

Where several rows that someone sees have one id, the plain id means the closest of them, and every other one is called
`id@@owner/team`: nothing is hidden, and each name leads to one row.
"""

from __future__ import annotations

import json
import random
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cuetrail import Budget, Memory
from cuetrail.errors import Forgotten, InputError, NotFound
from cuetrail.model import (
    Edge,
    Fact,
    Life,
    Link,
    Mention,
    Node,
    Note,
    Scope,
    SourceFile,
    Tag,
    TextQuery,
    Tombstone,
    Version,
    Where,
)
from cuetrail.store.graph import Frontier, FrontierNode
from cuetrail.store.ports import Store
from cuetrail.store.read import Record, edges_by_id, forgotten_ids
from cuetrail.store.sqlite import SqliteStore
from cuetrail.store.vector_space import VectorSpace
from cuetrail.store.write import Batch
from cuetrail.transfer.jsonl import required_ids
from tests.every_field import every_field
from tests.store.contract.conftest import Engine
from tests.store.contract.test_records import vector

EVERYTHING = Where(quarantined=True, archived=True)
ANN = Scope("acme", "ann")
ANN_RED = Scope("acme", "ann", ("red",), "red")
BOB = Scope("acme", "bob", ("red",))
BOB_RED = Scope("acme", "bob", ("red",), "red")
BOB_BLUE = Scope("acme", "bob", ("red", "blue"), "blue")
CAT = Scope("acme", "cat", ("blue",))
EVE = Scope("other", "ann", ("red", "blue"))
EVE_RED = Scope("other", "ann", ("red", "blue"), "red")
SCOPES = [ANN, ANN_RED, BOB, BOB_RED, BOB_BLUE, CAT, EVE, EVE_RED]
IDS = ["x", "y", "z"]
NORMS = ["apple", "pear"]
SOURCES = ["a.md", "b.md"]
EDGES = [f"e{i}" for i in range(4)]


@pytest.fixture
def store(engine: Engine) -> Store:
    opened = engine()
    opened.vector_spaces().start(VectorSpace("test", 2))
    return opened


def mark(scope: Scope) -> str:
    """Whose a row is, written into the row itself so that a leak shows wherever it comes out."""
    return f"{scope.tenant}/{scope.user}/{scope.share or ''}"


def may_see(scope: Scope, whose: str) -> bool:
    """The rule of visibility."""
    tenant, user, team = whose.split("/")
    return tenant == scope.tenant and (user == scope.user or team in scope.teams)


# --- one random step


def some_batch(chance: random.Random, scope: Scope) -> Batch:
    me = mark(scope)

    def few(most: int) -> range:
        return range(chance.randint(0, most))

    def some() -> str:
        return chance.choice(IDS)

    return Batch(
        nodes=[
            Node(
                id_, kind=f"kind {me}", name=chance.choice([None, *NORMS]), text=f"word {me}", aliases=("pear",),
                tag_details=(Tag(f"tag {me}", me),), buckets=(f"bucket {me}",), source=chance.choice([None, *SOURCES]),
                simhash=chance.choice([None, 0, 1]), props={"whose": me, "id": id_}, updated=chance.randint(1, 99),
            )
            for id_ in (some() for _ in few(3))
        ],
        edges=[
            Edge(chance.choice(EDGES), some(), some(), weight=0.3, text=me, tags=(me,), via="name:apple")
            for _ in few(2)
        ],
        facts=[Fact(f"f{chance.randint(0, 2)}", some(), "is", object=some(), source_ref=me) for _ in few(1)]
        + [Fact(f"v{chance.randint(0, 2)}", some(), "is", value=me, source_ref=me) for _ in few(1)],
        notes=[Note(f"o{chance.randint(0, 1)}", some(), me) for _ in few(1)],
        mentions=[Mention(some(), some(), 1) for _ in few(1)],
        links=[Link(some(), "apple", me, "name") for _ in few(1)],
        vectors={some(): vector(1, chance.random()) for _ in few(2)},
        sources=[SourceFile(chance.choice(SOURCES), 1, 1, me, 1) for _ in few(1)],
        tombstones=[Tombstone(f"{chance.randint(0, 99):032}", 1) for _ in few(1)],
        roots={chance.choice(["r", "s"]): me for _ in few(1)},
        versions=[Version(some(), chance.randint(1, 9), None, me) for _ in few(1)],
        remove_nodes=[some() for _ in few(1)],
        remove_edges=[chance.choice(EDGES) for _ in few(1)],
        remove_sources=[chance.choice(SOURCES) for _ in few(1)],
        remove_roots=[chance.choice(["r", "s"])] if chance.random() < 0.2 else [],
        allow_again=chance.random() < 0.7,
    )  # fmt: skip


def fitting(store: Store, scope: Scope, batch: Batch) -> Batch:
    """The batch without what leads nowhere for this scope, so that most of it can be written."""
    there = (store.get(scope, IDS).keys() | {n.id for n in batch.nodes}) - set(batch.remove_nodes)
    own = {id_ for id_, n in store.get(scope, IDS).items() if (n.owner, n.team) == (scope.user, scope.share)}
    own = (own | {n.id for n in batch.nodes}) - set(batch.remove_nodes)
    for name in ("edges", "facts", "notes", "mentions"):
        setattr(batch, name, [record for record in getattr(batch, name) if set(required_ids(record)) <= there])
    batch.links = [link for link in batch.links if link.src in own]
    return batch


def act(store: Store, chance: random.Random, scope: Scope) -> str:
    """One random step of one person; what was done."""
    dice, some = chance.random(), chance.sample(IDS, 2)
    if dice < 0.08:
        store.forget(scope, some, 7)
        return "forget"
    try:
        store.write(scope, fitting(store, scope, some_batch(chance, scope)))
    except InputError:
        return "refused"
    return "write"


# --- everything that can be asked


def level_from(ids: list[str]) -> Frontier:
    """Energy in all of these, each from a seed of its own."""
    nodes = (FrontierNode(id_, 1.0, number) for number, id_ in enumerate(ids))
    return Frontier(tuple(nodes), tuple(frozenset({id_}) for id_ in ids), max_branches=50, min_activation=0.0)


def all_reads(store: Store, scope: Scope) -> Iterator[tuple[str, Any]]:
    """Every answer of every reading method, named."""
    yield "get", store.get(scope, IDS)
    yield "edges", edges_by_id(store, scope, EDGES)
    yield "facts", store.facts(scope, IDS)
    yield "named", store.named(scope, NORMS)
    yield "history", [store.history(scope, id_) for id_ in IDS]
    for words in ("word", "apple pear", "ann bob cat"):
        yield "text", store.text(scope, TextQuery(words), 50, EVERYTHING)
        yield "prefix", store.text(scope, TextQuery(words[:2], prefix=True), 50, EVERYTHING)
        yield "fuzzy", store.text(scope, TextQuery(words, fuzzy=True), 50, EVERYTHING)
    yield "vector", store.vector(scope, vector(1, 0), 50, EVERYTHING)
    yield "neighbours", store.neighbours(scope, IDS, 50)
    yield "expand", store.expand(scope, level_from(IDS))
    yield "edge_tags", store.edge_tags(scope)
    yield "scan", list(store.scan(scope))
    yield "stats", store.stats(scope)
    yield "roots", store.ingested(scope).roots
    yield "source_files", store.ingested(scope, "").files
    yield "atoms_of", store.atoms_of(scope, SOURCES)
    yield "links_of", store.links(scope, IDS)
    yield "links_to", store.links(scope, NORMS, "name")
    yield "edges_via", store.edges(scope, ["name:apple"], "via")
    yield "simhash_bands", store.simhash_bands(scope, [(0, 0), (1, 0), (2, 0)], 50)
    yield "vectors", store.vectors(scope, IDS)


def marks_in(answer: Any) -> set[str]:
    """Every owner's mark that appears anywhere in an answer."""
    owners = {mark(scope) for scope in SCOPES}
    said = every_field(answer)
    # A mark ends where no further letter follows: ann's private mark is also the beginning of ann's shared one.
    return {one for one in owners if any(one + end in said for end in ("'", '"', "\\n"))}


def assert_nothing_leaks(store: Store, scope: Scope) -> None:
    for name, answer in all_reads(store, scope):
        hidden = sorted(one for one in marks_in(answer) if not may_see(scope, one))
        assert not hidden, f"{name} shows {scope} rows of {hidden}"
    assert_names_are_sound(store, scope)


def rows_of_all(store: Store) -> list[tuple[str, str]]:
    """(whose it is, plain id) of every node there is."""
    people_ = ((p, team, r) for p in people() for team, r in store.scan(p) if isinstance(r, Node))
    return [(mark(replace(person, share=team)), record.id) for person, team, record in people_]


def assert_names_are_sound(store: Store, scope: Scope) -> None:
    """Every row that may be seen is found once, under a name that leads to it from everywhere."""
    names = [found.id for found in store.text(scope, TextQuery("word"), 50, EVERYTHING)]
    nodes = store.get(scope, names)
    assert list(nodes) == names == [node.id for node in nodes.values()]
    seen = {node.id: (node.props["whose"], node.props["id"]) for node in nodes.values()}
    expected = [row for row in rows_of_all(store) if may_see(scope, row[0])]
    assert sorted(seen.values()) == sorted(expected), f"{scope} sees {seen}"
    assert all(node.props["whose"] == f"{scope.tenant}/{node.owner}/{node.team or ''}" for node in nodes.values())
    for id_ in IDS:
        if (mark(scope), id_) in expected:
            assert seen[id_] == (mark(scope), id_), "what was written here is what its plain id means"
        elif any(one == id_ for _, one in expected):
            assert seen[id_][1] == id_
    for name, ids in (
        ("vector", [f.id for f in store.vector(scope, vector(1, 0), 50, EVERYTHING)]),
        ("named", [id_ for found in store.named(scope, NORMS).values() for id_ in found]),
        ("ids", store.ids(scope, "", 50)),
        ("neighbours", [s.id for around in store.neighbours(scope, names, 50).values() for s in around.neighbours]),
        ("expand", [c.id for some in store.expand(scope, level_from(names)).candidates for c in some]),
        ("ends", [end for e in edges_by_id(store, scope, EDGES).values() for end in (e.src, e.dst)]),
        ("objects", [f.object for some in store.facts(scope, names).values() for f in some if f.object is not None]),
        ("subjects", [f.subject for some in store.facts(scope, names).values() for f in some]),
        ("links", [link.src for some in store.links(scope, names).values() for link in some]),
    ):
        assert set(ids) <= set(names), f"{name} leads {scope} to nodes it cannot see"
    for around in store.neighbours(scope, names, 50).values():
        for step in around.neighbours:
            edge = edges_by_id(store, scope, [step.edge])[step.edge]
            assert step.id in (edge.src, edge.dst)


def own_data(store: Store, scope: Scope) -> list[tuple[str | None, Record]]:
    """What a person owns, with the counts of accesses left out."""
    found = list(store.scan(scope))
    return [(team, replace(r, life=Life()) if isinstance(r, Node) else r) for team, r in found]


def own_vectors(store: Store, scope: Scope) -> dict[str, bytes]:
    mine = {id_ for id_, node in store.get(scope, IDS).items() if (node.owner, node.team) == (scope.user, scope.share)}
    return store.vectors(scope, sorted(mine))


def people() -> list[Scope]:
    return [ANN, BOB, CAT, EVE]


def assert_kept(before: list[tuple[str | None, Record]], after: list[tuple[str | None, Record]], whose: Scope) -> None:
    """Another's step changed nothing here, except that what led to a node that is gone went with it."""
    assert [r for r in after if r not in before] == []
    for _, record in (r for r in before if r not in after):
        assert isinstance(record, Edge | Fact | Note | Mention), f"{whose} lost {record}"


@pytest.mark.parametrize("seed", range(8))
def test_no_step_of_one_person_shows_or_changes_what_is_anothers(store: Store, seed: int) -> None:
    chance = random.Random(seed)
    done = []
    steps = 30 if isinstance(store, SqliteStore) else 10
    for number in range(steps):
        actor = chance.choice(SCOPES)
        before = {p: own_data(store, p) for p in people()}
        vectors = {s: own_vectors(store, s) for s in SCOPES}
        roots = {p: store.ingested(p).roots for p in people()}
        done.append(act(store, chance, actor))
        for person in people():
            if (person.tenant, person.user) == (actor.tenant, actor.user):
                continue
            assert_kept(before[person], own_data(store, person), person)
            assert store.ingested(person).roots == roots[person]
            if person.tenant != actor.tenant:
                assert own_data(store, person) == before[person]
        for scope in SCOPES:
            if (scope.tenant, scope.user) != (actor.tenant, actor.user):
                assert own_vectors(store, scope) == vectors[scope]
        if number % 10 == 9:
            for scope in SCOPES:
                assert_nothing_leaks(store, scope)
    assert store.doctor(False, None) == []
    assert done.count("write") > steps / 3, "too few writes to find anything"


@pytest.mark.parametrize("seed", range(3))
def test_a_memory_opened_by_anyone_recalls_and_exports_only_what_they_may_see(
    address: str, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(100 + seed)
    with Memory(address, embedder=None) as memory:
        for _ in range(25):
            act(memory.store, chance, chance.choice(SCOPES))
    for scope in SCOPES:
        with Memory(address, scope=scope, embedder=None) as memory:
            answer = memory.recall("word apple pear ann bob cat", budget=Budget(chars=100_000), limit=50, now=5)
            shown = [hit.node for hit in answer.hits]
            expected = [row for row in rows_of_all(memory.store) if may_see(scope, row[0])]
            assert sorted((node.props["whose"], node.props["id"]) for node in shown) == sorted(expected)
            assert all(node.life.accesses for node in memory.store.get(scope, [node.id for node in shown]).values())
            for id_ in IDS:
                for answer_ in (memory.get(id_), memory.facts(id_), memory.history(id_)):
                    assert all(may_see(scope, one) for one in marks_in(answer_))
            memory.export(tmp_path / "out.jsonl", vectors=True)
            exported = (tmp_path / "out.jsonl").read_text("utf-8")
            whose = {one for one in marks_in(exported) if not one.startswith(f"{scope.tenant}/{scope.user}/")}
            assert whose == set()
            assert len(exported.splitlines()) == 1 + len(list(memory.store.scan(scope)))
            assert all(json.loads(line) for line in exported.splitlines())


# --- the rules one by one


def test_the_same_id_is_another_memory_for_everyone(store: Store) -> None:
    for scope in (ANN, BOB, CAT, EVE):
        store.write(scope, Batch(nodes=[Node("x", text=f"word {mark(scope)}")]))
    for scope in (ANN, BOB, CAT, EVE):
        assert store.get(scope, ["x"])["x"].text == f"word {mark(scope)}"
        assert store.stats(scope).nodes == 1
        assert [found.id for found in store.text(scope, TextQuery("word"), 9, EVERYTHING)] == ["x"]


def test_what_was_written_is_what_its_id_means_and_the_others_are_there_too(store: Store) -> None:
    for scope in (BOB, BOB_RED, BOB_BLUE):
        store.write(scope, Batch(nodes=[Node("x", text=f"word {mark(scope)}")]))
    for scope, others in (
        (BOB, {"x@@bob/red", "x@@bob/blue"}),
        (BOB_RED, {"x@@bob", "x@@bob/blue"}),
        (BOB_BLUE, {"x@@bob", "x@@bob/red"}),
    ):
        assert store.get(scope, ["x"])["x"].text == f"word {mark(scope)}"
        assert {found.id for found in store.text(scope, TextQuery("word"), 9, EVERYTHING)} == {"x", *others}


def test_a_teammates_memory_of_the_same_id_is_beside_mine_under_another_name(store: Store) -> None:
    store.write(ANN_RED, Batch(nodes=[Node("x", name="Shared", text="lynx")], vectors={"x": vector(1, 0)}))
    assert store.named(BOB, ["shared"]) == {"shared": ["x"]}
    store.write(BOB, Batch(nodes=[Node("x", name="Mine", text="opal")], vectors={"x": vector(0, 1)}))
    assert store.get(BOB, ["x"])["x"].text == "opal"
    theirs = store.get(BOB, ["x@@ann/red"])["x@@ann/red"]
    assert (theirs.id, theirs.text, theirs.owner, theirs.team) == ("x@@ann/red", "lynx", "ann", "red")
    assert [found.id for found in store.text(BOB, TextQuery("lynx opal"), 9, EVERYTHING)] == ["x", "x@@ann/red"]
    assert store.named(BOB, ["shared", "mine"]) == {"mine": ["x"], "shared": ["x@@ann/red"]}
    assert [found.id for found in store.vector(BOB, vector(1, 0), 9, EVERYTHING)] == ["x@@ann/red", "x"]
    assert store.vectors(BOB, ["x", "x@@ann/red"]) == {"x": vector(0, 1), "x@@ann/red": vector(1, 0)}
    assert store.get(ANN_RED, ["x"])["x"].text == "lynx"
    for scope in (ANN, CAT, EVE):
        assert store.get(scope, ["x@@bob", "x@@ann/red"]) == {}


def test_what_is_said_of_a_teammates_memory_stays_with_it(store: Store) -> None:
    store.write(ANN_RED, Batch(nodes=[Node("x", text="lynx")], edges=[Edge("e", "x", "x", weight=0.3)]))
    said = Batch(nodes=[Node("x", text="opal"), Node("y")])
    said.edges = [Edge("e", "y", "x@@ann/red", weight=0.9), Edge("mine", "y", "x", weight=0.5)]
    said.facts = [Fact("f", "x@@ann/red", "is", value="a cat"), Fact("g", "y", "eats", object="x@@ann/red")]
    said.notes = [Note("o", "x@@ann/red", "purrs")]
    said.mentions = [Mention("y", "x@@ann/red", 1)]
    store.write(BOB, said)
    assert [step.id for step in store.neighbours(BOB, ["y"], 9)["y"].neighbours] == ["x@@ann/red", "x"]
    assert {(e.src, e.dst) for e in edges_by_id(store, BOB, ["e", "e@@ann/red"]).values()} == {
        ("y", "x@@ann/red"),
        ("x@@ann/red", "x@@ann/red"),
    }
    around = store.neighbours(BOB, ["x@@ann/red"], 9)["x@@ann/red"].neighbours
    assert {(step.id, step.edge) for step in around} == {("y", "e"), ("x@@ann/red", "e@@ann/red")}
    assert [fact.value for fact in store.facts(BOB, ["x@@ann/red"])["x@@ann/red"]] == ["a cat"]
    assert store.facts(BOB, ["x"]) == {}
    assert store.facts(BOB, ["y"])["y"][0].object == "x@@ann/red"
    store.touch(BOB, ["x@@ann/red"], 5)
    assert store.get(ANN_RED, ["x"])["x"].life.accesses == 1
    led_to = {end for _, r in store.scan(BOB) if isinstance(r, Edge | Note | Mention) for end in required_ids(r)}
    assert led_to == {"x", "y", "x@@ann/red"}
    store.write(BOB, Batch(remove_nodes=["x@@ann/red"], remove_edges=["e@@ann/red"]))
    assert store.forget(BOB, ["x@@ann/red"], 9) == []
    assert store.get(ANN_RED, ["x"])["x"].text == "lynx"
    assert edges_by_id(store, ANN_RED, ["e"]).keys() == {"e"}
    assert store.doctor(False, None) == []


def test_the_name_of_anothers_memory_is_not_an_id_to_write_to(store: Store) -> None:
    for scope in (ANN_RED, BOB_RED, BOB):
        store.write(scope, Batch(nodes=[Node("x", text="word")]))
    for taken in ("x@@ann/red", "x@@bob/red"):
        with pytest.raises(InputError, match="another user or team"):
            store.write(BOB, Batch(nodes=[Node(taken, text="mine"), Node("y", text="not alone")]))
    assert store.get(BOB, ["y"]) == {}


@pytest.mark.parametrize("id_", ["x@@", "@@", "x@@ann/red", "a@@b@@c"])
def test_an_id_that_could_be_taken_for_such_a_name_is_refused(store: Store, id_: str) -> None:
    for batch in (Batch(nodes=[Node(id_)]), Batch(nodes=[Node("x")], edges=[Edge(id_, "x", "x")])):
        with pytest.raises(InputError, match="choose another"):
            store.write(BOB, batch)
    assert store.get(BOB, ["x"]) == {}


def test_people_and_teams_whose_names_run_together_are_still_told_apart(store: Store) -> None:
    slashed, teamed = Scope("acme", "a/b", ("c",), "c"), Scope("acme", "a", ("b/c",), "b/c")
    reader = Scope("acme", "r", ("c", "b/c"))
    for scope in (slashed, teamed, reader):
        store.write(scope, Batch(nodes=[Node("x", text=f"word {scope.user}")]))
    found = store.get(reader, [f.id for f in store.text(reader, TextQuery("word"), 9, EVERYTHING)])
    assert sorted(node.owner for node in found.values()) == ["a", "a/b", "r"]


def test_forgetting_takes_the_memory_that_was_named_and_its_copies(address: str) -> None:
    texts = {BOB: "the private plan of the spring", BOB_RED: "the red plan of the spring", BOB_BLUE: "the blue one"}
    for scope, text in texts.items():
        with Memory(address, scope=scope, embedder=None) as memory:
            memory.add(text, id="plan")
            memory.add("said in every place, word for word")
    with Memory(address, scope=BOB_BLUE, embedder=None) as memory:
        assert memory.forget("plan@@bob/red") == ["plan@@bob/red"]
        assert {n.text for n in (memory.get("plan"), memory.get("plan@@bob")) if n} == {texts[BOB], texts[BOB_BLUE]}
        assert len(memory.forget(memory.recall("word for word").hits[0].node.id)) == 3
        assert memory.recall("said in every place").hits == ()
        memory.add("the blue one, corrected", id="plan")
    with Memory(address, scope=BOB_RED, embedder=None) as memory:
        with pytest.raises(Forgotten):
            memory.add("something else", id="plan")
        assert memory.forget("plan@@bob/blue") == ["plan@@bob/blue"]
        assert memory.doctor() == []


def test_the_history_of_each_memory_is_its_own(store: Store) -> None:
    for scope in (ANN_RED, BOB_RED, BOB):
        store.write(scope, Batch(nodes=[Node("x", text=f"first {mark(scope)}", updated=1)]))
        store.write(scope, Batch(nodes=[Node("x", text=f"second {mark(scope)}", updated=2)]))
    assert [version.text for version in store.history(BOB, "x")] == [f"first {mark(BOB)}"]
    assert [version.text for version in store.history(BOB, "x@@bob/red")] == [f"first {mark(BOB_RED)}"]
    assert store.history(BOB, "x@@ann/red") == []


def test_what_is_ingested_for_a_team_carries_nothing_private_into_it(address: str) -> None:
    said = "The quick brown fox jumps over the lazy dog while seven wizards quietly boil their evening tea"
    with Memory(address, scope=BOB, embedder=None) as memory:
        memory.ingest_text(f"---\ntags: [hushhush]\n---\n{said}. We met Quillonia Zweistein there.", source="mine.md")
        memory.ingest_text(f"{said}. They met Quillonia Zweistein too.", source="same.md")
    with Memory(address, scope=BOB_RED, embedder=None) as memory:
        memory.ingest_text(f"{said}! We met Quillonia Zweistein there.", source="ours.md")
        memory.ingest_text("Something else.", source="same.md")
        memory.link("Quillonia Zweistein", "ours", weight=0.5)
        assert memory.forget(source="mine.md")
    with Memory(address, scope=ANN_RED, embedder=None) as memory:
        seen = memory.recall("fox wizards Quillonia something", limit=50, budget=Budget(chars=100_000)).hits
        assert {hit.node.source for hit in seen} <= {"ours.md", "same.md"}
        assert not any("hushhush" in hit.node.tags or "too" in hit.node.text for hit in seen)
        assert memory.get("Quillonia Zweistein") is None
    with Memory(address, scope=BOB, embedder=None) as memory:
        assert [hit.node.source for hit in memory.recall('"Quillonia Zweistein too"').hits] == ["same.md"]
        assert memory.doctor() == []


def test_an_export_leads_to_the_same_memories_when_it_is_imported_again(address: str, tmp_path: Path) -> None:
    for scope, text in ((ANN_RED, "lynx"), (BOB, "opal"), (BOB_RED, "jade")):
        with Memory(address, scope=scope, embedder=None) as memory:
            memory.add(f"{text} of {scope.user}", id="x")
    with Memory(address, scope=BOB, embedder=None) as memory:
        memory.add("y", id="y")
        for other in ("x", "x@@ann/red", "x@@bob/red"):
            memory.link("y", other, weight=0.5)
            memory.fact("y", "knows", other)
        memory.export(tmp_path / "out.jsonl")
        before = list(memory.store.scan(BOB))
        assert memory.import_(tmp_path / "out.jsonl").errors == ()
        assert list(memory.store.scan(BOB)) == before
        assert {step.id for step in memory.neighbours("y").neighbours} == {"x", "x@@ann/red", "x@@bob/red"}


def test_an_export_has_the_vector_of_each_place(address: str, tmp_path: Path) -> None:
    with Memory(address, scope=BOB, embedder=None) as memory:
        memory.store.vector_spaces().start(VectorSpace("test", 2))
        made = {None: vector(1, 0), "red": vector(0, 1)}
        for team, meant in made.items():
            place = replace(BOB, share=team)
            memory.store.write(place, Batch(nodes=[Node("x", text=f"word {team}")], vectors={"x": meant}))
        memory.export(tmp_path / "out.jsonl", vectors=True)
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()[1:]]
    assert {line.get("team"): b64decode(line["vector"]) for line in lines} == made


def test_what_a_teammate_has_already_is_imported_all_the_same(address: str, tmp_path: Path) -> None:
    for place, scope in ((tmp_path / "bobs", BOB_RED), (address, ANN_RED)):
        with Memory(place, scope=scope, embedder=None) as memory:
            memory.add("the same word for word", id="x", now=1)
            memory.export(tmp_path / f"{scope.user}.jsonl")
    with Memory(address, scope=BOB_RED, embedder=None) as memory:
        memory.import_(tmp_path / "bob.jsonl")
        assert [record.id for _, record in memory.store.scan(BOB_RED) if isinstance(record, Node)] == ["x"]


def test_teammates_see_what_is_shared_and_others_do_not(store: Store) -> None:
    store.write(ANN_RED, Batch(nodes=[Node("x", text="word")]))
    store.write(ANN, Batch(nodes=[Node("y", text="word")]))
    seen = [sorted(store.get(scope, IDS)) for scope in (ANN, BOB, CAT, EVE)]
    assert seen == [["x", "y"], ["x"], [], []]


def test_a_link_to_a_hidden_memory_is_refused(store: Store) -> None:
    store.write(ANN, Batch(nodes=[Node("secret", text="word")]))
    store.write(BOB, Batch(nodes=[Node("mine", text="word")]))
    for batch in (
        Batch(edges=[Edge("e", "mine", "secret")]),
        Batch(facts=[Fact("f", "secret", "is", value="x")]),
        Batch(notes=[Note("o", "secret", "x")]),
        Batch(mentions=[Mention("mine", "secret", 1)]),
        Batch(links=[Link("secret", "a", "A", "name")]),
    ):
        with pytest.raises(NotFound):
            store.write(BOB, batch)
    assert store.neighbours(ANN, ["secret"], 9)["secret"].degree == 0


def test_an_edge_or_fact_shared_with_a_team_does_not_show_a_private_end(store: Store) -> None:
    store.write(ANN, Batch(nodes=[Node("secret", text="word")]))
    batch = Batch(nodes=[Node("open", text="word")], edges=[Edge("e", "open", "secret")])
    batch.facts = [Fact("f", "open", "is", object="secret"), Fact("g", "open", "is", value="fine")]
    store.write(ANN_RED, batch)
    assert edges_by_id(store, BOB, ["e"]) == {}
    assert store.neighbours(BOB, ["open"], 9)["open"].neighbours == ()
    assert [fact.id for fact in store.facts(BOB, ["open"])["open"]] == ["g"]
    assert [fact.id for fact in store.facts(ANN, ["open"])["open"]] == ["f", "g"]


def test_two_teammates_may_mention_the_same(store: Store) -> None:
    store.write(ANN_RED, Batch(nodes=[Node("x"), Node("y")], mentions=[Mention("x", "y", 1)]))
    store.write(BOB, Batch(mentions=[Mention("x", "y", 2)]))
    assert [r for _, r in store.scan(ANN) if isinstance(r, Mention)] == [Mention("x", "y", 1)]
    assert [r for _, r in store.scan(BOB) if isinstance(r, Mention)] == [Mention("x", "y", 2)]


def test_only_the_owner_removes_or_forgets(store: Store) -> None:
    store.write(ANN_RED, Batch(nodes=[Node("x", text="word")], edges=[Edge("e", "x", "x")]))
    before = list(store.scan(ANN))
    assert store.forget(BOB, ["x"], 1) == []
    assert store.write(BOB, Batch(remove_nodes=["x"], remove_edges=["e"])).removed == 0
    store.write(BOB, Batch(vectors={"x": vector(1, 0)}))
    assert store.vectors(ANN, ["x"]) == {}
    store.write(BOB, Batch(nodes=[Node("x", text="bob's own")]))
    assert list(store.scan(ANN)) == before


def test_a_teammate_who_forgets_is_told_that_only_the_owner_may(address: str) -> None:
    with Memory(address, scope=ANN_RED, embedder=None) as memory:
        memory.add("word", id="x")
    with Memory(address, scope=BOB, embedder=None) as memory, pytest.raises(NotFound, match="only its owner"):
        memory.forget("x")


def test_forgetting_leaves_the_files_of_others_alone(store: Store) -> None:
    empty = SourceFile("empty.md", 0, 1, "h", 1)
    for scope in (BOB, EVE):
        store.write(scope, Batch(sources=[empty]))
    store.write(
        ANN, Batch(nodes=[Node("x", text="word", source="a.md")], sources=[SourceFile("a.md", 1, 1, "h", 1), empty])
    )
    store.forget(ANN, ["x"], 1)
    assert store.ingested(ANN, "").files.keys() == {"empty.md"}
    assert store.ingested(BOB, "").files == store.ingested(EVE, "").files == {"empty.md": empty}


def test_what_was_forgotten_stays_away_from_every_place_and_its_id_from_the_one_it_was_in(store: Store) -> None:
    for scope in (BOB, BOB_RED):
        store.write(scope, Batch(nodes=[Node("x", text="word")]))
    assert store.forget(BOB, ["x", "x@@bob/red"], 1) == ["x", "x@@bob/red"]
    assert store.get(BOB, ["x"]) == {}
    for scope in (BOB, BOB_RED, BOB_BLUE):
        assert store.write(scope, Batch(nodes=[Node("z", text="word")])).forgotten == ("z",)
    assert store.write(BOB_RED, Batch(nodes=[Node("x", text="other")])).forgotten == ("x",)
    assert store.write(BOB_BLUE, Batch(nodes=[Node("x", text="other")])).added == 1
    assert forgotten_ids(store, ANN, [Node("x", text="word")]) == set()
    assert store.write(ANN_RED, Batch(nodes=[Node("x", text="word")])).added == 1
    assert store.write(BOB_BLUE, Batch(nodes=[Node("z", text="word")], allow_again=True)).added == 1
    assert forgotten_ids(store, BOB, [Node("z", text="word")]) == set()


def test_what_teammates_said_about_a_memory_goes_with_it_and_nothing_else(store: Store) -> None:
    store.write(ANN_RED, Batch(nodes=[Node("x", text="word")]))
    said = Batch(nodes=[Node("y"), Node("z")], edges=[Edge("e1", "y", "x"), Edge("e2", "y", "z")])
    said.facts = [Fact("f1", "y", "is", object="x"), Fact("f2", "y", "is", object="z")]
    said.notes = [Note("o1", "x", "on ann's"), Note("o2", "y", "on my own")]
    store.write(BOB, said)
    store.forget(ANN, ["x"], 1)
    left = {r.id for _, r in store.scan(BOB) if isinstance(r, Node | Edge | Fact | Note)}
    assert left == {"y", "z", "e2", "f2", "o2"}
    assert store.doctor(False, None) == []


def test_a_teammates_recall_counts_as_use_of_a_shared_memory(address: str) -> None:
    with Memory(address, scope=ANN_RED, embedder=None) as memory:
        memory.add("word", id="x")
    with Memory(address, scope=BOB, embedder=None) as memory:
        assert [hit.node.id for hit in memory.recall("word", now=9).hits] == ["x"]
    with Memory(address, scope=ANN, embedder=None) as memory:
        node = memory.get("x")
        assert node is not None
        assert (node.life.accesses, node.life.last_access) == (1, 9)


def test_near_texts_of_others_do_not_hide_mine(store: Store) -> None:
    store.write(EVE, Batch(nodes=[Node(f"n{i:03}", simhash=0) for i in range(300)]))
    store.write(ANN, Batch(nodes=[Node("mine", simhash=1)]))
    assert store.simhash_bands(ANN, [(1, 0)], 50) == {(1, 0): [("mine", 1)]}
    assert store.simhash_bands(BOB, [(1, 0)], 50) == {}


def test_a_reader_who_never_wrote_sees_nothing_and_leaves_nothing(store: Store) -> None:
    store.write(ANN, Batch(nodes=[Node("x", text="word")]))
    nobody = Scope("acme", "nobody")
    before = store.stats(ANN)
    for name, answer in all_reads(store, nobody):
        assert marks_in(answer) == set(), name
    assert store.stats(nobody).nodes == 0
    assert store.stats(ANN) == before


def test_a_scope_needs_names_and_shares_only_with_its_own_teams(tmp_path: Path) -> None:
    for wrong in (Scope(tenant=""), Scope(user=""), Scope(share="red"), Scope(teams=("blue",), share="red")):
        with pytest.raises(InputError):
            Memory(tmp_path, scope=wrong, embedder=None)


def test_two_names_of_one_memory_count_once_when_it_goes(store: Store) -> None:
    def written() -> None:
        store.write(ANN_RED, Batch(nodes=[Node("x", text="Ann's", tag_details=(Tag("t", "t"),))]))
        store.write(BOB_BLUE, Batch(nodes=[Node("x", text="Bob's", tag_details=(Tag("t", "t"),))], allow_again=True))

    written()
    assert store.get(BOB, ["x@@bob/blue"])["x@@bob/blue"].id == "x", "a memory has one id in a scope"
    assert store.write(BOB, Batch(remove_nodes=["x@@bob/blue", "x"])).removed == 1
    assert store.doctor(False, None) == []
    written()
    assert store.forget(BOB, ["x@@bob/blue", "x"], 1) == ["x@@bob/blue", "x"]
    assert store.doctor(False, None) == []
    assert store.get(ANN, ["x"])["x"].text == "Ann's"
    assert store.get(BOB, ["x"])["x"].text == "Ann's"
