"""Methods of an engine that run a function in a transaction opened for one scope."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from cuetrail.model import Scope

P = ParamSpec("P")
T = TypeVar("T")
Engine = TypeVar("Engine")
View = TypeVar("View")


class Scoped(Generic[Engine, View]):
    """A decorator. It turns a function whose first argument is a view (what one scope sees) into a method of an engine.

    `run(engine, scope, work)` opens the view in a transaction and returns `work(view)`.
    """

    def __init__(self, run: Callable[[Engine, Scope, Callable[[View], Any]], Any]) -> None:
        self._run = run

    def __call__(self, work: Callable[Concatenate[View, P], T]) -> Callable[Concatenate[Engine, Scope, P], T]:
        run = self._run

        @functools.wraps(work)
        def method(engine: Engine, scope: Scope, /, *args: P.args, **options: P.kwargs) -> T:
            result: T = run(engine, scope, lambda view: work(view, *args, **options))
            return result

        return method
