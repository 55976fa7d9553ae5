"""Tags that a rule or the caller's tagger proposes from an atom's text alone: names and key phrases.

A proposal becomes a tag if at least `AutoTagger.shared` atoms have it. The ledger therefore stores the hashes of the
proposals of each atom. Adding or removing one atom may add or remove a tag of another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from cuetrail.dream.context import DreamContext, Work
from cuetrail.dream.taggers import propose_tags
from cuetrail.dream.tags import retag
from cuetrail.dream.word_matcher import is_distinctive
from cuetrail.errors import TaggerError
from cuetrail.model import Node, PassReport, Tag
from cuetrail.model.ids import ledger_hash
from cuetrail.model.records import maker
from cuetrail.model.tags import make_tags
from cuetrail.store.dream import Atom, Book, Entry, Slice, Writes
from cuetrail.store.read import forgotten_ids

NAME = "auto_tags"
VERSION = "1"
# The number of automatic tags per atom.
MOST = 3
_node = maker(Node, "id", "kind", "name")


def auto_tags(context: DreamContext) -> PassReport:
    """Gives every atom at most MOST tags that were proposed for it and that enough atoms share."""
    work = Work(context, NAME)
    try:
        for some in work.slices(f"{VERSION} {context.tagger.name}"):
            work.save(_shared_proposals(work, some) if context.tagger.shared > 1 else _all_proposals(work, some))
    except TaggerError as error:
        # Atoms that were not tagged stay unread for the next dream. The other passes still run.
        work.problems.append(str(error))
    return work.report()


def _all_proposals(work: Work, some: Slice) -> Writes:
    """Returns the writes that give each atom of the slice its first proposals as tags."""
    writes = Writes(mark=some.mark)
    writes.drop = [(Book.PROPOSED, row) for row in work.memory.within(Book.PROPOSED, some.runs)]
    for atom, tags in _proposed(work, some.atoms):
        _relabel(writes, atom, tags)
    return writes


def _shared_proposals(work: Work, some: Slice) -> Writes:
    """Returns the writes that give the slice's atoms those proposals as tags that enough atoms share, and that update
    other atoms whose proposals are now shared or no longer are.
    """
    writes = Writes(mark=some.mark)
    proposed = _proposed(work, some.atoms)
    old = set(work.memory.within(Book.PROPOSED, some.runs))
    new = {Entry(atom.key, ledger_hash(tag.name)) for atom, tags in proposed for tag in tags}
    writes.drop = [(Book.PROPOSED, row) for row in sorted(old - new)]
    writes.put = [(Book.PROPOSED, row) for row in sorted(new - old)]
    sharing = _Sharing(work, old, new)
    others = _proposed(work, work.memory.atoms(sharing.changed_atoms() - {atom.key for atom in some.atoms}))
    sharing.load({ledger_hash(tag.name) for _, tags in others for tag in tags})
    for atom, tags in (*proposed, *others):
        _relabel(writes, atom, [tag for tag in tags if sharing.is_shared(ledger_hash(tag.name))])
    return writes


class _Sharing:
    """Tells which phrases (given as hashes) were proposed for enough atoms, before and after a slice."""

    def __init__(self, work: Work, old: set[Entry], new: set[Entry]) -> None:
        self._work = work
        self._enough = work.context.tagger.shared
        leaving = Counter(row.second for row in old)
        self._change = Counter(row.second for row in new)
        self._change.subtract(leaving)
        # A phrase with this many rows is shared even if the slice removes some, so no more rows are read.
        self._limit = self._enough + max(leaving.values(), default=0)
        self._before: dict[int, set[int]] = {}
        self.load({row.second for row in old | new})

    def load(self, phrases: set[int]) -> None:
        """Reads from the ledger for which atoms each of these phrases was proposed."""
        unseen = phrases - self._before.keys()
        self._before |= {phrase: set() for phrase in unseen}
        for row in self._work.memory.by_second(Book.PROPOSED, unseen, self._limit):
            self._before[row.second].add(row.first)

    def is_shared(self, phrase: int) -> bool:
        """True if enough atoms have the phrase after the slice."""
        return len(self._before[phrase]) + self._change[phrase] >= self._enough

    def changed_atoms(self) -> set[int]:
        """Returns the keys of the atoms with a proposed phrase that the slice makes shared or no longer shared."""
        phrases = [p for p, had in self._before.items() if (len(had) >= self._enough) != self.is_shared(p)]
        return {atom for phrase in phrases for atom in self._before[phrase]}


def _proposed(work: Work, atoms: Sequence[Atom]) -> list[tuple[Atom, tuple[Tag, ...]]]:
    """Returns each atom with its proposed tags, best first.

    Words that are too common are left out, and so are tags that were the name of a forgotten node.
    """
    tags = [make_tags(some, "auto") for some in propose_tags(work.context.tagger, [atom.text for atom in atoms])]
    known = {tag.name: tag.display for some in tags for tag in some}
    drop = {name for name in known if not is_distinctive(name.replace("_", " "))} | _forgotten(work, known)
    return [(atom, tuple(tag for tag in some if tag.name not in drop)) for atom, some in zip(atoms, tags, strict=True)]


def _forgotten(work: Work, known: Mapping[str, str]) -> set[str]:
    """Returns those of these tags that were the name of a forgotten node."""
    nodes = [_node(f"tag:{name}", "entity", display) for name, display in known.items()]
    return {id_.removeprefix("tag:") for id_ in forgotten_ids(work.context.store, work.context.scope, nodes)}


def _relabel(writes: Writes, atom: Atom, tags: Sequence[Tag]) -> None:
    changed = retag(atom, "auto", tags[:MOST])
    if changed is not None:
        writes.relabelled.append((atom, changed))
