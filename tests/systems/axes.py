"""An embedder with known cosines: each word of VOCABULARY is one direction; MEANING maps other words to them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cuetrail.text.normalise import sanitize_query

VOCABULARY = ("antenna", "radio", "frost", "tea", "garden", "money", "travel", "music", "health", "school", "bread")
MEANING = {"melody": "music", "aerial": "antenna", "frozen": "frost"}


class Axes:
    """A text points where its words do; one without any of them points where nothing else does."""

    model = "axes"
    dim = len(VOCABULARY) + 1

    def __init__(self) -> None:
        self.asked = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([self._vector(text) for text in texts], np.float32).reshape(len(texts), self.dim)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        self.asked += 1
        return np.array(self._vector(text), np.float32)

    def _vector(self, text: str) -> list[float]:
        words = [MEANING.get(word, word) for word in sanitize_query(text).split()]
        counts = [float(words.count(word)) for word in VOCABULARY]
        length = sum(count * count for count in counts) ** 0.5
        return [*(count / length for count in counts), 0.0] if length else [*counts, 1.0]
