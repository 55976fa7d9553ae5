"""One flipped bit or byte of `memory.db`: every answer is as before, or the damage is named.

By hand, over many files: `python -m tests.reliability.flipped_bytes [FILES] [SEED]`.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from cuetrail.errors import CorruptMemory, WrongVersion
from cuetrail.memory import Memory
from cuetrail.model import Scope
from tests.every_field import every_field
from tests.store.sqlite.tools import Pebbles

NOW = 1_768_831_200_000
DAY = 86_400_000
OTHER = Scope(user="bob")
Outcome = Literal["noticed", "same", "wrong"]


def make(directory: Path) -> None:
    """Makes a memory that has something in every table."""
    with Memory(directory, embedder=Pebbles()) as memory:
        memory.add_many(
            {
                "id": f"n{n}", "text": f"Hanne Berg saw the mast number {n} near Skarholm, {'well ' * (n % 9)}twice",
                "tags": [f"t{n % 5}", "mast"], "buckets": [f"b{n % 3}"], "at": NOW + n * DAY // 8,
            }
            for n in range(80)
        )  # fmt: skip
        for n, name in enumerate(("Hanne Berg", "Skarholm", "Odd Lie", "Receiver")):
            memory.add(f"What is known of {name}.", id=f"e{n}", kind="person", name=name, aliases=[f"{name} the {n}"])
        for n in range(40):
            memory.link(
                f"n{n}", f"n{n + 1}", weight=0.3 + n / 100, tags=["chain", f"c{n % 4}"], text=f"after {n}", now=NOW
            )
        edge = memory.relate("e0", "e2", "colleague", text="worked on the mast", attitude=2, proximity=3, now=NOW)
        for n in range(25):
            memory.fact("Hanne Berg", f"keeps {n % 5}", f"thing {n}", now=NOW + n * DAY)
            memory.fact("Odd Lie", "lives in", f"town {n % 3}", now=NOW + n * DAY)
        memory.note(edge.id, "they met at the fjord", now=NOW)
        for n in range(12):
            memory.note(f"n{n}", f"remark {n} on it", expires=NOW + 400 * DAY if n % 2 else None, now=NOW)
        memory.edit("n3", text="Hanne Berg saw no mast at all", now=NOW + 1)
        memory.ingest_text("# Log\n\nOne line of [[Hanne Berg]].\n\nTwo lines of [[Nobody]].", source="log.md", now=NOW)
        memory.quarantine("n70")
        memory.forget("n71", now=NOW)
        memory.recall("mast Skarholm", now=NOW)
        memory.dream(now=NOW + 20 * DAY)
        memory.scoped(OTHER).add("a line of bob about Skarholm", id="bobs", name="Bob", now=NOW)
        answers(memory)
        memory.refresh()


def answers(memory: Memory) -> list[str]:
    """What every way of reading says, one text each."""
    seen: dict[str, Any] = {"record_access": False, "now": NOW + 21 * DAY}
    asked: list[Callable[[], object]] = [
        lambda: [hit.node for hit in memory.recall("Hanne Berg at the mast near Skarholm", **seen).hits],
        lambda: [hit.node for hit in memory.recall("thing", tags=["t1"], **seen).hits],
        lambda: memory.recall("lines of the log", **seen).text,
        lambda: [(hit.node.id, hit.score) for hit in memory.tag_walk("mast number 7", **seen).hits],
        lambda: list(memory.activate("Hanne Berg chain", **seen)),
        lambda: list(memory.activate(["n5"], tags=["chain"], **seen)),
        lambda: memory.traverse("n10", max_hops=2, **seen),
        lambda: memory.traverse("n10", mode="ppr", **seen),
        lambda: [memory.facts(name, as_of=NOW + 9 * DAY) for name in ("Hanne Berg", "Odd Lie")],
        lambda: [memory.fact_history(name) for name in ("Hanne Berg", "Odd Lie")],
        lambda: memory.narrate("Hanne Berg", cache=False, **seen).text,
        lambda: memory.explore(["the mast"], text_matches=["Skarholm", "colleague"], **seen),
        lambda: memory.brief(**seen).text,
        lambda: memory.timeline(limit=200, include_quarantined=True, include_archived=True),
        lambda: [memory.labels(what) for what in ("tag", "bucket")],
        lambda: [memory.history(f"n{n}") for n in range(5)],
        lambda: [memory.neighbours(f"n{n}") for n in range(70)],
        lambda: memory.nodes(*(f"n{n}" for n in range(80)), "e0", "e1", "e2", "e3"),
        lambda: memory.ids(""),
        lambda: memory.stats(),
        lambda: list(memory.store.scan(memory.scope)),
        lambda: list(memory.store.scan(OTHER)),
        lambda: memory.store.vectors(memory.scope, [f"n{n}" for n in range(80)]),
        lambda: memory.store.links(memory.scope, ["Nobody", "nobody"], by="name"),
        lambda: dict(memory.store.settings),
    ]
    return [every_field(ask()) for ask in asked]


def flip(path: Path, rng: random.Random) -> int:
    """Flips a bit, or changes a byte, at a random place of a file; returns the place."""
    data = bytearray(path.read_bytes())
    at = rng.randrange(len(data))
    data[at] ^= 1 << rng.randrange(8) if rng.random() < 0.5 else rng.randrange(1, 256)
    path.write_bytes(data)
    return at


def outcome(directory: Path, truth: list[str]) -> tuple[Outcome, str]:
    """Reads a damaged memory in every way. Errors that do not name the damage are raised."""
    try:
        with Memory(directory, embedder=Pebbles()) as memory:
            found = answers(memory)
    except CorruptMemory as error:
        if "restore" not in str(error):
            raise
        return "noticed", str(error)
    except WrongVersion as error:
        # A changed version number cannot be told from a newer one.
        return "noticed", str(error)
    different = [n for n, (was, now) in enumerate(zip(truth, found, strict=True)) if was != now]
    return ("wrong", f"answers {different}") if different else ("same", "")


def experiment(place: Path, files: int, seed: int) -> tuple[Counter[Outcome], list[str]]:
    """Damages so many copies of one memory, every other without its indexes. Returns counts, and what was wrong."""
    make(place / "sound")
    with Memory(place / "sound", embedder=Pebbles()) as memory:
        truth = answers(memory)
    counts, wrong = Counter[Outcome](), list[str]()
    for number in range(files):
        rng = random.Random(f"{seed} {number}")
        copy = place / "copy"
        shutil.copytree(place / "sound", copy)
        if number % 2:
            shutil.rmtree(copy / "index")
        at = flip(copy / "memory.db", rng)
        try:
            kind, what = outcome(copy, truth)
        except Exception as error:  # noqa: BLE001  # whatever it was, it is reported with its place
            kind, what = "wrong", f"{type(error).__name__}: {error}"
        counts[kind] += 1
        if kind == "wrong":
            wrong.append(f"file {number}, byte {at}: {what}")
        shutil.rmtree(copy)
    return counts, wrong


def main() -> None:
    """Damages files: `flipped_bytes [FILES] [SEED]`, 500 by default."""
    files, seed = (int(given) for given in (*sys.argv[1:], *("500", "1")[len(sys.argv) - 1 :]))
    with tempfile.TemporaryDirectory(prefix="cuetrail-flipped-") as made:
        counts, wrong = experiment(Path(made), files, seed)
    sys.stdout.write(f"{files} files: {counts['noticed']} noticed, {counts['same']} same, {counts['wrong']} wrong\n")
    sys.stdout.writelines(f"{line}\n" for line in wrong)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
