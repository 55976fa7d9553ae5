"""The protocol of rerankers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Reranker(Protocol):
    """Scores texts for a query, each read together with the query. Any object with these members can be passed to
    `Memory`.
    """

    @property
    def name(self) -> str:
        """Returns the name of the model. Another model, or another file of one, has another name."""

    def scores(self, query: str, texts: Sequence[str], deadline: float | None) -> list[float] | None:
        """Returns one relevance score (a logit) for each text, in the order given; higher is better.

        Returns None if they would not be ready at the `deadline`, a time of `time.monotonic`. The first call loads the
        model, which moves the deadline by as much. Texts are cut at the length that the model reads. The same query
        and text always get the same score. Raises RerankerError if the model cannot be loaded or does not run.
        """
