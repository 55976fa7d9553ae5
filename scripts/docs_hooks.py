"""Hooks of mkdocs: README, CONTRIBUTING and CHANGELOG become pages of the site, with links that fit there.

These three stand outside `docs`, where a forge shows them, so links from them and to them are rewritten for the site.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
# Code that stands alone is left as it is; code in the text of a link is part of the link.
_CODE_OR_LINK = re.compile(r"`[^`\n]+`|(!?\[(?:[^\[\]]|!\[[^\]]*\]\([^)]*\))*\])\(([^)\s#]+)(#[^)\s]*)?\)")
_FENCE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)


def on_files(files: Files, config: Any) -> Files:
    """Adds the three pages."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, **_others: Any) -> str:
    """Returns the text of a page with its links rewritten."""
    return rewrite(markdown, page.file.src_uri)


def rewrite(markdown: str, page: str) -> str:
    """Returns the Markdown of a page with links that fit the site; one to a file that is no page becomes its text."""
    origin = {made: source for source, made in PAGES.items()}.get(page, f"docs/{page}")

    def linked(found: re.Match[str]) -> str:
        text, target, anchor = found[1], found[2], found[3] or ""
        if text is None or re.match(r"[a-z]+:", target):
            return found[0]
        path = (ROOT / origin).parent.joinpath(target).resolve()
        place = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ""
        inside = PAGES.get(place) or (place.removeprefix("docs/") if place.startswith("docs/") else None)
        if inside is None:
            return text.removeprefix("[").removesuffix("]")
        return f"{text}({'../' * page.count('/')}{inside}{anchor})"

    return "".join(
        part if index % 2 else _CODE_OR_LINK.sub(linked, part) for index, part in enumerate(_FENCE.split(markdown))
    )
