"""A seeded simulation: up to four clients use one memory, and a plain model in Python says what each must see.

Each client opens the memory for itself. Some steps run in a process of their own that is killed at a random moment: the
memory is then as before the step or as after it. If it is as before, the step is taken again, so that a seed gives the
same plan whenever the kills came. On Neo4j it is the client that is killed, not the server.

By hand: `python -m tests.reliability.simulation SEED STEPS [--clients N] [--atoms N] [--no-kills] [--neo4j]`. With
`--atoms` the memory has so many texts from the beginning.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any

from cuetrail.errors import Forgotten, NotFound
from cuetrail.memory import Memory, restore
from cuetrail.model import Scope
from cuetrail.store.neo4j.connection import Connection, parse, rows
from tests.reliability.doomed_process import carry_out, take_one_step
from tests.servers import running, wipe

NOW = 1_768_831_200_000
MINUTE = 60_000
SCOPES = (
    Scope("acme", "ann", ("ops",)), Scope("acme", "bob", ("ops",)), Scope("acme", "cy"), Scope("rival", "ann", ("ops",))
)  # fmt: skip
FULL_CHECK = 100
"""After so many steps everything is compared; after the others what the step could have changed, and a sample."""
SAMPLE, MOST = 2, 1000
"""How many of the other texts are compared after a step, and at most when everything is."""
LOGIN = ("NEO4J_USER", "NEO4J_PASSWORD")
PROCESSES = multiprocessing.get_context("forkserver")
# Imported once, by the process that the others are copies of.
PROCESSES.set_forkserver_preload(["tests.reliability.doomed_process"])


@dataclass(frozen=True)
class Text:
    """One memory: whose it is, the team it is shared with, its own word, and the file it came from."""

    client: int
    team: str | None
    word: str
    tag: str
    source: str | None = None


@dataclass(frozen=True)
class Tie:
    """An edge."""

    client: int
    team: str | None
    src: str
    dst: str


@dataclass(frozen=True)
class Belief:
    """What a client states about one subject."""

    client: int
    team: str | None
    values: frozenset[str]


@dataclass
class Touched:
    """What a step could have changed: ids of texts and edges, their own words, and subjects of facts."""

    texts: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    edges: set[str] = field(default_factory=set)
    facts: set[str] = field(default_factory=set)


@dataclass
class Model:
    """What the memory must hold. The values are never changed, so a copy of the dicts is a copy."""

    texts: dict[str, Text] = field(default_factory=dict)
    edges: dict[str, Tie] = field(default_factory=dict)
    facts: dict[str, Belief] = field(default_factory=dict)
    forgotten: dict[str, Text] = field(default_factory=dict)
    homes: dict[str, str] = field(default_factory=dict)
    touched: Touched = field(default_factory=Touched)

    def copy(self) -> Model:
        known = (self.texts, self.edges, self.facts, self.forgotten, self.homes)
        return Model(*map(dict, known))  # type: ignore[arg-type]  # each is a dict of its own kind

    def put(self, id_: str, text: Text) -> None:
        self.drop(id_)
        self.texts[id_] = text
        self.homes[text.word] = id_
        self.touched.words.add(text.word)

    def drop(self, id_: str) -> Text | None:
        old = self.texts.pop(id_, None)
        self.touched.texts.add(id_)
        if old is not None:
            del self.homes[old.word]
            self.touched.words.add(old.word)
        return old

    def forget(self, id_: str) -> None:
        """A forgotten text takes its edges along."""
        self.forgotten[id_] = self.texts[id_]
        self.drop(id_)
        for edge in [edge for edge, tie in self.edges.items() if id_ in (tie.src, tie.dst)]:
            del self.edges[edge]
            self.touched.edges.add(edge)

    def everything(self) -> Touched:
        gone = {text.word for text in self.forgotten.values()}
        return Touched({*self.texts, *self.forgotten}, {*self.homes, *gone}, set(self.edges), set(self.facts))


@dataclass(frozen=True)
class Step:
    """A call of a verb by a client, and what it does to the model. `gradual` ones work in several transactions."""

    verb: str
    client: int
    team: str | None
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    apply: Callable[[Model], None] = lambda _: None
    gradual: bool = False


def may_see(viewer: int, owner: int, team: str | None) -> bool:
    """The rule of visibility."""
    one, other = SCOPES[viewer], SCOPES[owner]
    return one.tenant == other.tenant and (one.user == other.user or team in one.teams)


def as_scope(client: int, team: str | None = None) -> Scope:
    scope = SCOPES[client]
    return Scope(scope.tenant, scope.user, scope.teams, team)


class Simulation:
    """A memory, its model, and the steps that change both. `place` holds exports and backups."""

    def __init__(
        self, address: str, place: Path, seed: int, clients: int, *, embedded: bool, kills: bool = False
    ) -> None:
        self.address, self.place, self.clients, self.embedded = address, place, clients, embedded
        self.chance, self.moments = random.Random(seed), random.Random(seed)
        self.model = Model()
        self.saved: Model | None = None
        self.count = 0
        self.log: list[str] = []
        self.done = Counter[str]()
        self.duration: dict[str, float] = {}
        self.open_clients: list[Memory] = []
        self.open()
        draws: list[tuple[int, Callable[[], Step | None]]] = [
            (10, self.add), (4, self.edit), (4, self.link), (3, self.fact), (3, self.ingest), (3, self.forget),
            (1, self.dream), (1, self.import_old), (1, self.import_new),
        ]  # fmt: skip
        self.others: list[tuple[int, Callable[[], None]]] = [(1, self.bring_back), (1, self.reopen)]
        if embedded:
            draws += [(1, self.backup), (1, self.restore)]
        if kills:
            self.others.append((5, self.kill))
        self.draws = draws

    def run(self, count: int, told: Callable[[int], object] = lambda _: None) -> None:
        """Draws and carries out so many steps, and compares after each; tells how many there were at full checks."""
        steps = [(weight, draw, True) for weight, draw in self.draws]
        known: list[tuple[int, Any, bool]] = [*steps, *((weight, do, False) for weight, do in self.others)]
        for number in range(1, count + 1):
            _, chosen, drawn = self.chance.choices(known, [weight for weight, _, _ in known])[0]
            self.count += 1
            self.log = [*self.log[-30:], f"{number} {chosen.__name__}"]
            self.done[chosen.__name__] += 1
            if not drawn:
                chosen()
            elif (step := chosen()) is not None:
                self.take(step)
            self.compare()
            if number % FULL_CHECK == 0 or number == count:
                self.compare_everything()
                told(number)
        assert self.open_clients[0].doctor() == []

    def take(self, step: Step) -> None:
        """Takes a step in this process."""
        begun = time.monotonic()
        if step.verb == "restore":
            self.close()
            restore(step.arguments[0], self.address, force=True)
            self.open()
        else:
            carry_out(self.client(step.client, step.team), step.verb, step.arguments, step.options)
        self.duration[step.verb] = time.monotonic() - begun
        step.apply(self.model)

    # --- clients

    def open(self) -> None:
        self.open_clients = [
            Memory(self.address, scope=SCOPES[client], embedder="none") for client in range(self.clients)
        ]

    def close(self) -> None:
        for memory in self.open_clients:
            memory.close()
        self.open_clients = []

    def client(self, owner: int, team: str | None = None) -> Memory:
        return self.open_clients[owner].scoped(as_scope(owner, team))

    def reopen(self) -> None:
        """One client closes the memory and opens it again."""
        client = self.chance.randrange(self.clients)
        self.open_clients[client].close()
        self.open_clients[client] = Memory(self.address, scope=SCOPES[client], embedder="none")

    def someone(self) -> tuple[int, str | None]:
        owner = self.chance.randrange(self.clients)
        return owner, self.chance.choice([None, *SCOPES[owner].teams])

    # --- words

    def now(self) -> int:
        return NOW + self.count * MINUTE

    def word(self) -> str:
        return f"zq{self.count}x{self.chance.getrandbits(40):x}"

    def text(self, word: str) -> str:
        """A text that shares no words with the others, so that no two are near duplicates."""
        return " ".join([word, *(f"{self.chance.getrandbits(48):x}" for _ in range(6))])

    def own_text(self) -> str | None:
        mine = [id_ for id_, text in self.model.texts.items() if text.source is None]
        return self.chance.choice(mine) if mine else None

    # --- steps

    def add(self) -> Step:
        owner, team = self.someone()
        id_, word, tag = f"n{self.count}", self.word(), self.chance.choice(["red", "green", "blue"])
        options = {"id": id_, "tags": [tag], "at": self.now(), "now": self.now()}
        return Step("add", owner, team, (self.text(word),), options, lambda m: m.put(id_, Text(owner, team, word, tag)))

    def edit(self) -> Step | None:
        if (id_ := self.own_text()) is None:
            return None
        known, word = self.model.texts[id_], self.word()
        new = Text(known.client, known.team, word, known.tag)
        options = {"text": self.text(word), "now": self.now()}
        return Step("edit", known.client, known.team, (id_,), options, lambda m: m.put(id_, new))

    def link(self) -> Step | None:
        if (src := self.own_text()) is None:
            return None
        known = self.model.texts[src]
        others = [
            id_ for id_, t in self.model.texts.items()
            if id_ != src and t.source is None and (t.client, t.team) == (known.client, known.team)
        ]  # fmt: skip
        if not others:
            return None
        dst, id_ = self.chance.choice(others), f"e{self.count}"

        def apply(model: Model) -> None:
            model.edges[id_] = Tie(known.client, known.team, src, dst)
            model.touched.edges.add(id_)

        options = {"weight": 0.5, "id": id_, "now": self.now()}
        return Step("link", known.client, known.team, (src, dst), options, apply)

    def fact(self) -> Step:
        """States something about a new subject, or something more about a known one."""
        owner, team = self.someone()
        subject, value = f"Subject{self.count}{chr(97 + owner)}", f"value {self.word()}"
        mine = [s for s, belief in self.model.facts.items() if (belief.client, belief.team) == (owner, team)]
        if mine and self.chance.random() < 0.4:
            subject = self.chance.choice(mine)

        def apply(model: Model) -> None:
            known = model.facts.get(subject)
            values = known.values if known else frozenset()
            model.facts[subject] = Belief(owner, team, values | {value})
            model.touched.facts.add(subject)

        return Step("fact", owner, team, (subject, "has part", value), {"now": self.now()}, apply)

    def ingest(self) -> Step:
        """Takes in a file; what an earlier version of it said and this one does not is gone."""
        owner = self.chance.randrange(self.clients)
        source, words = f"file{owner}-{self.chance.randrange(3)}.md", [self.word() + str(n) for n in range(3)]
        # A rule keeps paragraphs from being joined into one passage.
        content = "\n\n---\n\n".join(self.text(word) for word in words)

        def apply(model: Model) -> None:
            for id_ in [id_ for id_, t in model.texts.items() if (t.client, t.source) == (owner, source)]:
                model.drop(id_)
            for word in words:
                model.put(f"word {word}", Text(owner, None, word, "", source))

        return Step("ingest_text", owner, None, (content,), {"source": source, "now": self.now()}, apply)

    def forget(self) -> Step | None:
        if (id_ := self.own_text()) is None:
            return None
        known = self.model.texts[id_]
        return Step("forget", known.client, known.team, (id_,), {"now": self.now()}, lambda m: m.forget(id_))

    def dream(self) -> Step:
        owner = self.chance.randrange(self.clients)
        return Step("dream", owner, None, (), {"now": self.now()}, gradual=True)

    def import_old(self) -> Step:
        """An earlier export brings nothing forgotten back, and changes nothing that is there."""
        owner = self.chance.randrange(self.clients)
        path = self.place / f"export{owner}.jsonl"
        self.client(owner).export(path)
        mine = [id_ for id_, t in self.model.texts.items() if t.source is None and (t.client, t.team) == (owner, None)]
        if mine:
            id_ = self.chance.choice(mine)
            assert self.client(owner).forget(id_, now=self.now()) == [id_]
            self.model.forget(id_)
        return Step("import_", owner, None, (str(path),), {"now": self.now()}, gradual=True)

    def import_new(self) -> Step:
        """A file with new memories, and one with the id of a memory that was forgotten."""
        owner = self.chance.randrange(self.clients)
        words = {f"i{self.count}-{n}": self.word() + str(n) for n in range(3)}
        lines: list[dict[str, Any]] = [{"cuetrail": 1}]
        lines += [{"type": "node", "id": id_, "text": self.text(word), "at": self.now()} for id_, word in words.items()]
        gone = [id_ for id_, t in self.model.forgotten.items() if (t.client, t.team) == (owner, None)]
        if gone:
            id_ = self.chance.choice(gone)
            word = self.model.forgotten[id_].word
            lines.append({"type": "node", "id": id_, "text": self.text(word), "at": self.now()})
        path = self.place / "new.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))

        def apply(model: Model) -> None:
            for new, word in words.items():
                model.put(new, Text(owner, None, word, ""))

        return Step("import_", owner, None, (str(path),), {"now": self.now()}, apply, gradual=True)

    def backup(self) -> Step:
        def apply(model: Model) -> None:
            self.saved = model.copy()

        return Step("backup", 0, None, (self.place / "saved.tar",), {}, apply)

    def restore(self) -> Step | None:
        """The memory is as it was at the backup."""
        if (saved := self.saved) is None:
            return None

        def apply(model: Model) -> None:
            changed = [id_ for id_ in {**model.texts, **saved.texts} if model.texts.get(id_) != saved.texts.get(id_)]
            words = [t.word for id_ in changed for m in (model, saved) if (t := m.texts.get(id_))]
            edges, facts = model.edges.keys() ^ saved.edges.keys(), model.facts.keys() ^ saved.facts.keys()
            model.__dict__.update(saved.copy().__dict__)
            model.touched = Touched(set(changed), set(words), set(edges), set(facts))

        return Step("restore", 0, None, (self.place / "saved.tar",), {}, apply)

    def bring_back(self) -> None:
        """What was forgotten cannot be added again by its id."""
        if self.model.forgotten:
            id_ = self.chance.choice(list(self.model.forgotten))
            known = self.model.forgotten[id_]
            try:
                self.client(known.client, known.team).add("anything at all", id=id_, now=self.now())
            except Forgotten:
                return
            raise AssertionError(f"{id_} was forgotten and came back")

    # --- kills

    def kill(self) -> None:
        """A step in a process that is killed: the memory is as before it or as after it."""
        draw = self.chance.choices([d for _, d in self.draws], [w for w, _ in self.draws])[0]
        if (step := draw()) is None:
            return
        self.log[-1] += f" {draw.__name__}"
        acknowledged = self.killed(step)
        after = self.model.copy()
        step.apply(after)
        everyone = range(self.clients)
        happened = not list(self.wrong(after, after.touched, everyone))
        if step.gradual or step.verb == "backup":
            happened = False
        elif not happened:
            assert not acknowledged, f"an acknowledged {step.verb} is gone: {self.told(step.client)}"
            found = list(self.wrong(self.model, after.touched, everyone))
            assert not found, f"neither as before nor as after {step.verb}: {found[:5]} {self.told(step.client)}"
        self.done[f"killed {step.verb} {'carried out' if happened else 'not carried out'}"] += 1
        if happened:
            self.model = after
        else:
            self.take(step)

    def killed(self, step: Step) -> bool:
        """Takes a step in a process that is killed at a random moment; returns whether it had acknowledged the step."""
        if step.verb == "restore":
            self.close()
        here, there = multiprocessing.Pipe()
        call = (step.verb, step.arguments, step.options)
        login = {name: os.environ[name] for name in LOGIN if name in os.environ}
        child = PROCESSES.Process(
            target=take_one_step, args=(there, self.address, as_scope(step.client, step.team), call, login)
        )
        child.start()
        there.close()
        assert here.recv() == "ready"
        acknowledged = here.poll(self.moments.random() * 1.5 * self.duration.get(step.verb, 0.02))
        child.kill()
        child.join()
        acknowledged = acknowledged or (here.poll() and not ended(here))
        here.close()
        if not self.embedded:
            self.settle()
        if step.verb == "restore":
            self.open()
        return acknowledged

    def settle(self) -> None:
        """Waits until the server has ended the transactions of a client that is gone."""
        user, password = (os.environ[name] for name in LOGIN)
        server = Connection(replace(parse(self.address), user=user, password=password))
        try:
            while len(server.reading(lambda tx: rows(tx, "SHOW TRANSACTIONS"))) > 1:
                time.sleep(0.01)
        finally:
            server.close()

    # --- comparison

    def compare(self) -> None:
        """Compares what the last step could have changed for every client, and a sample of everything for one."""
        model, touched = self.model, self.model.touched
        model.touched = Touched()
        texts, gone = list(model.texts), list(model.forgotten)
        ids = {*self.chance.sample(texts, min(SAMPLE, len(texts))), *self.chance.sample(gone, min(SAMPLE, len(gone)))}
        words = {text.word for id_ in ids for known in (model.texts, model.forgotten) if (text := known.get(id_))}
        self.all_right(touched, range(self.clients))
        self.all_right(Touched(ids, words), [self.chance.randrange(self.clients)])

    def all_right(self, touched: Touched, viewers: Iterable[int]) -> None:
        found = list(itertools.islice(self.wrong(self.model, touched, viewers), 5))
        assert not found, (found, self.log)

    def compare_everything(self) -> None:
        """Compares all lists, and records, and a search for the word of a text by one client; of many a sample."""
        every = self.model.everything()
        texts, words = (self.sample(one) for one in (every.texts, every.words))
        self.all_right(Touched(set(texts), set(), every.edges, every.facts), range(self.clients))
        for word in words:
            self.all_right(Touched(words={word}), [self.chance.randrange(self.clients)])
        for viewer, eyes in enumerate(self.open_clients):
            visible = {t.word for t in self.model.texts.values() if may_see(viewer, t.client, t.team)}
            listed = list(self.listed(eyes))
            assert len(listed) == len(set(listed)), self.told(viewer)
            assert set(listed) == visible, self.told(viewer)

    def sample(self, known: set[str]) -> list[str]:
        return self.chance.sample(sorted(known), min(MOST, len(known)))

    def listed(self, eyes: Memory) -> Iterator[str]:
        """The own words of all atoms that the timeline lists."""
        after = None
        while True:
            page = eyes.timeline(kinds=["atom"], limit=1000, after=after)
            yield from (node.text.split()[0] for node in page.nodes)
            if (after := page.more) is None:
                return

    def wrong(self, model: Model, touched: Touched, viewers: Iterable[int]) -> Iterator[str]:
        """Yields where an answer to a client is not what the model says."""
        for viewer in viewers:
            eyes = self.open_clients[viewer]
            for id_ in sorted(touched.texts):
                yield from wrong_text(model, viewer, eyes, id_)
            for word in sorted(touched.words):
                home = model.texts.get(model.homes.get(word, ""))
                expected = [word] if home and may_see(viewer, home.client, home.team) else []
                if (found := hits(eyes, word)) != expected:
                    yield f"client {viewer} searches {word} and finds {found}, not {expected}"
            for id_ in sorted(touched.edges):
                yield from wrong_edge(model, viewer, eyes, id_)
            for subject in sorted(touched.facts):
                yield from wrong_facts(model, viewer, eyes, subject, self.now())

    def told(self, viewer: int) -> str:
        return f"client {viewer} after {self.log}"


def ended(pipe: Pipe) -> bool:
    """True if nothing more was said."""
    try:
        pipe.recv()
    except EOFError:
        return True
    return False


def wrong_text(model: Model, viewer: int, eyes: Memory, id_: str) -> Iterator[str]:
    text = model.texts.get(id_)
    if text is not None and text.source is not None:
        # The ids of atoms from files are not the model's; they are found by their words.
        return
    node = eyes.get(id_)
    if text is None or not may_see(viewer, text.client, text.team):
        if node is not None:
            yield f"client {viewer} gets {id_}, which is not there or not theirs"
    elif node is None or node.text.split()[0] != text.word or (text.tag and text.tag not in node.tags):
        yield f"client {viewer} gets {id_} as {node}, not {text}"


def wrong_edge(model: Model, viewer: int, eyes: Memory, id_: str) -> Iterator[str]:
    tie, edge = model.edges.get(id_), eyes.edge(id_)
    expected = (tie.src, tie.dst) if tie and may_see(viewer, tie.client, tie.team) else None
    if (found := edge and (edge.src, edge.dst)) != expected:
        yield f"client {viewer} sees the edge {id_} as {found}, not {expected}"


def wrong_facts(model: Model, viewer: int, eyes: Memory, subject: str, now: int) -> Iterator[str]:
    belief = model.facts.get(subject)
    try:
        said = sorted(str(fact.value) for fact in eyes.facts(subject, now=now))
    except NotFound:
        said = []
    expected = sorted(belief.values) if belief and may_see(viewer, belief.client, belief.team) else []
    if said != expected:
        yield f"client {viewer} is told {said} of {subject}, not {expected}"


def hits(eyes: Memory, word: str) -> list[str]:
    """The own words of what a search for a word finds."""
    found = eyes.tag_walk(word, min_results=1, record_access=False).anchors
    return [hit.node.text.split()[0] for hit in found if word in hit.node.text.split()]


# --- by hand


def fill(simulation: Simulation, count: int) -> None:
    """Many texts at once."""
    items: list[dict[str, Any]] = []
    for number in range(count):
        id_, word = f"l{number}", f"zl{number}x"
        items.append({"id": id_, "text": simulation.text(word), "tags": ["red"], "at": NOW - (count - number) * 1000})
        simulation.model.put(id_, Text(0, None, word, "red"))
    simulation.client(0).add_many(items, now=NOW)
    simulation.model.touched = Touched()


@contextmanager
def a_memory(place: Path, neo4j: bool) -> Iterator[str]:
    """The address of an empty memory in a folder or on a server."""
    if not neo4j:
        yield str(place / "m")
        return
    with running() as login:
        os.environ["NEO4J_USER"], os.environ["NEO4J_PASSWORD"] = login.user, login.password
        wipe(login)
        yield login.uri


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", type=int)
    parser.add_argument("steps", type=int)
    parser.add_argument("--clients", type=int, default=0)
    parser.add_argument("--atoms", type=int, default=0)
    parser.add_argument("--no-kills", action="store_true")
    parser.add_argument("--neo4j", action="store_true")
    given = parser.parse_args()
    clients = given.clients or 1 + given.seed % len(SCOPES)
    with (
        tempfile.TemporaryDirectory(prefix="cuetrail-simulation-") as made,
        a_memory(Path(made), given.neo4j) as address,
    ):
        simulation = Simulation(
            address, Path(made), given.seed, clients, embedded=not given.neo4j, kills=not given.no_kills
        )
        fill(simulation, given.atoms)
        begun = time.monotonic()
        simulation.run(given.steps, told=lambda number: sys.stderr.write(f"{number} steps\n"))
        simulation.close()
    sys.stdout.write(
        f"seed {given.seed}: {given.steps} steps, {clients} clients, {time.monotonic() - begun:.0f} s, "
        f"every answer as the model says; {len(simulation.model.texts)} texts at the end; {dict(simulation.done)}\n"
    )  # fmt: skip


if __name__ == "__main__":
    main()
