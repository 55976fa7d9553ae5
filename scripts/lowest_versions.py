#!/usr/bin/env python3
"""Installs the lowest version of each dependency that `pyproject.toml` allows, for the test that they work.

    scripts/lowest_versions.py           print the Python that has them
    scripts/lowest_versions.py install   install them into .venv/lowest if they are not there (needs the package index)

cuetrail itself is not installed: that Python imports it from `src`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

from filelock import FileLock

ROOT = Path(__file__).parents[1]
PLACE = ROOT / ".venv" / "lowest"
PINS = PLACE / "pins.txt"


class Missing(Exception):
    """The lowest versions are not installed. The message says how to install them."""


def lowest() -> list[str]:
    """Returns the pins of the lowest versions, those of the Neo4j driver included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["neo4j"]]
    return [re.sub(r">=([^,]+).*", r"==\1", one) for one in wanted]


def find() -> Path:
    """Returns the Python that has the lowest versions. Raises Missing."""
    if not PINS.exists() or PINS.read_text("utf-8").split() != lowest():
        raise Missing("the lowest versions are not installed: `scripts/lowest_versions.py install` does it")
    return PLACE / "bin" / "python"


def install() -> Path:
    """Installs the lowest versions if they are not there, and returns their Python. Raises Missing if that fails."""
    with FileLock(PLACE.with_suffix(".lock")):
        try:
            return find()
        except Missing:
            return _install()


def _install() -> Path:
    venv.create(PLACE, clear=True, symlinks=True)
    python = PLACE / "bin" / "python"
    command = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "-q",
        "--only-binary",
        ":all:",
        *lowest(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Missing(f"pip could not install the lowest versions:\n{(done.stdout + done.stderr)[-2000:]}")
    packages = next((PLACE / "lib").glob("python*/site-packages"))
    (packages / "_cuetrail.pth").write_text(f"{ROOT / 'src'}\n", "utf-8")
    # The command line shows its version, which it reads from here.
    about = packages / "cuetrail-0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: cuetrail\nVersion: 0\n", "utf-8")
    PINS.write_text("\n".join(lowest()), "utf-8")
    return python


if __name__ == "__main__":
    try:
        print(install() if sys.argv[1:] == ["install"] else find())
    except Missing as error:
        sys.exit(str(error))
