"""Which record an id means in a scope, and what a record is called there; `store.naming` has the rule."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cuetrail.model import Scope
from cuetrail.store.neo4j.connection import Row, chunks, rows
from cuetrail.store.shared.ids import SIGN, place_labels
from cuetrail.text.normalise import storable

if TYPE_CHECKING:
    from cuetrail.store.neo4j.connection import Tx

# An index of the server holds no value of more than eight thousand bytes.
LONGEST = 3_500
# A name's entity has the same id with everyone: few places are looked up rather than all read.
FEW = 8

# The places a scope may read, as `p`; `asking` gives what it needs.
PLACES = """MATCH (p:CuePlace) WHERE p.tenant = $tenant AND p.part IS NOT NULL
  AND (p.owner = $user OR (p.team <> '' AND p.team IN $teams))"""
PLACE = "p.part, p.owner, p.team, p.writes"
# The index is named because a plan made while it was empty may be a scan of all.
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


class Found(NamedTuple):
    """A record by what it is known: `handle` is a node's key, any other record's uid."""

    handle: int | str
    id: str
    part: int


def short(text: str) -> str:
    """The text, or what stands for one that is too long for an index."""
    if len(text) * 4 <= LONGEST or len(text.encode()) <= LONGEST:
        return text
    return f"{text[:100]}\x1f{hashlib.blake2b(text.encode(), digest_size=16).hexdigest()}"


def uid(part: int, *texts: str) -> str:
    """What is unique in the whole database: a text of one place, or several that are unique together."""
    return f"{part}:" + "\x1f".join(map(short, texts))


def place_uid(scope: Scope) -> str:
    """The one name of the place a scope writes to; lengths keep its three parts from running together."""
    parts = (scope.tenant, scope.user, scope.share or "")
    return "".join(f"{len(part)}:{short(part)}" for part in parts)


def asking(scope: Scope) -> dict[str, str | list[str]]:
    """What `PLACES` needs to know of a scope, and which place comes first in it."""
    return {"tenant": scope.tenant, "user": scope.user, "teams": list(scope.teams), "share": scope.share or ""}


def closest(records: Iterable[Found], parts: Sequence[int]) -> dict[str, Found]:
    """Of the records of each id the one whose place comes first."""
    order = {part: n for n, part in enumerate(parts)}
    best: dict[str, Found] = {}
    for one in records:
        if one.id not in best or order[one.part] < order[best[one.id].part]:
            best[one.id] = one
    return best


class Ids:
    """The places a scope may read, and the names of records in them.

    `parts` are those places, the closest first; `mine` those of them that are the user's own, which alone it may
    change; `home` is the one it writes to, None while nothing was written there. `whose` gives owner and team.
    `version` is another one after every write to one of the places. They are read, unless they are `given`.
    """

    def __init__(self, tx: Tx, scope: Scope, given: Sequence[Row] | None = None) -> None:
        self.tx = tx
        found = list(given) if given is not None else rows(tx, f"{PLACES} RETURN {PLACE}", **asking(scope))
        share = scope.share or ""
        found.sort(key=lambda row: (row[1] != scope.user, row[2] != share, row[2], row[1]))
        self.parts: list[int] = [row[0] for row in found]
        self.mine: list[int] = [part for part, owner, _, _ in found if owner == scope.user]
        self.home: int | None = found[0][0] if found and found[0][1:3] == [scope.user, share] else None
        self.whose: dict[int, tuple[str, str | None]] = {part: (owner, team or None) for part, owner, team, _ in found}
        self.version = tuple((row[0], row[3]) for row in found)
        self._labels = place_labels([(part, owner, team) for part, owner, team, _ in found])

    def find(self, ids: Iterable[str], what: str = "node", parts: Sequence[int] | None = None) -> dict[str, Found]:
        """Records by plain id among the given places, in the order asked; where several have it the first wins."""
        parts = self.parts if parts is None else parts
        asked = [id_ for id_ in dict.fromkeys(ids) if storable(id_)]
        best = closest(self._records(asked, what, parts), parts)
        return {id_: best[id_] for id_ in asked if id_ in best}

    def _records(self, ids: Sequence[str], what: str, parts: Sequence[int]) -> Iterable[Found]:
        by_uid, by_id, handle = _PATTERNS[what]
        if not ids or not parts:
            return
        few = [id_ for id_ in ids if by_id is None or len(parts) <= FEW or short(id_) != id_]
        wanted = [uid(part, id_) for id_ in few for part in parts]
        back = f"RETURN {handle}, n.id, n.part"
        for some in chunks(wanted):
            yield from (Found(*row) for row in rows(self.tx, f"UNWIND $some AS uid MATCH {by_uid} {back}", some=some))
        for some in chunks([id_ for id_ in ids if id_ not in set(few)]):
            query = f"UNWIND $some AS id MATCH {by_id} WHERE n.part IN $parts {back}"
            yield from (Found(*row) for row in rows(self.tx, query, some=some, parts=parts))

    def seek(self, ids: Iterable[str], what: str = "node", mine: bool = False) -> dict[str, Found]:
        """Ids to what they mean here, in the order asked; those of no visible record, or none of `mine`, are absent."""
        parts = self.mine if mine else self.parts
        asked = [id_ for id_ in dict.fromkeys(ids) if storable(id_)]
        found = self.find(asked, what, parts)
        if len(self.parts) > 1 and len(found) < len(asked):
            found |= self._elsewhere([id_ for id_ in asked if id_ not in found and SIGN in id_], what, parts)
        return {id_: found[id_] for id_ in asked if id_ in found}

    def _elsewhere(self, ids: Sequence[str], what: str, parts: Sequence[int]) -> dict[str, Found]:
        """The records that these ids name together with whose they are."""
        places = {self._labels[part]: part for part in parts}
        meant = {id_: (bare, places.get(label)) for id_ in ids for bare, _, label in [id_.partition(SIGN)]}
        bare_ids = list(dict.fromkeys(bare for bare, _ in meant.values()))
        known = {(one.id, one.part): one for one in self._records(bare_ids, what, parts)}
        return {id_: known[bare, part] for id_, (bare, part) in meant.items() if part and (bare, part) in known}

    def keys(self, ids: Iterable[str], mine: bool = False) -> dict[str, int]:
        """Ids of nodes to their keys, in the order asked."""
        return {id_: int(one.handle) for id_, one in self.seek(ids, mine=mine).items()}

    def names(self, records: Iterable[Found], what: str = "node") -> dict[int | str, str]:
        """What visible records are called, by handle."""
        found = list(records)
        if len(self.parts) < 2:
            return {one.handle: one.id for one in found}
        return self.called(found, self.find((one.id for one in found), what))

    def called(self, found: Iterable[Found], meant: Mapping[str, Found]) -> dict[int | str, str]:
        """What records are called, by handle, where their ids mean these."""
        # Nothing is meant where the record was deleted since it was read.
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
