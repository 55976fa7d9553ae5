"""What exploring is asked, checked at the boundary: queries, text matches and weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cuetrail.errors import InputError
from cuetrail.explore.candidates import Expander, Query, Weights
from cuetrail.text.normalise import clean
from cuetrail.validation.arguments import is_number

PARTS = ("semantic", "time", "salience")
DEFAULT: Weights = (0.3, 0.3, 0.4)
# A question has as many sides as a person can think of; more would only dilute each other.
MOST_QUERIES, MOST_MATCHES, MOST_CHARS = 16, 50, 2_000


def make_queries(given: Iterable[Any], matches: tuple[str, ...]) -> tuple[Query, ...]:
    """The queries, each once. Raises InputError for one that cannot be, and where there is nothing to look for."""
    found: dict[str, Query] = {}
    for one in given:
        query = _query(one)
        if query.text:
            found.setdefault(query.text, query)
    if not found and not matches:
        raise InputError('say what to explore: give queries, such as ["the job offer"], or text_matches')
    if len(found) > MOST_QUERIES:
        raise InputError(f"at most {MOST_QUERIES} queries can be asked at once, not {len(found)}")
    return tuple(found.values())


def _query(given: Any) -> Query:
    if isinstance(given, str):
        return Query(_trimmed(given))
    if not isinstance(given, Mapping) or not isinstance(given.get("query"), str):
        raise InputError(f'a query must be a text or {{"query": ..., "threshold": ...}}, not {given!r:.60}')
    strange = [name for name in given if name not in ("query", "threshold")]
    if strange:
        raise InputError(f"a query has no field {strange[0]!r:.60}: use query and threshold")
    threshold = given.get("threshold")
    if threshold is None:
        return Query(_trimmed(given["query"]))
    if not is_number(threshold) or not 0 <= threshold <= 1:
        raise InputError(f"threshold must be from 0 to 1, not {threshold!r:.60}")
    return Query(_trimmed(given["query"]), float(threshold))


def _trimmed(text: str) -> str:
    return clean(text).strip()[:MOST_CHARS]


def make_matches(given: Iterable[Any]) -> tuple[str, ...]:
    """Texts to match names with, each once; empty ones are left out."""
    found: dict[str, None] = {}
    for one in given:
        if not isinstance(one, str):
            raise InputError(f"text_matches must be a list of texts; {one!r:.60} in it is none")
        found[_trimmed(one)] = None
    found.pop("", None)
    if len(found) > MOST_MATCHES:
        raise InputError(f"at most {MOST_MATCHES} text_matches can be looked for at once, not {len(found)}")
    return tuple(found)


def make_weights(given: Mapping[str, Any] | None) -> Weights:
    """How much meaning, time and salience count, adding up to 1. Raises InputError for what cannot be.

    >>> make_weights(None), make_weights({"semantic": 2, "time": 2, "salience": 0})
    ((0.3, 0.3, 0.4), (0.5, 0.5, 0.0))
    """
    if given is None:
        return DEFAULT
    strange = [name for name in given if name not in PARTS]
    if strange:
        raise InputError(f"there is no weight {strange[0]!r:.60}: use {', '.join(PARTS)}")
    weights = [given.get(name, default) for name, default in zip(PARTS, DEFAULT, strict=True)]
    for name, weight in zip(PARTS, weights, strict=True):
        if not is_number(weight) or weight < 0:
            raise InputError(f"the weight of {name} must be a number from 0 on, not {weight!r:.60}")
    total = sum(weights)
    if not total:
        raise InputError("the weights cannot all be 0: nothing could be told apart")
    return weights[0] / total, weights[1] / total, weights[2] / total


def with_complements(queries: tuple[Query, ...], expander: Expander) -> tuple[tuple[Query, ...], str]:
    """The queries, each followed by two or three that ask for the same from other sides; and what to know about that.

    An expander that fails costs what it would have asked. Raises InputError for one that gives no list of texts.
    """
    found: dict[str, Query] = {}
    notice = ""
    for query in queries:
        found.setdefault(query.text, query)
        try:
            made: object = expander(query.text)
            texts = made if isinstance(made, str) or not isinstance(made, Iterable) else list(made)
        except Exception as error:  # noqa: BLE001  # whatever somebody else's code raises
            notice = f"asked without other sides: the expander failed ({error})"
            continue
        if not isinstance(texts, list):
            raise InputError(f"an expander must return a list of texts, not {texts!r:.60}")
        for text in [trimmed for one in texts if (trimmed := _trimmed(str(one)))][:3]:
            found.setdefault(text, Query(text, query.threshold))
    return tuple(found.values())[:MOST_QUERIES], notice
