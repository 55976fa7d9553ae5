"""The nine tools of the reference memory server behave as documented, and switching from it works."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_types import TextResourceContents

from cuetrail import Memory
from cuetrail.errors import ReadError
from cuetrail.serve.mcp.reference_tools import import_reference_file, read_graph
from tests.serve.conftest import Agent, Talk, agent, command

ADA = {"name": "Ada_Lovelace", "entityType": "person", "observations": ["Speaks French", "Likes tea"]}
BOB = {"name": "Bob", "entityType": "Night Owl", "observations": ["Likes tea"]}
KNOWS = {"from": "Ada_Lovelace", "to": "Bob", "relationType": "knows"}


async def _filled(one: Agent) -> None:
    await one.data("create_entities", entities=[ADA, BOB])
    await one.data("create_relations", relations=[KNOWS])


@pytest.fixture
def compat(talk: Talk) -> Talk:
    """Runs a conversation with a server that has two entities and a relation."""

    def compat(conversation: Any) -> None:
        async def run(one: Agent) -> None:
            await _filled(one)
            await conversation(one)

        talk(run, "mcp-memory")

    return compat


def test_there_are_the_nine_tools_and_the_page(compat: Talk) -> None:
    async def look(one: Agent) -> None:
        names = {tool.name for tool in (await one.client.list_tools()).tools}
        assert names == {
            "create_entities", "create_relations", "add_observations", "delete_entities", "delete_observations",
            "delete_relations", "read_graph", "search_nodes", "open_nodes",
        }  # fmt: skip
        (page,) = (await one.client.list_resources()).resources
        assert page.uri == "memory://knowledge-graph"
        (content,) = (await one.client.read_resource(page.uri)).contents
        assert isinstance(content, TextResourceContents)
        assert json.loads(content.text) == {"entities": [ADA, BOB], "relations": [KNOWS]}

    compat(look)


def test_the_graph_comes_back_as_it_was_written_as_data_and_as_text(compat: Talk) -> None:
    async def read(one: Agent) -> None:
        graph = {"entities": [ADA, BOB], "relations": [KNOWS]}
        assert await one.data("read_graph") == graph
        assert await one.text("read_graph") == json.dumps(graph, indent=2)

    compat(read)


def test_entities_with_names_that_are_there_are_ignored(compat: Talk) -> None:
    async def again(one: Agent) -> None:
        eve = {"name": "Eve", "entityType": "person", "observations": []}
        made = await one.data("create_entities", entities=[{**ADA, "observations": ["Other"]}, eve, eve])
        assert made == {"entities": [eve]}
        assert json.loads(await one.text("create_entities", entities=[eve])) == []
        assert (await one.data("read_graph"))["entities"] == [ADA, BOB, eve]

    compat(again)


def test_duplicate_relations_are_skipped_and_an_end_need_not_be_an_entity(compat: Talk) -> None:
    async def relate(one: Agent) -> None:
        back = {"from": "Bob", "to": "Ada_Lovelace", "relationType": "knows"}
        assert await one.data("create_relations", relations=[KNOWS, back, back]) == {"relations": [back]}
        ghosts = [
            {"from": "Bob", "to": "Nobody", "relationType": "knows"},
            {"from": "X", "to": "Y", "relationType": ""},
        ]
        assert await one.data("create_relations", relations=ghosts) == {"relations": ghosts}
        assert await one.data("read_graph") == {"entities": [ADA, BOB], "relations": [KNOWS, back, *ghosts]}
        assert (await one.data("open_nodes", names=["Nobody", "X"])) == {"entities": [], "relations": []}
        nobody = {"name": "Nobody", "entityType": "person", "observations": []}
        assert await one.data("create_entities", entities=[nobody]) == {"entities": [nobody]}
        assert (await one.data("open_nodes", names=["Nobody"]))["relations"] == ghosts[:1]
        await one.data("delete_entities", entityNames=["X"])
        assert (await one.data("read_graph"))["relations"] == [KNOWS, back, ghosts[0]]

    compat(relate)


def test_observations_are_added_once_and_only_to_what_is_there(compat: Talk) -> None:
    async def observe(one: Agent) -> None:
        more = [{"entityName": "Bob", "contents": ["Likes tea", "Sings"]}]
        added = [{"entityName": "Bob", "addedObservations": ["Sings"]}]
        assert await one.data("add_observations", observations=more) == {"results": added}
        found = await one.data("open_nodes", names=["Bob"])
        assert found["entities"][0]["observations"] == ["Likes tea", "Sings"]
        wrong = [{"entityName": "Bob", "contents": ["x"]}, {"entityName": "Nobody", "contents": ["x"]}]
        assert await one.error("add_observations", observations=wrong) == "Entity with name Nobody not found"
        assert "x" not in (await one.data("open_nodes", names=["Bob"]))["entities"][0]["observations"]

    compat(observe)


def test_deleting_an_entity_takes_its_relations_and_leaves_what_others_say(compat: Talk) -> None:
    async def delete(one: Agent) -> None:
        assert await one.text("delete_entities", entityNames=["Ada_Lovelace"]) == "Entities deleted successfully"
        assert await one.data("read_graph") == {"entities": [BOB], "relations": []}
        again = await one.data("delete_entities", entityNames=["Ada_Lovelace"])
        assert again == {"success": True, "message": "Entities deleted successfully"}
        assert await one.data("create_entities", entities=[ADA]) == {"entities": [ADA]}
        assert (await one.data("read_graph"))["entities"] == [BOB, ADA]

    compat(delete)


def test_deleting_an_observation_leaves_the_same_words_of_another_entity(compat: Talk) -> None:
    async def delete(one: Agent) -> None:
        tea = [{"entityName": "Ada_Lovelace", "observations": ["Likes tea", "Never said"]}]
        assert await one.text("delete_observations", deletions=tea) == "Observations deleted successfully"
        graph = await one.data("read_graph")
        assert [entity["observations"] for entity in graph["entities"]] == [["Speaks French"], ["Likes tea"]]
        await one.data("delete_observations", deletions=[{"entityName": "Bob", "observations": ["Likes tea"]}])
        await one.data("add_observations", observations=[{"entityName": "Bob", "contents": ["Likes tea"]}])
        assert (await one.data("open_nodes", names=["Bob"]))["entities"] == [BOB]
        gone = await one.text("delete_observations", deletions=[{"entityName": "Nobody", "observations": ["x"]}])
        assert gone == "Observations deleted successfully"

    compat(delete)


def test_deleting_a_relation_that_is_not_there_is_silent(compat: Talk) -> None:
    async def delete(one: Agent) -> None:
        assert await one.text("delete_relations", relations=[KNOWS]) == "Relations deleted successfully"
        assert (await one.data("read_graph"))["relations"] == []
        assert (await one.data("delete_relations", relations=[KNOWS]))["success"] is True

    compat(delete)


@pytest.mark.parametrize(
    ("query", "names"),
    [("lovelace", ["Ada_Lovelace"]), ("night owl", ["Bob"]), ("TEA", ["Ada_Lovelace", "Bob"]), ("zebra", [])],
)
def test_a_search_looks_at_names_types_and_observations(compat: Talk, query: str, names: list[str]) -> None:
    async def search(one: Agent) -> None:
        found = await one.data("search_nodes", query=query)
        assert [entity["name"] for entity in found["entities"]] == names
        assert found["relations"] == ([KNOWS] if names else [])

    compat(search)


def test_opening_skips_names_that_are_not_there(compat: Talk) -> None:
    async def look(one: Agent) -> None:
        found = await one.data("open_nodes", names=["Bob", "Nobody"])
        assert found == {"entities": [BOB], "relations": [KNOWS]}
        assert await one.data("open_nodes", names=[]) == {"entities": [], "relations": []}
        both = await one.data("open_nodes", names=["Bob", "Ada_Lovelace", "Bob"])
        assert both["entities"] == [ADA, BOB], "in the order of the graph, not of the names"

    compat(look)


def test_what_a_client_makes_up_beside_the_arguments_is_passed_over(compat: Talk) -> None:
    async def dummy(one: Agent) -> None:
        assert await one.data("read_graph", random_string="x") == await one.data("read_graph")
        assert await one.data("open_nodes", names=["Bob"], depth=2) == await one.data("open_nodes", names=["Bob"])

    compat(dummy)


def test_an_observation_without_words_is_not_said_to_be_kept(compat: Talk) -> None:
    async def blank(one: Agent) -> None:
        eve = {"name": "Eve", "entityType": "person", "observations": ["Sings", " ", ""]}
        assert await one.data("create_entities", entities=[eve]) == {"entities": [{**eve, "observations": ["Sings"]}]}
        added = await one.data("add_observations", observations=[{"entityName": "Eve", "contents": [" ", "Dances"]}])
        assert added == {"results": [{"entityName": "Eve", "addedObservations": ["Dances"]}]}
        assert (await one.data("open_nodes", names=["Eve"]))["entities"][0]["observations"] == ["Sings", "Dances"]

    compat(blank)


def test_wrong_use_is_an_error_in_words(compat: Talk) -> None:
    async def misuse(one: Agent) -> None:
        assert "'entityType' is a required property" in await one.error("create_entities", entities=[{"name": "a"}])
        nameless = {"name": " ", "entityType": "a", "observations": []}
        assert "needs a name" in await one.error("create_entities", entities=[nameless])
        assert "too long" in await one.error("search_nodes", query="a" * 3000)

    compat(misuse)


def test_its_file_is_imported_and_goes_on_under_its_tools(place: Path, tmp_path: Path, talk: Talk) -> None:
    file = tmp_path / "memory.jsonl"
    rows = [{"type": "entity", **ADA}, {"type": "entity", **BOB}, {"type": "relation", **KNOWS}]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with Memory(place, embedder=None) as memory:
        memory.import_(file)

    async def go_on(one: Agent) -> None:
        assert await one.data("read_graph") == {"entities": [ADA, BOB], "relations": [KNOWS]}
        assert await one.data("create_relations", relations=[KNOWS]) == {"relations": []}
        await one.data("add_observations", observations=[{"entityName": "Bob", "contents": ["Sings"]}])

    talk(go_on, "mcp-memory")
    with Memory(place, embedder=None) as memory:
        assert "Sings" in memory.recall("who sings?").text


def test_one_line_is_enough_where_the_settings_name_its_file(place: Path, tmp_path: Path) -> None:
    """The settings of its users name the file in MEMORY_FILE_PATH; the command is the line that changes."""
    file = tmp_path / "memory.jsonl"
    dangling = {"from": "Ada_Lovelace", "to": "Nobody", "relationType": "met"}
    rows = [{"type": "entity", **ADA}, {"type": "entity", **BOB}, {"type": "relation", **KNOWS}]
    file.write_text("".join(json.dumps(row) + "\n" for row in [*rows, {"type": "relation", **dangling}]))
    started = command(place, "--compat", "mcp-memory")
    started.env = {**os.environ, "MEMORY_FILE_PATH": str(file)}

    async def switch() -> None:
        async with agent(started) as one:
            assert await one.data("read_graph") == {"entities": [ADA, BOB], "relations": [KNOWS, dangling]}
            await one.data("delete_entities", entityNames=["Bob"])

    anyio.run(switch)
    with Memory(place, embedder=None) as memory:
        before = memory.stats()
        import_reference_file(memory, file)
        assert memory.stats() == before, "what it holds was taken in already"
        with file.open("a") as more:
            more.write(json.dumps({"type": "entity", "name": "Eve", "entityType": "person", "observations": []}) + "\n")
        import_reference_file(memory, file)
        assert [one["name"] for one in read_graph(memory).data["entities"]] == ["Ada_Lovelace", "Eve"]
        import_reference_file(memory, tmp_path / "not there.jsonl")
        file.write_text("{broken")
        with pytest.raises(ReadError, match=r"memory\.jsonl"):
            import_reference_file(memory, file)
