#!/usr/bin/env python3
"""Builds the page of `cuetrail serve` from web/ into src/cuetrail/serve/static. It needs Node.js with npm.

    scripts/page.py             build the page if it is outdated; fail if that is impossible
    scripts/page.py --optional  the same, but only warn if Node.js is missing

Hatchling also runs this when it builds a wheel or a source archive, so that users of a wheel do not need Node.js.
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
"""The oldest usable version of Node.js."""


class Missing(Exception):
    """The page cannot be built. The message says what to do."""


def build(root: Path = ROOT) -> bool:
    """Builds the page if it is outdated. True if it was built. Raises Missing."""
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
    """Returns a hash of all sources of the page."""
    made = {"node_modules", "dist"}
    sources = sorted(path for path in web.rglob("*") if path.is_file() and not made & set(path.parts))
    found = hashlib.sha256()
    for path in sources:
        found.update(f"{path.relative_to(web).as_posix()}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\0".encode())
    return found.hexdigest()[:16]


def is_built(static: Path, stamp: str) -> bool:
    """True if the built page has this hash of its sources."""
    index = static / "index.html"
    return index.is_file() and f'data-build="{stamp}"' in index.read_text("utf-8")


def _tools() -> str:
    """Returns the path of npm. Raises Missing."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise Missing(f"the page is built with Node.js {NODE} or newer and npm: install them (Debian: nodejs, npm)")
    shown = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    version = re.match(r"v(\d+)", shown)
    if version is None or int(version[1]) < NODE:
        raise Missing(
            f"the page is built with Node.js {NODE} or newer, and this is {shown.strip() or 'none'}: upgrade it"
        )
    return npm


def _install(npm: str, web: Path) -> None:
    """Installs the packages of the lock file, each checked against its hash."""
    lock, installed = web / "package-lock.json", web / "node_modules" / ".installed.json"
    if installed.is_file() and installed.read_bytes() == lock.read_bytes():
        return
    # No package needs an install script, so none may run.
    _run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], web, {})
    shutil.copyfile(lock, installed)


def _run(command: list[str], web: Path, variables: dict[str, str]) -> None:
    done = subprocess.run(
        command, cwd=web, env={**os.environ, **variables}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode:
        raise Missing(f"the page could not be built: `{' '.join(command[1:])}` in web/ printed\n{_end(done)}")


def _end(done: subprocess.CompletedProcess[str]) -> str:
    return (done.stdout + done.stderr).strip()[-3000:]


class PageHook(BuildHookInterface[Any]):
    """Adds the page to the archives that hatchling builds. Without Node.js they have no page."""

    def initialize(self, version: str, _build_data: dict[str, Any]) -> None:
        """Builds the page, except for an editable install: in a clone `make` builds it."""
        if version == "editable":
            return
        try:
            build(Path(self.root))
        except Missing as reason:
            self.app.display_warning(f"made without the page: {reason}")


def main(arguments: list[str]) -> int:
    """Runs the command of the command line and returns the exit code."""
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
