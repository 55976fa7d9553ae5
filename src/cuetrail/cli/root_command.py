"""The command `cuetrail` itself: questions without a verb, words that other programs use, errors as exit codes."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import click

from cuetrail.cli import output
from cuetrail.cli.command import OrderedGroup, Run
from cuetrail.cli.exit_codes import report_error
from cuetrail.errors import CuetrailError

ASKING = ("search", "find", "ask", "query")
"""Other words for `recall`."""
OTHER_WORDS = {
    "delete": "forget", "remove": "forget", "rm": "forget", "purge": "forget", "erase": "forget", "list": "timeline",
    "ls": "timeline", "log": "timeline",
    "show": "get", "cat": "get", "open": "get", "index": "ingest", "load": "ingest", "new": "add", "remember": "add",
    "server": "serve", "web": "serve", "ui": "serve", "init": "setup", "install": "setup", "status": "stats",
    "update": "edit", "models": "model", "check": "doctor", "tags": "labels",
}  # fmt: skip
"""Words that other programs use, each with the command that does this here."""
CLOSE = 0.7
"""How much, from 0 to 1, an unknown command must be like another one to be taken for it."""
FIRST_WORDS_OF_QUESTIONS = frozenset(
    [
        "who",
        "whom",
        "whose",
        "what",
        "when",
        "where",
        "which",
        "why",
        "how",
        "is",
        "are",
        "was",
        "were",
        "do",
        "does",
        "did",
        "can",
        "could",
        "should",
        "has",
        "have",
    ]
)


def is_question(word: str) -> bool:
    """True if the first word of a command line is a question: it has a space or ends in a question mark.

    >>> is_question("who decides"), is_question("why?"), is_question("recal")
    (True, True, False)
    """
    return " " in word.strip() or (word.endswith("?") and len(word) > 1)


class RootGroup(OrderedGroup):
    """The `cuetrail` command: understands questions without a verb, and turns errors into exit codes."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Returns the name, the command and its arguments; for a question, and for other words for asking, `recall`.

        Raises UsageError for an unknown name, which says what to use.
        """
        word = args[0]
        if word not in self.commands and (word in ASKING or is_question(word)):
            return "recall", self.commands["recall"], args if word not in ASKING else args[1:]
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise click.UsageError(f"No such command {word!r}. {self._hint(args)}", ctx) from error

    def _hint(self, args: Sequence[str]) -> str:
        """Returns what to do in place of an unknown command."""
        word = args[0].lower()
        if word in OTHER_WORDS:
            return f"Did you mean {OTHER_WORDS[word]!r}? See `cuetrail help {OTHER_WORDS[word]}`."
        near = [] if word in FIRST_WORDS_OF_QUESTIONS else get_close_matches(word, [*self.commands, *ASKING], 1, CLOSE)
        if near:
            return f"Did you mean {('recall' if near[0] in ASKING else near[0])!r}?"
        if word in FIRST_WORDS_OF_QUESTIONS or any(map(is_question, args)):
            return "To ask, put the question in quotes: " + f'cuetrail "{" ".join(args)}"'
        asks = f" `cuetrail recall {shlex.join(args)}` asks." if any(map(str.isalnum, word)) else ""
        return f"`cuetrail help` lists the commands.{asks}"

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Runs a command and exits: 0 done, 1 partly or failed, 2 wrong use, 3 unusable memory, 130 interrupted."""
        output.open_streams()
        run = Run()
        options = {"prog_name": "cuetrail", **options, "standalone_mode": False, "obj": run}
        args = arguments[0] if arguments else options.get("args")
        given = sys.argv[1:] if args is None else args
        try:
            code = super().main(*arguments, **options)
        except KeyboardInterrupt:
            code = report_error(click.Abort(), as_json=run.json, debug=False)
        except (click.ClickException, click.Abort, CuetrailError, OSError, UnicodeError) as error:
            code = report_error(error, as_json=run.json or "--json" in given, debug=run.debug or "--debug" in given)
        sys.exit(code if isinstance(code, int) else 0)
