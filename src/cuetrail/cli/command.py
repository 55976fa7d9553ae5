"""The base of every command: shared options, opening the memory, help and errors."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cuetrail.cli import output
from cuetrail.cli.output import failed_files
from cuetrail.config import Settings, keep_embedder, keep_reranker, load_settings, on_server
from cuetrail.errors import EmbedderError, InputError
from cuetrail.model import Scope

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.model import FileError

# How many folders are compared with the name of a missing memory.
MAX_SIBLINGS = 1000

C = TypeVar("C", bound=click.Command)


@dataclass(slots=True)
class Run:
    """The values of the shared options; None or empty if not given."""

    memory: str | None = None
    embedder: str | None = None
    reranker: str | None = None
    user: str | None = None
    tenant: str | None = None
    team: list[str] = field(default_factory=list)
    share: str | None = None
    json: bool = False
    quiet: bool = False
    debug: bool = False

    def settings(self) -> Settings:
        """Returns the settings: command line before environment before file."""
        found = load_settings(self.memory, self.embedder, self.reranker)
        old = found.scope
        scope = Scope(self.tenant or old.tenant, self.user or old.user, tuple(self.team) or old.teams, self.share)
        return replace(found, scope=scope)

    @contextlib.contextmanager
    def open(
        self, *, vectors: bool = False, rerank: bool = False, new: bool = False, anyway: bool = False
    ) -> Iterator[Memory]:
        """Opens the memory, with its embedder only if `vectors`, with its reranker only if `rerank`. With `new` a
        missing memory is created.

        With `anyway` an embedder that fails to load is reported, and the memory is opened without vectors.
        """
        settings = self.settings()
        exists = self.has_memory()
        if not exists and not new:
            self._check_missing(settings.memory)
        with output.warnings(self.quiet), self._open(settings, vectors, rerank, anyway) as memory:
            if not exists:
                self.notice(f"made a new memory in {settings.memory}")
                self.keep_models()
            yield memory

    def has_memory(self) -> bool:
        """True if there is a memory; also for every address of a server."""
        address = self.settings().memory
        return on_server(address) or (Path(address).expanduser() / "memory.db").exists()

    def open_for_server(self) -> Memory:
        """Opens the memory with its embedder and reranker; a missing memory is created."""
        return self._open(self.settings(), vectors=True, rerank=True, anyway=False)

    def _open(self, settings: Settings, vectors: bool, rerank: bool, anyway: bool) -> Memory:
        from cuetrail.memory import Memory

        embedder = settings.embedder if vectors else None
        reranker = settings.reranker if rerank else None
        time = {} if settings.rerank_ms is None else {"rerank_ms": settings.rerank_ms}
        try:
            return Memory(
                settings.memory, scope=settings.scope, embedder=embedder, api_key=settings.api_key,
                extractor=settings.extractor, reranker=reranker, **time,
            )  # fmt: skip
        except EmbedderError as error:
            if not anyway:
                raise
            self.notice(f"what is written now has no vectors until `cuetrail reembed`: {error}")
            return Memory(settings.memory, scope=settings.scope, embedder=None)

    def _check_missing(self, address: str) -> None:
        """Raises InputError, with a similar name if there is one, for an address without `memory.db`.

        Does nothing if the path is a file or has a folder `index`: opening it then raises a better error.
        """
        path = Path(address).expanduser()
        if path.is_file() or (path / "index").exists():
            return
        near = _similar_memory(path)
        named = f" --memory {shlex.quote(address)}" if self.memory else ""
        hint = f". Did you mean {near}?" if near else ""
        raise InputError(f"there is no memory at {address}: make one with `cuetrail{named} add ...`{hint}")

    def keep_models(self) -> None:
        """Stores the embedder and the reranker of the command line in the memory's settings, for later commands."""
        address = self.settings().memory
        for what, given, keep in (
            ("embedder", self.embedder, keep_embedder), ("reranker", self.reranker, keep_reranker)
        ):  # fmt: skip
            file = keep(address, given) if given else None
            if file is not None:
                self.notice(f"later commands use the {what} {given}, as {file} now says")

    def notice(self, text: str) -> None:
        """Prints a remark to stderr, unless --quiet or --json is given."""
        if not self.quiet and not self.json:
            output.warn(text)

    def result(self, data: Any, text: str) -> None:
        """Prints the result: the data as JSON with --json, else the text."""
        if self.json:
            output.say_json(data)
        else:
            output.say(text)

    def summary(self, data: Any, text: str) -> None:
        """Prints a report of what was done. With --quiet the text is left out."""
        if self.json or not self.quiet:
            self.result(data, text)

    def remarks(self, notices: Iterable[str], errors: Sequence[FileError]) -> None:
        """Prints the notices and errors of a report to stderr; with --quiet only errors, with --json neither, because
        the JSON contains them.
        """
        for line in notices:
            self.notice(line)
        for line in () if self.json else failed_files(errors):
            output.warn(line)


def _similar_memory(path: Path) -> Path | None:
    """Returns a memory in the same folder with a similar name, or None."""
    with contextlib.suppress(OSError):
        siblings = islice(path.parent.iterdir(), MAX_SIBLINGS)
        names = [one.name for one in siblings if (one / "memory.db").exists()]
        for name in get_close_matches(path.name, names, 1):
            return path.with_name(name)
    return None


pass_run = click.make_pass_decorator(Run, ensure=True)


def _store_option(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    run = ctx.ensure_object(Run)
    # An empty value comes from an unset variable; using the default instead would reach the wrong memories.
    if value == "" or (isinstance(value, tuple) and "" in value):
        raise click.BadParameter("it is empty: name something, or leave the option out", ctx, param)
    if isinstance(value, tuple):
        run.team.extend(value)
    elif value:
        setattr(run, str(param.name), value)


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        import cuetrail

        click.echo(f"cuetrail {cuetrail.__version__}")
        ctx.exit()


class SharedOption(click.Option):
    """An option of every command. It may stand before or after the command's name."""


_EMBEDDERS = "static, auto, none, onnx:FOLDER, fastembed[:MODEL], openai:URL#MODEL"
_NAME, _FLAG = {"metavar": "NAME"}, {"is_flag": True}
_SHARED_OPTIONS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("--memory", {"metavar": "DIR"}, "The memory to use. [CUETRAIL_MEMORY]"),
    (
        "--embedder", {"metavar": "SPEC"},
        f"How texts become vectors: {_EMBEDDERS}. [CUETRAIL_EMBEDDER]",
    ),
    (
        "--reranker", {"metavar": "SPEC"},
        "What reads the best candidates once more: none, onnx:FOLDER, fastembed:MODEL. [CUETRAIL_RERANKER]",
    ),
    ("--user", _NAME, "The user who reads and writes. [CUETRAIL_USER]"),
    ("--tenant", _NAME, "The tenant whose memories are used. [CUETRAIL_TENANT]"),
    ("--team", {**_NAME, "multiple": True}, "A team to read with; repeatable. [CUETRAIL_TEAMS]"),
    ("--share", {"metavar": "TEAM"}, "Write for this team instead of for yourself alone."),
    ("--json", _FLAG, "Print one JSON document; errors are JSON on stderr."),
    ("--quiet", _FLAG, "Print results and errors only."),
    ("--debug", _FLAG, "Show where an error comes from."),
    ("--version", {**_FLAG, "is_eager": True, "callback": _version}, "Print the version and stop."),
)  # fmt: skip


def with_shared_options(command: C) -> C:
    """Adds the shared options to a command."""
    for name, settings, text in _SHARED_OPTIONS:
        settings = {"cls": SharedOption, "expose_value": False, "callback": _store_option, "help": text, **settings}
        command = click.option(name, **settings)(command)
    return command


class VerbCommand(click.Command):
    """A command whose help lists its own options as a table and the shared ones in one line."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the options part of the help."""
        own = [p for p in self.get_params(ctx) if isinstance(p, click.Option) and not isinstance(p, SharedOption)]
        with formatter.section("Options"):
            formatter.write_dl([record for option in own if (record := option.get_help_record(ctx))])
        with formatter.section("Options of every command (see cuetrail --help)"):
            formatter.write_text(" ".join(p.opts[0] for p in self.params if isinstance(p, SharedOption)))


def verb(*lines: str, name: str | None = None) -> Callable[[Callable[..., None]], click.Command]:
    """Returns a decorator that makes a command with the shared options; `lines` are the examples in its help.

    The command is named like the function, unless a name is given. The function gets the `Run` as its first argument.
    """

    def wrap(function: Callable[..., None]) -> click.Command:
        made = click.command(name or function.__name__.rstrip("_"), cls=VerbCommand, epilog=_examples(lines))
        return with_shared_options(made(pass_run(function)))

    return wrap


def group(
    *lines: str, name: str | None = None, cls: type[click.Group] = click.Group, **options: Any
) -> Callable[[Callable[..., None]], click.Group]:
    """Returns a decorator that makes a group of commands; `lines` are the examples in its help."""

    def wrap(function: Callable[..., None]) -> click.Group:
        made = click.group(name or function.__name__, cls=cls, epilog=_examples(lines), **options)
        return with_shared_options(made(function))

    return wrap


def _examples(lines: Sequence[str]) -> str:
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


class OrderedGroup(click.Group):
    """A group whose help lists the commands in the order in which they were added."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Returns the names of the commands."""
        return list(self.commands)
