"""The command line: one module per group of commands in `commands`, and what they share.

May import: config, dream, errors, evaluate, explore, files, ingest, memory, mirror, model, recall, serve, store,
text, transfer, validation, write.
"""

from __future__ import annotations

import click

from cuetrail.cli.command import Root, examples, shared
from cuetrail.cli.commands.activate import activate
from cuetrail.cli.commands.bench import bench
from cuetrail.cli.commands.browse import dreams, edit, labels, timeline
from cuetrail.cli.commands.dream import dream
from cuetrail.cli.commands.explore import brief, explore, note, relate, traverse
from cuetrail.cli.commands.facts import fact, narrate
from cuetrail.cli.commands.mirror import mirror
from cuetrail.cli.commands.quarantine import quarantine
from cuetrail.cli.commands.recall import get, recall, stats
from cuetrail.cli.commands.serve import mcp, serve, token
from cuetrail.cli.commands.upkeep import backup, completion, copy, doctor, export, import_, reembed, restore
from cuetrail.cli.commands.write import add, forget, ingest, link, unlink

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
