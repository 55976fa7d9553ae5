"""Turns a document into nodes, edges and links. Pure: the same document always gives the same ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from cuetrail.ingest.document import Document, Piece
from cuetrail.model import DATE_ONLY, FROM_FILE, Edge, Link, Node, Provenance, Tag
from cuetrail.model.ids import atom_id, derived_edge_id, source_id
from cuetrail.model.records import FORMAT_TAGS, PROJECT_PREFIX, make_tags, norm_buckets
from cuetrail.text.dates import Day
from cuetrail.text.normalise import clean, norm_name
from cuetrail.text.simhash import simhashes

# Weights of topical relations: neighbours in a file belong together, but neither causes the other.
NEXT_WEIGHT = 0.35
UNDER_WEIGHT = 0.45


@dataclass(frozen=True, slots=True)
class Context:
    """The file's time and the options of the ingest that building a document needs."""

    bucket: str | None
    provenance: Provenance
    mtime: int
    now: int


@dataclass(frozen=True, slots=True)
class Built:
    """A document as records. The first node represents the document; `dated` are ids of nodes with a stated date."""

    nodes: list[Node]
    edges: list[Edge]
    links: list[Link]
    dated: frozenset[str]


def structure_via(path: str) -> str:
    """Returns the `via` of the edges that represent the structure of a file."""
    return f"file:{path}"


def build(document: Document, context: Context) -> Built:
    """Returns nodes in reading order, edges along headings and sequence, and links by name."""
    folders = PurePosixPath(document.path).parts[:-1]
    tags = _unique(make_tags(document.tags) + _path_tags(folders, document.kind))
    # By default the bucket is the first folder below the ingested one.
    buckets = norm_buckets((context.bucket,) if context.bucket else document.buckets or folders[1:2])
    at = context.mtime if document.at is None else document.at
    atoms = _atoms(document, _Shared(tags, buckets, at, context))
    props = {"format": document.kind, **document.props}
    top = Node(
        id=source_id(document.path),
        kind="source",
        name=clean(document.title).strip() or PurePosixPath(document.path).name,
        aliases=tuple(document.aliases),
        tag_details=tags,
        buckets=buckets,
        source=document.path,
        seq=-1,
        at=int(at),
        provenance=context.provenance,
        props={**props, FROM_FILE: _stated(document, props, tags, buckets, atoms)},
        created=context.now,
        updated=context.now,
    )
    links = [link for atom, piece in zip(atoms, document.pieces, strict=True) for link in _links(atom.id, piece)]
    dated = {a.id for a, p in zip(atoms, document.pieces, strict=True) if p.at is not None or document.at is not None}
    if document.at is not None:
        dated.add(top.id)
    return Built([top, *atoms], _edges(document, top, atoms, context.now), links, frozenset(dated))


def _stated(
    document: Document, props: Mapping[str, Any], tags: tuple[Tag, ...], buckets: tuple[str, ...], atoms: list[Node]
) -> dict[str, list[str]]:
    """Returns the labels and properties that the file states, to distinguish them from later additions of users."""
    stated = {
        "tags": [tag.name for tag in tags if tag.origin == "user"],
        "buckets": list(buckets),
        "aliases": list(document.aliases),
        "props": sorted(props),
        "atom_props": sorted({name for atom in atoms for name in atom.props}),
    }
    return {name: values for name, values in stated.items() if values}


@dataclass(frozen=True, slots=True)
class _Shared:
    """Values that all atoms of a document share."""

    tags: tuple[Tag, ...]
    buckets: tuple[str, ...]
    at: int
    context: Context


def _atoms(document: Document, shared: _Shared) -> list[Node]:
    repeats = Counter[str]()
    atoms = []
    hashes = simhashes([piece.text for piece in document.pieces])
    for seq, (piece, hash_) in enumerate(zip(document.pieces, hashes, strict=True)):
        nth = repeats[piece.text]
        repeats[piece.text] += 1
        atoms.append(_atom(document.path, piece, seq, atom_id(document.path, piece.text, nth), hash_, shared))
    return atoms


def _atom(path: str, piece: Piece, seq: int, id_: str, hash_: int | None, shared: _Shared) -> Node:
    props = dict(piece.props)
    if piece.level:
        props["level"] = piece.level
    if piece.speaker:
        props["speaker"] = piece.speaker
    at = shared.at if piece.at is None else piece.at
    if isinstance(at, Day):
        props[DATE_ONLY] = True
    return Node(
        id=id_,
        text=piece.text,
        tag_details=_unique(make_tags(piece.tags) + shared.tags) if piece.tags else shared.tags,
        buckets=shared.buckets,
        source=path,
        seq=seq,
        at=int(at),
        provenance=shared.context.provenance,
        simhash=hash_,
        props=props,
        created=shared.context.now,
        updated=shared.context.now,
    )


def _unique(tags: tuple[Tag, ...]) -> tuple[Tag, ...]:
    return tuple({tag.name: tag for tag in reversed(tags)}.values())[::-1]


def _path_tags(folders: Sequence[str], kind: str) -> tuple[Tag, ...]:
    """Returns the automatic tags: the project (the outermost folder) and the format."""
    names = [PROJECT_PREFIX + folders[0]] if folders else []
    return make_tags([*names, kind if kind in FORMAT_TAGS else "doc"], "auto")


def _links(id_: str, piece: Piece) -> list[Link]:
    found: dict[tuple[str, str], Link] = {}
    for target in piece.links:
        norm = norm_name(target)
        if norm:
            found["wikilink", norm] = Link(id_, norm, target, "wikilink")
    for name in piece.names:
        norm = norm_name(name)
        if norm:
            found["name", norm] = Link(id_, norm, name, "name")
    return list(found.values())


def _edges(document: Document, top: Node, atoms: list[Node], now: int) -> list[Edge]:
    via = structure_via(document.path)
    edges: list[Edge] = []
    above: list[tuple[int, str]] = [(0, top.id)]
    for number, (atom, piece) in enumerate(zip(atoms, document.pieces, strict=True)):
        while piece.level and above[-1][0] >= piece.level:
            above.pop()
        edges.append(_edge(atom.id, above[-1][1], "under", UNDER_WEIGHT, via, now))
        if piece.level:
            above.append((piece.level, atom.id))
        if number:
            edges.append(_edge(atoms[number - 1].id, atom.id, "next", NEXT_WEIGHT, via, now))
    return edges


def _edge(src: str, dst: str, kind: str, weight: float, via: str, now: int) -> Edge:
    return Edge(derived_edge_id(kind, src, dst), src, dst, kind, weight, via=via, created=now, updated=now)
