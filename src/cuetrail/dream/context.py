"""What every pass is given, and what every pass does alike: read in slices, write in transactions, count and show."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from itertools import chain, islice
from pathlib import Path

from cuetrail.dream.summaries import Teller, extract
from cuetrail.dream.tagger import AutoTagger
from cuetrail.dream.word_matcher import Dictionary
from cuetrail.embed.vectors import Vectors
from cuetrail.model import Node, PassReport, Scope
from cuetrail.store.dream import Atom, Mark, Named, Slice, Writes
from cuetrail.store.ports import Store
from cuetrail.store.write import Progress
from cuetrail.text.normalise import snippet

# Atoms of one transaction: another writer waits for a fraction of a second, and a kill costs as much.
BATCH = 8_000
# To look for more names in an index takes longer than to read as many texts.
MOST_ASKED = 1_000
# Of a dry run so many changes of a pass are shown.
SHOWN = 100


@dataclass(frozen=True, slots=True)
class Night:
    """One dream in one place: whose, when, and by which rules.

    `home` is the memory's directory, where there is one. `vectors` makes those of the nodes that are told, `teller`
    tells of them. `show` keeps the changes for the report of a dry run. `known` are the names that were read.
    """

    store: Store
    scope: Scope
    now: int
    zone: tzinfo
    tagger: AutoTagger
    progress: Progress | None = None
    home: Path | None = None
    vectors: Vectors | None = None
    teller: Teller = extract
    show: bool = False
    known: dict[Scope, list[Named]] = field(default_factory=dict)


Pass = Callable[[Night], PassReport]


class Work:
    """A pass at work in one place. It counts what it reads and writes."""

    def __init__(self, night: Night, name: str) -> None:
        self.night = night
        self.name = name
        self.memory = night.store.dreaming(night.scope, name)
        self.read = self.wrote = self.removed = 0
        self.problems: list[str] = []
        self._changes: list[str] = []
        self._start = time.perf_counter()

    def slices(self, version: str, listens: Sequence[str] = ()) -> Iterator[Slice]:
        """The atoms that changed, in slices, which must be saved in this order."""
        behind: Mark | None = None
        while (some := self.memory.slice(version, BATCH, listens, behind)) is not None:
            yield some
            behind = some.mark
            self.read += len(some.atoms)
            self.step(self.read, self.read + some.left)

    def pieces(self, keys: Collection[int]) -> Iterator[list[Atom]]:
        """The atoms of these keys, in pieces for one transaction each."""
        ordered = sorted(keys)
        for start in range(0, len(ordered), BATCH):
            atoms = self.memory.atoms(ordered[start : start + BATCH])
            self.read += len(atoms)
            yield atoms

    def names(self) -> list[Named]:
        """The names in this place, read once in a dream: no pass gives anything a name that a text could state."""
        known, place = self.night.known, self.night.scope
        if place not in known:
            known[place] = self.memory.names()
        return known[place]

    def named_in(self, words: Collection[str]) -> set[int]:
        """The atoms in whose texts these words are, and perhaps a few others.

        Of a few words the index tells. Where it does not, or where there are many, all texts are read.
        """
        if not words:
            return set()
        told = self.memory.holding(words) if len(words) <= MOST_ASKED else None
        return set(self._read_for(words)) if told is None else told

    def _read_for(self, words: Iterable[str]) -> Iterator[int]:
        sought = Dictionary({word: [word] for word in words})
        total, done, after = self.memory.count(), 0, 0
        while texts := self.memory.texts(after, BATCH):
            meant = sought.meant([text for _, text in texts])
            yield from (key for (key, _), said in zip(texts, meant, strict=True) if said)
            after = texts[-1][0]
            done += len(texts)
            self.read += len(texts)
            self.step(done, total)

    def step(self, done: int, total: int) -> None:
        """Show how far the pass is."""
        if self.night.progress:
            self.night.progress(f"dreaming: {self.name}", done, total)

    def save(self, writes: Writes) -> None:
        """Write it all or nothing, and count it."""
        if self.night.show:
            # Before it is done: of what is removed nothing could be told afterwards.
            self._changes += islice(_shown(self.night, writes), SHOWN - len(self._changes))
        batch, vectors = writes.batch, self.night.vectors
        if vectors is not None and batch.nodes:
            saved = vectors.written([batch], lambda: self.memory.save(writes))
        else:
            saved = self.memory.save(writes)
        self.wrote += saved.added + len(batch.nodes) + len(batch.edges) + len(batch.mentions) + len(writes.lives)
        self.removed += saved.dropped + len(writes.remove_mentions)
        self.removed += len(batch.remove_nodes) + len(batch.remove_edges) + len(batch.remove_notes)
        retracted = sum(verdict.status == "retracted" for verdict in batch.verdicts)
        self.wrote, self.removed = self.wrote + len(batch.verdicts) - retracted, self.removed + retracted

    def tell(self, subject: str, texts: Sequence[str]) -> str:
        """What to tell of texts. A teller that fails, or says nothing, costs what it would have told."""
        try:
            told: object = self.night.teller(subject, texts)
        except Exception as error:  # noqa: BLE001  # whatever somebody else's code raises
            self.problems.append(f"the teller failed ({error}); its rule told instead")
            told = ""
        return told if isinstance(told, str) and told.strip() else extract(subject, texts)

    def report(self) -> PassReport:
        """What the pass did."""
        seconds = time.perf_counter() - self._start
        changes, problems = tuple(self._changes), tuple(self.problems)
        return PassReport(self.name, self.read, self.wrote, self.removed, seconds, changes, problems)


def _shown(night: Night, writes: Writes) -> Iterator[str]:
    """What comes (+) and what goes (-), in words. A tag that changes its origin comes."""
    for atom, tags in writes.relabelled:
        names = {tag.name for tag in tags}
        about = _about(atom.id, atom.text)
        yield from (f"+ #{tag.name} ({tag.origin}) on {about}" for tag in tags if tag not in atom.tags)
        yield from (f"- #{tag.name} ({tag.origin}) from {about}" for tag in atom.tags if tag.name not in names)
    batch = writes.batch
    going = night.store.edges(night.scope, batch.remove_edges[:SHOWN]).values()
    mentions = [(one.source, one.node) for one in batch.mentions[:SHOWN]]
    joined = [(edge.src, edge.dst) for edge in (*batch.edges[:SHOWN], *going)]
    called = _called(night, (*joined, *mentions, *writes.remove_mentions[:SHOWN]), batch.remove_nodes[:SHOWN])
    yield from (f"+ {_about(node.id, node.name or node.text)} ({_counted(node)})" for node in batch.nodes)
    yield from (f"+ {called(e.src)} {e.kind} {called(e.dst)} ({e.weight})" for e in batch.edges[:SHOWN])
    yield from (f"+ {called(source)} names {called(node)}" for source, node in mentions)
    yield from (f"- {called(id_)}" for id_ in batch.remove_nodes[:SHOWN])
    yield from (f"- {called(edge.src)} {edge.kind} {called(edge.dst)}" for edge in going)
    yield from (f"- {called(source)} names {called(node)}" for source, node in writes.remove_mentions[:SHOWN])
    yield from (f"- note {id_}" for id_ in batch.remove_notes)
    yield from (
        f"{'+' if verdict.status == 'confirmed' else '-'} fact {verdict.fact} {verdict.status}"
        for verdict in batch.verdicts
    )
    yield from (
        f"~ {was.id} ({was.kind}) salience {was.life.salience:.3f} -> {life.salience:.3f}"
        + (" into the archive" if life.state == "archived" != was.life.state else "")
        for was, life in writes.lives
    )


def _called(night: Night, pairs: Iterable[tuple[str, str]], others: Iterable[str]) -> Callable[[str], str]:
    """How to call the nodes of these ids: by id, and by what they say."""
    nodes = night.store.get(night.scope, sorted({*chain.from_iterable(pairs), *others}))
    return lambda id_: _about(id_, (nodes[id_].name or nodes[id_].text) if id_ in nodes else "")


def _counted(node: Node) -> str:
    """What a node is, and of how many it tells."""
    counts = (f"{node.props[what]} {what}" for what in ("atoms", "sources", "storylines") if what in node.props)
    return " of ".join((node.kind, *counts))


def _about(id_: str, text: str) -> str:
    return f'{id_} "{snippet(text)}"' if text else id_
