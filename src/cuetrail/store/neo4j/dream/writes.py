"""Writes of dreams: tags of many atoms at once, the ledger and the marks, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from cuetrail.errors import InputError
from cuetrail.model import Scope, Tag
from cuetrail.store.dream import Atom, Book, Mark, Row, Saved, Writes
from cuetrail.store.neo4j import rows as made
from cuetrail.store.neo4j.changelog import take_keys
from cuetrail.store.neo4j.connection import Connection, chunks, rows
from cuetrail.store.neo4j.ids import uid
from cuetrail.store.neo4j.write import usage
from cuetrail.store.neo4j.write.nodes import put_tags
from cuetrail.store.neo4j.write.state import WriteState
from cuetrail.store.neo4j.write.transaction import Neo4jTransaction
from cuetrail.store.shared.write_order import write_batch
from cuetrail.store.write import Batch

if TYPE_CHECKING:
    from cuetrail.store.neo4j.connection import Tx

Relabelled = Sequence[tuple[Atom, tuple[Tag, ...]]]

_RELABEL = """UNWIND $rows AS row MATCH (n:CueNode {key: row.key}) WHERE n.check = row.was
SET n += row.props RETURN row.key"""
_LOOSE = """UNWIND $keys AS key MATCH (n:CueNode {key: key})-[:CUE_TAGGED|CUE_TIMED]->(t)
USING INDEX SEEK n:CueNode(key) RETURN DISTINCT elementId(t)"""
_DROP = """UNWIND $keys AS key MATCH (n:CueNode {key: key})-[r:CUE_TAGGED|CUE_TIMED]->()
USING INDEX SEEK n:CueNode(key) DELETE r"""
_COLLECT = "UNWIND $loose AS id MATCH (t) WHERE elementId(t) = id AND NOT EXISTS { (t)--() } DELETE t"
_UNMENTION = """UNWIND $rows AS row
MATCH (a:CueNode {uid: row[0]})-[m:CUE_MENTIONS]->(b) USING INDEX SEEK a:CueNode(uid)
WHERE b.uid = row[1] AND m.part + 0 = $part DELETE m"""
_UNBOOK = "UNWIND $uids AS uid MATCH (l:CueLedger {uid: uid}) DELETE l"
_BOOK = "UNWIND $rows AS row MERGE (l:CueLedger {uid: row.uid}) SET l = row"
_MARK = "MERGE (m:CueMark {uid: $uid}) SET m += $props, m.part = $part"


def save(connection: Connection, scope: Scope, name: str, writes: Writes) -> Saved:
    """Makes the changes of a pass in one transaction."""
    count = len(writes.batch.nodes)
    keys = connection.writing(lambda tx: take_keys(tx, count)) if count else range(0)

    def work(tx: Tx) -> Saved:
        write = Neo4jTransaction(tx, scope, keys)
        w = write.state
        written = _relabel(w, writes.relabelled) if writes.relabelled else []
        added, dropped = _invert(w, written)
        if any(getattr(writes.batch, field.name) for field in fields(Batch)):
            write_batch(write, writes.batch)
        _remove_mentions(w, writes.remove_mentions)
        w.changed |= usage.settle(tx, writes.lives)
        _keep_books(w, writes.drop, writes.put)
        if writes.mark is not None:
            put_mark(tx, w.partition, name, writes.mark)
        write.log(name)
        return Saved(len(written), added, dropped)

    return connection.writing(work)


def put_mark(tx: Tx, part: int, name: str, mark: Mark) -> None:
    """Saves the progress of a pass."""
    rows(tx, _MARK, uid=uid(part, name), part=part, props={"pass": name, **mark._asdict()})


def _relabel(w: WriteState, relabelled: Relabelled) -> Relabelled:
    """Changes the tags of atoms and nothing else, except of atoms that changed since they were read."""
    put = []
    for atom, tags in relabelled:
        node, was = atom.row
        props = {**made.label_props(tags, node.buckets), "marks": made.marks(node, atom.key, w.partition, tags)}
        put.append({"key": atom.key, "was": was, "props": {**props, "check": made.check_sum(node, tags)}})
    done = {key for some in chunks(put) for (key,) in rows(w.tx, _RELABEL, rows=some)}
    w.changed |= done
    return [(atom, tags) for atom, tags in relabelled if atom.key in done]


def _invert(w: WriteState, written: Relabelled) -> tuple[int, int]:
    """Updates the tags of nodes, and returns how many were added and dropped.

    Raises InputError if one of them was a user's.
    """
    added = dropped = 0
    for atom, tags in written:
        old, new = {tag.name: tag.origin for tag in atom.tags}, {tag.name: tag.origin for tag in tags}
        for name, origin in old.items() ^ new.items():
            if origin == "user":
                raise InputError(f"a dream may not touch the tag {name!r} of {atom.id!r}: a user gave it")
        added += len(new.keys() - old.keys())
        dropped += len(old.keys() - new.keys())
        bare = not atom.row[0].buckets
        w.labelled[w.partition] += (bare and bool(new)) - (bare and bool(old))
    for some in chunks(written):
        keys = [atom.key for atom, _ in some]
        loose = [id_ for (id_,) in rows(w.tx, _LOOSE, keys=keys)]
        rows(w.tx, _DROP, keys=keys)
        put_tags(w, [(atom.key, True, tags) for atom, tags in some])
        rows(w.tx, _COLLECT, loose=loose)
    return added, dropped


def _remove_mentions(w: WriteState, pairs: Sequence[tuple[str, str]]) -> None:
    """Deletes mentions that the user's own nodes no longer make."""
    for some in chunks([[uid(w.partition, source), uid(w.partition, node)] for source, node in pairs]):
        rows(w.tx, _UNMENTION, rows=some, part=w.partition)


def _keep_books(w: WriteState, drop: Sequence[tuple[Book, Row]], put: Sequence[tuple[Book, Row]]) -> None:
    def name(book: Book, row: Row) -> str:
        return f"{w.partition}:{int(book)}:{row.first}:{row.second}"

    for some in chunks([name(book, row) for book, row in drop]):
        rows(w.tx, _UNBOOK, uids=some)
    lines = [{"uid": name(book, row), "part": w.partition, "book": int(book), **row._asdict()} for book, row in put]
    for part in chunks(lines):
        rows(w.tx, _BOOK, rows=part)
