"""Measures the throughput of a server with 32 clients, against the same recalls called in the process itself.

    python -m bench.serve 100000 --seconds 60 --workers 1 2

Nine of ten requests are a recall, the tenth adds a memory. Each client has a connection of its own and asks again as
soon as it is answered. The clients are one process, the server others; the recalls in the process run before and after
them, alone, and the better of the two counts. Afterwards every memory whose addition was answered must be there.

With several numbers of workers the servers run in turn, each with the memory as it was built, in `--rounds` rounds, so
that other work on the machine affects all of them. The last number is the one that the figures are of.

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
from cuetrail.serve.workers.capacity import usable_cores

CLIENTS, ADDS, TOKENS, LIMIT = 32, 0.1, 500, 10
WARM_UP, WARM_UPS, ALONE = 200, 10, 10.0
COLUMNS = ["what", "in a second", "p50", "p95", "number", "errors"]


@dataclass(slots=True)
class Tally:
    """The log of the clients: request times, added ids and errors."""

    recalls: list[float] = field(default_factory=list)
    adds: list[float] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Adds what others saw."""
        for name in ("recalls", "adds", "ids", "errors"):
            getattr(self, name).extend(getattr(other, name))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the clients ask")
    parser.add_argument("--embedder", default="static", choices=("static", "none"))
    parser.add_argument("--workers", type=int, nargs="+", default=[1, usable_cores()], help="numbers of workers")
    parser.add_argument("--rounds", type=int, default=1, help="how often each number has its turn")
    options = parser.parse_args()
    with workplace(options.work) as work:
        for size in [size for size in options.sizes if size >= MEDIUM] or options.sizes:
            corpus = write_corpus(work, size)
            place = work / str(size) / ("memory" if options.embedder == "none" else "embedded")
            if not is_built(place):
                build(partial(fill_memory, embedder=options.embedder), place, corpus, size)
            publish(measure(place, size, options.seconds, options.embedder, options.workers, options.rounds))


def cues() -> list[str]:
    return [" ".join(query.words) for query in make_queries(400, SEED)]


def measure(place: Path, size: int, seconds: float, embedder: str, workers: list[int], rounds: int) -> Result:
    # What is added must not stay in the memory that others measure.
    served = place.with_name("served")
    inside = list[list[float]]()
    seen = {number: Tally() for number in dict.fromkeys(workers)}
    lost = dict.fromkeys(seen, 0)
    for _ in range(rounds):
        for number, whole in seen.items():
            shutil.rmtree(served, ignore_errors=True)
            shutil.copytree(place, served)
            inside.append(phase(alone, served, embedder, ALONE).value)
            tally = _served(served, embedder, number, seconds)
            whole.add(tally)
            inside.append(phase(alone, served, embedder, ALONE).value)
            lost[number] += phase(missing, served, tally.ids).value
    shutil.rmtree(served)
    return _result(embedder, size, seconds * rounds, seen, max(inside, key=len), lost)


def _served(place: Path, embedder: str, workers: int, seconds: float) -> Tally:
    """What the clients of a server with so many workers see."""
    with subprocess.Popen(_command(place, embedder, workers), stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        url = server.stderr.readline().split()[-1]
        # Whoever writes must not wait for who reads: a pipe that is full stops the server.
        threading.Thread(target=server.stderr.read, daemon=True).start()
        try:
            return phase(load, url, seconds).value
        finally:
            server.send_signal(signal.SIGINT)


def _command(place: Path, embedder: str, workers: int) -> list[str]:
    words = ["-m", "cuetrail", "serve", "--memory", str(place), "--embedder", embedder, "--port", "0"]
    return [sys.executable, *words, "--workers", str(workers)]


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
    # On several connections, so that each process of the server opens its indexes.
    for number in range(WARM_UPS):
        _client(url, asked, -number, Tally(), count=WARM_UP // WARM_UPS)
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
        whole.add(tally)
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


def _result(
    embedder: str, size: int, seconds: float, seen: dict[int, Tally], inside: list[float], lost: dict[int, int]
) -> Result:
    each = len(inside) / sum(inside)
    rows = [["recalls in the process", f"{each:,.0f}", ms(p50(inside)), ms(p95(inside)), f"{len(inside):,}", "0"]]
    notes = []
    for number, tally in seen.items():
        name = f"{number} worker{'s' if number > 1 else ''}"
        rows.append(_row(f"recalls over HTTP, {name}", tally.recalls, seconds, len(tally.errors)))
        rows.append(_row(f"adds over HTTP, {name}", tally.adds, seconds, lost[number]))
        both = (len(tally.recalls) + len(tally.adds)) / seconds
        notes.append(
            f"{CLIENTS} clients for {seconds:g} s, {name}: {both:,.0f} requests a second, {times(both / each)} the "
            f"recalls inside; {len(tally.ids):,} memories added, {lost[number]} of them lost; {len(tally.errors)} "
            f"errors {tally.errors[:1] or ''}"
        )
    first, last = (list(seen.values())[at] for at in (0, -1))
    both = (len(last.recalls) + len(last.adds)) / seconds
    figures = {
        "requests / recalls in-process": both / each,
        "recalls / recalls in-process": len(last.recalls) / seconds / each,
        "errors": sum(len(tally.errors) for tally in seen.values()),
        "lost": sum(lost.values()),
        "p95 of a recall, ms": 1000 * p95(last.recalls),
        "p95 of an add, ms": 1000 * p95(last.adds),
        "recalls / recalls with the first number of workers": len(last.recalls) / len(first.recalls),
    }
    return Result("serve" if embedder == "static" else "serve_words", size, COLUMNS, rows, figures, notes)


def _row(what: str, taken: list[float], seconds: float, wrong: int) -> list[str]:
    return [what, rate(len(taken), seconds), ms(p50(taken)), ms(p95(taken)), f"{len(taken):,}", str(wrong)]


if __name__ == "__main__":
    main()
