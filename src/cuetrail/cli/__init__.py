"""The command line. Each verb is one small function; what they share is in `base`.

Nothing heavy is imported before a verb runs, so that `--help` and shell completion answer at once.
"""

from __future__ import annotations

import click

from cuetrail.cli.activating import activate
from cuetrail.cli.base import Root, examples, shared
from cuetrail.cli.believing import fact, narrate
from cuetrail.cli.dreaming import dream
from cuetrail.cli.exploring import brief, explore, note, relate, traverse
from cuetrail.cli.keeping import backup, completion, copy, doctor, export, import_, reembed, restore
from cuetrail.cli.measuring import bench
from cuetrail.cli.mirroring import mirror
from cuetrail.cli.reading import get, recall, stats
from cuetrail.cli.serving import mcp, serve, token
from cuetrail.cli.tending import dreams, edit, labels, timeline
from cuetrail.cli.trust import quarantine
from cuetrail.cli.writing import add, forget, ingest, link, unlink

VERBS = (
    add, ingest, recall, activate, explore, traverse, brief, get, timeline, labels, edit, link, unlink, relate, note,
    fact, narrate, quarantine, forget, dream, dreams, mirror, stats, bench, mcp, serve, token, export, import_, backup,
    copy, restore, reembed, doctor, completion,
)  # fmt: skip
"""In the order people need them; the help keeps it."""


@shared
@click.group(
    "cuetrail",
    cls=Root,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=examples(
        "cuetrail ingest ~/notes",
        "cuetrail recall what did we decide about the antenna",
        "cuetrail add 'The antenna stands on the lee side' --tag radio",
    ),
)
def main() -> None:
    """Remember things and find them again by association.

    A memory is a directory. Put texts in with add and ingest, ask with recall. The options below may stand before or
    after a command's name.
    """


for verb in VERBS:
    main.add_command(verb)
