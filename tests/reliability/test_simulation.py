"""Random steps of several clients: answers are the model's, nothing leaks over scopes, nothing forgotten is back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reliability.simulation import Simulation
from tests.servers import Login


@pytest.mark.parametrize(("seed", "clients"), [(1, 1), (2, 2), (3, 4)])
def test_every_answer_is_as_the_model_says(tmp_path: Path, seed: int, clients: int) -> None:
    simulation = Simulation(str(tmp_path / "m"), tmp_path, seed, clients, embedded=True)
    simulation.run(30)
    simulation.close()


def test_a_killed_step_leaves_the_memory_as_before_it_or_as_after_it(tmp_path: Path) -> None:
    simulation = Simulation(str(tmp_path / "m"), tmp_path, 5, 2, embedded=True, kills=True)
    simulation.others = [(30, simulation.kill)]
    simulation.run(12)
    simulation.close()
    assert simulation.done["kill"] > 2


def test_every_answer_of_a_memory_on_neo4j_is_as_the_model_says(tmp_path: Path, server: Login) -> None:
    simulation = Simulation(server.uri, tmp_path, 4, 2, embedded=False)
    simulation.run(12)
    simulation.close()


def test_a_killed_client_leaves_a_memory_on_neo4j_as_before_its_step_or_as_after_it(
    tmp_path: Path, server: Login
) -> None:
    simulation = Simulation(server.uri, tmp_path, 6, 2, embedded=False, kills=True)
    simulation.others = [(30, simulation.kill)]
    simulation.run(6)
    simulation.close()
    assert simulation.done["kill"] > 1
