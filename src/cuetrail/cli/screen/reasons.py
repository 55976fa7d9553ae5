"""Why a result was found, in plain words: the trail to it by titles, and one line that sums it up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cuetrail.cli.output import count_of
from cuetrail.cli.screen.excerpt import asked_words, marks_in
from cuetrail.cli.screen.headings import title_of
from cuetrail.cli.screen.terminal import safe
from cuetrail.model import Hit, Node, Recollection
from cuetrail.model.records import ALIASES
from cuetrail.model.tags import is_topic
from cuetrail.recall.score.signals import LABELS
from cuetrail.recall.spread.trail import SEARCH, TIE_WORDS
from cuetrail.text.names import fold, fold_padded, name_variants

# The searches of a recall, in the words of the signals that are made of them.
_SEARCHES = {
    "text": LABELS["words"],
    "vector": LABELS["meaning"],
    "energy": LABELS["walk"],
    "labels": "shared tags and buckets",
}
# How many words of the question are listed.
_WORDS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a trail, from one node to another; `kind` is a key of TIE_WORDS or any other kind of edge.

    `what` is the name or tag that both share. `energy` is None if the recipe has none.
    """

    src: str
    dst: str
    kind: str
    what: str = ""
    energy: float | None = None

    @property
    def forward(self) -> str:
        """Returns how the step reads from its start: "mentions"."""
        return self._words()[0]

    @property
    def backward(self) -> str:
        """Returns how the step reads from its end: "mentioned in"."""
        return self._words()[1]

    def _words(self) -> tuple[str, str]:
        known = TIE_WORDS.get(self.kind)
        if known is None:
            label = safe(self.kind.replace("_", " "))
            return f"is tied by “{label}” to", f"tied by “{label}” to"
        return known[0].format(self.what), known[1].format(self.what)


class Reasons:
    """The reasons for the results of a recall. `nodes` has every node on a path to them by id."""

    def __init__(self, found: Recollection, nodes: Mapping[str, Node]) -> None:
        self.nodes = {**nodes, **{hit.node.id: hit.node for hit in found.hits}}
        asked = [word for part in found.looked_for if part[:1] not in "#@" for word in part.split()]
        prefix = asked[-1] if asked and found.cue.rstrip().endswith("*") else ""
        self.words = asked_words(found.looked_for, prefix)
        self.filters = [safe(term) for term in found.looked_for if term[:1] in "#@"]
        inside = Counter(stem for hit in found.hits for stem in self._stems(hit.node.text))
        self.weights = {stem: 1 / number for stem, number in inside.items()}
        self.question, self.cue = found.cue, fold_padded(found.cue)

    def weights_for(self, node: Node) -> dict[str, float]:
        """Returns the weight of each word of the question for an excerpt of a node: words in its title, and those that
        most results have, tell less.
        """
        above = self._stems(title_of(node))
        return {stem: weight / (4 if stem in above else 1) for stem, weight in self.weights.items()}

    def title(self, id_: str) -> str:
        """Returns the title of a node on a path, its id if it is not visible any more."""
        return title_of(self.nodes[id_]) if id_ in self.nodes else id_

    def steps(self, hit: Hit) -> list[Step]:
        """Returns the steps that led to a hit, without those inside one note; [] if the question found it directly."""
        hops = [hop for hop in hit.why.get("path") or () if not self._is_within_note(hop["src"], hop["dst"])]
        return [self._step(hop) for hop in hops]

    def labels(self, hit: Hit) -> list[str]:
        """Returns the labels of what found a hit: "words", "a mention in a top result"."""
        return [_SEARCHES.get(name) or LABELS.get(name, name) for name in hit.why.get("found_by", ())]

    def line(self, hit: Hit, room: int | None = None) -> str:
        """Returns why a hit was found, in one line of plain words. A line of more than `room` characters leaves out
        what the start of the trail has to do with the question.
        """
        whole = self._line(hit, standing=True)
        return whole if room is None or len(whole) <= room else self._line(hit, standing=False)

    def _line(self, hit: Hit, *, standing: bool) -> str:
        clauses = ["its title is what you asked for"] if hit.why.get("topic") else []
        clauses += ["is from the time you asked about"] if "when" in hit.why.get("found_by", ()) else []
        clauses += filter(
            None, (self._filters_clause(), self._words_clause(hit.node), self._path_clause(hit, standing))
        )
        if hit.why.get("repeats"):
            clauses.append(f"repeats {quoted(self.title(hit.why['repeats']))}")
        if not clauses and "vector" in hit.why.get("found_by", ()):
            clauses = ["close to your question in meaning"]
        return "; ".join(clauses) or f"found by {listed(self.labels(hit)) or 'association'}"

    def others(self, hit: Hit) -> list[str]:
        """Returns what to set off in a hit that has no word of the question: the name or tag that it shares with the
        node before it on the trail, and the names of that node. Returns [] without a trail.
        """
        steps = self.steps(hit)
        if not steps:
            return []
        last = steps[-1]
        names = _names(self.nodes[last.src]) if last.src in self.nodes else []
        return [last.what.strip("“”"), *names]

    def first_way(self, id_: str) -> str:
        """Returns the label of what found the first node of a trail: its name, words or meaning."""
        node = self.nodes.get(id_)
        if node is None:
            return LABELS["blend"]
        if self._is_named(node):
            return LABELS["named"]
        return LABELS["words"] if self._stems(node.text) or self._stems(title_of(node)) else LABELS["meaning"]

    # --- clauses of the line

    def _filters_clause(self) -> str:
        """Returns which tags and buckets the question asked for: every hit has them."""
        return f"has {listed(self.filters)}" if self.filters else ""

    def _words_clause(self, node: Node) -> str:
        """Returns which words of the question a hit has, "" if it has none."""
        inside, above = self._stems(node.text), self._stems(title_of(node))
        spelt = self.words.spelt
        if len(spelt) > 1 and len(inside | above) == len(spelt):
            return "has all your words"
        prefix = self.words.prefix
        words = [spelt[stem] for stem in spelt if stem in (inside or above) and stem != prefix]
        words += [f"{prefix}*"] if prefix in (inside or above) else []
        shown = _some([quoted(word) for word in words], "word")
        return f"has {shown}{'' if inside else ' in its title'}" if words else ""

    def _path_clause(self, hit: Hit, standing: bool) -> str:
        """Returns how the trail led to a hit: "mentioned in “Cold connector”, which has your words"; without `standing`
        only the part before the comma. Returns "" if there is no trail, or it led back to the hit's own note.
        """
        steps = self.steps(hit)
        if not steps or self._is_within_note(steps[0].src, hit.node.id):
            return ""
        parts = [f"{step.backward} {quoted(self.title(step.src))}" for step in reversed(steps)]
        return ", ".join(filter(None, (*parts, self._standing(steps[0].src) if standing else "")))

    def _standing(self, id_: str) -> str:
        """Returns what the first node of a trail has to do with the question: "which has your words"; "" if nothing is
        known.
        """
        node = self.nodes.get(id_)
        if node is None:
            return ""
        if self._is_named(node):
            return "which you named"
        if self._stems(node.text):
            return "which has your words"
        return "whose title has your words" if self._stems(title_of(node)) else ""

    # --- what the nodes of a step have in common

    def _step(self, hop: Mapping[str, Any]) -> Step:
        src, dst = hop["src"], hop["dst"]
        if "via" in hop:
            labels = [label for label in hop["via"] if label[0] == "@" or is_topic(label[1:])]
            return Step(src, dst, "shared", safe(_some(labels or list(hop["via"]), "label")))
        kind, energy = hop["kind"], hop.get("energy")
        if hop.get("edge"):
            return Step(src, dst, "linked" if kind == "links" and not hop.get("outgoing", True) else kind, "", energy)
        if kind == "tag":
            return Step(src, dst, "shared", self._shared_tags(src, dst), energy)
        if kind in ("name", "links", "mentions"):
            both = ("links", "linked") if kind == "links" else ("mentions", "mentioned")
            return Step(src, dst, both[0] if self._says(src, dst) or not self._says(dst, src) else both[1], "", energy)
        if kind in (SEARCH, "next", "fact") or not self._has_name(dst, kind):
            return Step(src, dst, kind, "", energy)
        for end, mention in ((dst, "mentions"), (src, "mentioned")):
            # A shared name that is one of the two is a mention of it.
            if end in self.nodes and any(fold(kind) in name_variants(name) for name in _names(self.nodes[end])):
                return Step(src, dst, mention, "", energy)
        return Step(src, dst, "shared", f"“{self._spelt(dst, kind)}”", energy)

    def _says(self, id_: str, other: str) -> bool:
        """True if the text of a node contains a name of the other."""
        if id_ not in self.nodes or other not in self.nodes:
            return False
        text = fold_padded(self.nodes[id_].text)
        return any(f" {form} " in text for name in _names(self.nodes[other]) for form in name_variants(name))

    def _has_name(self, id_: str, name: str) -> bool:
        node = self.nodes.get(id_)
        return node is not None and f" {fold(name)} " in fold_padded("\n".join([*_names(node), node.text]))

    def _spelt(self, id_: str, name: str) -> str:
        """Returns a folded name as a node writes it; as it is if the node has it in other letters."""
        node = self.nodes[id_]
        for text in (*_names(node), node.text):
            at = text.lower().find(name)
            if at >= 0:
                return safe(text[at : at + len(name)])
        return safe(name)

    def _shared_tags(self, src: str, dst: str) -> str:
        own = [set(self.nodes[id_].own_tags) if id_ in self.nodes else set() for id_ in (src, dst)]
        return safe(_some([f"#{tag}" for tag in sorted(own[0] & own[1])], "tag")) or "a tag"

    def _is_within_note(self, one: str, other: str) -> bool:
        """True if two nodes are one, passages of one note, or have the same title."""
        if one not in self.nodes or other not in self.nodes:
            return one == other
        first, second = self.nodes[one], self.nodes[other]
        together = first.source is not None and first.source == second.source
        return one == other or together or title_of(first) == title_of(second)

    def _is_named(self, node: Node) -> bool:
        return any(f" {form} " in self.cue for name in _names(node) for form in name_variants(name))

    def _stems(self, text: str) -> set[str]:
        return {stem for _, _, stem in marks_in(text, self.words.stem_in)}


def path_ids(found: Recollection) -> list[str]:
    """Returns the ids of all nodes that the reasons for these results name."""
    hits = [one for hit in found.hits for one in (hit, *hit.more)]
    ids = [id_ for hit in hits for hop in hit.why.get("path") or () for id_ in (hop["src"], hop["dst"])]
    return list(dict.fromkeys([*ids, *(hit.why["repeats"] for hit in hits if hit.why.get("repeats"))]))


def listed(words: Sequence[str]) -> str:
    """Returns words as a list in a sentence.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def quoted(title: str) -> str:
    """Returns a title in quotes."""
    return f"“{title}”"


def _some(words: Sequence[str], noun: str) -> str:
    """Returns the first words as a list in a sentence, and how many more there are.

    >>> _some(["#a", "#b", "#c", "#d"], "tag")
    '#a, #b, #c and 1 more tag'
    """
    more = len(words) - _WORDS_SHOWN
    return listed([*words[:_WORDS_SHOWN], *([count_of(more, f"more {noun}")] if more > 0 else [])])


def _names(node: Node) -> list[str]:
    """Returns the names of a node; a passage has the titles of its note."""
    more = node.props.get(ALIASES)
    listed_aliases: Iterable[object] = more if isinstance(more, list | tuple) else ()
    title = node.props.get("title")
    names = (node.name, *node.aliases, title if isinstance(title, str) else None)
    return list(dict.fromkeys(str(name) for name in (*names, *listed_aliases) if name))
