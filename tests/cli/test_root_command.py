"""The `cuetrail` command: questions without a verb, words of other programs, and help."""

from __future__ import annotations

import click
import pytest

from cuetrail.cli import main
from cuetrail.cli.root_command import ASKING, OTHER_WORDS
from tests.cli.conftest import Run


@pytest.fixture
def sky(run: Run) -> None:
    run("add", "The kite flies", "--id", "kite")


@pytest.mark.parametrize("words", [["where does the kite fly?"], ["kite?"], *([word, "kite"] for word in ASKING)])
def test_a_question_and_other_words_for_asking_recall(run: Run, sky: None, words: list[str]) -> None:
    assert run(*words, "--limit", "1").stdout == "> The kite flies [kite]\n"
    assert run("--json", *words).stdout.startswith('{\n  "cue": ')


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["recal", "kite"], "Did you mean 'recall'?"),
        (["serach", "kite"], "Did you mean 'recall'?"),
        (["delete", "kite"], "Did you mean 'forget'? See `cuetrail help forget`."),
        (["rm", "kite"], "Did you mean 'forget'?"),
        (["ls"], "Did you mean 'timeline'?"),
        (["where", "is", "it"], 'put the question in quotes: cuetrail "where is it"'),
        (["silent", "kite?"], 'put the question in quotes: cuetrail "silent kite?"'),
        (["xyzzy"], "`cuetrail help` lists the commands. `cuetrail recall xyzzy` asks."),
        (["recal", "native workspace"], "Did you mean 'recall'?"),
        (["what", "is", "it"], "put the question in quotes"),
        (["?"], "`cuetrail help` lists the commands."),
        ([""], "`cuetrail help` lists the commands."),
    ],
)
def test_an_unknown_word_gets_a_hint_and_does_nothing(run: Run, sky: None, words: list[str], hint: str) -> None:
    assert hint in run(*words, code=2).stderr
    assert run("get", "kite").exit_code == 0


def test_every_hint_names_a_command_and_none_hides_one() -> None:
    assert set(OTHER_WORDS.values()) <= set(main.commands)
    assert not {*ASKING, *OTHER_WORDS} & set(main.commands)


def test_help_shows_the_help_of_any_command(run: Run) -> None:
    assert run("help").stdout == run("--help").stdout
    for words in (["recall"], ["mcp", "install"]):
        command: click.Command = main
        for word in words:
            assert isinstance(command, click.Group)
            command = command.commands[word]
        assert run("help", *words).stdout == run(*words, "--help").stdout
    assert "Usage: cuetrail recall" in run("help", "search").stdout
    assert "Did you mean 'forget'?" in run("help", "delete", code=2).stderr
    assert "has no subcommands" in run("help", "recall", "more", code=2).stderr
