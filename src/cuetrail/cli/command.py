"""What every verb shares: options that may stand anywhere, opening the memory, and errors as one clear line."""

from __future__ import annotations

import contextlib
import errno
import shlex
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cuetrail.cli import output, present
from cuetrail.errors import CuetrailError, EmbedderError, InputError, MemoryError_

if TYPE_CHECKING:
    from cuetrail.config import Settings
    from cuetrail.memory import Memory
    from cuetrail.model import FileError

INTERRUPTED = 130
# How many neighbours of a path are looked at for a name that comes near.
MOST_BESIDE = 1000

C = TypeVar("C", bound=click.Command)


@dataclass(slots=True)
class Run:
    """What was given on the command line for every verb; None and empty where nothing was."""

    memory: str | None = None
    embedder: str | None = None
    user: str | None = None
    tenant: str | None = None
    team: list[str] = field(default_factory=list)
    share: str | None = None
    json: bool = False
    quiet: bool = False
    debug: bool = False

    def settings(self) -> Settings:
        """The command line on top of environment and file."""
        from dataclasses import replace

        from cuetrail.config import load_settings

        found = load_settings(self.memory, self.embedder)
        scope = replace(
            found.scope,
            tenant=self.tenant or found.scope.tenant,
            user=self.user or found.scope.user,
            teams=tuple(self.team) or found.scope.teams,
            share=self.share,
        )
        return replace(found, scope=scope)

    @contextlib.contextmanager
    def open(self, *, vectors: bool = False, new: bool = False, anyway: bool = False) -> Iterator[Memory]:
        """The memory. Without `vectors` no embedder is loaded and none can be wrong; with `new` it need not exist.

        With `anyway` an embedder that is wrong costs the vectors, not the work.
        """
        from cuetrail.config import on_server

        settings = self.settings()
        there = on_server(settings.memory) or (Path(settings.memory).expanduser() / "memory.db").exists()
        if not there and not new:
            self._refuse_to_make(settings.memory)
        with output.warnings(self.quiet), self._opened(settings, vectors, anyway) as memory:
            if not there:
                self.notice(f"made a new memory in {settings.memory}")
                self.keep_embedder()
            yield memory

    def _opened(self, settings: Settings, vectors: bool, anyway: bool) -> Memory:
        from cuetrail.memory import Memory

        embedder = settings.embedder if vectors else None
        try:
            return Memory(
                settings.memory, scope=settings.scope, embedder=embedder, api_key=settings.api_key,
                extractor=settings.extractor,
            )  # fmt: skip
        except EmbedderError as error:
            if not anyway:
                raise
            self.notice(f"what is written now has no vectors until `cuetrail reembed`: {error}")
            return Memory(settings.memory, scope=settings.scope, embedder=None)

    def _refuse_to_make(self, place: str) -> None:
        """Raises InputError for a memory that is not there, unless something else is: opening it says what."""
        path = Path(place).expanduser()
        if path.is_file() or (path / "index").exists():
            return
        near = _similar(path)
        named = f" --memory {shlex.quote(place)}" if self.memory else ""
        hint = f". Did you mean {near}?" if near else ""
        raise InputError(f"there is no memory at {place}: make one with `cuetrail{named} add ...`{hint}")

    def keep_embedder(self) -> None:
        """Make the embedder that was named on the command line the one of this memory, so that it is named once."""
        from cuetrail.config import keep_embedder

        kept = keep_embedder(self.settings().memory, self.embedder) if self.embedder else None
        if kept is not None:
            self.notice(f"later commands use the embedder {self.embedder}, as {kept} now says")

    def notice(self, text: str) -> None:
        """Tell a person something beside the result."""
        if not self.quiet and not self.json:
            output.warn(text)

    def result(self, data: Any, text: str) -> None:
        """The result: one JSON document for programs, or text for people."""
        if self.json:
            output.say_json(data)
        else:
            output.say(text)

    def summary(self, data: Any, text: str) -> None:
        """A result that is only a report of what was done: with --quiet, people do not see it."""
        if self.json or not self.quiet:
            self.result(data, text)

    def remarks(self, notices: Iterable[str], errors: Sequence[FileError]) -> None:
        """What a report says beside its summary; in JSON it is there already. Errors are told even when quiet."""
        for line in notices:
            self.notice(line)
        for line in () if self.json else present.failures(errors):
            output.warn(line)


def _similar(path: Path) -> Path | None:
    """A memory beside the path whose name comes near."""
    with contextlib.suppress(OSError):
        beside = (place.name for place in islice(path.parent.iterdir(), MOST_BESIDE) if (place / "memory.db").exists())
        for name in get_close_matches(path.name, list(beside), 1):
            return path.with_name(name)
    return None


pass_run = click.make_pass_decorator(Run, ensure=True)


def _keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    run = ctx.ensure_object(Run)
    # An empty one comes from a variable that is not set; the default's memories are not meant then.
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


class Shared(click.Option):
    """An option that every command has, before and after its name."""


def shared(command: C) -> C:
    """Give a command the options that may stand anywhere."""
    kept: dict[str, Any] = {"cls": Shared, "expose_value": False, "callback": _keep}
    options = (
        click.option("--memory", metavar="DIR", help="The memory to use. [CUETRAIL_MEMORY]", **kept),
        click.option(
            "--embedder",
            metavar="SPEC",
            help="How texts become vectors: static, none, onnx:FOLDER, fastembed[:MODEL], openai:URL#MODEL. "
            "[CUETRAIL_EMBEDDER]",
            **kept,
        ),
        click.option("--user", metavar="NAME", help="Who is asking. [CUETRAIL_USER]", **kept),
        click.option("--tenant", metavar="NAME", help="Whose memories these are. [CUETRAIL_TENANT]", **kept),
        click.option(
            "--team", metavar="NAME", multiple=True, help="A team to read with; repeatable. [CUETRAIL_TEAMS]", **kept
        ),
        click.option("--share", metavar="TEAM", help="Write for this team instead of for yourself alone.", **kept),
        click.option("--json", is_flag=True, help="Print one JSON document; errors are JSON on stderr.", **kept),
        click.option("--quiet", is_flag=True, help="Print results and errors only.", **kept),
        click.option("--debug", is_flag=True, help="Show where an error comes from.", **kept),
        click.option(
            "--version",
            cls=Shared,
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_version,
            help="Print the version and stop.",
        ),
    )
    for option in options:
        command = option(command)
    return command


class Verb(click.Command):
    """A command whose help names its own options first and the shared ones in one line."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Own options as a table, then the shared ones."""
        own = [p for p in self.get_params(ctx) if isinstance(p, click.Option) and not isinstance(p, Shared)]
        with formatter.section("Options"):
            formatter.write_dl([record for option in own if (record := option.get_help_record(ctx))])
        with formatter.section("Options of every command (see cuetrail --help)"):
            formatter.write_text(" ".join(p.opts[0] for p in self.params if isinstance(p, Shared)))


def verb(name: str, *lines: str) -> Callable[[Callable[..., None]], click.Command]:
    """Make a command with the shared options; `lines` are its examples."""

    def wrap(function: Callable[..., None]) -> click.Command:
        return shared(click.command(name, cls=Verb, epilog=examples(*lines))(function))

    return wrap


def examples(*lines: str) -> str:
    """An epilog that keeps its line breaks."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


class Root(click.Group):
    """The group: commands in the order they were added, errors as lines and exit codes."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """The names in the order people need them."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named; for a name that is none, the one that comes near is in the error."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = get_close_matches(args[0], list(self.commands), 1)
            if not near or "Did you mean" in error.message:
                raise
            raise click.UsageError(f"{error.message} Did you mean {near[0]!r}?", ctx) from error

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run and exit: 0 done, 1 partly or failed, 2 wrong use, 3 the memory cannot be used, 130 interrupted."""
        output.open_streams()
        run = Run()
        options = {"prog_name": "cuetrail", **options, "standalone_mode": False, "obj": run}
        asked = arguments[0] if arguments else options.get("args")
        given = sys.argv[1:] if asked is None else asked
        try:
            code = super().main(*arguments, **options)
        except KeyboardInterrupt:
            code = report(click.Abort(), as_json=run.json, debug=False)
        except (click.ClickException, click.Abort, CuetrailError, OSError, UnicodeError) as error:
            code = report(error, as_json=run.json or "--json" in given, debug=run.debug or "--debug" in given)
        sys.exit(code if isinstance(code, int) else 0)


def report(error: Exception, *, as_json: bool, debug: bool) -> int:
    """Say on stderr what went wrong; the exit code comes back."""
    message, code = described(error)
    if debug:
        traceback.print_exception(error)
    if as_json:
        output.say_json({"error": message, "kind": type(error).__name__}, err=True)
    elif isinstance(error, click.UsageError):
        error.show()
    else:
        output.warn(message)
    if isinstance(error, OSError):
        output.abandon_stdout()
    return code


def described(error: Exception) -> tuple[str, int]:
    """One line for a person and the exit code."""
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
            return f"{_place(error)}the disk is full: make room and run the same command again", 1
        case OSError():
            return f"{_place(error)}{error.strerror or error}: check the path and its permissions", 1
        case _:
            return _one_line(error), 1


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _place(error: OSError) -> str:
    name = error.filename2 or error.filename
    return f"{name}: " if name is not None else ""
