#!/usr/bin/env python3
"""Starts the Chromium of this machine with Playwright, for tests and screenshots of the page.

    scripts/browser.py           print the path of Chromium
    scripts/browser.py install   install Debian's package if there is no Chromium (needs root)

Playwright itself downloads nothing. CHROMIUM=/path/to/chromium chooses another browser.
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
# Draw with the processor, because the graph needs WebGL also without a graphics card. Make no requests of its own.
FLAGS = (
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking", "--disable-sync",
    "--disable-component-update", "--no-first-run", "--disable-quic",
)  # fmt: skip


class Missing(Exception):
    """There is no browser. The message says how to install one."""


def find() -> str:
    """Returns the path of the browser. Raises Missing."""
    named = os.environ.get("CHROMIUM")
    found = next(filter(None, map(shutil.which, (named,) if named else NAMES)), None)
    if found is None:
        raise Missing("there is no Chromium: `scripts/browser.py install` installs Debian's, or set CHROMIUM to one")
    return found


def install() -> str:
    """Installs a browser if there is none, and returns its path. Raises Missing if it cannot be installed."""
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
    """Yields a running browser, and closes it at the end. Raises Missing."""
    path = find()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise Missing("Playwright is not installed: `make setup` installs it") from None
    # Chromium refuses to run as root with its sandbox.
    flags = [*FLAGS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=flags)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def serving(memory: Path, *options: str) -> Iterator[str]:
    """Starts `cuetrail serve` for a memory, yields its URL, and stops it at the end."""
    command = [sys.executable, "-m", "cuetrail", "serve", "--memory", str(memory), "--port", "0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        line = server.stderr.readline()
        try:
            if "http://" not in line:
                raise RuntimeError(f"the server did not start: {line}{server.stderr.read()}")
            # Its log is read all the time: a full pipe would block the server.
            threading.Thread(target=server.stderr.read, daemon=True).start()
            yield line.split()[-1]
        finally:
            server.send_signal(signal.SIGINT)


def main(arguments: list[str]) -> int:
    """Runs the command of the command line and returns the exit code."""
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
