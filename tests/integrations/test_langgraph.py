"""LangGraph keeps the items of its store in a memory, with the real library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypedDict

import anyio
import pytest

from cuetrail import Memory, Scope
from cuetrail.errors import Forgotten, InputError

pytest.importorskip("langgraph", reason="an extra: pip install 'cuetrail[langgraph]'")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", embedder=None) as opened:
        yield opened


@pytest.fixture
def store(memory: Memory) -> Any:
    from cuetrail.integrations.langgraph import CuetrailStore

    return CuetrailStore(memory)


def test_a_graph_remembers_from_one_run_to_the_next(memory: Memory, store: Any) -> None:
    from langgraph.graph import END, START, StateGraph
    from langgraph.runtime import Runtime

    class State(TypedDict):
        said: str
        answer: str

    def model(state: State, runtime: Runtime[None]) -> dict[str, str]:
        assert runtime.store is not None
        found = runtime.store.search(("users", "ann"), query=state["said"], limit=1)
        runtime.store.put(("users", "ann"), state["said"], {"said": state["said"]})
        return {"answer": f"You said: {found[0].value['said']}" if found else "I know nothing of this."}

    def graph() -> Any:
        return StateGraph(State).add_node("model", model).add_edge(START, "model").add_edge("model", END)

    run = graph().compile(store=store)
    assert run.invoke({"said": "The antenna stands on the lee side"})["answer"] == "I know nothing of this."
    again = graph().compile(store=type(store)(memory))
    assert again.invoke({"said": "where is the antenna?"})["answer"] == "You said: The antenna stands on the lee side"
    assert "lee side" in memory.recall("antenna").text, "an item is a memory like any other"


def test_items_come_back_exactly_and_are_replaced_and_deleted_by_key(store: Any, memory: Memory) -> None:
    value = {"said": "Ann likes tea", "n": [1, 2.5, None, {"deep": True}], "Ä": "ü"}
    store.put(("users", "ann"), "k", value)
    item = store.get(("users", "ann"), "k")
    assert (item.value, item.key, item.namespace) == (value, "k", ("users", "ann"))
    assert item.created_at <= item.updated_at
    assert store.get(("users", "Ann"), "k") is None
    assert store.get(("users",), "k") is None
    store.put(("users", "ann"), "k", {"said": "Ann likes coffee"})
    store.put(("other",), "k", {"said": "Ann likes coffee"})
    store.delete(("users", "ann"), "k")
    store.delete(("users", "ann"), "never there")
    assert store.get(("users", "ann"), "k") is None
    assert store.get(("other",), "k").value == {"said": "Ann likes coffee"}, "a copy elsewhere stays"
    store.put(("users", "ann"), "k", {"said": "Ann likes coffee"})
    assert store.get(("users", "ann"), "k") is not None
    assert memory.doctor() == []


def test_reads_of_a_batch_see_the_memory_before_it_and_the_last_put_counts(store: Any) -> None:
    from langgraph.store.base import GetOp, PutOp, SearchOp

    space = ("a",)
    results = store.batch(
        [PutOp(space, "k", {"x": "one"}), GetOp(space, "k"), PutOp(space, "k", {"x": "two"}), SearchOp(space)]
    )
    assert results == [None, None, None, []]
    assert store.get(space, "k").value == {"x": "two"}

    async def both() -> list[Any]:
        await store.aput(space, "l", {"x": "three"})
        return [one.key for one in await store.asearch(space)]

    assert sorted(anyio.run(both)) == ["k", "l"]


def test_a_search_keeps_to_its_prefix_filter_offset_and_index(store: Any) -> None:
    for number in range(5):
        store.put(("docs", "Red" if number % 2 else "red"), f"k{number}", {"text": f"antenna {number}", "n": number})
    store.put(("docsmore",), "x", {"text": "antenna elsewhere"})
    store.put(("docs", "hidden"), "h", {"text": "antenna hidden"}, index=False)
    store.put(("docs", "part"), "p", {"text": "antenna", "title": "mast"}, index=["title"])

    def keys(*prefix: str, **options: Any) -> list[str]:
        return sorted(one.key for one in store.search(prefix, **options))

    assert keys("docs") == ["h", "k0", "k1", "k2", "k3", "k4", "p"]
    assert keys("docs", "red") == ["k0", "k2", "k4"]
    assert keys(limit=3, offset=6) == sorted(one.key for one in store.search((), limit=100)[6:9])
    assert keys("docs", query="antenna") == ["k0", "k1", "k2", "k3", "k4"]
    assert keys("docs", "Red", query="antenna") == ["k1", "k3"]
    assert keys("docs", query="mast") == ["p"]
    assert keys("docs", filter={"n": {"$gte": 3}}) == ["k3", "k4"]
    assert keys("docs", filter={"n": 2, "text": "antenna 2"}) == ["k2"]
    assert keys("docs", query="antenna", filter={"n": {"$lt": 2, "$ne": 0}}) == ["k1"]
    assert all(one.score > 0 for one in store.search(("docs",), query="antenna"))
    with pytest.raises(InputError, match="no filter operator"):
        store.search(("docs",), filter={"n": {"$near": 2}})


def test_namespaces_are_listed_by_prefix_suffix_and_depth(store: Any) -> None:
    for space in (("a", "b", "c"), ("a", "b", "d"), ("a", "x"), ("b", "c")):
        store.put(space, "k", {"text": "something"})
    assert store.list_namespaces() == [("a", "b", "c"), ("a", "b", "d"), ("a", "x"), ("b", "c")]
    assert store.list_namespaces(prefix=("a",), max_depth=2) == [("a", "b"), ("a", "x")]
    assert store.list_namespaces(suffix=("c",)) == [("a", "b", "c"), ("b", "c")]
    assert store.list_namespaces(prefix=("a", "*", "d")) == [("a", "b", "d")]
    assert store.list_namespaces(limit=1, offset=2) == [("a", "x")]


def test_a_store_keeps_users_apart_and_does_not_take_back_what_was_forgotten(store: Any, memory: Memory) -> None:
    other = type(store)(memory.scoped(Scope(user="bob")))
    store.put(("a",), "k", {"text": "the code of the door is 1234"})
    assert other.get(("a",), "k") is None
    assert other.search(()) == []
    memory.forget(memory.recall("code of the door").hits[0].node.id)
    with pytest.raises(Forgotten, match="1 items were not stored"):
        store.put(("a",), "k", {"text": "the code of the door is 1234"})
    with pytest.raises(InputError, match=r"nothing of this batch was stored .keys 'big'.: .* more than 1000000 bytes"):
        store.put(("a",), "big", {"text": "x" * 1_100_000})
    with pytest.raises(InputError, match="cannot be stored as JSON"):
        store.put(("a",), "k", {"text": object()})
