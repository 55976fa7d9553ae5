"""Results as text for people. Pure: each function gives back what to print."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from cuetrail.model import (
        Activation,
        Edge,
        Fact,
        FileError,
        Hit,
        Hop,
        IngestReport,
        Neighbour,
        Node,
        Recollection,
        Stats,
        Version,
    )
    from cuetrail.recall.narrative import Narrative
    from cuetrail.transfer.import_file import ImportReport

ERRORS_SHOWN = 20
SHORT = 8
_DIGEST = re.compile(r"[0-9a-f]{32}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FOUND_BY = {
    "text": "words", "vector": "meaning", "labels": "tags and buckets", "energy": "energy along links",
    "named": "its name in the cue", "walk": "a way to it", "link": "being named there", "hop": "a rare name it shares",
    "left": "words that the best lack", "further": "a search on from the best", "when": "its time",
}  # fmt: skip
_PARTS = {"bm25": "words", "cosine": "meaning"}
# Parts of a score that are told in words of their own.
_FACTORS = ("tag_boost", "provenance")
_READINGS = {
    "nouns": "by its nouns and dates alone",
    "names": "by its proper nouns and dates alone",
    "typos": "with typos forgiven",
}


def count(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun.

    >>> count(1, "file"), count(2000, "memory", "memories")
    ('1 file', '2,000 memories')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def when(ms: int) -> str:
    """A time in UTC as short as it can be; the number itself where no calendar has it."""
    try:
        time = _EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        return str(ms)
    return f"{time:%Y-%m-%d}" if (time.hour, time.minute, time.second) == (0, 0, 0) else f"{time:%Y-%m-%d %H:%M}"


def title(node: Node, width: int = 70) -> str:
    """What to call a node: its name, else the start of its text, else its id."""
    from cuetrail.text.normalise import snippet

    return node.name or snippet(node.text, width) or node.id


def short(id_: str) -> str:
    """Enough of an id to name its node by; ids that people chose stay whole.

    >>> short("6b36198f5df82cee3802573ee1339927"), short("mem0:1")
    ('6b36198f', 'mem0:1')
    """
    return id_[:SHORT] if _DIGEST.fullmatch(id_) else id_


def tags(names: Iterable[str]) -> str:
    """Tags as people write them."""
    return " ".join(f"#{name}" for name in names)


# --- recall


def unanswered(found: Recollection, fuzzy: bool) -> str:
    """What to say when nothing can be shown."""
    if found.answerable:
        return "something is remembered on this, but the budget is too small to show it"
    words = ", ".join(found.looked_for)
    if not words:
        return "nothing to look for: give a word or two"
    forgiven = fuzzy or any(attempt.query.mend for attempt in found.attempts)
    hint = "" if forgiven else " (--fuzzy forgives typos)"
    return f"nothing is remembered on this; looked for: {words}{hint}"


def reading(found: Recollection) -> list[str]:
    """What to say where the cue as it is found too little."""
    way = _READINGS.get(found.attempt)
    return [f"little has these words; the cue was read {way}"] if way and found.hits else []


def explained(found: Recollection) -> str:
    """Every hit with a drawing of why it is there."""
    width = min(shutil.get_terminal_size().columns, 100)
    hits = [_hit(number, hit, found.looked_for, width) for number, hit in enumerate(found.hits, 1)]
    return "\n\n".join(hits)


def _hit(number: int, hit: Hit, looked_for: Sequence[str], width: int) -> str:
    from cuetrail.text.normalise import snippet

    node = hit.node
    head = f"{number:>2}  {click.style(node.name or PurePath(node.source or node.id).name, bold=True)}  {hit.score:.3f}"
    lines = textwrap.wrap(snippet(node.text, 3 * (width - 4)), width - 4)
    reasons = list(_reasons(hit, looked_for))
    drawn = [
        click.style(f"{'└' if at == len(reasons) else '├'}─ {label:<10} {reason}", dim=True)
        for at, (label, reason) in enumerate(reasons, 1)
    ]
    return "\n".join([head, *(f"    {line}" for line in (*lines, *drawn))])


def _reasons(hit: Hit, looked_for: Sequence[str]) -> Iterable[tuple[str, str]]:
    why = hit.why
    yield "found by", " and ".join(_FOUND_BY.get(way, way) for way in why.get("found_by", ())) or "association"
    if why.get("terms"):
        yield "has", ", ".join(why["terms"])
    for name, part in why.get("parts", {}).items():
        if part is not None and name not in _FACTORS:
            every = ", every word of the cue" if name == "bm25" and why.get("all_terms") else ""
            label = _PARTS.get(name, name)
            yield label, f"{part:.3f}" if label == name else f"{name} {part:.3f}{every}"
    if why.get("tag_boost"):
        yield "tags", f"{tags(matched(hit.node.tags, looked_for) or hit.node.tags)} matched, x2"
    if why.get("parts", {}).get("provenance", 1) != 1:
        yield "provenance", f"{why['provenance']}, x{why['parts']['provenance']:g}"
    if shared := why.get("shared"):
        yield "shares", ", ".join(f"{_label(one)} {one['idf']:.2f}" for one in shared)
        yield "with", ", ".join(map(short, why["anchors"]))
    if why.get("tags"):
        yield "fits", tags(why["tags"])
    if path := why.get("path"):
        start = f"{short(path[0]['src'])} → " if "energy" in path[0] else ""
        yield "path", start + " → ".join(_hop(hop) for hop in path)
    if why.get("repeats"):
        yield "repeats", f"{short(why['repeats'])}, and keeps half of its score"
    yield "id", short(hit.node.id)
    yield "from", ", ".join(filter(None, (hit.node.source, when(hit.node.at))))


def matched(names: Iterable[str], looked_for: Sequence[str]) -> list[str]:
    """The tags that a word of the cue names, whole or in part.

    >>> matched(["data/quality", "field"], ["Quality?", "checks"])
    ['data/quality']
    """
    from cuetrail.text.normalise import sanitize_query

    asked = set(sanitize_query(" ".join(looked_for)).split())
    return [name for name in names if asked & set(sanitize_query(name).split())]


def _label(shared: Mapping[str, Any]) -> str:
    return f"{'#' if shared['what'] == 'tag' else '@'}{shared['name']}"


def _hop(hop: Any) -> str:
    if not isinstance(hop, Mapping):
        return str(hop)
    if "via" in hop:
        return f"{short(hop['src'])} → {' '.join(hop['via'])} → {short(hop['dst'])}"
    by = f"{hop['kind']} " if hop.get("kind") else ""
    return f"{short(hop['dst'])} ({by}{hop['energy']:.3f})"


# --- activate


def flowed(found: Sequence[Activation], nodes: Mapping[str, Node]) -> str:
    """Every seed with the tree of its paths, drawn with the energy of each step."""
    return "\n\n".join(_tree(one, nodes) for one in found)


def _tree(one: Activation, nodes: Mapping[str, Node]) -> str:
    asked = f"  about {tags(one.tags)}" if one.tags else ""
    head = f"{click.style(_named(one.seed, nodes), bold=True)}  {one.score:.3f}{asked}"
    lines = [head if one.reason == "complete" else f"{head}  {one.reason}"]
    branches: dict[str, dict[str, Hop]] = {}
    for hop in (hop for path in one.paths for hop in path.hops):
        branches.setdefault(hop.src, {})[hop.dst] = hop

    def draw(id_: str, before: str) -> None:
        steps = sorted(branches.get(id_, {}).values(), key=lambda hop: -hop.energy)
        for number, hop in enumerate(steps, 1):
            last = number == len(steps)
            weight = "?" if hop.weight is None else f"{hop.weight:g}"
            edge = click.style(f"{hop.kind} {weight} {tags(hop.tags)}".rstrip(), dim=True)
            arrow = "→" if hop.outgoing else "←"
            lines.append(f"{before}{'└' if last else '├'}─ {hop.energy:.3f} {arrow} {_named(hop.dst, nodes)}  {edge}")
            draw(hop.dst, before + ("   " if last else "│  "))

    draw(one.seed, "")
    return "\n".join(lines)


def _named(id_: str, nodes: Mapping[str, Node]) -> str:
    said = title(nodes[id_], 60) if id_ in nodes else ""
    return short(id_) if said in ("", id_) else f"{short(id_)}  {said}"


# --- get


def node(found: Node) -> str:
    """A node with everything it says of itself."""
    rows = [
        ("id", found.id),
        ("kind", found.kind),
        ("name", found.name or ""),
        ("aliases", ", ".join(found.aliases)),
        ("tags", tags(found.tags)),
        ("buckets", ", ".join(found.buckets)),
        ("from", found.source or ""),
        ("time", when(found.at)),
        ("state", f"{found.life.state}, salience {found.life.salience:.2f}, {found.provenance}"),
        # Lists and mappings are what other programs keep; --json has them.
        *((f"  {name}", str(value)) for name, value in found.props.items() if not isinstance(value, dict | list)),
    ]
    head = "\n".join(f"{label:<10} {value}" for label, value in rows if value)
    return f"{head}\n\n{found.text}" if found.text else head


def neighbours(degree: int, found: Sequence[tuple[Neighbour, Node, Edge]]) -> str:
    """The strongest links of a node, each with what was said of it."""
    lines = [f"Links ({len(found)} of {degree}, the strongest first)"]
    for step, other, edge in found:
        weight = "  ?  " if step.weight is None else f"{step.weight:.3f}"
        arrow = "→" if step.outgoing else "←"
        lines.append(f"  {arrow} {weight} {step.kind:<10} {title(other)}  {tags(step.tags)}".rstrip())
        said = [f"({edge.type})" if edge.type else "", edge.text]
        said += [f"{name} {level}" for name, level in _levels(edge) if level is not None]
        if any(said):
            lines.append(" " * 21 + " ".join(filter(None, said)))
    return "\n".join(lines)


def _levels(edge: Edge) -> tuple[tuple[str, int | None], ...]:
    return ("attitude", edge.attitude), ("proximity", edge.proximity)


def facts(found: Sequence[Fact], names: Mapping[str, str]) -> str:
    """What is stated of a node; `names` are the titles of object nodes."""
    lines = ["Facts"]
    for fact in found:
        said = names.get(fact.object, fact.object) if fact.object is not None else fact.value
        lines.append(f"  {fact.predicate} {said}  ({fact.confidence:.2f}, {fact.status})")
    return "\n".join(lines)


def fact_table(found: Sequence[Fact], names: Mapping[str, str]) -> str:
    """Facts one to a line: how they begin, what they say, how sure they are, and when they held."""
    lines = []
    for fact in found:
        said = names.get(fact.object, fact.object) if fact.object is not None else fact.value
        start = fact.created if fact.valid_from is None else fact.valid_from
        end = f" until {when(fact.valid_until)}" if fact.valid_until is not None else ""
        told = f"{fact.confidence:.2f}, {fact.status}, {fact.source}, since {when(start)}{end}"
        lines.append(f"{short(fact.id)}  {fact.predicate}: {said}  ({told})")
    return "\n".join(lines)


def told(found: Narrative) -> str:
    """A narrative with the score of each line and what it is made of."""
    lines: dict[str, list[str]] = {}
    for line in found.lines:
        parts = " * ".join(f"{value:.3g} {name}" for name, value in line.why["parts"].items())
        names = (found.entities[id_].name or short(id_) for id_ in line.why["path"])
        lines.setdefault(line.fact.subject, []).append(
            f"{line.text}\n    {line.score:.4f} = {parts}; {line.why['hop']} hops along {' → '.join(names)}"
        )
    sections = (f"{found.entities[id_].name or short(id_)}\n" + "\n".join(told) for id_, told in lines.items())
    return "\n\n".join(sections)


def history(found: Sequence[Version]) -> str:
    """What a node said before, the oldest first."""
    lines = ["Before" if found else "Never corrected"]
    for version in found:
        said = f"{version.name}: {version.text}" if version.name else version.text
        lines.append(f"  until {when(version.at)}: {said}")
    return "\n".join(lines)


# --- reports


def ingested(report: IngestReport) -> str:
    """One line on what an ingest did."""
    taken = report.files - report.unchanged_files - len(report.errors)
    parts = [f"{count(taken, 'file')} read"]
    parts += _some("file", "files", (("unchanged", report.unchanged_files), ("gone", report.removed_files)))
    counts = [("added", report.added), ("kept", report.kept), ("removed", report.removed)]
    counts += [("near duplicates of others", report.merged), ("forgotten earlier and left out", report.forgotten)]
    counts += [("without forgotten sentences", report.cut)]
    memories = _some("memory", "memories", counts) or ["no memories changed"]
    if report.edges:
        memories.append(count(report.edges, "link"))
    parts += [f"{count(len(report.errors), 'file')} failed"] if report.errors else []
    return f"{', '.join(parts)}: {', '.join(memories)}"


def _some(one: str, many: str, counts: Iterable[tuple[str, int]]) -> list[str]:
    """The counts that are not 0; the noun stands with the first."""
    said = [(label, number) for label, number in counts if number]
    return [
        f"{count(number, one, many)} {label}" if at == 0 else f"{number:,} {label}"
        for at, (label, number) in enumerate(said)
    ]


def imported(report: ImportReport) -> str:
    """One line on what an import did."""
    whole = ", ".join([count(report.nodes, "node"), count(report.edges, "edge"), count(report.facts, "fact")])
    counts = [("new", report.added), ("changed", report.changed), ("here already", report.unchanged)]
    counts += [("forgotten earlier and left out", report.forgotten), ("without forgotten sentences", report.cut)]
    counts += [("failed", len(report.errors))]
    said = [f"{number:,} {label}" for label, number in counts if number]
    return f"{whole} read: {', '.join(said) or 'nothing new'}"


def failures(errors: Sequence[FileError]) -> list[str]:
    """The first failed files, one line each, and how many more there are."""
    lines = [
        error.error if error.error.startswith(error.path) else f"{error.path}: {error.error}"
        for error in errors[:ERRORS_SHOWN]
    ]
    left = len(errors) - ERRORS_SHOWN
    return [*lines, f"... and {count(left, 'more', 'more')} (--json lists all)"] if left > 0 else lines


def stats(found: Stats, place: str) -> str:
    """Counts as a table."""
    kinds = ", ".join(f"{name} {number:,}" for name, number in found.kinds.items())
    buckets = ", ".join(f"{name} {number:,}" for name, number in found.buckets.items())
    rows = [
        ("memory", place),
        ("nodes", f"{found.nodes:,}" + (f"  ({kinds})" if kinds else "")),
        ("edges", f"{found.edges:,}"),
        ("facts", f"{found.facts:,}"),
        ("notes", f"{found.notes:,}"),
        ("mentions", f"{found.mentions:,}"),
        ("tags", f"{found.tags:,}"),
        ("buckets", buckets or "none"),
        ("vectors", f"{found.vectors:,}" + (f"  ({found.embedder})" if found.embedder else "")),
        ("forgotten", f"{found.tombstones:,}"),
        ("narratives", f"{found.narratives.get('hits', 0):,} told again, {found.narratives.get('misses', 0):,} made"),
        ("schema", str(found.schema)),
    ]
    return "\n".join(f"{label:<10} {value}" for label, value in rows)
