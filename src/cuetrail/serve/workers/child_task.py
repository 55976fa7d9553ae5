"""The task of a child process of a server."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.serve.rest.request_log import LogFormat


@dataclass(frozen=True, slots=True)
class Task:
    """The task of a child: to be the reader with this number, or the writer (None), of a server with so many readers.

    `open_memory` opens the memory, which is on a database server if `remote`. `warnings` shows its warnings, `names`
    are the host names of the server, `log` is the form of its log.
    """

    number: int | None
    readers: int
    open_memory: Callable[[], Memory]
    remote: bool
    warnings: Callable[[], AbstractContextManager[None]]
    names: tuple[str, ...]
    log: LogFormat = "json"
