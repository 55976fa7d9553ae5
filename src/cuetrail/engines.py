"""Opens the engine that an address names: a folder (SQLite) or a Neo4j server. Restores backups and copies memories.

The engines are imported inside functions, because tantivy, numpy and the driver take longer to load than most commands
need.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from cuetrail.config import neo4j_variables, on_server
from cuetrail.errors import InputError, MemoryError_, NotFound
from cuetrail.store.ports import Store
from cuetrail.store.shared.copy import copy
from cuetrail.store.write import Progress


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
    from cuetrail.store.neo4j.connection import Address, parse
    from cuetrail.store.neo4j.engine import Neo4jStore
    from cuetrail.store.neo4j.login import server_login
    from cuetrail.store.sqlite import SqliteStore

    found = parse(address)
    user, password = server_login(str(found), (found.user, found.password), neo4j_variables())
    return Neo4jStore(Address(found.uri, found.database, user, password), SqliteStore)


def is_copied(address: str) -> bool:
    """True if opening this memory makes a copy of it, because its folder cannot be written to."""
    from cuetrail.store.sqlite.read_copy import is_read_only

    return not on_server(address) and is_read_only(Path(address).expanduser())


def restore_backup(backup: Path, address: str, force: bool) -> Path | None:
    """Replaces the memory in a folder by a backup; a healthy memory is replaced only with `force`. A damaged one is
    kept under another name, and its path returned; else None.

    Raises InputError for a healthy memory without `force`, and for the address of a server.
    """
    from cuetrail.store.sqlite.backup import restore

    if on_server(address):
        raise InputError("a backup is restored to a folder: restore it there, then `cuetrail copy FOLDER ADDRESS`")
    return restore(backup.expanduser(), Path(address).expanduser(), force)


def copy_everything(source: str, target: str, progress: Progress | None) -> int:
    """Copies the memories of all users from one address to another, empty one; returns the number of records.

    Raises NotFound if there is no memory at `source`.
    """
    if not on_server(source) and not (Path(source).expanduser() / "memory.db").exists():
        raise NotFound(f"there is no memory at {source}: name one to copy from")
    with closing(open_store(source)) as one, closing(open_store(target)) as other:
        records = copy(one, other, progress)
        other.refresh(progress)
    return records
