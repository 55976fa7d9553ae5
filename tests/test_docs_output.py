"""What the examples in the documentation print is what it says they print."""

from __future__ import annotations

import ast
import io
import json
import re
import shlex
import shutil
import sys
import zipfile
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from cuetrail.cli import main
from tests.cli.pseudo_terminal import in_terminal

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PYTHON = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.DOTALL | re.MULTILINE)
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
INDENTED = re.compile(r"^    (cuetrail .*)$", re.MULTILINE)
ELLIPSIS = "..."
# A comment after `print` that begins like a value says what is printed.
VALUE = re.compile(r"^(?:[\[({'\"\d]|True|False|None)")
# These go on until they are stopped, or need a server or the network: they are only parsed.
NOT_RUN = ("--every", "--watch", "serve", "model get", "neo4j://")
# Before each command of a page: what its ids and sources stand for.
PREPARED = {
    "forgetting.md": [
        ["add", "The antenna stands.", "--id", "393c854ee86a525653fcfa122b5f3705", "--allow-again"],
        ["add", "Ann: It stands on the roof.", "--source", "talk-42", "--allow-again"],
    ],
    "recipes.md": [["add", "The camp is set up", "--id", "A0"]],
}
# An export of ChatGPT, in chatgpt-export.zip.
CHATGPT = {
    "title": "Antenna",
    "create_time": 1760000000.0,
    "current_node": "2",
    "mapping": {
        "1": {"id": "1", "parent": None, "children": ["2"], "message": None},
        "2": {
            "id": "2",
            "parent": "1",
            "children": [],
            "message": {
                "id": "2",
                "author": {"role": "user"},
                "create_time": 1760000000.0,
                "content": {"content_type": "text", "parts": ["Where does the antenna stand?"]},
            },
        },
    },
}
# The files that commands read. Each is there for the pages that name it, or its folder, in a command.
FILES = {
    # The first example of the page itself.
    "lines.jsonl": re.findall(r"^```json\n(.*?)^```", (ROOT / "docs/format.md").read_text("utf-8"), re.DOTALL | re.M)[
        0
    ],
    "questions.jsonl": '{"question": "who decides how heavy a tag may be?", "gold": ["Hanne Solberg"]}\n',
    "vault/inbox/scraped.html": "<p>A page from elsewhere.</p>",
    "mem0.json": '{"results": [{"id": "m1", "memory": "Likes tea", "user_id": "ada", "categories": ["food"]}]}\n',
    "memory.jsonl": '{"type": "entity", "name": "Ada", "entityType": "person", "observations": ["Lives in Turin"]}\n'
    '{"type": "relation", "from": "Ada", "to": "JACQ", "relationType": "works_on"}\n',
    "notes/tea.md": "---\ntitle: Tea\n---\n## Observations\n- [method] Pour at 80 degrees #brewing\n\n"
    "## Relations\n- grows_in [[Darjeeling]]\n",
}


def comments(source: str) -> dict[int, str]:
    """The values that comments after calls of `print` give, by line."""
    lines = source.splitlines()
    ends = {
        node.lineno: lines[node.lineno - 1].rpartition("#")[2].strip()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
        if re.search(r"\)  # ", lines[node.lineno - 1])
    }
    return {line: said for line, said in ends.items() if VALUE.match(said)}


def run_python(source: str) -> tuple[str, dict[int, list[str]]]:
    """What an example prints, as a whole and by line."""
    printed: dict[int, list[str]] = {}

    def recording_print(*values: Any) -> None:
        line = " ".join(map(str, values))
        printed.setdefault(sys._getframe(1).f_lineno, []).append(line)
        sys.stdout.write(line + "\n")

    with redirect_stdout(io.StringIO()) as out:
        exec(compile(source, "example", "exec"), {"print": recording_print})
    return out.getvalue(), printed


EXAMPLES = [
    pytest.param(source, output, id=f"{page.name}-{number}")
    for page in PAGES
    for number, (source, output) in enumerate(PYTHON.findall(page.read_text("utf-8")))
    if output or comments(source)
]


@pytest.mark.parametrize(("source", "output"), EXAMPLES)
def test_python_examples_print_what_the_page_says(
    source: str, output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    whole, by_line = run_python(source)
    if output:
        assert matches(whole, output), whole
    for line, said in comments(source).items():
        assert said.startswith(", ".join(by_line[line])), f"line {line} prints {by_line[line]}, not {said}"


def matches(printed: str, said: str) -> bool:
    """Whether a text is what a page says; `...` stands for anything."""
    pattern = ".*".join(re.escape(part) for part in said.strip().split(ELLIPSIS))
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


def console(page: Path) -> list[tuple[str, str]]:
    """The commands of a page with the output that it shows for each, "" if none."""
    text = "".join(CONSOLE.findall(page.read_text("utf-8")))
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in re.split(r"^\$ ", text, flags=re.M)[1:]]


def test_the_readme_shows_what_a_terminal_shows(tmp_path: Path) -> None:
    for command, said in console(ROOT / "README.md"):
        words = shlex.split(command)[1:]
        if said:
            env = {"CUETRAIL_MEMORY": str(tmp_path / "memory"), "TERM": "dumb"}
            printed = in_terminal(*words, columns=80, env=env, folder=ROOT).text
            assert matches(re.sub("cuetrail: made a new memory .*", "", printed), said), printed


# The other commands of README are run in test_docs.py; those of cli.md are examples of the help.
RUN = [page for page in PAGES if console(page) and page.name not in ("README.md", "cli.md")]


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.name)
def test_commands_run_and_print_what_the_page_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = console(page)
    lay_out(tmp_path, " ".join(command for command, _ in commands))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CUETRAIL_MEMORY", str(tmp_path / "memory"))
    if not commands[0][0].startswith("cuetrail ingest"):
        done("cuetrail ingest vault")
    for command, said in commands:
        if any(mark in command for mark in NOT_RUN) or not command.startswith("cuetrail "):
            continue
        for arguments in PREPARED.get(page.name, ()):
            done(shlex.join(["cuetrail", *arguments]))
        printed = done(command)
        assert not said or matches(printed, said), f"{command}\n{printed}"


def lay_out(folder: Path, commands: str) -> None:
    """Puts the files into a folder that commands name."""
    shutil.copytree(ROOT / "examples", folder, dirs_exist_ok=True)
    for name, text in FILES.items():
        if name in commands or f" {Path(name).parent} " in commands:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
    if "chatgpt-export.zip" in commands:
        with zipfile.ZipFile(folder / "chatgpt-export.zip", "w") as archive:
            archive.writestr("conversations.json", json.dumps([CHATGPT]))


def done(command: str) -> str:
    """What a command prints. Fails if it ends with an error."""
    result = CliRunner().invoke(main, shlex.split(command, comments=True)[1:])
    assert result.exit_code == 0, f"{command}\n{result.output}"
    return result.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_are_understood(page: Path) -> None:
    text = page.read_text("utf-8")
    for command in [*(line for line, _ in console(page)), *INDENTED.findall(text)]:
        words = shlex.split(re.sub(r"\$\(.*?\)|\\$", "", command), comments=True)
        if words[:1] == ["cuetrail"]:
            understand(words[1:])


def understand(words: list[str]) -> None:
    """Parses a command. Raises UsageError. Nothing runs, and files need not exist."""
    ends = [words.index(mark) for mark in ("|", ">", "&&") if mark in words]
    parser = main.make_parser(click.Context(main))
    parser.allow_interspersed_args = False
    _, words, _ = parser.parse_args(words[: min(ends, default=len(words))])
    verb: click.Command = main
    # `cuetrail fact` takes a subcommand, or what it states.
    while isinstance(verb, click.Group) and words and (verb is main or words[0] in verb.commands):
        if " " in words[0]:  # `cuetrail "a question"` asks.
            words = ["recall", *words]
        assert words[0] in verb.commands, f"cuetrail has no command {words[0]}"
        verb, words = verb.commands[words[0]], words[1:]
    if not isinstance(verb, click.Group):
        verb.make_parser(click.Context(verb)).parse_args(words)
