"""A memory on a Neo4j server: used like one in a folder, copied both ways, and intact after a restart."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuetrail import Memory, Scope
from cuetrail.cli import main
from cuetrail.config import Settings, neo4j_variables
from cuetrail.errors import CuetrailError, InputError, MemoryError_, Unreachable
from cuetrail.memory import copy_memory
from cuetrail.store.neo4j import Neo4jStore
from cuetrail.store.neo4j.connection import explained, parse, rows
from cuetrail.store.neo4j.login import server_login
from scripts import neo4j as script
from tests.dream.test_incremental import state
from tests.dream.tools import MONDAY, episodes, fill, idle
from tests.servers import BRIEF, CACHE, ON_CI, Login, wipe

ANN, BOB = Scope("t", "ann", ("ops",)), Scope("t", "bob", ("ops",))


def exported(address: str | Path, folder: Path, scope: Scope) -> str:
    file = folder / "export.jsonl"
    with Memory(address, embedder=None, scope=scope) as memory:
        memory.export(file, vectors=True)
    # The first line tells when and by what the file was written.
    return "\n".join(file.read_text("utf-8").splitlines()[1:])


def test_the_same_vault_answers_the_same_on_both_engines(server: Login, tmp_path: Path) -> None:
    vault = Path(__file__).parents[3] / "examples" / "vault"
    found = {}
    for address in (str(tmp_path / "memory"), server.uri):
        with Memory(address) as memory:
            report = memory.ingest(vault, now=1)
            assert report.errors == ()
            walked = memory.tag_walk("frost connector", record_access=False)
            asked = memory.recall("what hardware decision did the frost lead to?", record_access=False)
            stats = memory.stats()
            found[address] = (
                report.added, [hit.node.id for hit in walked.anchors], [hit.node.id for hit in walked.walkers],
                [hit.node.id for hit in asked.hits[:3]], stats.nodes, stats.edges, stats.vectors,
            )  # fmt: skip
    here, there = found.values()
    assert here == there


def test_dreaming_leaves_the_same_on_both_engines(server: Login, tmp_path: Path) -> None:
    said = ["Ada met Charles in London.", "Ada wrote the first program.", "Charles built the engine in London."] * 2
    items = [{"id": f"n{i}", "text": f"{text} {i}", "at": i * 60_000} for i, text in enumerate(said)]
    people = [{"id": name, "name": name, "kind": "person"} for name in ("Ada", "Charles")]
    exports = []
    for number, address in enumerate((str(tmp_path / "memory"), server.uri)):
        with Memory(address, embedder=None) as memory:
            memory.add_many([*items, *people], now=1)
            rehearsed = memory.dream(dry_run=True, now=2)
            dreamt = memory.dream(now=2)
            assert [p.wrote for p in rehearsed.passes] == [p.wrote for p in dreamt.passes]
            assert all(p.wrote == 0 for p in memory.dream(now=3).passes)
        (tmp_path / str(number)).mkdir()
        exports.append(exported(address, tmp_path / str(number), Scope()))
    assert exports[0] == exports[1]


def test_a_memory_that_dreamt_and_moved_to_a_server_goes_on_dreaming_as_if_it_had_stayed(
    server: Login, tmp_path: Path
) -> None:
    stays = tmp_path / "stays"
    with Memory(stays, embedder=None) as memory:
        fill(memory, atoms=40)
        memory.dream(now=MONDAY)
    copy_memory(stays, server.uri)
    made = []
    for address in (str(stays), server.uri):
        with Memory(address, embedder=None) as memory:
            memory.dream(now=MONDAY + 1)
            before = exported(address, tmp_path, Scope())
            assert "during" in before
            assert idle(memory.dream(now=MONDAY + 2))
            memory.add("Persona Example walked alone.", id="a5", at=MONDAY, now=MONDAY, allow_again=True)
            memory.forget("a9", now=MONDAY + 3)
            memory.dream(now=MONDAY + 4)
            made.append((before, state(memory), set(episodes(memory))))
    assert made[0] == made[1]


def filled(address: str | Path) -> None:
    """Two people who share a team, with the same ids, edges between their memories, and something forgotten."""
    for scope in (ANN, Scope("t", "ann", ("ops",), "ops"), BOB):
        with Memory(address, scope=scope) as memory:
            memory.add("tea at noon", id="a", tags=["Camp"], buckets=["work"], now=1)
            memory.add("tea at noon, or later", id="a", tags=["Camp"], now=2)
            memory.add("a note on coffee", id="b", name="Coffee", aliases=["Java"], props={"x": [1, None]}, now=3)
            memory.link("a", "b", weight=0.5, tags=["why"], now=4)
            memory.fact("b", "grown in", "Peru", now=5)
            memory.note("a", "remember", expires=99, now=6)
            memory.add(f"the secret of {scope.user} and {scope.share}", id="s", now=7)
            memory.forget("s", now=8)
    with Memory(address, scope=BOB, embedder=None) as memory:
        memory.link("a", "b@@ann/ops", id="between", now=9)


def test_a_copy_to_a_server_and_back_is_the_same_memory(server: Login, tmp_path: Path) -> None:
    first, last = tmp_path / "first", tmp_path / "last"
    filled(first)
    assert copy_memory(first, server.uri) == copy_memory(server.uri, last) > 20
    for scope in (ANN, BOB):
        wanted = exported(first, tmp_path, scope)
        assert "between" in wanted or scope == ANN
        assert exported(server.uri, tmp_path, scope) == wanted
        assert exported(last, tmp_path, scope) == wanted
    with Memory(server.uri, scope=ANN, embedder=None) as memory:
        assert memory.doctor() == []
        with pytest.raises(CuetrailError, match="forgotten"):
            memory.add("The secret of ann and ops!")


words = st.text(
    st.characters(codec="utf-8", exclude_characters="\x00", exclude_categories=["Cc"]), min_size=1, max_size=9
)
items = st.lists(st.fixed_dictionaries({"text": words, "tags": st.lists(words, max_size=2)}), min_size=1, max_size=8)


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(some=items, joined=st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=6))
def test_any_memory_survives_a_copy(
    server: Login,
    tmp_path_factory: pytest.TempPathFactory,
    some: list[dict[str, object]],
    joined: list[tuple[int, int]],
) -> None:
    wipe(server)
    folder = tmp_path_factory.mktemp("copy")
    with Memory(folder / "memory", embedder=None) as memory:
        memory.add_many([{**item, "id": str(n)} for n, item in enumerate(some)], now=1)
        for a, b in joined:
            if max(a, b) < len(some):
                memory.link(str(a), str(b), now=2)
    copy_memory(folder / "memory", server.uri)
    assert exported(server.uri, folder, Scope()) == exported(folder / "memory", folder, Scope())


def test_a_copy_goes_to_an_empty_memory_only(server: Login, tmp_path: Path) -> None:
    with Memory(tmp_path / "a", embedder=None) as memory:
        memory.add("x")
    copy_memory(tmp_path / "a", server.uri)
    with pytest.raises(InputError, match="not empty"):
        copy_memory(tmp_path / "a", server.uri)


def test_a_backup_of_a_server_restores_to_a_folder(server: Login, tmp_path: Path) -> None:
    from cuetrail.memory import restore

    filled(server.uri)
    with Memory(server.uri, embedder=None) as memory:
        memory.backup(tmp_path / "all.tar")
    restore(tmp_path / "all.tar", tmp_path / "back")
    for scope in (ANN, BOB):
        assert exported(tmp_path / "back", tmp_path, scope) == exported(server.uri, tmp_path, scope)
    with pytest.raises(InputError, match="cuetrail copy"):
        restore(tmp_path / "all.tar", server.uri)


# --- addresses and logins


def test_the_command_line_takes_a_servers_address_and_never_shows_the_password(
    server: Login, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NEO4J_PASSWORD")
    address = server.uri.replace("://", f"://{server.user}:{server.password}@")
    said = ""
    for arguments in (["add", "tea at noon"], ["recall", "tea"], ["stats"], ["stats", "--json"], ["doctor"]):
        result = CliRunner().invoke(main, ["--memory", address, "--embedder", "none", *arguments])
        assert result.exit_code == 0, result.output
        said += result.output
    assert "tea at noon" in said
    assert server.password not in said


@pytest.mark.parametrize("password", ["wrong-pass", ""])
def test_a_wrong_password_is_told_without_showing_it(
    server: Login, monkeypatch: pytest.MonkeyPatch, password: str
) -> None:
    monkeypatch.setenv("NEO4J_PASSWORD", password)
    with pytest.raises(MemoryError_, match="NEO4J_PASSWORD") as caught:
        Memory(server.uri)
    assert "wrong-pass" not in str(caught.value)
    monkeypatch.delenv("NEO4J_PASSWORD")
    with pytest.raises(MemoryError_, match="refused") as caught:
        Memory(server.uri.replace("://", "://neo4j:wrong-pass@"))
    assert "wrong-pass" not in f"{caught.value!r}{caught.value.__cause__!r}"
    # After three wrong ones in a row the server would take no login at all for a while.
    monkeypatch.setenv("NEO4J_PASSWORD", server.password)
    Memory(server.uri, embedder=None).close()


def test_a_database_that_is_not_there_is_told(server: Login) -> None:
    with pytest.raises(InputError, match="no database 'nowhere'"):
        Memory(f"{server.uri}/nowhere")


def test_a_server_that_is_not_there_is_told_at_once() -> None:
    began = time.monotonic()
    with pytest.raises(Unreachable, match="does not answer"):
        Memory(f"bolt://ann:secret@127.0.0.1:{script.free_port()}")
    assert time.monotonic() - began < 10


def test_what_the_driver_notes_for_developers_is_not_shown_to_users() -> None:
    said = "import logging, cuetrail.store.neo4j; logging.getLogger('neo4j.io').error('defunct connection')"
    for setting, shown in (("", False), ("logging.basicConfig();", True)):
        done = subprocess.run(
            [sys.executable, "-c", f"import logging; {setting} {said}"], capture_output=True, check=True
        )
        assert (b"defunct" in done.stderr) == shown


@pytest.mark.parametrize(
    "address",
    [
        "neo4j://", "neo4j://h:x:y/", "neo4j://u:secret@h/a/b", "gopher://u:secret@h", "bolt://u:Top@secret/x@h:7687",
        "bolt://u:x/secret@h:7687", "bolt://u:12/secret@h", "bolt://u:secret", "bolt://u:a?secret@h", "neo4j:secret@h",
        "bolt+s:u:secret@h", "neo4j//u:secret@h", "bolt//secret@h:7687",
    ],
)  # fmt: skip
def test_an_address_that_is_none_is_refused_without_its_password(address: str) -> None:
    for arguments in (["--memory", address, "stats"], ["--memory", address, "stats", "--json"], ["copy", address, "x"]):
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 2, result.output
        assert "secret" not in result.output
    assert "secret" not in repr(Settings(address))


def test_a_login_comes_from_the_address_else_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert server_login("neo4j://h", ("ann", "a"), neo4j_variables()) == ("ann", "a")
    monkeypatch.setenv("NEO4J_USER", "bob")
    monkeypatch.setenv("NEO4J_PASSWORD", "b")
    assert server_login("neo4j://h", (None, None), neo4j_variables()) == ("bob", "b")
    assert server_login("neo4j://h", ("ann", None), neo4j_variables()) == ("ann", "b")


def test_a_login_that_nothing_else_has_comes_from_the_keyring(server: Login, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {("cuetrail", f"{server.user}@{server.uri}"): server.password}
    ring, errors = ModuleType("keyring"), ModuleType("keyring.errors")
    vars(ring).update(get_password=lambda service, name: kept.get((service, name)), errors=errors)
    vars(errors).update(KeyringError=type("KeyringError", (Exception,), {}))
    monkeypatch.setitem(sys.modules, "keyring", ring)
    monkeypatch.setitem(sys.modules, "keyring.errors", errors)
    monkeypatch.delenv("NEO4J_PASSWORD")
    with Memory(server.uri, embedder=None) as memory:
        assert memory.add("tea at noon", id="a").id == "a"
    kept.clear()
    with pytest.raises(MemoryError_, match="NEO4J_PASSWORD"):
        Memory(server.uri)


def test_indexes_that_are_gone_are_told_and_made_again_when_the_memory_is_opened(server: Login) -> None:
    with Memory(server.uri) as memory:
        memory.add("tea at noon", id="a")
        store = memory.store
        assert isinstance(store, Neo4jStore)
        store.connection.schema(["DROP INDEX cue_fields", "DROP CONSTRAINT cue_one_node_uid"])
        with pytest.raises(MemoryError_, match="cuetrail doctor --repair"):
            memory.recall("tea")
    with Memory(server.uri) as memory:
        assert memory.recall("tea").hits[0].node.id == "a"
        assert memory.doctor() == []


def test_indexes_of_earlier_versions_are_dropped_when_the_memory_is_opened(server: Login) -> None:
    with Memory(server.uri) as memory:
        store = memory.store
        assert isinstance(store, Neo4jStore)
        store.connection.schema(["CREATE FULLTEXT INDEX cue_text IF NOT EXISTS FOR (n:CueNode) ON EACH [n.text]"])
    with Memory(server.uri) as memory:
        assert isinstance(memory.store, Neo4jStore)
        names = memory.store.connection.reading(lambda tx: rows(tx, "SHOW INDEXES YIELD name RETURN name"))
        assert ["cue_text"] not in [list(row) for row in names]


# --- servers that stop


@pytest.fixture
def startable(tmp_path: Path) -> Iterator[Callable[..., script.Server]]:
    """Starts a server of the test's own, on data that outlives it; whatever runs at the end is stopped."""
    running: list[script.Server] = []

    def start(**options: object) -> script.Server:
        try:
            running.append(script.start(CACHE, home=tmp_path / "server", size=BRIEF, **options))  # type: ignore[arg-type]  # as given
        except script.Missing as reason:
            if ON_CI:
                raise
            pytest.skip(f"no Neo4j: {reason}")
        return running[-1]

    yield start
    for server in running:
        server.stop()


def test_a_server_stopped_inside_a_stream_fails_the_seeds_that_are_left_and_all_goes_on_when_it_is_back(
    startable: Callable[..., script.Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = startable()
    monkeypatch.setenv("NEO4J_PASSWORD", server.password)
    with Memory(server.uri, embedder=None) as memory:
        memory.add_many([{"id": id_, "text": id_} for id_ in ("a", "b", "c", "lone")], now=1)
        memory.link("a", "b", weight=1.0, now=1)
        memory.link("b", "c", weight=1.0, now=1)
        stream = memory.activate([("a", 0.9), ("lone", 0.9), ("c", 0.9)], record_access=False)
        first = next(stream)
        assert (first.seed, first.reason) == ("lone", "complete")
        server.stop()
        began = time.monotonic()
        # The seeds whose energy was still on its way, with as much of it as had come through.
        left = list(stream)
        assert [(result.seed, result.reason) for result in left] == [("a", "failed"), ("c", "failed")]
        with pytest.raises(Unreachable, match="does not answer"):
            memory.add("lost", id="lost")
        results = list(memory.activate([("a", 0.9), ("b", 0.9)]))
        assert [result.reason for result in results] == ["failed", "failed"]
        assert all("does not answer" in str(result.error) for result in (*left, *results))
        assert time.monotonic() - began < 60
        port = int(server.uri.rpartition(":")[2])
        startable(port=port, password=server.password)
        again = {result.seed: result for result in memory.activate([("a", 0.9), ("lone", 0.9), ("c", 0.9)])}
        assert [again[seed].reason for seed in ("a", "lone", "c")] == ["complete"] * 3
        assert [path.ids for path in again["a"].paths] == [("a", "b", "c")]
        assert memory.get("lost") is None
        assert memory.add("back", id="c").id == "c"


def test_a_memory_on_a_server_that_may_only_be_read_is_told_clearly(
    startable: Callable[..., script.Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = startable()
    monkeypatch.setenv("NEO4J_PASSWORD", server.password)
    with Memory(server.uri, embedder=None) as memory:
        memory.add("the heron nests in the reeds", id="a")
        server.stop()
        startable(port=int(server.uri.rpartition(":")[2]), password=server.password, read_only=True)
        with pytest.raises(MemoryError_, match="may only be read") as refused:
            memory.add("a grebe", id="b")
        assert server.password not in str(refused.value)
        node = memory.get("a")
        assert node is not None
        assert node.text == "the heron nests in the reeds"
        assert memory.get("b") is None


def test_a_server_ends_with_the_process_that_started_it(startable: Callable[..., script.Server]) -> None:
    code = (
        "import sys, time; sys.path.insert(0, sys.argv[1]); from pathlib import Path; from scripts import neo4j as s;"
        "server = s.start(Path(sys.argv[2])); print(server.uri, server.home, flush=True); time.sleep(600)"
    )
    root = str(Path(__file__).parents[3])
    try:
        script.fetch(CACHE)
        script.java()
    except script.Missing as reason:
        if ON_CI:
            raise
        pytest.skip(f"no Neo4j: {reason}")
    with subprocess.Popen([sys.executable, "-c", code, root, str(CACHE)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        uri, home = parent.stdout.readline().split()
        os.kill(parent.pid, signal.SIGKILL)
    until = time.monotonic() + 30
    while Path(home).exists() and time.monotonic() < until:
        time.sleep(0.1)
    assert not Path(home).exists()
    with pytest.raises(Unreachable):
        Memory(uri)


def test_a_write_where_only_reading_is_allowed_is_told_clearly(server: Login) -> None:
    import neo4j

    # The community edition has no roles, so the session itself may only read; the server refuses a write all the same.
    address = parse(server.uri)
    with (
        neo4j.GraphDatabase.driver(address.uri, auth=(server.user, server.password)) as driver,
        driver.session(default_access_mode=neo4j.READ_ACCESS) as session,
        pytest.raises(neo4j.exceptions.ClientError) as refused,
    ):
        session.run("CREATE (:CueMeta {name: 'x'})").consume()
    error = explained(address, refused.value)
    assert isinstance(error, MemoryError_)
    assert "this user or database may only be read. Use a user that may write" in str(error)
    assert server.password not in str(error)
