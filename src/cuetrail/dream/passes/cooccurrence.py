"""Adds `co_occurs` edges between nodes that are named in the same texts.

Each node chooses the PER_NODE nodes it is named with most often; ties are broken by id. The share of its texts that
also name the other gives the weight of the edge (see `formulas.company`). If both chose each other, the larger share
counts. A choice depends only on the texts that name the node, so only nodes with changed texts are processed. If MANY
texts name a node, shares are rounded to twentieths, so that one more text changes few edges.

The ledger stores how often a node is named with those it chose, and which atoms name other nodes than before. Only the
counts of nodes that were added to or removed from one of a node's texts are computed again. All texts that name the
node are read only if a node that was not chosen before might now be among the best.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

from cuetrail.dream.context import DreamContext, Work
from cuetrail.formulas import company, company_weight
from cuetrail.model import Edge, PassReport
from cuetrail.model.ids import derived_edge_id
from cuetrail.store.dream import Book, Entry, Writes
from cuetrail.store.read import edges_by_id

NAME = "cooccurrence"
KIND = "co_occurs"
VIA = "dream:cooccurrence"
PER_NODE = 10
# Nodes of one transaction.
BATCH = 200
# If more atoms changed, the counts of all nodes they name are computed from the texts.
MOST = 2_000
# A node with at least MANY texts has its shares rounded to 1/STEPS, so that a single text changes few of them.
MANY, STEPS = 10, 20
_MILLION = 1_000_000
# The share of an imported edge.
UNKNOWN = -1

Affected = Mapping[int, set[int]]
"""By node, the nodes whose counts with it may have changed. It includes the node itself if its own count changed."""


def cooccurrence(context: DreamContext) -> PassReport:
    """Adds edges between nodes that texts name together, and removes those that no longer apply."""
    work = Work(context, NAME)
    changes = work.memory.all(Book.CHANGED_MENTION)
    if len(changes) > MOST:
        # In one transaction, so that an interruption cannot separate them.
        marks = [(Book.RECOUNT, Entry(node)) for node in _affected(work, changes)]
        work.save(Writes(drop=[(Book.CHANGED_MENTION, row) for row in changes], put=marks))
        changes = []
    id_of: dict[int, str] = {}
    while touched := work.memory.all(Book.RECOUNT, BATCH):
        id_of = id_of or {one.key: one.id for one in work.names()}
        nodes = {row.first for row in touched}
        old = set(work.memory.by_first(Book.CO_OCCURS, nodes))
        writes = Writes(drop=[(Book.RECOUNT, row) for row in touched])
        _save_choices(work, writes, nodes, old, _from_texts(work, nodes, id_of), id_of)
    if changes:
        id_of = id_of or {one.key: one.id for one in work.names()}
        company = _affected(work, changes)
        old = set(work.memory.by_first(Book.CO_OCCURS, company))
        chosen, unsure = _from_ledger(work, company, old, id_of)
        writes = Writes(drop=[(Book.CHANGED_MENTION, row) for row in changes])
        _save_choices(work, writes, company.keys(), old, chosen | _from_texts(work, unsure, id_of), id_of)
    return work.report()


def _affected(work: Work, changes: Sequence[Entry]) -> Affected:
    """Returns, for each node that the changed atoms name or named before, the nodes whose number of common texts with
    it may have changed.
    """
    moved: dict[int, set[int]] = defaultdict(set)
    for row in changes:
        moved[row.first].add(row.second)
    named: dict[int, set[int]] = {atom: set(some) for atom, some in moved.items()}
    for row in work.memory.by_first(Book.ATOM_NAMES, moved):
        named[row.first].add(row.second)
    company: dict[int, set[int]] = defaultdict(set)
    for atom, some in named.items():
        for node in some:
            company[node] |= some if node in moved[atom] else moved[atom]
    return company


def _save_choices(
    work: Work, writes: Writes, nodes: Collection[int], old: set[Entry], chosen: set[Entry], id_of: Mapping[int, str]
) -> None:
    """Saves the nodes that each of these nodes co-occurs with most (`chosen`) in place of the `old` ones, and the
    edges that follow.
    """
    staying = {row[:2] for row in chosen}
    writes.drop += [(Book.CO_OCCURS, row) for row in sorted(old) if row[:2] not in staying]
    writes.put += [(Book.CO_OCCURS, row) for row in sorted(chosen - old)]
    _update_edges(work, writes, nodes, old, chosen, id_of)
    work.read += len(nodes)
    work.save(writes)
    work.step(work.read, 0)


# --- choosing


def _from_texts(work: Work, touched: Collection[int], id_of: Mapping[int, str]) -> set[Entry]:
    """Returns, for each of these nodes, rows of the nodes it co-occurs with most and their shares, computed from all
    texts that name it.
    """
    named: dict[int, list[int]] = defaultdict(list)
    for atom, node in work.memory.beside(Book.ATOM_NAMES, touched):
        named[atom].append(node)
    texts: dict[int, list[list[int]]] = {node: [] for node in touched}
    for some in named.values():
        for node in texts.keys() & some:
            texts[node].append(some)
    ids = _ids(work, set(chain.from_iterable(named.values())), id_of)
    chosen: set[Entry] = set()
    for node in texts.keys() & ids.keys():
        count = Counter(chain.from_iterable(texts[node]))
        total = count.pop(node, 0)
        chosen.update(_rows(node, count, total, _best(count, ids)))
    return chosen


def _from_ledger(
    work: Work, near: Affected, old: Iterable[Entry], id_of: Mapping[int, str]
) -> tuple[set[Entry], set[int]]:
    """Returns the rows of the nodes that each node co-occurs with most, as far as stored counts suffice; and the nodes
    for which all texts must be read.
    """
    atoms = work.memory.firsts(Book.ATOM_NAMES, near)
    texts = {node: set(atoms.get(node, ())) for node in near}
    before: dict[int, list[Entry]] = {node: [] for node in near}
    for row in old:
        before[row.first].append(row)
    chosen: set[Entry] = set()
    unsure: set[int] = set()
    for node, others in near.items():
        own, known = texts[node], {row.second: row.fourth for row in before[node]}
        # The rank of a removed node is unknown, and so is a count stored by an older version.
        if not {node, *known} <= id_of.keys() or not all(known.values()):
            unsure.add(node)
            continue
        count = {other: times for other in others if other != node and (times := len(own & texts[other]))}
        if node not in others and _is_unaffected(count, others, known):
            chosen.update(before[node])
            continue
        count |= {other: times for other, times in known.items() if other not in others}
        best = _best(count, id_of)
        if len(known) < PER_NODE or _is_as_good(count, best, known, id_of):
            chosen.update(_rows(node, count, len(own), best))
        else:
            unsure.add(node)
    return chosen, unsure


def _is_unaffected(count: Mapping[int, int], others: set[int], known: Mapping[int, int]) -> bool:
    """True if a node's choice stays the same: none of the `others`, whose counts changed, was chosen before (`known`)
    or now has a count as high as a chosen one.
    """
    return len(known) == PER_NODE and others.isdisjoint(known) and max(count.values(), default=0) < min(known.values())


def _is_as_good(
    count: Mapping[int, int], best: Sequence[int], known: Mapping[int, int], ids: Mapping[int, str]
) -> bool:
    """True if even the last of the new best nodes ranks no lower than the last of the old (`known`), so that no node
    whose count was not computed can rank before it.
    """
    last = max((-times, ids[other]) for other, times in known.items())
    return len(best) == PER_NODE and (-count[best[-1]], ids[best[-1]]) <= last


def _rows(node: int, count: Mapping[int, int], total: int, best: Iterable[int]) -> Iterable[Entry]:
    """Yields one CO_OCCURS row for each of the node's chosen co-occurring nodes: share in millionths, and count."""
    for other in best:
        share = company(count[other], total)
        share = round(share, 6) if total < MANY else round(share * STEPS) / STEPS
        yield Entry(node, other, round(_MILLION * share), count[other])


def _best(count: Mapping[int, int], ids: Mapping[int, str]) -> list[int]:
    """Returns the PER_NODE nodes with the highest counts; ties are broken by id."""
    there = count.keys() & ids.keys()
    counts = sorted(map(count.__getitem__, there), reverse=True)
    least = counts[PER_NODE - 1] if len(counts) >= PER_NODE else 0
    return sorted((other for other in there if count[other] >= least), key=lambda n: (-count[n], ids[n]))[:PER_NODE]


def _ids(work: Work, keys: Collection[int], id_of: Mapping[int, str]) -> Mapping[int, str]:
    """Returns, by key, the ids of these nodes, and perhaps of others. Keys missing in `id_of` are looked up."""
    unknown = set(keys).difference(id_of)
    return {**id_of, **{key: node.id for key, node in work.memory.nodes(unknown).items()}} if unknown else id_of


# --- edges


def _update_edges(
    work: Work, writes: Writes, touched: Collection[int], old: set[Entry], chosen: set[Entry], id_of: Mapping[int, str]
) -> None:
    """Adds to `writes` the new, changed and removed edges of the pairs of nodes whose share changed."""
    changed = {_pair(row) for row in {row[:3] for row in old} ^ {row[:3] for row in chosen}}
    ends = {node for pair in changed for node in pair}
    # The choices of the other side, unless it chooses now as well.
    theirs = work.memory.by_first(Book.CO_OCCURS, ends.difference(touched))
    before, after = (_shares(chain(some, theirs), changed) for some in (old, chosen))
    ids = _ids(work, ends, id_of)
    unsure: list[str] = []
    for pair in sorted(changed):
        one, other = (ids.get(node) for node in pair)
        # If the share of one side is unknown, that side will be processed later.
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
    there = edges_by_id(work.context.store, work.context.scope, unsure) if unsure else {}
    unchanged = {(id_, edge.weight) for id_, edge in there.items()}
    writes.batch.edges = [edge for edge in writes.batch.edges if (edge.id, edge.weight) not in unchanged]


def weight_of(rows: Sequence[Entry]) -> float | None:
    """Returns the weight of the edge between two nodes from their co-occurrence rows; None if there are none."""
    return company_weight(max(row.third for row in rows) / _MILLION) if rows else None


def _pair(row: Sequence[int]) -> tuple[int, int]:
    one, other = row[:2]
    return (one, other) if one < other else (other, one)


def _shares(rows: Iterable[Entry], pairs: Collection[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Returns, for each of these pairs of nodes that has a row, the larger share of its one or two rows."""
    found: dict[tuple[int, int], int] = {}
    for row in rows:
        pair = _pair(row)
        if pair in pairs:
            found[pair] = max(row.third, found.get(pair, UNKNOWN))
    return found
