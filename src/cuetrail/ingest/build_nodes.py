"""Turns a document into nodes, edges and links. Pure: the same document always gives the same ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any

from cuetrail.ingest.document import Document, Piece
from cuetrail.model import DATE_ONLY, FROM_FILE, Edge, Link, Node, Provenance, Tag
from cuetrail.model.ids import atom_id, derived_edge_id, digest, source_id
from cuetrail.model.tags import FORMAT_TAGS, PROJECT_PREFIX, make_tags, norm_buckets
from cuetrail.text.document_dates import Day
from cuetrail.text.normalise import clean, norm_name
from cuetrail.text.simhash import simhashes

# Weights of topical relations: neighbours in a file belong together, but neither causes the other.
NEXT_WEIGHT = 0.35
UNDER_WEIGHT = 0.45
HEADING_JOINT = " › "
# The number of the rules by which files become passages. A file that was read by other rules is read again.
RULES = "2"


@dataclass(frozen=True, slots=True)
class Options:
    """The options of an ingest. `skip` are folders that are never entered, such as the memory's own.

    With `follow_links`, links that lead out of the folder are read too.
    """

    bucket: str | None
    provenance: Provenance
    max_bytes: int | None
    now: int
    skip: tuple[Path, ...]
    follow_links: bool = False

    @property
    def hash_suffix(self) -> str:
        """Returns a text to append to a file's hash: a file ingested with other options or rules is read again."""
        if self.bucket is None and self.provenance == "internal":
            return f"+{RULES}"
        return f"+{RULES}{digest(self.bucket or '', self.provenance)[:8]}"


@dataclass(frozen=True, slots=True)
class Built:
    """A document as records. The first node represents the document; `dated` are ids of nodes with a stated date.

    `read` and `left_out` are the counts of the document.
    """

    nodes: list[Node]
    edges: list[Edge]
    links: list[Link]
    dated: frozenset[str]
    read: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)


def structure_via(path: str) -> str:
    """Returns the `via` (origin) of the edges between the nodes of a file: `under` and `next`."""
    return f"file:{path}"


def build(document: Document, options: Options, mtime: int) -> Built:
    """Returns a document as records: its node and its atoms in reading order, edges from each atom to the document and
    to the next atom, and links by name.

    `mtime`, in milliseconds, is the time of nodes if the document states no date.
    """
    folders = PurePosixPath(document.path).parts[:-1]
    tags = _unique(make_tags(document.tags) + _path_tags(folders, document.kind))
    # By default the bucket is the first folder below the ingested one.
    buckets = norm_buckets((options.bucket,) if options.bucket else document.buckets or folders[1:2])
    at = mtime if document.at is None else document.at
    name = clean(document.title).strip() or PurePosixPath(document.path).name
    shared = {"title": name, **({"aliases": list(document.aliases)} if document.aliases else {})}
    atoms = _atoms(document, tags, buckets, at, options, shared)
    known_as = {"about": list(document.known_as)} if document.known_as else {}
    props = {"format": document.kind, **known_as, **document.props}
    top = Node(
        id=source_id(document.path),
        kind="source",
        name=name,
        aliases=tuple(document.aliases),
        tag_details=_unique(make_tags(document.own_tags) + tags) if document.own_tags else tags,
        buckets=buckets,
        source=document.path,
        seq=-1,
        at=int(at),
        provenance=options.provenance,
        props={**props, FROM_FILE: _stated(document, props, tags, buckets, atoms)},
        created=options.now,
        updated=options.now,
    )
    links = _links(top.id, document.own_links, ())
    for atom, piece in zip(atoms, document.pieces, strict=True):
        links += _links(atom.id, piece.links, piece.names)
    dated = {a.id for a, p in zip(atoms, document.pieces, strict=True) if p.at is not None or document.at is not None}
    if document.at is not None:
        dated.add(top.id)
    edges = _edges(top, atoms, options.now)
    return Built([top, *atoms], edges, links, frozenset(dated), document.read, document.left_out)


def _stated(
    document: Document, props: Mapping[str, Any], tags: tuple[Tag, ...], buckets: tuple[str, ...], atoms: list[Node]
) -> dict[str, list[str]]:
    """Returns the names of the tags, buckets, aliases and properties that the file itself states, by field. What else
    the nodes have later was added by users or dreams.

    Tags in the text of a passage are not listed, they are found again in that text.
    """
    structural = [*document.own_tags, *(tag for piece in document.pieces for tag in piece.section_tags)]
    stated = {
        "tags": [tag.name for tag in _unique(tags + make_tags(structural)) if tag.origin == "user"],
        "buckets": list(buckets),
        "aliases": list(dict.fromkeys([*document.aliases, *(name for atom in atoms for name in atom.aliases)])),
        "props": sorted(props),
        "atom_props": sorted({name for atom in atoms for name in atom.props}),
    }
    return {name: values for name, values in stated.items() if values}


def _atoms(
    document: Document, tags: tuple[Tag, ...], buckets: tuple[str, ...], default_at: int, options: Options,
    props: Mapping[str, Any],
) -> list[Node]:  # fmt: skip
    """Returns an atom for each piece. All get these tags, buckets and props, and `default_at` if they have no date."""
    repeats = Counter[str]()
    atoms = []
    hashes = simhashes([piece.text for piece in document.pieces])
    for seq, (piece, hash_) in enumerate(zip(document.pieces, hashes, strict=True)):
        nth = repeats[piece.text]
        repeats[piece.text] += 1
        at = default_at if piece.at is None else piece.at
        atom = Node(
            id=atom_id(document.path, piece.text, nth),
            text=piece.text,
            aliases=piece.aliases,
            tag_details=_unique(make_tags(piece.tags) + tags) if piece.tags else tags,
            buckets=buckets,
            source=document.path,
            seq=seq,
            at=int(at),
            provenance=options.provenance,
            simhash=hash_,
            props={**props, **_atom_props(piece, at)},
            created=options.now,
            updated=options.now,
        )
        atoms.append(atom)
    return atoms


def _atom_props(piece: Piece, at: int) -> dict[str, Any]:
    props = dict(piece.props)
    if piece.heading:
        props["heading"] = HEADING_JOINT.join(piece.heading)
    if piece.speaker:
        props["speaker"] = piece.speaker
    if isinstance(at, Day):
        props[DATE_ONLY] = True
    return props


def _unique(tags: tuple[Tag, ...]) -> tuple[Tag, ...]:
    return tuple({tag.name: tag for tag in reversed(tags)}.values())[::-1]


def _path_tags(folders: Sequence[str], kind: str) -> tuple[Tag, ...]:
    """Returns the automatic tags of a file: its project (the outermost folder) and its format."""
    names = [PROJECT_PREFIX + folders[0]] if folders else []
    return make_tags([*names, kind if kind in FORMAT_TAGS else "doc"], "auto")


def _links(id_: str, linked: Sequence[str], names: Sequence[str]) -> list[Link]:
    """Returns the wikilinks and names of a node, each name once."""
    links = [Link(id_, norm_name(name), name, "wikilink") for name in linked]
    links += [Link(id_, norm_name(name), name, "name") for name in names]
    return list({(link.kind, link.norm): link for link in links if link.norm}.values())


def _edges(top: Node, atoms: list[Node], now: int) -> list[Edge]:
    via = structure_via(top.source or "")
    edges = [_edge(atom.id, top.id, "under", UNDER_WEIGHT, via, now) for atom in atoms]
    return edges + [_edge(a.id, b.id, "next", NEXT_WEIGHT, via, now) for a, b in pairwise(atoms)]


def _edge(src: str, dst: str, kind: str, weight: float, via: str, now: int) -> Edge:
    return Edge(derived_edge_id(kind, src, dst), src, dst, kind, weight, via=via, created=now, updated=now)
