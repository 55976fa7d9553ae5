"""Who carries a name: as it is written, else without its marks, or as one of many.

>>> readings("müllers"), readings("the duchies"), readings("glass"), readings("anna")
(['mullers', 'müller', 'muller'], ['the duchy'], [], [])
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cuetrail.anchor import Ask
from cuetrail.trail.naming import MOST_ALIASES, Run, heads, spelt, unmarked

# So many memories are looked at whose names share words with the cue.
MOST_ALIKE = 20
# More words of a cue are not looked up each by itself.
MOST_WORDS = 16
# What is shorter and ends in s is hardly a plural.
_SHORTEST_PLURAL = 4


def readings(norm: str) -> list[str]:
    """What else a name may be that is written so: the same without marks, and one where several are meant."""
    said = [norm] if norm.isascii() else [norm, unmarked(norm)]
    several = norm.endswith("s") and not norm.endswith("ss") and len(norm) >= _SHORTEST_PLURAL
    ones = [f"{one[:-3]}y" if one.endswith("ies") else one[:-1] for one in said] if several else []
    return list(dict.fromkeys([*said[1:], *ones]))


def carriers(ask: Ask, norms: Iterable[str], each: int) -> dict[str, list[str]]:
    """Ids of those that carry each of these names, and of the first whose name goes on with a bracket or a comma.

    What is written is meant before what it may be read as.
    """
    asked = {norm: [norm, *readings(norm)] for norm in norms}
    wanted = list(dict.fromkeys(one for some in asked.values() for one in some))
    ids = ask.store.named(ask.scope, wanted)
    for norm, more in ask.store.headed(ask.scope, wanted, each).items():
        ids[norm] = list(dict.fromkeys([*ids.get(norm, ()), *more]))
    return {norm: found for norm, some in asked.items() if (found := next(filter(None, map(ids.get, some)), None))}


def alike(ask: Ask, runs: Sequence[Run]) -> dict[str, list[str]]:
    """Ids of those whose name is one of these, marks aside: whoever asks for Jose may mean José."""
    said = {run.norm: [spelt(one) for one in (run.norm, *readings(run.norm))] for run in runs}
    words = dict.fromkeys(word for run in runs if run.end - run.start == 1 for word in said[run.norm])
    if not words:
        return {}
    found: dict[str, list[str]] = {}
    for one in ask.store.named_like(ask.scope, list(words)[:MOST_WORDS], (), MOST_ALIKE):
        forms = frozenset[str]().union(*map(heads, (one.name, *one.aliases[:MOST_ALIASES])))
        for norm, mine in said.items():
            if not forms.isdisjoint(mine):
                found.setdefault(norm, []).append(one.id)
    return {norm: sorted(ids) for norm, ids in found.items()}
