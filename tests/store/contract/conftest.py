"""Runs the contract suite on every engine in ENGINES. To add an engine, add how to open a fresh, empty store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cuetrail.store.neo4j import Neo4jStore
from cuetrail.store.ports import Store
from cuetrail.store.sqlite import SqliteStore
from tests.servers import Login, alone, wipe

Engine = Callable[[], Store]
ENGINES = ("local", "neo4j")
# A server answers a hundred times more slowly than a file, so of many random examples it gets the first few.
FEW_SEEDS = 2


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what would take a server long."""

    def is_left_out(item: pytest.Item) -> bool:
        params = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
        seed = params.get("seed")
        return "neo4j" in (params.get("engine"), params.get("address")) and isinstance(seed, int) and seed >= FEW_SEEDS

    left_out = [item for item in items if is_left_out(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in set(left_out)]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A factory of fresh stores, all closed at the end; tests that need many examples open one for each.

    A server has one database, so on Neo4j a fresh store is the old one emptied.
    """
    opened: list[Store] = []

    def on_disk() -> Store:
        opened.append(SqliteStore(tmp_path_factory.mktemp("memory")))
        return opened[-1]

    def on_server() -> Store:
        wipe(login)
        opened.append(Neo4jStore(login.address, SqliteStore))
        return opened[-1]

    if request.param == "local":
        yield on_disk
    else:
        login: Login = request.getfixturevalue("neo4j_server")
        with alone(login):
            yield on_server
    for store in opened:
        store.close()


@pytest.fixture(params=ENGINES)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty memory on each engine, for tests that go through `Memory`."""
    if request.param == "local":
        return str(tmp_path / "memory")
    login: Login = request.getfixturevalue("server")
    return login.uri


@pytest.fixture
def store(engine: Engine) -> Store:
    """One fresh store."""
    return engine()
