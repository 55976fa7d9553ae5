"""Writes edges to their table, and updates the adjacency lists and degrees computed from it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cuetrail.model import UNKNOWN_WEIGHT, Edge
from cuetrail.store.shared.ids import plain
from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.connection import chunks, marks, take_keys
from cuetrail.store.sqlite.index import vector_spaces
from cuetrail.store.sqlite.reader import find_keys
from cuetrail.store.sqlite.write.labels import collect_labels, label_ids
from cuetrail.store.sqlite.write.relation_words import enter_words, remove_words
from cuetrail.store.sqlite.write.state import WriteState, renew_sums
from cuetrail.store.transaction import NoteTable, StoredEdge


def _rank(weight: float | None) -> float:
    """Returns an edge's rank in the adjacency table: its negative weight, so that the strongest edge comes first."""
    return -(UNKNOWN_WEIGHT if weight is None else weight)


def _comparable(row: Sequence[Any]) -> tuple[Any, ...]:
    """Returns the row of an edge without weight, creation time and last change, to see if anything else differs."""
    return (*row[:6], *row[7:15], *row[17:])


class Edges:
    """Writes edges and the tables computed from them in one transaction. `store.transaction` documents the methods."""

    def __init__(self, state: WriteState, notes: NoteTable) -> None:
        self.state = state
        self.db = state.db
        self._notes = notes

    def put(self, edges: Sequence[Edge], ends: Mapping[str, int]) -> None:
        if not edges:
            return
        old = find_keys(self.db, (e.id for e in edges), "edges", [self.state.partition])
        edges = self._reweigh(edges, old, ends)
        old = {e.id: old[e.id] for e in edges if e.id in old}
        created = self._before(edges, old)
        self._remove(list(old.values()), replaced=True)
        first = take_keys(self.db, len(edges))
        table, adjacency, tagged, degrees = [], [], [], Counter[tuple[int, int]]()
        labels = label_ids(self.db, {("t", t) for e in edges for t in e.tags}, create=True)
        part = self.state.partition
        for number, edge in enumerate(edges):
            key = old.get(edge.id, first + number)
            if edge.id in created:
                edge = replace(edge, created=created[edge.id])
            src, dst = ends[edge.src], ends[edge.dst]
            table.append(rows.edge_row(edge, key, part, src, dst))
            rank = _rank(edge.weight)
            sides = [(src, edge.dst, dst, 1)] if src == dst else [(src, edge.dst, dst, 1), (dst, edge.src, src, 0)]
            for node, other_id, other, outgoing in sides:
                other_id = plain(other_id)
                adjacency.append((node, rank, other_id, key, other, outgoing, part))
                tagged += [(labels["t", t], node, len(set(edge.tags)), rank, other_id, key) for t in edge.tags]
                degrees[node, part] += 1
        self.db.executemany(rows.INSERT_EDGE, table)
        enter_words(self.db, edges=[row[0] for row, edge in zip(table, edges, strict=True) if edge.via is None])
        self.db.executemany("INSERT OR REPLACE INTO adjacency VALUES (?,?,?,?,?,?,?)", sorted(adjacency))
        self.db.executemany("INSERT OR REPLACE INTO adjacency_tags VALUES (?,?,?,?,?,?)", tagged)
        self._add_degrees(degrees)

    def _reweigh(self, edges: Sequence[Edge], old: Mapping[str, int], ends: Mapping[str, int]) -> list[Edge]:
        """Updates in place those edges made by a rule of which only weight and time changed, and returns the others.
        Dreams change hundreds of edges in this way.
        """
        made = {old[e.id]: e for e in edges if e.id in old and e.via is not None and not e.tags}
        was: dict[int, tuple[Any, ...]] = {}
        for some in chunks(list(made)):
            query = f"SELECT * FROM edges WHERE key IN ({marks(len(some))})"
            for row in self.db.execute(query, some):
                rows.verify("edges", row[:-1], row[-1])
                was[row[0]] = row[:-1]
        weights, ranks, done = [], [], set[str]()
        for key, row in was.items():
            edge = made[key]
            src, dst = ends[edge.src], ends[edge.dst]
            if _comparable(rows.edge_row(edge, key, self.state.partition, src, dst)[:-1]) != _comparable(row):
                continue
            done.add(edge.id)
            check_sum = rows.row_sum((*row[:6], edge.weight, *row[7:16], edge.updated, *row[17:]))
            weights.append((edge.weight, edge.updated, check_sum, key))
            before, now = _rank(row[6]), _rank(edge.weight)
            if before != now:
                ranks += [(now, *side, before, key) for side in {(src, plain(edge.dst)), (dst, plain(edge.src))}]
        self.db.executemany("UPDATE edges SET weight = ?, updated = ?, check_sum = ? WHERE key = ?", weights)
        update = "UPDATE adjacency SET rank = ? WHERE node = ? AND other_id = ? AND rank = ? AND edge = ?"
        self.db.executemany(update, ranks)
        return [e for e in edges if e.id not in done]

    def _before(self, edges: Sequence[Edge], old: Mapping[str, int]) -> dict[str, int]:
        """Returns the creation times of edges to be replaced, by id. Drops the vectors of those whose text changes."""
        created: dict[str, int] = {}
        texts = {old[e.id]: e.text if e.via is None else "" for e in edges if e.id in old}
        reworded: list[int] = []
        for some in chunks(list(old.values())):
            query = f"SELECT key, id, created, text FROM edges WHERE key IN ({marks(len(some))})"
            for key, id_, when, text in self.db.execute(query, some):
                created[id_] = when
                if text and texts[key] != text:
                    reworded.append(key)
        self.state.revectored |= vector_spaces.drop(self.db, reworded)
        return created

    def _add_degrees(self, degrees: Mapping[tuple[int, int], int]) -> None:
        """Adds numbers, which may be negative, to the degrees of nodes, given as (node, partition)."""
        self.db.executemany(
            "INSERT INTO degrees VALUES (?, ?, ?)"
            " ON CONFLICT (node, part) DO UPDATE SET degree = degree + excluded.degree",
            [(*of, n) for of, n in degrees.items() if n],
        )
        gone = [of for of, n in degrees.items() if n < 0]
        self.db.executemany("DELETE FROM degrees WHERE node = ? AND part = ? AND degree <= 0", gone)

    def remove(self, handles: Sequence[int]) -> None:
        self._remove(handles, replaced=False)

    def remove_at(self, nodes: Sequence[int]) -> None:
        """Removes all edges of these nodes."""
        query = f"SELECT DISTINCT edge FROM adjacency WHERE node IN ({marks(len(nodes))})"
        self.remove([edge for (edge,) in self.db.execute(query, nodes).fetchall()])

    def _remove(self, keys: Sequence[int], replaced: bool) -> None:
        """Removes edges; their notes and vectors too, unless the edges are about to be `replaced`."""
        for some in chunks(keys):
            among = f"IN ({marks(len(some))})"
            degrees = Counter[tuple[int, int]]()
            loose: set[tuple[str, str]] = set()
            found = self.db.execute(
                "SELECT e.key, e.src, e.dst, e.weight, e.part, e.tags, a.id, b.id, e.via IS NULL, e.text <> ''"
                f" FROM edges e JOIN nodes a ON a.key = e.src JOIN nodes b ON b.key = e.dst WHERE e.key {among}",
                some,
            ).fetchall()
            sides: list[tuple[int, float, str, int]] = []
            tagged: list[tuple[int, int, int, float, str, int]] = []
            for key, src, dst, weight, part, packed, src_id, dst_id, *_ in found:
                rank = _rank(weight)
                tags = {("t", t) for t in json.loads(packed)} if packed else set()
                labels = label_ids(self.db, tags).values() if tags else ()
                loose |= tags
                for node, other_id in {(src, dst_id), (dst, src_id)}:
                    sides.append((node, rank, other_id, key))
                    tagged += [(label, node, len(tags), rank, other_id, key) for label in labels]
                    degrees[node, part] -= 1
            at = "node = ? AND rank = ? AND other_id = ? AND edge = ?"
            self.db.executemany(f"DELETE FROM adjacency WHERE {at}", sides)
            at = "label = ? AND node = ? AND size = ? AND rank = ? AND other_id = ? AND edge = ?"
            self.db.executemany(f"DELETE FROM adjacency_tags WHERE {at}", tagged)
            self._add_degrees(degrees)
            remove_words(self.db, edges=[row[0] for row in found if row[8]])
            if not replaced:
                notes = self.db.execute(f"SELECT key FROM notes WHERE target_on = 'edge' AND target {among}", some)
                self._notes.remove([key for (key,) in notes.fetchall()])
                self.state.revectored |= vector_spaces.drop(self.db, [row[0] for row in found if row[8] and row[9]])
            self.db.execute(f"DELETE FROM edges WHERE key {among}", some)
            collect_labels(self.db, label_ids(self.db, loose).values())

    def stated(self, keys: Sequence[int]) -> list[StoredEdge]:
        found: dict[int, StoredEdge] = {}
        for some in chunks(keys):
            at = f"SELECT edge FROM adjacency WHERE node IN ({marks(len(some))})"
            for row in self.db.execute(f"{rows.EDGE} WHERE e.key IN ({at}) AND e.via IS NULL", some):
                found[row[0]] = StoredEdge(row[0], row[1], row[19], row[20], rows.to_edge(row))
        return list(found.values())

    def taken(self, ids: Collection[tuple[int, str]]) -> set[tuple[int, str]]:
        return self.state.taken("edges", ids)

    def move(self, moves: Sequence[tuple[StoredEdge, StoredEdge]]) -> None:
        degrees = Counter[tuple[int, int]]()
        for old, new in moves:
            self.db.execute(
                "UPDATE edges SET id = ?, src = ?, dst = ? WHERE key = ?", (new.edge.id, new.src, new.dst, old.handle)
            )
            sides = {
                (old.src, old.edge.dst, new.src, new.edge.dst, new.dst),
                (old.dst, old.edge.src, new.dst, new.edge.src, new.src),
            }
            for node, other_id, new_node, new_other_id, new_other in sides:
                self._move_side(old, (node, other_id), (new_node, plain(new_other_id), new_other))
                degrees[node, old.partition] -= 1
                degrees[new_node, old.partition] += 1
        renew_sums(self.db, "edges", [old.handle for old, _ in moves])
        self._add_degrees(degrees)

    def _move_side(self, old: StoredEdge, was: tuple[int, str], now: tuple[int, str, int]) -> None:
        """Changes one side of an edge in the adjacency tables: from `was`, a node and its neighbour's id, to `now`, a
        node and its neighbour's id and key.
        """
        at = "node = ? AND rank = ? AND other_id = ? AND edge = ?"
        place = (was[0], _rank(old.edge.weight), was[1], old.handle)
        self.db.execute(f"UPDATE adjacency SET node = ?, other_id = ?, other = ? WHERE {at}", (*now, *place))
        tags = old.edge.tags
        self.db.executemany(
            f"UPDATE adjacency_tags SET node = ?, other_id = ? WHERE {at}"
            " AND size = ? AND label = (SELECT label FROM labels WHERE what = 't' AND name = ?)",
            [(*now[:2], *place, len(set(tags)), tag) for tag in tags],
        )
