"""Prints the packages of one extra of pyproject.toml, one a line: `python scripts/extra.py docs`."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

if __name__ == "__main__":
    (name,) = sys.argv[1:]
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    print("\n".join(project["optional-dependencies"][name]))
