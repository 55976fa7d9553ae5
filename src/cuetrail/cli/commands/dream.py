"""`cuetrail dream` and `dreams`: run the background passes, and list earlier runs."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from cuetrail.cli import output
from cuetrail.cli.command import Run, verb
from cuetrail.cli.exit_codes import interruptible
from cuetrail.cli.options import seconds
from cuetrail.cli.output import count_of, table, utc_time
from cuetrail.errors import Busy
from cuetrail.model import PASS_NAMES

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.model import DreamReport, PassReport

CHANGES_SHOWN = 20
# How many seconds a signal may go unnoticed between two dreams.
SLICE = 1.0
STOPPED = "stopped: finished passes are stored, and the next dream continues from there"


@verb("cuetrail dream", "cuetrail dream --dry-run --only infection", "cuetrail dream --every 1h --zone Europe/Oslo")
@click.option(
    "--only", metavar="PASS", type=click.Choice(PASS_NAMES), multiple=True,
    help=f"Run only this pass; repeatable. One of {', '.join(PASS_NAMES)}.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@click.option(
    "--every", metavar="TIME", callback=seconds, help="Dream again every 30m, 1h or 1d, until Ctrl-C or SIGTERM."
)
@click.option("--everyone", is_flag=True, help="Dream for all users of the memory, each separately.")
@click.option(
    "--zone", metavar="ZONE", help="The time zone of days, such as Europe/Oslo. [default: UTC] [CUETRAIL_ZONE]"
)
def dream(run: Run, /, every: float | None, zone: str | None, **options: Any) -> None:
    """Run the background passes that organise the memory.

    They add time labels and tags, link texts to the people and things they mention, link entities that occur together,
    and group texts into episodes. Only changes since the last dream are processed, and your own tags are never touched.
    While another dream runs in this memory, this one is skipped.
    """
    options["zone"] = zone or run.settings().zone
    with interruptible(STOPPED), run.open() as memory:
        if every is None:
            _dream_once(run, memory, options)
        else:
            _dream_repeatedly(run, memory, options, every)


def _dream_once(run: Run, memory: Memory, options: dict[str, Any]) -> None:
    with output.progress(run.quiet) as step:
        report = memory.dream(progress=step, **options)
    run.summary(asdict(report), _report_table(report))
    run.remarks(report.notices, ())


def _dream_repeatedly(run: Run, memory: Memory, options: dict[str, Any], seconds: float) -> None:
    """Dreams at intervals; a memory that is busy is reported and tried again later."""
    from cuetrail.dream.run import repeat

    def once() -> None:
        try:
            _dream_once(run, memory, options)
        except Busy as error:
            output.warn(str(error))

    with _until_terminated() as stop:
        repeat(once, seconds, stop)


@contextlib.contextmanager
def _until_terminated() -> Iterator[_Termination]:
    """Yields the record of whether SIGTERM was received. SIGTERM also ends the `with` block, so that an open
    transaction is rolled back.
    """
    stop = _Termination()

    def terminate(*_: object) -> None:
        stop.received = True
        raise _Terminated

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield stop
    except _Terminated:
        output.warn(STOPPED)
    finally:
        signal.signal(signal.SIGTERM, before)


class _Termination:
    """Whether SIGTERM was received. Without a lock, which a signal handler could wait for in vain.

    `wait` looks for signals every SLICE seconds: the system may deliver a signal to any thread, and then nothing wakes
    the main thread, which handles it.
    """

    def __init__(self) -> None:
        self.received = False

    def is_set(self) -> bool:
        return self.received

    def wait(self, timeout: float) -> bool:
        end = time.monotonic() + timeout
        while not self.received and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, SLICE))
        return self.received


class _Terminated(BaseException):
    """Raised when SIGTERM is received. Not a subclass of Exception, so that no error handler catches it."""


def _report_table(report: DreamReport) -> str:
    if report.skipped:
        return "skipped: another dream runs in this memory"
    lines = table([("pass", "read", "wrote", "removed", "seconds"), *map(_cells, report.passes)])
    if report.dry_run:
        lines = ["dry run: nothing was changed", *lines]
        lines += [line for one in report.passes for line in _changes(one)]
    return "\n".join(lines)


def _cells(one: PassReport) -> tuple[str, ...]:
    return (one.name, f"{one.read:,}", f"{one.wrote:,}", f"{one.removed:,}", f"{one.seconds:.2f}")


def _changes(one: PassReport) -> Iterator[str]:
    """Yields the first changes of a pass, one per line."""
    if one.changes:
        yield f"\n{one.name}"
        yield from (f"  {line}" for line in one.changes[:CHANGES_SHOWN])
        more = one.wrote + one.removed - CHANGES_SHOWN
        if more > 0:
            yield f"  and {count_of(more, 'more change', 'more changes')}"


@verb("cuetrail dreams", "cuetrail dreams --json")
def dreams(run: Run, /) -> None:
    """List the last dreams and their changes, newest first."""
    with run.open() as memory:
        found = memory.dreams()
    lines = []
    for one in found:
        changes = [
            f"{each.name} +{each.wrote:,} -{each.removed:,}" for each in one.report.passes if each.wrote or each.removed
        ]
        lines.append(f"{utc_time(one.at)}  {one.report.seconds:.1f} s  {', '.join(changes) or 'nothing changed'}")
    run.result([asdict(one) for one in found], "\n".join(lines) or "nothing was dreamt yet: `cuetrail dream`")
