"""Forgetting all that a user has, dry runs, and calls that name nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from cuetrail import Memory, Scope
from cuetrail.errors import Forgotten, InputError
from cuetrail.model import Tombstone
from tests.servers import Login

BOB = Scope("acme", "bob", ("ops",), "ops")
ANN, ANN_IN_OPS = Scope("acme", "ann", ("ops",)), Scope("acme", "ann", ("ops",), "ops")


@pytest.fixture(params=["local", "neo4j"])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    """A memory in which Bob has shared something with Ann."""
    address: str | Path = tmp_path / "memory"
    if request.param == "neo4j":
        login: Login = request.getfixturevalue("server")
        scheme, rest = login.uri.split("://", 1)
        address = f"{scheme}://{login.user}:{quote(login.password, safe='')}@{rest}"
    with Memory(address, embedder=None) as opened:
        bob = opened.scoped(BOB)
        bob.add("Bob keeps bees.", id="bees")
        bob.add(name="Bees", kind="concept", id="concept")
        yield opened


def test_everything_of_a_user_goes_and_nothing_of_others(shared: Memory, tmp_path: Path) -> None:
    ann, bob = shared.scoped(ANN), shared.scoped(BOB)
    (tmp_path / "a.md").write_text("# Plans\n\nThe boat leaks near the keel.\n")
    ann.ingest(tmp_path / "a.md")
    ann.add("private words", id="x")
    shared.scoped(ANN_IN_OPS).add("words for the team", id="x")
    ann.edit("x", text="other private words")
    ann.chat([{"role": "user", "content": "I live in Oslo."}], source="talk")
    ann.fact("Bees", "is_a", "insect")
    ann.note("bees", "remember them")
    ann.link("x", "bees")
    before = ann.forget(everything=True, dry_run=True)
    assert ann.stats().nodes == len(before) + 2
    assert len(ann.forget(everything=True)) == len(before)
    left = [record for _, record in ann.store.scan(ANN)]
    assert {type(record) for record in left} == {Tombstone}
    assert not ann.store.ingested(ANN).files
    assert set(bob.nodes("bees", "concept")) == {"bees", "concept"}
    assert bob.facts("Bees") == []
    assert ann.ingest(tmp_path / "a.md").added == 0
    with pytest.raises(Forgotten):
        ann.add("other private words")
    assert ann.forget(everything=True) == []
    assert ann.doctor() == []


def test_a_dry_run_forgets_nothing_and_says_what_would_go(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory", embedder=None) as memory:
        memory.add("The mast is made of ash.", id="a")
        memory.add("The mast is made of ash.", id="copy", source="b.md")
        assert set(memory.forget("a", dry_run=True)) == {"a", "copy"}
        assert set(memory.nodes("a", "copy")) == {"a", "copy"}
        memory.add("The mast is made of ash.", id="a")


def test_forgetting_nothing_is_refused_with_what_to_give(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory", embedder=None) as memory:
        with pytest.raises(InputError, match=r"say what to forget: ids or names, a source .* or everything=True"):
            memory.forget()
        with pytest.raises(InputError, match="give one or the other"):
            memory.forget("a", everything=True)
