"""The names in a cue, the nodes that have them, and the nodes that the whole cue is about."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from cuetrail.model import Node, TextQuery, Where
from cuetrail.model.searched_fields import searched_title
from cuetrail.recall.query import only_asks, possible_topics
from cuetrail.recall.trail_constants import BODY
from cuetrail.text.names import MOST_ALIASES, WordRun, fold, name_variants, other_spellings, word_runs
from cuetrail.text.normalise import folded, norm_name, terms_of
from cuetrail.text.word_lists import FUNCTION_WORDS

if TYPE_CHECKING:
    from cuetrail.recall.stage_types import RecallContext

# A name that more nodes carry is too common to identify any of them.
MOST_WITH_NAME = 20
# How many texts that contain a name are read. From that number on the name counts as common.
MOST_MENTIONING = 20
# Confidence that a name in small letters is meant as a name.
LOWER_CASE_CONFIDENCE = 0.3
# A cue is about the title of a note that it contains if the words of the title are this share of its own.
TITLE_SHARE = 0.5
# How many nodes with a similar name are looked at, for how many words of the cue.
MOST_SIMILAR, MOST_SIMILAR_WORDS = 20, 16


@dataclass(frozen=True, slots=True)
class QueryName:
    """A name in the cue, normalised, with the ids of the nodes that have it.

    `rarity` is at most 1 and falls with the number of texts that contain the name. `confidence` that it is meant as a
    name is 1 if it is capitalised, else lower.
    """

    name: str
    ids: tuple[str, ...]
    rarity: float
    confidence: float


def names_in_cue(context: RecallContext) -> tuple[list[WordRun], dict[str, list[str]]]:
    """Returns the names in the cue, the longest that do not overlap, in order; and node ids by normalised name."""
    possible = [run for run in word_runs(context.cue.raw) if _may_be_name(run)]
    norms = list(dict.fromkeys(run.norm for run in possible))
    ids = nodes_named(context, norms, MOST_WITH_NAME + 1)
    ids |= nodes_named_with_accents(context, [run for run in possible if run.norm not in ids])
    chosen: list[WordRun] = []
    for run in sorted(possible, key=lambda run: (run.start - run.end, run.start)):
        apart = all(run.end <= other.start or other.end <= run.start for other in chosen)
        if apart and 0 < len(ids.get(run.norm, ())) <= MOST_WITH_NAME:
            chosen.append(run)
    return sorted(chosen, key=lambda run: run.start), ids


def topics_of_cue(context: RecallContext, nodes: Mapping[str, Node]) -> list[str]:
    """Returns the ids of the nodes whose name, alias or title is the whole cue, apart from words that only ask.

    If there is none, returns the passages among `nodes` whose note has that title. Of several names the longest counts:
    "the storm of May" is not about May. Returns [] if more than MOST_WITH_NAME nodes have the name.
    """
    norms = list(dict.fromkeys(map(norm_name, possible_topics(context.cue.raw))))
    ids = _ids_by_name(context, norms, 0, MOST_WITH_NAME)
    for id_, node in nodes.items() if not ids else ():
        for title in searched_title(None, (), node.props).splitlines():
            ids.setdefault(norm_name(title), []).append(id_)
    found = next((ids[norm] for norm in norms if norm in ids), [])
    return sorted(found) if len(found) <= MOST_WITH_NAME else []


def titles_in_cue(context: RecallContext, runs: Sequence[WordRun], names: Sequence[QueryName]) -> list[str]:
    """Returns the ids of the nodes whose name is at least half of the words of the cue: "the cold connector thing?".

    A name needs several words that are not function words, or one rare word that is capitalised inside the cue. So
    titles that are everyday words ("Home", "Ideas") are no topic of a longer cue. Of several names the longest counts.
    """
    asked = _telling_terms(context.cue.query.words)
    best: list[str] = []
    most = 0
    for run, name in zip(runs, names, strict=True):
        telling = _telling_terms(run.norm)
        rare = run.capital and run.start > 0 and name.rarity > _COMMON
        if telling and (len(telling) > 1 or rare) and len(telling & asked) >= TITLE_SHARE * len(asked):
            best = [*(best if len(telling) == most else ()), *name.ids] if len(telling) >= most else best
            most = max(most, len(telling))
    return sorted(set(best))


def _telling_terms(words: str) -> set[str]:
    return {term for word in words.split() if not only_asks(word) for term in terms_of(word)}


def _may_be_name(run: WordRun) -> bool:
    single = run.end - run.start == 1
    return len(run.norm) > 2 and not (single and (run.norm in FUNCTION_WORDS or run.norm.isdigit()))


def query_name(context: RecallContext, run: WordRun, ids: list[str], where: Where, nodes: dict[str, Node]) -> QueryName:
    """Returns a name of the cue with its rarity. Adds nodes whose text contains the name to the argument `nodes`."""
    query = TextQuery("", (run.norm,), fields=BODY)
    found = context.store.text(context.scope, query, MOST_MENTIONING, where, nodes=True)
    nodes |= {one.id: one.node for one in found if one.node is not None}
    confidence = 1.0 if run.capital else LOWER_CASE_CONFIDENCE
    return QueryName(run.norm, tuple(ids), _rarity(len(found)), confidence)


def _rarity(texts: int) -> float:
    """Returns the rarity of a name that so many texts contain: 1 for none, less for more."""
    return 1 / (1 + math.log(1 + texts))


_COMMON = _rarity(MOST_MENTIONING)


def residual_query(query: TextQuery, names: list[WordRun]) -> str:
    """Returns the words of a query without those of capitalised names."""
    gone = {word for run in names if run.capital for word in run.norm.split()}
    words = [(word, word.strip(".,;:!?'\"()“”’").casefold()) for word in query.words.split()]
    return " ".join(word for word, plain in words if plain.removesuffix("'s").removesuffix("’s") not in gone)


def nodes_named(context: RecallContext, norms: Iterable[str], each: int) -> dict[str, list[str]]:
    """Returns, for each normalised name, the ids of the nodes with that name or alias, then of the texts that have it
    as title or topic. Names that nothing has are left out.

    Other spellings of a name count only if nothing has its exact spelling. If `each` texts or more share a title or
    topic, none of these texts is returned. `each` also limits the nodes whose name continues with a bracket or comma.
    """
    norms = list(norms)
    others = {norm: other_spellings(norm) for norm in norms if norm[-1:] == "s" or not norm.isascii()}
    wanted = list(dict.fromkeys([*norms, *chain.from_iterable(others.values())]))
    ids = _ids_by_name(context, wanted, each, each - 1)
    by_other = {norm: next((ids[one] for one in some if one in ids), []) for norm, some in others.items()}
    return {norm: found for norm in norms if (found := ids.get(norm) or by_other.get(norm))}


def _ids_by_name(context: RecallContext, norms: Sequence[str], each: int, most: int) -> dict[str, list[str]]:
    """Returns, for each normalised name, the ids of the nodes with that name or alias, then of the texts that have it
    as title or topic, unless these texts are more than `most`.

    `each` limits the nodes whose name continues with a bracket or comma.
    """
    ids = context.store.named(context.scope, norms, each)
    for norm, texts in context.store.named(context.scope, norms, each, "topic").items():
        if len(texts) <= most:
            ids[norm] = list(dict.fromkeys([*ids.get(norm, ()), *texts]))
    return ids


def nodes_named_with_accents(context: RecallContext, runs: Sequence[WordRun]) -> dict[str, list[str]]:
    """Returns, by normalised run of words, the ids of the nodes whose name differs only in accents: "Jose" finds José.

    Runs without such a node are left out.
    """
    single = dict.fromkeys(run.norm for run in runs if run.end - run.start == 1)
    words = dict.fromkeys(fold(one) for norm in single for one in (norm, *other_spellings(norm)))
    if not words:
        return {}
    ids_by_variant: dict[str, list[str]] = {}
    for similar in context.store.named_like(context.scope, list(words)[:MOST_SIMILAR_WORDS], (), MOST_SIMILAR):
        for name in (similar.name, *similar.aliases[:MOST_ALIASES]):
            # A name without accents was found by its exact spelling already.
            for form in name_variants(folded(name)) if not name.isascii() else ():
                ids_by_variant.setdefault(form, []).append(similar.id)
    found: dict[str, list[str]] = {}
    for run in runs if ids_by_variant else ():
        spellings = (run.norm, *other_spellings(run.norm))
        ids = [id_ for one in spellings for id_ in ids_by_variant.get(fold(one), ())]
        if ids:
            found[run.norm] = sorted(set(ids))
    return found
