#!/usr/bin/env python3
"""Takes the pictures of the terminal in docs/images: commands in a real pseudo-terminal, drawn by Chromium.

scripts/terminal_pictures.py [FOLDER]      the pictures that the documentation shows
scripts/terminal_pictures.py --all FOLDER  each scene at 80 and 120 columns, light and dark, with and without colour
"""

from __future__ import annotations

import html
import io
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from cuetrail import Memory  # noqa: E402  # needs the root in the path
from scripts.browser import launched  # noqa: E402
from tests.cli.pseudo_terminal import in_terminal  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Scheme = Literal["light", "dark"]
# Black, red, green, yellow, blue, magenta, cyan and white, as the terminals of GNOME and macOS have them.
_NORMAL = [(0, 0, 0), (192, 28, 40), (38, 162, 105), (162, 115, 76), (18, 72, 139), (163, 71, 186), (42, 161, 179)]
_BRIGHT = [(94, 92, 100), (246, 97, 81), (51, 209, 122), (233, 173, 12), (42, 123, 222), (192, 97, 203), (51, 199, 222)]
THEMES: dict[Scheme, TerminalTheme] = {
    "light": TerminalTheme((255, 255, 255), (23, 20, 33), [*_NORMAL, (208, 207, 204)], [*_BRIGHT, (255, 255, 255)]),
    "dark": TerminalTheme((30, 30, 30), (208, 207, 204), [*_BRIGHT, (208, 207, 204)], [*_BRIGHT, (255, 255, 255)]),
}
PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; background: {background}; color: {foreground}; display: inline-block; padding: 14px 18px; }}
pre {{ margin: 0; font: 14px/1.35 "DejaVu Sans Mono", monospace; width: {columns}ch; }} a {{ color: inherit; }}
</style><pre><code style="font-family:inherit"><b>$ {command}</b>
{code}</code></pre>"""


@dataclass(frozen=True)
class Scene:
    """A command, and the name of its picture."""

    name: str
    words: tuple[str, ...]

    @property
    def command(self) -> str:
        """The command as a person types it."""
        return " ".join(["cuetrail", *(f'"{word}"' if " " in word else word for word in self.words)])


SCENES = (
    Scene("list", ("who traced the outages to the cold connector?", "--limit", "4")),
    Scene("facts", ("where does Ann live now?", "--limit", "2")),
    Scene("explain", ("recall", "who decides how heavy a tag may be?", "--explain", "--limit", "3")),
    Scene("verbose", ("recall", "who decides how heavy a tag may be?", "-v", "--limit", "2")),
    Scene("refusal", ("quantum chess in Paris",)),
    Scene("get", ("get", "Cold connector")),
    Scene("stats", ("stats",)),
    Scene("help", ("help",)),
    Scene("typo", ("serach", "antenna")),
)
SHOWN: tuple[tuple[str, int, Scheme, bool], ...] = (
    ("list", 80, "light", True), ("list", 120, "dark", True), ("facts", 80, "dark", True),
    ("facts", 80, "light", False), ("explain", 80, "light", True), ("refusal", 80, "dark", True),
)  # fmt: skip
"""The pictures in the documentation: scene, columns, background, and whether colours are on."""


def fill(folder: Path) -> None:
    """Fills a memory with the example vault and some facts."""
    shutil.copytree(ROOT / "examples" / "vault", folder / "vault")
    with Memory(folder / "memory") as memory:
        memory.ingest(folder / "vault")
        memory.fact("Ann", "lives_in", "Berlin", now="2026-01-10")
        memory.fact("Ann", "lives_in", "Lisbon", now="2026-03-02")
        memory.add("Ann lives in Berlin, near the canal.", source="letters/Ann.md")


def screen_of(folder: Path, scene: Scene, columns: int, *, colour: bool) -> str:
    """Returns what a command writes to a terminal, with its escape sequences."""
    env = {"CUETRAIL_MEMORY": str(folder / "memory"), "HOME": str(folder), **({} if colour else {"NO_COLOR": "1"})}
    return in_terminal(*scene.words, columns=columns, env=env).raw


def page_of(scene: Scene, raw: str, columns: int, scheme: Scheme) -> str:
    """Returns a page that draws what a command wrote as a terminal of this width and background does."""
    theme = THEMES[scheme]
    console = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True, highlight=False)
    for line in raw.rstrip("\n").split("\n"):
        console.print(Text.from_ansi(line), overflow="fold")
    code = console.export_html(theme=theme, code_format="{code}", inline_styles=True)
    return PAGE.format(
        background=theme.background_color.hex, foreground=theme.foreground_color.hex, columns=columns,
        command=html.escape(scene.command), code=code,
    )  # fmt: skip


def wanted(everything: bool) -> Iterator[tuple[Scene, int, Scheme, bool]]:
    """Yields the pictures to take."""
    for scene in SCENES:
        for columns, scheme, colour in product((80, 120), ("light", "dark"), (True, False)):
            if everything or (scene.name, columns, scheme, colour) in SHOWN:
                yield scene, columns, scheme, colour


def draw(browser: Browser, memory: Path, folder: Path, *, everything: bool) -> None:
    """Runs the commands and writes their pictures into the folder."""
    page = browser.new_page(device_scale_factor=1.5)
    for scene, columns, scheme, colour in wanted(everything):
        raw = screen_of(memory, scene, columns, colour=colour)
        page.set_content(page_of(scene, raw, columns, scheme))
        name = f"terminal-{scene.name}-{columns}-{scheme}{'' if colour else '-plain'}.png"
        page.locator("body").screenshot(path=folder / name)


def main(arguments: list[str]) -> None:
    """Fills a temporary memory and takes the pictures."""
    everything = "--all" in arguments
    folders = [Path(one) for one in arguments if one != "--all"]
    folder = folders[0] if folders else ROOT / "docs" / "images"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="cuetrail-") as made, launched() as browser:
        fill(Path(made))
        draw(browser, Path(made), folder, everything=everything)


if __name__ == "__main__":
    main(sys.argv[1:])
