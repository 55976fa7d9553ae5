"""Score of TRAIL: the ranker's score of each candidate, from signals that are shown in the `why` of a hit.

`signals.py` is the table of the signals, `ranker.py` the model that weighs them. A hit that repeats a better one ranks
below those that repeat nothing: see `find_repeated_hits`. Hits are grouped by note or conversation, and
`confidence_in` says how sure the first one is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cuetrail.formulas import logistic
from cuetrail.model import Hit, Node
from cuetrail.model.searched_fields import embedded_text
from cuetrail.recall.anchor.hybrid_search import TrailAnchors, is_title, redundant_titles
from cuetrail.recall.score.confidence import confidence_in
from cuetrail.recall.score.note_groups import DEPTH, group_by_note
from cuetrail.recall.score.ranker import load_ranker
from cuetrail.recall.score.repeated_hits import find_repeated_hits
from cuetrail.recall.score.signals import RankInput, Signals, read_signals, signals_of
from cuetrail.recall.spread.trail import SECOND_HOP, TrailCandidates
from cuetrail.recall.stage_types import Anchor, Anchored, Reached, RecallContext, Scored
from cuetrail.recall.trail_constants import Trail, is_bare
from cuetrail.text.names import fold_padded

ASSOCIATIVE = ("walk", *SECOND_HOP)
"""Signals that reach a node from other nodes."""
LEADING = ("named", *ASSOCIATIVE)
"""Signals that make a node eligible by themselves, and that titles pass on to their best passage."""
BELOW_TITLE = "title"
"""The kind of a hop from a title to a passage below it."""
# A hit that repeats a better one gets this share of the lowest score among the hits that repeat nothing.
REPEATED_HIT_FACTOR = 0.25


def rank_by_signals(context: RecallContext, anchored: Anchored, reached: Reached, *, how: Trail) -> Scored:
    """Returns the candidates that match well enough, by the ranker's score, then newer, then by id.

    Titles of notes that also have a passage here are left out. Repetitions of a better hit rank below the others. If
    the cue is the name of a node, that node comes first, or a passage of the note with that title. Hits are grouped by
    note or conversation.
    """
    assert isinstance(anchored, TrailAnchors), "TRAIL scores the anchors of `find_anchors`"
    assert isinstance(reached, TrailCandidates), "TRAIL scores the candidates of `follow_trails`"
    signals = signals_of(RankInput(context, anchored, reached))
    titles = pass_on_title_signals(reached.nodes, reached.blend, signals)
    anchors = {anchor.node.id: anchor for anchor in anchored.anchors}
    topics = [node for id_, node in reached.nodes.items() if id_ in anchored.topics]
    titled = {node.source for node in topics if node.source is not None}
    eligible = eligible_ids(anchored, signals, anchors, how)
    eligible |= {id_ for id_, node in reached.nodes.items() if node.source in titled}
    # Nodes without text are skipped unless the search itself found them.
    nodes = [node for id_, node in reached.nodes.items() if id_ in eligible and (id_ in anchors or not is_bare(node))]
    raw = rank(context, anchored, reached, nodes, signals, how.read)
    scores = {id_: logistic(score) for id_, score in raw.items()}
    nodes = _ordered(nodes, scores)
    redundant = redundant_titles(nodes)
    nodes = [node for node in nodes if node.id not in redundant]
    limit = max(context.limit or 0, 0)
    repeated = find_repeated_hits(nodes, DEPTH * limit)
    if repeated:
        first_others = [node for node in nodes if node.id not in repeated][:limit]
        lowest = min((scores[node.id] for node in first_others), default=1.0)
        scores |= {id_: REPEATED_HIT_FACTOR * min(lowest, scores[id_]) for id_ in repeated}
        nodes = _ordered(nodes, scores)
    first = topic_passages(nodes, topics, anchored.titled)
    if first:
        scores = {id_: score / 2 + (0.5 if id_ in first else 0.0) for id_, score in scores.items()}
        nodes = _ordered(nodes, scores)
    why = _Why(reached, signals, titles, anchors, repeated, first)
    hits = tuple(
        Hit(best, scores[best.id], why.of(best.id), tuple(Hit(one, scores[one.id], why.of(one.id)) for one in more))
        for best, *more in group_by_note(nodes, limit)
    )
    sure = confidence_in(nodes[0], raw[nodes[0].id], "read" in signals, anchored, reached) if nodes else 0.0
    return Scored(hits, confidence=round(sure, 4))


def _ordered(nodes: Iterable[Node], scores: Mapping[str, float]) -> list[Node]:
    return sorted(nodes, key=lambda node: (-scores[node.id], -node.at, node.id))


def eligible_ids(anchored: TrailAnchors, signals: Signals, anchors: Mapping[str, Anchor], how: Trail) -> set[str]:
    """Returns the ids of the candidates that may become hits: those with more evidence than a weak vector match and, if
    there are any, those that are no anchors but stand near a match in their source. `anchors` are the anchors of
    `anchored` by id.
    """
    eligible = {id_ for name in LEADING for id_, value in signals.get(name, {}).items() if value}
    eligible |= {id_ for id_, anchor in anchors.items() if not how.is_weak(anchor)}
    eligible |= anchored.residual_scores.keys() | anchored.dated_ids
    near = signals.get("near", {}) if eligible else {}
    return eligible | {id_ for id_, value in near.items() if value and id_ not in anchors}


def rank(
    context: RecallContext, anchored: TrailAnchors, reached: TrailCandidates, nodes: Sequence[Node], signals: Signals,
    most: int,
) -> dict[str, float]:  # fmt: skip
    """Returns a score for each of the nodes by the ranker, any number; for a literal cue by words and meaning alone.

    If there is a reranker, it reads the first `most` of them. Its signals are added to `signals`, and the ranker that
    was trained with them gives the scores. If it has no time or fails, the scores are as without it.
    """
    if anchored.literal:
        return {node.id: reached.blend[node.id] for node in nodes}
    ids = [node.id for node in nodes]
    raw = load_ranker("plain").scores(signals, ids)
    if context.rerank is not None and nodes:
        first = sorted(nodes, key=lambda node: (-raw[node.id], -node.at, node.id))[:most]
        logits = context.rerank([embedded_text(node) for node in first])
        if logits is not None:
            signals |= read_signals({node.id: logit for node, logit in zip(first, logits, strict=True)})
            raw = load_ranker("reranked").scores(signals, ids)
    return literal_first(nodes, raw, context.cue.raw)


def literal_first(nodes: Sequence[Node], raw: Mapping[str, float], cue: str) -> dict[str, float]:
    """Returns the scores, where a text that is the cue itself has a higher one than all others; one with the same
    capitals and accents has the highest.
    """
    asked, exact, most = fold_padded(cue), cue.strip(), max(raw.values(), default=0.0)
    lead = {node.id: most + 1 + (node.text.strip() == exact) for node in nodes if fold_padded(node.text) == asked}
    return {node.id: lead.get(node.id, raw[node.id]) for node in nodes}


# --- signals


def pass_on_title_signals(nodes: Mapping[str, Node], blend: Mapping[str, float], signals: Signals) -> dict[str, str]:
    """Raises the LEADING signals of the best passage of each source to those of its titles and headings.

    Changes `signals`. Returns, by the id of a passage, the id of the title that raised a signal of it.
    """
    best: dict[str, str] = {}
    for id_, node in nodes.items():
        if node.source is not None and node.text and blend[id_] > blend.get(best.get(node.source, ""), -1.0):
            best[node.source] = id_
    titles: dict[str, str] = {}
    for id_, node in nodes.items():
        if not node.text and node.source in best:
            for name in LEADING:
                values = signals.get(name, {})
                if values.get(id_, 0.0) > values.get(best[node.source], 0.0):
                    values[best[node.source]] = values[id_]
                    titles[best[node.source]] = id_
    return titles


def topic_passages(ranked: Iterable[Node], topics: Iterable[Node], opening: bool) -> dict[str, str]:
    """Returns the ids of the ranked nodes to show first for these topics, each with the id of its topic.

    A topic with a text represents itself. A note is represented by its best-ranked passage; with `opening`, by its
    first one; if none is ranked, by its title.
    """
    texts = {node.id for node in topics if node.text}
    titles = {node.source: node.id for node in topics if not node.text and node.kind == "source"}
    found = dict[str, str]()
    passages: dict[str | None, Node] = {}
    for node in ranked:
        if node.id in texts:
            found[node.id] = node.id
        elif node.source in titles:
            known = passages.setdefault(node.source, node)
            if is_title(known) or (opening and node.seq < known.seq and not is_title(node)):
                passages[node.source] = node
    return found | {node.id: titles[source] for source, node in passages.items()}


# --- reasons


class _Why:
    """Builds the `why` of hits: how each was found, its signals, and the path to it."""

    def __init__(
        self, reached: TrailCandidates, signals: Signals, titles: Mapping[str, str], anchors: Mapping[str, Anchor],
        repeated: Mapping[str, str], topics: Mapping[str, str],
    ) -> None:  # fmt: skip
        self.reached, self.signals, self.titles = reached, signals, titles
        self.anchors, self.repeated, self.topics = anchors, repeated, topics
        # Passages that a named title passed its signal to count as found, too.
        self.found = reached.found | signals.get("named", {}).keys()

    def of(self, id_: str) -> dict[str, Any]:
        """Returns the `why` of the node with this id."""
        anchor = self.anchors.get(id_)
        bm25, cosine = (anchor.bm25, anchor.cosine) if anchor else (None, None)
        found_by = [name for name, part in (("text", bm25), ("vector", cosine)) if part is not None]
        parts = {name: values[id_] for name, values in self.signals.items() if values.get(id_)}
        path = self._path(id_)
        walked = any(self._is_activated(hop["dst"]) for hop in path)
        found_by += [name for name in LEADING if name in parts and (name != "walk" or walked)]
        found_by += ["when"] if parts.get("when", 0.0) == 1.0 else []
        return {
            "anchors": [id_] if anchor is not None else [step["src"] for step in path[:1]],
            "found_by": found_by,
            # False if no query word found it and a signal from other nodes is larger than its own blend.
            "direct": "text" in found_by or parts.get("blend", 0.0) >= max(parts.get(one, 0.0) for one in ASSOCIATIVE),
            "parts": {"bm25": bm25, "cosine": cosine, **parts},
            "tag_boost": anchor.boosted if anchor else False,
            "path": path,
            **({"repeats": self.repeated[id_]} if id_ in self.repeated else {}),
            **({"topic": self.topics[id_]} if id_ in self.topics else {}),
        }

    def _is_activated(self, id_: str) -> bool:
        """True if the largest part of a node's energy came from another node."""
        source = self.reached.sources.get(id_)
        return source is not None and source.start != id_

    def _path(self, id_: str) -> list[dict[str, Any]]:
        """Returns the hops that led to a node: one by activation, those of the second hop, or those to the title that
        passed its signals to the node, and from there. [] if the cue found the node directly.
        """
        source, second = self.reached.sources.get(id_), self.reached.second_hops.get(id_)
        if source is not None and source.start != id_:
            return [_hop(source.start, id_, source.energy, source.via)]
        if second is not None and second.energy and any(self.signals.get(name, {}).get(id_) for name in SECOND_HOP):
            return [*self._path_to_start(second.start, id_), _hop(second.start, id_, second.energy, second.via)]
        title = self.titles.get(id_)
        path = self._path(title) if title is not None else []
        # A path to the title that begins at this node is no path to this node.
        if title is None or not path or id_ in {hop["src"] for hop in path}:
            return []
        return [*path, _hop(title, id_, path[-1]["energy"], BELOW_TITLE)]

    def _path_to_start(self, start: str, end: str) -> list[dict[str, Any]]:
        """Returns the hop that led to `start`, from which a second hop leads to `end`. Empty if the cue itself found
        `start`, or if that hop came from `end`.
        """
        source = self.reached.sources.get(start)
        if source is None or source.start in (start, end) or start in self.found:
            return []
        return [_hop(source.start, start, source.energy, source.via)]


def _hop(start: str, end: str, energy: float, via: str) -> dict[str, Any]:
    return {
        "src": start, "dst": end, "energy": energy, "edge": "", "kind": via, "weight": None, "tags": [],
        "outgoing": True,
    }  # fmt: skip
