"""Names that stand in the same texts are joined: `co_occurs` edges between the nodes they name.

Each node chooses the PER_NODE others it is named with most often (then by id). Its share in the other's company gives
the edge its weight (see `formulas.company`); if both have chosen, the larger share counts. So what a node chooses
depends on the texts that name it and on nothing else, and only nodes whose company changed are looked at. Where MANY
texts name a node, shares are in steps of a twentieth (a hundredth of a weight), so that one more text changes few edges
or none.

The ledger notes how often a node is named with those it has chosen, and which atoms name others than before. How often
a node is named with what came to one of its atoms, or left it, is counted anew; with all others nothing changed. Only
where that might bring up one of these others, all texts that name the node are read.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

from cuetrail.dream.context import DreamContext, Work
from cuetrail.formulas import company, company_weight
from cuetrail.model import Edge, PassReport
from cuetrail.model.ids import derived_edge_id
from cuetrail.store.dream import Book, Row, Writes

NAME = "cooccurrence"
KIND = "co_occurs"
VIA = "dream:cooccurrence"
PER_NODE = 10
# Nodes of one transaction.
BATCH = 200
# Of more atoms at a time all that they name is counted.
MOST = 2_000
# From so many texts on shares are in so many steps: one text more or less says little, and moves few of them.
MANY, STEPS = 10, 20
_MILLION = 1_000_000
# The share of an edge that was made elsewhere.
UNKNOWN = -1

Company = Mapping[int, set[int]]
"""With whom a node may be named more or less often than before; itself among them if there are more texts or fewer."""


def cooccurrence(context: DreamContext) -> PassReport:
    """Join the nodes that texts name together, and part those that they no longer do."""
    work = Work(context, NAME)
    turned = work.memory.all(Book.TURNED)
    if len(turned) > MOST:
        # In one transaction, so that none of them is counted without the others.
        marks = [(Book.TOUCHED, Row(node)) for node in _company(work, turned)]
        work.save(Writes(drop=[(Book.TURNED, row) for row in turned], put=marks))
        turned = []
    called: dict[int, str] = {}
    while touched := work.memory.all(Book.TOUCHED, BATCH):
        called = called or {one.key: one.id for one in work.names()}
        nodes = {row.first for row in touched}
        old = set(work.memory.by_first(Book.TOGETHER, nodes))
        writes = Writes(drop=[(Book.TOUCHED, row) for row in touched])
        _settle(work, writes, nodes, old, _counted(work, nodes, called), called)
    if turned:
        called = called or {one.key: one.id for one in work.names()}
        company = _company(work, turned)
        old = set(work.memory.by_first(Book.TOGETHER, company))
        chosen, unsure = _kept_up(work, company, old, called)
        writes = Writes(drop=[(Book.TURNED, row) for row in turned])
        _settle(work, writes, company.keys(), old, chosen | _counted(work, unsure, called), called)
    return work.report()


def _company(work: Work, turned: Sequence[Row]) -> Company:
    """For all that these atoms name, or no longer do, who came or left there; for whom did that, all others too."""
    moved: dict[int, set[int]] = defaultdict(set)
    for row in turned:
        moved[row.first].add(row.second)
    named: dict[int, set[int]] = {atom: set(some) for atom, some in moved.items()}
    for row in work.memory.by_first(Book.OCCURS, moved):
        named[row.first].add(row.second)
    company: dict[int, set[int]] = defaultdict(set)
    for atom, some in named.items():
        for node in some:
            company[node] |= some if node in moved[atom] else moved[atom]
    return company


def _settle(
    work: Work, writes: Writes, nodes: Collection[int], old: set[Row], chosen: set[Row], called: Mapping[int, str]
) -> None:
    """Note what these nodes have chosen instead of the old, and bring their edges in step."""
    staying = {row[:2] for row in chosen}
    writes.drop += [(Book.TOGETHER, row) for row in sorted(old) if row[:2] not in staying]
    writes.put += [(Book.TOGETHER, row) for row in sorted(chosen - old)]
    _join(work, writes, nodes, old, chosen, called)
    work.read += len(nodes)
    work.save(writes)
    work.step(work.read, 0)


# --- choosing


def _counted(work: Work, touched: Collection[int], called: Mapping[int, str]) -> set[Row]:
    """Whom each of these nodes chooses, and the share, by all texts that name it."""
    named: dict[int, list[int]] = defaultdict(list)
    for atom, node in work.memory.beside(Book.OCCURS, touched):
        named[atom].append(node)
    texts: dict[int, list[list[int]]] = {node: [] for node in touched}
    for some in named.values():
        for node in texts.keys() & some:
            texts[node].append(some)
    ids = _ids(work, set(chain.from_iterable(named.values())), called)
    chosen: set[Row] = set()
    for node in texts.keys() & ids.keys():
        met = Counter(chain.from_iterable(texts[node]))
        alone = met.pop(node, 0)
        chosen.update(_rows(node, met, alone, _best(met, ids)))
    return chosen


def _kept_up(work: Work, company: Company, old: Iterable[Row], called: Mapping[int, str]) -> tuple[set[Row], set[int]]:
    """Whom those of these nodes choose of which that is known without reading their texts, and the other nodes."""
    said = work.memory.firsts(Book.OCCURS, company)
    texts = {node: set(said.get(node, ())) for node in company}
    before: dict[int, list[Row]] = {node: [] for node in company}
    for row in old:
        before[row.first].append(row)
    chosen: set[Row] = set()
    unsure: set[int] = set()
    for node, others in company.items():
        own, known = texts[node], {row.second: row.fourth for row in before[node]}
        # Of one that is gone the place in the order is not known, nor is a count that was noted by an older version.
        if not {node, *known} <= called.keys() or not all(known.values()):
            unsure.add(node)
            continue
        met = {other: times for other in others if other != node and (times := len(own & texts[other]))}
        if node not in others and _is_idle(met, others, known):
            chosen.update(before[node])
            continue
        met |= {other: times for other, times in known.items() if other not in others}
        best = _best(met, called)
        if len(known) < PER_NODE or _is_as_good(met, best, known, called):
            chosen.update(_rows(node, met, len(own), best))
        else:
            unsure.add(node)
    return chosen, unsure


def _is_idle(met: Mapping[int, int], others: set[int], known: Mapping[int, int]) -> bool:
    """Whether none of the others is, or comes near to, one of those that were chosen before."""
    return len(known) == PER_NODE and others.isdisjoint(known) and max(met.values(), default=0) < min(known.values())


def _is_as_good(met: Mapping[int, int], best: Sequence[int], known: Mapping[int, int], ids: Mapping[int, str]) -> bool:
    """Whether the best are as good as those that were chosen before: then nobody else comes before the last of them."""
    last = max((-times, ids[other]) for other, times in known.items())
    return len(best) == PER_NODE and (-met[best[-1]], ids[best[-1]]) <= last


def _rows(node: int, met: Mapping[int, int], alone: int, best: Iterable[int]) -> Iterable[Row]:
    """What the ledger notes of a node's choice."""
    for other in best:
        share = company(met[other], alone)
        share = round(share, 6) if alone < MANY else round(share * STEPS) / STEPS
        yield Row(node, other, round(_MILLION * share), met[other])


def _best(met: Mapping[int, int], ids: Mapping[int, str]) -> list[int]:
    """The PER_NODE that were met most often; of equals those that come first by id."""
    there = met.keys() & ids.keys()
    counts = sorted(map(met.__getitem__, there), reverse=True)
    least = counts[PER_NODE - 1] if len(counts) >= PER_NODE else 0
    return sorted((other for other in there if met[other] >= least), key=lambda n: (-met[n], ids[n]))[:PER_NODE]


def _ids(work: Work, keys: Collection[int], called: Mapping[int, str]) -> Mapping[int, str]:
    """The ids of these nodes, and perhaps of others. Those that lost their names are asked for."""
    unknown = set(keys).difference(called)
    return {**called, **{key: node.id for key, node in work.memory.nodes(unknown).items()}} if unknown else called


# --- joining


def _join(
    work: Work, writes: Writes, touched: Collection[int], old: set[Row], chosen: set[Row], called: Mapping[int, str]
) -> None:
    """The edges of pairs of which one side has chosen anew, or by another share."""
    changed = {_pair(row) for row in {row[:3] for row in old} ^ {row[:3] for row in chosen}}
    ends = {node for pair in changed for node in pair}
    # What the other side has chosen, unless it is one of those that choose now.
    theirs = work.memory.by_first(Book.TOGETHER, ends.difference(touched))
    before, after = (_shares(chain(some, theirs), changed) for some in (old, chosen))
    ids = _ids(work, ends, called)
    unsure: list[str] = []
    for pair in sorted(changed):
        one, other = (ids.get(node) for node in pair)
        # Where one side's choice is not known yet, it is about to be looked at.
        if one is None or other is None or after.get(pair) in (before.get(pair), UNKNOWN):
            continue
        src, dst = sorted((one, other))
        id_ = derived_edge_id(KIND, src, dst)
        if pair in after:
            weight = company_weight(after[pair] / _MILLION)
            now = work.context.now
            writes.batch.edges.append(Edge(id_, src, dst, KIND, weight, via=VIA, created=now, updated=now))
            if before.get(pair) == UNKNOWN:
                unsure.append(id_)
        else:
            writes.batch.remove_edges.append(id_)
    there = work.context.store.edges(work.context.scope, unsure) if unsure else {}
    as_it_was = {(id_, edge.weight) for id_, edge in there.items()}
    writes.batch.edges = [edge for edge in writes.batch.edges if (edge.id, edge.weight) not in as_it_was]


def weight_of(rows: Sequence[Row]) -> float | None:
    """The weight of the edge that these choices of two nodes of each other give; None if there are none."""
    return company_weight(max(row.third for row in rows) / _MILLION) if rows else None


def _pair(row: Sequence[int]) -> tuple[int, int]:
    one, other = row[:2]
    return (one, other) if one < other else (other, one)


def _shares(rows: Iterable[Row], pairs: Collection[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """The larger share of each of these pairs."""
    found: dict[tuple[int, int], int] = {}
    for row in rows:
        pair = _pair(row)
        if pair in pairs:
            found[pair] = max(row.third, found.get(pair, UNKNOWN))
    return found
