"""A dream stopped while names are added or removed leaves no text unprocessed by the next dream."""

from __future__ import annotations

from datetime import UTC

import pytest

from cuetrail.dream import RULE, DreamContext, dream
from cuetrail.model import Edge, Node, Scope
from cuetrail.store.ports import Store
from cuetrail.store.write import Batch

ANN = Scope("t", "ann")


def stop(what: str, done: int, total: int) -> None:
    if what == "dreaming: mentions" and done >= total:
        raise KeyboardInterrupt


def named(store: Store) -> set[tuple[str, str]]:
    found = (record for _, record in store.scan(ANN))
    return {(edge.src, edge.dst) for edge in found if isinstance(edge, Edge) and edge.kind == "mentions"}


@pytest.mark.parametrize("called", ["Zora", "Bertha"])
def test_names_of_a_dream_that_was_stopped(store: Store, called: str) -> None:
    night = DreamContext(store, ANN, 1, UTC, RULE)
    store.write(ANN, Batch(nodes=[Node("old", text="Zora met Yann"), Node("yann", "person", "Yann")]))
    dream(night)
    store.write(ANN, Batch(nodes=[Node("new", text="Zora met Quill"), Node("zora", "person", "Zora")]))
    with pytest.raises(KeyboardInterrupt):
        dream(DreamContext(store, ANN, 1, UTC, RULE, stop))
    store.write(ANN, Batch(nodes=[Node("zora", "person", called)] if called != "Zora" else []))
    dream(DreamContext(store, ANN, 1, UTC, RULE))
    texts = {("old", "zora"), ("new", "zora")} if called == "Zora" else set()
    assert named(store) == {("old", "yann"), *texts}
    assert not any(one.read or one.wrote for one in dream(DreamContext(store, ANN, 1, UTC, RULE)).passes)
