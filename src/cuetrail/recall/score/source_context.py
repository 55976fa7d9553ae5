"""What stands around a memory in the file or conversation it came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cuetrail.model import Node
from cuetrail.recall.relevance import Wording

# The best so many of a place speak for it.
SPEAKING = 5
Values = dict[str, float]


def in_row(nodes: Mapping[str, Node], scores: Mapping[str, float], wording: Wording) -> tuple[Values, Values, Values]:
    """For each memory that came from somewhere: its neighbours' scores, the best scores there, and how much of the cue
    is said there in all."""
    places: dict[str, dict[int, str]] = {}
    for id_, node in nodes.items():
        if node.source is not None:
            places.setdefault(node.source, {})[node.seq] = id_
    near: Values = {}
    place: Values = {}
    whole: Values = {}
    for row in places.values():
        fits = {seq: scores.get(id_, 0.0) for seq, id_ in row.items()}
        best = sum(sorted(fits.values(), reverse=True)[:SPEAKING]) / SPEAKING
        said = wording.share(frozenset[str]().union(*[wording.has[id_] for id_ in row.values()]))
        for seq, id_ in row.items():
            beside = fits.get(seq - 1, 0.0) + fits.get(seq + 1, 0.0)
            further = fits.get(seq - 2, 0.0) + fits.get(seq + 2, 0.0)
            near[id_], place[id_], whole[id_] = min((beside + further / 3) / 2, 1.0), best, said
    return near, place, whole


def through_titles(
    nodes: Mapping[str, Node], blend: Mapping[str, float], signals: dict[str, Values], names: Sequence[str]
) -> dict[str, str]:
    """What leads to a title leads to the best of what stands under it: raises these signals of that memory.

    The title that led there comes back, by memory.
    """
    best: dict[str, str] = {}
    for id_, node in nodes.items():
        if node.source is not None and node.text and blend[id_] > blend.get(best.get(node.source, ""), -1.0):
            best[node.source] = id_
    titles: dict[str, str] = {}
    for id_, node in nodes.items():
        if not node.text and node.source in best:
            for name in names:
                values = signals.get(name, {})
                if values.get(id_, 0.0) > values.get(best[node.source], 0.0):
                    values[best[node.source]] = values[id_]
                    titles[best[node.source]] = id_
    return titles
