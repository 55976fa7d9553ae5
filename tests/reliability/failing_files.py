"""Runs scripts on a file layer whose n-th operation fails or ends the process; see failing_files.c.

A worker process loads the layer and everything that a memory needs, once. It forks a child for each run.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
import subprocess
import sys
import traceback
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Any

from cuetrail.errors import CuetrailError
from tests.reliability.scripts import SCRIPTS, Place

ROOT = Path(__file__).parents[2]
SOURCE = Path(__file__).with_name("failing_files.c")
MODES = ("count", "once", "ever", "short", "kill", "torn")
"""The modes, in the order of the enum in the source: no failure; the n-th operation fails; it and all later ones fail;
the n-th write is short and all later operations fail; the process ends before the n-th; it ends amid the n-th."""


def compiler() -> str | None:
    """Returns the C compiler, None if there is none."""
    return shutil.which("cc") or shutil.which("gcc")


def build(cache: Path) -> Path:
    """Compiles the layer into a folder, unless it is there, and returns the library."""
    library = cache / f"failing-{blake2b(SOURCE.read_bytes(), digest_size=8).hexdigest()}.so"
    if not library.exists():
        made = cache / f"{os.getpid()}.so"
        command = [compiler() or "cc", "-O2", "-shared", "-fPIC", "-o", str(made), str(SOURCE), "-ldl"]
        subprocess.run(command, check=True, capture_output=True)
        made.replace(library)
    return library


@dataclass(frozen=True)
class Outcome:
    """What a run did: the steps that were acknowledged, the first error, how many operations it made."""

    done: int
    error: str | None
    crash: str | None
    counted: int
    fired: bool
    killed: bool
    wrong: str | None = None


class Worker:
    """The process that runs scripts on the failing layer. Use it as a context manager."""

    def __init__(self, library: Path, log: Path) -> None:
        self._log = log
        environment = {
            **os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1", "LD_PRELOAD": str(library),
        }  # fmt: skip
        command = [sys.executable, "-m", "tests.reliability.failing_files"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
        )

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def run(self, script: str, folder: Path, mode: str = "count", n: int = 0, code: int = errno.EIO) -> Outcome:
        """Runs a script in a prepared folder. After an error in mode "once", the failed step is tried again."""
        self._log.unlink(missing_ok=True)
        request = {
            "script": script, "folder": str(folder), "mode": mode, "n": n, "code": code, "log": str(self._log),
        }  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        status = int(self._process.stdout.readline())
        said = [json.loads(line) for line in self._log.read_text("utf-8").splitlines()] if self._log.exists() else []
        last: dict[str, Any] = said[-1] if said and isinstance(said[-1], dict) else {}
        return Outcome(
            done=sum(line == "ok" for line in said),
            error=last.get("error"),
            crash=last.get("crash"),
            counted=last.get("counted", 0),
            fired=last.get("fired", True),
            killed=bool(last) is False and status != 0,
        )


def _carry_out(request: dict[str, Any]) -> None:
    layer = ctypes.CDLL(None)
    log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def say(line: object) -> None:
        os.write(log, json.dumps(line).encode() + b"\n")

    script, place = SCRIPTS[request["script"]], Place(Path(request["folder"]))
    mode = request["mode"]
    layer.fault_arm(request["folder"].encode(), ctypes.c_long(request["n"]), MODES.index(mode), request["code"])
    ended: dict[str, Any] = {}
    for step in script.steps:
        try:
            step(place)
        except CuetrailError as error:
            ended.setdefault("error", f"{step.__name__}: {type(error).__name__}: {error}")
            if mode != "once":
                break
            try:
                step(place)
            except BaseException:  # noqa: BLE001  # whatever it was, the test is told
                ended["crash"] = f"tried again, {step.__name__}: {traceback.format_exc()}"
                break
        except BaseException:  # noqa: BLE001  # as above
            ended["crash"] = f"{step.__name__}: {traceback.format_exc()}"
            break
        say("ok")
    ended["counted"], ended["fired"] = layer.fault_counted(), bool(layer.fault_fired())
    say(ended)


def main() -> None:
    # Loaded here once, so that the forked children start in milliseconds.
    import cuetrail.store.sqlite  # noqa: F401

    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _carry_out(json.loads(line))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        os.write(1, f"{status}\n".encode())


if __name__ == "__main__":
    main()
