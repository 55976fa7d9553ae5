#!/usr/bin/env python3
"""Installs what is too large for the development environment: Google's ADK, and LangChain's tests for integrations.

    scripts/frameworks.py           print the Python that has them
    scripts/frameworks.py install   install them into .venv/frameworks if they are not there (needs the package index)

That Python also has the packages of .venv, cuetrail included, so only what is missing there is installed.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
import venv
from pathlib import Path

from filelock import FileLock

ROOT = Path(__file__).parents[1]
PLACE = ROOT / ".venv" / "frameworks"
PINS = PLACE / "pins.txt"
KITS = ["langchain-tests>=1.0"]


class Missing(Exception):
    """The packages are not installed. The message says how to install them."""


def wanted() -> list[str]:
    """Returns the requirements."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    return [*extras["google-adk"], *KITS]


def find() -> Path:
    """Returns the Python that has them. Raises Missing."""
    if not PINS.exists() or PINS.read_text("utf-8").split("\n") != wanted():
        raise Missing("Google's ADK and LangChain's tests are not installed: `scripts/frameworks.py install` does it")
    return PLACE / "bin" / "python"


def install() -> Path:
    """Installs them if they are not there, and returns their Python. Raises Missing if that fails."""
    with FileLock(PLACE.with_suffix(".lock")):
        try:
            return find()
        except Missing:
            return _install()


def _install() -> Path:
    venv.create(PLACE, clear=True, symlinks=True, with_pip=True)
    python = PLACE / "bin" / "python"
    packages = next((PLACE / "lib").glob("python*/site-packages"))
    ours = next((ROOT / ".venv" / "lib").glob("python*/site-packages"))
    # `addsitedir` also reads the .pth files there, one of which leads to cuetrail itself.
    (packages / "_development.pth").write_text(f"import site; site.addsitedir({str(ours)!r})\n", "utf-8")
    command = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", "--only-binary", ":all:"]
    done = subprocess.run([*command, *wanted()], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Missing(f"pip could not install them:\n{(done.stdout + done.stderr)[-2000:]}")
    PINS.write_text("\n".join(wanted()), "utf-8")
    return python


if __name__ == "__main__":
    try:
        print(install() if sys.argv[1:] == ["install"] else find())
    except Missing as error:
        sys.exit(str(error))
