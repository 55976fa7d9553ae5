"""Labels that a dream gave do not change what a recall finds."""

from __future__ import annotations

from pathlib import Path

from cuetrail import Memory

NOW = 1_768_831_200_000
CUE = "What does the business that Ann Berg was chairman of make?"


def found(memory: Memory) -> dict[str, float]:
    """Returns the signal `further` of each hit: the score in the follow-up search, from the names in the first."""
    hits = memory.recall(CUE, now=NOW, record_access=False).passages
    return {hit.node.id: round(hit.why["parts"].get("further", 0.0), 2) for hit in hits}


def test_a_label_of_a_dream_does_not_double_a_score_of_the_follow_up_search(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory") as memory:
        memory.add("Ann Berg was chairman of Alta United and of Lund & Gull.", id="ann", name="Ann Berg")
        memory.add("Lund & Gull is a business in Oslo. They make lamps.", id="gull", name="Lamps of Oslo")
        memory.add("Alta United plays football.", id="united", name="Alta United")
        memory.add("The seasons of Alta United, year by year.", id="seasons", name="Seasons of football")
        before = found(memory)
        assert before["gull"] > 0 < before["seasons"]
        memory.dream(only=["infection"], now=NOW)
        node = memory.get("seasons")
        assert node is not None
        assert "alta_united" in node.tags
        assert found(memory) == before
