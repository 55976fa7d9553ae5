"""Links in the documentation lead to files and headings, and every page is in the navigation of the site."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OUTSIDE = {"index.md": "README.md", "contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}
PAGES = [*(ROOT / name for name in OUTSIDE.values()), *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^(```+).*?^\1$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`[^`\n]+`")
LINK = re.compile(r"\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]+))?\)")
HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


@cache
def prose(page: Path) -> str:
    """The text of a page without blocks of code."""
    return FENCE.sub("", page.read_text("utf-8"))


def slug(heading: str) -> str:
    """The anchor that a forge, and the site, give a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", text).strip().lower().replace(" ", "-")


@cache
def anchors(page: Path) -> list[str]:
    return [slug(heading) for heading in HEADING.findall(prose(page))]


def broken(page: Path) -> list[str]:
    """The links of a page that lead to no file, to no heading, or to a heading that is there twice."""
    found = []
    for target, anchor in LINK.findall(CODE.sub("``", prose(page))):
        file = (page.parent / target.replace("%20", " ")).resolve() if target else page
        if not file.exists() or (anchor and (file.suffix != ".md" or anchors(file).count(anchor) != 1)):
            found.append(f"{target}#{anchor}" if anchor else target)
    return found


@every_page
def test_links_lead_to_a_file_and_to_one_heading(page: Path) -> None:
    assert not broken(page)


def test_a_link_to_a_missing_file_or_heading_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One\n\n## Two words\n\n[a](#two-words) [b](#three) [c](none.md) [d](https://example.org) `[e](none)`\n"
    )
    assert broken(page) == ["#three", "none.md"]


def test_every_page_is_in_the_navigation_once() -> None:
    named = re.findall(r"^ +- .+: (\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    pages = [ROOT / OUTSIDE[name] if name in OUTSIDE else ROOT / "docs" / name for name in named]
    assert sorted(pages) == sorted(PAGES)
