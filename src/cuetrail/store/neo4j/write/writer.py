"""One write transaction: remove, put nodes, put what refers to them, read back. The change log comes last."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cuetrail.errors import GhostWrite, NotFound
from cuetrail.model import DERIVED, NEW_LIFE, Edge, Fact, Life, Node, Scope, Tag
from cuetrail.model.lifecycle import restated
from cuetrail.store.neo4j import rows as made
from cuetrail.store.neo4j.connection import chunks, rows
from cuetrail.store.neo4j.facts import writes
from cuetrail.store.neo4j.facts.ranks import ranked
from cuetrail.store.neo4j.ids import Found, short, uid
from cuetrail.store.neo4j.index.vector import spaces
from cuetrail.store.neo4j.write import tombstones
from cuetrail.store.neo4j.write.removal import drop_labels, remove_edges, remove_empty_sources, remove_nodes
from cuetrail.store.neo4j.write.transaction import Write
from cuetrail.store.shared.fact_validity import check_whole
from cuetrail.store.shared.ids import check_ids, norms
from cuetrail.store.shared.relationships import meaning_of, note_words
from cuetrail.store.shared.tombstones import let_in
from cuetrail.store.vector_space import Meaning
from cuetrail.store.write import Batch, Written

if TYPE_CHECKING:
    from cuetrail.store.neo4j.connection import Tx

_OLD = """UNWIND $keys AS key MATCH (n:CueNode {key: key})
OPTIONAL MATCH (v:CueVersion) WHERE v.part = n.part AND v.ref = n.ref
WITH n, max(v.at) AS last
RETURN n.id, n.key, n.name, n.text, n.created, n.state, n.tags IS NOT NULL OR n.buckets IS NOT NULL, last"""
_CREATE = "UNWIND $rows AS row CREATE (n:CueNode) SET n = row"
_REPLACE = "UNWIND $rows AS row MATCH (n:CueNode {key: row.key}) SET n += row"
_TAGS = "UNWIND $rows AS row MERGE (t:CueTag {uid: row[0]}) ON CREATE SET t.part = $part, t.name = row[1]"
_TAGGED = """UNWIND $rows AS row MATCH (n:CueNode {{key: row[0]}}) MATCH (t:CueTag {{uid: row[1]}})
CREATE (n)-[:{kind} {{given: row[2]}}]->(t)"""
_BUCKETS = "UNWIND $rows AS row MERGE (t:CueBucket {uid: row[0]}) ON CREATE SET t.part = $part, t.name = row[1]"
_FILED = """UNWIND $rows AS row MATCH (n:CueNode {key: row[0]}) MATCH (t:CueBucket {uid: row[1]})
CREATE (n)-[:CUE_FILED]->(t)"""
_NAMES = "UNWIND $rows AS row MERGE (t:CueName {uid: row[0]}) ON CREATE SET t.part = $part, t.norm = row[1]"
_NAMED = """UNWIND $rows AS row MATCH (n:CueNode {key: row[0]}) MATCH (t:CueName {uid: row[1]})
CREATE (n)-[:CUE_NAMED]->(t)"""
_BORN = """UNWIND $uids AS uid MATCH ()-[e:CUE_EDGE {uid: uid}]->() USING INDEX SEEK e:CUE_EDGE(uid)
RETURN e.id, e.created"""
_EDGES = """UNWIND $rows AS row MATCH (a:CueNode {key: row.src}) MATCH (b:CueNode {key: row.dst})
CREATE (a)-[e:CUE_EDGE]->(b) SET e = row.props"""
_KNOWN = """UNWIND $uids AS uid MATCH (f:CueFact {uid: uid})
RETURN f.id, f.created, f.access_count, f.last_accessed"""
_FACTS = """UNWIND $rows AS row MERGE (f:CueFact {uid: row.props.uid}) SET f = row.props
WITH f, row OPTIONAL MATCH (f)-[old:CUE_SUBJECT|CUE_OBJECT]->() DELETE old
WITH DISTINCT f, row MATCH (a:CueNode {key: row.subject}) CREATE (f)-[:CUE_SUBJECT]->(a)
WITH f, row MATCH (b:CueNode {key: row.object}) CREATE (f)-[:CUE_OBJECT]->(b)"""
_NOTES = """UNWIND $rows AS row MERGE (o:CueNote {uid: row.props.uid}) SET o = row.props
WITH o, row OPTIONAL MATCH (o)-[old:CUE_ABOUT]->() DELETE old
WITH DISTINCT o, row MATCH (n:CueNode {key: row.key}) CREATE (o)-[:CUE_ABOUT]->(n)"""
# A MERGE by the place would read all mentions of the place for each row, on a server that planned it while it had few.
_MENTIONS = """UNWIND $rows AS row MATCH (a:CueNode {key: row[0]}) MATCH (b:CueNode {key: row[1]})
OPTIONAL MATCH (a)-[m:CUE_MENTIONS]->(b) WHERE m.part + 0 = $part SET m.at = row[2]
FOREACH (_ IN CASE WHEN m IS NULL THEN [1] ELSE [] END | CREATE (a)-[:CUE_MENTIONS {part: $part, at: row[2]}]->(b))"""
_LINKS = """UNWIND $rows AS row MATCH (n:CueNode {key: row.key}) MERGE (l:CueLink {uid: row.props.uid})
SET l = row.props MERGE (n)-[:CUE_LINKS]->(l)"""
_VECTORS = "UNWIND $rows AS row MATCH (n:CueNode {key: row.key}) SET n += row.props"
_SOURCES = "UNWIND $rows AS row MERGE (s:CueSource {uid: row.uid}) SET s = row"
_ROOTS = "UNWIND $rows AS row MERGE (r:CueRoot {uid: row.uid}) SET r = row"
_NO_ROOTS = "UNWIND $uids AS uid MATCH (r:CueRoot {uid: uid}) DELETE r"
_VERSIONS = "UNWIND $rows AS row MERGE (v:CueVersion {uid: row.uid}) ON CREATE SET v = row"
_TEXTS = "UNWIND $keys AS key MATCH (n:CueNode {key: key}) RETURN key, n.text"


def write_batch(tx: Tx, scope: Scope, batch: Batch, keys: Sequence[int], dreamt: str | None = None) -> Written:
    """Carry out a batch inside the caller's transaction, but for its successors.

    `keys` are for nodes that are new. `dreamt` names the pass of dreaming that wants it.
    """
    w = Write(tx, scope)
    written = carry_out(w, batch, keys)
    w.finish(dreamt)
    return written


def carry_out(w: Write, batch: Batch, keys: Sequence[int]) -> Written:
    """Everything a batch changes, but for its successors and the log."""
    removed = _remove(w, batch)
    nodes, forgotten, cut = _without_forgotten(w, batch)
    by_id, added = _put_nodes(w, nodes, keys)
    edges = [e for e in batch.edges if e.src not in forgotten and e.dst not in forgotten]
    _put_edges(w, edges)
    _put_facts(w, [f for f in batch.facts if f.subject not in forgotten and f.object not in forgotten])
    writes.redeclare(w, batch.declared)
    writes.judge(w, batch.verdicts)
    writes.put(w, batch.stated, forgotten)
    _put_notes(w, batch, forgotten)
    _put_mentions(w, batch, forgotten)
    _put_links(w, batch, forgotten)
    _put_vectors(w, batch, forgotten | cut)
    _put_known(w, batch)
    _read_back(w.tx, {by_id[node.id]: node.text for node in nodes})
    return Written(added, len(nodes) - added, removed, len(edges), tuple(sorted(forgotten)), tuple(sorted(cut)))


def _run(w: Write, query: str, given: Sequence[object]) -> None:
    """Run a query on rows, chunk by chunk."""
    for some in chunks(given):
        rows(w.tx, query, rows=some, part=w.part)


def _remove(w: Write, batch: Batch) -> int:
    doomed = w.ids.keys(batch.remove_nodes, mine=True) if batch.remove_nodes else {}
    remove_nodes(w, list(doomed.values()))
    if batch.remove_edges:
        remove_edges(w.tx, [str(one.handle) for one in w.ids.seek(batch.remove_edges, "edge", mine=True).values()])
    notes = w.ids.seek(batch.remove_notes, "note", mine=True) if batch.remove_notes else {}
    for some in chunks([str(one.handle) for one in notes.values()]):
        rows(w.tx, "UNWIND $uids AS uid MATCH (o:CueNote {uid: uid}) DETACH DELETE o", uids=some)
    remove_empty_sources(w.tx, [(w.part, short(path)) for path in batch.remove_sources])
    return len(doomed)


def _without_forgotten(w: Write, batch: Batch) -> tuple[list[Node], set[str], set[str]]:
    if not batch.nodes:
        return [], set(), set()
    met = tombstones.met(w.tx, w.ids, batch.nodes)
    if batch.allow_again:
        tombstones.lift(w.tx, w.ids, batch.nodes, met)
        met = {}
    return let_in(batch.nodes, met)


# --- nodes


def _put_nodes(w: Write, nodes: Sequence[Node], keys: Sequence[int]) -> tuple[dict[str, int], int]:
    """Insert or replace nodes; their keys by id, and how many are new."""
    if not nodes:
        return {}, 0
    old = {id_: int(one.handle) for id_, one in w.ids.find((n.id for n in nodes), parts=[w.part]).items()}
    check_ids((n.id for n in nodes), lambda named: w.ids.seek(named, "node"))
    nodes = _settle_replaced(w, nodes, old) if old else nodes
    fresh = [n.id for n in nodes if n.id not in old]
    by_id = {**old, **dict(zip(fresh, keys, strict=False))}
    _run(w, _CREATE, [_props(w, n, by_id[n.id]) for n in nodes if n.id not in old])
    _run(w, _REPLACE, [_props(w, n, by_id[n.id]) for n in nodes if n.id in old])
    put_labels(w, nodes, by_id)
    named = {(by_id[n.id], norm) for n in nodes if n.name or n.aliases for norm in norms(n.name, n.aliases)}
    _run(w, _NAMES, [[uid(w.part, norm), norm] for norm in sorted({norm for _, norm in named})])
    _run(w, _NAMED, [[key, uid(w.part, norm)] for key, norm in sorted(named)])
    w.labelled[w.part] += sum(1 for n in nodes if n.tag_details or n.buckets)
    w.changed.update(by_id.values())
    w.new += len(fresh)
    return by_id, len(fresh)


def _props(w: Write, node: Node, key: int) -> made.Props:
    return {**made.node_props(node, key, w.part), **made.life_props(node.life)}


def put_labels(w: Write, nodes: Sequence[Node], keys: dict[str, int]) -> None:
    """Enter nodes, which are in no such list yet, into what is found by tag and bucket."""
    put_tags(w, [(keys[n.id], n.provenance != "quarantine", n.tag_details) for n in nodes])
    filed = sorted({(keys[n.id], bucket) for n in nodes for bucket in n.buckets})
    _run(w, _BUCKETS, [[uid(w.part, name), name] for name in sorted({name for _, name in filed})])
    _run(w, _FILED, [[key, uid(w.part, name)] for key, name in filed])


def put_tags(w: Write, given: Iterable[tuple[int, bool, Sequence[Tag]]]) -> None:
    """Enter nodes, given as key, whether their tags count and which these are, into what is found by tag."""
    tagged: dict[tuple[int, str], tuple[str, bool]] = {}
    for key, counts, tags in given:
        for tag in tags:
            kind = "CUE_TIMED" if tag.origin == "temporal" else "CUE_TAGGED"
            tagged.setdefault((key, tag.name), (kind, counts and tag.origin in made.GIVEN))
    _run(w, _TAGS, [[uid(w.part, name), name] for name in sorted({name for _, name in tagged})])
    for kind in ("CUE_TAGGED", "CUE_TIMED"):
        pairs = [[key, uid(w.part, name), is_given] for (key, name), (as_, is_given) in tagged.items() if as_ == kind]
        _run(w, _TAGGED.format(kind=kind), pairs)


def _settle_replaced(w: Write, nodes: Sequence[Node], old: dict[str, int]) -> list[Node]:
    """Clear what the old versions left elsewhere; keep their birth, their life and their history."""
    before = {row[0]: row[1:] for some in chunks(list(old.values())) for row in rows(w.tx, _OLD, keys=some)}
    drop_labels(w.tx, list(old.values()))
    unsaid, versions, settled = [], [], []
    lives = _lives(w, [old[n.id] for n in nodes if n.id in old])
    for node in nodes:
        if node.id not in before:
            settled.append(node)
            continue
        key, name, text, created, _, labelled, last = before[node.id]
        w.labelled[w.part] -= bool(labelled)
        if (text, name) != (node.text, node.name):
            unsaid.append(key)
            # Two corrections within one millisecond are still two, and stay in order. What dreams tell is no statement.
            at = node.updated if last is None else max(node.updated, last + 1)
            if node.kind not in DERIVED:
                versions.append(_version(w.part, node.id, at, name, text))
        settled.append(replace(node, created=created, life=restated(node.life, lives.get(key, NEW_LIFE))))
    nothing = {spaces.slot(space): None for space in (spaces.held(w.tx), spaces.coming(w.tx)) if space}
    if nothing:
        _run(w, _VECTORS, [{"key": key, "props": nothing} for key in unsaid])
    _run(w, _VERSIONS, versions)
    return settled


def _lives(w: Write, keys: Sequence[int]) -> dict[int, Life]:
    """The lives of nodes as they are."""
    query = f"UNWIND $keys AS key MATCH (n:CueNode {{key: key}}) WHERE n.state IS NOT NULL RETURN key, {made.NODE}"
    found = (row for some in chunks(keys) for row in rows(w.tx, query, keys=some))
    return {key: made.to_node(node, ("", None)).life for key, node in found}


def _version(part: int, id_: str, at: int, name: str | None, text: str) -> made.Props:
    key = uid(part, str(at), id_)
    return {"uid": key, "part": part, "id": id_, "ref": short(id_), "at": at, "name": name, "text": text}


def _read_back(tx: Tx, texts: dict[int, str]) -> None:
    """Compare what the database now holds with what was given; a difference undoes the transaction."""
    for some in chunks(list(texts)):
        stored: dict[int, str] = dict(rows(tx, _TEXTS, keys=some))
        if any(stored.get(key) != texts[key] for key in some):
            raise GhostWrite("a written memory could not be read back; nothing was changed. Run `cuetrail doctor`")


# --- what refers to nodes


def _need(found: dict[str, Found], id_: str, what: str) -> int | str:
    try:
        return found[id_].handle
    except KeyError:
        raise NotFound(f"there is no {what} {id_!r} in this scope: add it first") from None


def _put_edges(w: Write, edges: Sequence[Edge]) -> None:
    if not edges:
        return
    edges = list({e.id: e for e in edges}.values())
    check_ids((e.id for e in edges), lambda named: w.ids.seek(named, "edge"))
    ends = w.ids.seek(end for e in edges for end in (e.src, e.dst))
    uids = [uid(w.part, e.id) for e in edges]
    born: dict[str, int] = dict(row for some in chunks(uids) for row in rows(w.tx, _BORN, uids=some))
    said = {uid(w.part, e.id): e.text for e in edges if e.id in born and meaning_of(e)}
    vectors = spaces.kept(w.tx, said, "edge")
    put = []
    for e in edges:
        props = made.edge_props(replace(e, created=born.get(e.id, e.created)), w.part)
        props |= vectors.get(props["uid"], {})
        put.append({"src": _need(ends, e.src, "node"), "dst": _need(ends, e.dst, "node"), "props": props})
    remove_edges(w.tx, [uid(w.part, id_) for id_ in born], replaced=True)
    _run(w, _EDGES, put)


def _put_facts(w: Write, given: Sequence[Fact]) -> None:
    if not given:
        return
    given = list({f.id: f for f in given}.values())
    ends = w.ids.seek(e for f in given for e in (f.subject, f.object) if e is not None)
    uids = [uid(w.part, f.id) for f in given]
    known = {row[0]: row[1:] for some in chunks(uids) for row in rows(w.tx, _KNOWN, uids=some)}
    put = []
    for fact in given:
        check_whole(fact)
        subject = _need(ends, fact.subject, "node")
        object_ = None if fact.object is None else _need(ends, fact.object, "node")
        if fact.id in known:
            # Stated again, it keeps its birth and its use.
            created, accesses, last = known[fact.id]
            fact = replace(fact, created=created)
            if not fact.access_count:
                fact = replace(fact, access_count=accesses, last_accessed=last)
        put.append({"subject": subject, "object": object_, "props": made.fact_props(fact, w.part)})
    _run(w, _FACTS, put)
    ranked(w.tx, uids)


def _put_notes(w: Write, batch: Batch, forgotten: Collection[str]) -> None:
    for on in ("node", "edge"):
        notes = [n for n in batch.notes if n.on == on and n.target not in forgotten]
        targets = w.ids.seek((n.target for n in notes), on) if notes else {}
        vectors = spaces.kept(w.tx, {uid(w.part, n.id): n.text for n in notes if meaning_of(n)}, "note")
        put = []
        for n in notes:
            target = _need(targets, n.target, on)
            props = {"uid": uid(w.part, n.id), "part": w.part, "id": n.id, "text": n.text, "on": on}
            props |= {"created": n.created, "expires": n.expires, "edge": target if on == "edge" else None}
            props["words"] = " ".join(note_words(n.text)) if on == "edge" else None
            props |= vectors.get(str(props["uid"]), {})
            put.append({"key": target if on == "node" else None, "props": props})
        _run(w, _NOTES, put)


def _put_mentions(w: Write, batch: Batch, forgotten: Collection[str]) -> None:
    mentions = [m for m in batch.mentions if m.source not in forgotten and m.node not in forgotten]
    if mentions:
        keys = w.ids.seek(end for m in mentions for end in (m.source, m.node))
        # Each pair once: what one row makes, the next one does not see.
        put = {(_need(keys, m.source, "node"), _need(keys, m.node, "node")): m.at for m in mentions}
        _run(w, _MENTIONS, [[*pair, at] for pair, at in put.items()])


def _put_links(w: Write, batch: Batch, forgotten: Collection[str]) -> None:
    links = [link for link in batch.links if link.src not in forgotten]
    if not links:
        return
    found = w.ids.find((link.src for link in links), parts=[w.part])
    put = []
    for link in links:
        key = _need(found, link.src, "node")
        props = {"norm": link.norm, "kind": link.kind, "display": link.display, "part": w.part}
        put.append({"key": key, "props": {**props, "uid": uid(w.part, str(key), link.kind, link.norm)}})
        # What an atom links to decides what dreaming may add.
        w.changed.add(int(key))
    _run(w, _LINKS, put)


def _put_vectors(w: Write, batch: Batch, forgotten: Collection[str]) -> None:
    """Store vectors of what this user owns; those of unknown ids are left out.

    Without a vector space nobody could say whose vectors they are, so none is stored.
    """
    nodes = {id_: vector for id_, vector in batch.vectors.items() if id_ not in forgotten}
    given: dict[Meaning, dict[str, bytes]] = {"node": nodes, "edge": batch.edge_vectors, "note": batch.note_vectors}
    space = (batch.space or spaces.held(w.tx)) if any(given.values()) else None
    for what, vectors in given.items():
        if vectors and space is not None:
            found = w.ids.seek(vectors, what, mine=True)
            spaces.store(w.tx, space, {one.handle: vectors[id_] for id_, one in found.items()}, what)


def _put_known(w: Write, batch: Batch) -> None:
    """Source files, folder names, history and tombstones: what is known besides the memories themselves."""
    files = [
        {
            "uid": uid(w.part, f.path), "part": w.part, "path": f.path, "file": short(f.path), "size": f.size,
            "mtime_ns": f.mtime_ns, "hash": f.hash, "ingested": f.ingested,
        }
        for f in batch.sources
    ]  # fmt: skip
    _run(w, _SOURCES, files)
    roots = [{"uid": uid(w.part, n), "part": w.part, "name": n, "path": path} for n, path in batch.roots.items()]
    _run(w, _ROOTS, roots)
    if batch.remove_roots:
        rows(w.tx, _NO_ROOTS, uids=[uid(w.part, name) for name in batch.remove_roots])
    tombstones.put_stones(w.tx, w.part, [(stone.hash, stone.at) for stone in batch.tombstones])
    _run(w, _VERSIONS, [_version(w.part, v.id, v.at, v.name, v.text) for v in batch.versions])
