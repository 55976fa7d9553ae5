"""Recipes: named values in which every number of a recall is visible."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a recall works: how many candidates each list gives, how they are blended, what counts as relevant."""

    name: str
    candidates: int = 50
    text_share: float = 0.7
    # A memory found by its vector alone must be at least this near to count.
    vector_floor: float = 0.35


TRAIL = Recipe("trail")
