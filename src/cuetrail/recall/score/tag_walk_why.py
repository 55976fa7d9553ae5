"""Score of the tag walk: hits keep the order of their search; `why` has the matching words or shared labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cuetrail.formulas import HOUR, UNKNOWN_DISTANCE, gravity, shares
from cuetrail.model import Hit, Label, Node, WalkHit, WalkSeed
from cuetrail.model.records import labels_of, maker
from cuetrail.recall.stage_types import Anchor, Anchored, Reached, RecallContext, Scored
from cuetrail.text.normalise import sanitize_query, searchable_text

_hit = maker(Hit, "node", "score", "why")


def keep_order(context: RecallContext, anchored: Anchored, reached: Reached) -> Scored:
    """Returns anchors and walkers in the order and with the scores of their searches. Anchors are at most as many as
    the budget allows; the walkers were limited when they were searched.
    """
    most, _ = shares(context.tokens, context.limit)
    query = " ".join((anchored.query.words, *anchored.query.phrases)) if anchored.anchors else ""
    stems = rough_stems(sanitize_query(query).split())
    anchors = [_hit(a.node, a.bm25 or 0.0, _anchor_why(a, anchored.attempt, stems)) for a in anchored.anchors[:most]]
    seeds = [(seed, frozenset(seed.labels)) for seed in reached.seeds]
    walkers = [_hit(w.node, w.score, _walker_why(w, reached, seeds)) for w in reached.walked]
    return Scored(tuple(anchors), tuple(walkers))


def _anchor_why(anchor: Anchor, attempt: str, stems: Mapping[str, str]) -> dict[str, Any]:
    """Returns the `why` of an anchor: the query words it contains, and the factors of its score. `attempt` names the
    form of the query that found it; `stems` has the rough stem of each query word.
    """
    boost = 2.0 if anchor.boosted else 1.0
    bm25 = (anchor.bm25 or 0.0) / boost / anchor.factor
    why = anchor.why()
    why["role"] = "anchor"
    why["attempt"] = attempt
    why["terms"] = words_in(anchor.node, stems)
    why["parts"] = {"bm25": bm25, "tag_boost": boost, "provenance": anchor.factor}
    why["provenance"] = anchor.node.provenance
    return why


def rough_stems(words: Sequence[str]) -> dict[str, str]:
    """Returns, for each word, the word without its last three letters, but at least four letters of it.

    >>> rough_stems(["receiver", "ice", "receiver"])
    {'receiver': 'recei', 'ice': 'ice'}
    """
    return {word: word[: max(4, len(word) - 3)] for word in words}


def words_in(node: Node, stems: Mapping[str, str]) -> list[str]:
    """Returns the words of `stems` whose rough stem begins a word of the node's name, aliases or text.

    >>> words_in(Node("a", text="Two receivers failed."), rough_stems(["receiver", "failing", "frost", "ceiver"]))
    ['receiver', 'failing']
    """
    text = searchable_text(node.name, node.aliases, node.text).lower()
    return [word for word, stem in stems.items() if stem in text and _begins_a_word(stem, text)]


def _begins_a_word(stem: str, text: str) -> bool:
    at = text.find(stem)
    # Other scripts may have no spaces between words.
    while at > 0 and text[at - 1].isalnum() and stem.isascii():
        at = text.find(stem, at + 1)
    return at >= 0


def _walker_why(
    walked: WalkHit, reached: Reached, seeds: Sequence[tuple[WalkSeed, frozenset[Label]]]
) -> dict[str, Any]:
    """Returns the `why` of a walker: the tags and buckets it shares with anchors, these anchors, and the path from the
    one to which it has the strongest connection.
    """
    node, idfs = walked.node, reached.idfs
    own = [label for label in labels_of(node) if label in idfs]
    sharing = [(seed, labels) for seed, labels in seeds if not labels.isdisjoint(own)]
    ties = [(seed, [label for label in own if label in labels]) for seed, labels in sharing]
    parts: dict[str, float] = {"idf": sum(idfs[label] for label in own)}
    path = []
    if ties:
        pulls = {f.id: _gravity_parts(node, f, len(shared)) for f, shared in ties} if reached.rank == "gravity" else {}
        strength = [pulls[f.id]["gravity"] if pulls else sum(idfs[label] for label in shared) for f, shared in ties]
        nearest, shared = ties[strength.index(max(strength))]
        parts |= pulls.get(nearest.id, {})
        path = [{"src": nearest.id, "via": [_as_written(label) for label in shared], "dst": node.id}]
    return {
        "role": "walker",
        "anchors": [seed.id for seed, _ in ties],
        "found_by": ["labels"],
        "shared": [{"what": label.what, "name": label.name, "idf": idfs[label]} for label in own],
        "parts": parts,
        "tag_boost": False,
        "path": path,
    }


def _as_written(label: Label) -> str:
    return f"{'#' if label.what == 'tag' else '@'}{label.name}"


def _gravity_parts(node: Node, seed: WalkSeed, shared: int) -> dict[str, float]:
    """Returns the gravity between an anchor and a node, and its parts: the number of shared labels, the hours between
    the two, and the distance of their SimHashes (see `formulas.gravity`).
    """
    hours = abs(node.at - seed.at) / HOUR
    distance = UNKNOWN_DISTANCE
    if node.simhash is not None and seed.simhash is not None:
        distance = float((node.simhash ^ seed.simhash).bit_count())
    return {"gravity": gravity(shared, hours, distance), "shared": shared, "hours": hours, "distance": distance}
