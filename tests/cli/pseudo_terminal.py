"""Runs the command line in a pseudo-terminal, as a person does."""

from __future__ import annotations

import os
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fcntl import ioctl
from pathlib import Path

PATIENCE = 60.0
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_LINK = re.compile(r"\x1b\]8;[^;]*;([^\x1b]*)\x1b\\")


@dataclass(frozen=True)
class Screen:
    """What a command wrote to the terminal, and its exit code."""

    raw: str
    code: int

    @property
    def text(self) -> str:
        """The letters alone, without styles and links."""
        return _LINK.sub("", _STYLE.sub("", self.raw))

    @property
    def links(self) -> list[str]:
        """The addresses of the links, each once."""
        return [link for link in dict.fromkeys(_LINK.findall(self.raw)) if link]


# Makes stdin the controlling terminal, so that Ctrl-C reaches the process, then becomes cuetrail.
_BEGIN = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.executable, sys.argv[1:])"


def in_terminal(
    *words: str | Path,
    columns: int = 80,
    env: Mapping[str, str] | None = None,
    typed: Sequence[tuple[str, str]] = (),
    folder: Path | None = None,
) -> Screen:
    """Runs cuetrail; each of `typed` has a text that is waited for, and what is typed then ("\x03": Ctrl-C)."""
    ours, theirs = os.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}
    command = [sys.executable, "-c", _BEGIN, sys.executable, "-m", "cuetrail", *map(str, words)]
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, cwd=folder,
        env={**kept, "TERM": "xterm-256color", **(env or {})},
    ) as process:  # fmt: skip
        os.close(theirs)
        try:
            shown = _read(ours, list(typed))
        except BaseException:
            process.kill()
            raise
        finally:
            os.close(ours)
    return Screen(shown.replace("\r\n", "\n"), process.returncode)


def _read(handle: int, typed: list[tuple[str, str]]) -> str:
    shown, answered, end = b"", 0, time.monotonic() + PATIENCE
    while True:
        assert time.monotonic() < end, f"it does not end: {shown.decode(errors='replace')}"
        if not select.select([handle], [], [], 0.5)[0]:
            continue
        try:
            some = os.read(handle, 65536)
        except OSError:  # Linux says so when the other end is closed
            some = b""
        if not some:
            assert not typed, f"it never said {typed[0][0]!r}: {shown.decode(errors='replace')}"
            return shown.decode()
        shown += some
        while typed and typed[0][0].encode() in shown[answered:]:
            answered = len(shown)
            with suppress(OSError):  # it has ended already
                os.write(handle, typed.pop(0)[1].encode())
