"""One write transaction: remove, put nodes, put what refers to them, log the changes, read back."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from cuetrail.errors import GhostWrite, NotFound
from cuetrail.model import DERIVED, NEW_LIFE, UNKNOWN_WEIGHT, Edge, Node, Scope
from cuetrail.model.lifecycle import restated
from cuetrail.store.shared.fact_validity import check_whole
from cuetrail.store.shared.ids import check_ids, norms, plain, words_of
from cuetrail.store.shared.tombstones import let_in
from cuetrail.store.sqlite import facts, rows
from cuetrail.store.sqlite.connection import chunks, log_changes, marks, own_part, take_keys
from cuetrail.store.sqlite.ids import Ids, find_keys
from cuetrail.store.sqlite.index.graph import relationships
from cuetrail.store.sqlite.index.labels.tables import collect_labels, count_given, label_ids, put_carriers
from cuetrail.store.sqlite.index.vector import spaces
from cuetrail.store.sqlite.reader import nodes_by_key
from cuetrail.store.sqlite.write import tombstones
from cuetrail.store.write import Batch, Written

# From so many nodes in one transaction on their order matters.
MANY = 1_000
_SOURCES_OF = "SELECT DISTINCT source FROM nodes WHERE source IS NOT NULL AND key IN ({})"


class Write:
    """The state of one transaction: whose it is, what it changed."""

    def __init__(self, db: sqlite3.Connection, scope: Scope) -> None:
        self.db = db
        self.part = own_part(db, scope)
        self.ids = Ids(db, scope)
        self.changed: set[int] = set()
        self.revectored: set[int] = set()

    def log(self, dreamt: str | None = None) -> None:
        """Say what was changed, for indexes and dreams. `dreamt` names the pass of dreaming that did it."""
        log_changes(self.db, self.changed, dreamt=dreamt)
        log_changes(self.db, self.revectored - self.changed, vectors_only=True)

    def keys_of(self, ids: Iterable[str], table: str = "nodes", parts: Sequence[int] | None = None) -> dict[str, int]:
        """Ids to keys: what they mean in this scope, or in the given parts alone, the first of which wins."""
        return self.ids.keys(ids, table) if parts is None else find_keys(self.db, ids, table, parts)

    def own_keys(self, ids: Iterable[str], table: str = "nodes") -> dict[str, int]:
        """Ids to keys of rows this user may change; the place it writes to wins."""
        return self.ids.keys(ids, table, mine=True)


def write_batch(db: sqlite3.Connection, scope: Scope, batch: Batch, dreamt: str | None = None) -> Written:
    """Carry out a batch inside the caller's transaction. `dreamt` names the pass of dreaming that wants it."""
    w = Write(db, scope)
    removed = _remove(w, batch)
    nodes, forgotten, cut = _without_forgotten(w, batch)
    keys, added = _put_nodes(w, nodes)
    edges = [e for e in batch.edges if e.src not in forgotten and e.dst not in forgotten]
    _put_edges(w, edges)
    _put_facts(w, batch, forgotten)
    facts.redeclare(w, batch.declared)
    facts.judge(w, batch.verdicts)
    facts.put(w, batch.stated, forgotten)
    _put_notes(w, batch, forgotten)
    _put_mentions(w, batch, forgotten)
    _put_links(w, batch, forgotten)
    _put_vectors(w, batch, forgotten | cut)
    _put_sources(w, batch)
    w.log(dreamt)
    _read_back(w, nodes, keys)
    return Written(added, len(nodes) - added, removed, len(edges), tuple(sorted(forgotten)), tuple(sorted(cut)))


def _remove(w: Write, batch: Batch) -> int:
    doomed = w.own_keys(batch.remove_nodes)
    remove_nodes(w, list(doomed.values()))
    remove_edges(w, list(w.own_keys(batch.remove_edges, "edges").values()))
    _remove_notes(w, list(w.own_keys(batch.remove_notes, "notes").values()))
    for some in chunks(batch.remove_sources):
        w.db.execute(
            f"DELETE FROM sources WHERE part = ? AND path IN ({marks(len(some))}) AND NOT EXISTS "
            "(SELECT 1 FROM nodes n WHERE n.source = sources.source)",
            (w.part, *some),
        )
    return len(doomed)


def _remove_notes(w: Write, keys: Sequence[int]) -> None:
    relationships.take_out(w.db, notes=keys)
    w.revectored |= spaces.drop(w.db, keys)
    w.db.executemany("DELETE FROM notes WHERE key = ?", [(key,) for key in keys])


def remove_nodes(w: Write, keys: Sequence[int]) -> None:
    """Delete nodes and everything that refers to them.

    What teammates said about a shared node goes with it, because it would lead nowhere; nothing else of theirs does.
    """
    for some in chunks(keys):
        among = f"IN ({marks(len(some))})"
        incident = w.db.execute(f"SELECT DISTINCT edge FROM adjacency WHERE node {among}", some).fetchall()
        remove_edges(w, [row[0] for row in incident])
        _drop_labels(w, some)
        topics = facts.shadowing(w.db, f"f.object {among} AND NOT f.subject {among}", (*some, *some))
        for table, column in (
            ("links", "src"),
            ("mentions", "source"),
            ("mentions", "node"),
            ("facts", "subject"),
            ("facts", "object"),
            ("vectors", "key"),
            ("next_vectors", "key"),
            ("life", "key"),
        ):
            w.db.execute(f"DELETE FROM {table} WHERE {column} {among}", some)
        w.db.execute(f"DELETE FROM notes WHERE target_on = 'node' AND target {among}", some)
        w.db.execute(f"DELETE FROM nodes WHERE key {among}", some)
        facts.refit(w, topics)
        w.changed.update(some)


def _drop_labels(w: Write, keys: Sequence[int]) -> None:
    """Take nodes out of the inverted tables; a label nobody carries any more is deleted."""
    loose: dict[tuple[str, str], list[int]] = {}
    given = Counter[tuple[int, str]]()
    for key, part, labels, name, aliases, provenance in w.db.execute(
        f"SELECT key, part, labels, name, aliases, provenance FROM nodes WHERE key IN ({marks(len(keys))})", keys
    ).fetchall():
        tags, buckets = rows.unpack_labels(labels)
        given.subtract((part, tag) for tag in rows.given_names(tags, provenance))
        for label in (*(("t", tag.name) for tag in tags), *(("b", bucket) for bucket in buckets)):
            loose.setdefault(label, []).append(key)
        aliases = json.loads(aliases) if aliases else ()
        for norm in norms(name, aliases):
            w.db.execute("DELETE FROM names WHERE norm = ? AND key = ?", (norm, key))
        for word in words_of(name, aliases):
            w.db.execute("DELETE FROM name_words WHERE part = ? AND word = ? AND key = ?", (part, word, key))
    ids = label_ids(w.db, loose)
    pairs = [(id_, key) for label, id_ in ids.items() for key in loose[label]]
    w.db.executemany("DELETE FROM node_labels WHERE label = ? AND key = ?", pairs)
    collect_labels(w.db, ids.values())
    count_given(w.db, given)


def _without_forgotten(w: Write, batch: Batch) -> tuple[list[Node], set[str], set[str]]:
    if not batch.nodes:
        return [], set(), set()
    met = tombstones.met(w.db, w.ids, batch.nodes)
    if batch.allow_again:
        tombstones.lift(w.db, w.ids, batch.nodes, met)
        met = {}
    return let_in(batch.nodes, met)


def forget(w: Write, ids: Sequence[str], now: int, path: Path, unsaid: Collection[str] = ()) -> list[str]:
    """Remove the user's own nodes of these ids with their history and leave tombstones; the ids that were there.

    Those of the `unsaid` keep out their ids alone.
    """
    found = w.own_keys(ids)
    plain_ids = {plain(id_) for id_ in unsaid}
    keys = list(found.values())
    nodes = nodes_by_key(w.db, path, keys)
    for some in chunks(keys):
        places = dict(w.db.execute(f"SELECT key, part FROM nodes WHERE key IN ({marks(len(some))})", some).fetchall())
        for part in sorted(set(places.values())):
            tombstones.bury(w.db, part, [nodes[key] for key in some if places[key] == part], now, plain_ids)
    sources = {row[0] for some in chunks(keys) for row in w.db.execute(_SOURCES_OF.format(marks(len(some))), some)}
    plain_keys = [plain(id_) for id_ in found]
    remove_nodes(w, keys)
    remove_nodes(w, facts.forget_refs(w, plain_keys))
    # A file of which nothing is left is no longer known; others, also empty ones, still are.
    w.db.executemany(
        "DELETE FROM sources WHERE source = ?1 AND NOT EXISTS (SELECT 1 FROM nodes WHERE source = ?1)",
        [(source,) for source in sources],
    )
    # Nor is what a correction took from a memory, unless it is a file that was ingested.
    mine = ",".join(map(str, w.ids.mine)) or "NULL"
    w.db.execute(
        f"DELETE FROM sources WHERE part IN ({mine}) AND hash IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.source = sources.source)"
    )
    return list(found)


def _put_nodes(w: Write, nodes: Sequence[Node]) -> tuple[dict[str, int], int]:
    """Insert or replace nodes; their keys by id, and how many are new."""
    if not nodes:
        return {}, 0
    if len(nodes) >= MANY:
        # As they lie in the index of ids: entered in any order they take a quarter longer.
        nodes = sorted(nodes, key=attrgetter("id"))
    old = w.keys_of((n.id for n in nodes), parts=[w.part])
    check_ids((n.id for n in nodes), lambda named: w.ids.keys(named, "nodes"))
    nodes = _settle_replaced(w, nodes, old) if old else nodes
    fresh = [n.id for n in nodes if n.id not in old]
    first = take_keys(w.db, len(fresh))
    keys = {**old, **{id_: first + n for n, id_ in enumerate(fresh)}}
    sources = _source_keys(w, {n.source for n in nodes if n.source is not None})
    w.db.executemany(
        rows.REPLACE_NODE if old else rows.INSERT_NODE,
        [rows.node_row(n, keys[n.id], w.part, sources[n.source] if n.source is not None else None) for n in nodes],
    )
    _put_labels(w, nodes, keys)
    named = [(norm, keys[n.id]) for n in nodes if n.name or n.aliases for norm in norms(n.name, n.aliases)]
    w.db.executemany("INSERT OR IGNORE INTO names VALUES (?, ?)", named)
    words = [(w.part, word, keys[n.id]) for n in nodes if n.name or n.aliases for word in words_of(n.name, n.aliases)]
    w.db.executemany("INSERT OR IGNORE INTO name_words VALUES (?, ?, ?)", words)
    aged = (n for n in nodes if n.life is not NEW_LIFE and n.life != NEW_LIFE)
    lives = [rows.life_row(keys[n.id], n.life) for n in aged]
    w.db.executemany(f"INSERT OR REPLACE INTO life VALUES ({marks(10)})", lives)
    w.changed.update(keys.values())
    return keys, len(fresh)


def _put_labels(w: Write, nodes: Sequence[Node], keys: dict[str, int]) -> None:
    """Enter nodes into the inverted tables, label by label and in the order of keys, as they lie there."""
    tags, buckets, given = (defaultdict[str, list[int]](list) for _ in range(3))
    for node in nodes:
        key = keys[node.id]
        counts = node.provenance != "quarantine"
        for tag in node.tag_details:
            tags[tag.name].append(key)
            if counts and tag.origin in rows.GIVEN:
                given[tag.name].append(key)
        for bucket in node.buckets:
            buckets[bucket].append(key)
    carriers = {(what, name): some for what, found in (("t", tags), ("b", buckets)) for name, some in found.items()}
    ids = label_ids(w.db, carriers.keys(), create=True)
    put_carriers(w.db, {ids[label]: some for label, some in carriers.items()})
    count_given(w.db, {(w.part, name): len(set(some)) for name, some in given.items()})


def _settle_replaced(w: Write, nodes: Sequence[Node], old: dict[str, int]) -> list[Node]:
    """Clear what the old versions left in other tables; keep their birth, their life and their history."""
    before: dict[str, tuple[Any, ...]] = {}
    for some in chunks(list(old.values())):
        for row in w.db.execute(f"{rows.NODE} WHERE n.key IN ({marks(len(some))})", some):
            before[row[2]] = row
        _drop_labels(w, some)
    settled = []
    for node in nodes:
        row = before.get(node.id)
        if row is None:
            settled.append(node)
            continue
        was = rows.to_node(row)
        if (was.text, was.name) != (node.text, node.name):
            for table in (spaces.NOW, spaces.NEXT):
                w.db.execute(f"DELETE FROM {table} WHERE key = ?", (row[0],))
            # Two corrections within one millisecond are still two, and stay in order. What dreams tell is no statement.
            if was.kind not in DERIVED:
                w.db.execute(
                    "INSERT INTO history SELECT ?1, ?2, max(?3, coalesce(max(at) + 1, ?3)), ?4, ?5 FROM history"
                    " WHERE part = ?1 AND id = ?2",
                    (w.part, node.id, node.updated, was.name, was.text),
                )
        settled.append(replace(node, created=was.created, life=restated(node.life, was.life)))
    return settled


def _source_keys(w: Write, paths: Collection[str]) -> dict[str, int]:
    w.db.executemany("INSERT OR IGNORE INTO sources (part, path) VALUES (?, ?)", [(w.part, p) for p in sorted(paths)])
    found: dict[str, int] = {}
    for some in chunks(list(paths)):
        found.update(
            w.db.execute(
                f"SELECT path, source FROM sources WHERE part = ? AND path IN ({marks(len(some))})", (w.part, *some)
            ).fetchall()
        )
    return found


def _put_sources(w: Write, batch: Batch) -> None:
    """Source files, folder names, history and tombstones: what is known besides the memories themselves."""
    w.db.executemany(
        "INSERT INTO sources (part, path, size, mtime_ns, hash, ingested) VALUES (?,?,?,?,?,?) ON CONFLICT (part, path)"
        " DO UPDATE SET size = excluded.size, mtime_ns = excluded.mtime_ns, hash = excluded.hash,"
        " ingested = excluded.ingested",
        [(w.part, f.path, f.size, f.mtime_ns, f.hash, f.ingested) for f in batch.sources],
    )
    w.db.executemany("INSERT OR REPLACE INTO roots VALUES (?, ?, ?)", [(w.part, n, p) for n, p in batch.roots.items()])
    w.db.executemany("DELETE FROM roots WHERE part = ? AND name = ?", [(w.part, name) for name in batch.remove_roots])
    w.db.executemany(
        "INSERT OR IGNORE INTO tombstones VALUES (?, ?, ?)", [(w.part, t.hash, t.at) for t in batch.tombstones]
    )
    w.db.executemany(
        "INSERT OR IGNORE INTO history VALUES (?, ?, ?, ?, ?)",
        [(w.part, v.id, v.at, v.name, v.text) for v in batch.versions],
    )


def _need(keys: dict[str, int], id_: str, what: str) -> int:
    try:
        return keys[id_]
    except KeyError:
        raise NotFound(f"there is no {what} {id_!r} in this scope: add it first") from None


def _put_edges(w: Write, edges: Sequence[Edge]) -> None:
    if not edges:
        return
    edges = list({e.id: e for e in edges}.values())
    check_ids((e.id for e in edges), lambda named: w.ids.keys(named, "edges"))
    ends = w.keys_of(end for e in edges for end in (e.src, e.dst))
    old = w.keys_of((e.id for e in edges), "edges", [w.part])
    edges = _reweighed(w, edges, old, ends)
    old = {e.id: old[e.id] for e in edges if e.id in old}
    born = _settle_edges(w, edges, old)
    remove_edges(w, list(old.values()), replaced=True)
    first = take_keys(w.db, len(edges))
    table, adjacency, tagged, degrees = [], [], [], Counter[int]()
    labels = label_ids(w.db, {("t", t) for e in edges for t in e.tags}, create=True)
    for number, edge in enumerate(edges):
        key = old.get(edge.id, first + number)
        if edge.id in born:
            edge = replace(edge, created=born[edge.id])
        src, dst = _need(ends, edge.src, "node"), _need(ends, edge.dst, "node")
        table.append(rows.edge_row(edge, key, w.part, src, dst))
        rank = _rank(edge.weight)
        sides = [(src, edge.dst, dst, 1)] if src == dst else [(src, edge.dst, dst, 1), (dst, edge.src, src, 0)]
        for node, other_id, other, outgoing in sides:
            other_id = plain(other_id)
            adjacency.append((node, rank, other_id, key, other, outgoing, w.part))
            tagged += [(labels["t", t], node, len(set(edge.tags)), rank, other_id, key) for t in edge.tags]
            degrees[node] += 1
    w.db.executemany(rows.INSERT_EDGE, table)
    relationships.enter(w.db, edges=[row[0] for row, edge in zip(table, edges, strict=True) if edge.via is None])
    w.db.executemany("INSERT OR REPLACE INTO adjacency VALUES (?,?,?,?,?,?,?)", sorted(adjacency))
    w.db.executemany("INSERT OR REPLACE INTO adjacency_tags VALUES (?,?,?,?,?,?)", tagged)
    _add_degrees(w, {(node, w.part): n for node, n in degrees.items()})


def _reweighed(w: Write, edges: Sequence[Edge], old: dict[str, int], ends: dict[str, int]) -> list[Edge]:
    """Write those that a rule made and of which nothing but weight and time changed, as dreams do by the hundred; the
    others come back.
    """
    made = {old[e.id]: e for e in edges if e.id in old and e.via is not None and not e.tags}
    was: dict[int, tuple[Any, ...]] = {}
    for some in chunks(list(made)):
        query = f"SELECT * FROM edges WHERE key IN ({marks(len(some))})"
        was.update((row[0], row) for row in w.db.execute(query, some))
    weights, ranks, done = [], [], set[str]()
    for key, row in was.items():
        edge = made[key]
        src, dst = ends.get(edge.src), ends.get(edge.dst)
        if src is None or dst is None or _steady(rows.edge_row(edge, key, w.part, src, dst)) != _steady(row):
            continue
        done.add(edge.id)
        weights.append((edge.weight, edge.updated, key))
        before, now = _rank(row[6]), _rank(edge.weight)
        if before != now:
            ranks += [(now, *side, before, key) for side in {(src, plain(edge.dst)), (dst, plain(edge.src))}]
    w.db.executemany("UPDATE edges SET weight = ?, updated = ? WHERE key = ?", weights)
    w.db.executemany("UPDATE adjacency SET rank = ? WHERE node = ? AND other_id = ? AND rank = ? AND edge = ?", ranks)
    return [e for e in edges if e.id not in done]


def _steady(row: Sequence[Any]) -> tuple[Any, ...]:
    """The row of an edge but for weight, birth and last change."""
    return (*row[:6], *row[7:15], *row[17:])


def _rank(weight: float | None) -> float:
    """The strongest come first."""
    return -(UNKNOWN_WEIGHT if weight is None else weight)


def _settle_edges(w: Write, edges: Sequence[Edge], old: dict[str, int]) -> dict[str, int]:
    """When the edges that are about to be replaced were made. Vectors of what is said of one no longer go."""
    born: dict[str, int] = {}
    said = {old[e.id]: e.text if e.via is None else "" for e in edges if e.id in old}
    unsaid: list[int] = []
    for some in chunks(list(old.values())):
        query = f"SELECT key, id, created, text FROM edges WHERE key IN ({marks(len(some))})"
        for key, id_, created, text in w.db.execute(query, some):
            born[id_] = created
            if text and said[key] != text:
                unsaid.append(key)
    w.revectored |= spaces.drop(w.db, unsaid)
    return born


def _add_degrees(w: Write, degrees: dict[tuple[int, int], int]) -> None:
    w.db.executemany(
        "INSERT INTO degrees VALUES (?, ?, ?) ON CONFLICT (node, part) DO UPDATE SET degree = degree + excluded.degree",
        [(node, part, n) for (node, part), n in degrees.items()],
    )


def remove_edges(w: Write, keys: Sequence[int], replaced: bool = False) -> None:
    """Delete edges with their adjacency, degrees, notes and vectors. One about to be replaced keeps its notes."""
    for some in chunks(keys):
        among = f"IN ({marks(len(some))})"
        degrees = Counter[tuple[int, int]]()
        loose: set[tuple[str, str]] = set()
        found = w.db.execute(
            "SELECT e.key, e.src, e.dst, e.weight, e.part, e.tags, a.id, b.id, e.via IS NULL, e.text <> '' FROM edges e"
            f" JOIN nodes a ON a.key = e.src JOIN nodes b ON b.key = e.dst WHERE e.key {among}",
            some,
        ).fetchall()
        sides: list[tuple[int, float, str, int]] = []
        tagged: list[tuple[int, int, int, float, str, int]] = []
        for key, src, dst, weight, part, packed, src_id, dst_id, *_ in found:
            rank = _rank(weight)
            tags = {("t", t) for t in json.loads(packed)} if packed else set()
            labels = label_ids(w.db, tags).values() if tags else ()
            loose |= tags
            for node, other_id in {(src, dst_id), (dst, src_id)}:
                sides.append((node, rank, other_id, key))
                tagged += [(label, node, len(tags), rank, other_id, key) for label in labels]
                degrees[node, part] -= 1
        w.db.executemany("DELETE FROM adjacency WHERE node = ? AND rank = ? AND other_id = ? AND edge = ?", sides)
        w.db.executemany(
            "DELETE FROM adjacency_tags"
            " WHERE label = ? AND node = ? AND size = ? AND rank = ? AND other_id = ? AND edge = ?",
            tagged,
        )
        _add_degrees(w, degrees)
        w.db.executemany("DELETE FROM degrees WHERE node = ? AND part = ? AND degree <= 0", list(degrees))
        relationships.take_out(w.db, edges=[row[0] for row in found if row[8]])
        if not replaced:
            notes = w.db.execute(f"SELECT key FROM notes WHERE target_on = 'edge' AND target {among}", some)
            _remove_notes(w, [key for (key,) in notes.fetchall()])
            w.revectored |= spaces.drop(w.db, [row[0] for row in found if row[8] and row[9]])
        w.db.execute(f"DELETE FROM edges WHERE key {among}", some)
        collect_labels(w.db, label_ids(w.db, loose).values())


def _put_facts(w: Write, batch: Batch, forgotten: Collection[str]) -> None:
    given = [f for f in batch.facts if f.subject not in forgotten and f.object not in forgotten]
    if not given:
        return
    ends = w.keys_of(e for f in given for e in (f.subject, f.object) if e is not None)
    old = w.keys_of((f.id for f in given), "facts", [w.part])
    known = _known_facts(w, old)
    first = take_keys(w.db, len(given))
    table = []
    for number, fact in enumerate(given):
        check_whole(fact)
        subject = _need(ends, fact.subject, "node")
        object_ = None if fact.object is None else _need(ends, fact.object, "node")
        if fact.id in known:
            created, accesses, last = known[fact.id]
            fact = replace(fact, created=created)
            if not fact.access_count:
                fact = replace(fact, access_count=accesses, last_accessed=last)
        table.append(rows.fact_row(fact, old.get(fact.id, first + number), w.part, subject, object_))
    w.db.executemany(rows.INSERT_FACT, table)


def _known_facts(w: Write, keys: dict[str, int]) -> dict[str, tuple[int, int, int | None]]:
    """When the facts that are about to be stated again were first stated, and how much they were used since."""
    found: dict[str, tuple[int, int, int | None]] = {}
    for some in chunks(list(keys.values())):
        query = f"SELECT id, created, access_count, last_accessed FROM facts WHERE key IN ({marks(len(some))})"
        found.update({row[0]: row[1:] for row in w.db.execute(query, some)})
    return found


def _put_notes(w: Write, batch: Batch, forgotten: Collection[str]) -> None:
    for on, table in (("node", "nodes"), ("edge", "edges")):
        notes = [n for n in batch.notes if n.on == on and n.target not in forgotten]
        if not notes:
            continue
        targets = w.keys_of((n.target for n in notes), table)
        old = w.keys_of((n.id for n in notes), "notes", [w.part])
        first = take_keys(w.db, len(notes))
        relationships.take_out(w.db, notes=list(old.values()))
        _settle_notes(w, {old[n.id]: n.text for n in notes if n.id in old})
        lines = [
            (old.get(n.id, first + i), w.part, n.id, on, _need(targets, n.target, on), n.text, n.created, n.expires)
            for i, n in enumerate(notes)
        ]
        w.db.executemany(f"INSERT OR REPLACE INTO notes VALUES ({marks(8)})", lines)
        relationships.enter(w.db, notes=[row[0] for row in lines])


def _settle_notes(w: Write, said: dict[int, str]) -> None:
    """Drop the vectors of notes that are about to say something else."""
    for some in chunks(list(said)):
        there = w.db.execute(f"SELECT key, text FROM notes WHERE key IN ({marks(len(some))})", some).fetchall()
        w.revectored |= spaces.drop(w.db, [key for key, text in there if said[key] != text])


def _put_mentions(w: Write, batch: Batch, forgotten: Collection[str]) -> None:
    mentions = [m for m in batch.mentions if m.source not in forgotten and m.node not in forgotten]
    if mentions:
        keys = w.keys_of(end for m in mentions for end in (m.source, m.node))
        w.db.executemany(
            "INSERT OR REPLACE INTO mentions VALUES (?,?,?,?)",
            [(_need(keys, m.source, "node"), _need(keys, m.node, "node"), w.part, m.at) for m in mentions],
        )


def _put_links(w: Write, batch: Batch, forgotten: Collection[str]) -> None:
    links = [link for link in batch.links if link.src not in forgotten]
    if links:
        keys = w.keys_of((link.src for link in links), parts=[w.part])
        w.db.executemany(
            "INSERT OR REPLACE INTO links VALUES (?,?,?,?,?)",
            sorted((_need(keys, k.src, "node"), k.norm, k.kind, k.display, w.part) for k in links),
        )
        # What an atom links to decides what dreaming may add.
        w.changed.update(keys.values())


def _put_vectors(w: Write, batch: Batch, forgotten: Collection[str]) -> None:
    """Store vectors of what this user owns; those of unknown ids are left out.

    Without a vector space nobody could say whose vectors they are, so none is stored.
    """
    nodes = {id_: vector for id_, vector in batch.vectors.items() if id_ not in forgotten}
    space = batch.space or spaces.space_of(w.db)
    for table, vectors in (("nodes", nodes), ("edges", batch.edge_vectors), ("notes", batch.note_vectors)):
        if vectors and space is not None:
            keys = w.own_keys(vectors, table)
            w.revectored |= spaces.store(w.db, space, {key: vectors[id_] for id_, key in keys.items()})


def _read_back(w: Write, nodes: Sequence[Node], keys: dict[str, int]) -> None:
    """Compare what the database now holds with what was given; a difference undoes the transaction."""
    texts = {keys[n.id]: n.text for n in nodes}
    for some in chunks(sorted(texts)):
        query = f"SELECT key, text FROM nodes WHERE key IN ({marks(len(some))})"
        stored: dict[int, str] = dict(w.db.execute(query, some).fetchall())
        if any(stored.get(key) != texts[key] for key in some):
            raise GhostWrite("a written memory could not be read back; nothing was changed. Run `cuetrail doctor`")
