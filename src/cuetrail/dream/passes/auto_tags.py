"""Tags that a rule, or a tagger put in its place, finds in the text alone: names and key phrases.

A proposal is a tag while enough atoms have it (`AutoTagger.shared`). So the ledger notes who was proposed what, as
hashes, and the coming and going of an atom may give or take a tag of one other atom.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from cuetrail.dream.context import DreamContext, Work
from cuetrail.dream.tag_origin import retag
from cuetrail.dream.tagger import propose_tags
from cuetrail.dream.word_matcher import is_distinctive
from cuetrail.errors import TaggerError
from cuetrail.model import Node, PassReport, Tag
from cuetrail.model.fast_dataclass import maker
from cuetrail.model.ids import ledger_hash
from cuetrail.model.tags import make_tags
from cuetrail.store.dream import Atom, Book, Row, Slice, Writes
from cuetrail.store.read import forgotten_ids

NAME = "auto_tags"
VERSION = "1"
# More would say less.
MOST = 3
_node = maker(Node, "id", "kind", "name")


def auto_tags(context: DreamContext) -> PassReport:
    """Give every atom at most MOST tags that were proposed for it and that others share."""
    work = Work(context, NAME)
    try:
        for some in work.slices(f"{VERSION} {context.tagger.name}"):
            work.save(_settled(work, some) if context.tagger.shared > 1 else _taken(work, some))
    except TaggerError as error:
        # What it did not tag stays unread, so it is asked again; other passes need not suffer for it.
        work.problems.append(str(error))
    return work.report()


def _taken(work: Work, some: Slice) -> Writes:
    """Every proposal is a tag."""
    writes = Writes(mark=some.mark)
    writes.drop = [(Book.PROPOSED, row) for row in work.memory.within(Book.PROPOSED, some.runs)]
    for atom, tags in _proposed(work, some.atoms):
        _relabel(writes, atom, tags)
    return writes


def _settled(work: Work, some: Slice) -> Writes:
    """The slice's atoms with the proposals that are shared, and others that share one since or no longer."""
    writes = Writes(mark=some.mark)
    proposed = _proposed(work, some.atoms)
    old = set(work.memory.within(Book.PROPOSED, some.runs))
    new = {Row(atom.key, ledger_hash(tag.name)) for atom, tags in proposed for tag in tags}
    writes.drop = [(Book.PROPOSED, row) for row in sorted(old - new)]
    writes.put = [(Book.PROPOSED, row) for row in sorted(new - old)]
    sharing = _Sharing(work, old, new)
    others = _proposed(work, work.memory.atoms(sharing.turned() - {atom.key for atom in some.atoms}))
    sharing.look({ledger_hash(tag.name) for _, tags in others for tag in tags})
    for atom, tags in (*proposed, *others):
        _relabel(writes, atom, [tag for tag in tags if sharing.is_shared(ledger_hash(tag.name))])
    return writes


class _Sharing:
    """Which phrases enough atoms have proposed, before a slice is settled and after."""

    def __init__(self, work: Work, old: set[Row], new: set[Row]) -> None:
        self._work = work
        self._enough = work.context.tagger.shared
        leaving = Counter(row.second for row in old)
        self._change = Counter(row.second for row in new)
        self._change.subtract(leaving)
        # With so many rows a phrase is shared whatever the slice takes away; more need not be read.
        self._limit = self._enough + max(leaving.values(), default=0)
        self._before: dict[int, set[int]] = {}
        self.look({row.second for row in old | new})

    def look(self, phrases: set[int]) -> None:
        """Read who has each phrase proposed, as the ledger says."""
        unseen = phrases - self._before.keys()
        self._before |= {phrase: set() for phrase in unseen}
        for row in self._work.memory.by_second(Book.PROPOSED, unseen, self._limit):
            self._before[row.second].add(row.first)

    def is_shared(self, phrase: int) -> bool:
        """Whether it is, once the slice is settled."""
        return len(self._before[phrase]) + self._change[phrase] >= self._enough

    def turned(self) -> set[int]:
        """The atoms that have a phrase proposed which is shared since, or no longer."""
        turned = [p for p, had in self._before.items() if (len(had) >= self._enough) != self.is_shared(p)]
        return {atom for phrase in turned for atom in self._before[phrase]}


def _proposed(work: Work, atoms: Sequence[Atom]) -> list[tuple[Atom, tuple[Tag, ...]]]:
    """What the tagger proposes for each, the best first; no word that says nothing, and no name that was forgotten."""
    tags = [make_tags(some, "auto") for some in propose_tags(work.context.tagger, [atom.text for atom in atoms])]
    known = {tag.name: tag.display for some in tags for tag in some}
    dull = {name for name in known if not is_distinctive(name.replace("_", " "))} | _forgotten(work, known)
    return [(atom, tuple(tag for tag in some if tag.name not in dull)) for atom, some in zip(atoms, tags, strict=True)]


def _forgotten(work: Work, known: Mapping[str, str]) -> set[str]:
    """Of these tags those that were the name of something that was forgotten."""
    nodes = [_node(f"tag:{name}", "entity", display) for name, display in known.items()]
    return {id_.removeprefix("tag:") for id_ in forgotten_ids(work.context.store, work.context.scope, nodes)}


def _relabel(writes: Writes, atom: Atom, tags: Sequence[Tag]) -> None:
    changed = retag(atom, "auto", tags[:MOST])
    if changed is not None:
        writes.relabelled.append((atom, changed))
