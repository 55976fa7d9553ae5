"""The text of `recall --explain`: every fact and every hit with the reasons why it was found."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import click

from cuetrail.cli.output import hashtags, short_id, utc_time
from cuetrail.model import Hit, RecalledFact, Recollection

_FOUND_BY = {"text": "words", "vector": "meaning", "labels": "tags and buckets", "energy": "energy along links"}
_SCORE_PARTS = {"bm25": "words", "cosine": "meaning"}
# Factors of a score that are shown as reasons of their own.
_FACTORS = ("tag_boost", "provenance")
_SIGNS = {"tag": "#", "bucket": "@"}


def explained_text(found: Recollection) -> str:
    """Returns every fact and every hit with the reasons why it was found."""
    width = min(shutil.get_terminal_size().columns, 100)
    facts = [_fact_text(one) for one in found.facts]
    hits = [_hit_text(number, hit, found.looked_for, width) for number, hit in enumerate(found.hits, 1)]
    return "\n\n".join([*facts, *hits])


def _fact_text(one: RecalledFact) -> str:
    asked = ", ".join(one.why["asked"])
    reasons = (("fits", asked or f"{one.subject}, all that was asked"), ("id", short_id(one.fact.id)))
    drawn = [f"    {'└' if label == 'id' else '├'}─ {label:<10} {reason}" for label, reason in reasons]
    return "\n".join([click.style(one.line, bold=True), *(click.style(line, dim=True) for line in drawn)])


def _hit_text(number: int, hit: Hit, looked_for: Sequence[str], width: int) -> str:
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
    from cuetrail.recall.score.signals import LABELS

    why, labels = hit.why, {**LABELS, **_FOUND_BY}
    yield "found by", " and ".join(labels.get(signal, signal) for signal in why.get("found_by", ())) or "association"
    if why.get("terms"):
        yield "has", ", ".join(why["terms"])
    for name, part in why.get("parts", {}).items():
        if part is not None and name not in _FACTORS:
            every = ", every word of the cue" if name == "bm25" and why.get("all_terms") else ""
            label = _SCORE_PARTS.get(name, name)
            yield label, f"{part:.3f}" if label == name else f"{name} {part:.3f}{every}"
    if why.get("tag_boost"):
        yield "tags", f"{hashtags(matched_tags(hit.node.tags, looked_for) or hit.node.tags)} matched, x2"
    if why.get("parts", {}).get("provenance", 1) != 1:
        yield "provenance", f"{why['provenance']}, x{why['parts']['provenance']:g}"
    if shared := why.get("shared"):
        yield "shares", ", ".join(f"{_SIGNS[one['what']]}{one['name']} {one['idf']:.2f}" for one in shared)
        yield "with", ", ".join(map(short_id, why["anchors"]))
    if why.get("tags"):
        yield "fits", hashtags(why["tags"])
    if path := why.get("path"):
        start = f"{short_id(path[0]['src'])} → " if "energy" in path[0] else ""
        yield "path", start + " → ".join(_hop_text(hop) for hop in path)
    if hit.mark:
        yield "outdated", hit.mark
    if why.get("topic"):
        yield "title", "is what you asked for, so it comes first"
    if why.get("repeats"):
        yield "repeats", f"{short_id(why['repeats'])}, so it ranks below the others"
    yield "id", short_id(hit.node.id)
    yield "from", ", ".join(filter(None, (hit.node.source, utc_time(hit.node.at))))


def matched_tags(names: Iterable[str], looked_for: Sequence[str]) -> list[str]:
    """Returns the tags that share a word with the words `looked_for`.

    >>> matched_tags(["data/quality", "field"], ["Quality?", "checks"])
    ['data/quality']
    """
    from cuetrail.text.normalise import sanitize_query

    words = set(sanitize_query(" ".join(looked_for)).split())
    return [name for name in names if words & set(sanitize_query(name).split())]


def _hop_text(hop: Any) -> str:
    if not isinstance(hop, Mapping):
        return str(hop)
    if "via" in hop:
        return f"{short_id(hop['src'])} → {' '.join(hop['via'])} → {short_id(hop['dst'])}"
    by = f"{hop['kind']} " if hop.get("kind") else ""
    return f"{short_id(hop['dst'])} ({by}{hop['energy']:.3f})"
