#!/usr/bin/env python3
"""Takes the screenshots of the page in docs/images, from a temporary memory with the examples.

.venv/bin/python scripts/screenshots.py [FOLDER]
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from cuetrail import Memory  # noqa: E402  # needs the root in the path
from scripts.browser import launched, serving  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WIDE, TALL, PHONE = (1280, 860), (1280, 1240), (400, 800)
Scheme = Literal["light", "dark"]


def fill(folder: Path) -> None:
    """Fills a memory with examples of everything that the page shows."""
    with Memory(folder) as memory:
        # From copies, because the page shows where the files are.
        notes = Path(shutil.copytree(ROOT / "examples", folder.parent / "notes"))
        memory.ingest(notes / "chat.json")
        memory.ingest(notes / "vault")
        memory.dream()
        memory.fact("Wingbeat", "uses", "SQLite")
        memory.fact("Wingbeat", "status", "spring trial")
        memory.fact("Wingbeat", "status", "autumn season")
        memory.note("Wingbeat", "Ask Hanne before the next trial.")
        memory.quarantine(source="vault/notes/Reading list.md")
        memory.add(kind="person", name="Anna Berg", id="me")
        memory.fact("me", "lives_in", "Turin")
        memory.fact("me", "works_on", "Wingbeat")
        memory.fact("me", "prefers", "tea to coffee")


def _why(page: Page) -> None:
    page.locator(".related [data-why]").first.click()
    page.wait_for_timeout(500)


def _suggested(page: Page) -> None:
    page.get_by_role("combobox", name="Search").press_sequentially("sk", delay=50)
    page.get_by_role("option").first.wait_for()
    page.wait_for_timeout(300)


def _forget(page: Page) -> None:
    page.get_by_role("button", name="Forget", exact=True).click()
    page.get_by_text("This file on your disk").wait_for()
    page.wait_for_timeout(300)


def _graph(page: Page) -> None:
    page.get_by_role("button", name="Lay out again").wait_for()
    page.get_by_text("nodes as a list").click()
    page.locator(".node-list li button").nth(2).click()
    page.evaluate("scrollTo(0, 0)")
    page.get_by_role("button", name="Show all").click()
    page.wait_for_timeout(1000)


def _nothing(page: Page) -> None:
    page.wait_for_timeout(300)


ASKED = "#/search?q=who+traced+the+outages+to+the+cold+connector%3F"
GRAPH = f"{ASKED}&tab=graph"
FACT = "#/search?q=what+is+the+status+of+Wingbeat%3F"
SHOTS: list[tuple[str, str, str, Scheme, tuple[int, int], Callable[[Page], None]]] = [
    ("search", ASKED, ".related", "light", TALL, _nothing),
    ("search-dark", ASKED, ".related", "dark", WIDE, _nothing),
    ("why", ASKED, ".related", "light", WIDE, _why),
    ("facts", FACT, ".current", "light", WIDE, _nothing),
    ("suggest-dark", "#/search", ".lately", "dark", WIDE, _suggested),
    ("graph", GRAPH, ".stage", "light", WIDE, _graph),
    ("graph-dark", GRAPH, ".stage", "dark", WIDE, _graph),
    ("node", "#/node/Wingbeat", ".ties", "light", WIDE, _nothing),
    ("node-dark", "#/node/Wingbeat", ".ties", "dark", WIDE, _nothing),
    ("forget", "#/node/Cold connector", ".ties", "light", WIDE, _forget),
    ("you", "#/you", ".about-you", "light", WIDE, _nothing),
    ("timeline", "#/timeline", "main article", "light", WIDE, _nothing),
    ("browse-dark", "#/browse", "main h2", "dark", WIDE, _nothing),
    ("dreams", "#/dreams", ".learnt", "light", WIDE, _nothing),
    ("phone", ASKED, ".hit", "light", PHONE, _nothing),
]
"""Each screenshot: name, address, element to wait for, colour scheme, size, and actions before it is taken."""


def shoot(browser: Browser, url: str, folder: Path) -> None:
    """Takes all screenshots and writes them into the folder."""
    for name, address, sign, scheme, (width, height), prepare in SHOTS:
        context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": height}, locale="en-GB")
        page = context.new_page()
        page.goto(f"{url}/{address}")
        page.locator(sign).first.wait_for()
        # Reload: the first request also loads the model, which takes longer.
        page.reload()
        page.locator(sign).first.wait_for()
        page.wait_for_load_state("networkidle")
        prepare(page)
        page.screenshot(path=folder / f"page-{name}.png")
        context.close()


def main(folder: Path) -> None:
    """Fills a temporary memory, serves it, and takes the screenshots."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="cuetrail-") as made:
        fill(Path(made) / "memory")
        with serving(Path(made) / "memory") as url, launched() as browser:
            shoot(browser, url, folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images")
