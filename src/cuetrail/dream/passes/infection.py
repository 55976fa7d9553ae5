"""Known names and tags spread to every atom whose text has them as whole words; the tag's origin is `infected`.

What is known are the names and aliases of nodes, and the tags that people or rules gave. A name stands for the tag that
its node's name makes. What came by infection or with the time does not spread, so nothing keeps itself alive.

The ledger notes, as hashes, which words stand for which tags. A word that is new is looked for in all texts, one that
is gone leaves the atoms that carry its tag; all other atoms are read only when they changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from cuetrail.dream.context import DreamContext, Work
from cuetrail.dream.names import TagWords, cached_words, mark_unsettled
from cuetrail.dream.passes import auto_tags
from cuetrail.dream.tag_origin import retag
from cuetrail.dream.word_matcher import Hits, TextBatch, WordMatcher, join_texts
from cuetrail.model import PassReport, Tag
from cuetrail.store.dream import Atom, Book, Row, Slice, Writes

NAME = "infection"
VERSION = "1"
# Where that pass takes a tag away, the same tag may have to come by infection.
LISTENS = (auto_tags.NAME,)

Relabelled = list[tuple[Atom, tuple[Tag, ...]]]


def infection(context: DreamContext) -> PassReport:
    """Give every atom the tags that its text names."""
    work = Work(context, NAME)
    if work.memory.idle(VERSION):
        return work.report()
    words = cached_words(TagWords, context.store, context.scope, work.names(), work.memory.tags())
    new, gone = words.difference(work.memory.all(Book.INFECTS))
    ledger = Writes(drop=[(Book.INFECTS, row) for row in gone], put=[(Book.INFECTS, row) for row in new])
    fresh = not work.memory.begun(VERSION)
    if fresh:
        # Every atom will be looked at with the words of now; a word that comes while they are is new to the next dream.
        work.save(ledger)
    again = not fresh and bool(new or gone)
    if again:
        work.save(mark_unsettled(Book.INFECTS, new, gone))
    for some, matches in _read_ahead(work.slices(VERSION, LISTENS), words.matcher):
        # The last mark says that the pass is through, which it is when all texts were looked at again.
        mark, ledger.mark = ledger.mark if again else some.mark, some.mark
        work.save(Writes(mark=mark, relabelled=_retagged(some.atoms, matches, words.tags)))
    if again:
        _look_again(work, words, new, gone)
        work.save(ledger)
    return work.report()


def _look_again(work: Work, words: TagWords, new: Mapping[Row, str], gone: Collection[Row]) -> None:
    """Settle the atoms that say a word which infects since, or no longer did; of their tags, those it stands for."""
    few, turned = words.for_tags({row.second for row in (*new, *gone)})
    stale = set(work.memory.carriers({row.second for row in gone}))
    stale |= work.named_in(set(new.values()))
    for atoms in work.pieces(stale):
        matches = few.matches([atom.text for atom in atoms])
        for atom, names in zip(atoms, matches, strict=True):
            had = (tag.name for tag in atom.tags if tag.origin == "infected" and tag.name in words.tags)
            names.update(name for name in had if name not in turned)
        work.save(Writes(relabelled=_retagged(atoms, matches, words.tags)))


def _read_ahead(slices: Iterable[Slice], matcher: WordMatcher[str]) -> Iterator[tuple[Slice, list[set[str]]]]:
    """Each slice with what its texts mean. While the caller saves one, the texts of the next are searched."""
    waiting: tuple[Slice, TextBatch, Future[Hits[str]]] | None = None
    with ThreadPoolExecutor(1, "cuetrail-dream") as helper:
        for some in slices:
            texts = join_texts([atom.text for atom in some.atoms])
            search = helper.submit(matcher.search, texts)
            if waiting is not None:
                yield waiting[0], matcher.read(waiting[1], waiting[2].result())
            waiting = (some, texts, search)
        if waiting is not None:
            yield waiting[0], matcher.read(waiting[1], waiting[2].result())


def _retagged(atoms: Sequence[Atom], matches: Sequence[set[str]], tags: Mapping[str, Tag]) -> Relabelled:
    """Those of the atoms that get or lose tags, with their tags."""
    found = []
    for atom, names in zip(atoms, matches, strict=True):
        if names or atom.tags:
            changed = retag(atom, "infected", [tags[name] for name in sorted(names)])
            if changed is not None:
                found.append((atom, changed))
    return found
