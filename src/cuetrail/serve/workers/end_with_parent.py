"""Ends a child process with its parent, however that ends: no process of a server stays behind."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading

_PR_SET_PDEATHSIG = 1


def end_with_parent(parent: int, pipe: int) -> None:
    """Kills this process as soon as its parent ends: by Linux, and by a thread that waits for the end of a pipe, of
    which the parent holds the other end.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        # It has ended before Linux was asked.
        os._exit(1)
    threading.Thread(target=_wait_for_end, args=(pipe,), daemon=True).start()


def _wait_for_end(pipe: int) -> None:
    with contextlib.suppress(OSError):
        while os.read(pipe, 1):
            pass
    os._exit(1)
