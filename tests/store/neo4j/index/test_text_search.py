"""Text search on Neo4j ranks by the current texts, whatever was corrected or forgotten before."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cuetrail import Memory, Node, Scope
from cuetrail.model import FieldWeights, TextQuery, Where
from cuetrail.store.neo4j import Neo4jStore
from cuetrail.store.neo4j.connection import rows
from cuetrail.store.neo4j.index import text_index
from cuetrail.store.neo4j.migrate import BARE_MARKED, TITLED, migrate
from cuetrail.store.sqlite import SqliteStore
from cuetrail.store.write import Batch
from tests.servers import Login, alone, wipe

WORDS = [f"w{n}" for n in range(30)]


def some_items() -> list[dict[str, Any]]:
    chance = random.Random(3)
    return [
        {
            "id": f"n{n}", "text": " ".join(chance.choices(WORDS, k=chance.randint(1, 120))), "at": n,
            "tags": chance.sample(WORDS, 1),
            "props": {"title": " ".join(chance.choices(WORDS, k=2))} if n % 3 else {"heading": chance.choice(WORDS)},
        }
        for n in range(40)
    ]  # fmt: skip


def worn(memory: Memory, items: list[dict[str, Any]]) -> None:
    """Leave the items, after some of them said something else and others, which say the same words, were forgotten.

    All were written at once: the server drops what it wrote in one go when nothing of it is left, and with it the dead.
    """
    gone = [{"id": f"gone{n}", "text": f"gone {n} " + "w1 " * 20} for n in range(15)]
    memory.add_many([*({**item, "text": "w1 w1 w1 w2 w3"} for item in items[:20]), *items[20:], *gone])
    memory.forget(*(one["id"] for one in gone))
    memory.add_many(items[:20])


def ranked(memory: Memory) -> list[list[tuple[str, float]]]:
    chance = random.Random(4)
    weights = (None, FieldWeights(2.0, 0.5, 1.0))
    asked = [TextQuery(" ".join(chance.choices(WORDS, k=3)), fields=chance.choice(weights)) for _ in range(16)]
    found = [memory.store.text(memory.scope, query, 10, Where()) for query in asked]
    return [[(one.id, one.score) for one in some] for some in found]


def assert_same(some: list[list[tuple[str, float]]], others: list[list[tuple[str, float]]]) -> None:
    assert [[id_ for id_, _ in one] for one in some] == [[id_ for id_, _ in one] for one in others]
    assert [score for one in some for _, score in one] == pytest.approx([s for one in others for _, s in one], rel=1e-5)


@pytest.mark.parametrize("few", [1_000, 0])
def test_scores_are_those_of_what_is_remembered_now(
    server: Login, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    # With none that are few, the index is made anew as in a large memory.
    monkeypatch.setattr(text_index, "FEW", few)
    with Memory(tmp_path / "memory", embedder=None) as fresh, Memory(server.uri, embedder=None) as memory:
        fresh.add_many(some_items())
        worn(memory, some_items())
        assert_same(ranked(memory), ranked(fresh))
        memory.add("w1 w1 and nothing else", id="n0")
        fresh.add("w1 w1 and nothing else", id="n0")
        if few:
            assert_same(ranked(memory), ranked(fresh))
        assert memory.doctor() == []


def test_an_older_neo4j_database_tells_bare_names_apart(neo4j_server: Login) -> None:
    with alone(neo4j_server):
        wipe(neo4j_server)
        with closing(Neo4jStore(neo4j_server.address, SqliteStore)) as store:
            named = [
                Node("bare", "person", "Ada"),
                Node("told", "person", "Ada", "Ada rows"),
                Node("a.md", "source", "Ada"),
            ]
            store.write(Scope(), Batch(nodes=named))
            store.connection.writing(
                lambda tx: rows(tx, "MATCH (n:CueNode) SET n.marks = replace(n.marks, ' xbare', '')")
            )
            store.connection.writing(
                lambda tx: rows(tx, "MATCH (s:CueSchema) SET s.version = $version", version=BARE_MARKED - 1)
            )

            def found() -> set[str]:
                return {one.id for one in store.text(Scope(), TextQuery("Ada"), 9, Where(with_text=True))}

            assert found() == {"bare", "told", "a.md"}
            migrate(store.connection)
            assert found() == {"told", "a.md"}


def test_an_older_neo4j_database_is_searched_by_titles(neo4j_server: Login) -> None:
    with alone(neo4j_server):
        wipe(neo4j_server)
        with closing(Neo4jStore(neo4j_server.address, SqliteStore)) as store:
            titled = Node("titled", text="It shrinks.", props={"title": "Cold connector", "heading": "Faults"})
            store.write(Scope(), Batch(nodes=[titled, Node("named", "person", "Ada", aliases=("Countess",))]))
            older = [
                "DROP INDEX cue_fields",
                "CREATE FULLTEXT INDEX cue_text_again FOR (n:CueNode) ON EACH [n.moment, n.marks, n.labels, n.body]",
                "MATCH (n:CueNode) REMOVE n.title, n.heading",
                "MERGE (m:CueMeta {name: 'log'}) SET m.text = 'cue_text_again'",
                f"MATCH (s:CueSchema) SET s.version = {TITLED - 1}",
            ]
            store.connection.schema(older)
            migrate(store.connection)

            def found(words: str) -> list[str]:
                query = TextQuery(words, fields=FieldWeights(1.0, 1.0, 0.0))
                return [one.id for one in store.text(Scope(), query, 9, Where())]

            assert (found("connector"), found("faults"), found("countess")) == (["titled"], ["titled"], ["named"])
            names = {row[0] for row in store.connection.reading(lambda tx: rows(tx, "SHOW INDEXES YIELD name"))}
            assert "cue_text_again" not in names
            assert store.doctor(False, None) == []
