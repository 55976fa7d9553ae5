"""How a command ends: the message and the exit code for each kind of error, and for Ctrl-C."""

from __future__ import annotations

import contextlib
import errno
import traceback
from collections.abc import Iterator

import click

from cuetrail.cli.output import abandon_stdout, say_json, warn
from cuetrail.errors import InputError, MemoryError_

INTERRUPTED = 130


@contextlib.contextmanager
def interruptible(message: str) -> Iterator[None]:
    """On Ctrl-C while the context is open, prints the message to stderr and ends the command."""
    try:
        yield
    except KeyboardInterrupt:
        warn(message)
        click.get_current_context().exit(INTERRUPTED)


def report_error(error: Exception, *, as_json: bool, debug: bool) -> int:
    """Prints an error to stderr and returns the exit code."""
    message, code = message_and_code(error)
    if debug:
        traceback.print_exception(error)
    if as_json:
        say_json({"error": message, "kind": type(error).__name__}, err=True)
    elif isinstance(error, click.UsageError):
        error.show()
    else:
        warn(message)
    if isinstance(error, OSError):
        abandon_stdout()
    return code


def message_and_code(error: Exception) -> tuple[str, int]:
    """Returns the message for an error, in one line, and the exit code of the command."""
    match error:
        case click.ClickException():
            return error.format_message(), error.exit_code
        case click.Abort():
            return "stopped", INTERRUPTED
        case InputError():
            return _one_line(error), 2
        case MemoryError_():
            return _one_line(error), 3
        case UnicodeError():
            return f"this is not UTF-8 text ({error}): convert it first", 1
        case OSError(errno=errno.ENOSPC):
            return f"{_path_prefix(error)}the disk is full: make room and run the same command again", 1
        case OSError():
            return f"{_path_prefix(error)}{error.strerror or error}: check the path and its permissions", 1
        case _:
            return _one_line(error), 1


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _path_prefix(error: OSError) -> str:
    name = error.filename2 or error.filename
    return f"{name}: " if name is not None else ""
