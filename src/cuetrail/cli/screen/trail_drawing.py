"""The trail to a result, drawn by titles: the question, the direct match, and each step from there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cuetrail.cli.output import hashtags
from cuetrail.cli.screen.reasons import Reasons, listed, quoted
from cuetrail.cli.screen.terminal import safe
from cuetrail.recall.score.signals import LABELS

if TYPE_CHECKING:
    from rich.text import Text

    from cuetrail.model import Hit

QUIET = "dim"
CUE_WIDTH = 60
# Factors and searches beside the signals.
_PARTS = {
    "bm25": "words, BM25",
    "cosine": "meaning, cosine",
    "tag_boost": "factor for tags",
    "provenance": "factor for trust",
}


def trail_lines(reasons: Reasons, hit: Hit, verbose: bool) -> Iterator[Text]:
    """Yields the lines of a drawing: the question, each node of the trail under the one that led to it, and what else
    found the hit; with `verbose` the energies and all parts of the score.
    """
    steps, direct = reasons.steps(hit), listed(reasons.labels(hit))
    yield _line("", quoted(safe(_short(reasons.question))))
    if not steps:
        yield _line("└─ ", f"{direct or 'association'} → ", reasons.title(hit.node.id))
    else:
        yield _line("└─ ", f"{reasons.first_way(steps[0].src)} → ", reasons.title(steps[0].src))
        for depth, step in enumerate(steps, 1):
            energy = f"  {step.energy:.3f}" if verbose and step.energy is not None else ""
            yield _line(f"{'   ' * depth}└─ ", f"{step.forward} → ", reasons.title(step.dst), energy)
        yield _line("", f"found by {direct}") if direct else _line("", "found by association")
    yield from _remarks(reasons, hit)
    yield from _numbers(hit) if verbose else ()


def _remarks(reasons: Reasons, hit: Hit) -> Iterator[Text]:
    """Yields what the trail does not show: words, tags that fit, a title that was asked for, a repetition."""
    why = hit.why
    if why.get("terms"):
        yield _line("", f"has {listed([quoted(safe(term)) for term in why['terms']])}")
    if why.get("tags"):
        yield _line("", f"fits {safe(hashtags(why['tags']))}")
    if why.get("topic"):
        yield _line("", "its title is what you asked for, so it comes first")
    if why.get("repeats"):
        yield _line("", f"repeats {quoted(reasons.title(why['repeats']))}, so it ranks below the others")


def _numbers(hit: Hit) -> Iterator[Text]:
    """Yields the score and its parts, each with its label and the name it has in JSON."""
    yield _line("", f"{hit.score:>8.3f}  score")
    for name, part in hit.why.get("parts", {}).items():
        if part is not None:
            label = _PARTS.get(name) or LABELS.get(name, name.replace("_", " "))
            yield _line("", f"{part:>8.3f}  {label}" + (f" ({name})" if label != name else ""))
    for one in hit.why.get("shared", ()):
        yield _line("", f"{one['idf']:>8.2f}  rarity of {'#' if one['what'] == 'tag' else '@'}{safe(one['name'])}")


def _line(branch: str, words: str, title: str = "", energy: str = "") -> Text:
    from rich.text import Text

    line = Text().append(branch + words, QUIET)
    line.append(title)
    line.append(energy, QUIET)
    return line


def _short(cue: str) -> str:
    from cuetrail.text.normalise import snippet

    return snippet(cue, CUE_WIDTH)
