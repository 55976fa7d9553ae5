"""Imports and exports basic-memory: a folder of Markdown notes with observations and relations, or one such note.

A note becomes a node. Each observation and each paragraph becomes an atom connected to it, with category and #tags as
tags. Each relation becomes an edge to the note it names. Exported notes keep their frontmatter, order and headings.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from cuetrail.errors import InputError, ReadError
from cuetrail.model import Edge, FileError, Node
from cuetrail.model.ids import digest
from cuetrail.model.records import make_tags, norm_buckets
from cuetrail.store.read import Record
from cuetrail.text.normalise import clean, norm_name
from cuetrail.transfer.formats.basic_memory_notes import (
    Item,
    hashtags,
    is_category,
    links,
    one_group,
    parse_note,
    render_note,
)
from cuetrail.transfer.formats.graph_view import (
    KINDS,
    LINK_WEIGHT,
    OBSERVATION_WEIGHT,
    RELATION_WEIGHT,
    GraphView,
    Relation,
    graph_view,
    is_placeholder,
    label,
)
from cuetrail.transfer.formats.text_files import decode, read_bytes, reporter, to_iso, to_ms, write_text

FORMAT = "basic-memory"

_OWN_KEYS = frozenset({"title", "type", "permalink", "tags"})
_NULLS = ("", "~", "null")
_UNSAFE = re.compile(r"[^\w-]+")


@dataclass(frozen=True, slots=True)
class _Note:
    """One imported note. `path` is relative to the folder, with forward slashes."""

    id: str
    path: str
    title: str
    meta: dict[str, Any]
    items: list[Item]


def note_files(path: Path, errors: list[FileError] | None = None) -> list[Path]:
    """Returns the notes below a folder, sorted and without hidden ones; for a file, only that. Raises InputError."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise InputError(f"There is no {path}. Give a note or the folder of a basic-memory project.")

    def on_error(error: OSError) -> None:
        folder = Path(error.filename)
        reporter(folder, errors)(f"{folder} cannot be looked into ({error.strerror}). Check its permissions.")

    notes = [file for file in files_below(path, on_error) if is_note(file)]
    return sorted(notes, key=lambda file: file.relative_to(path).as_posix())


def files_below(path: Path, on_error: Callable[[OSError], None] | None = None) -> list[Path]:
    """Returns all files below a folder except hidden ones. Calls `on_error` for folders that cannot be read."""
    found: list[Path] = []
    for folder, folders, names in os.walk(path, onerror=on_error):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(folder, name) for name in names if not name.startswith(".")]
    return found


def is_note(file: Path) -> bool:
    """True if the file has the suffix of a note."""
    return file.suffix.lower() == ".md"


def load(path: Path, errors: list[FileError] | None = None) -> Iterator[Record]:
    """Returns all nodes of the notes, then all edges. Adds notes that cannot be read to `errors`.

    A note that is only named by a relation or link becomes a node with `props["placeholder"]`. Raises InputError if
    the path does not exist.
    """
    base = path if path.is_dir() else path.parent
    notes: list[_Note] = []
    taken: set[str] = set()
    for file in note_files(path, errors):
        report = reporter(file, errors)
        try:
            meta, items, problem = parse_note(decode(read_bytes(file)))
        except (ReadError, ValueError) as e:
            report(str(e) if isinstance(e, ReadError) else "not UTF-8 text. Save the note as UTF-8 and import again.")
            continue
        if problem:
            report(problem)
        where = clean(file.relative_to(base).as_posix())
        title = _title(meta.get("title")) or _title(PurePosixPath(where).stem) or where
        notes.append(_Note(_note_id(title, meta, where, taken), where, title, meta, items))
    return iter(_records(notes))


def _note_id(title: str, meta: dict[str, Any], where: str, taken: set[str]) -> str:
    """Returns an id made from the title, so that a note replaces its placeholder.

    A second note of the same title gets an id from its permalink too, or from its path.
    """
    norm = norm_name(title)
    keys = [(norm,), (norm, norm_name(_text(meta.get("permalink")))), (norm, "", where)]
    free = next(one for one in (digest(FORMAT, "note", *key) for key in keys) if one not in taken)
    taken.add(free)
    return free


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) and value.strip() not in _NULLS else ""


def _title(value: object) -> str:
    joined = ", ".join(map(str, value)) if isinstance(value, list) else _text(value)
    return " ".join(joined.split())


def _words(value: object) -> list[str]:
    """Returns the items of a frontmatter list, which may also be written as the text `a, b`."""
    given = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return [_text(v) for v in given if _text(v)]


def _records(notes: list[_Note]) -> list[Record]:
    index = _index(notes)
    nodes: list[Record] = [_note_node(note) for note in notes]
    edges: list[Record] = []
    missing: dict[str, Node] = {}
    for note in notes:
        seen = Counter[tuple[str, ...]]()
        for seq, item in enumerate(note.items):
            if item.kind == "relation":
                edges.append(_relation(note, item, seq, _resolve(item.target, index, missing), seen))
                continue
            atom = _atom(note, item, seq, seen)
            nodes.append(atom)
            edges.append(_owner_edge(atom, note))
            ends = dict.fromkeys(_resolve(target, index, missing) for target in links(item.text))
            edges += [_link(atom, end) for end in ends if end != note.id]
    return [*nodes, *missing.values(), *edges]


def _index(notes: list[_Note]) -> dict[str, str]:
    """Maps the names that a link may use to note ids. Titles win over permalinks, then paths, then file names."""
    index: dict[str, str] = {}
    stems = {note.id: str(PurePosixPath(note.path).with_suffix("")) for note in notes}
    for note in notes:
        index.setdefault(norm_name(note.title), note.id)
    for note in notes:
        index.setdefault(norm_name(_text(note.meta.get("permalink"))), note.id)
    for note in notes:
        index.setdefault(norm_name(stems[note.id]), note.id)
    for note in notes:
        index.setdefault(norm_name(PurePosixPath(stems[note.id]).name), note.id)
    index.pop("", None)
    return index


def _resolve(target: str, index: dict[str, str], missing: dict[str, Node]) -> str:
    """Returns the id of the note that a link names. Adds a placeholder to `missing` if there is none."""
    page = target.removeprefix("memory://").split("|")[0].strip() or target
    bare = re.split(r"#(?=\S)", page)[0].strip() or page
    for name in (target, page, bare, bare.removesuffix(".md")):
        if norm_name(name) in index:
            return index[norm_name(name)]
    placeholder = Node(
        digest(FORMAT, "note", norm_name(bare)), "entity", bare, source=FORMAT, props={"placeholder": True}
    )
    return missing.setdefault(placeholder.id, placeholder).id


def _note_node(note: _Note) -> Node:
    kind, permalink = _text(note.meta.get("type")) or "note", _text(note.meta.get("permalink"))
    props: dict[str, Any] = {"path": note.path, "type": kind}
    if permalink:
        props["permalink"] = permalink
    if rest := {k: v for k, v in note.meta.items() if k not in _OWN_KEYS}:
        props["frontmatter"] = rest
    at = to_ms(note.meta.get("created")) or to_ms(note.meta.get("date")) or 0
    aliases = dict.fromkeys([permalink, *_words(note.meta.get("aliases"))])
    return Node(
        note.id,
        kind.casefold() if kind.casefold() in KINDS else "entity",
        note.title,
        aliases=tuple(a for a in aliases if a and norm_name(a) != norm_name(note.title)),
        tag_details=make_tags(_words(note.meta.get("tags"))),
        buckets=_buckets(note),
        source=_source(note),
        at=at,
        props=props,
        created=at,
        updated=to_ms(note.meta.get("modified")) or at,
    )


def _buckets(note: _Note) -> tuple[str, ...]:
    return norm_buckets(PurePosixPath(note.path).parts[:-1][:1])


def _source(note: _Note) -> str:
    # With a prefix: if the folder is also ingested, ingest must not treat these atoms as its own.
    return f"{FORMAT}/{note.path}"


def _atom(note: _Note, item: Item, seq: int, seen: Counter[tuple[str, ...]]) -> Node:
    key = (item.kind, item.category, item.text)
    props: dict[str, Any] = {"of": note.id}
    props |= {"category": item.category} if item.kind == "observation" else {"prose": True}
    props |= {"context": item.context} if item.context else {}
    props |= {"under": list(item.under)} if item.under else {}
    props |= {"glue": item.glue} if item.glue is not None else {}
    seen[key] += 1
    at = to_ms(note.meta.get("created")) or to_ms(note.meta.get("date")) or 0
    return Node(
        digest(FORMAT, note.id, *key, str(seen[key] - 1)),
        text=item.text,
        tag_details=make_tags([item.category, *hashtags(item.text)]),
        buckets=_buckets(note),
        source=_source(note),
        seq=seq,
        at=at,
        props=props,
        created=at,
        updated=at,
    )


def _owner_edge(atom: Node, note: _Note) -> Edge:
    if atom.props.get("prose"):
        return Edge(digest(FORMAT, "part_of", atom.id), atom.id, note.id, kind="part_of", weight=RELATION_WEIGHT)
    edge_id = digest(FORMAT, "observation", atom.id)
    return Edge(edge_id, atom.id, note.id, kind="observation", weight=OBSERVATION_WEIGHT)


def _link(atom: Node, end: str) -> Edge:
    return Edge(digest(FORMAT, "link", atom.id, end), atom.id, end, weight=LINK_WEIGHT, type="links_to")


def _relation(note: _Note, item: Item, seq: int, end: str, seen: Counter[tuple[str, ...]]) -> Edge:
    key = (item.kind, end, item.type, item.context)
    edge_id = digest(FORMAT, note.id, *key, str(seen[key]))
    seen[key] += 1
    props: dict[str, Any] = {"seq": seq, "target": item.target}
    props |= {"under": list(item.under)} if item.under else {}
    return Edge(edge_id, note.id, end, weight=RELATION_WEIGHT, type=item.type, text=item.context, props=props)


def dump(records: Iterable[Record], path: Path) -> int:
    """Writes one note per node into the folder; returns the number of notes. Other files in it stay.

    Records of other origin are exported too: their atoms become `[note]` observations, facts become observations or
    relations, and atoms without an owner go to one note, `memories.md`. Raises InputError.
    """
    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file. Give a folder for the notes.")
    graph = graph_view(records)
    loose = [node for node in graph.owners if node.kind == "atom" and not node.name]
    owners = [node for node in graph.owners if node.kind != "atom" or node.name]
    if loose:
        gathered = Node(digest(FORMAT, "memories"), "entity", "Memories", props={"type": "note"})
        owners.append(gathered)
        graph.parts[gathered.id] = loose
    items = {node.id: _items(node, graph) for node in owners}
    sources = {relation.src.id for relation in graph.relations}
    kept = [node for node in owners if items[node.id] or node.id in sources or not is_placeholder(node)]
    paths = _paths(kept)
    outgoing = _outgoing(graph, kept, paths)
    for node in kept:
        body = _sections(sorted(items[node.id] + outgoing.get(node.id, []), key=lambda pair: pair[0]))
        write_text(
            path / paths[node.id], render_note(_head(node, paths[node.id]), node.props.get("frontmatter") or {}, body)
        )
    return len(kept)


_Ordered = tuple[tuple[int, int], Item]
"""(sort key, item). The key is (0, position) for imported items, (1 or 2, number) for new ones."""


def _items(node: Node, graph: GraphView) -> list[_Ordered]:
    placed: list[_Ordered] = [((-1, 0), Item("prose", clean(node.text)))] if node.text.strip() else []
    for n, part in enumerate(graph.parts.get(node.id, [])):
        if not part.text.strip():
            continue
        own = "prose" in part.props or "category" in part.props
        placed.append(((0, part.seq) if own else (1, n), _part_item(part)))
    for n, fact in enumerate(graph.values.get(node.id, [])):
        if fact.value and fact.value.strip():
            placed.append(((1, len(graph.parts.get(node.id, [])) + n), _observation(fact.predicate, fact.value)))
    return placed


def _part_item(part: Node) -> Item:
    under = tuple(map(str, part.props.get("under") or ()))
    text = clean(part.text)
    if part.props.get("prose"):
        glue = part.props.get("glue")
        return Item("prose", text, under=under, glue=glue if isinstance(glue, str) else None)
    item = _observation(str(part.props.get("category", "note")), text)
    known = {tag.name for tag in make_tags([item.category, *hashtags(item.text)])}
    new = "".join(f" #{t.name}" for t in part.tag_details if t.origin == "user" and t.name not in known)
    tail = f" ({part.props['context']})" if part.props.get("context") else ""
    text = item.text.removesuffix(tail) + new + tail if tail and item.text.endswith(tail) else item.text + new
    return Item("observation", text, item.category, under=under)


def _observation(category: str, text: str) -> Item:
    category = re.sub(r"[\[\]()\s]+", " ", clean(category)).strip() if not is_category(category) else category
    lines = [line.rstrip(" \t") for line in clean(text).strip().split("\n")]
    return Item("observation", "\n".join(lines), category if is_category(category) else "note")


def _sections(placed: list[_Ordered]) -> Iterator[Item]:
    """Yields the items; the first new observation or relation after another kind of item gets the usual heading."""
    before: Item | None = None
    for (group, _), item in placed:
        if group > 0 and (before is None or before.kind != item.kind):
            item = replace(item, under=("## Observations" if item.kind == "observation" else "## Relations",))
        yield item
        before = item


def _outgoing(graph: GraphView, kept: list[Node], paths: dict[str, str]) -> dict[str, list[_Ordered]]:
    names = Counter(norm_name(label(node)) for node in kept)
    found: dict[str, list[_Ordered]] = {}
    for n, relation in enumerate(graph.relations):
        name = " ".join(label(relation.dst).split())
        if re.search(r"\[\[|\]\]|[|#]", name) or names[norm_name(name)] > 1:
            name = paths.get(relation.dst.id, ".md").removesuffix(".md") or re.sub(r"[\[\]|#]+", " ", name).strip()
        item, own = _relation_item(relation, name)
        key = (0, int(own["seq"])) if isinstance(own.get("seq"), int) and "target" in own else (2, n)
        found.setdefault(relation.src.id, []).append((key, item))
    return found


def _relation_item(relation: Relation, name: str) -> tuple[Item, Mapping[str, Any]]:
    """Returns the relation as an item of a note, and the props of its edge."""
    props = relation.edge.props if relation.edge else {}
    kind = " ".join(clean(relation.type).replace("[[", "[ [").split()) or "relates"
    context = " ".join(clean(relation.edge.text).split()) if relation.edge else ""
    if context and not one_group(f"({context})"):
        context = context.replace("(", "[").replace(")", "]")
    target = str(props.get("target") or name)
    under = tuple(map(str, props.get("under") or ()))
    return Item("relation", type=kind, target=target, context=context, under=under), props


def _head(node: Node, path: str) -> dict[str, Any]:
    head: dict[str, Any] = {"title": " ".join(label(node).split()), "type": str(node.props.get("type", node.kind))}
    # An imported note keeps its permalink; a new one gets the permalink that basic-memory would give it.
    permalink = node.props.get("permalink") or ("" if "path" in node.props else path.removesuffix(".md"))
    if permalink:
        head["permalink"] = str(permalink)
    if tags := [tag.display for tag in node.tag_details if tag.origin == "user"]:
        head["tags"] = tags
    created = to_iso(node.at)
    if created and "path" not in node.props:
        head["created"] = created
    return head


def _paths(nodes: list[Node]) -> dict[str, str]:
    """Returns a relative path per node: the imported one, or one made from its name. Paths differ in more than case."""
    paths: dict[str, str] = {}
    used: set[str] = set()
    for node in sorted(nodes, key=lambda n: "path" not in n.props):
        given = node.props.get("path")
        stem = _UNSAFE.sub("-", label(node)).strip("-").casefold()[:60] or "note"
        path = given if isinstance(given, str) and _is_safe(given) else f"{stem}.md"
        if path.casefold() in used:
            path = f"{path[:-3]}-{digest(node.id)[:8]}.md"
        used.add(path.casefold())
        paths[node.id] = path
    return paths


def _is_safe(path: str) -> bool:
    """True if the path stays inside the folder and would be imported again."""
    inside = not any(part[:1] in ("", ".") for part in path.split("/"))
    return inside and path.lower().endswith(".md") and not re.search(r"[\\:\x00]", path)
