"""Tombstones: who is kept out by them, and how a memory is forgotten and let back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cuetrail.model import Node
from cuetrail.store.neo4j.connection import chunks, rows
from cuetrail.store.neo4j.ids import Ids, short, uid
from cuetrail.store.neo4j.reader import Reader
from cuetrail.store.shared.tombstones import Met, id_stone, judge, signs, stones, text_stones

if TYPE_CHECKING:
    from cuetrail.store.neo4j.connection import Tx

_ANY = "MATCH (t:CueTombstone) WHERE t.part IN $mine RETURN 1 LIMIT 1"
_KNOWN = "UNWIND $uids AS uid MATCH (t:CueTombstone {uid: uid}) RETURN t.hash, t.part"
_SAID = "UNWIND $keys AS key MATCH (n:CueNode {key: key}) RETURN n.id, n.name, n.text"
_BEFORE = """UNWIND $refs AS ref MATCH (v:CueVersion {part: $part, ref: ref})
  RETURN ref, CASE WHEN v.text <> '' THEN v.text ELSE v.name END"""
_UNSAY = "UNWIND $refs AS ref MATCH (v:CueVersion {part: $part, ref: ref}) DELETE v"
_BURY = """UNWIND $rows AS row MERGE (t:CueTombstone {uid: row.uid})
  ON CREATE SET t.part = $part, t.hash = row.hash, t.at = row.at"""
_LIFT = "UNWIND $uids AS uid MATCH (t:CueTombstone {uid: uid}) DELETE t"


def met(tx: Tx, places: Ids, nodes: Sequence[Node]) -> dict[str, Met]:
    """Of the nodes that tombstones of this user meet the hashes that do, and what of their texts may come in, by id.

    An id is forgotten in the place it was in; what was said is forgotten in all of the user's places.
    """
    if not nodes or not rows(tx, _ANY, mine=places.mine):
        return {}
    said = [signs(node) for node in nodes]
    ids = {id_stone(node.id): node.id for node in nodes}
    hashes = set(ids).union(*(one.hashes() for one in said))
    known: set[str] = set()
    gone: dict[str, str] = {}
    for some in chunks([uid(part, hash_) for hash_ in hashes for part in places.mine]):
        for hash_, part in rows(tx, _KNOWN, uids=some):
            known.add(hash_)
            if hash_ in ids and part == places.home:
                gone[ids[hash_]] = hash_
    found = _without_present(tx, places, nodes, judge(nodes, said, known, gone))
    # What is left is judged as well: words that were apart may have met.
    left = [replace(node, text=found[node.id].left) for node in nodes if node.id in found and found[node.id].left]
    for id_, again in (met(tx, places, left) if left else {}).items():
        found[id_] = Met(found[id_].hashes | again.hashes, again.left)
    return found


def redacted_texts(reader: Reader, nodes: Sequence[Node]) -> dict[str, str]:
    """Returns what tombstones leave of the texts of the nodes they match, by id; "" if the node is kept out whole."""
    return {id_: one.left for id_, one in met(reader.tx, reader.ids, nodes).items()}


def kept_out(tx: Tx, places: Ids, nodes: Sequence[Node]) -> set[str]:
    """Ids of the nodes that tombstones of this user keep out as a whole."""
    return {id_ for id_, judged in met(tx, places, nodes).items() if not judged.left}


def _without_present(tx: Tx, places: Ids, nodes: Sequence[Node], found: dict[str, Met]) -> dict[str, Met]:
    """Without those that are here and say just that: they are not coming back, they never went."""
    if not found or places.home is None:
        return found
    here = [one.handle for one in places.find(found, parts=[places.home]).values()]
    said = {node.id: [node.name, node.text] for node in nodes}
    for some in chunks(here):
        for id_, *now in rows(tx, _SAID, keys=some):
            if now == said[id_]:
                del found[id_]
    return found


def lift(tx: Tx, places: Ids, nodes: Iterable[Node], found: Mapping[str, Met]) -> None:
    """Let the nodes back that were kept out: the hashes that did so go, and all that these nodes would leave."""
    gone = {hash_ for node in nodes if node.id in found for hash_ in (*found[node.id].hashes, *stones(node))}
    for some in chunks([uid(part, hash_) for part in places.mine for hash_ in sorted(gone)]):
        rows(tx, _LIFT, uids=some)


def bury(tx: Tx, part: int, nodes: Iterable[Node], now: int, unsaid: Collection[str] = ()) -> None:
    """Leave tombstones for nodes of a place and for what they said before they were corrected; that is deleted.

    What the `unsaid` say, by id, is not forgotten with them, as others say it too.
    """
    given = list(nodes)
    left = [hash_ for node in given for hash_ in ([id_stone(node.id)] if node.id in unsaid else stones(node))]
    refs = [short(node.id) for node in given]
    silent = {short(id_) for id_ in unsaid}
    for some in chunks(refs):
        before = rows(tx, _BEFORE, refs=some, part=part)
        left += [hash_ for ref, said in before if ref not in silent for hash_ in text_stones(said or "")]
        rows(tx, _UNSAY, refs=some, part=part)
    put_stones(tx, part, [(hash_, now) for hash_ in left])


def put_stones(tx: Tx, part: int, left: Iterable[tuple[str, int]]) -> None:
    """Leave tombstones, given as hash and time; one that stands keeps its time."""
    stones_ = [{"uid": uid(part, hash_), "hash": hash_, "at": at} for hash_, at in left]
    for some in chunks(stones_):
        rows(tx, _BURY, rows=some, part=part)
