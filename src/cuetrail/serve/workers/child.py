"""A child process of a server: started by the supervisor as `python -m cuetrail.serve.workers.child`, with the numbers
of its handles. Its first message says what it is.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuetrail.serve.workers.end_with_parent import end_with_parent

if TYPE_CHECKING:
    from cuetrail.serve.workers.child_task import Task


@dataclass(frozen=True, slots=True)
class Handles:
    """The handles that a child inherits: its ends of the line (for messages) and of the door (through which connections
    come), the shared counts, and a pipe that closes when the parent ends.
    """

    line: int
    door: int
    shared_counts: int
    life: int


def main(parent: int, handles: Handles) -> None:
    """Does the task that arrives first, until the supervisor stops it."""
    # Ctrl-C and a stop of the whole service reach every process; only the supervisor decides.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    end_with_parent(parent, handles.life)
    for handle in (handles.line, handles.door, handles.shared_counts, handles.life):
        os.set_inheritable(handle, False)
    # Imported here: they take a second to load, in which the parent may end.
    from cuetrail.serve.rest.request_log import request_log
    from cuetrail.serve.workers.process_messages import receive_first
    from cuetrail.serve.workers.shared_counts import SharedCounts

    line, door = socket.socket(fileno=handles.line), socket.socket(fileno=handles.door)
    task: Task = receive_first(line)
    shared_counts = SharedCounts(handles.shared_counts, task.readers)
    os.close(handles.shared_counts)
    with task.warnings(), request_log(task.log):
        if task.number is None:
            from cuetrail.serve.workers.writer import run_writer

            door.close()
            run_writer(task, line, shared_counts)
        else:
            from cuetrail.serve.workers.reader import run_reader

            run_reader(task, task.number, line, door, shared_counts)


if __name__ == "__main__":
    _parent, *_handles = map(int, sys.argv[1:])
    # By its real name, so that messages between processes find its classes there.
    from cuetrail.serve.workers import child

    child.main(_parent, child.Handles(*_handles))
