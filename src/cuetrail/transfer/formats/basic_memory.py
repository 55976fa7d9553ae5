"""A basic-memory project: a folder of Markdown notes with observations and relations, or one such note.

A note becomes a node; each observation an atom tied to it, with its category and #tags as tags; each relation an edge
to the note it names; each paragraph an atom as well. Written back, notes keep their frontmatter, order and headings.
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
from cuetrail.model.tags import make_tags, norm_buckets
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
_NOTHING = ("", "~", "null")
_UNSAFE = re.compile(r"[^\w-]+")


@dataclass(frozen=True, slots=True)
class _Note:
    """One note as read. `path` is relative to the folder, with forward slashes."""

    id: str
    path: str
    title: str
    meta: dict[str, Any]
    items: list[Item]


def note_files(path: Path, errors: list[FileError] | None = None) -> list[Path]:
    """The notes under a folder, sorted, hidden files and folders left out; a file is its own list."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise InputError(f"There is no {path}. Give a note or the folder of a basic-memory project.")

    def closed(error: OSError) -> None:
        folder = Path(error.filename)
        reporter(folder, errors)(f"{folder} cannot be looked into ({error.strerror}). Check its permissions.")

    notes = [file for file in files_below(path, closed) if is_note(file)]
    return sorted(notes, key=lambda file: file.relative_to(path).as_posix())


def files_below(path: Path, on_closed: Callable[[OSError], None] | None = None) -> list[Path]:
    """All files under a folder but hidden ones and those in hidden folders. `on_closed` is told of what is closed."""
    found: list[Path] = []
    for folder, folders, names in os.walk(path, onerror=on_closed):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(folder, name) for name in names if not name.startswith(".")]
    return found


def is_note(file: Path) -> bool:
    """Whether its name is that of a note."""
    return file.suffix.lower() == ".md"


def load(path: Path, errors: list[FileError] | None = None) -> Iterator[Record]:
    """All nodes of the notes, then all edges. What cannot be read is left out and noted in `errors`.

    A note that only a relation or link names comes as a node with `props["placeholder"]`. Raises InputError when there
    is no such folder or file.
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
        notes.append(_Note(_identity(title, meta, where, taken), where, title, meta, items))
    return iter(_records(notes))


def _identity(title: str, meta: dict[str, Any], where: str, taken: set[str]) -> str:
    """A note is known by its title, so a placeholder turns into the note once that is written; twins by more."""
    norm = norm_name(title)
    keys = [(norm,), (norm, norm_name(_text(meta.get("permalink")))), (norm, "", where)]
    free = next(one for one in (digest(FORMAT, "note", *key) for key in keys) if one not in taken)
    taken.add(free)
    return free


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) and value.strip() not in _NOTHING else ""


def _title(value: object) -> str:
    joined = ", ".join(map(str, value)) if isinstance(value, list) else _text(value)
    return " ".join(joined.split())


def _words(value: object) -> list[str]:
    """A frontmatter list, also when it is written as `a, b`."""
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
            edges.append(_belongs(atom, note))
            ends = dict.fromkeys(_resolve(target, index, missing) for target in links(item.text))
            edges += [_link(atom, end) for end in ends if end != note.id]
    return [*nodes, *missing.values(), *edges]


def _index(notes: list[_Note]) -> dict[str, str]:
    """What a link may call a note, best first: title, permalink, path, file name."""
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
    """The id of the note a link names; a name nobody has gets a placeholder in `missing`."""
    page = target.removeprefix("memory://").split("|")[0].strip() or target
    bare = re.split(r"#(?=\S)", page)[0].strip() or page
    for name in (target, page, bare, bare.removesuffix(".md")):
        if norm_name(name) in index:
            return index[norm_name(name)]
    stand_in = Node(digest(FORMAT, "note", norm_name(bare)), "entity", bare, source=FORMAT, props={"placeholder": True})
    return missing.setdefault(stand_in.id, stand_in).id


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
    # Not the bare path: a folder that is also ingested must not see these atoms as its own.
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


def _belongs(atom: Node, note: _Note) -> Edge:
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
    """Write a note per node into the folder; the number of notes written comes back. Other files there stay.

    Records from elsewhere are taken too: their atoms become `[note]` observations, facts become observations or
    relations, and atoms that belong to nothing are gathered in one note, `memories.md`. Raises InputError.
    """
    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file. Give a folder for the notes.")
    seen = graph_view(records)
    loose = [node for node in seen.owners if node.kind == "atom" and not node.name]
    owners = [node for node in seen.owners if node.kind != "atom" or node.name]
    if loose:
        gathered = Node(digest(FORMAT, "memories"), "entity", "Memories", props={"type": "note"})
        owners.append(gathered)
        seen.parts[gathered.id] = loose
    items = {node.id: _items(node, seen) for node in owners}
    sources = {relation.src.id for relation in seen.relations}
    kept = [node for node in owners if items[node.id] or node.id in sources or not is_placeholder(node)]
    paths = _paths(kept)
    outgoing = _outgoing(seen, kept, paths)
    for node in kept:
        body = _sections(sorted(items[node.id] + outgoing.get(node.id, []), key=lambda pair: pair[0]))
        write_text(
            path / paths[node.id], render_note(_head(node, paths[node.id]), node.props.get("frontmatter") or {}, body)
        )
    return len(kept)


_Placed = tuple[tuple[int, int], Item]
"""((0, place in the note) for what was read from it, (1 or 2, n) for what is new, item)"""


def _items(node: Node, seen: GraphView) -> list[_Placed]:
    placed: list[_Placed] = [((-1, 0), Item("prose", clean(node.text)))] if node.text.strip() else []
    for n, part in enumerate(seen.parts.get(node.id, [])):
        if not part.text.strip():
            continue
        own = "prose" in part.props or "category" in part.props
        placed.append(((0, part.seq) if own else (1, n), _part_item(part)))
    for n, fact in enumerate(seen.values.get(node.id, [])):
        if fact.value and fact.value.strip():
            placed.append(((1, len(seen.parts.get(node.id, [])) + n), _observation(fact.predicate, fact.value)))
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


def _sections(placed: list[_Placed]) -> Iterator[Item]:
    """The items in order; new observations and relations get the usual heading unless they follow their like."""
    before: Item | None = None
    for (group, _), item in placed:
        if group > 0 and (before is None or before.kind != item.kind):
            item = replace(item, under=("## Observations" if item.kind == "observation" else "## Relations",))
        yield item
        before = item


def _outgoing(seen: GraphView, kept: list[Node], paths: dict[str, str]) -> dict[str, list[_Placed]]:
    names = Counter(norm_name(label(node)) for node in kept)
    found: dict[str, list[_Placed]] = {}
    for n, relation in enumerate(seen.relations):
        name = " ".join(label(relation.dst).split())
        if re.search(r"\[\[|\]\]|[|#]", name) or names[norm_name(name)] > 1:
            name = paths.get(relation.dst.id, ".md").removesuffix(".md") or re.sub(r"[\[\]|#]+", " ", name).strip()
        item, own = _relation_item(relation, name)
        place = (0, int(own["seq"])) if isinstance(own.get("seq"), int) and "target" in own else (2, n)
        found.setdefault(relation.src.id, []).append((place, item))
    return found


def _relation_item(relation: Relation, name: str) -> tuple[Item, Mapping[str, Any]]:
    """The relation as a line of a note, and the props of its edge."""
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
    # What was read from a note goes back as it was; a new note gets the permalink basic-memory itself would give it.
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
    """A relative path per node: where it was read from, or one made of its name; no two the same on any file system."""
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
    """Whether the path stays inside the folder and would be read again from there."""
    inside = not any(part[:1] in ("", ".") for part in path.split("/"))
    return inside and path.lower().endswith(".md") and not re.search(r"[\\:\x00]", path)
