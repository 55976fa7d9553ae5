"""Reports of ingest, dreams, `stats` and `doctor`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class FileError:
    """A file that could not be ingested, and the reason."""

    path: str
    error: str


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Counts of one ingest. Files are counted as files, everything else as atoms, except `edges`.

    `kept` atoms had been stored before. `merged` atoms have near duplicates, with which they share tags and buckets.
    `forgotten` atoms were skipped because of a tombstone. `cut` atoms were stored without forgotten sentences.
    `left_out` lists the files with skipped or cut atoms. `read` counts what was found in the files,
    such as messages, and `skipped` what was left out as no memory, such as templates; a file that has not changed is
    not counted again.
    """

    files: int = 0
    unchanged_files: int = 0
    removed_files: int = 0
    added: int = 0
    kept: int = 0
    removed: int = 0
    merged: int = 0
    forgotten: int = 0
    cut: int = 0
    edges: int = 0
    left_out: tuple[str, ...] = ()
    errors: tuple[FileError, ...] = ()
    notices: tuple[str, ...] = ()
    read: Mapping[str, int] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: IngestReport) -> IngestReport:
        return IngestReport(*(_added(getattr(self, one.name), getattr(other, one.name)) for one in fields(self)))


def _added(mine: Any, other: Any) -> Any:
    # A plain dict: `asdict` cannot copy a Counter.
    return dict(Counter(mine) + Counter(other)) if isinstance(mine, Mapping) else mine + other


@dataclass(frozen=True, slots=True)
class ChatReport:
    """The result of adding messages to a conversation, its `source`.

    `ids` has the id of each message's memory, in the order of the messages; None for one that was left out. `added`
    and `known` count messages: new ones, and those that the conversation had before. `facts` counts the facts that were
    read from the users' messages. `left_out` says what of which message was not stored, and why.
    """

    source: str
    ids: tuple[str | None, ...] = ()
    added: int = 0
    known: int = 0
    facts: int = 0
    left_out: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


PASS_NAMES = (
    "temporal", "auto_tags", "infection", "mentions", "known_as", "cooccurrence", "episodes", "consolidation",
    "storylines", "macros", "decay", "note_expiry", "facts", "mirror",
)  # fmt: skip
"""The names of the passes of a dream, in the order they run."""


@dataclass(frozen=True, slots=True)
class PassReport:
    """Counts of one pass of a dream: nodes read, and tags, edges and nodes written and removed.

    `changes` describes the first of them after a dry run. `problems` describes failures.
    """

    name: str
    read: int = 0
    wrote: int = 0
    removed: int = 0
    seconds: float = 0.0
    changes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DreamReport:
    """The reports of the passes of one dream. `skipped` is True if another dream was running, so nothing was done."""

    passes: tuple[PassReport, ...] = ()
    skipped: bool = False
    dry_run: bool = False
    seconds: float = 0.0
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of everything the scope can see. `narratives` counts hits, misses and entries of the narrative cache.

    `tags` are those that people gave to some node, `automatic_tags` those that a rule gave to some node.
    """

    nodes: int
    edges: int
    facts: int
    notes: int
    mentions: int
    vectors: int
    tombstones: int
    kinds: Mapping[str, int]
    tags: int
    automatic_tags: int
    buckets: Mapping[str, int]
    embedder: str | None
    schema: int
    narratives: Mapping[str, int] = field(default_factory=dict)
    reranker: str | None = None


@dataclass(frozen=True, slots=True)
class Saved:
    """The answers of one day (in UTC): how many, their tokens, the notes that they were made from, and the tokens that
    these have as a whole. A note that two answers show counts twice.
    """

    day: str
    answers: int
    tokens: int
    notes: int
    whole: int


@dataclass(frozen=True, slots=True)
class Savings:
    """The answers handed out to programs, by day, the oldest first. The other fields are their sums."""

    days: tuple[Saved, ...] = ()

    @property
    def answers(self) -> int:
        """Returns the number of answers."""
        return sum(day.answers for day in self.days)

    @property
    def tokens(self) -> int:
        """Returns the tokens of the answers, estimated."""
        return sum(day.tokens for day in self.days)

    @property
    def notes(self) -> int:
        """Returns the number of notes that the answers were made from."""
        return sum(day.notes for day in self.days)

    @property
    def whole(self) -> int:
        """Returns the tokens that these notes have as a whole, estimated."""
        return sum(day.whole for day in self.days)

    def to_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        sums = {name: getattr(self, name) for name in ("answers", "tokens", "notes", "whole")}
        return {**sums, "days": [asdict(day) for day in self.days]}


MENDED, REPAIR = "mended", "run `cuetrail doctor --repair`"
"""The `fix` of a finding that `doctor` repaired, and of one that it can repair."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem that `doctor` found. `fix` says what to do, or what was done."""

    check: str
    problem: str
    fix: str
