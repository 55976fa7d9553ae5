"""Tag propagation, the pass `infection`: a text that contains a known name or tag as whole words gets it as a tag.

Such tags have the origin `infected`. Known are the names and aliases of nodes, and tags given by users or rules. A name
gives the tag made from its node's name. Infected and temporal tags do not spread further, so no tag keeps itself alive.
Words in code, addresses and the targets of links do not count. An atom gets the best tags only, see `MOST_TOPICS`.

The ledger stores, as hashes, which words give which tags. New words are searched in all texts. When a word is gone, the
atoms with its tag are checked. All other atoms are read only when they changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from cuetrail.dream.context import DreamContext, Work
from cuetrail.dream.passes import auto_tags
from cuetrail.dream.tags import MOST_TOPICS, is_about, retag
from cuetrail.dream.vocabulary import TagWords, cached_words, mark_unsettled
from cuetrail.dream.word_matcher import Hits, TextBatch, WordMatcher, join_texts
from cuetrail.model import PassReport, Tag
from cuetrail.model.records import is_path_tag
from cuetrail.store.dream import Atom, Book, Entry, Slice, Writes
from cuetrail.text.prose import displayed

NAME = "infection"
VERSION = "2"
# If that pass removes a tag, this one may have to add the same tag.
LISTENS = (auto_tags.NAME,)

Relabelled = list[tuple[Atom, tuple[Tag, ...]]]


def infection(context: DreamContext) -> PassReport:
    """Gives every atom the tags whose words its text contains."""
    work = Work(context, NAME)
    state = work.memory.state(VERSION)
    if state == "idle":
        return work.report()
    words = cached_words(TagWords, context.store, context.scope, work.names(), work.memory.tags())
    new, gone = words.difference(work.memory.all(Book.TAG_WORDS))
    ledger = Writes(drop=[(Book.TAG_WORDS, row) for row in gone], put=[(Book.TAG_WORDS, row) for row in new])
    fresh = state == "new"
    if fresh:
        # All atoms are read with the current words. The next dream handles words that are added meanwhile.
        work.save(ledger)
    again = not fresh and bool(new or gone)
    if again:
        work.save(mark_unsettled(Book.TAG_WORDS, new, gone))
    for some, matches in _read_ahead(work.slices(VERSION, LISTENS), words.matcher):
        # The last mark completes the pass, so it is saved only after all texts were checked again.
        mark, ledger.mark = ledger.mark if again else some.mark, some.mark
        work.save(Writes(mark=mark, relabelled=_changed_tags(some.atoms, matches, words.tags)))
    if again:
        _retag_for_words(work, words, new, gone)
        work.save(ledger)
    return work.report()


def _retag_for_words(work: Work, words: TagWords, new: Mapping[Entry, str], gone: Collection[Entry]) -> None:
    """Updates the atoms whose texts contain a new or removed word."""
    stale = set(work.memory.tagged({row.second for row in gone}))
    stale |= work.named_in(set(new.values()))
    for atoms in work.pieces(stale):
        matches = words.matcher.matches([displayed(atom.text) for atom in atoms])
        work.save(Writes(relabelled=_changed_tags(atoms, matches, words.tags)))


def _read_ahead(slices: Iterable[Slice], matcher: WordMatcher[str]) -> Iterator[tuple[Slice, list[set[str]]]]:
    """Yields each slice with the tags found in each text. Searches the next slice while the caller saves this one."""
    waiting: tuple[Slice, TextBatch, Future[Hits[str]]] | None = None
    with ThreadPoolExecutor(1, "cuetrail-dream") as helper:
        for some in slices:
            texts = join_texts([displayed(atom.text) for atom in some.atoms])
            search = helper.submit(matcher.search, texts)
            if waiting is not None:
                yield waiting[0], matcher.read(waiting[1], waiting[2].result())
            waiting = (some, texts, search)
        if waiting is not None:
            yield waiting[0], matcher.read(waiting[1], waiting[2].result())


def _changed_tags(atoms: Sequence[Atom], matches: Sequence[set[str]], tags: Mapping[str, Tag]) -> Relabelled:
    """Returns the atoms whose tags change, with their new tags."""
    found = []
    for atom, names in zip(atoms, matches, strict=True):
        if names or atom.tags:
            changed = retag(atom, "infected", [tags[name] for name in _best(atom, names)])
            if changed is not None:
                found.append((atom, changed))
    return found


def _best(atom: Atom, names: Collection[str]) -> list[str]:
    """Returns the tags that fit the text best, as many as its automatic tags leave room for.

    A tag scores by how often the text has its words, and by how many words it has. A tag that occurs in a long text
    only once, and late, is left out.
    """
    others = {tag.name for tag in atom.tags if tag.origin in ("user", "auto")}
    room = MOST_TOPICS - sum(tag.origin == "auto" and not is_path_tag(tag) for tag in atom.tags)
    text = displayed(atom.text)
    small = text.casefold()
    scores: dict[str, int] = {}
    for name in names:
        words = name.replace("_", " ")
        times = small.count(words)
        # No time: another name of the node is in the text.
        if name not in others and (times != 1 or is_about(small, words)):
            scores[name] = max(times, 1) * (words.count(" ") + 1)
    return sorted(scores, key=lambda name: (-scores[name], name))[: max(room, 0)]
