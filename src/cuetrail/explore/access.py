"""Explore and brief in an opened memory. What they show in full counts as used, once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from cuetrail.embed.vectors import Vectors
from cuetrail.errors import EmbedderError, InputError
from cuetrail.explore.brief import Brief
from cuetrail.explore.brief import brief as make_brief
from cuetrail.explore.candidates import MOST_QUERIES, Expander, Query, Quest, Weights, complements, trim_query
from cuetrail.explore.explore import Exploration
from cuetrail.explore.explore import explore as run_exploration
from cuetrail.model import Budget, Where
from cuetrail.recall.render.text import budget_measure
from cuetrail.recall.stage_types import Measure
from cuetrail.session import Session
from cuetrail.store.graph import Ties
from cuetrail.store.vector_space import QueryVector

G = TypeVar("G")
T = TypeVar("T")

BRIEF_BUDGET = Budget(tokens=1300)


def explore(
    session: Session,
    queries: tuple[Query, ...],
    text_matches: tuple[str, ...],
    *,
    ties: Ties,
    where: Where,
    granularity: int,
    multi_query: bool,
    expander: Expander | None,
    mode: str,
    weights: Weights,
    fuzzy: str,
    explain: bool,
    record_access: bool,
    now: int,
) -> Exploration:
    """Returns the people, concepts, entities, relationships, events and artifacts that queries and text matches find.

    With `multi_query`, and in mode "deep", the expander adds further queries to each; templates do if it is None.
    """
    failure = ""
    if multi_query or mode == "deep":
        queries, failure = expanded(queries, expander or complements)
    embedding = _Embedding(session.vectors)
    quest = Quest(
        session.store, session.scope, queries, text_matches, now, embedding.query, embedding.texts, granularity, mode,
        weights, fuzzy, ties, where,
    )  # fmt: skip
    found = run_exploration(quest)
    if record_access and found.items:
        shown = [item.node.id for item in found.items if item.detail == "full"]
        session.store.touch(session.scope, list(dict.fromkeys(shown)), now)
    notices = [notice for notice in (failure, embedding.failure, session.vectors.notice) if notice]
    return replace(found, meta={**_request(quest), "explain": explain, "notices": notices})


def expanded(queries: tuple[Query, ...], expander: Expander) -> tuple[tuple[Query, ...], str]:
    """Returns the queries, each followed by up to three of the expander's, and a notice if the expander failed.

    Raises InputError for an expander that does not return a list of texts.
    """
    found: dict[str, Query] = {}
    notice = ""
    for query in queries:
        found.setdefault(query.text, query)
        try:
            made: object = expander(query.text)
            texts = made if isinstance(made, str) or not isinstance(made, Iterable) else list(made)
        except Exception as error:  # noqa: BLE001  # an expander of the caller's may raise anything
            notice = f"asked without other sides: the expander failed ({error})"
            continue
        if not isinstance(texts, list):
            raise InputError(f"an expander must return a list of texts, not {texts!r:.60}")
        for text in [trimmed for one in texts if (trimmed := trim_query(str(one)))][:3]:
            found.setdefault(text, Query(text, query.threshold))
    return tuple(found.values())[:MOST_QUERIES], notice


def _request(quest: Quest) -> dict[str, Any]:
    """Returns the arguments of an exploration as plain data."""
    return {
        "queries": [{"query": one.text, "threshold": one.threshold} for one in quest.queries],
        "text_matches": list(quest.text_matches),
        "granularity": quest.granularity,
        "mode": quest.mode,
        "weights": dict(zip(("semantic", "time", "salience"), quest.weights, strict=True)),
        "now": quest.now,
    }


class _Embedding:
    """The embedder for one exploration. If it fails, words alone answer, and `failure` says so."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors, self.failure = vectors, ""

    def query(self, text: str) -> QueryVector | None:
        return self._try(self._vectors.of_repeated, text)

    def texts(self, texts: Sequence[str]) -> list[bytes] | None:
        return self._try(self._vectors.of_texts, texts)

    def _try(self, make: Callable[[G], T | None], given: G) -> T | None:
        try:
            return make(given)
        except EmbedderError as error:
            self.failure = f"answered from words alone: {error}"
            return None


def brief(session: Session, budget: Budget, count_tokens: Measure | None, record_access: bool, now: int) -> Brief:
    """Returns a summary for the start of a conversation, within the budget."""
    size, measure, _ = budget_measure(budget, count_tokens)
    found = make_brief(session.store, session.scope, now, size, measure)
    if record_access and found.ids:
        session.store.touch(session.scope, list(found.ids), now)
    return found
