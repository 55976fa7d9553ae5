"""The other processes of these tests. `main` imports everything once and forks a worker for each line it reads.

A worker reads lines from one pipe and says lines on another. `os._exit` and kill -9 end it without any cleaning up.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bench.quality.contenders import rank_by_blend
from cuetrail.embed import reembed
from cuetrail.errors import EmbedderMismatch
from cuetrail.memory import Memory, restore
from cuetrail.model import Edge, Node
from cuetrail.recall.anchor.hybrid_search import hybrid_search
from cuetrail.recall.recipes import no_spread
from cuetrail.recall.render.text import one_list
from cuetrail.recall.stage_types import Recipe
from cuetrail.store.write import Batch
from tests.reliability.scripts import TASKS, Place
from tests.store.sqlite.tools import Op, Pebbles, open_memory, search

Say = Callable[[str], None]
Request = dict[str, Any]


# Both indexes and nothing else: whoever shares a name or stands near must not come first here.
PLAIN = Recipe(
    "plain",
    partial(hybrid_search, candidates=50),
    no_spread,
    partial(rank_by_blend, text_share=0.7, vector_floor=0.35),
    one_list,
)


def script(request: Request, say: Say) -> None:
    """Carry out operations one by one and acknowledge each. Between them the indexes are used."""
    with open_memory(Path(request["directory"])) as memory:
        for number, op in enumerate(request["ops"]):
            carry_out(memory, op)
            say("ok")
            use_indexes(memory, op, number)
    say("done")


def carry_out(memory: Memory, op: Op) -> None:
    """One operation through the public API; a batch goes to the engine, as ingest does it."""
    texts = op.get("texts", {})
    if op["do"] == "add":
        for id_, text in texts.items():
            memory.add(text, id=id_)
    elif op["do"] == "many":
        memory.add_many({"id": id_, "text": text, "props": {"of": len(texts)}} for id_, text in texts.items())
    elif op["do"] == "forget":
        memory.forget(*op["gone"])
    elif op["do"] == "link":
        for edge, src, dst, weight in op["edges"]:
            memory.link(src, dst, weight=weight, id=edge)
    else:
        vectors = {id_: Pebbles().embed_query(text).astype("<f2").tobytes() for id_, text in texts.items()}
        memory.store.write(
            memory.scope,
            Batch(
                nodes=[Node(id_, text=text) for id_, text in texts.items()],
                edges=[Edge(edge, src, dst, weight=weight) for edge, src, dst, weight in op["edges"]],
                vectors=vectors,
                remove_nodes=op["gone"],
            ),
        )


def use_indexes(memory: Memory, op: Op, number: int) -> None:
    """What was just written is found at once."""
    if number % 3 == 0:
        memory.refresh()
    for id_, text in list(op.get("texts", {}).items())[:1]:
        assert search(memory, text.split()[3]) == [id_], f"{id_} is not found right after it was written"
        if number % 2:
            assert memory.recall(text, limit=3, recipe=PLAIN).hits[0].node.id == id_


def reader(request: Request, say: Say) -> None:
    """Read until killed: groups are there whole or not at all, and a search never fails."""
    with open_memory(Path(request["directory"])) as memory:
        while True:
            sizes: Counter[str] = Counter()
            wanted: dict[str, int] = {}
            last = None
            for _, record in memory.store.scan(memory.scope):
                if isinstance(record, Node):
                    last = record
                    if "of" in record.props:
                        group = record.id.partition(".")[0]
                        sizes[group] += 1
                        wanted[group] = record.props["of"]
            assert sizes == wanted, f"half a batch: {sizes} instead of {wanted}"
            if last is not None:
                memory.recall(last.text, limit=5, record_access=False, recipe=PLAIN)
            say("read")


def backups(request: Request, say: Say) -> None:
    """Make backups over the same file until killed."""
    with open_memory(Path(request["directory"])) as memory:
        while True:
            memory.backup(request["path"])
            say("saved")


def reembedder(request: Request, say: Say) -> None:
    """Change over to a model in small steps, and say so after each."""
    reembed.BATCH = request["step"]
    with Memory(request["directory"], embedder=None) as memory:
        memory.reembed(Pebbles(request["model"]), progress=lambda what, *_: say(what))
    say("changed over")


def adder(request: Request, say: Say) -> None:
    """Add and correct memories, with whichever of the models the memory takes."""
    for model in request["models"]:
        with contextlib.suppress(EmbedderMismatch), Memory(request["directory"], embedder=Pebbles(model)) as memory:
            for id_, text in request["texts"]:
                memory.add(text, id=id_)
                say("ok")
                memory.recall(text, limit=3)
            return


def forgetter(request: Request, say: Say) -> None:
    """Forget memories one by one."""
    with open_memory(Path(request["directory"])) as memory:
        for id_ in request["ids"]:
            memory.forget(id_)
            say("ok")
    say("done")


CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "open", "sqlite3.connect", "shutil.rmtree"}


def die_at_step(number: int, directory: Path) -> None:
    """Ends this process just before the n-th time that it opens or changes a file in a directory."""
    steps = itertools.count(1)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in CHANGES and str(directory) in str(arguments[0]) and next(steps) == number:
            os._exit(9)

    sys.addaudithook(hook)


def restorer(request: Request, say: Say) -> None:
    """Restore a backup over a memory, and die at a step."""
    die_at_step(request["step"], Path(request["directory"]))
    restore(request["backup"], request["directory"], force=True)
    say("restored")


def opener(request: Request, say: Say) -> None:
    """Open a memory, and die at a step."""
    die_at_step(request["step"], Path(request["directory"]))
    with open_memory(Path(request["directory"])):
        say("opened")


def steps(request: Request, say: Say) -> None:
    """Carry out the steps of a script of `tests.reliability` and acknowledge each."""
    place = Place(Path(request["directory"]))
    for step in TASKS[request["script"]].steps:
        step(place)
        say("ok")
    say("done")


def server(request: Request, say: Say) -> None:
    """Serve a memory over HTTP until killed."""
    from cuetrail.serve.memory_access import LazyMemory
    from cuetrail.serve.rest.server import listening_socket, serve_http

    memory = LazyMemory(lambda: open_memory(Path(request["directory"])))
    with listening_socket(memory, "127.0.0.1", 0) as (listener, url):
        say(url)
        serve_http(memory, listener, ("127.0.0.1",))


def at_command(request: Request, say: Say) -> None:
    """Do what each line says: `add ID TEXT`, `find WORD`, `hold` and `release` the write lock."""
    with open(request["hears"], encoding="utf-8") as heard, open_memory(Path(request["directory"])) as memory:  # noqa: PTH123
        say("ready")
        for line in heard:
            verb, _, rest = line.strip().partition(" ")
            if verb == "add":
                id_, _, text = rest.partition(" ")
                memory.add(text, id=id_)
                say("added")
            elif verb == "find":
                say(" ".join(search(memory, rest)) or "nothing")
            else:
                raise AssertionError(f"unknown command {line!r}")


def holder(request: Request, say: Say) -> None:
    """Hold the write lock and the lock of the text index until killed."""
    from tests.store.sqlite.tools import engine

    with open_memory(Path(request["directory"])) as memory:
        store = engine(memory)
        with store.text_index.dir.locked(), store.db.writing():
            say("held")
            signal.pause()


ROLES = {
    f.__name__: f
    for f in (
        script, reader, backups, reembedder, adder, forgetter, at_command, holder, restorer, opener, steps, server,
    )
}  # fmt: skip


def play(request: Request) -> None:
    """Be one worker, in a process of its own."""
    says = os.open(request["says"], os.O_WRONLY)

    def say(line: str) -> None:
        os.write(says, f"{line}\n".encode())

    say(str(os.getpid()))
    if request["role"] != "at_command":
        os.open(request["hears"], os.O_RDONLY)
    try:
        ROLES[request["role"]](request, say)
    except BaseException:  # noqa: BLE001  # whatever it was, the test is told
        say("error " + json.dumps(traceback.format_exc()))
    os._exit(0)


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    # Loaded here once, so that the forked workers start in milliseconds.
    import cuetrail.serve.rest.server
    import cuetrail.store.sqlite  # noqa: F401

    for line in sys.stdin:
        if os.fork() == 0:
            sys.stdin = open(os.devnull)  # noqa: PTH123, SIM115
            play(json.loads(line))


if __name__ == "__main__":
    main()
