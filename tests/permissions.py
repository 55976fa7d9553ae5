"""Drops the privileges of root, so that file permissions can be tested whoever runs the tests."""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

# As the kernel numbers them (linux/capability.h, linux/prctl.h, linux/securebits.h).
VERSION_3 = 0x20080522
DAC_OVERRIDE, DAC_READ_SEARCH = 1 << 1, 1 << 2
SET_SECUREBITS, NOROOT = 28, 1


@contextmanager
def bound_by_permissions() -> Iterator[None]:
    """What this thread, and what it starts, may read and write is what the modes of files say."""
    if os.geteuid() != 0:
        yield
        return
    if sys.platform != "linux":
        pytest.skip("nothing is closed to root here")
    system = ctypes.CDLL(None, use_errno=True)
    header = struct.pack("Ii", VERSION_3, 0)
    kept = ctypes.create_string_buffer(24)
    # Without this a program that root starts has all rights again.
    if system.prctl(SET_SECUREBITS, NOROOT, 0, 0, 0) or system.capget(header, kept):
        pytest.skip(f"root cannot give up its rights here: {os.strerror(ctypes.get_errno())}")
    effective, *others = struct.unpack("6I", kept.raw)
    less = struct.pack("6I", effective & ~(DAC_OVERRIDE | DAC_READ_SEARCH), *others)
    assert system.capset(header, less) == 0
    try:
        yield
    finally:
        assert system.capset(header, kept) == 0
        assert system.prctl(SET_SECUREBITS, 0, 0, 0, 0) == 0
