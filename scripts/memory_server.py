#!/usr/bin/env python3
"""Installs the reference MCP memory server, for the test that `cuetrail mcp --compat mcp-memory` answers as it does.

scripts/memory_server.py           print the file that Node.js runs
scripts/memory_server.py install   install it into .venv/memory-server if it is not there (needs npm and its registry)
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from filelock import FileLock

PLACE = Path(__file__).parents[1] / ".venv" / "memory-server"
PACKAGE, VERSION = "@modelcontextprotocol/server-memory", "2026.8.31"


class Missing(Exception):
    """The server is not installed. The message says how to install it."""


def find() -> Path:
    """Returns the file that Node.js runs. Raises Missing."""
    file = PLACE / VERSION / "node_modules" / PACKAGE / "dist" / "index.js"
    if shutil.which("node") is None or not file.exists():
        raise Missing("the reference memory server is not installed: `scripts/memory_server.py install` does it")
    return file


def install() -> Path:
    """Installs it if it is not there, and returns the file that Node.js runs. Raises Missing if that fails."""
    PLACE.mkdir(parents=True, exist_ok=True)
    with FileLock(PLACE.with_suffix(".lock")):
        try:
            return find()
        except Missing:
            return _install()


def _install() -> Path:
    npm = shutil.which("npm")
    if npm is None:
        raise Missing("the reference memory server needs Node.js with npm")
    command = [npm, "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]
    try:
        done = subprocess.run(
            [*command, str(PLACE / VERSION), f"{PACKAGE}@{VERSION}"],
            capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise Missing("npm did not install the reference memory server in five minutes") from None
    if done.returncode:
        shutil.rmtree(PLACE / VERSION, ignore_errors=True)
        raise Missing(f"npm could not install the reference memory server:\n{(done.stdout + done.stderr)[-2000:]}")
    return find()


if __name__ == "__main__":
    try:
        print(install() if sys.argv[1:] == ["install"] else find())
    except Missing as error:
        sys.exit(str(error))
