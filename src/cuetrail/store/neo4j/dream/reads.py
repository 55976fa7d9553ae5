"""The dream pass on Neo4j: changes of one partition since the pass last ran, what passes read, and their ledger."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cuetrail.model import DATE_ONLY, Fact, Scope, Tag
from cuetrail.model.ids import ledger_hash
from cuetrail.model.lifecycle import SEMANTIC_KINDS
from cuetrail.store.dream import (
    DREAMT,
    NOTHING,
    Atom,
    Book,
    Brief,
    Living,
    Mark,
    Named,
    Row,
    Saved,
    Slice,
    Writes,
    unbegun,
)
from cuetrail.store.neo4j import rows as made
from cuetrail.store.neo4j.changelog import Runs, head, joined
from cuetrail.store.neo4j.connection import Connection, chunks, rows
from cuetrail.store.neo4j.dream import writes as dreamwrite
from cuetrail.store.neo4j.filters import BY_KIND, HAS_KEY
from cuetrail.store.neo4j.ids import place_uid, uid
from cuetrail.store.neo4j.index.text import text_search
from cuetrail.store.neo4j.read import facts
from cuetrail.store.neo4j.reader import NOWHERE
from cuetrail.store.neo4j.write import usage
from cuetrail.text.normalise import is_findable

if TYPE_CHECKING:
    from cuetrail.store.neo4j.connection import Tx

# Dreams leave out quarantined nodes.
_ATOMS = "MATCH (n:CueNode) WHERE n.part = $part AND n.kind = 'atom' AND n.provenance <> 'quarantine'"
_LEDGER = "MATCH (l:CueLedger) WHERE l.part = $part AND l.book = $book"
_ROW = "RETURN l.first, l.second, l.third, l.fourth"
_BY_BOTH = "ORDER BY l.first, l.second"


class Neo4jDreaming:
    """One dream pass in one partition."""

    def __init__(self, connection: Connection, scope: Scope, name: str) -> None:
        self.connection = connection
        self.scope = scope
        self.name = name
        self._runs: tuple[Mark, Runs] | None = None

        def look(tx: Tx) -> tuple[int, tuple[int, int]]:
            found = rows(tx, "MATCH (p:CuePlace {uid: $uid}) RETURN p.part", uid=place_uid(scope))
            return (found[0][0] if found and found[0][0] else NOWHERE), head(tx)

        self.part, (self.head, self.head_mark) = connection.reading(look)

    def _rows(self, query: str, **given: object) -> list[Any]:
        return self.connection.reading(lambda tx: rows(tx, query, part=self.part, **given))

    def rest(self, listens: Mapping[str, Sequence[str]]) -> None:
        """Lets finished passes count the changes that dreams made here as seen, except those that `listens` names."""
        self.connection.writing(lambda tx: _rest(tx, self.scope, listens))

    # --- what changed

    def begun(self, version: str) -> bool:
        """True if this version of the pass has processed anything here."""
        return self._mark(version).upto != NOTHING

    def idle(self, version: str) -> bool:
        """True if nothing has changed in this memory since the pass finished."""
        mark = self._mark(version)
        return (mark.done, mark.done_mark, mark.after) == (self.head, self.head_mark, 0)

    def _mark(self, version: str) -> Mark:
        return self.connection.reading(lambda tx: mark_of(tx, self.part, self.name, version))

    def slice(self, version: str, limit: int, listens: Sequence[str] = (), behind: Mark | None = None) -> Slice | None:
        """Returns the next atoms that changed since the pass last ran, None if there are none.

        Changes made by dreams count only if they come from a pass that this one `listens` to. `behind` is the mark of
        the previous slice if that is not saved yet.
        """
        mark = behind or self._mark(version)
        continued = mark.upto > mark.done
        if not continued:
            if mark.done == self.head:
                return None
            mark = mark._replace(upto=self.head, upto_mark=self.head_mark)
        runs = self._changed(mark, listens)
        if not runs and not continued:
            return None
        atoms, covered = self._read(runs, limit)
        left = sum(high - low + 1 for low, high in runs) - sum(high - low + 1 for low, high in covered)
        if covered == runs:
            mark = Mark(version, mark.upto, mark.upto_mark, mark.upto, mark.upto_mark, 0)
        else:
            mark = mark._replace(after=covered[-1][1])
        return Slice(atoms, covered, mark, left)

    def _changed(self, mark: Mark, listens: Sequence[str]) -> Runs:
        """Returns the ranges of keys that remain to be processed."""
        stage = mark._replace(after=0)
        if self._runs is None or self._runs[0] != stage:

            def look(tx: Tx) -> Runs:
                known = logged(tx, mark, listens)
                newest = rows(tx, "MATCH (n:CueNode) RETURN max(n.key)")[0][0] or 0
                return [(1, newest)] if known is None else known

            self._runs = (stage, self.connection.reading(look))
        return [(max(low, mark.after + 1), high) for low, high in self._runs[1] if high > mark.after]

    def _read(self, runs: Runs, limit: int) -> tuple[list[Atom], Runs]:
        """Returns up to `limit` atoms of these ranges, and the ranges as far as they were read."""
        query = f"{_ATOMS} AND $low <= n.key <= $high RETURN {made.NODE} ORDER BY n.key LIMIT $room"

        def look(tx: Tx) -> tuple[list[Atom], Runs]:
            atoms: list[Atom] = []
            covered: Runs = []
            for low, high in runs:
                room = limit - len(atoms)
                if room <= 0:
                    break
                found = [_atom(n) for (n,) in rows(tx, query, part=self.part, low=low, high=high, room=room)]
                atoms += found
                covered.append((low, found[-1].key if len(found) == room else high))
            return atoms, covered

        return self.connection.reading(look)

    # --- nodes

    def count(self) -> int:
        """Returns the approximate number of atoms, for progress reports."""
        return int(self._rows(f"{_ATOMS} RETURN count(n)")[0][0])

    def texts(self, after: int, limit: int) -> list[tuple[int, str]]:
        """Returns (key, text) of the next atoms after a key."""
        query = f"{_ATOMS} AND n.key > $after RETURN n.key, n.text ORDER BY n.key LIMIT $limit"
        return [(key, text) for key, text in self._rows(query, after=after, limit=limit)]

    def holding(self, names: Collection[str]) -> set[int] | None:
        """Returns the keys of atoms that contain one of these names as whole words, and possibly of a few others; None
        if the index cannot tell.
        """
        if not all(map(is_findable, names)):
            return None
        return self.connection.reading(lambda tx: text_search.saying(tx, self.part, names))

    def atoms(self, keys: Collection[int]) -> list[Atom]:
        """Returns the atoms of this partition with these keys, by key."""
        query = f"UNWIND $keys AS key {_ATOMS} AND n.key = key RETURN {made.NODE}"
        found = [row for some in chunks(sorted(keys)) for row in self._rows(query, keys=some)]
        return sorted((_atom(node) for (node,) in found), key=lambda atom: atom.key)

    def names(self) -> list[Named]:
        """Returns every name in this partition with its node."""
        query = (
            "MATCH (m:CueName {part: $part})<-[:CUE_NAMED]-(n:CueNode)"
            " WHERE n.provenance <> 'quarantine' AND NOT n.kind IN $unnamed"
            " RETURN m.norm, n.key, n.id, n.kind, n.name, n.props"
        )
        found = sorted(self._rows(query, unnamed=list(DREAMT)), key=lambda row: (str(row[0]), row[1]))
        return [
            Named(norm, key, id_, kind, name, _is_found(kind, props)) for norm, key, id_, kind, name, props in found
        ]

    def tags(self) -> list[str]:
        """Returns the tags that people, files or rules gave; not temporal tags nor those spread from other texts."""
        query = "MATCH (t:CueTag {part: $part}) WHERE EXISTS { (t)<-[:CUE_TAGGED {given: true}]-() } RETURN t.name"
        return sorted(str(name) for (name,) in self._rows(query))

    def carriers(self, tags: Collection[int]) -> list[int]:
        """Returns the keys of atoms here with a tag whose name has one of these hashes."""
        names = [str(name) for (name,) in self._rows("MATCH (t:CueTag {part: $part}) RETURN t.name")]
        uids = [uid(self.part, name) for name in names if ledger_hash(name) in tags]
        query = (
            "UNWIND $uids AS uid MATCH (t:CueTag {uid: uid})<-[:CUE_TAGGED|CUE_TIMED]-(n)"
            " USING INDEX SEEK t:CueTag(uid)"
            " WHERE n.part = $part AND n.kind = 'atom' AND n.provenance <> 'quarantine' RETURN DISTINCT n.key"
        )
        return sorted({key for some in chunks(uids) for (key,) in self._rows(query, uids=some)})

    def nodes(self, keys: Collection[int]) -> dict[int, Brief]:
        """Returns the nodes of this partition with these keys."""
        query = (
            "UNWIND $keys AS key MATCH (n:CueNode {key: key}) WHERE n.part = $part"
            " RETURN key, n.id, n.kind, n.at, n.source"
        )
        found = (row for some in chunks(sorted(keys)) for row in self._rows(query, keys=some))
        return {key: Brief(*rest) for key, *rest in found}

    def keys(self, ids: Collection[str]) -> dict[str, int]:
        """Returns the keys of nodes in this partition with these ids."""
        query = "UNWIND $uids AS uid MATCH (n:CueNode {uid: uid}) RETURN n.id, n.key"
        uids = [uid(self.part, id_) for id_ in sorted(ids)]
        return {id_: key for some in chunks(uids) for id_, key in self._rows(query, uids=some)}

    def sources(self, keys: Collection[int]) -> dict[int, int]:
        """Returns, for atoms that came from a file, the key of that file's node."""
        query = (
            "UNWIND $keys AS key MATCH (n:CueNode {key: key}) WHERE n.part = $part AND n.source IS NOT NULL"
            " MATCH (t:CueNode) WHERE t.part = $part AND t.file = n.file AND t.seq = -1 AND t.kind = 'source'"
            " RETURN key, min(t.key)"
        )
        found = (row for some in chunks(sorted(keys)) for row in self._rows(query, keys=some))
        return dict(found)

    def joined(self, keys: Collection[int]) -> set[tuple[int, int]]:
        """Returns the (atom, node) pairs for which ingest made an edge from a name or link in the atom."""
        query = (
            "UNWIND $keys AS key MATCH (n:CueNode {key: key})-[e:CUE_EDGE]->(m) USING INDEX SEEK n:CueNode(key)"
            " WHERE e.part + 0 = $part AND e.via STARTS WITH 'name:' RETURN DISTINCT key, m.key"
        )
        found = (row for some in chunks(sorted(keys)) for row in self._rows(query, keys=some))
        return {(key, other) for key, other in found}

    def lives(self, before: int, after: int, limit: int) -> list[Living]:
        """Returns the next nodes after a key whose usage state is not that of a new node and was last updated before a
        time.
        """
        return self.connection.reading(lambda tx: usage.living(tx, self.part, before, after, limit))

    def awake(self, book: Book) -> list[int]:
        """Returns the keys of used people, concepts and entities that are the second number of a row in a book."""
        query = (
            f"MATCH (n:CueNode) {BY_KIND} WHERE n.part = $part AND n.kind IN $kinds AND {HAS_KEY}"
            " AND n.state IN ['active', 'core'] AND n.provenance <> 'quarantine' AND EXISTS { MATCH (l:CueLedger)"
            " WHERE l.part = $part AND l.book = $book AND l.second = n.key } RETURN n.key"
        )
        return sorted(key for (key,) in self._rows(query, kinds=list(SEMANTIC_KINDS), book=int(book)))

    def expired(self, now: int, limit: int) -> list[str]:
        """Returns the ids of expired notes in this partition, in order."""
        query = (
            "MATCH (o:CueNote {part: $part}) WHERE o.expires <= $now RETURN o.id ORDER BY o.expires, o.id LIMIT $limit"
        )
        return [id_ for (id_,) in self._rows(query, now=now, limit=limit)]

    def ageing(self, before: int, after: str, limit: int) -> list[Fact]:
        """Returns active facts after this id that may be promoted or retracted."""
        return self.connection.reading(lambda tx: facts.ageing(tx, self.part, before, after, limit))

    # --- the ledger

    def _book(self, book: Book, rest: str, **given: object) -> list[Row]:
        return [Row(*row) for row in self._rows(f"{_LEDGER} {rest}", book=int(book), **given)]

    def by_first(self, book: Book, firsts: Collection[int]) -> list[Row]:
        """Returns the rows with one of these first numbers."""
        some = chunks(sorted(firsts))
        return [row for part in some for row in self._book(book, f"AND l.first IN $some {_ROW} {_BY_BOTH}", some=part)]

    def by_second(self, book: Book, seconds: Collection[int], each: int | None = None) -> list[Row]:
        """Returns the rows with one of these second numbers; at most `each` per number."""
        query = (
            "UNWIND $some AS number CALL (number) { MATCH (l:CueLedger) WHERE l.part = $part AND l.book = $book"
            " AND l.second = number RETURN l ORDER BY l.first LIMIT $each } RETURN l.first, l.second, l.third, l.fourth"
            " ORDER BY l.second, l.first"
        )
        found: list[Row] = []
        most = 2**40 if each is None else each
        for some in chunks(sorted(seconds)):
            found += [Row(*row) for row in self._rows(query, book=int(book), some=some, each=most)]
        return found

    def firsts(self, book: Book, seconds: Collection[int]) -> dict[int, list[int]]:
        """Returns the first numbers of the rows with each of these second numbers."""
        found: defaultdict[int, list[int]] = defaultdict(list)
        for row in self.by_second(book, seconds):
            found[row.second].append(row.first)
        return found

    def beside(self, book: Book, seconds: Collection[int]) -> list[tuple[int, int]]:
        """Returns (first, second) of every row whose first number also occurs in a row with one of these second
        numbers.
        """
        firsts = {row.first for row in self.by_second(book, seconds)}
        return [(row.first, row.second) for row in self.by_first(book, firsts)]

    def within(self, book: Book, runs: Sequence[tuple[int, int]]) -> list[Row]:
        """Returns the rows whose first number lies in one of these ranges."""
        query = (
            "UNWIND $runs AS run MATCH (l:CueLedger) WHERE l.part = $part AND l.book = $book"
            f" AND run[0] <= l.first <= run[1] {_ROW} {_BY_BOTH}"
        )
        given = [list(run) for run in runs]
        found = (row for some in chunks(given) for row in self._rows(query, book=int(book), runs=some))
        return [Row(*row) for row in found]

    def between(self, book: Book, low: int, high: int) -> list[Row]:
        """Returns the rows whose second number lies from `low` to `high`, by second and first number."""
        rest = f"AND $low <= l.second <= $high {_ROW} ORDER BY l.second, l.first"
        return self._book(book, rest, low=low, high=high)

    def seconds(self, book: Book, start: int, backwards: bool, limit: int) -> list[int]:
        """Returns the distinct second numbers from `start` upwards, or downwards."""
        sign, order = ("<=", "DESC") if backwards else (">=", "ASC")
        query = (
            f"{_LEDGER} AND l.second {sign} $start WITH DISTINCT l.second AS second ORDER BY second {order}"
            " LIMIT $limit RETURN second"
        )
        return [second for (second,) in self._rows(query, book=int(book), start=start, limit=limit)]

    def all(self, book: Book, limit: int | None = None) -> list[Row]:
        """Returns the rows of a book, by first and second number."""
        return self._book(book, f"{_ROW} {_BY_BOTH} LIMIT $limit", limit=2**40 if limit is None else limit)

    # --- writing

    def save(self, writes: Writes) -> Saved:
        """Writes all changes in one transaction."""
        return dreamwrite.save(self.connection, self.scope, self.name, writes)


def _rest(tx: Tx, scope: Scope, listens: Mapping[str, Sequence[str]]) -> None:
    """Lets finished passes count the changes that dreams made as seen, so that the next dream has nothing to read."""
    found = rows(tx, "MATCH (p:CuePlace {uid: $uid}) RETURN p.part", uid=place_uid(scope))
    part = found[0][0] if found and found[0][0] else NOWHERE
    last, there = head(tx)
    for name, version in rows(tx, "MATCH (m:CueMark {part: $part}) RETURN m.pass, m.version", part=part):
        mark = mark_of(tx, part, name, version)
        now = Mark(version, last, there, last, there, 0)
        since = now._replace(done=mark.done, done_mark=mark.done_mark)
        if mark.done == mark.upto < last and logged(tx, since, listens.get(name, ())) == []:
            dreamwrite.put_mark(tx, part, name, now)


def mark_of(tx: Tx, part: int, name: str, version: str) -> Mark:
    """Returns the progress of the pass; the very beginning if it never ran, or ran in another version."""
    query = (
        "MATCH (m:CueMark {uid: $uid}) WHERE m.version = $version"
        " RETURN m.version, m.done, m.done_mark, m.upto, m.upto_mark, m.after"
    )
    found = rows(tx, query, uid=uid(part, name), version=version)
    return Mark(*found[0]) if found else unbegun(version)


def logged(tx: Tx, mark: Mark, listens: Sequence[str]) -> Runs | None:
    """Returns the ranges of keys that changed from `done` to `upto`, merged; None if the log cannot tell."""
    oldest = rows(tx, "MATCH (c:CueChange) RETURN min(c.seq)")[0][0]
    if mark.done == NOTHING or oldest is None or oldest > mark.done + 1:
        return None if mark.done < mark.upto else []
    for seq, there in ((mark.done, mark.done_mark), (mark.upto, mark.upto_mark)):
        found = rows(tx, "MATCH (c:CueChange {seq: $seq}) RETURN c.mark", seq=seq)
        if found and found[0][0] != there:
            return None
    query = (
        "MATCH (c:CueChange) WHERE $done < c.seq <= $upto AND (c.dreamt IS NULL OR c.dreamt IN $listens)"
        " RETURN c.lows, c.highs"
    )
    changes = rows(tx, query, done=mark.done, upto=mark.upto, listens=list(listens))
    return joined(sorted(run for lows, highs in changes for run in zip(lows, highs, strict=True)))


def _atom(node: made.Props) -> Atom:
    whole = made.to_node(node, ("", None))
    tags: tuple[Tag, ...] = whole.tag_details
    noted = whole.props.get("near")
    borrowed = frozenset(noted["tags"]) if isinstance(noted, dict) and "tags" in noted else frozenset[str]()
    row, is_day = (whole, node["check"]), whole.props.get(DATE_ONLY) is True
    return Atom(node["key"], whole.id, whole.text, whole.at, whole.source, tags, borrowed, row, is_day)


def _is_found(kind: object, props: object) -> bool:
    return kind == "entity" and props is not None and made.unpack(str(props)).get("found") is not None
