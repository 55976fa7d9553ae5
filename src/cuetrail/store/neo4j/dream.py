"""Dreams on Neo4j: the queries of a dream pass, the transaction in which it writes, and the lock of dreams."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

from cuetrail.errors import InputError
from cuetrail.model import DATE_ONLY, Fact, Scope, Tag
from cuetrail.model.records import SEMANTIC_KINDS
from cuetrail.store.dream import DREAM_KINDS, Atom, Book, Entry, Mark, Named, PassQueries, RunQuery, Saved, Writes
from cuetrail.store.neo4j import rows as made
from cuetrail.store.neo4j.changelog import HEAD, take_keys
from cuetrail.store.neo4j.connection import Connection, Tx, chunks, explained, rows
from cuetrail.store.neo4j.ids import partition_uid
from cuetrail.store.neo4j.index import text_search
from cuetrail.store.neo4j.reader import BY_KIND, ENDS, HAS_KEY, NOWHERE
from cuetrail.store.neo4j.rows import uid
from cuetrail.store.neo4j.write import usage
from cuetrail.store.neo4j.write.nodes import DELETE_UNUSED_LABELS, put_tags
from cuetrail.store.neo4j.write.state import WriteState
from cuetrail.store.neo4j.write.transaction import Neo4jTransaction
from cuetrail.store.shared.write_order import write_batch
from cuetrail.store.write import Batch

T = TypeVar("T")
Relabelled = Sequence[tuple[Atom, tuple[Tag, ...]]]

# How many seconds to wait to find out if another dream runs.
DREAM_SECONDS = 0.5

# Dreams leave out quarantined nodes.
# A source that was added with a text of its own is read as an atom is.
_IS_ATOM = "(n.kind = 'atom' OR (n.kind = 'source' AND n.text <> ''))"
_ATOMS = f"MATCH (n:CueNode) WHERE n.part = $part AND {_IS_ATOM} AND n.provenance <> 'quarantine'"
_MARK = "m.version, m.done, m.done_mark, m.upto, m.upto_mark, m.after"
_LEDGER = "MATCH (l:CueLedger) WHERE l.part = $part AND l.book = $book"
_NUMBERS = "RETURN l.first, l.second, l.third, l.fourth"
_BY_FIRST = "ORDER BY l.first, l.second"
_BY_SECOND = "ORDER BY l.second, l.first"

QUERIES = PassQueries(
    mark=f"MATCH (m:CueMark {{part: $part}}) WHERE m.pass = $name RETURN {_MARK}",
    marks=f"MATCH (m:CueMark {{part: $part}}) RETURN m.pass, {_MARK}",
    head=HEAD,
    oldest_change="MATCH (c:CueChange) RETURN min(c.seq)",
    mark_of_change="MATCH (c:CueChange {seq: $seq}) RETURN c.mark",
    changes="""MATCH (c:CueChange) WHERE $done < c.seq <= $upto AND (c.dreamt IS NULL OR c.dreamt IN $listens)
      UNWIND range(0, size(c.lows) - 1) AS n RETURN c.lows[n], c.highs[n]""",
    newest_key="MATCH (n:CueNode) RETURN max(n.key)",
    count=f"{_ATOMS} RETURN count(n)",
    texts=f"{_ATOMS} AND n.key > $after RETURN n.key, n.text ORDER BY n.key LIMIT $limit",
    atoms=f"UNWIND $keys AS key {_ATOMS} AND n.key = key RETURN {made.NODE} ORDER BY n.key",
    atoms_between=f"{_ATOMS} AND $low <= n.key <= $high RETURN {made.NODE} ORDER BY n.key LIMIT $limit",
    names=f"""MATCH (m:CueName {{part: $part}})<-[:CUE_NAMED]-(n:CueNode)
      WHERE n.provenance <> 'quarantine' AND NOT n.kind IN {list(DREAM_KINDS)}
      RETURN m.norm, n.key, n.id, n.kind, n.name, n.props""",
    given_tags="MATCH (t:CueTag {part: $part}) WHERE EXISTS { (t)<-[:CUE_TAGGED {given: true}]-() } RETURN t.name",
    all_tags="MATCH (t:CueTag {part: $part}) RETURN t.uid, t.name",
    tagged=f"""UNWIND $keys AS uid MATCH (t:CueTag {{uid: uid}})<-[:CUE_TAGGED|CUE_TIMED]-(n)
      USING INDEX SEEK t:CueTag(uid) WHERE n.part = $part AND {_IS_ATOM}
      AND n.provenance <> 'quarantine' RETURN DISTINCT n.key""",
    nodes="""UNWIND $keys AS key MATCH (n:CueNode {key: key}) WHERE n.part = $part
      RETURN key, n.id, n.kind, n.at, n.source""",
    keys="UNWIND $keys AS uid MATCH (n:CueNode {uid: uid}) RETURN n.id, n.key",
    sources="""UNWIND $keys AS key MATCH (n:CueNode {key: key}) WHERE n.part = $part AND n.source IS NOT NULL
      MATCH (t:CueNode) WHERE t.part = $part AND t.file = n.file AND t.seq = -1 AND t.kind = 'source'
      RETURN key, min(t.key)""",
    linked="""UNWIND $keys AS key MATCH (n:CueNode {key: key})-[e:CUE_EDGE]->(m) USING INDEX SEEK n:CueNode(key)
      WHERE e.part + 0 = $part AND e.via STARTS WITH 'name:' RETURN DISTINCT key, m.key""",
    used=f"""MATCH (n:CueNode) WHERE n.part = $part AND n.key > $after AND n.state IS NOT NULL
      AND CASE WHEN n.last_access IS NULL THEN coalesce(n.last_decay, n.created)
      WHEN n.last_decay > n.last_access THEN n.last_decay ELSE n.last_access END < $before
      RETURN n.key, n.id, n.kind, n.created, {usage.LIFE_COLUMNS} ORDER BY n.key LIMIT $limit""",
    active=f"""MATCH (n:CueNode) {BY_KIND} WHERE n.part = $part AND n.kind IN {list(SEMANTIC_KINDS)} AND {HAS_KEY}
      AND n.state IN ['active', 'core'] AND n.provenance <> 'quarantine' AND EXISTS {{ MATCH (l:CueLedger)
      WHERE l.part = $part AND l.book = $book AND l.second = n.key }} RETURN n.key""",
    expired_notes="""MATCH (o:CueNote {part: $part}) WHERE o.expires <= $now
      RETURN o.id ORDER BY o.expires, o.id LIMIT $limit""",
    ageing_facts=f"""MATCH (f:CueFact) WHERE f.part = $part AND f.id > $after AND f.status IN ['staged', 'confirmed']
      AND ((f.status = 'staged' AND f.access_count >= 3) OR f.confidence < .2
      OR coalesce(f.last_accessed, f.created) < $before) WITH f ORDER BY f.id LIMIT $limit
      MATCH (f)-[:CUE_SUBJECT]->(a:CueNode) OPTIONAL MATCH (f)-[:CUE_OBJECT]->(b:CueNode)
      RETURN properties(f), {ENDS}""",
    ledger=f"{_LEDGER} {_NUMBERS} {_BY_FIRST} LIMIT $limit",
    by_first=f"{_LEDGER} AND l.first IN $keys {_NUMBERS} {_BY_FIRST}",
    by_second=f"""UNWIND $keys AS number CALL (number) {{ {_LEDGER} AND l.second = number RETURN l ORDER BY l.first
      LIMIT $limit }} {_NUMBERS} {_BY_SECOND}""",
    first_between=f"UNWIND $keys AS run {_LEDGER} AND run[0] <= l.first <= run[1] {_NUMBERS} {_BY_FIRST}",
    second_between=f"{_LEDGER} AND $low <= l.second <= $high {_NUMBERS} {_BY_SECOND}",
    firsts=f"""UNWIND $keys AS number CALL (number) {{ {_LEDGER} AND l.second = number RETURN l.first AS first
      ORDER BY first }} RETURN number, collect(first)""",
    beside=f"""UNWIND $keys AS number CALL (number) {{ {_LEDGER} AND l.second = number RETURN l.first AS first }}
      WITH DISTINCT first CALL (first) {{ {_LEDGER} AND l.first = first RETURN l }}
      RETURN l.first, l.second {_BY_FIRST}""",
    seconds_up=f"""{_LEDGER} AND l.second >= $start WITH DISTINCT l.second AS second ORDER BY second LIMIT $limit
      RETURN second""",
    seconds_down=f"""{_LEDGER} AND l.second <= $start WITH DISTINCT l.second AS second ORDER BY second DESC LIMIT $limit
      RETURN second""",
)  # fmt: skip

_RELABEL = """UNWIND $rows AS row MATCH (n:CueNode {key: row.key}) WHERE n.check = row.was
SET n += row.props RETURN row.key"""
# Setting a property locks the node until the transaction ends.
_CHECKED = """UNWIND $keys AS key MATCH (n:CueNode {key: key}) SET n.held = true REMOVE n.held RETURN key, n.check"""
_TAGS_OF = """UNWIND $keys AS key MATCH (n:CueNode {key: key})-[:CUE_TAGGED|CUE_TIMED]->(t)
USING INDEX SEEK n:CueNode(key) RETURN DISTINCT elementId(t)"""
_DROP_TAGS = """UNWIND $keys AS key MATCH (n:CueNode {key: key})-[r:CUE_TAGGED|CUE_TIMED]->()
USING INDEX SEEK n:CueNode(key) DELETE r"""
_UNMENTION = """UNWIND $rows AS row
MATCH (a:CueNode {uid: row[0]})-[m:CUE_MENTIONS]->(b) USING INDEX SEEK a:CueNode(uid)
WHERE b.uid = row[1] AND m.part + 0 = $part DELETE m"""
_DROP_ROWS = "UNWIND $uids AS uid MATCH (l:CueLedger {uid: uid}) DELETE l"
_PUT_ROWS = "UNWIND $rows AS row MERGE (l:CueLedger {uid: row.uid}) SET l = row"
_PUT_MARK = "MERGE (m:CueMark {uid: $uid}) SET m += $props, m.part = $part"


class Neo4jPassEngine:
    """The queries and writes of a dream pass on the server. `store.dream` documents the methods."""

    queries = QUERIES

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def reading(self, work: Callable[[RunQuery], T]) -> T:
        return self.connection.reading(lambda tx: work(partial(rows, tx)))

    def writing(self, work: Callable[[RunQuery], T]) -> T:
        return self.connection.writing(lambda tx: work(partial(rows, tx)))

    def partition(self, run: RunQuery, scope: Scope) -> int:
        found = run("MATCH (p:CuePlace {uid: $uid}) RETURN p.part", uid=partition_uid(scope))
        return (found[0][0] if found else None) or NOWHERE

    def stored_ids(self, part: int, ids: Sequence[str]) -> list[str]:
        return [uid(part, id_) for id_ in ids]

    def atoms(self, rows: Iterable[Any]) -> list[Atom]:
        return [_atom(node) for (node,) in rows]

    def names(self, rows: Iterable[Any]) -> Iterable[Named]:
        return (Named(norm, key, id_, kind, name, _is_found(kind, props)) for norm, key, id_, kind, name, props in rows)

    def facts(self, rows: Iterable[Any]) -> list[Fact]:
        ordered = sorted(rows, key=lambda row: str(row[0]["id"]))
        return [made.to_fact(row[0], row[2], row[5]) for row in ordered]

    def containing(self, part: int, _seen: int, words: Collection[str]) -> set[int] | None:
        return self.connection.reading(lambda tx: text_search.keys_with_names(tx, part, words))

    def put_mark(self, run: RunQuery, part: int, name: str, mark: Mark) -> None:
        run(_PUT_MARK, uid=uid(part, name), part=part, props={"pass": name, **mark._asdict()})

    def save(self, scope: Scope, _part: int, name: str, writes: Writes) -> Saved:
        count = len(writes.batch.nodes)
        keys = self.connection.writing(lambda tx: take_keys(tx, count)) if count else range(0)

        def work(tx: Tx) -> Saved:
            write = Neo4jTransaction(tx, scope, keys)
            w = write.state
            written = _relabel(w, writes.relabelled) if writes.relabelled else []
            added, dropped = _count_tags(w, written)
            batch = writes.batch_without(_changed_since(w, writes.unchanged))
            if batch != Batch():
                write_batch(write, batch)
            _remove_mentions(w, writes.remove_mentions)
            w.changed |= usage.store_decay(tx, writes.lives)
            _write_ledger(w, writes.drop, writes.put)
            if writes.mark is not None:
                self.put_mark(partial(rows, tx), w.partition, name, writes.mark)
            write.log(name)
            return Saved(len(written), added, dropped)

        return self.connection.writing(work)


def _atom(node: made.Props) -> Atom:
    whole = made.to_node(node, ("", None))
    tags: tuple[Tag, ...] = whole.tag_details
    noted = whole.props.get("near")
    borrowed = frozenset(noted["tags"]) if isinstance(noted, dict) and "tags" in noted else frozenset[str]()
    row, is_day = (whole, node["check"]), whole.props.get(DATE_ONLY) is True
    return Atom(node["key"], whole.id, whole.text, whole.at, whole.source, tags, borrowed, row, is_day)


def _is_found(kind: object, props: object) -> bool:
    return kind == "entity" and props is not None and made.unpack(str(props)).get("found") is not None


def _relabel(w: WriteState, relabelled: Relabelled) -> Relabelled:
    """Replaces the tags of those atoms that did not change since they were read. Returns these, with their new tags."""
    put = []
    for atom, tags in relabelled:
        node, was = atom.row
        props = {**made.label_props(tags, node.buckets), "marks": made.marks(node, atom.key, w.partition, tags)}
        put.append({"key": atom.key, "was": was, "props": {**props, "check": made.check_sum(node, tags)}})
    done = {key for some in chunks(put) for (key,) in rows(w.tx, _RELABEL, rows=some)}
    w.changed |= done
    return [(atom, tags) for atom, tags in relabelled if atom.key in done]


def _changed_since(w: WriteState, atoms: Sequence[Atom]) -> set[str]:
    """Returns the ids of the atoms that changed since they were read, or are gone. The others are locked."""
    found = (row for some in chunks(atoms) for row in rows(w.tx, _CHECKED, keys=[atom.key for atom in some]))
    there = dict(found)
    return {atom.id for atom in atoms if there.get(atom.key) != atom.row[1]}


def _count_tags(w: WriteState, written: Relabelled) -> tuple[int, int]:
    """Updates the relationships from atoms to their tags, and returns how many tags were added and dropped.

    Raises InputError if a user gave one of the changed tags.
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
        loose = [id_ for (id_,) in rows(w.tx, _TAGS_OF, keys=keys)]
        rows(w.tx, _DROP_TAGS, keys=keys)
        put_tags(w, [(atom.key, True, tags) for atom, tags in some])
        rows(w.tx, DELETE_UNUSED_LABELS, loose=loose)
    return added, dropped


def _remove_mentions(w: WriteState, pairs: Sequence[tuple[str, str]]) -> None:
    """Deletes mentions of the partition, given as (source id, node id)."""
    for some in chunks([[uid(w.partition, source), uid(w.partition, node)] for source, node in pairs]):
        rows(w.tx, _UNMENTION, rows=some, part=w.partition)


def _write_ledger(w: WriteState, drop: Sequence[tuple[Book, Entry]], put: Sequence[tuple[Book, Entry]]) -> None:
    """Deletes the rows `drop` of the dream ledger by their first two numbers, then inserts or replaces the rows
    `put`.
    """

    def name(book: Book, row: Entry) -> str:
        return f"{w.partition}:{int(book)}:{row.first}:{row.second}"

    for some in chunks([name(book, row) for book, row in drop]):
        rows(w.tx, _DROP_ROWS, uids=some)
    lines = [{"uid": name(book, row), "part": w.partition, "book": int(book), **row._asdict()} for book, row in put]
    for part in chunks(lines):
        rows(w.tx, _PUT_ROWS, rows=part)


@contextlib.contextmanager
def dream_lock(connection: Connection) -> Iterator[bool]:
    """Takes the lock of dreams for the block. Yields True, or False if another dream has it.

    The lock is a node that an open transaction has written to. The server ends that transaction if the process dies.
    """
    from neo4j.exceptions import DriverError, Neo4jError

    with connection.session() as session:
        try:
            connection.writing(lambda tx: rows(tx, "MERGE (m:CueMeta {name: 'dream'})"))
            with session.begin_transaction(timeout=DREAM_SECONDS) as first:
                first.run("MATCH (m:CueMeta {name: 'dream'}) SET m.tried = timestamp()").consume()
                first.rollback()
            held = session.begin_transaction()
            held.run("MATCH (m:CueMeta {name: 'dream'}) SET m.held = timestamp()").consume()
        except (Neo4jError, DriverError) as error:
            if _is_timeout(error):
                yield False
                return
            raise explained(connection.address, error) from error
        try:
            yield True
        finally:
            with contextlib.suppress(Neo4jError, DriverError):
                held.rollback()


def _is_timeout(error: BaseException) -> bool:
    code = str(getattr(error, "code", None) or "")
    return "TransactionTimedOut" in code or "Terminated" in code or "LockClient" in code
