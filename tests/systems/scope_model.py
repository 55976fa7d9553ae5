"""Several people use one memory through one door, at random, and a plain model knows who may see what.

Every text, name, tag, id and remark carries a marker, a word that exists once. The model knows the partitions that a
marker belongs to. No answer to a scope, also no error, may contain a marker of a partition that the scope does not see;
and an answer about a hidden id must equal the answer about an id that nobody has.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from cuetrail import Memory, Scope
from cuetrail.model import Node
from cuetrail.store.shared.ids import plain
from tests.every_field import every_field

ANN = Scope("acme", "ann")
ANN_RED = Scope("acme", "ann", ("red",), "red")
BOB = Scope("acme", "bob", ("red",))
BOB_BLUE = Scope("acme", "bob", ("red", "blue"), "blue")
CAT = Scope("acme", "cat", ("blue",))
CAT_BLUE = Scope("acme", "cat", ("blue",), "blue")
DAN = Scope("acme", "dan")
EVE = Scope("other", "ann", ("red", "blue"))
EVE_RED = Scope("other", "ann", ("red", "blue"), "red")
SCOPES = (ANN, ANN_RED, BOB, BOB_BLUE, CAT, CAT_BLUE, DAN, EVE, EVE_RED)

MARKER = re.compile("zq[bcfghjkmnpqrtvwx]{9}zq")
NAMES = ("Quillon Harrow", "Mirelle Vantz", "Odalys Brandt", "Tamsin Roke")
TAGS = ("harbour", "radio", "winter")
KINDS = ("atom", "person", "concept", "entity")
MOST_NODES = 30
"""A person with more nodes forgets some."""

Place = tuple[str, str, str | None]
"""A partition: tenant, owner and team."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything that came out of a door: the data or the error as one text, and whether it worked."""

    worked: bool
    text: str
    data: Any = None


class Door(Protocol):
    """A way into the memory. `call` takes a verb of `Memory` with JSON arguments."""

    def call(self, scope: Scope, verb: str, arguments: dict[str, Any]) -> Answer: ...

    def export(self, scope: Scope) -> bytes: ...

    def import_(self, scope: Scope, data: bytes) -> Answer: ...

    def others(self, scope: Scope, probe: str) -> list[Answer]:
        """Answers of what only this door has, all about the id `probe`."""


def place_of(scope: Scope) -> Place:
    return scope.tenant, scope.user, scope.share


@dataclass
class Model:
    """Where each marker is, which nodes there are, and who forgot what."""

    homes: dict[str, set[Place]] = field(default_factory=lambda: defaultdict(set))
    nodes: dict[tuple[Place, str], set[str]] = field(default_factory=dict)
    said: list[tuple[str, Place, frozenset[tuple[Place, str]]]] = field(default_factory=list)
    certain: set[tuple[Place, str]] = field(default_factory=set)
    forgotten: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    barred: set[tuple[Place, str]] = field(default_factory=set)
    edges: dict[str, Place] = field(default_factory=dict)
    facts: dict[str, Place] = field(default_factory=dict)

    @staticmethod
    def sees(scope: Scope, place: Place) -> bool:
        tenant, owner, team = place
        return tenant == scope.tenant and (owner == scope.user or team in scope.teams)

    def hidden(self, scope: Scope, text: str) -> set[str]:
        """The markers in a text that the scope must not see."""
        found = set(MARKER.findall(text))
        return {one for one in found if not any(self.sees(scope, place) for place in self.homes.get(one, ()))}

    def put(self, key: tuple[Place, str], markers: Iterable[str], *, certain: bool = True) -> None:
        place, known = key[0], self.nodes.setdefault(key, set())
        for marker in markers:
            known.add(marker)
            self.homes[marker].add(place)
        if certain:
            self.certain.add(key)

    def say(self, about: Iterable[tuple[Place, str]], marker: str, place: Place) -> None:
        """Something was stated about nodes; it goes when one of them is forgotten."""
        self.homes[marker].add(place)
        self.said.append((marker, place, frozenset(about)))

    def forget(self, key: tuple[Place, str]) -> None:
        (tenant, owner, _), gone = key[0], self.nodes.pop(key, set())
        self.certain.discard(key)
        self.barred.add(key)
        still = {(marker, place) for (place, _), markers in self.nodes.items() for marker in markers}
        # A file's nodes share its title and headings, which stay as long as one of them does.
        gone = {marker for marker in gone if (marker, key[0]) not in still}
        self.forgotten[tenant, owner] |= gone
        ended = {(marker, place) for marker, place, about in self.said if key in about}
        self.said = [one for one in self.said if key not in one[2]]
        # The same may have been said of another node too, and an imported statement names nodes that are still there.
        still |= {(marker, place) for marker, place, _ in self.said}
        for marker, place in {*((marker, key[0]) for marker in gone), *(ended - still)}:
            self.homes[marker].discard(place)

    def own(self, scope: Scope) -> list[tuple[Place, str]]:
        return sorted((k for k in self.nodes if k[0][:2] == (scope.tenant, scope.user)), key=repr)


def key_of(scope: Scope, node: Node) -> tuple[Place, str]:
    return (scope.tenant, node.owner, node.team), plain(node.id)


READS: dict[str, str] = {
    "get": "id", "nodes": "*ids", "ids": "prefix", "edge": "id", "neighbours": "id", "history": "id",
    "facts": "subject", "fact_history": "subject", "fact_ids": "prefix", "doomed": "*ids", "traverse": "start",
    "activate": "*seeds", "recall": "cue", "tag_walk": "cue", "narrate": "cue", "explore": "*text_matches",
    "timeline": "*tags", "labels": "prefix",
}  # fmt: skip
"""Verbs that change nothing, each with the argument that names something; with a star it is a list."""

REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "edit": ("id", {"text": "changed"}), "unlink": ("*ids", {}), "note": ("target", {"text": "a remark"}),
    "link": ("src", {"dst": "nowhere"}), "relate": ("src", {"dst": "nowhere"}), "confirm": ("id", {}),
    "retract": ("id", {}), "forget": ("*ids", {}), "quarantine": ("*ids", {}),
}  # fmt: skip
"""Verbs that change what is named, and must not find what is hidden."""

ENDS = ("src", "dst", "subject", "object", "target", "source", "node")
"""The fields of exported statements that name nodes."""

QUIET = ("activate", "recall", "tag_walk", "narrate", "explore", "traverse")
BY_SOURCE = ("forget", "quarantine", "doomed")


def named(argument: str, value: str) -> dict[str, Any]:
    return (
        {argument[1:]: [value]} if argument.startswith("*") else {argument: [value] if argument == "start" else value}
    )


class Plan:
    """A random script of operations by all scopes through one door, checked after each step."""

    def __init__(self, seed: int, memory: Memory, door: Door, folder: Path) -> None:
        self.chance, self.memory, self.door, self.model = random.Random(seed), memory, door, Model()
        self.folder, self.done, self.worked = folder, Counter[str](), Counter[str]()
        # Apart, so that looking does not change the plan.
        self.glances = random.Random(seed)
        self.exports: list[tuple[Scope, bytes]] = []
        self.trace: list[str] = []

    # --- words

    def marker(self) -> str:
        return "zq" + "".join(self.chance.choices("bcfghjkmnpqrtvwx", k=9)) + "zq"

    def text(self, marker: str) -> str:
        name, other = self.chance.sample(NAMES, 2)
        return f"{marker} was said by {name} to {other} about the {self.chance.choice(TAGS)}."

    def seen_node(self, scope: Scope, *kinds: str) -> Node | None:
        found = self.memory.scoped(scope).timeline(
            kinds=kinds, limit=200, include_quarantined=True, include_archived=True
        )
        nodes = [node for node in found.nodes if key_of(scope, node) in self.model.certain]
        return self.chance.choice(nodes) if nodes else None

    # --- steps

    def call(self, scope: Scope, verb: str, arguments: dict[str, Any], mine: Iterable[str] = ()) -> Answer:
        """Calls a verb and looks for leaks; `mine` are the markers that the caller has just made up."""
        self.done[verb] += 1
        answer = self.door.call(scope, verb, arguments)
        self.worked[verb] += answer.worked
        self.trace = [*self.trace[-30:], f"{scope} {verb} {arguments} -> {answer.text[:200]}"]
        self.check(scope, verb, answer.text, mine)
        return answer

    def check(self, scope: Scope, what: str, text: str, mine: Iterable[str] = ()) -> None:
        leaked = self.model.hidden(scope, text) - set(mine)
        assert not leaked, f"{what} shows {scope} the markers {leaked}: {text[:2000]}\n" + "\n".join(self.trace)

    def step(self) -> None:
        scope = self.chance.choice(SCOPES)
        if len(self.model.own(scope)) > MOST_NODES:
            self.forget(scope)
            return
        steps = (
            (self.add, 8), (self.edit, 4), (self.link, 5), (self.note, 3), (self.fact, 5), (self.judge, 3),
            (self.unlink, 2), (self.read, 16), (self.probe, 20), (self.forget, 3), (self.quarantine, 2),
            (self.dream, 1), (self.ingest, 2), (self.hand_over, 1), (self.lists, 8), (self.same_id, 2),
            (self.smuggle, 1),
        )  # fmt: skip
        self.chance.choices([do for do, _ in steps], [often for _, often in steps])[0](scope)

    def add(self, scope: Scope, id_: str | None = None) -> None:
        texts = [self.marker() for _ in range(4)]
        id_ = id_ or texts[0]
        given: dict[str, Any] = {
            "id": id_, "text": self.text(texts[1]), "tags": [texts[2], self.chance.choice(TAGS)],
            "kind": self.chance.choice(KINDS), "buckets": [self.chance.choice(TAGS)],
        }  # fmt: skip
        if self.chance.random() < 0.5:
            given["name"] = self.chance.choice([*NAMES, f"Holder {texts[3]}"])
        answer = self.call(scope, "add", given, {*texts, id_})
        if answer.worked:
            self.model.put((place_of(scope), id_), [id_, *texts[1:]])

    def same_id(self, scope: Scope) -> None:
        """Adds a node under an id that another person has."""
        others = [id_ for place, id_ in self.model.nodes if place[:2] != (scope.tenant, scope.user)]
        if others:
            self.add(scope, self.chance.choice(others))

    def edit(self, scope: Scope) -> None:
        node, marker = self.seen_node(scope), self.marker()
        if node is not None:
            answer = self.call(scope, "edit", {"id": node.id, "text": self.text(marker)}, [marker])
            assert answer.worked == (node.owner == scope.user), answer.text
            if answer.worked:
                self.model.put(key_of(scope, node), [marker])

    def link(self, scope: Scope) -> None:
        verb = self.chance.choice(["link", "relate"])
        kinds = KINDS[1:] if verb == "relate" else ()
        one, other, marker = self.seen_node(scope, *kinds), self.seen_node(scope, *kinds), self.marker()
        if one is None or other is None or one.id == other.id:
            return
        given: dict[str, Any] = {"src": one.id, "dst": other.id, "text": f"joined {marker}"}
        given |= {"id": marker, "weight": 0.5} if verb == "link" else {"type": "friend"}
        answer = self.call(scope, verb, given, [marker])
        if answer.worked:
            self.model.say([key_of(scope, one), key_of(scope, other)], marker, place_of(scope))
            self.model.edges[answer.data["id"]] = place_of(scope)

    def note(self, scope: Scope) -> None:
        node, marker = self.seen_node(scope), self.marker()
        if node is not None and self.call(scope, "note", {"target": node.id, "text": f"see {marker}"}, [marker]).worked:
            self.model.say([key_of(scope, node)], marker, place_of(scope))

    def fact(self, scope: Scope) -> None:
        node, marker = self.seen_node(scope, *KINDS[1:]), self.marker()
        if node is None:
            return
        predicate = self.chance.choice(["lives_in", "likes", "keeps"])
        if self.chance.random() < 0.1:
            self.call(scope, "declare", {"predicate": predicate, "single": self.chance.random() < 0.5})
        given = {"subject": node.id, "predicate": predicate, "object": f"the {marker}"}
        answer = self.call(scope, "fact", given, [marker])
        if answer.worked:
            self.model.say([key_of(scope, node)], marker, place_of(scope))
            self.model.facts[answer.data["id"]] = place_of(scope)

    def judge(self, scope: Scope) -> None:
        own = [id_ for id_, place in self.model.facts.items() if place == place_of(scope)]
        if own:
            self.call(scope, self.chance.choice(["confirm", "retract"]), {"id": self.chance.choice(own)})

    def unlink(self, scope: Scope) -> None:
        own = [id_ for id_, place in self.model.edges.items() if place == place_of(scope)]
        if own:
            id_ = self.chance.choice(own)
            self.call(scope, "unlink", {"ids": [id_]}, MARKER.findall(id_))

    def forget(self, scope: Scope) -> None:
        mine = self.model.own(scope)
        if not mine:
            return
        place, id_ = self.chance.choice(mine)
        name = id_ if place == place_of(scope) else f"{id_}@@{place[1]}{f'/{place[2]}' if place[2] else ''}"
        seen = self.memory.scoped(scope)
        chosen = seen.get(name)
        if chosen is None or chosen.owner != scope.user:
            return
        doomed = seen.doomed(name)
        gone = [key_of(scope, node) for node in (*doomed.meant, *doomed.copies)]
        answer = self.call(scope, "forget", {"ids": [name]})
        assert answer.worked, answer.text
        for key in gone:
            self.model.forget(key)
        self.heirs(scope)
        if self.done["forget"] % 5 == 1:
            self.census(full=False)

    def heirs(self, scope: Scope) -> None:
        """What somebody stated about a forgotten file stays, about an entity with its name."""
        seen = self.memory.scoped(scope)
        for node in seen.timeline(kinds=["entity"], limit=1000).nodes:
            if node.owner == scope.user and node.props.get("found") == "fact":
                told = every_field((node, seen.fact_history(node.id)))
                self.model.put(key_of(scope, node), MARKER.findall(told), certain=False)

    def quarantine(self, scope: Scope) -> None:
        node = self.seen_node(scope)
        if node is not None:
            self.call(scope, "quarantine", {"ids": [node.id], "undo": self.chance.random() < 0.5})

    def dream(self, scope: Scope) -> None:
        self.call(scope, "dream", {})

    def ingest(self, scope: Scope) -> None:
        texts = [self.marker() for _ in range(3)]
        name = self.chance.choice([f"{texts[0]}.md", "plan.md"])
        body = f"# Plan {texts[1]}\n\n{self.text(texts[2])} See [[{self.chance.choice(NAMES)}]].\n"
        if self.call(scope, "ingest_text", {"text": body, "source": name}, texts).worked:
            for node in self.memory.scoped(scope).store.atoms_of(scope, [name])[name]:
                self.model.put(key_of(scope, node), MARKER.findall(every_field(node)), certain=False)

    def hand_over(self, scope: Scope) -> None:
        """Exports, or imports an earlier export: the person's own, or one that somebody handed over."""
        if len(self.exports) < 6 or self.chance.random() < 0.4:
            self.done["export"] += 1
            data = self.door.export(scope)
            for line in map(json.loads, data.decode().splitlines()[1:]):
                # A person's own statement keeps the ids that the person named, also after leaving the team.
                told = json.dumps(
                    {name: value for name, value in line.items() if name not in ENDS or line["type"] == "node"}
                )
                foreign = {one for one in MARKER.findall(told) if not self.owns(scope, one)}
                assert not foreign, f"export gives {scope} the markers {foreign}: {line}\n" + "\n".join(self.trace)
            self.exports = [*self.exports[-9:], (scope, data)]
            return
        _, data = self.chance.choice(self.exports)
        self.take(scope, data)

    def owns(self, scope: Scope, marker: str) -> bool:
        return any(place[:2] == (scope.tenant, scope.user) for place in self.model.homes.get(marker, ()))

    def take(self, scope: Scope, data: bytes) -> None:
        """Imports a file. What the importer forgot stays away, and nothing comes into a team of others."""
        lost = self.model.forgotten[scope.tenant, scope.user]
        for line in map(json.loads, data.decode().splitlines()[1:]):
            team = line.get("team")
            places = {
                (scope.tenant, scope.user, None),
                (scope.tenant, scope.user, team if team in scope.teams else None),
            }
            for place in places:
                fresh = set(MARKER.findall(json.dumps(line))) - lost
                about = [line[end] for end in ENDS if line.get(end)]
                if line["type"] in ("node", "version") and (place, line["id"]) not in self.model.barred:
                    # An id that the importer forgot elsewhere may be another memory's here.
                    self.model.put((place, line["id"]), {*fresh, *MARKER.findall(line["id"])}, certain=False)
                elif line["type"] in ("edge", "fact", "note"):
                    for marker in fresh:
                        self.model.say([(place, plain(one)) for one in about], marker, place)
        self.done["import"] += 1
        answer = self.door.import_(scope, data)
        self.trace = [*self.trace[-30:], f"{scope} import -> {answer.text[:200]}"]
        self.check(scope, "import", answer.text, MARKER.findall(data.decode()))
        self.census(full=False)

    def smuggle(self, scope: Scope) -> None:
        """Imports a file whose lines name a team that the person is not in, and an owner that is someone else."""
        marker, team = self.marker(), self.chance.choice(["red", "blue", "green"])
        lines = [{"cuetrail": 1}, {"type": "node", "id": marker, "text": self.text(marker), "team": team}]
        self.take(scope, "".join(json.dumps(line) + "\n" for line in lines).encode())

    # --- reads

    def read(self, scope: Scope) -> None:
        node, verb = self.seen_node(scope), self.chance.choice(list(READS))
        cue = self.chance.choice([*NAMES, *TAGS, "said about the harbour", *([node.id, node.text] if node else [])])
        extra = {"recipe": self.chance.choice(["trail", "energy", "explore"])} if verb == "recall" else {}
        self.call(scope, verb, {**named(READS[verb], cue), **extra}, MARKER.findall(cue))

    def lists(self, scope: Scope) -> None:
        known: list[tuple[str, dict[str, Any]]] = [
            ("stats", {}), ("brief", {}), ("labels", {"limit": 1000}), ("labels", {"what": "bucket"}), ("dreams", {}),
            ("timeline", {"limit": 100, "include_quarantined": True}), ("ids", {"prefix": "", "limit": 1000}),
            ("fact_ids", {"prefix": "", "limit": 1000}), ("prewarm", {}), ("explore", {"queries": ["harbour"]}),
            ("recall", {"cue": "zqb", "fuzzy": True}), ("activate", {"seeds": "harbour radio"}),
        ]  # fmt: skip
        self.call(scope, *self.chance.choice(known))

    def probe(self, scope: Scope) -> None:
        """Names something hidden and something that nobody has: both answers must be the same."""
        hidden = self.something_hidden(scope)
        if hidden is None:
            return
        unknown = re.sub("[0-9a-f]{16,}", lambda found: f"{self.chance.getrandbits(160):040x}"[: len(found[0])], hidden)
        unknown = MARKER.sub(self.marker(), unknown)
        verb = self.chance.choice([*READS, *REFUSED, "by source", "door"])
        pairs: Iterable[tuple[Answer, ...]]
        if verb == "door":
            pairs = list(zip(self.door.others(scope, hidden), self.door.others(scope, unknown), strict=True))
            self.done["what only this door has"] += 2 * len(pairs)
        elif verb == "by source":
            verb = self.chance.choice(BY_SOURCE)
            pairs = [tuple(self.call(scope, verb, {"source": n}, MARKER.findall(n)) for n in (hidden, unknown))]
        else:
            pairs = [tuple(self.ask(scope, verb, name) for name in (hidden, unknown))]
        for told, other in pairs:
            self.check(scope, verb, told.text, MARKER.findall(hidden))
            same = told.text.replace(hidden, "X").replace(plain(hidden), "Y")
            expected = other.text.replace(unknown, "X").replace(plain(unknown), "Y")
            assert same == expected, (
                f"{verb} tells {scope} that {hidden} exists:\n{same[:3000]}\n---\n{expected[:3000]}"
            )

    def ask(self, scope: Scope, verb: str, name: str) -> Answer:
        argument, extra = (READS[verb], {}) if verb in READS else REFUSED[verb]
        quiet: dict[str, Any] = {"record_access": False} if verb in QUIET else {}
        quiet |= {"cache": False} if verb == "narrate" else {}
        return self.call(scope, verb, {**named(argument, name), **extra, **quiet}, MARKER.findall(name))

    def something_hidden(self, scope: Scope) -> str | None:
        """The id, the qualified id, or a marker of something that the scope does not see."""
        model = self.model
        places = [
            *model.nodes,
            *((p, id_) for id_, p in model.edges.items()),
            *((p, i) for i, p in model.facts.items()),
        ]
        visible = {id_ for place, id_ in places if model.sees(scope, place)}
        found = [(place, id_) for place, id_ in places if not model.sees(scope, place) and id_ not in visible]
        if not found:
            return None
        place, id_ = self.chance.choice(found)
        markers = [m for m in sorted(model.nodes.get((place, id_), ())) if model.hidden(scope, m)]
        label = place[1] + (f"/{place[2]}" if place[2] else "")
        options = [id_, id_, f"{id_}@@{label}", *markers]
        return self.chance.choice(
            [one for one in options if set(MARKER.findall(one)) == model.hidden(scope, one)] or [None]
        )

    # --- everything that everyone sees

    def census(self, *, full: bool = True) -> None:
        """Everyone lists everything: nothing hidden is there, and nothing that was added is missing."""
        for scope in SCOPES:
            seen = self.memory.scoped(scope)
            nodes: list[Node] = []
            after: str | None = None
            while True:
                page = seen.timeline(include_quarantined=True, include_archived=True, limit=1000, after=after)
                nodes += page.nodes
                if not (after := page.more):
                    break
            for node in nodes:
                self.check(scope, "timeline", every_field(node))
            found = {key_of(scope, node) for node in nodes}
            missing = {key for key in self.model.certain if self.model.sees(scope, key[0])} - found
            assert not missing, f"{scope} does not find {missing}\n" + "\n".join(self.trace)
            self.check(scope, "labels", every_field(seen.labels(limit=10_000)))
            self.check(scope, "ids", every_field(seen.ids("", limit=10_000)))
            if full:
                for node in self.glances.sample(nodes, min(12, len(nodes))):
                    told = (seen.neighbours(node.id, 50), seen.history(node.id), seen.fact_history(node.id))
                    self.check(scope, "around a node", every_field(told))
                self.check(scope, "recall", every_field(seen.recall("harbour radio winter said", limit=100)))

    def run(self, steps: int, every: int) -> None:
        for number in range(1, steps + 1):
            self.step()
            if number % every == 0:
                self.census()
        self.census()
