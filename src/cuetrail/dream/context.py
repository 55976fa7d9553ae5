"""The arguments of a dream, and the reading, writing and counting that all passes share."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from itertools import islice
from pathlib import Path

from cuetrail.dream.dry_run import SHOWN, described_changes
from cuetrail.dream.summaries import Teller, extract
from cuetrail.dream.taggers import AutoTagger
from cuetrail.dream.word_matcher import WordMatcher
from cuetrail.embed.vectors import Vectors
from cuetrail.model import PassReport, Scope
from cuetrail.store.dream import Atom, Entry, Mark, Named, Slice, Writes
from cuetrail.store.ports import Store
from cuetrail.store.write import Progress

# Atoms per transaction. One takes a fraction of a second; other writers wait for it, and an interruption loses it.
BATCH = 8_000
# Searching the index for more words than this takes longer than reading all texts.
MOST_INDEX_WORDS = 1_000


@dataclass(frozen=True, slots=True)
class DreamContext:
    """The arguments of one dream in one partition: store, scope, time and rules.

    `home` is the memory's directory, if it has one. `vectors` embeds the nodes that passes write, `teller` writes their
    summaries. With `show`, changes are described in the report of a dry run. `known` caches the names by partition.
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


Pass = Callable[[DreamContext], PassReport]


class Work:
    """One run of a pass in one partition: reads what the pass needs, saves its writes, and counts both."""

    def __init__(self, context: DreamContext, name: str) -> None:
        self.context = context
        self.name = name
        self.memory = context.store.dream_pass(context.scope, name)
        self.read = self.wrote = self.removed = 0
        self.problems: list[str] = []
        self._changes: list[str] = []
        self._start = time.perf_counter()

    def slices(self, version: str, listens: Sequence[str] = ()) -> Iterator[Slice]:
        """Yields the atoms that changed since the pass's last run, in slices. The slices must be saved in this order.

        If `version` is not that of the last run, all atoms count as changed. `listens` names passes whose changes also
        count; those of other passes do not.
        """
        behind: Mark | None = None
        while (some := self.memory.slice(version, BATCH, listens, behind)) is not None:
            yield some
            behind = some.mark
            self.read += len(some.atoms)
            self.step(self.read, self.read + some.left)

    def pieces(self, keys: Collection[int]) -> Iterator[list[Atom]]:
        """Yields the atoms with these keys (numbers of the engine) in batches of at most BATCH, and counts them."""
        ordered = sorted(keys)
        for start in range(0, len(ordered), BATCH):
            atoms = self.memory.atoms(ordered[start : start + BATCH])
            self.read += len(atoms)
            yield atoms

    def names(self) -> list[Named]:
        """Returns the names of nodes in this partition. They are read once per dream, as no pass adds names."""
        known, scope = self.context.known, self.context.scope
        if scope not in known:
            known[scope] = self.memory.names()
        return known[scope]

    def named_in(self, words: Collection[str]) -> set[int]:
        """Returns the keys of the atoms whose texts contain one of the words, and possibly of a few other atoms.

        The text index answers for few words. For many, or without an index, all texts are read.
        """
        if not words:
            return set()
        found = self.memory.containing(words) if len(words) <= MOST_INDEX_WORDS else None
        return set(self._scan_for(words)) if found is None else found

    def _scan_for(self, words: Iterable[str]) -> Iterator[int]:
        matcher = WordMatcher({word: [word] for word in words})
        total, done, after = self.memory.count(), 0, 0
        while texts := self.memory.texts(after, BATCH):
            found = matcher.matches([text for _, text in texts])
            yield from (key for (key, _), words_found in zip(texts, found, strict=True) if words_found)
            after = texts[-1][0]
            done += len(texts)
            self.read += len(texts)
            self.step(done, total)

    def step(self, done: int, total: int) -> None:
        """Calls the caller's progress function, if there is one."""
        if self.context.progress:
            self.context.progress(f"dreaming: {self.name}", done, total)

    def save(self, writes: Writes) -> None:
        """Writes all changes in one transaction and counts them."""
        if self.context.show:
            # Described before the write, because removed records could not be described afterwards.
            changes = described_changes(self.context.store, self.context.scope, writes)
            self._changes += islice(changes, SHOWN - len(self._changes))
        batch, vectors = writes.batch, self.context.vectors
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
        """Returns the summary of texts about a subject that the caller's teller (a function) writes; that of `extract`
        if the teller fails or returns nothing.
        """
        try:
            summary: object = self.context.teller(subject, texts)
        except Exception as error:  # noqa: BLE001  # a caller's function may raise anything
            self.problems.append(f"the teller failed ({error}); its rule told instead")
            summary = ""
        return summary if isinstance(summary, str) and summary.strip() else extract(subject, texts)

    def report(self, step: bool = False) -> PassReport:
        """Returns the counts of the pass. With `step`, first calls the progress function with all reads done."""
        if step:
            self.step(self.read, self.read)
        seconds = time.perf_counter() - self._start
        changes, problems = tuple(self._changes), tuple(self.problems)
        return PassReport(self.name, self.read, self.wrote, self.removed, seconds, changes, problems)


def split_at_pauses(rows: Iterable[Entry], time_of: Callable[[Entry], int], pause: int) -> Iterator[list[Entry]]:
    """Yields the rows, which are sorted by time, in lists: a new one begins where two rows are at least `pause`
    milliseconds apart.
    """
    some: list[Entry] = []
    for row in rows:
        if some and time_of(row) - time_of(some[-1]) >= pause:
            yield some
            some = []
        some.append(row)
    if some:
        yield some
