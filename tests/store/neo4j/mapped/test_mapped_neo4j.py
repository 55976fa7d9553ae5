"""A labelled graph of one's own on a Neo4j server is activated, traversed and read in place, and never written to."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from neo4j import Driver, GraphDatabase

from cuetrail import Graph, Memory
from cuetrail.cli import main
from cuetrail.errors import InputError, MemoryError_
from cuetrail.graph import GraphMapping
from cuetrail.model import Edge
from cuetrail.recall.render.graph import to_cypher
from cuetrail.text.cypher import quoted
from tests.graph.test_graph_source import Plain, conformance
from tests.servers import Login
from tests.store.contract import test_activation as reference

EXAMPLE = Path(__file__).parents[4] / "examples" / "graph_in_cypher.py"
MAPPING = GraphMapping(("Memory",), ("RELATES",), id="uid", weight="w", tags="topics", name="title", text="said")
STORE = """UNWIND $edges AS e MERGE (a:Memory {uid: e[0]}) MERGE (b:Memory {uid: e[1]})
CREATE (a)-[:RELATES {key: e[2], w: e[3], topics: e[4]}]->(b)"""


def store(driver: Driver, edges: list[Edge], ids: list[str] | None = None) -> None:
    """Stores edges as somebody else's program would."""
    rows = [[edge.src, edge.dst, edge.id, edge.weight, list(edge.tags)] for edge in edges]
    driver.execute_query("UNWIND $ids AS id MERGE (:Memory {uid: id})", ids=ids or [])
    driver.execute_query(STORE, edges=rows)


@pytest.fixture
def driver(server: Login) -> Iterator[Driver]:
    with GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as opened:
        opened.execute_query("CREATE INDEX memory_uid IF NOT EXISTS FOR (n:Memory) ON (n.uid)")
        opened.execute_query("CALL db.awaitIndexes()")
        yield opened
        opened.execute_query("DROP INDEX memory_uid IF EXISTS")
        opened.execute_query("DROP INDEX said IF EXISTS")


@pytest.fixture
def graph(driver: Driver, server: Login) -> Iterator[Graph]:
    store(driver, conformance())
    with Graph(server.uri, MAPPING) as opened:
        yield opened


def committed(driver: Driver) -> frozenset[str]:
    """The server's mark of its last transaction that wrote, schema and names included: a read does not move it."""
    with driver.session() as session:
        session.run("RETURN 1").consume()
        return session.last_bookmarks().raw_values


@pytest.mark.parametrize("case", reference.TABLE)
def test_the_conformance_table_is_exact(graph: Graph, case: Any) -> None:
    seed, tags, depth, branches, claim, expected = case
    (found,) = graph.activate([(seed, 0.9)], tags=tags, max_depth=depth, max_branches=branches, claim=claim)
    assert found.error is None
    assert [("-".join(path.ids), [round(hop.energy, 6) for hop in path.hops]) for path in found.paths] == list(
        expected.items()
    )


def test_nothing_is_written_whatever_is_asked_and_the_server_would_refuse_it(driver: Driver, graph: Graph) -> None:
    before = committed(driver)
    found = list(graph.activate([("A0", 0.9), "B0", "nobody"], tags=["camp", "unheard"]))
    graph.traverse("A0", max_hops=2)
    graph.traverse(["A0"], mode="ppr")
    graph.get("A0")
    graph.check()
    driver.execute_query(graph.to_cypher(found), routing_="r")
    assert committed(driver) == before
    connection = graph._graph.connection  # type: ignore[attr-defined]  # of the Neo4j graph
    with connection.session() as session, pytest.raises(Exception, match="read access mode"):
        session.run("CREATE (:Memory {uid: 'new'})").consume()
    with pytest.raises(MemoryError_, match="may only be read"):
        connection.reading(lambda tx: tx.run("CREATE (:Memory {uid: 'new'})").consume())
    assert committed(driver) == before
    driver.execute_query("CREATE (:Memory {uid: 'new'})")
    assert committed(driver) != before, "a write is noticed"


def test_energy_flows_on_random_graphs_as_a_second_walk_says(driver: Driver, server: Login) -> None:
    chance = random.Random(1)
    graphs = [reference.some_graph(chance, f"{number:03}") for number in range(60)]
    for one in graphs:
        store(driver, one.edges, one.ids)
    steps = 0
    for claim in ("energy", "frontier"):
        with Graph(server.uri, {**mapping(), "edge_id": "key"}) as graph:
            for start in range(0, len(graphs), 20):
                flow, tags = reference.some_flow(chance, claim), set(chance.sample(reference.TAGS, 2))
                seeds = {chance.choice(one.ids): one for one in graphs[start : start + 20]}
                for found in graph.activate(
                    [(id_, 0.9) for id_ in seeds], tags=tags, max_depth=flow.max_depth, claim=flow.claim,
                    max_branches=flow.max_branches, min_activation=flow.min_activation,
                    tag_sim_floor=flow.tag_sim_floor,
                ):  # fmt: skip
                    wanted = reference.walked(seeds[found.seed], found.seed, 0.9, tags, flow)
                    steps += reference.assert_flowed(found, wanted, (found.seed, tags, flow))
    assert steps > 100


def mapping() -> dict[str, Any]:
    return {"labels": ["Memory"], "types": ["RELATES"], "id": "uid", "weight": "w", "tags": "topics"}


def test_traversals_equal_those_of_the_same_graph_in_python(graph: Graph) -> None:
    same = Graph(Plain(conformance()))
    for options in (
        {"max_hops": 3}, {"direction": "out", "max_hops": 2}, {"direction": "in"}, {"mode": "ppr", "depth": 5}
    ):  # fmt: skip
        found, wanted = (one.traverse(["A0", "B1"], **options) for one in (graph, same))
        assert [(one.node.id, one.hops) for one in found.arrivals] == [
            (one.node.id, one.hops) for one in wanted.arrivals
        ]
        assert [one.score for one in found.arrivals] == pytest.approx([one.score for one in wanted.arrivals])


def test_the_graph_may_have_numbers_as_ids_other_weights_and_tags_in_one_text(driver: Driver, server: Login) -> None:
    driver.execute_query(
        """CREATE (a:Person:Alive {nr: 1, born: date('1990-05-01'), name: 'Ann', vector: range(0, 999)})
        CREATE (b:Place {nr: 2, name: 'Bern'}) CREATE (c:Other {nr: 3})
        CREATE (a)-[:LIVES_IN {strength: 8, about: 'home, Work'}]->(b), (b)-[:LIVES_IN {strength: 4}]->(c)"""
    )
    given = {
        "labels": ["Person", "Place"], "id": "nr", "id_type": "integer", "weight": "strength", "weight_scale": 10,
        "tags": "about", "tag_separator": ",", "time": "born", "text": None,
    }  # fmt: skip
    with Graph(server.uri, given) as graph:
        (found,) = graph.activate(["1"], tags=["Work"])
        (hop,) = found.paths[0].hops
        assert (hop.dst, hop.weight, hop.tags, hop.kind, hop.outgoing) == ("2", 0.8, ("home", "Work"), "LIVES_IN", True)
        assert hop.energy == pytest.approx(0.8 * (0.15 + 0.85 / 2))
        node = graph.get("1")
        assert node is not None
        assert (node.kind, node.name, node.at, dict(node.props)) == ("Person", "Ann", 641520000000, {})
        assert [one.reason for one in graph.activate(["x", "3"])] == ["seed_not_found"] * 2
        assert graph.check().fits
        drawn = driver.execute_query(graph.to_cypher([found])).records
        assert [(row["a"]["name"], row["e"].type, row["b"]["name"]) for row in drawn] == [("Ann", "LIVES_IN", "Bern")]
    with Graph(server.uri, {"id": "elementId()", "weight": None, "missing_weight": 0.5, "tags": None}) as bare:
        (seed,) = (row[0] for row in driver.execute_query("MATCH (a:Person) RETURN elementId(a)").records)
        (found,) = bare.activate([seed])
        assert [hop.weight for hop in found.paths[0].hops] == [0.5, 0.5]


def test_a_question_begins_at_what_the_full_text_index_finds(driver: Driver, graph: Graph, server: Login) -> None:
    driver.execute_query("MATCH (n:Memory {uid: 'A3'}) SET n.said = 'The receiver is silent', n.title = 'Silence'")
    driver.execute_query("CREATE FULLTEXT INDEX said FOR (n:Memory) ON EACH [n.said]")
    driver.execute_query("CALL db.awaitIndexes()")
    with Graph(server.uri, {**mapping(), "fulltext": "said", "text": "said"}) as searched:
        (found,) = searched.activate("why is the RECEIVER: (silent?", max_depth=1)
        assert (found.seed, 0 < found.score < 1, bool(found.paths)) == ("A3", True, True)
        assert list(searched.activate("!?")) == []
    with pytest.raises(InputError, match="name a full-text index in the mapping"):
        graph.activate("why?")
    wrong = Graph(server.uri, {**mapping(), "fulltext": "nothing"})
    with wrong, pytest.raises(InputError, match="no full-text index 'nothing'"):
        wrong.activate("why?")


def test_names_in_a_mapping_are_names_and_never_code(driver: Driver, server: Login) -> None:
    evil = ("a`b", "\\u0060) DETACH DELETE n //", "x`|`y")
    driver.execute_query("CREATE (:Guard)-[:KEEPS]->(:Guard)")
    for number, name in enumerate(evil):
        label = quoted(name)
        driver.execute_query(
            f"CREATE (:{label} {{{label}: $one}})-[:{label} {{w: 0.5, {label}: 'x'}}]->(:{label} {{{label}: $two}})",
            one=f"a{number}", two=f"b{number}",
        )  # fmt: skip
    for number, name in enumerate(evil):
        fields = {"labels": [name], "types": [name], "id": name, "weight": "w", "tags": name, "name": name}
        with Graph(server.uri, fields) as graph:
            (found,) = graph.activate([(f"a{number}", 0.9)], min_activation=0.0)
            assert [path.ids[-1] for path in found.paths] == [f"b{number}"], name
            assert [one.node.id for one in graph.traverse(f"a{number}").arrivals] == [f"b{number}"]
            assert graph.check().nodes == 2
            driver.execute_query(f"EXPLAIN {graph.to_cypher([found])}")
    assert driver.execute_query("MATCH (n:Guard)-[:KEEPS]->(:Guard) RETURN count(n)").records[0][0] == 1


def test_a_check_says_what_a_mapping_leaves_out_and_which_values_cannot_be_read(driver: Driver, server: Login) -> None:
    driver.execute_query(
        "CREATE (:Memory {uid: 'X'})-[:RELATES {w: 'much', topics: 5}]->(:Memory {uid: 'Y'}),"
        " (:Memory {uid: 'Z'})-[:RELATES {w: 0.5, topics: 'a'}]->(:Memory {uid: 'V'})"
    )
    bare = {"labels": ["Memory"], "types": ["RELATES"], "id": "uid", "weight": None, "tags": None}
    with Graph(server.uri, bare) as graph:
        levels = {one.check: one.level for one in graph.check().findings}
        assert (levels["weight"], levels["tags"]) == ("advice", "advice")
    with Graph(server.uri, mapping()) as graph:
        found = {one.check: (one.level, one.message) for one in graph.check().findings}
        assert found["weight"] == ("fault", "1 of 2 weights are no numbers: they count as missing")
        assert found["tags"][0] == "fault"
        assert found["tags"][1].startswith("1 of 2 tags are neither a list of texts nor a text")


def test_a_check_says_what_fits_what_does_not_and_which_index_is_missing(
    driver: Driver, graph: Graph, server: Login
) -> None:
    found = graph.check()
    assert (found.nodes, found.edges, found.fits) == (12, 15, True)
    assert {one.check: one.level for one in found.findings} == {
        **dict.fromkeys(("labels", "types", "id", "index", "ends", "weight", "tags"), "fits"),
        **dict.fromkeys(("name", "text", "fulltext"), "advice"),
    }
    driver.execute_query("DROP INDEX memory_uid")
    fixes = {one.check: one.fix for one in graph.check().findings}
    assert fixes["index"] == "CREATE INDEX FOR (n:`Memory`) ON (n.`uid`)"
    driver.execute_query("MATCH ()-[e:RELATES]->() SET e.w = 5, e.topics = 'a, b'")
    driver.execute_query("CREATE (:Memory {uid: 'A0'}), (:Memory {uid: 'C'})-[:RELATES]->(:Else)")
    messages = {one.check: (one.level, one.message, one.fix) for one in graph.check().findings}
    assert messages["id"][1] == "1 of 14 nodes have the id of another"
    assert messages["weight"][2] == "set weight_scale = 5, so that the largest counts as 1"
    assert messages["tags"][2] == 'set tag_separator = ","'
    assert messages["ends"][1].startswith("1 of 16 relationships lead out of the graph")
    with Graph(server.uri, {"labels": ["Memories"], "id": "id"}) as other:
        wrong = {one.check: one for one in other.check().findings}
        assert (wrong["labels"].level, wrong["labels"].fix.startswith("did you mean Memory?")) == ("fault", True)
    with Graph(server.uri, {"labels": ["Memory"], "id": "id"}) as other:
        wrong = {one.check: one for one in other.check().findings}
        assert (wrong["id"].message, "uid" in wrong["id"].fix) == ("no node has the property id", True)


def test_the_command_line_reads_a_mapping_from_a_file(graph: Graph, server: Login, tmp_path: Path) -> None:
    file = tmp_path / "graph.toml"
    file.write_text('labels = ["Memory"]\ntypes = ["RELATES"]\nid = "uid"\nweight = "w"\ntags = "topics"\n')

    def run(*arguments: str) -> Any:
        return CliRunner().invoke(main, ["graph", *arguments])

    assert run("check", server.uri, "--map", str(file)).exit_code == 0
    assert run("check", server.uri, "--map", str(file), "--id", "nothing").exit_code == 1
    found = json.loads(
        run("activate", server.uri, "--map", str(file), "--seed", "A0=0.9", "--depth", "1", "--json").output
    )
    assert found["merged"][1]["id"] == "A1"
    told = run(
        "activate", server.uri, "--map", str(file), "--seed", "A0=0.9", "--query-tag", "camp", "--explain"
    ).output
    assert "├─ 0.239 → A2" in told
    assert "MERGE" not in run("activate", server.uri, "--map", str(file), "--seed", "A0", "--as", "cypher").output
    assert run("traverse", server.uri, "--map", str(file), "A0", "--rank", "--top", "2").output.count("\n") == 2
    assert run("get", server.uri, "--map", str(file), "A0").output == "A0  Memory\n"
    assert "no node of the graph has the id" in run("get", server.uri, "--map", str(file), "nobody").output
    file.write_text('lables = ["Memory"]\n')
    assert "no field 'lables': did you mean labels?" in run("check", server.uri, "--map", str(file)).output


def test_the_example_in_plain_cypher_runs_and_only_reads(driver: Driver, server: Login) -> None:
    driver.execute_query(
        """CREATE (a:Memory {id: 'A0'}), (b:Memory {id: 'A1'})
        CREATE (a)-[:RELATES {strength: 9, trust: 0.5, topics: ['camp']}]->(b)"""
    )
    before = committed(driver)
    login = {"NEO4J_URI": server.uri, "NEO4J_USER": server.user, "NEO4J_PASSWORD": server.password}
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), "A0"], env={**os.environ, **login}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "A0 -> A1 0.405\n"
    assert committed(driver) == before


def test_the_paths_of_a_memory_are_drawn_from_what_is_there(driver: Driver, server: Login) -> None:
    with Memory(server.uri, embedder=None) as memory:
        for id_ in ("a", "b"):
            memory.add(f"memory {id_}", id=id_)
        memory.link("a", "b", weight=0.5)
        found = list(memory.activate(["a"], record_access=False))
        before = committed(driver)
        rows = driver.execute_query(to_cypher(found, scope=memory.scope)).records
        assert [(row["a"]["id"], row["e"]["weight"], row["b"]["id"], row["energy"]) for row in rows] == [
            ("a", 0.5, "b", 0.5)
        ]
        assert committed(driver) == before
