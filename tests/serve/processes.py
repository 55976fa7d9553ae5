"""A real `cuetrail serve`, as a process of its own, and what its clients do."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

# Far above what anything here takes, on a machine that is busy with other things.
PATIENCE = 60.0
Headers = dict[str, str]


@dataclass
class Running:
    """A server: where it is reached, and what it has said on stderr."""

    process: subprocess.Popen[str]
    port: int
    lines: list[str] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    def listen(self, stderr: IO[str]) -> None:
        """Reads what it says until the last of its processes has ended: all have the same stderr."""
        self.lines.extend(stderr)
        self.ended.set()

    def said(self, what: str) -> list[str]:
        """Waits for a line with these words; returns all that have them."""
        found: list[str] = until(lambda: [line for line in self.lines if what in line])
        return found

    def children(self) -> list[int]:
        """The ids of its child processes; the first is the writer."""
        file = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(one) for one in file.read_text().split()]

    def client(self) -> http.client.HTTPConnection:
        """A connection of its own."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def post(self, verb: str, body: Any = None, headers: Headers | None = None, client: Any = None) -> tuple[int, Any]:
        """Status and data of an answer, over a new connection or a client's."""
        line = client or self.client()
        given = {"Content-Type": "application/json", **(headers or {})}
        line.request("POST", f"/v1/{verb}", json.dumps(body or {}), given)
        answer = line.getresponse()
        data = answer.read()
        if client is None:
            line.close()
        return answer.status, json.loads(data)

    def get(self, path: str) -> str:
        """The text at a path."""
        line = self.client()
        line.request("GET", path)
        text = line.getresponse().read().decode()
        line.close()
        return text


def until(look: Callable[[], Any]) -> Any:
    """Looks again and again until there is something; returns it."""
    deadline = time.monotonic() + PATIENCE
    while not (found := look()):
        assert time.monotonic() < deadline, "it did not come"
        threading.Event().wait(0.02)
    return found


@contextmanager
def serving(place: Path | str, *more: str, embedder: str = "none") -> Iterator[Running]:
    """A server over this memory. Afterwards none of its processes is left."""
    words = [sys.executable, "-m", "cuetrail", "serve", "--memory", str(place), "--embedder", embedder, "--port", "0"]
    words += ["--log", "json"]
    with subprocess.Popen([*words, *more], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        first = process.stderr.readline()
        port = re.search(r"http://127\.0\.0\.1:(\d+)", first)
        if port is None:
            process.kill()
            raise AssertionError(first + process.stderr.read())
        one = Running(process, int(port[1]), [first])
        thread = threading.Thread(target=one.listen, args=(process.stderr,))
        thread.start()
        try:
            yield one
        finally:
            process.send_signal(signal.SIGTERM)
            ended = one.ended.wait(PATIENCE)
            process.kill()
            assert ended, "a process is left"
            thread.join()


def together(work: Callable[[int], Any], count: int) -> list[Any]:
    """The results of a function for so many numbers, all called at the same time."""
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, range(count)))
