"""Random steps of several clients: answers are the model's, nothing leaks over scopes, nothing forgotten is back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reliability.simulation import Simulation


@pytest.mark.parametrize(("seed", "clients"), [(1, 1), (2, 2), (3, 4)])
def test_every_answer_is_as_the_model_says(tmp_path: Path, seed: int, clients: int) -> None:
    simulation = Simulation(str(tmp_path / "m"), tmp_path, seed, clients, embedded=True)
    with simulation.memory:
        simulation.run(30)
        simulation.memory.close()
