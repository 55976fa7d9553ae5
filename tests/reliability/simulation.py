"""A seeded simulation: up to four clients use one memory, and a plain model in Python says what each must see.

By hand: `python -m tests.reliability.simulation SEED STEPS`. A seed reproduces a run.
"""

from __future__ import annotations

import copy
import random
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from cuetrail.errors import Forgotten, NotFound
from cuetrail.memory import Memory, restore
from cuetrail.model import Scope

NOW = 1_768_831_200_000
MINUTE = 60_000
SCOPES = (
    Scope("acme", "ann", ("ops",)), Scope("acme", "bob", ("ops",)), Scope("acme", "cy"), Scope("rival", "ann", ("ops",))
)  # fmt: skip
TEAM = "ops"
FULL_CHECK = 25
"""After so many steps everything is compared; after the others what the step was about."""


@dataclass
class Text:
    """One memory: whose it is, the team it is shared with, its own word, and the file it came from."""

    client: int
    team: str | None
    word: str
    tag: str
    source: str | None = None


@dataclass
class Model:
    """What the memory must hold."""

    texts: dict[str, Text] = field(default_factory=dict)
    edges: dict[str, tuple[int, str | None, str, str]] = field(default_factory=dict)
    facts: dict[str, tuple[int, str | None, list[str]]] = field(default_factory=dict)
    forgotten: dict[str, Text] = field(default_factory=dict)


def may_see(viewer: int, owner: int, team: str | None) -> bool:
    """The rule of visibility."""
    one, other = SCOPES[viewer], SCOPES[owner]
    return one.tenant == other.tenant and (one.user == other.user or team in one.teams)


class Simulation:
    """A memory, its model, and the steps that change both. `place` holds exports and backups."""

    def __init__(self, address: str, place: Path, seed: int, clients: int, embedded: bool) -> None:
        self.address, self.place, self.clients, self.embedded = address, place, clients, embedded
        self.chance = random.Random(seed)
        self.model = Model()
        self.saved: Model | None = None
        self.count = 0
        self.memory = Memory(address, embedder="none")
        self.log: list[str] = []
        steps: list[tuple[int, Callable[[], None]]] = [
            (10, self.add), (4, self.edit), (4, self.link), (3, self.fact), (3, self.ingest), (3, self.forget),
            (1, self.dream), (1, self.export_and_import), (1, self.bring_back), (1, self.reopen),
        ]  # fmt: skip
        if embedded:
            steps += [(1, self.backup), (1, self.restore)]
        self.steps = steps

    def run(self, count: int) -> None:
        """Draws and carries out so many steps, and compares after each."""
        for number in range(1, count + 1):
            step = self.chance.choices([s for _, s in self.steps], [w for w, _ in self.steps])[0]
            self.count += 1
            self.log.append(f"{number} {step.__name__}")
            step()
            self.compare(number % FULL_CHECK == 0 or number == count)
        assert self.memory.doctor() == []

    # --- steps

    def client(self, owner: int, team: str | None = None) -> Memory:
        scope = SCOPES[owner]
        return self.memory.scoped(Scope(scope.tenant, scope.user, scope.teams, team))

    def someone(self) -> tuple[int, str | None]:
        owner = self.chance.randrange(self.clients)
        return owner, self.chance.choice([None, *SCOPES[owner].teams])

    def now(self) -> int:
        return NOW + self.count * MINUTE

    def word(self) -> str:
        return f"zq{self.count}x{self.chance.getrandbits(40):x}"

    def text(self, word: str) -> str:
        """A text that shares no words with the others, so that no two are near duplicates."""
        return " ".join([word, *(f"{self.chance.getrandbits(48):x}" for _ in range(6))])

    def own_text(self) -> str | None:
        mine = sorted(id_ for id_, text in self.model.texts.items() if text.source is None)
        return self.chance.choice(mine) if mine else None

    def add(self) -> None:
        owner, team = self.someone()
        id_, word, tag = f"n{self.count}", self.word(), self.chance.choice(["red", "green", "blue"])
        self.client(owner, team).add(self.text(word), id=id_, tags=[tag], at=self.now(), now=self.now())
        self.model.texts[id_] = Text(owner, team, word, tag)

    def edit(self) -> None:
        if (id_ := self.own_text()) is None:
            return
        known, word = self.model.texts[id_], self.word()
        self.client(known.client, known.team).edit(id_, text=self.text(word), now=self.now())
        self.model.texts[id_] = Text(known.client, known.team, word, known.tag)

    def link(self) -> None:
        src = self.own_text()
        if src is None:
            return
        known = self.model.texts[src]
        others = sorted(
            id_ for id_, t in self.model.texts.items()
            if id_ != src and t.source is None and (t.client, t.team) == (known.client, known.team)
        )  # fmt: skip
        if others:
            dst = self.chance.choice(others)
            edge = self.client(known.client, known.team).link(src, dst, weight=0.5, id=f"e{self.count}", now=self.now())
            self.model.edges[edge.id] = (known.client, known.team, src, dst)

    def fact(self) -> None:
        owner, team = self.someone()
        subject, value = f"Subject{self.count}{chr(97 + owner)}", f"value {self.word()}"
        self.client(owner, team).fact(subject, "has part", value, now=self.now())
        self.model.facts[subject] = (owner, team, [value])

    def ingest(self) -> None:
        owner = self.chance.randrange(self.clients)
        source, words = f"file{owner}-{self.chance.randrange(3)}.txt", [self.word() for _ in range(3)]
        content = "\n\n".join(self.text(word) for word in words)
        self.client(owner).ingest_text(content, source=source, now=self.now())
        stale = [id_ for id_, text in self.model.texts.items() if (text.client, text.source) == (owner, source)]
        for id_ in stale:
            del self.model.texts[id_]
        self.model.texts.update({f"word {word}": Text(owner, None, word, "", source) for word in words})

    def forget(self) -> None:
        if (id_ := self.own_text()) is None:
            return
        known = self.model.texts.pop(id_)
        assert self.client(known.client, known.team).forget(id_, now=self.now()) == [id_]
        self.model.forgotten[id_] = known
        self.model.edges = {edge: ends for edge, ends in self.model.edges.items() if id_ not in ends[2:]}

    def bring_back(self) -> None:
        """What was forgotten cannot be added again by its id."""
        if self.model.forgotten:
            id_ = self.chance.choice(sorted(self.model.forgotten))
            known = self.model.forgotten[id_]
            try:
                self.client(known.client, known.team).add("anything at all", id=id_, now=self.now())
            except Forgotten:
                return
            raise AssertionError(f"{id_} was forgotten and came back")

    def dream(self) -> None:
        self.client(self.chance.randrange(self.clients)).dream(now=self.now())

    def export_and_import(self) -> None:
        """An earlier export brings nothing forgotten back, and changes nothing that is there."""
        owner = self.chance.randrange(self.clients)
        path = self.place / f"export{owner}.jsonl"
        self.client(owner).export(path)
        mine = sorted(
            id_ for id_, t in self.model.texts.items() if t.source is None and (t.client, t.team) == (owner, None)
        )
        if mine:
            id_ = self.chance.choice(mine)
            self.client(owner).forget(id_, now=self.now())
            self.model.forgotten[id_] = self.model.texts.pop(id_)
            self.model.edges = {edge: ends for edge, ends in self.model.edges.items() if id_ not in ends[2:]}
        self.client(owner).import_(path, now=self.now())

    def reopen(self) -> None:
        self.memory.close()
        self.memory = Memory(self.address, embedder="none")

    def backup(self) -> None:
        self.memory.backup(self.place / "saved.tar")
        self.saved = copy.deepcopy(self.model)

    def restore(self) -> None:
        """The memory is as it was at the backup."""
        if self.saved is not None:
            self.memory.close()
            restore(self.place / "saved.tar", self.address, force=True)
            self.memory = Memory(self.address, embedder="none")
            self.model = copy.deepcopy(self.saved)

    # --- comparison

    def compare(self, everything: bool) -> None:
        for viewer in range(self.clients):
            eyes = self.client(viewer)
            visible = {i: t for i, t in self.model.texts.items() if may_see(viewer, t.client, t.team)}
            found = self.listed(eyes)
            assert found == {t.word for t in visible.values()}, self.told(viewer)
            texts, gone = sorted(self.model.texts), sorted(self.model.forgotten)
            few = len(texts) if everything else 2
            for id_ in self.chance.sample(texts, min(few, len(texts))):
                self.check_text(eyes, viewer, id_, self.model.texts[id_])
            for id_ in self.chance.sample(gone, min(few, len(gone))):
                assert eyes.get(id_) is None, self.told(viewer)
                assert not hits(eyes, self.model.forgotten[id_].word), self.told(viewer)
            if everything:
                self.check_rest(eyes, viewer)

    def listed(self, eyes: Memory) -> set[str]:
        """The own words of all atoms that the timeline lists."""
        words, after = [], None
        while True:
            page = eyes.timeline(kinds=["atom"], limit=100, after=after)
            words += [node.text.split()[0] for node in page.nodes]
            if (after := page.more) is None:
                assert len(words) == len(set(words)), self.told(0)
                return set(words)

    def check_text(self, eyes: Memory, viewer: int, id_: str, text: Text) -> None:
        visible = may_see(viewer, text.client, text.team)
        assert hits(eyes, text.word) == ([text.word] if visible else []), (id_, self.told(viewer))
        if text.source is None:
            node = eyes.get(id_)
            assert (node is not None) == visible, (id_, self.told(viewer))
            assert node is None or (node.text.split()[0] == text.word and text.tag in node.tags)

    def check_rest(self, eyes: Memory, viewer: int) -> None:
        for id_, (owner, team, src, dst) in self.model.edges.items():
            edge = eyes.edge(id_)
            assert (edge is not None) == may_see(viewer, owner, team), (id_, self.told(viewer))
            assert edge is None or (edge.src, edge.dst) == (src, dst)
        for subject, (owner, team, values) in self.model.facts.items():
            try:
                said = [fact.value for fact in eyes.facts(subject, now=self.now())]
            except NotFound:
                said = []
            assert said == (values if may_see(viewer, owner, team) else []), (subject, self.told(viewer))

    def told(self, viewer: int) -> str:
        return f"client {viewer} after {self.log[-30:]}"


def hits(eyes: Memory, word: str) -> list[str]:
    """The own words of what a search for a word finds."""
    found = eyes.tag_walk(word, min_results=1, record_access=False).anchors
    return [hit.node.text.split()[0] for hit in found if word in hit.node.text.split()]


def main() -> None:
    seed, steps = int(sys.argv[1]), int(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="cuetrail-simulation-") as made:
        simulation = Simulation(str(Path(made) / "m"), Path(made), seed, 1 + seed % len(SCOPES), embedded=True)
        simulation.run(steps)
        simulation.memory.close()
    sys.stdout.write(f"seed {seed}: {steps} steps, {simulation.clients} clients, every answer as the model says\n")


if __name__ == "__main__":
    main()
