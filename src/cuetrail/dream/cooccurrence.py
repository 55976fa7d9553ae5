"""Names that stand in the same texts are joined: `co_occurs` edges between the nodes they name.

Each node chooses the PER_NODE others it is named with most often (then by id). Its share in the other's company gives
the edge its weight (see `formulas.company`); if both have chosen, the larger share counts. So what a node chooses
depends on the texts that name it and on nothing else, and only nodes whose company changed are looked at.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection

from cuetrail.dream.night import Night, Work
from cuetrail.formulas import company, company_weight
from cuetrail.ingest.build import edge_id
from cuetrail.model import Edge, PassReport
from cuetrail.store.dreams import Book, Row, Writes

NAME = "cooccurrence"
KIND = "co_occurs"
VIA = "dream:cooccurrence"
PER_NODE = 10
# Nodes of one transaction.
BATCH = 200
_MILLION = 1_000_000


def cooccurrence(night: Night) -> PassReport:
    """Join the nodes that texts name together, and part those that they no longer do."""
    work = Work(night, NAME)
    while touched := [row.first for row in work.memory.all(Book.TOUCHED, BATCH)]:
        writes = Writes(drop=[(Book.TOUCHED, Row(node)) for node in touched])
        chosen = _chosen(work, touched)
        old = set(work.memory.by_first(Book.TOGETHER, touched))
        writes.drop += [(Book.TOGETHER, row) for row in sorted(old - chosen)]
        writes.put += [(Book.TOGETHER, row) for row in sorted(chosen - old)]
        _join(work, writes, old, chosen)
        work.read += len(touched)
        work.save(writes)
        work.step(work.read, 0)
    return work.report()


def _chosen(work: Work, touched: Collection[int]) -> set[Row]:
    """Whom each of these nodes chooses, and the share in millionths."""
    texts: dict[int, list[int]] = defaultdict(list)
    for row in work.memory.by_second(Book.OCCURS, touched):
        texts[row.second].append(row.first)
    named: dict[int, list[int]] = defaultdict(list)
    for row in work.memory.by_first(Book.OCCURS, {atom for atoms in texts.values() for atom in atoms}):
        named[row.first].append(row.second)
    nodes = work.memory.nodes({node for some in named.values() for node in some})
    chosen: set[Row] = set()
    for node, atoms in texts.items():
        met = Counter(other for atom in atoms for other in named[atom] if other != node and other in nodes)
        best = sorted(met, key=lambda other: (-met[other], nodes[other].id))[:PER_NODE] if node in nodes else []
        chosen |= {Row(node, other, round(_MILLION * company(met[other], len(atoms)))) for other in best}
    return chosen


def _join(work: Work, writes: Writes, old: set[Row], chosen: set[Row]) -> None:
    """The edges of pairs of which one side has chosen anew."""
    changed = {_pair(row) for row in old ^ chosen}
    touching = {row.first for row in old | chosen}
    # What the other side has chosen, unless it is one of those that choose now.
    standing = {row for row in work.memory.by_second(Book.TOGETHER, touching) if row not in old}
    before, after = _shares(old | standing), _shares(chosen | standing)
    nodes = work.memory.nodes({node for pair in changed for node in pair})
    for pair in sorted(changed):
        one, other = (nodes.get(node) for node in pair)
        if one is None or other is None or before.get(pair) == after.get(pair):
            continue
        src, dst = sorted((one.id, other.id))
        id_ = edge_id(KIND, src, dst)
        if pair in after:
            weight = company_weight(after[pair] / _MILLION)
            now = work.night.now
            writes.batch.edges.append(Edge(id_, src, dst, KIND, weight, via=VIA, created=now, updated=now))
        else:
            writes.batch.remove_edges.append(id_)


def _pair(row: Row) -> tuple[int, int]:
    return (min(row.first, row.second), max(row.first, row.second))


def _shares(rows: Collection[Row]) -> dict[tuple[int, int], int]:
    """The larger share of each pair."""
    found: dict[tuple[int, int], int] = {}
    for row in rows:
        found[_pair(row)] = max(row.third, found.get(_pair(row), 0))
    return found
