"""`cuetrail setup`: a guided start. It asks where the notes are, which agent may use them, and for a stronger model."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from cuetrail.cli import output
from cuetrail.cli.agent_settings import CLIENTS, enter_in_client, entered_files, entered_lines
from cuetrail.cli.command import Run, verb
from cuetrail.cli.commands.model import fetch_model, use_model
from cuetrail.cli.commands.write import STOPPED, ingest_all, ingest_summary
from cuetrail.cli.exit_codes import interruptible
from cuetrail.cli.options import choice, several
from cuetrail.errors import CuetrailError

NONE = "none"
# The model that is offered: of those that fit most notes, the one that finds what is said in other words.
STRONGER = "bge-small-en-v1.5"
RUNTIME = "onnxruntime"
# Where notes usually are, below the home folder.
NOTES = ("notes", "Notes", "vault", "Vault", "Obsidian", "Documents/Obsidian", "Documents/notes", "Documents/Notes")


@dataclass(slots=True)
class Plan:
    """The answers: paths of notes, a client or NONE, a model or NONE."""

    notes: list[str] = field(default_factory=list)
    agent: str = NONE
    model: str = NONE


@verb(
    "cuetrail setup",
    "cuetrail setup --notes ~/notes --agent claude --model none",
    "cuetrail setup --yes",
)
@several("--notes", "notes", metavar="PATH", help="A folder or file with notes, or none; repeatable.")
@choice("--agent", values=(*CLIENTS, NONE), help="The agent that shall use the memory, or none.")
@click.option("--model", metavar="NAME", help="A stronger model to fetch and use (see `cuetrail model list`), or none.")
@click.option("--yes", is_flag=True, help="Take the defaults: the notes and the agent that are found here, no model.")
@click.pass_context
def setup(
    ctx: click.Context, run: Run, /, notes: tuple[str, ...], agent: str | None, model: str | None, yes: bool
) -> None:
    """Set up cuetrail in three questions.

    Where are your notes, which agent shall use them, and a stronger model or not? Each answer is an option too; with
    all three, or with --yes, nothing is asked. It can run again at any time: what is done already is skipped, and
    Ctrl-C leaves what is there as it is.
    """
    plan = _answers(run, notes, agent, model, yes)
    _check(plan)
    problems: list[str] = []
    done: dict[str, Any] = {"memory": run.settings().memory, "agent": plan.agent, "model": plan.model}
    with interruptible(f"stopped: {STOPPED}"):
        # The model first, so that every vector is made once.
        with _reported(problems, "the model"):
            _use(run, plan, done)
        with _reported(problems, "the notes"):
            _ingest(run, plan, done, problems)
        with _reported(problems, f"the settings of {plan.agent}"):
            _enter(run, plan, done)
    run.summary({**done, "problems": problems}, "\n".join(_next_steps(run, plan)))
    for problem in () if run.json else problems:
        output.warn(problem)
    ctx.exit(1 if problems else 0)


# --- questions


def _answers(run: Run, notes: tuple[str, ...], agent: str | None, model: str | None, yes: bool) -> Plan:
    """Returns the answers: those of the options, else the defaults with --yes, else those of the person at the
    terminal. Raises UsageError without a terminal, and ClickException if the person does not want to go on.
    """
    missing = [name for name, value in (("--notes", notes), ("--agent", agent), ("--model", model)) if not value]
    if missing and not yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError(f"there is no terminal to ask on: give {', '.join(missing)}, or --yes for the defaults")
    ask = bool(missing) and not yes
    if ask:
        _say(f"Your memory will be in {run.settings().memory}. Nothing is changed before the last question.\n")
    plan = Plan(
        [path for path in notes if path != NONE] if notes else _notes(ask),
        agent or _agent(ask),
        model or (_model() if ask else NONE),
    )
    if ask:
        _say("\n" + "\n".join(f"  {line}" for line in _described(plan)) + "\n")
        if not click.confirm("Go ahead?", default=True, err=True):
            raise click.ClickException("nothing was changed")
    return plan


def _notes(ask: bool) -> list[str]:
    found = next((str(path) for path in _usual_places() if path.is_dir()), None)
    if not ask:
        return [found] if found else []
    while True:
        given = click.prompt("1. Where are your notes? A folder or a file, or none", default=found or NONE, err=True)
        if given == NONE or Path(given).expanduser().exists():
            return [] if given == NONE else [str(Path(given).expanduser())]
        _say(f"   There is no file or folder {given}.")


def _usual_places() -> Iterator[Path]:
    """Yields folders that may hold notes: the usual names, and Obsidian vaults among the documents."""
    try:
        home = Path.home()
        yield from (home / name for name in NOTES)
        yield from sorted(marker.parent for marker in home.glob("Documents/*/.obsidian"))
    except (OSError, RuntimeError):
        return


def _agent(ask: bool) -> str:
    from cuetrail.serve.mcp.client_install import installed_clients

    found = next(iter(installed_clients()), NONE)
    if not ask:
        return found
    kinds = click.Choice([*CLIENTS, NONE])
    return str(click.prompt("2. Which agent shall use them?", type=kinds, default=found, err=True))


def _model() -> str:
    from cuetrail.cli.commands.model import megabytes
    from cuetrail.model_files.catalogue import named

    if find_spec(RUNTIME) is None:
        _say("3. A stronger model needs `pip install 'cuetrail[local]'`; the built-in one is used for now.")
        return NONE
    size = "it is on this machine" if named(STRONGER).is_there else f"{megabytes(named(STRONGER).size)}, fetched once"
    wanted = click.confirm(
        f"3. A stronger model, which finds what is said in other words ({size})?", default=False, err=True
    )
    return STRONGER if wanted else NONE


def _described(plan: Plan) -> Iterator[str]:
    """Yields a line for each thing that will be done."""
    yield f"read {', '.join(plan.notes)}" if plan.notes else "read no notes"
    yield f"enter cuetrail in the settings of {plan.agent}" if plan.agent != NONE else "enter it in no agent"
    yield f"fetch and use the model {plan.model}" if plan.model != NONE else "use the built-in model"


def _check(plan: Plan) -> None:
    """Raises UsageError or InputError for answers that cannot be carried out, before anything is changed."""
    from cuetrail.model_files.catalogue import named

    for path in plan.notes:
        if not Path(path).expanduser().exists():
            raise click.UsageError(f"--notes: there is no file or folder {path}")
    if plan.model != NONE and named(plan.model).sources and find_spec(RUNTIME) is None:
        raise click.UsageError("--model: it needs `pip install 'cuetrail[local]'`; --model none uses the built-in one")


# --- steps


@contextmanager
def _reported(problems: list[str], what: str) -> Iterator[None]:
    """Adds an error of the block to the problems and does not raise it, so that the other steps go on."""
    try:
        yield
    except (CuetrailError, OSError) as error:
        problems.append(f"{what}: {' '.join(str(error).split())}")


def _use(run: Run, plan: Plan, done: dict[str, Any]) -> None:
    if plan.model != NONE:
        fetch_model(run, plan.model)
        # The choice is stored with the memory, also before there is one.
        done["chosen"], text = use_model(run, plan.model)
        run.notice(text)


def _ingest(run: Run, plan: Plan, done: dict[str, Any], problems: list[str]) -> None:
    if not plan.notes:
        return
    quiet = replace(run, quiet=run.quiet or run.json)
    with run.open(vectors=True, new=True) as memory:
        paths = [str(Path(path).expanduser()) for path in plan.notes]
        report = ingest_all(quiet, memory, paths, bucket=None, provenance="internal")
    done["ingested"] = asdict(report)
    run.notice(ingest_summary(report))
    run.remarks(report.notices, ())
    problems += output.failed_files(report.errors)


def _enter(run: Run, plan: Plan, done: dict[str, Any]) -> None:
    if plan.agent != NONE:
        planned, copies = enter_in_client(run, plan.agent)
        done["files"] = entered_files(planned)
        for line in entered_lines(planned, copies):
            run.notice(line)


def _next_steps(run: Run, plan: Plan) -> Iterable[str]:
    """Yields what to try next."""
    named = f" --memory {run.memory}" if run.memory else ""
    steps: list[tuple[str, str]] = [] if plan.notes else [(f"cuetrail{named} ingest FOLDER", "reads notes later")]
    steps += [(f'cuetrail{named} "a question"', "asks"), (f"cuetrail{named} serve --open", "opens the page")]
    width = max(len(command) for command, _ in steps)
    yield "Ready. Try:"
    yield from (f"  {command.ljust(width)}  {what}" for command, what in steps)
    if plan.agent != NONE:
        yield f"Restart {plan.agent}, and it can use your memory."


def _say(text: str) -> None:
    click.echo(text, err=True)
