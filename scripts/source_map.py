"""Writes the map of the source in CONTRIBUTING.md from the modules' docstrings: `python scripts/source_map.py`.

A test fails if the map is outdated.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "cuetrail"
DOCUMENT = ROOT / "CONTRIBUTING.md"
START, END = "<!-- map: python scripts/source_map.py -->", "<!-- end of map -->"


def summary(module: Path) -> str:
    """Returns the first paragraph of a module's docstring on one line."""
    docstring = ast.get_docstring(ast.parse(module.read_text("utf-8"))) or ""
    return " ".join(docstring.split("\n\n")[0].split())


def rows(folder: Path) -> list[str]:
    """Returns one list item per module and package of a folder: modules first, then packages with their contents."""
    depth = "  " * len(folder.relative_to(SOURCE).parts)
    modules = sorted(path for path in folder.glob("*.py") if not path.name.startswith("__"))
    found = [f"{depth}- `{module.name}`: {summary(module)}" for module in modules]
    for package in sorted(path.parent for path in folder.glob("*/__init__.py")):
        found += [f"{depth}- **`{package.name}/`** {summary(package / '__init__.py')}", *rows(package)]
    return found


def document() -> str:
    """Returns CONTRIBUTING.md with the present map between its markers."""
    before, _, rest = DOCUMENT.read_text("utf-8").partition(START)
    return "\n".join([f"{before}{START}", "", *rows(SOURCE), "", f"{END}{rest.partition(END)[2]}"])


if __name__ == "__main__":
    DOCUMENT.write_text(document(), "utf-8")
