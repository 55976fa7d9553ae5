"""The terminal: whether there is one, how wide it is, and styled text printed to it.

Only bold, dim, italic, underlined and red text is used: it can be read on light and dark backgrounds. NO_COLOR and
TERM=dumb are respected.
"""

from __future__ import annotations

import re
import shutil
import sys
from typing import TYPE_CHECKING

from cuetrail.cli import output

if TYPE_CHECKING:
    from rich.console import Console

# Longer lines are hard to read; shorter ones have no room for an excerpt.
WIDEST, NARROWEST = 110, 40
# The width of what is written to a file or a pipe.
UNKNOWN_WIDTH = 80
_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


def is_terminal() -> bool:
    """True if stdout is a terminal."""
    return sys.stdout.isatty()


def make_console() -> Console:
    """Returns a console for stdout, at most WIDEST columns wide. Without a terminal it writes plain text."""
    from rich.console import Console, ConsoleDimensions

    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=False)
    # Asked here, because rich takes every dumb terminal to have 80 columns.
    columns = shutil.get_terminal_size((UNKNOWN_WIDTH, 24)).columns if is_terminal() else UNKNOWN_WIDTH
    console.size = ConsoleDimensions(max(NARROWEST, min(columns, WIDEST)), 25)
    return console


def can_link(console: Console) -> bool:
    """True if the terminal may understand links: a dumb one, a file and a pipe do not."""
    return console.is_terminal and not console.is_dumb_terminal


def safe(text: str) -> str:
    """Returns a text without what could control the terminal, colours included.

    >>> safe("\\x1b[31mred\\x1b[0m \\x07bell")
    'red \ufffdbell'
    """
    return output.harmless(_SEQUENCE.sub("", text))
