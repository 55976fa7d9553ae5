"""Opens the engine that an address names: a folder (SQLite) or a Neo4j server. Restores backups and copies memories.

The engines are imported inside functions, because tantivy, numpy and the driver take longer to load than most commands
need.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from cuetrail.config import neo4j_variables, on_server
from cuetrail.errors import InputError, MemoryError_, NotFound
from cuetrail.store.ports import Store
from cuetrail.store.shared.copy import copy
from cuetrail.store.write import Progress

if TYPE_CHECKING:
    from cuetrail.model.graph_mapping import GraphCheck, GraphMapping
    from cuetrail.store.graph_source import OwnGraph
    from cuetrail.store.neo4j.connection import Address


def open_store(address: str) -> Store:
    """Opens the memory at an address and returns its engine. Raises MemoryError_ for a folder that cannot be used.

    A memory in a folder that cannot be written to is opened for reading only.
    """
    if on_server(address):
        return _open_server(address)
    from cuetrail.store.sqlite import SqliteStore
    from cuetrail.store.sqlite.read_copy import ReadOnlyStore, is_read_only

    try:
        folder = Path(address).expanduser()
        return ReadOnlyStore(folder) if is_read_only(folder) else SqliteStore(folder)
    except OSError as error:
        raise MemoryError_(
            f"{address} cannot be used as a memory's directory ({error.strerror or error}): choose another"
        ) from error


def _open_server(address: str) -> Store:
    from cuetrail.store.neo4j.engine import Neo4jStore
    from cuetrail.store.sqlite import SqliteStore

    return Neo4jStore(_with_login(address), SqliteStore)


def _with_login(address: str) -> Address:
    """Parses the address of a server and adds the user name and password that it lacks, from the environment or the
    keyring. Raises InputError if it is no address.
    """
    from cuetrail.store.neo4j.connection import Address, parse
    from cuetrail.store.neo4j.login import server_login

    found = parse(address)
    user, password = server_login(str(found), (found.user, found.password), neo4j_variables())
    return Address(found.uri, found.database, user, password)


def open_graph(address: str, mapping: GraphMapping) -> OwnGraph:
    """Opens a graph of the user's own on a Neo4j server, for reading only. Raises InputError for another address."""
    if not on_server(address):
        raise InputError(
            f"{address!r:.60} is no address of a graph: write neo4j://user@host:7687/database, or give a GraphSource. "
            "A memory of cuetrail is opened with Memory, or --memory"
        )
    from cuetrail.store.neo4j.mapped import MappedGraph

    return MappedGraph(_with_login(address), mapping)


def check_graph(graph: OwnGraph) -> GraphCheck:
    """Compares the mapping of a graph with what is in the graph, and returns what fits and what does not. Raises
    InputError for a graph that is not on a Neo4j server.
    """
    from cuetrail.store.neo4j.mapped import MappedGraph
    from cuetrail.store.neo4j.mapped.check import check

    if not isinstance(graph, MappedGraph):
        raise InputError(
            "only a graph on a Neo4j server has a mapping to check: test your GraphSource by activating it"
        )
    return check(graph)


def is_copied(address: str) -> bool:
    """True if opening this memory makes a copy of it, because its folder cannot be written to."""
    from cuetrail.store.sqlite.read_copy import is_read_only

    return not on_server(address) and is_read_only(Path(address).expanduser())


def restore_backup(backup: Path, address: str, force: bool) -> Path | None:
    """Replaces the memory in a folder by a backup; a healthy memory is replaced only with `force`. A damaged one is
    kept under another name, and its path returned; else None.

    Raises InputError for a healthy memory without `force`, for the address of a server, and for a file that is no
    backup; Busy if a process has the memory open; WrongVersion if a newer cuetrail wrote the backup.
    """
    from cuetrail.store.sqlite.backup import restore

    if on_server(address):
        raise InputError("a backup is restored to a folder: restore it there, then `cuetrail copy FOLDER ADDRESS`")
    return restore(backup.expanduser(), Path(address).expanduser(), force)


def copy_everything(source: str, target: str, progress: Progress | None) -> int:
    """Copies the memories of all users from one address to another, empty one; returns the number of records.

    Raises NotFound if there is no memory at `source`, and InputError if the target is not empty.
    """
    if not on_server(source) and not (Path(source).expanduser() / "memory.db").exists():
        raise NotFound(f"there is no memory at {source}: name one to copy from")
    with closing(open_store(source)) as one, closing(open_store(target)) as other:
        records = copy(one, other, progress)
        other.refresh(progress)
    return records
