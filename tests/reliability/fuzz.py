"""Fuzzing: verbs of a memory with hostile arguments, through the library, HTTP and MCP.

Each call gives a result or one of cuetrail's errors, costs less than 5 s and 1 GB, and changes nothing if it is
refused or only reads. Lists keep to the filters and limits of the call. A second tenant keeps memories of its own; they
stay as they are, and no answer shows a word of them.

By hand: `python -m tests.reliability.fuzz library|rest|mcp SEED CALLS [ATOMS]`; the memory then has so many atoms
more. With TMPDIR in memory (`/dev/shm`) it is several times faster.
"""

from __future__ import annotations

import inspect
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal
from mcp import Client
from mcp.shared.exceptions import MCPError
from starlette.testclient import TestClient

from cuetrail import Memory, Scope
from cuetrail.errors import CuetrailError
from cuetrail.explore.browse import Timeline
from cuetrail.model import Node, Recollection
from cuetrail.recall.spread.traversal_pagerank import Traversal
from cuetrail.serve.mcp.handshake import PROFILES
from cuetrail.serve.mcp.server import make_server
from cuetrail.serve.memory_access import LazyMemory
from cuetrail.serve.rest.requests import RequestRules
from cuetrail.serve.rest.server import VERBS, make_app
from cuetrail.serve.tool import Schema
from cuetrail.serve.verbs import EFFECTS, verb_tool
from cuetrail.text.normalise import norm_tag
from tests.every_field import every_field
from tests.hostile import HOSTILE, HOSTILE_JSON

SECONDS, MEGABYTES = 5.0, 1000
FRESH = 1000
"""A memory is examined and replaced by a new one after so many calls."""
CONTROL = Scope("other", "eve")
GRADUAL = {"import_", "dream", "ingest", "mirror"}
"""Verbs that work in several transactions: a refused one may leave the first of them."""
NAMES = ("a", "b", "c", "Ines Okafor", "antenna", "notes.md", "f", "e1", "radio", "person")
SECRET = "zqskarv"
"""A word that all memories of the other tenant have, and nobody else's."""
Call = Callable[[str, dict[str, Any]], "Answer"]
"""Calls a verb. Raises AssertionError if the answer is no result and no error in words."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether a call worked, all that was answered as a text, and the result as the library gives it."""

    worked: bool
    text: str
    found: Any = None


@cache
def schemas(verb: str) -> dict[str, Schema]:
    """The arguments of a verb with their schemas."""
    if verb == "ingest_bytes":
        return {"data": {"type": "string"}, "source": {"type": "string"}}
    return dict(verb_tool(verb).properties)


class Draw:
    """Draws arguments from a seed: mostly good ones, and one or two hostile ones among them."""

    def __init__(self, seed: int, hostile: list[Any]) -> None:
        self.chance, self.hostile = random.Random(seed), hostile

    def good(self, schema: Schema) -> Any:
        """A value that the schema allows, as far as this generator knows schemas."""
        chance = self.chance
        if "anyOf" in schema:
            return self.good(chance.choice(schema["anyOf"]))
        if "enum" in schema:
            return chance.choice(schema["enum"])
        kind = schema.get("type", "string")
        match chance.choice(kind) if isinstance(kind, list) else kind:
            case "string":
                dated = {"date": "2025-03-04", "date-time": "2025-03-04T10:00:00Z"}
                return dated.get(schema.get("format", ""), chance.choice(NAMES))
            case "integer":
                return chance.choice([0, 1, 2, schema.get("maximum", 5), schema.get("minimum", -5)])
            case "number":
                return chance.choice([0, 1, 0.5])
            case "boolean":
                return chance.random() < 0.5
            case "array" if "prefixItems" in schema:
                return [self.good(one) for one in schema["prefixItems"]]
            case "array":
                return [self.good(schema.get("items", {})) for _ in range(chance.randrange(4))]
        return chance.choice([{}, {"text": "a"}, {"question": "a", "gold": ["a"]}, {"a": 1}, {"query": "a"}])

    def evil(self, depth: int = 0) -> Any:
        """A hostile value, alone or inside a list or an object."""
        drawn = self.chance.random()
        if depth < 3 and drawn < 0.15:
            return [self.evil(depth + 1) for _ in range(self.chance.randrange(4))]
        if depth < 3 and drawn < 0.3:
            keys = ("text", "query", "a", "tags", "id", "\u202e", "")
            return {self.chance.choice(keys): self.evil(depth + 1) for _ in range(self.chance.randrange(3))}
        if drawn < 0.45:
            letters = "ab#@[](){}:*?~^\"'\\-+ \n\t\x1f\u200b\u0301\U0001f600\u202eß"
            return "".join(self.chance.choices(letters, k=self.chance.choice([0, 1, 3, 12, 200])))
        return self.chance.choice([None, True, False, *NAMES, *self.hostile])

    def arguments(self, verb: str) -> dict[str, Any]:
        known, chance = schemas(verb), self.chance
        needed = [name for name in known if name in required(verb)]
        others = [name for name in known if name not in needed]
        names = [*needed, *chance.sample(others, chance.randint(0, min(4, len(others))))]
        given = {name: self.good(known[name]) for name in names}
        if verb == "reembed":
            given["embedder"] = chance.choice(["none", "static"])
        for name in chance.sample(sorted(known), min(len(known), chance.choice([0, 1, 1, 2]))):
            given[name] = self.evil()
        if chance.random() < 0.02:
            given[chance.choice(["x", "self", "now", "__class__"])] = self.evil()
        return given


@cache
def required(verb: str) -> list[str]:
    """The arguments that a verb cannot be without."""
    parameters = inspect.signature(getattr(Memory, verb)).parameters.values()
    return [p.name for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]


def refused(words: str) -> Answer:
    """Checks the words of an error; returns the answer of a call that did not work."""
    assert words.strip()
    assert "internal error" not in words.lower()
    return Answer(False, words)


def nodes_of(found: Any) -> list[Node] | None:
    """The nodes of an answer that filters apply to; None if it is none of that kind."""
    if isinstance(found, Recollection):
        return [hit.node for hit in found.passages]
    return list(found.nodes) if isinstance(found, Timeline | Traversal) else None


def check_obeyed(given: dict[str, Any], found: Any) -> None:
    """Asserts that the nodes of an answer pass the filters of the call, and are no more than its limit."""
    if (nodes := nodes_of(found)) is None:
        return
    limit = given.get("limit")
    if isinstance(limit, int) and not isinstance(found, Recollection):
        assert len(nodes) <= limit, f"{len(nodes)} instead of at most {limit}"
    kinds, tags, buckets = (listed(given.get(name)) for name in ("kinds", "tags", "buckets"))
    for node in nodes:
        assert not kinds or node.kind in {str(kind).strip().lower() for kind in kinds}, f"{node} is not of {kinds}"
        assert {norm_tag(tag) for tag in tags} <= set(node.tags), f"{node} lacks a tag of {tags}"
        assert not buckets or {norm_tag(one) for one in buckets} & set(node.buckets), f"{node} is in none of {buckets}"
        since, until = (value if isinstance(value := given.get(name), int) else None for name in ("since", "until"))
        assert since is None or node.at >= since, f"{node} is older than {since}"
        assert until is None or node.at <= until, f"{node} is newer than {until}"
        asked = given.get("include_quarantined") or given.get("provenance") == "quarantine"
        assert asked or node.provenance != "quarantine", f"{node} is quarantined"


def listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [] if value is None else [value]


# --- doors


@contextmanager
def library(memory: Memory) -> Iterator[Call]:
    """The methods of `Memory`, with Python values too."""

    def call(verb: str, given: dict[str, Any]) -> Answer:
        method = getattr(memory, verb)
        given.pop("self", None)
        if "data" in given and isinstance(given["data"], str):
            given["data"] = given["data"].encode(errors="replace")
        starred = [p.name for p in inspect.signature(method).parameters.values() if p.kind is p.VAR_POSITIONAL]
        values = given.pop(starred[0], []) if starred else []
        values = values if isinstance(values, list) else [values]
        # `as`, the form of a graph, is an argument of REST and MCP alone.
        taken = {*schemas(verb), *inspect.signature(method).parameters} - {"as"}
        given = {name: value for name, value in given.items() if name in taken}
        try:
            found = method(*values, **given)
            if isinstance(found, Generator):
                found = list(found)
        except CuetrailError as error:
            return refused(str(error))
        return Answer(True, every_field(found), found)

    yield call


@contextmanager
def rest(memory: Memory) -> Iterator[Call]:
    """HTTP, also with bodies that are no JSON and files that are no exports."""
    app = make_app(LazyMemory(lambda: memory.scoped(memory.scope)), RequestRules())
    with TestClient(app, "http://localhost") as client:

        def call(verb: str, given: dict[str, Any]) -> Answer:
            body = json.dumps(given)
            if verb in ("import", "ingest"):
                query = {"source": "notes.md"} if verb == "ingest" else {}
                response = client.post(f"/v1/{verb}", params=query, content=body)
            else:
                cut = len(body) - 2 if "x" in given else len(body)
                response = client.post(f"/v1/{verb}", content=body[:cut], headers={"Content-Type": "application/json"})
            # Only embedders without files and addresses may be chosen over HTTP.
            expected = (200, 400, 404, 409, 415, *([403] if verb == "reembed" else []))
            assert response.status_code in expected, f"{response.status_code} {response.text[:2000]}"
            assert "Traceback" not in response.text
            if "json" in response.headers["content-type"]:
                assert isinstance(response.json(), dict)
            return Answer(response.status_code == 200, response.text)

        yield call


@contextmanager
def mcp(memory: Memory) -> Iterator[Call]:
    """MCP: a server in this process that offers every verb, and a client of the official SDK."""
    known = {tool.name: set(tool.properties) for tool in PROFILES["full"].tools()}
    server = make_server(PROFILES["full"], LazyMemory(lambda: memory.scoped(memory.scope)), "0")
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(server)) as client:

        def call(verb: str, given: dict[str, Any]) -> Answer:
            tool = f"memory_{verb.rstrip('_')}"
            given = {name: value for name, value in given.items() if name in known[tool] or name == "x"}
            try:
                result = portal.call(client.call_tool, tool, given)
            except MCPError as error:
                return refused(str(error))
            text = " ".join(part.text for part in result.content if part.type == "text")
            assert "Traceback" not in text, text
            assert text or not result.is_error
            return Answer(not result.is_error, f"{text} {result.structured_content}")

        yield call


DOORS: dict[str, Callable[[Memory], AbstractContextManager[Call]]] = {"library": library, "rest": rest, "mcp": mcp}


@cache
def verbs(door: str) -> list[str]:
    """The verbs that a door has."""
    if door == "rest":
        return sorted({*VERBS, "import", "ingest"})
    offered = {tool.name for tool in PROFILES["full"].tools()}
    return sorted(v for v in EFFECTS if door == "library" or f"memory_{v.rstrip('_')}" in offered)


# --- a run


def fill(memory: Memory, word: str = "mast", atoms: int = 0) -> None:
    """A few memories with tags, edges, facts and a file; a word is in every text. Then so many atoms more."""
    for number in range(30):
        text = f"Antenna {number} stands on the lee side of the {word}."
        memory.add(text, id=f"n{number}", tags=["radio"], at=number * 60_000)
    for id_ in NAMES[:3]:
        memory.add(
            f"Ines Okafor wrote {id_} on the {word}.",
            id=id_,
            name=f"Name {id_}",
            kind="person",
            tags=["a"],
            buckets=["b"],
        )
        memory.link(id_, "n1", weight=0.5, id=f"e{id_}", text="beside it")
    memory.fact("a", "lives in", f"Skarholm, {word}")
    memory.ingest_text(f"# Log\n\nOne line, {word}.\n\nTwo [[Ines Okafor]] lines. #radio", source="notes.md")
    texts = (f"Antenna {n} was painted by Ines Okafor in week {n % 52}, for {n % 97} crowns." for n in range(atoms))
    memory.add_many({"text": text, "tags": ["radio", f"t{n % 50}"], "buckets": ["a"]} for n, text in enumerate(texts))
    memory.dream()


def digest(memory: Memory, path: Path) -> bytes:
    memory.export(path)
    return path.read_bytes()


class Run:
    """A run of many calls through one door."""

    def __init__(self, door: str, seed: int, atoms: int = 0) -> None:
        self.door, self.seed, self.atoms = door, seed, atoms
        self.draw = Draw(seed, HOSTILE if door == "library" else HOSTILE_JSON)
        self.done, self.worked = Counter[str](), Counter[str]()
        self.slowest: tuple[float, str] = (0.0, "")
        self.before = peak_memory()

    def calls(self, count: int) -> None:
        while sum(self.done.values()) < count:
            with tempfile.TemporaryDirectory(prefix="cuetrail-fuzz-") as made:
                # Names such as `../..` stay inside.
                place = Path(made) / "outer" / "middle" / "inner"
                place.mkdir(parents=True)
                (place / "in.jsonl").write_text('{"cuetrail": 1}\n{"type": "node", "id": "z", "text": "z"}\n')
                (place / "notes.md").write_text("# A note\n\nIt says something.\n")
                before = Path.cwd()
                os.chdir(place)
                try:
                    self.one_memory(place, min(FRESH, count - sum(self.done.values())))
                finally:
                    os.chdir(before)

    def one_memory(self, place: Path, count: int) -> None:
        with Memory(place / "memory", scope=Scope("acme", "ann"), embedder=None) as memory:
            fill(memory, atoms=self.atoms)
            other = memory.scoped(CONTROL)
            fill(other, SECRET)
            kept = digest(other, place / "control.jsonl")
            with DOORS[self.door](memory) as call:
                for _ in range(count):
                    self.one_call(memory, call)
                assert digest(other, place / "control.jsonl") == kept, "another tenant's memories changed"
                assert memory.doctor() == []

    def one_call(self, memory: Memory, call: Call) -> None:
        verb = self.draw.chance.choice(verbs(self.door))
        name = {"import": "import_"}.get(verb, verb)
        given = self.draw.arguments(name)
        writes = EFFECTS[name].writes
        before = None if name in GRADUAL else memory.store.stats(memory.scope)
        wall, cpu = time.monotonic(), time.process_time()
        try:
            answer = call(verb, dict(given))
            check_obeyed(given, answer.found)
        except Exception as error:
            raise AssertionError(f"call {sum(self.done.values())}: {verb} {given!r:.3000}") from error
        # A busy machine slows a call down, but not its time on the processor.
        took = min(time.monotonic() - wall, time.process_time() - cpu)
        if took > self.slowest[0]:
            self.slowest = took, f"{verb} {given!r:.200}"
        self.done[verb] += 1
        self.worked[verb] += answer.worked
        assert SECRET not in answer.text, f"{verb} {given!r:.3000} shows another tenant's words: {answer.text:.2000}"
        # In a large memory an export may have become the file that is taken in: as much work as was asked for.
        assert took < SECONDS or (self.atoms and name in GRADUAL), f"{took:.1f} s: {verb} {given!r:.3000}"
        # Earlier tests of the same process may have taken more; what they took does not count.
        megabytes = peak_memory() - self.before
        assert megabytes < MEGABYTES, f"{megabytes} MB: {verb} {given!r:.3000}"
        if before is not None and not (writes and answer.worked):
            assert memory.store.stats(memory.scope) == before, f"something changed by {verb} {given!r:.3000}"


def peak_memory() -> int:
    """Returns the most memory that this process has had so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main() -> None:
    door, seed, count, *atoms = sys.argv[1], *map(int, sys.argv[2:])
    run = Run(door, seed, *atoms)
    run.calls(count)
    took, told = run.slowest
    peak = peak_memory()
    sys.stdout.write(
        f"{door}, seed {seed}: {sum(run.done.values())} calls of {len(run.done)} verbs, "
        f"{sum(run.worked.values())} with a result; "
        f"slowest {took:.2f} s ({told}), {peak} MB\n"
    )  # fmt: skip


if __name__ == "__main__":
    main()
