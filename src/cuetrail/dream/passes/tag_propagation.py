"""Tag propagation, the pass `infection`: a text that contains a known name or tag as whole words gets it as a tag.

Such tags have the origin `infected`. Known are the names and aliases of nodes, and tags given by users or rules. A name
gives the tag made from its node's name. Infected and temporal tags do not spread further, so no tag keeps itself alive.
Words in code, addresses and the targets of links do not count. An atom gets the best tags only, see `MOST_TOPICS`.

The ledger stores, as hashes, which words give which tags. New words are searched in all texts. When a word is gone, the
atoms with its tag are checked. All other atoms are read only when they changed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache

from cuetrail.dream.context import DreamContext, Work
from cuetrail.dream.passes import auto_tags
from cuetrail.dream.taggers import MOST_IN_TEXT, is_about
from cuetrail.dream.tags import MOST_TOPICS, retag
from cuetrail.dream.vocabulary import TagWords, cached_words, mark_unsettled
from cuetrail.dream.word_matcher import Hits, TextBatch, WordMatcher, join_texts
from cuetrail.model import PassReport, Tag
from cuetrail.model.tags import is_path_tag
from cuetrail.store.dream import Atom, Book, Entry, Slice, Writes
from cuetrail.text.entity_names import word_kind
from cuetrail.text.prose import displayed

NAME = "infection"
VERSION = "3"
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
        work.save(Writes(mark=mark, relabelled=_changed_tags(some.atoms, matches, words)))
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
        work.save(Writes(relabelled=_changed_tags(atoms, matches, words)))


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


def _changed_tags(atoms: Sequence[Atom], matches: Sequence[set[str]], words: TagWords) -> Relabelled:
    """Returns the atoms whose tags change, with their new tags."""
    found = []
    for atom, names in zip(atoms, matches, strict=True):
        if names or atom.tags:
            changed = retag(atom, "infected", [words.tags[name] for name in _best(atom, names, words.found)])
            if changed is not None:
                found.append((atom, changed))
    return found


def _best(atom: Atom, names: Collection[str], found: Collection[str]) -> list[str]:
    """Returns the tags that fit the text best, as many as its automatic tags leave room for.

    A tag scores by how often the text has its words, and by how many words it has. A tag that occurs in a long text
    only once, and late, is left out, and so is a word that the text has only within longer names. A text with many
    names is a list, for which only repeated names count. A name that was `found` in texts counts where it is not small.
    """
    others = {tag.name for tag in atom.tags if tag.origin in ("user", "auto")}
    room = MOST_TOPICS - sum(tag.origin == "auto" and not is_path_tag(tag) for tag in atom.tags)
    text = displayed(atom.text)
    small = text.casefold()
    scores: dict[str, int] = {}
    for name in names:
        words = name.replace("_", " ")
        times = small.count(words)
        if times and " " not in words:
            times = _times_alone(text, words, name in found)
            if not times:
                continue
        if times == 1 and len(names) > MOST_IN_TEXT:
            continue
        # No time: another name of the node is in the text.
        if name not in others and (times != 1 or is_about(small, words)):
            scores[name] = max(times, 1) * (words.count(" ") + 1)
    return sorted(scores, key=lambda name: (-scores[name], name))[: max(room, 0)]


_NAME_BEHIND = re.compile(r" ([A-Z][a-z][\w'’-]*)")
_NAME_BEFORE = re.compile(r"([A-Z][a-z][\w'’-]*) \Z")
_LONGEST_WORD, _SHORT_WORD = 40, 2


def _times_alone(text: str, word: str, as_name: bool = False) -> int:
    """Returns how often a text has a word that is no part of a longer one or of a longer name.

    `as_name` counts it only where it is not small. A word of two letters is no name if it is small.

    >>> _times_alone("Antifa by Mark Bray, markdown", "mark"), _times_alone("Next.js", "js")
    (0, 0)
    >>> _times_alone("Ask Mark. Use mark, or Docker Compose", "mark"), _times_alone("Docker Compose", "docker")
    (2, 1)
    """
    as_name = as_name or len(word) <= _SHORT_WORD
    matches = (match for match in _whole_word(word).finditer(text) if not (as_name and match[0].islower()))
    return sum(not _is_in_name(text, match) for match in matches)


@lru_cache(maxsize=4096)
def _whole_word(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?<!\w\.)(?<!\s/){re.escape(word)}(?!\w)(?!\.\w)", re.IGNORECASE)


def _is_in_name(text: str, match: re.Match[str]) -> bool:
    """True if another capitalised word, which is no ordinary one, stands before or behind a capitalised word."""
    if not match[0][0].isupper():
        return False
    behind = _NAME_BEHIND.match(text, match.end())
    before = _NAME_BEFORE.search(text, max(0, match.start() - _LONGEST_WORD), match.start())
    return any(other is not None and word_kind(other[1]) == "name" for other in (behind, before))
