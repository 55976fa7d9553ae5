"""Published results of others on the same sets, shown beside ours. In per cent, on the whole sets.

Sources: HippoRAG, arXiv 2405.14831, tables 2 and 3; HippoRAG 2, arXiv 2502.14802, table 3; LoCoMo's paper, table 3.
The whole sets have more questions than the development questions that our rows answer.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Published:
    """A method's figures by measure, and what it needs beyond a CPU."""

    method: str
    needs: str
    figures: dict[str, float]


def _of(method: str, needs: str, r2: float | None, r5: float) -> Published:
    return Published(method, needs, {"R@5": r5} if r2 is None else {"R@2": r2, "R@5": r5})


LLM = "an LLM per document"
PUBLISHED: dict[str, list[Published]] = {
    "musique": [
        _of("ColBERTv2", "a GPU encoder", 37.9, 49.2),
        _of("RAPTOR", "an LLM", 35.7, 45.3),
        _of("GraphRAG (Microsoft)", LLM, 35.4, 49.3),
        _of("LightRAG", LLM, 24.8, 34.7),
        _of("HippoRAG (ColBERTv2)", LLM, 40.9, 51.9),
        _of("HippoRAG 2 (NV-Embed 7B, Llama 70B)", f"{LLM} and query", None, 74.7),
    ],
    "2wiki": [
        _of("ColBERTv2", "a GPU encoder", 59.2, 68.2),
        _of("RAPTOR", "an LLM", 46.3, 53.8),
        _of("GraphRAG (Microsoft)", LLM, 61.6, 77.3),
        _of("LightRAG", LLM, 45.1, 59.1),
        _of("HippoRAG (ColBERTv2)", LLM, 70.7, 89.1),
        _of("HippoRAG 2 (NV-Embed 7B, Llama 70B)", f"{LLM} and query", None, 90.4),
    ],
    "hotpotqa": [
        _of("ColBERTv2", "a GPU encoder", 64.7, 79.3),
        _of("RAPTOR", "an LLM", 58.1, 71.2),
        _of("GraphRAG (Microsoft)", LLM, 58.3, 76.6),
        _of("LightRAG", LLM, 38.8, 54.7),
        _of("HippoRAG (ColBERTv2)", LLM, 60.5, 77.7),
        _of("HippoRAG 2 (NV-Embed 7B, Llama 70B)", f"{LLM} and query", None, 96.3),
    ],
    "locomo": [Published("DRAGON (LoCoMo's paper)", "a GPU encoder", {"R@5": 56.7, "R@10": 66.2})],
}
