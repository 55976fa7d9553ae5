"""Imports and exports basic-memory: a folder of Markdown notes with observations and relations, or one such note.

    ---
    title: Tea
    permalink: tea
    ---
    ## Observations
    - [method] Pour at 80 degrees #brewing (green tea)

    ## Relations
    - grows_in [[Darjeeling]] (first flush)

A note becomes a node. Each observation and each paragraph becomes an atom connected to it, with category and #tags as
tags. Each relation becomes an edge to the note it names. Exported notes keep their frontmatter, order and headings:
rendering the items of a note and parsing them again gives the same items.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import yaml

from cuetrail.errors import InputError, ReadError
from cuetrail.files import is_special
from cuetrail.model import Edge, FileError, Node
from cuetrail.model.ids import digest
from cuetrail.model.tags import make_tags, norm_buckets
from cuetrail.store.read import Record
from cuetrail.text.normalise import clean, norm_name
from cuetrail.text.prose import split_sentences
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
from cuetrail.transfer.formats.text_files import cleaned, decode_utf, read_bytes, reporter, to_iso, to_ms, write_text

# --- the text of a note as items, and back

LONG = 800
"""A paragraph with more characters is cut into several items, at sentence ends."""

_BULLET = re.compile(r"^([ \t]*)([-*+]|\d{1,9}[.)])[ \t]+(.*)$")
_DASH = re.compile(r"[ \t]*[-*+][ \t]+")
_NUMBER = re.compile(r"\d{1,9}[.)]")
_CATEGORY = re.compile(r"^\[([^\[\]()]+)\][ \t]+(.+)$")
_CLOCK = re.compile(r"\d{1,3}:\d{2}(:\d{2})?([.,]\d{1,3})?([ \t]+-[ \t]+[\d:.,]+)?")
_HEADING = re.compile(r"^#{1,6}[ \t]+\S")
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})")
# A task, a link, or the brackets of a category that is none.
_NO_OBSERVATION = re.compile(r"\[")
_CONTEXT = re.compile(r"\(([^()]+)\)$")
_LINK = re.compile(r"\[\[([^\[\]]+)\]\]")
_CODE = re.compile(r"(?ms)^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1|\Z)|`[^`\n]*`")
_ESCAPED = re.compile(r"^([ \t]*)\\(\\*[-*+][ \t])")
_NEEDS_ESCAPE = re.compile(r"^([ \t]*)(\\*[-*+][ \t])")
_QUOTES = ('"', "'")


@dataclass(frozen=True, slots=True)
class NoteItem:
    """A paragraph, an observation or a relation, in the order of the note.

    `text` of an observation is all that follows its category, with tags and context. `under` are the headings before
    the item that have no text of their own; the text of a paragraph includes its headings. `glue` is the white space
    between a piece of a long paragraph and the piece before it. `mark` stands before an observation: "-", or its
    number. An observation without a category has a #tag.
    """

    kind: Literal["prose", "observation", "relation"]
    text: str = ""
    category: str = ""
    type: str = ""
    target: str = ""
    context: str = ""
    under: tuple[str, ...] = ()
    glue: str | None = None
    mark: str = "-"


def parse_note(text: str) -> tuple[dict[str, Any], list[NoteItem], str | None]:
    """Returns (frontmatter, items, problem). Frontmatter values are texts, lists and mappings of texts.

    The problem describes broken frontmatter; the note is then parsed as if it had none.
    """
    text = clean(text)
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return {}, parse_body(text), None
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), None)
    if end is None:
        return {}, parse_body(text), None
    try:
        meta = _frontmatter("\n".join(lines[1:end]))
    except (yaml.YAMLError, ValueError, RecursionError) as e:
        problem = str(e).split("\n")[0] or "nested too deeply"
        return {}, parse_body(text), f"broken frontmatter ({problem}); read as plain text. Correct it and import again."
    return meta, parse_body("\n".join(lines[end + 1 :])), None


def _frontmatter(text: str) -> dict[str, Any]:
    # BaseLoader makes texts, lists and mappings only. Aliases are refused: a few lines could expand to gigabytes.
    if "*" in text and any(isinstance(e, yaml.AliasEvent) for e in yaml.parse(text, Loader=yaml.BaseLoader)):
        raise ValueError("it uses YAML aliases")
    value = yaml.load(text, Loader=yaml.BaseLoader)
    if not isinstance(value, dict):
        if value in (None, ""):
            return {}
        raise ValueError("it is not a list of keys and values")
    return {clean(str(key)): cleaned(one) for key, one in value.items()}


def parse_body(body: str) -> list[NoteItem]:
    """Returns the items of a note's body, in order. Blank lines and the indentation of observations are lost.

    Below a heading `Relations` the type of a relation may have several words without quotes.
    """
    lines = [line.rstrip(" \t") for line in body.split("\n")]
    items: list[NoteItem] = []
    heads: list[str] = []
    prose: list[str] = []
    at, section = 0, ""
    while at < len(lines):
        line = lines[at]
        step = _fence_length(lines, at)
        item = None if step else _list_item(line, loose=section == "relations")
        if step:
            prose += lines[at : at + step]
        elif item or not line or _HEADING.match(line):
            items += _paragraph(heads, prose)
            prose = []
            if line and not item:
                heads.append(line)
                section = line.strip("# \t").casefold()
        else:
            prose.append(line)
        if item:
            more = _continuation(lines, at) if item.kind == "observation" else []
            items.append(replace(item, under=tuple(heads), **_observed([item.text, *more], item)))
            heads = []
            step = 1 + len(more)
        at += step or 1
    items += _paragraph(heads, prose) or _paragraph([], ["\n\n".join(heads)] if heads else [])
    return items


def _observed(lines: list[str], item: NoteItem) -> dict[str, Any]:
    """Returns the fields of an observation that depend on all its lines: the text, and the context at its end."""
    if item.kind != "observation":
        return {}
    text = "\n".join(lines)
    context = _CONTEXT.search(text)
    return {"text": text, "context": context[1].strip() if context else ""}


def _paragraph(heads: list[str], lines: list[str]) -> list[NoteItem]:
    """Returns the lines as prose items; [] if they are blank. The first one begins with the headings in `heads`, which
    is cleared.
    """
    if not any(line.strip() for line in lines):
        return []
    pieces = split_long("\n".join(lines).rstrip("\n"))
    first = "\n\n".join([*heads, pieces[0][1]])
    heads.clear()
    return [NoteItem("prose", first), *(NoteItem("prose", piece, glue=glue) for glue, piece in pieces[1:])]


def split_long(text: str) -> list[tuple[str, str]]:
    """Splits a long text at sentence ends. Returns pairs of (white space before, piece); joined, they are the text."""
    if len(text) <= LONG or "```" in text or "~~~" in text:
        return [("", text)]
    pieces: list[tuple[str, str]] = []
    glue = ""
    for sentence in split_sentences(text):
        words = sentence.rstrip()
        if pieces and len(pieces[-1][1]) + len(glue) + len(words) <= LONG:
            pieces[-1] = (pieces[-1][0], pieces[-1][1] + glue + words)
        else:
            pieces.append((glue, words))
        glue = sentence[len(words) :]
    return pieces


def _fence_length(lines: Sequence[str], at: int) -> int:
    """Returns the number of lines of the code fence that opens here, 0 if none does. Unclosed, it runs to the end."""
    opening = _FENCE.match(lines[at])
    if not opening:
        return 0
    for end in range(at + 1, len(lines)):
        line = lines[end].strip(" \t")
        if line.startswith(opening[1]) and not line.strip(opening[1][0]):
            return end - at + 1
    return len(lines) - at


def _list_item(line: str, loose: bool) -> NoteItem | None:
    """Returns the observation or relation on this line, or None for tasks, clock times and any other line."""
    bullet = _BULLET.match(line)
    if not bullet:
        return None
    mark, content = bullet[2] if _NUMBER.fullmatch(bullet[2]) else "-", bullet[3]
    observed = _CATEGORY.match(content)
    if observed and is_category(observed[1]) and observed[2].strip():
        return NoteItem("observation", observed[2], category=observed[1].strip(), mark=mark)
    before, _, rest = content.partition("[[")
    target, closed, after = (part.strip() for part in rest.partition("]]"))
    kind = _relation_type(before.strip(), loose)
    if kind and target and closed and (not after or one_group(after)) and mark == "-":
        return NoteItem("relation", type=kind, target=target, context=after[1:-1].strip())
    if not _NO_OBSERVATION.match(content) and hashtags(content):
        return NoteItem("observation", content, mark=mark)
    return None


def is_category(text: str) -> bool:
    """True if the text in brackets is a category, not a task mark or a clock time."""
    text = text.strip()
    if not text or _CLOCK.fullmatch(text) or re.search(r"[\[\]()\n]", text):
        return False
    return len(text) > 1 or (text.isalnum() and text not in ("x", "X"))


def _relation_type(before: str, loose: bool) -> str:
    """Returns the relation type in the text before a link: one word, several in quotes, or any text if `loose`; "" if
    it is prose.
    """
    if len(before) > 2 and before[0] in _QUOTES and before[-1] == before[0]:
        return before[1:-1].strip()
    return "" if (re.search(r"\s", before) and not loose) or before.startswith("[") else before


def one_group(text: str) -> bool:
    """True if the text is one balanced pair of parentheses that is not empty."""
    depth = 0
    for n, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth <= 0:
            return n == len(text) - 1 and n > 0 and bool(text[1:-1].strip())
    return False


def _continuation(lines: Sequence[str], at: int) -> list[str]:
    """Returns the continuation lines of the list item at `at`: indented and blank lines up to the next item."""
    indent = _width(lines[at])
    more: list[str] = []
    for line in map(lines.__getitem__, range(at + 1, len(lines))):
        if line and (line[0] not in " \t" or _DASH.match(line)):
            break
        more.append(_ESCAPED.sub(r"\1\2", _dedent(line, indent + 2)))
    while more and not more[-1].strip():
        more.pop()
    return more


def _width(line: str) -> int:
    return sum(4 if c == "\t" else 1 for c in line[: len(line) - len(line.lstrip(" \t"))])


def _dedent(line: str, width: int) -> str:
    while width > 0 and line[:1] in (" ", "\t"):
        width -= 4 if line[0] == "\t" else 1
        line = line[1:]
    return line


def hashtags(text: str) -> list[str]:
    """Returns the #tags of a text outside of code; numbers such as #12 do not count."""
    words = (word for word in _CODE.sub(" ", text).split() if word.startswith("#"))
    tags = (tag.rstrip(".,;:!?)]}\"'") for word in words for tag in word.split("#"))
    return [tag for tag in tags if any(c.isalpha() for c in tag)]


def links(text: str) -> list[str]:
    """Returns the targets of the [[links]] of a text outside of code."""
    return [target.strip() for target in _LINK.findall(_CODE.sub(" ", text)) if target.strip()]


class _PlainDumper(yaml.SafeDumper):
    """A YAML dumper that does not quote texts that look like numbers: `count: 5` for the text "5"."""

    yaml_implicit_resolvers = {}  # noqa: RUF012  pyyaml looks it up on the class


def render_note(head: Mapping[str, Any], rest: Mapping[str, Any], items: Iterable[NoteItem]) -> str:
    """Returns the note as Markdown. `head` and `rest` are its frontmatter: in `head` texts that YAML would misread are
    quoted, in `rest` nothing is, because it was imported like that.
    """
    top = yaml.safe_dump(dict(head), allow_unicode=True, sort_keys=False, width=10**9)
    if rest:
        top += yaml.dump(dict(rest), Dumper=_PlainDumper, allow_unicode=True, sort_keys=False, width=10**9)
    body = "".join(_blocks(items))
    return f"---\n{top}---\n" + (f"\n{body}\n" if body else "")


def _blocks(items: Iterable[NoteItem]) -> Iterator[str]:
    before: NoteItem | None = None
    for item in items:
        if before is not None:
            near = item.kind == before.kind != "prose" and not item.under
            yield item.glue if item.glue is not None and before.kind == "prose" else "\n" if near else "\n\n"
        if item.under:
            yield "\n\n".join(item.under) + "\n"
        yield render_item(item)
        before = item


def render_item(item: NoteItem) -> str:
    """Returns the item as Markdown."""
    if item.kind == "prose":
        return item.text
    if item.kind == "relation":
        quoted = re.search(r"\s", item.type) or item.type[:1] in (*_QUOTES, "[")
        kind = f'"{item.type}"' if quoted else item.type
        return f"- {kind} [[{item.target}]]" + (f" ({item.context})" if item.context else "")
    first, *more = item.text.split("\n")
    further = [_NEEDS_ESCAPE.sub(r"\1\\\2", line) for line in more]
    category = f"[{item.category}] " if item.category else ""
    return "\n".join([f"{item.mark} {category}{first}", *(f"  {line}" if line else "" for line in further)])


# --- import and export

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
    items: list[NoteItem]


def note_files(path: Path, errors: list[FileError] | None = None) -> list[Path]:
    """Returns the notes below a folder, sorted and without hidden ones; for a file, only that. Folders that cannot be
    read are added to `errors`. Raises InputError for a missing path.
    """
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
    """Returns all files below a folder except hidden ones, pipes and devices. Calls `on_error` for folders that cannot
    be read.
    """
    found: list[Path] = []
    for folder, folders, names in os.walk(path, onerror=on_error):
        folders[:] = [name for name in folders if not name.startswith(".")]
        shown = (Path(folder, name) for name in names if not name.startswith("."))
        found += [file for file in shown if not is_special(file)]
    return found


def is_note(file: Path) -> bool:
    """True if the file has the suffix .md."""
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
            meta, items, problem = parse_note(decode_utf(read_bytes(file)))
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
    names: tuple[Callable[[_Note], str], ...] = (
        lambda note: note.title, lambda note: _text(note.meta.get("permalink")), lambda note: stems[note.id],
        lambda note: PurePosixPath(stems[note.id]).name,
    )  # fmt: skip
    for name_of in names:
        for note in notes:
            index.setdefault(norm_name(name_of(note)), note.id)
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
        note.id, kind.casefold() if kind.casefold() in KINDS else "entity", note.title,
        aliases=tuple(a for a in aliases if a and norm_name(a) != norm_name(note.title)),
        tag_details=make_tags(_words(note.meta.get("tags"))), buckets=_buckets(note), source=_source(note),
        at=at, props=props, created=at, updated=to_ms(note.meta.get("modified")) or at,
    )  # fmt: skip


def _buckets(note: _Note) -> tuple[str, ...]:
    return norm_buckets(PurePosixPath(note.path).parts[:-1][:1])


def _source(note: _Note) -> str:
    # With a prefix: if the folder is also ingested, ingest must not treat these atoms as its own.
    return f"{FORMAT}/{note.path}"


def _atom(note: _Note, item: NoteItem, seq: int, seen: Counter[tuple[str, ...]]) -> Node:
    key = (item.kind, item.category, item.text)
    props: dict[str, Any] = {"of": note.id} | ({"mark": item.mark} if item.mark != "-" else {})
    props |= {"category": item.category} if item.kind == "observation" else {"prose": True}
    props |= {"context": item.context} if item.context else {}
    props |= {"under": list(item.under)} if item.under else {}
    props |= {"glue": item.glue} if item.glue is not None else {}
    seen[key] += 1
    at = to_ms(note.meta.get("created")) or to_ms(note.meta.get("date")) or 0
    return Node(
        digest(FORMAT, note.id, *key, str(seen[key] - 1)), text=item.text,
        tag_details=make_tags([*([item.category] if item.category else []), *hashtags(item.text)]),
        buckets=_buckets(note), source=_source(note),
        seq=seq, at=at, props=props, created=at, updated=at,
    )  # fmt: skip


def _owner_edge(atom: Node, note: _Note) -> Edge:
    if atom.props.get("prose"):
        return Edge(digest(FORMAT, "part_of", atom.id), atom.id, note.id, kind="part_of", weight=RELATION_WEIGHT)
    edge_id = digest(FORMAT, "observation", atom.id)
    return Edge(edge_id, atom.id, note.id, kind="observation", weight=OBSERVATION_WEIGHT)


def _link(atom: Node, end: str) -> Edge:
    return Edge(digest(FORMAT, "link", atom.id, end), atom.id, end, weight=LINK_WEIGHT, type="links_to")


def _relation(note: _Note, item: NoteItem, seq: int, end: str, seen: Counter[tuple[str, ...]]) -> Edge:
    key = (item.kind, end, item.type, item.context)
    edge_id = digest(FORMAT, note.id, *key, str(seen[key]))
    seen[key] += 1
    props: dict[str, Any] = {"seq": seq, "target": item.target}
    props |= {"under": list(item.under)} if item.under else {}
    return Edge(edge_id, note.id, end, weight=RELATION_WEIGHT, type=item.type, text=item.context, props=props)


def dump(records: Iterable[Record], path: Path) -> int:
    """Writes one note per node into the folder; returns the number of notes. Other files in it stay.

    Records of other origin are exported too: their atoms become `[note]` observations, facts become observations or
    relations, and atoms without an owner go to one note, `memories.md`. Raises InputError if the folder is a file, or
    cannot be written.
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


_Ordered = tuple[tuple[int, int], NoteItem]
"""(sort key, item). The key is (0, position) for imported items, (1 or 2, number) for new ones."""


def _items(node: Node, graph: GraphView) -> list[_Ordered]:
    placed: list[_Ordered] = [((-1, 0), NoteItem("prose", clean(node.text)))] if node.text.strip() else []
    for n, part in enumerate(graph.parts.get(node.id, [])):
        if not part.text.strip():
            continue
        own = "prose" in part.props or "category" in part.props
        placed.append(((0, part.seq) if own else (1, n), _part_item(part)))
    for n, fact in enumerate(graph.values.get(node.id, [])):
        if fact.value and fact.value.strip():
            placed.append(((1, len(graph.parts.get(node.id, [])) + n), _observation(fact.predicate, fact.value)))
    return placed


def _part_item(part: Node) -> NoteItem:
    under = tuple(map(str, part.props.get("under") or ()))
    text = clean(part.text)
    if part.props.get("prose"):
        glue = part.props.get("glue")
        return NoteItem("prose", text, under=under, glue=glue if isinstance(glue, str) else None)
    item = _observation(str(part.props.get("category", "note")), text)
    known = {tag.name for tag in make_tags([item.category, *hashtags(item.text)])}
    new = "".join(f" #{t.name}" for t in part.tag_details if t.origin == "user" and t.name not in known)
    tail = f" ({part.props['context']})" if part.props.get("context") else ""
    text = item.text.removesuffix(tail) + new + tail if tail and item.text.endswith(tail) else item.text + new
    mark = str(part.props.get("mark", "-"))
    bare = part.props.get("category") == "" and not _NO_OBSERVATION.match(text) and bool(hashtags(text.split("\n")[0]))
    return NoteItem(
        "observation", text, "" if bare else item.category, under=under, mark=mark if _NUMBER.fullmatch(mark) else "-"
    )


def _observation(category: str, text: str) -> NoteItem:
    category = re.sub(r"[\[\]()\s]+", " ", clean(category)).strip() if not is_category(category) else category
    lines = [line.rstrip(" \t") for line in clean(text).strip().split("\n")]
    return NoteItem("observation", "\n".join(lines), category if is_category(category) else "note")


def _sections(placed: list[_Ordered]) -> Iterator[NoteItem]:
    """Yields the items. The first new observation or relation after another kind of item gets the heading
    "Observations" or "Relations".
    """
    before: NoteItem | None = None
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


def _relation_item(relation: Relation, name: str) -> tuple[NoteItem, Mapping[str, Any]]:
    """Returns the relation as an item of a note, and the props of its edge."""
    props = relation.edge.props if relation.edge else {}
    kind = " ".join(clean(relation.type).replace("[[", "[ [").split()) or "relates"
    context = " ".join(clean(relation.edge.text).split()) if relation.edge else ""
    if context and not one_group(f"({context})"):
        context = context.replace("(", "[").replace(")", "]")
    target = str(props.get("target") or name)
    under = tuple(map(str, props.get("under") or ()))
    return NoteItem("relation", type=kind, target=target, context=context, under=under), props


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
    """True if a file at this path is inside the exported folder, and an import would read it: Markdown, not hidden."""
    inside = not any(part[:1] in ("", ".") for part in path.split("/"))
    return inside and path.lower().endswith(".md") and not re.search(r"[\\:\x00]", path)
