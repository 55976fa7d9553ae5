"""Names that stand in the same texts are joined: `co_occurs` edges between the nodes they name.

Each node chooses the PER_NODE others it is named with most often (then by id). Its share in the other's company gives
the edge its weight (see `formulas.company`); if both have chosen, the larger share counts. So what a node chooses
depends on the texts that name it and on nothing else, and only nodes whose company changed are looked at. Where MANY
texts name a node, shares are in whole hundredths, so that one more text changes few edges or none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import chain, groupby
from operator import itemgetter

from cuetrail.dream.night import Night, Work
from cuetrail.formulas import company, company_weight
from cuetrail.ingest.build import edge_id
from cuetrail.model import Edge, PassReport
from cuetrail.store.dreams import Book, Brief, Row, Writes

NAME = "cooccurrence"
KIND = "co_occurs"
VIA = "dream:cooccurrence"
PER_NODE = 10
# Nodes of one transaction.
BATCH = 200
# Of so many texts one more changes no share by more than a hundredth.
MANY = 100
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
        _join(work, writes, touched, old, chosen)
        work.read += len(touched)
        work.save(writes)
        work.step(work.read, 0)
    return work.report()


def _chosen(work: Work, touched: Collection[int]) -> set[Row]:
    """Whom each of these nodes chooses, and the share."""
    texts: dict[int, list[list[int]]] = {node: [] for node in touched}
    pairs = work.memory.beside(Book.OCCURS, touched)
    nodes = work.memory.nodes({node for _, node in pairs})
    for _, rows in groupby(pairs, key=itemgetter(0)):
        named = [node for _, node in rows]
        for node in named:
            if node in texts:
                texts[node].append(named)
    chosen: set[Row] = set()
    for node in texts.keys() & nodes.keys():
        met = Counter(chain.from_iterable(texts[node]))
        alone = met.pop(node)
        for other in _best(met, nodes):
            share = round(company(met[other], alone), 6 if alone < MANY else 2)
            chosen.add(Row(node, other, round(_MILLION * share)))
    return chosen


def _best(met: Mapping[int, int], nodes: Mapping[int, Brief]) -> list[int]:
    """The PER_NODE that were met most often; of equals those that come first by id."""
    there = met.keys() & nodes.keys()
    counts = sorted(map(met.__getitem__, there), reverse=True)
    least = counts[PER_NODE - 1] if len(counts) >= PER_NODE else 0
    return sorted((other for other in there if met[other] >= least), key=lambda n: (-met[n], nodes[n].id))[:PER_NODE]


def _join(work: Work, writes: Writes, touched: Collection[int], old: set[Row], chosen: set[Row]) -> None:
    """The edges of pairs of which one side has chosen anew."""
    changed = {_pair(row) for row in old ^ chosen}
    ends = {node for pair in changed for node in pair}
    # What the other side has chosen, unless it is one of those that choose now.
    others = work.memory.by_first(Book.TOGETHER, ends.difference(touched))
    before, after = (_shares(row for row in (*some, *others) if _pair(row) in changed) for some in (old, chosen))
    nodes = work.memory.nodes(ends)
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


def _shares(rows: Iterable[Row]) -> dict[tuple[int, int], int]:
    """The larger share of each pair."""
    found: dict[tuple[int, int], int] = {}
    for row in rows:
        found[_pair(row)] = max(row.third, found.get(_pair(row), 0))
    return found
