"""How many processes a server may have on this machine."""

from __future__ import annotations

import os
import socket

MOST_WORKERS = 64


def can_hand_over() -> bool:
    """True if sockets can be passed from one process to another, as on Linux and macOS."""
    return hasattr(socket, "send_fds") and hasattr(socket, "AF_UNIX")


def usable_cores() -> int:
    """Returns the number of cores that this process may use, at most MOST_WORKERS."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST_WORKERS)
