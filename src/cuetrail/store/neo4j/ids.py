"""Ids in a scope: which record an id means, and which id a record has. `store.shared.ids` states the rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from cuetrail.model import Scope
from cuetrail.store.neo4j.connection import Row, Tx, chunks, rows
from cuetrail.store.neo4j.rows import short, uid
from cuetrail.store.shared.ids import SIGN, place_labels
from cuetrail.text.normalise import storable

# Entities named alike have the same id for every user, so a few partitions are looked up by number.
FEW = 8
# Matches the partitions a scope may read, as `p`; `scope_parameters` gives the parameters.
VISIBLE_PARTITIONS = """MATCH (p:CuePlace) WHERE p.tenant = $tenant AND p.part IS NOT NULL
  AND (p.owner = $user OR (p.team <> '' AND p.team IN $teams))"""
PARTITION_COLUMNS = "p.part, p.owner, p.team, p.writes"
# The index is named: a plan made while it was empty may scan everything.
_PATTERNS = {
    "node": (
        "(n:CueNode {uid: uid}) USING INDEX SEEK n:CueNode(uid)",
        "(n:CueNode {ref: id}) USING INDEX SEEK n:CueNode(ref)",
        "n.key",
    ),
    "edge": ("()-[n:CUE_EDGE {uid: uid}]->() USING INDEX SEEK n:CUE_EDGE(uid)", None, "n.uid"),
    "fact": ("(n:CueFact {uid: uid}) USING INDEX SEEK n:CueFact(uid)", None, "n.uid"),
    "note": ("(n:CueNote {uid: uid}) USING INDEX SEEK n:CueNote(uid)", None, "n.uid"),
}


class RecordId(NamedTuple):
    """A record's handle, plain id and partition. `handle` is the key of a node, or the uid of any other record."""

    handle: int | str
    id: str
    part: int


def partition_uid(scope: Scope) -> str:
    """Returns the unique name of the partition a scope writes to, made of tenant, user and team with their lengths."""
    parts = (scope.tenant, scope.user, scope.share or "")
    return "".join(f"{len(part)}:{short(part)}" for part in parts)


def scope_parameters(scope: Scope) -> dict[str, str | list[str]]:
    """Returns the query parameters of `VISIBLE_PARTITIONS` for a scope, and `share`, which orders partitions."""
    return {"tenant": scope.tenant, "user": scope.user, "teams": list(scope.teams), "share": scope.share or ""}


def first_visible(records: Iterable[RecordId], parts: Sequence[int]) -> dict[str, RecordId]:
    """Returns, for each id, the record whose partition comes first in `parts`."""
    order = {part: n for n, part in enumerate(parts)}
    best: dict[str, RecordId] = {}
    for one in records:
        if one.id not in best or order[one.part] < order[best[one.id].part]:
            best[one.id] = one
    return best


class Ids:
    """The partitions a scope may read, and the translation between ids and records in them.

    `parts` are the numbers of these partitions, in the order in which they win if several have an id; `mine` those of
    the user, who may change only these; `home` the one the scope writes to, None before the first write. `whose` maps
    each to its owner and team. `version` differs after every write to one of them. The partitions are read from the
    server unless their rows are `given`.
    """

    def __init__(self, tx: Tx, scope: Scope, given: Sequence[Row] | None = None) -> None:
        self.tx = tx
        found = (
            list(given)
            if given is not None
            else rows(tx, f"{VISIBLE_PARTITIONS} RETURN {PARTITION_COLUMNS}", **scope_parameters(scope))
        )
        share = scope.share or ""
        found.sort(key=lambda row: (row[1] != scope.user, row[2] != share, row[2], row[1]))
        self.parts: list[int] = [row[0] for row in found]
        self.mine: list[int] = [part for part, owner, _, _ in found if owner == scope.user]
        self.home: int | None = found[0][0] if found and found[0][1:3] == [scope.user, share] else None
        self.whose: dict[int, tuple[str, str | None]] = {part: (owner, team or None) for part, owner, team, _ in found}
        self.version = tuple((row[0], row[3]) for row in found)
        self._labels = place_labels([(part, owner, team) for part, owner, team, _ in found])

    def find(self, ids: Iterable[str], what: str = "node", parts: Sequence[int] | None = None) -> dict[str, RecordId]:
        """Returns records by plain id, in the given order. If several of `parts` have an id, the first of them wins.
        Unknown ids are absent.
        """
        parts = self.parts if parts is None else parts
        asked = [id_ for id_ in dict.fromkeys(ids) if storable(id_)]
        best = first_visible(self._records(asked, what, parts), parts)
        return {id_: best[id_] for id_ in asked if id_ in best}

    def _records(self, ids: Sequence[str], what: str, parts: Sequence[int]) -> Iterable[RecordId]:
        by_uid, by_id, handle = _PATTERNS[what]
        if not ids or not parts:
            return
        few = [id_ for id_ in ids if by_id is None or len(parts) <= FEW or short(id_) != id_]
        wanted = [uid(part, id_) for id_ in few for part in parts]
        back = f"RETURN {handle}, n.id, n.part"
        for some in chunks(wanted):
            yield from (
                RecordId(*row) for row in rows(self.tx, f"UNWIND $some AS uid MATCH {by_uid} {back}", some=some)
            )
        for some in chunks([id_ for id_ in ids if id_ not in set(few)]):
            query = f"UNWIND $some AS id MATCH {by_id} WHERE n.part IN $parts {back}"
            yield from (RecordId(*row) for row in rows(self.tx, query, some=some, parts=parts))

    def seek(self, ids: Iterable[str], what: str = "node", mine: bool = False) -> dict[str, RecordId]:
        """Returns the records that ids mean in this scope, in the given order. Ids of no visible record are absent;
        with `mine`, so are ids of records the user does not own.
        """
        parts = self.mine if mine else self.parts
        asked = [id_ for id_ in dict.fromkeys(ids) if storable(id_)]
        found = self.find(asked, what, parts)
        if len(self.parts) > 1 and len(found) < len(asked):
            found |= self._elsewhere([id_ for id_ in asked if id_ not in found and SIGN in id_], what, parts)
        return {id_: found[id_] for id_ in asked if id_ in found}

    def _elsewhere(self, ids: Sequence[str], what: str, parts: Sequence[int]) -> dict[str, RecordId]:
        """Returns the records that ids with an owner (`id@@owner`) mean, by the id as given. `what` is the kind of
        record; only the partitions `parts` are searched.
        """
        places = {self._labels[part]: part for part in parts}
        meant = {id_: (bare, places.get(label)) for id_ in ids for bare, _, label in [id_.partition(SIGN)]}
        bare_ids = list(dict.fromkeys(bare for bare, _ in meant.values()))
        known = {(one.id, one.part): one for one in self._records(bare_ids, what, parts)}
        return {id_: known[bare, part] for id_, (bare, part) in meant.items() if part and (bare, part) in known}

    def keys(self, ids: Iterable[str], mine: bool = False) -> dict[str, int]:
        """Returns the keys of visible nodes (with `mine`: the user's own) by id, in order. Unknown ids are absent."""
        return {id_: int(one.handle) for id_, one in self.seek(ids, mine=mine).items()}

    def names(self, records: Iterable[RecordId], what: str = "node") -> dict[int | str, str]:
        """Returns the ids that visible records have in this scope, by handle."""
        found = list(records)
        if len(self.parts) < 2:
            return {one.handle: one.id for one in found}
        return self.called(found, self.find((one.id for one in found), what))

    def called(self, found: Iterable[RecordId], meant: Mapping[str, RecordId]) -> dict[int | str, str]:
        """Returns the ids that records have in this scope, by handle. `meant` says which record a plain id means.

        A record keeps its plain id unless that means another record. Then its owner is added: `id@@owner`.
        """
        # No record has the id if it was deleted since it was read.
        return {
            one.handle: one.id
            if one.id not in meant or meant[one.id].handle == one.handle
            else f"{one.id}{SIGN}{self._labels[one.part]}"
            for one in found
        }


def partitions(tx: Tx, scope: Scope | None) -> list[Scope]:
    """Returns the partitions of one user, or of everyone (None), as the scopes that write there."""
    whose = "" if scope is None else "AND p.tenant = $tenant AND p.owner = $owner"
    query = f"MATCH (p:CuePlace) WHERE p.part IS NOT NULL {whose} RETURN p.tenant, p.owner, p.team"
    given = {} if scope is None else {"tenant": scope.tenant, "owner": scope.user}
    found = sorted(rows(tx, query, **given))
    return [Scope(tenant, owner, (team,) if team else (), team or None) for tenant, owner, team in found]
