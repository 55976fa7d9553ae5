"""Libraries and values that are loaded at their first use."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from cuetrail.errors import ModelError

T = TypeVar("T")


class Lazy(Generic[T]):
    """A value that the first call creates. It is created once, even if several threads call at the same time."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: list[T] = []
        self._lock = threading.Lock()

    def __call__(self) -> T:
        if not self._made:
            with self._lock:
                if not self._made:
                    self._made.append(self._make())
        return self._made[0]


def import_library(module: str, install: str, fault: type[ModelError] = ModelError) -> Any:
    """Returns the imported module. Raises `fault` with the pip command if it is missing."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise fault(f"this model needs {module}, which cannot be imported; pip install {install}") from error
