"""A process that takes one step of a simulation and is killed while it does."""

from __future__ import annotations

import os
from multiprocessing.connection import Connection
from typing import Any

from cuetrail.memory import Memory, restore
from cuetrail.model import Scope


def carry_out(memory: Memory, verb: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> object:
    return getattr(memory, verb)(*arguments, **options)


def take_one_step(
    pipe: Connection,
    address: str,
    scope: Scope,
    call: tuple[str, tuple[Any, ...], dict[str, Any]],
    login: dict[str, str],
) -> None:
    """Takes one step and says so. It is killed while it does. `login` are the variables that a server asks for."""
    os.environ.update(login)
    if call[0] == "restore":
        pipe.send("ready")
        restore(call[1][0], address, force=True)
        pipe.send("done")
    else:
        with Memory(address, scope=scope, embedder="none") as memory:
            pipe.send("ready")
            carry_out(memory, *call)
            pipe.send("done")
