"""A dream makes garbage collections rare while it runs, and restores the setting afterwards."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest

from cuetrail.dream.run import THRESHOLD, fewer_collections


@pytest.fixture(autouse=True)
def threshold() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_the_threshold_is_put_back_when_the_last_of_several_is_done() -> None:
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with fewer_collections():
            inside.set()
            leave.wait(60)

    thread = threading.Thread(target=other)
    with fewer_collections():
        thread.start()
        assert inside.wait(60)
        assert gc.get_threshold() == (THRESHOLD, 10, 10)
    assert gc.get_threshold() == (THRESHOLD, 10, 10)
    leave.set()
    thread.join()
    assert gc.get_threshold() == (700, 10, 10)


def test_an_error_inside_puts_it_back_too() -> None:
    with pytest.raises(KeyError), fewer_collections():
        raise KeyError
    assert gc.get_threshold() == (700, 10, 10)


def test_who_has_turned_the_collector_off_by_its_threshold_or_made_it_patient_keeps_that() -> None:
    for first in (0, 2 * THRESHOLD):
        gc.set_threshold(first, 10, 10)
        with fewer_collections():
            assert gc.get_threshold() == (first, 10, 10)
        assert gc.get_threshold() == (first, 10, 10)
