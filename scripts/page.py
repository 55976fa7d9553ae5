#!/usr/bin/env python3
"""Builds the page of `cuetrail serve` from web/ into src/cuetrail/serve/static. It needs Node.js with npm.

    scripts/page.py             build it, unless it is up to date; fails where it cannot
    scripts/page.py --optional  the same, but where Node is missing say how to get it, and go on

Hatchling runs this too when a wheel or a source archive is made, so who installs a wheel needs no Node.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parents[1]
NODE = 20
"""The oldest version of Node that will do."""


class Missing(Exception):
    """The page cannot be built here; the message says what to do."""


def build(root: Path = ROOT) -> bool:
    """Bring the page up to date; whether there was anything to do. Raises Missing."""
    web, static = root / "web", root / "src" / "cuetrail" / "serve" / "static"
    stamp = stamp_of(web)
    if is_built(static, stamp):
        return False
    npm = _tools()
    _install(npm, web)
    static.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=static.parent, prefix=".page-") as work:
        _run([npm, "run", "--silent", "build"], web, {"PAGE_OUT": f"{work}/static", "PAGE_STAMP": stamp})
        shutil.rmtree(static, ignore_errors=True)
        Path(work, "static").rename(static)
    return True


def stamp_of(web: Path) -> str:
    """A text that is another one when any source of the page is."""
    made = {"node_modules", "dist"}
    sources = sorted(path for path in web.rglob("*") if path.is_file() and not made & set(path.parts))
    found = hashlib.sha256()
    for path in sources:
        found.update(f"{path.relative_to(web).as_posix()}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\0".encode())
    return found.hexdigest()[:16]


def is_built(static: Path, stamp: str) -> bool:
    """Whether the page there is of these sources."""
    index = static / "index.html"
    return index.is_file() and f'data-build="{stamp}"' in index.read_text("utf-8")


def _tools() -> str:
    """The npm to run. Raises Missing."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise Missing(f"the page is built with Node.js {NODE} or newer and npm: install them (Debian: nodejs, npm)")
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    version = re.match(r"v(\d+)", said)
    if version is None or int(version[1]) < NODE:
        raise Missing(
            f"the page is built with Node.js {NODE} or newer, and this is {said.strip() or 'none'}: upgrade it"
        )
    return npm


def _install(npm: str, web: Path) -> None:
    """Have the packages that the lock file names, each checked against its hash."""
    lock, installed = web / "package-lock.json", web / "node_modules" / ".installed.json"
    if installed.is_file() and installed.read_bytes() == lock.read_bytes():
        return
    # No package may run anything while it is installed; none needs to.
    _run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], web, {})
    shutil.copyfile(lock, installed)


def _run(command: list[str], web: Path, variables: dict[str, str]) -> None:
    done = subprocess.run(
        command, cwd=web, env={**os.environ, **variables}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode:
        raise Missing(f"the page could not be built: `{' '.join(command[1:])}` in web/ said\n{_end(done)}")


def _end(done: subprocess.CompletedProcess[str]) -> str:
    return (done.stdout + done.stderr).strip()[-3000:]


class PageHook(BuildHookInterface[Any]):
    """Puts the page into what hatchling makes. Without Node that has no page, and the server says how to get it."""

    def initialize(self, version: str, _build_data: dict[str, Any]) -> None:
        """Build the page, but not for an editable install: `make` does that in a clone."""
        if version == "editable":
            return
        try:
            build(Path(self.root))
        except Missing as reason:
            self.app.display_warning(f"made without the page: {reason}")


def main(arguments: list[str]) -> int:
    """What the command line asks for; the exit code."""
    if arguments not in ([], ["--optional"]):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        if build():
            print("Built the page of `cuetrail serve`.")
    except Missing as reason:
        print(reason, file=sys.stderr)
        if not arguments:
            return 1
        print("Everything but the page works without it; `make page` builds it later.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
