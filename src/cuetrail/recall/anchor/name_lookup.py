"""Who carries a name: as it is written, else without its marks, or as one of many.

>>> readings("müllers"), readings("the duchies"), readings("glass"), readings("anna")
(['mullers', 'müller', 'muller'], ['the duchy'], [], [])
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from cuetrail.recall.anchor.hybrid_search import Ask
from cuetrail.recall.names import MOST_ALIASES, Run, heads, spelt
from cuetrail.text.normalise import folded

# So many memories are looked at whose names share words with the cue.
MOST_ALIKE = 20
# More words of a cue are not looked up each by itself.
MOST_WORDS = 16
# What is shorter and ends in s is hardly a plural.
_SHORTEST_PLURAL = 4


def readings(norm: str) -> list[str]:
    """What else a name may be that is written so: the same without marks, and one where several are meant."""
    said = [norm] if norm.isascii() else [norm, folded(norm)]
    several = norm.endswith("s") and not norm.endswith("ss") and len(norm) >= _SHORTEST_PLURAL
    ones = [f"{one[:-3]}y" if one.endswith("ies") else one[:-1] for one in said] if several else []
    return list(dict.fromkeys([*said[1:], *ones]))


def carriers(ask: Ask, norms: Iterable[str], each: int) -> dict[str, list[str]]:
    """Ids of those that carry each of these names, and of the first whose name goes on with a bracket or a comma.

    What is written is meant before what it may be read as.
    """
    norms = list(norms)
    others = {norm: readings(norm) for norm in norms if norm[-1:] == "s" or not norm.isascii()}
    wanted = list(dict.fromkeys([*norms, *chain.from_iterable(others.values())]))
    ids = ask.store.named(ask.scope, wanted, each)
    read = {norm: next((ids[one] for one in some if one in ids), []) for norm, some in others.items()}
    return {norm: found for norm in norms if (found := ids.get(norm) or read.get(norm))}


def alike(ask: Ask, runs: Sequence[Run]) -> dict[str, list[str]]:
    """Ids of those whose name is one of these, marks aside: whoever asks for Jose may mean José."""
    alone = dict.fromkeys(run.norm for run in runs if run.end - run.start == 1)
    words = dict.fromkeys(spelt(one) for norm in alone for one in (norm, *readings(norm)))
    if not words:
        return {}
    forms: dict[str, list[str]] = {}
    for one in ask.store.named_like(ask.scope, list(words)[:MOST_WORDS], (), MOST_ALIKE):
        for name in (one.name, *one.aliases[:MOST_ALIASES]):
            # Without marks, it would have been found as it is written.
            for form in heads(folded(name)) if not name.isascii() else ():
                forms.setdefault(form, []).append(one.id)
    found: dict[str, list[str]] = {}
    for run in runs if forms else ():
        ids = [id_ for one in (run.norm, *readings(run.norm)) for id_ in forms.get(spelt(one), ())]
        if ids:
            found[run.norm] = sorted(set(ids))
    return found
