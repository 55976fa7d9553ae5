"""The command line: one module per group of commands in `commands`; options, output and exit codes are shared.

May import: config, dream, engines, errors, evaluate, explore, files, graph, ingest, memory, mirror, model, model_files,
recall, serve, store, text, transfer, validation, write.
"""

from __future__ import annotations

from cuetrail.cli.command import group
from cuetrail.cli.commands.activate import activate
from cuetrail.cli.commands.bench import bench
from cuetrail.cli.commands.browse import get, labels, stats, timeline
from cuetrail.cli.commands.dream import dream, dreams
from cuetrail.cli.commands.explore import brief, explore, traverse
from cuetrail.cli.commands.facts import fact, narrate
from cuetrail.cli.commands.forget import forget, quarantine
from cuetrail.cli.commands.graph import graph
from cuetrail.cli.commands.links import link, note, relate, unlink
from cuetrail.cli.commands.model import model
from cuetrail.cli.commands.recall import recall
from cuetrail.cli.commands.serve import mcp, serve, token
from cuetrail.cli.commands.setup import setup
from cuetrail.cli.commands.transfer import export, import_, mirror
from cuetrail.cli.commands.upkeep import backup, completion, copy, doctor, help_, reembed, restore
from cuetrail.cli.commands.write import add, chat, edit, ingest
from cuetrail.cli.root_command import RootGroup

VERBS = (
    setup, add, ingest, recall, chat, activate, explore, traverse, brief, get, timeline, labels, edit, link, unlink,
    relate, note, fact, narrate, quarantine, forget, dream, dreams, mirror, stats, bench, graph, mcp, serve, token,
    export, import_, backup, copy, restore, model, reembed, doctor, completion, help_,
)  # fmt: skip
"""In the order of the help."""


@group(
    "cuetrail ingest ~/notes",
    'cuetrail "what did we decide about the antenna?"',
    "cuetrail add 'The antenna stands on the lee side' --tag radio",
    name="cuetrail",
    cls=RootGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
def main() -> None:
    """Store memories and find them by association.

    A memory is a directory. Put in texts with add and ingest, and ask: cuetrail "what did we decide?" The options below
    may stand before or after a command's name.
    """


for verb in VERBS:
    main.add_command(verb)
