"""The verb that lets a memory work on itself: dream."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from cuetrail.cli import output, parse, present
from cuetrail.cli.command import INTERRUPTED, Run, pass_run, verb
from cuetrail.errors import Busy
from cuetrail.model import PASSES

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.model import DreamReport, PassReport

CHANGES_SHOWN = 20
SAFE = "what was dreamt up to here is kept, and the next dream goes on from there"


@verb(
    "dream",
    "cuetrail dream",
    "cuetrail dream --dry-run --only infection",
    "cuetrail dream --every 1h --zone Europe/Oslo",
)
@click.option(
    "--only", metavar="PASS", type=click.Choice(PASSES), multiple=True,
    help=f"Run this pass alone; repeatable. One of {', '.join(PASSES)}.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@click.option(
    "--every",
    metavar="TIME",
    callback=parse.duration,
    help="Dream again every 30m, 1h or 1d, until Ctrl-C or SIGTERM.",
)
@click.option("--everyone", is_flag=True, help="Dream for all users of the memory, each for himself.")
@click.option("--zone", metavar="ZONE", help="Where days begin, such as Europe/Oslo. Else UTC. [CUETRAIL_ZONE]")
@pass_run
@click.pass_context
def dream(ctx: click.Context, run: Run, /, every: float | None, zone: str | None, **options: Any) -> None:
    """Let the memory find what belongs together.

    Atoms get the labels of their time, tags of names and phrases they share, and the tags that their texts name; they
    are joined to what they name, names to each other, and what happened in one sitting becomes an episode. Only what
    changed since the last dream is looked at, and no tag of yours is ever touched. While another dream is at work in
    this memory, this one is skipped.
    """
    options["zone"] = zone or run.settings().zone
    try:
        with run.open() as memory:
            if every is None:
                _once(run, memory, options)
            else:
                _again(run, memory, options, every)
    except KeyboardInterrupt:
        output.warn(f"stopped: {SAFE}")
        ctx.exit(INTERRUPTED)


def _once(run: Run, memory: Memory, options: dict[str, Any]) -> None:
    from dataclasses import asdict

    with output.progress(run.quiet) as step:
        report = memory.dream(progress=step, **options)
    run.summary(asdict(report), _said(report))
    run.remarks(report.notices, ())


def _again(run: Run, memory: Memory, options: dict[str, Any], seconds: float) -> None:
    """Dream at intervals; that somebody else is writing for long is no reason to give up."""
    from cuetrail.dream.schedule import again

    def once() -> None:
        try:
            _once(run, memory, options)
        except Busy as error:
            output.warn(str(error))

    with _until_terminated() as stop:
        again(once, seconds, stop)


@contextlib.contextmanager
def _until_terminated() -> Iterator[threading.Event]:
    """An event that SIGTERM sets; what is being written then is given up, as with Ctrl-C."""
    stop = threading.Event()

    def terminate(*_: object) -> None:
        stop.set()
        raise _Terminated

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield stop
    except _Terminated:
        output.warn(f"stopped: {SAFE}")
    finally:
        signal.signal(signal.SIGTERM, before)


class _Terminated(BaseException):
    """SIGTERM has come. Not an Exception, so that nobody on the way takes it for an error."""


def _said(report: DreamReport) -> str:
    if report.skipped:
        return "skipped: another dream is at work in this memory"
    rows = [("pass", "read", "wrote", "removed", "seconds"), *map(_cells, report.passes)]
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.rjust(width) if n else cell.ljust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    if report.dry_run:
        lines = ["this is what would be done; nothing was changed", *lines]
        lines += [line for one in report.passes for line in _changes(one)]
    return "\n".join(lines)


def _cells(one: PassReport) -> tuple[str, ...]:
    return (one.name, f"{one.read:,}", f"{one.wrote:,}", f"{one.removed:,}", f"{one.seconds:.2f}")


def _changes(one: PassReport) -> Iterator[str]:
    """The first changes of a pass."""
    if one.changes:
        yield f"\n{one.name}"
        yield from (f"  {line}" for line in one.changes[:CHANGES_SHOWN])
        more = one.wrote + one.removed - CHANGES_SHOWN
        if more > 0:
            yield f"  and {present.count(more, 'more change', 'more changes')}"
