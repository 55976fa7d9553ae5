"""Filters on properties are exact in every phase of a recall, on every engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from cuetrail import Memory, Node
from cuetrail.errors import InputError
from cuetrail.model import Tag, Where
from tests.servers import Login, alone, wipe

NODES = [
    Node(
        f"n{number}", text=f"Green tea of kind {number}, {'old ' * (number % 7)}", at=number,
        tag_details=(Tag("tea", "tea"),),
        props={"project": "x" if number % 23 == 0 else "y", "n": number, "deep": {"flag": number % 50 == 0}},
    )
    for number in range(160)
]  # fmt: skip
LURES = [
    Node("quoted", text="Green tea, green tea", props={"note": 'say "project":"x"', 'a"project': "x"}, at=1),
    Node("longer", text="Green tea, green tea", props={"n": 10, "project": "xx"}, at=2),
    Node("listed", text="Green tea again", props={"parts": [{"project": "x"}]}, at=3),
]


@pytest.fixture(params=["local", "neo4j"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    if request.param == "local":
        with Memory(tmp_path / "memory") as opened:
            yield opened
        return
    login: Login = request.getfixturevalue("neo4j_server")
    scheme, rest = login.uri.split("://", 1)
    with alone(login):
        wipe(login)
        with Memory(f"{scheme}://{login.user}:{quote(login.password, safe='')}@{rest}") as opened:
            yield opened


def passing(**props: Any) -> set[str]:
    """The nodes that have these properties, told without the code that is tested."""
    wanted = set(props.items())
    flat: dict[str, set[tuple[str, Any]]] = {}
    for node in (*NODES, *LURES):
        pairs = {(k, v) for k, v in node.props.items() if not isinstance(v, dict | list)}
        pairs |= {(k, v) for k, v in node.props.get("deep", {}).items()}
        pairs |= {(k, v) for part in node.props.get("parts", []) for k, v in part.items()}
        flat[node.id] = pairs
    return {id_ for id_, pairs in flat.items() if wanted <= pairs}


def test_only_nodes_with_the_property_are_found_and_all_of_them(memory: Memory) -> None:
    memory.add_many([*NODES, *LURES])
    memory.link("n0", "n1")
    memory.link("n0", "n23", weight=0.3)
    wanted = passing(project="x")
    assert len(wanted) == 8
    for recipe in ("trail", "tag-walk", "explore"):
        found = memory.recall("green tea", props={"project": "x"}, recipe=recipe, limit=20, budget={"chars": 99_999})
        assert {hit.node.id for hit in found.passages} == wanted, recipe
    assert {node.id for node in memory.timeline(props={"project": "x"}, limit=50).nodes} == wanted
    assert {node.id for node in memory.timeline(props={"n": 1}).nodes} == {"n1"}
    assert {node.id for node in memory.timeline(props={"flag": True}).nodes} == passing(flag=True)
    (walk,) = memory.activate(["n0"], props={"project": "x"}, min_activation=0.0)
    assert {id_ for path in walk.paths for id_ in path.ids} == {"n0", "n23"}
    assert [one.node.id for one in memory.traverse("n0", props={"project": "x"}).arrivals] == ["n23"]
    assert memory.recall("green tea", props={"project": "z"}).hits == ()
    where = Where(props=(("project", '"x"'),))
    assert {node.id for node in (*NODES, *LURES) if where.admits(node)} == wanted


def test_a_filter_that_no_property_can_equal_is_refused(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory", embedder=None) as memory:
        for wrong in ({"project": ["x"]}, {1: "x"}, {"project": "\ud800"}, {"n": float("nan")}):
            with pytest.raises(InputError, match="props filters by texts, numbers"):
                memory.recall("tea", props=wrong)  # type: ignore[arg-type]  # that is what is tested
