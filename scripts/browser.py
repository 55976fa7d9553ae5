#!/usr/bin/env python3
"""A real browser for tests of the page and for pictures of it: the Chromium of this machine, driven by Playwright.

    scripts/browser.py           print where it is
    scripts/browser.py install   install Debian's package, unless one is there (needs root)

Nothing is downloaded by Playwright itself. CHROMIUM=/path/to/one names another.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# It draws with the processor, so that the graph is there on machines without a graphics card; and it stays at home.
FLAGS = (
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking", "--disable-sync",
    "--disable-component-update", "--no-first-run", "--disable-quic",
)  # fmt: skip


class Missing(Exception):
    """There is no browser; the message says how to get one."""


def find() -> str:
    """The browser to run. Raises Missing."""
    named = os.environ.get("CHROMIUM")
    found = next(filter(None, map(shutil.which, (named,) if named else NAMES)), None)
    if found is None:
        raise Missing("there is no Chromium: `scripts/browser.py install` installs Debian's, or set CHROMIUM to one")
    return found


def install() -> str:
    """Have a browser. Raises Missing where it cannot be installed."""
    try:
        return find()
    except Missing:
        if shutil.which("apt-get") is None or os.geteuid() != 0:
            raise
    for command in (["update"], ["install", "-y", "--no-install-recommends", "chromium", "fonts-dejavu-core"]):
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        done = subprocess.run(["apt-get", "-qq", *command], env=quiet, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Missing(f"apt-get could not install Chromium:\n{(done.stdout + done.stderr)[-2000:]}")
    return find()


@contextmanager
def launched() -> Iterator[Browser]:
    """The browser, for as long as the block takes. Raises Missing."""
    place = find()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise Missing("Playwright is not installed: `make setup` installs it") from None
    # As root Chromium runs without its sandbox or not at all.
    flags = [*FLAGS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=place, args=flags)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def serving(memory: Path, *options: str) -> Iterator[str]:
    """The address of a server of this memory, for as long as the block takes."""
    words = [sys.executable, "-m", "cuetrail", "serve", "--memory", str(memory), "--port", "0", *options]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        said = server.stderr.readline()
        try:
            if "http://" not in said:
                raise RuntimeError(f"the server did not start: {said}{server.stderr.read()}")
            # What it logs is read all the time: a pipe that is full would stop it.
            threading.Thread(target=server.stderr.read, daemon=True).start()
            yield said.split()[-1]
        finally:
            server.send_signal(signal.SIGINT)


def main(arguments: list[str]) -> int:
    """What the command line asks for; the exit code."""
    try:
        match arguments:
            case []:
                print(find())
            case ["install"]:
                print(install())
            case _:
                print(__doc__, file=sys.stderr)
                return 2
    except Missing as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
