"""The contract suite runs on every engine in ENGINES. A new engine joins by adding how to open a fresh, empty store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cuetrail.store.base import Store
from cuetrail.store.local import LocalStore

OpenStore = Callable[[Path], Store]
Engine = Callable[[], Store]

ENGINES: dict[str, OpenStore] = {"local": LocalStore}


@pytest.fixture(params=sorted(ENGINES))
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A factory of fresh stores, all closed at the end; tests that need many examples open one for each."""
    opened: list[Store] = []

    def fresh() -> Store:
        opened.append(ENGINES[request.param](tmp_path_factory.mktemp("memory")))
        return opened[-1]

    yield fresh
    for store in opened:
        store.close()


@pytest.fixture
def store(engine: Engine) -> Store:
    """One fresh store."""
    return engine()
