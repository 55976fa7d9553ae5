"""Options that several commands have, the callbacks that parse their values, and the node that an argument names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cuetrail.cli.output import node_title, short_id
from cuetrail.cli.screen.source_paths import source_of
from cuetrail.errors import InputError, NotFound

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.model import Node

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", re.IGNORECASE)
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*([smhd])", re.IGNORECASE)
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}

F = TypeVar("F", bound=Callable[..., Any])


def start_time(_ctx: click.Context, _param: click.Parameter, value: str | None) -> int | None:
    """Parses a time, such as an ISO date or "3 days ago", to UTC milliseconds; a date is its first millisecond."""
    from cuetrail.validation.convert_arguments import time_of

    return None if value is None else _time(value, time_of)


def end_time(_ctx: click.Context, _param: click.Parameter, value: str | None) -> int | None:
    """Parses a time like `start_time`, but a date is its last millisecond: `--until 2025-03-04` includes that day."""
    from cuetrail.validation.convert_arguments import end_of

    return None if value is None else _time(value, end_of)


def _time(text: str, read: Callable[[str], int]) -> int:
    try:
        return read(text)
    except InputError as error:
        raise click.BadParameter(str(error)) from None


def byte_size(_ctx: click.Context, _param: click.Parameter, value: str | None) -> int | None:
    """Parses 200MB, 1.5G or a number to bytes; a MB has 2**20 of them. Raises BadParameter for anything else."""
    if value is None:
        return None
    found = _SIZE.fullmatch(value.strip())
    if not found:
        raise click.BadParameter(f"{value!r} is no size: write 200MB, 1.5G or a number of bytes")
    return int(float(found[1]) * _UNITS[found[2].lower()])


def seconds(_ctx: click.Context, _param: click.Parameter, value: str | None) -> float | None:
    """Parses 90s, 15m, 1.5h or 1d to seconds."""
    if value is None:
        return None
    found = _DURATION.fullmatch(value.strip())
    number = float(found[1]) * _SECONDS[found[2].lower()] if found else 0.0
    if not number:
        raise click.BadParameter(f"{value!r} is no length of time: write 90s, 15m, 1h or 1d")
    return number


def properties(_ctx: click.Context, _param: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    """Parses name=text pairs to a mapping. Raises BadParameter for a text without a name and `=`."""
    found = {}
    for pair in value:
        name, equals, text = pair.partition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"{pair!r} is no property: write name=text")
        found[name.strip()] = text
    return found


# --- kinds of options


def number(
    *names: str, least: int = 0, most: int | None = None, default: int | None = None, help: str = ""
) -> Callable[[F], F]:
    """Returns a decorator that adds an option for a whole number from `least` to `most`."""
    return click.option(*names, metavar="N", type=click.IntRange(least, most), help=help, **_default(default))


def share(*names: str, default: float | None = None, help: str = "") -> Callable[[F], F]:
    """Returns a decorator that adds an option for a number from 0 to 1."""
    return click.option(*names, metavar="X", type=click.FloatRange(0, 1), help=help, **_default(default))


def choice(*names: str, values: Sequence[str], default: str | None = None, help: str = "") -> Callable[[F], F]:
    """Returns a decorator that adds an option whose value is one of `values`."""
    return click.option(*names, type=click.Choice(values), help=help, **_default(default))


def several(name: str, parameter: str, *, metavar: str | None = None, help: str = "") -> Callable[[F], F]:
    """Returns a decorator that adds an option that can be given several times; `parameter` gets all the texts."""
    return click.option(name, parameter, metavar=metavar or name[2:].upper(), multiple=True, help=help)


def _default(value: Any) -> dict[str, Any]:
    return {} if value is None else {"default": value, "show_default": True}


no_touch = click.option("--no-touch", is_flag=True, help="Do not record this as a use of the results.")


def node_filters(nodes: str, *without: str) -> Callable[[F], F]:
    """Returns a decorator that adds the options that filter nodes, except those in `without`. The help texts call the
    nodes `nodes`.
    """
    noun = nodes.split()[-1]
    options: dict[str, Callable[[Any], Any]] = {
        "tag": several("--tag", "tags", help=f"Only {nodes} with this tag; repeatable, all are required."),
        "bucket": several("--bucket", "buckets", help=f"Only {nodes} in this bucket; repeatable."),
        "kind": several("--kind", "kinds", help=f"Only {nodes} of this kind; repeatable."),
        "prop": click.option(
            "--prop",
            "props",
            metavar="NAME=TEXT",
            multiple=True,
            callback=properties,
            help=f"Only {nodes} with this property; repeatable.",
        ),
        "since": click.option(
            "--since",
            metavar="WHEN",
            callback=start_time,
            help=f"Only {nodes} from this time on: a date, a time, or words such as yesterday.",
        ),
        "until": click.option(
            "--until", metavar="WHEN", callback=end_time, help=f"Only {nodes} up to this time; a date includes its day."
        ),
        "quarantined": click.option(
            "--quarantined", "include_quarantined", is_flag=True, help=f"Include quarantined {noun}."
        ),
        "archived": click.option("--archived", "include_archived", is_flag=True, help=f"Include archived {noun}."),
    }

    def add_options(command: F) -> F:
        for name in reversed(options):
            command = command if name in without else options[name](command)
        return command

    return add_options


CANDIDATES_SHOWN = 5
MAX_CANDIDATES = 50
# Only ids made by cuetrail may be shortened: "report" must not find "report-final".
_ID_PREFIX = re.compile(r"[0-9a-f]{6,32}")


def is_id_prefix(word: str) -> bool:
    """True if the word can be the first digits of an id made by cuetrail."""
    return _ID_PREFIX.fullmatch(word.lower()) is not None


def find_source(memory: Memory, path: str | None) -> str | None:
    """Returns the source that a --source names, which may also be the path of an ingested file on this machine."""
    return path if path is None else source_of(path, memory.store.ingested(memory.scope).roots)


def find_node(memory: Memory, word: str) -> Node:
    """Returns the node that a word names. Raises NotFound, with suggestions, or InputError for an ambiguous prefix."""
    found = find_node_or_none(memory, word)
    if found is None:
        raise NotFound(f"there is no node with the id or name {word!r} in this scope{suggestion(memory, word)}")
    return found


def find_node_or_none(memory: Memory, word: str) -> Node | None:
    """Returns the node that a word names, or None. Raises InputError for an ambiguous prefix."""
    found = memory.get(word)
    if found is not None or not is_id_prefix(word):
        return found
    ids = [id_ for id_ in memory.ids(word.lower(), limit=MAX_CANDIDATES) if len(id_) == 32]
    if len(ids) > 1:
        nodes = [node for node in map(memory.get, ids[:CANDIDATES_SHOWN]) if node is not None]
        raise InputError(f"{word!r} begins several ids, give more digits: {'; '.join(map(_id_and_title, nodes))}")
    return memory.get(ids[0]) if ids else None


def suggestion(memory: Memory, word: str) -> str:
    """Returns the end of an error message: similar names, or how to find ids."""
    hits = memory.recall(word, limit=3, fuzzy=True, record_access=False).hits
    if hits:
        return f"; did you mean {' or '.join(_id_and_title(hit.node) for hit in hits)}?"
    return "; `cuetrail recall WORDS --explain` shows the ids of what it finds"


def _id_and_title(node: Node) -> str:
    return f"{short_id(node.id)} ({node_title(node, 40)})"
