"""The reranker of one recall, bound to its question and a time budget. If it fails, the recall goes on without it."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from cuetrail.errors import RerankerError
from cuetrail.rerank.reranker import Reranker

RERANK_MS = 150
"""The time that the reranker has in one recall, in milliseconds, unless a caller gives another."""
MOST_RERANKED = 20
"""How many candidates a 12-layer model reads in that time on two cores, of each an excerpt (see `rerank.excerpt`)."""


class Reranking:
    """Scores texts for the question of one recall. Call it with the texts.

    The time of all its calls together is at most `ms`. `notice` says why there were no scores, else "".
    """

    def __init__(self, reranker: Reranker, question: str, ms: int = RERANK_MS) -> None:
        self.notice = ""
        self._reranker = reranker
        self._question = question
        self._ms = ms
        self._left = ms / 1000

    def __call__(self, texts: Sequence[str]) -> list[float] | None:
        """Returns one score for each text, higher is better; None if there is no time, or if the reranker fails."""
        started = time.monotonic()
        try:
            found = self._scores(texts, started + self._left)
        except RerankerError as error:
            self.notice = f"the order is without the reranker: {error}"
            return None
        self._left -= time.monotonic() - started
        if found is None:
            self.notice = (
                f"the order is without the reranker: it would have taken more than {self._ms} ms; "
                "a larger rerank_ms gives it more time"
            )
        return found

    def _scores(self, texts: Sequence[str], deadline: float) -> list[float] | None:
        try:
            found = self._reranker.scores(self._question, texts, deadline)
            if found is not None and (len(found) != len(texts) or not all(map(math.isfinite, found))):
                raise RerankerError(f"{self._reranker.name} gave no number for each text; use another model")
        except RerankerError:
            raise
        except Exception as error:
            # A reranker of the caller's may raise anything; the recall goes on without it.
            raise RerankerError(f"{self._reranker.name} failed: {type(error).__name__}: {error}") from error
        return found
