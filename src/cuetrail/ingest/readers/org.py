"""Reads Org files: headings with tags, properties and timestamps, links, code blocks; also notes of org-roam."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field

from cuetrail.extract.links_and_tags import link_target_name
from cuetrail.ingest import split
from cuetrail.ingest.document import Document, Part, aliases, stem
from cuetrail.ingest.passages import compose
from cuetrail.text import document_dates
from cuetrail.text.normalise import clean

_HEADLINE = re.compile(r"^(\*{1,20})[ \t](.*)$")
# Runs of blanks are matched from their beginning only: a long one would otherwise be tried again from each blank.
_TAGS = re.compile(r"(?<![ \t])[ \t]++:([\w@#%:-]{1,400}):$")
_STATES = re.compile(r"^(TODO|NEXT|WAITING|HOLD|STARTED|DOING|SOMEDAY|DONE|CANCELLED|CANCELED)[ \t]+")
_PRIORITY = re.compile(r"^\[#[A-Z0-9]\][ \t]*")
_COOKIE = re.compile(r"(?<![ \t])[ \t]*+\[\d*(?:/\d*|%)\]")
_KEYWORD = re.compile(r"^[ \t]*#\+(\w[\w-]{0,40}):[ \t]*(.*)$")
_BEGIN = re.compile(r"^[ \t]*#\+begin_(\w{1,30})(?:[ \t]+(\S+))?.*$", re.IGNORECASE)
_DRAWER = re.compile(r"^[ \t]*:([\w-]{1,40}):[ \t]*$")
_PROPERTY = re.compile(r"^[ \t]*:([\w+-]{1,60}):[ \t]*(.*)$")
_PLANNING = re.compile(r"^[ \t]*(?:(?:SCHEDULED|DEADLINE|CLOSED):[ \t]*[<\[][^<>\[\]\n]{1,60}[>\]][ \t]*)+$")
_COMMENT = re.compile(r"^[ \t]*#(?:[ \t]|$)")
_STAMP = re.compile(
    r"[<\[](\d{4}-\d{2}-\d{2})(?:[ \t]+[^\W\d]{1,12}\.?)?(?:[ \t]+(\d{1,2}:\d{2}))?[^<>\[\]\n]{0,40}[>\]]"
)
_LINK = re.compile(r"\[\[([^\[\]\n]{1,500})\](?:\[([^\[\]\n]{1,500})\])?\]")
_WEB = re.compile(r"^(?:https?|mailto|ftp|doi|news|gnus|irc|shell|elisp|info|help|man|bbdb|attachment):", re.IGNORECASE)
_CODE = frozenset({"src", "example", "export"})
_HIDDEN_FIELDS = frozenset(
    {"id", "custom_id", "roam_aliases", "roam_tags", "roam_refs", "category", "style", "created"}
)
_MOST_TAGS = 1_000


@dataclass(slots=True)
class _Head:
    """A heading: its depth, words, tags, and its properties. The first has what stands above all headings."""

    level: int = 0
    words: str = ""
    tags: tuple[str, ...] = ()
    fields: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Reading:
    """A file while it is read: the parts so far, the headings above, and what was left out."""

    parts: list[Part] = field(default_factory=list)
    heads: list[_Head] = field(default_factory=lambda: [_Head()])
    prose: list[str] = field(default_factory=list)
    keywords: dict[str, list[str]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    headings: int = 0
    ends: list[int] = field(default_factory=list)

    def end_of_drawer(self, start: int) -> int | None:
        """Returns the number of the next line `:END:`; None if there is none."""
        at = bisect_left(self.ends, start)
        return self.ends[at] if at < len(self.ends) else None

    def tags(self) -> tuple[str, ...]:
        """Returns the tags of the headings above, which the text below inherits."""
        return tuple(dict.fromkeys(tag for head in self.heads for tag in head.tags))[:_MOST_TAGS]


def read(text: str, source: str) -> Document:
    """Returns an Org file as one document of kind `note`."""
    lines = text.split("\n")
    found = _Reading(ends=[number for number, line in enumerate(lines) if line.strip().upper() == ":END:"])
    at = 0
    while at < len(lines):
        at = _take(found, lines, at)
    _end_prose(found)
    words = {name: " ".join(values) for name, values in found.keywords.items()}
    top = found.heads[0].fields
    title = _plain(words.get("title", "")) or stem(source)
    given = re.findall(r'"([^"]{1,200})"|(\S+)', top.get("roam_aliases", "") or words.get("roam_alias", ""))
    tags = [*words.get("filetags", "").replace(":", " ").split(), *words.get("roam_tags", "").split()]
    names = [*(quoted or word for quoted, word in given), *([f"id:{top['id']}"] if top.get("id") else [])]
    stated = (_time(words.get("date", "")), _time(top.get("created", "")), document_dates.from_name(stem(source)))
    document = Document(
        path=source, title=title, kind="note", aliases=aliases(source, title, names), tags=tuple(tags),
        at=next((time for time in stated if time is not None), None),
        props={key: value for key, value in top.items() if value and key not in _HIDDEN_FIELDS},
        read={"org files": 1, "headings": found.headings}, left_out=dict(found.left_out),
    )  # fmt: skip
    return compose(document, found.parts)


def _take(found: _Reading, lines: list[str], at: int) -> int:
    """Takes the line at this position, and those that belong to it; returns the position of the next one."""
    line = lines[at]
    if head := _HEADLINE.match(line):
        _end_prose(found)
        return at + _take_heading(found, lines, at, head)
    if begin := _BEGIN.match(line):
        return _take_block(found, lines, at, begin)
    if drawer := _DRAWER.match(line):
        end = found.end_of_drawer(at)
        if end is not None:
            if drawer[1].upper() == "PROPERTIES" and not found.headings:
                _properties(found.heads[0], lines[at + 1 : end])
            else:
                found.left_out["drawers"] += 1
            return end + 1
    if keyword := _KEYWORD.match(line):
        found.keywords.setdefault(keyword[1].lower(), []).append(keyword[2].strip())
    elif _COMMENT.match(line):
        found.left_out["comments"] += 1
    else:
        found.prose.append(line)
    return at + 1


def _take_heading(found: _Reading, lines: list[str], at: int, match: re.Match[str]) -> int:
    """Takes a heading with its planning line and its properties; returns how many lines these are."""
    line = match[2].rstrip(" \t")
    tags = _TAGS.search(line)
    words = _COOKIE.sub("", _PRIORITY.sub("", (line[: tags.start()] if tags else line).lstrip(" \t")))
    state = _STATES.match(words)
    words = _PRIORITY.sub("", words[state.end() :] if state else words)
    head = _Head(len(match[1]), _plain(words), tuple(tag for tag in (tags[1] if tags else "").split(":") if tag))
    taken, planned = 1, ""
    if at + taken < len(lines) and _PLANNING.match(lines[at + taken]):
        planned = lines[at + taken].strip()
        taken += 1
    if at + taken < len(lines) and lines[at + taken].strip().upper() == ":PROPERTIES:":
        end = found.end_of_drawer(at + taken)
        if end is not None:
            _properties(head, lines[at + taken + 1 : end])
            taken = end - at + 1
    found.headings += 1
    found.heads = [one for one in found.heads if one.level < head.level]
    found.heads.append(head)
    names = tuple(f"{kind}:{head.fields[key]}" for kind, key in (("id", "id"),) if head.fields.get(key))
    _, links = _linked(words)
    if head.words:
        found.parts.append(Part(head.words, level=min(head.level, 6), props={"heading": head.words}, tags=found.tags(),
                                links=links, at=_time(planned)))  # fmt: skip
    fields = [f"{key.lower()}: {value}" for key, value in head.fields.items() if value and key not in _HIDDEN_FIELDS]
    state_line = [f"{state[1]}: {head.words}"] if state else []
    text = "\n".join([*state_line, *([_STAMP.sub(_shown, planned)] if planned else []), *fields])
    if text or names:
        # A task, and a heading that others link to, are read alone even if nothing stands below them.
        found.parts.append(Part(text or head.words, tags=found.tags(), links=links, aliases=names, at=_time(planned)))
    return taken


def _properties(head: _Head, lines: list[str]) -> None:
    for line in lines:
        if field_ := _PROPERTY.match(line):
            head.fields[field_[1].lower()] = clean(field_[2].rstrip(" \t"))


def _take_block(found: _Reading, lines: list[str], at: int, begin: re.Match[str]) -> int:
    kind = begin[1].lower()
    closing = f"#+end_{kind}"
    end = next((n for n in range(at + 1, len(lines)) if lines[n].strip().lower() == closing), len(lines))
    inner = lines[at + 1 : end]
    if kind == "comment":
        found.left_out["comments"] += 1
    elif kind in _CODE:
        _end_prose(found)
        language = (begin[2] or "") if kind == "src" else ""
        for piece in split.lines("\n".join(inner), split.CODE):
            text = f"```{language}\n{piece}\n```"
            found.parts.append(
                Part(text, prose=False, tags=found.tags(), props={"language": language} if language else {})
            )
    else:
        found.prose += inner
    return end + 1


def _end_prose(found: _Reading) -> None:
    text = "\n".join(found.prose)
    found.prose = []
    if not text.strip():
        return
    for piece in split.prose(text):
        plain, links = _linked(piece)
        shown = _STAMP.sub(_shown, plain)
        if shown.strip():
            found.parts.append(Part(shown, tags=found.tags(), links=links, at=_time(piece)))


def _linked(text: str) -> tuple[str, tuple[str, ...]]:
    """Returns the text with the words of its links, and the names of the notes and headings these lead to."""
    links = tuple(name for target, _ in _LINK.findall(text) if (name := _target(target)))
    return _LINK.sub(lambda m: m[2] or (_target(m[1]) if not m[1].startswith("id:") else "") or m[1], text), links


def _target(target: str) -> str:
    target = target.strip()
    if target.startswith("id:"):
        return target
    if target.startswith("file:"):
        return link_target_name(target[5:].split("::", 1)[0])
    if _WEB.match(target) or target.startswith("#"):
        return ""
    if target.startswith(("./", "../", "/", "~")):
        return link_target_name(target.split("::", 1)[0])
    return target.removeprefix("*").removeprefix("roam:").strip()


def _plain(words: str) -> str:
    return clean(_linked(words)[0]).strip()


def _shown(match: re.Match[str]) -> str:
    return f"{match[1]} {match[2]}" if match[2] else match[1]


def _time(text: str) -> int | None:
    stamp = _STAMP.search(text)
    if stamp is None:
        return document_dates.first(text) if text and len(text) < 60 else None
    hour = f"T{stamp[2].zfill(5)}" if stamp[2] else ""
    return document_dates.first(f"{stamp[1]}{hour}")
