"""Measures the throughput of a server with 32 clients, against the same recalls called in the process itself.

    python -m bench.serve 100000 --seconds 60

Nine of ten requests are a recall, the tenth adds a memory. Each client has a connection of its own and asks again as
soon as it is answered. The clients are one process, the server another; the recalls in the process run before and after
them, alone, and the better of the two counts. Afterwards every memory whose addition was answered must be there.

The cues are those of bench.search. The embedder is the one a memory has by itself. With `--embedder none` a recall goes
by words alone and takes a quarter of the time, so that what HTTP and the bringing up of the index add weighs the more.
"""

from __future__ import annotations

import http.client
import json
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.common import MEDIUM, Result, arguments, ms, p50, p95, phase, publish, rate, times, workplace
from bench.corpus import SEED, write_corpus
from bench.peers import build, fill_memory, is_built
from bench.search import make_queries
from cuetrail import Budget, Memory

CLIENTS, ADDS, TOKENS, LIMIT = 32, 0.1, 500, 10
WARM_UP, ALONE = 200, 10.0
COLUMNS = ["what", "in a second", "p50", "p95", "number", "errors"]


@dataclass(slots=True)
class Tally:
    """The log of the clients: request times, added ids and errors."""

    recalls: list[float] = field(default_factory=list)
    adds: list[float] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the clients ask")
    parser.add_argument("--embedder", default="static", choices=("static", "none"))
    options = parser.parse_args()
    with workplace(options.work) as work:
        for size in [size for size in options.sizes if size >= MEDIUM] or options.sizes:
            corpus = write_corpus(work, size)
            place = work / str(size) / ("memory" if options.embedder == "none" else "embedded")
            if not is_built(place):
                build(partial(fill_memory, embedder=options.embedder), place, corpus, size)
            # What is added must not stay in the memory that others measure.
            served = work / str(size) / "served"
            shutil.rmtree(served, ignore_errors=True)
            shutil.copytree(place, served)
            publish(measure(served, size, options.seconds, options.embedder))
            shutil.rmtree(served)


def cues() -> list[str]:
    return [" ".join(query.words) for query in make_queries(400, SEED)]


def measure(place: Path, size: int, seconds: float, embedder: str) -> Result:
    before = phase(alone, place, embedder, ALONE).value
    with subprocess.Popen(_command(place, embedder), stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        url = server.stderr.readline().split()[-1]
        # Whoever writes must not wait for who reads: a pipe that is full stops the server.
        threading.Thread(target=server.stderr.read, daemon=True).start()
        try:
            tally = phase(load, url, seconds).value
        finally:
            server.send_signal(signal.SIGINT)
    after = phase(alone, place, embedder, ALONE).value
    lost = phase(missing, place, tally.ids).value
    return _result(embedder, size, seconds, tally, max(before, after, key=len), lost)


def _command(place: Path, embedder: str) -> list[str]:
    words = ["-m", "cuetrail", "serve", "--memory", str(place), "--embedder", embedder, "--port", "0"]
    return [sys.executable, *words]


def alone(place: Path, embedder: str, seconds: float) -> list[float]:
    """The times of recalls in one process, one after the other, for so many seconds."""
    asked, taken = cues(), list[float]()
    with Memory(place, embedder=embedder) as memory:
        for cue in asked[:WARM_UP]:
            memory.recall(cue, budget=Budget(tokens=TOKENS), limit=LIMIT)
        end = time.perf_counter() + seconds
        while (begun := time.perf_counter()) < end:
            memory.recall(asked[len(taken) % len(asked)], budget=Budget(tokens=TOKENS), limit=LIMIT)
            taken.append(time.perf_counter() - begun)
    return taken


def missing(place: Path, ids: list[str]) -> int:
    """Returns how many of these ids are not in the memory."""
    with Memory(place, embedder=None) as memory:
        return len(set(ids)) - len(memory.nodes(*ids))


def load(url: str, seconds: float) -> Tally:
    """What so many clients see of a server when each asks again and again."""
    asked = cues()
    _client(url, asked, 0, Tally(), count=WARM_UP)
    tallies = [Tally() for _ in range(CLIENTS)]
    end = time.perf_counter() + seconds
    threads = [
        threading.Thread(target=_client, args=(url, asked, number, tally, end))
        for number, tally in enumerate(tallies, 1)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole = Tally()
    for tally in tallies:
        for name in ("recalls", "adds", "ids", "errors"):
            getattr(whole, name).extend(getattr(tally, name))
    return whole


def _client(url: str, asked: list[str], number: int, tally: Tally, end: float = 0.0, count: int = 0) -> None:
    rng = random.Random(number)
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    done = 0
    while done < count or time.perf_counter() < end:
        done += 1
        begun = time.perf_counter()
        try:
            if rng.random() < ADDS:
                words = " ".join(rng.choices(asked, k=5))
                node = _post(connection, "add", {"text": f"{words} {number}.{done}", "tags": ["bench"]})
                tally.adds.append(time.perf_counter() - begun)
                tally.ids.append(node["id"])
            else:
                _post(connection, "recall", {"cue": rng.choice(asked), "budget": TOKENS, "limit": LIMIT})
                tally.recalls.append(time.perf_counter() - begun)
        except (OSError, ValueError, http.client.HTTPException) as error:
            tally.errors.append(repr(error))
            connection.close()
    connection.close()


def _post(connection: http.client.HTTPConnection, verb: str, body: dict[str, Any]) -> Any:
    connection.request("POST", f"/v1/{verb}", json.dumps(body), {"Content-Type": "application/json"})
    response = connection.getresponse()
    data = response.read()
    if response.status != 200:
        raise ValueError(f"{response.status}: {data[:200]!r}")
    return json.loads(data)


def _result(embedder: str, size: int, seconds: float, tally: Tally, inside: list[float], lost: int) -> Result:
    each = len(inside) / sum(inside)
    both = (len(tally.recalls) + len(tally.adds)) / seconds
    figures = {
        "requests / recalls in-process": both / each,
        "recalls / recalls in-process": len(tally.recalls) / seconds / each,
        "errors": len(tally.errors),
        "lost": lost,
        "p95 of a recall, ms": 1000 * p95(tally.recalls),
    }
    rows = [
        ["recalls in the process", f"{each:,.0f}", ms(p50(inside)), ms(p95(inside)), f"{len(inside):,}", "0"],
        _row("recalls over HTTP", tally.recalls, seconds, len(tally.errors)),
        _row("adds over HTTP", tally.adds, seconds, lost),
    ]
    notes = [
        f"{CLIENTS} clients for {seconds:g} s: {both:,.0f} requests a second, {times(both / each)} the recalls inside",
        f"{len(tally.ids):,} memories added, {lost} of them lost; {len(tally.errors)} errors {tally.errors[:1] or ''}",
    ]
    return Result("serve" if embedder == "static" else "serve_words", size, COLUMNS, rows, figures, notes)


def _row(what: str, taken: list[float], seconds: float, wrong: int) -> list[str]:
    return [what, rate(len(taken), seconds), ms(p50(taken)), ms(p95(taken)), f"{len(taken):,}", str(wrong)]


if __name__ == "__main__":
    main()
