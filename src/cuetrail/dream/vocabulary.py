"""The known words of a partition that dreams search texts for: names of nodes, and tags that users or rules gave.

`TagWords` says which tag each word gives, `NodeNames` which node each name refers to. Both are cached between dreams
while the memory is open, because few words change and building them takes longer than a usual dream. Their content
depends only on the names and tags of the last `renew`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from cuetrail.dream.word_matcher import WordMatcher, is_distinctive
from cuetrail.model import Scope, Tag
from cuetrail.model.ids import ledger_hash
from cuetrail.model.tags import make_tags
from cuetrail.store.dream import Book, Entry, Named, Writes
from cuetrail.store.ports import Store
from cuetrail.text.entity_names import word_kind
from cuetrail.text.normalise import folded, norm_name
from cuetrail.text.word_lists import VAGUE_NOUNS

# Words that make a title a phrase.
_JOINTS = frozenset({"about", "for", "from", "how", "it", "to", "what", "when", "why", "with"})
# The number of words cached per memory. The partitions with the most recent dreams are kept.
MOST_CACHED = 50_000

Order = tuple[int, str, str]
"""Sort key of the words for one tag: names by name and id, then given tags. The first decides the tag's spelling."""


class TagWord(NamedTuple):
    """A word, the tag that a text with this word gets, and the row for the pass's ledger: hashes of the word, the tag
    and the tag's spelling.

    `found` is true if a rule made the node of that name.
    """

    word: str
    tag: Tag
    row: Entry
    found: bool = False


class LedgerWords:
    """The current words of a partition, each with its row for the pass's ledger (the record of its last run)."""

    def __init__(self) -> None:
        self.rows: dict[Entry, str] = {}
        self._added: set[Entry] = set()

    def difference(self, noted: Collection[Entry]) -> tuple[Mapping[Entry, str], Collection[Entry]]:
        """Compares the words with the rows `noted` in the ledger. Returns the rows missing there, with their words, and
        the outdated rows there. Rows marked by `mark_unsettled` are always in one of the two.
        """
        there = {row for row in noted if not row.fourth}
        gone = there.difference(self.rows)
        # Usually only rows just added are missing. Counting shows whether others are.
        new = {row: self.rows[row] for row in self._added if row not in there}
        if len(new) + len(there) - len(gone) != len(self.rows):
            new = {row: word for row, word in self.rows.items() if row not in there}
        gone.update(
            row for unsettled in noted if unsettled.fourth and (row := unsettled._replace(fourth=0)) not in self.rows
        )
        return new, gone


class TagWords(LedgerWords):
    """The words for which a text gets a tag: names and aliases of nodes, and tags that people or rules gave.

    `tags` holds the tags by name. `matcher` finds the words in texts and returns the names of their tags.
    `found` holds the names of tags that come only from nodes which a rule made.
    """

    def __init__(self) -> None:
        super().__init__()
        self.tags: dict[str, Tag] = {}
        self.found: set[str] = set()
        self.matcher = WordMatcher[str]({}, mutable=True)
        self._names: set[Named] = set()
        self._given_tags: set[str] = set()
        self._groups: dict[str, dict[Order, TagWord]] = {}
        self._rows_by_tag: dict[str, dict[str, Entry]] = {}

    def renew(self, names: Iterable[Named], given: Iterable[str]) -> None:
        """Replaces the names and given tags of the partition, and updates the words of tags that change by that."""
        names, given = set(names), set(given)
        changed: set[str] = set()
        for one in self._names - names:
            changed.update(map(self._remove, _by_name(one)))
        for tag in self._given_tags - given:
            changed.update(map(self._remove, _by_tag(tag)))
        for one in names - self._names:
            changed.update(map(self._add, _by_name(one)))
        for tag in given - self._given_tags:
            changed.update(map(self._add, _by_tag(tag)))
        self._names, self._given_tags = names, given
        self._added = set()
        for name in changed:
            self._update(name)

    def _remove(self, entry: tuple[Order, TagWord]) -> str:
        order, tag_word = entry
        del self._groups[tag_word.tag.name][order]
        return tag_word.tag.name

    def _add(self, entry: tuple[Order, TagWord]) -> str:
        order, tag_word = entry
        self._groups.setdefault(tag_word.tag.name, {})[order] = tag_word
        return tag_word.tag.name

    def _update(self, name: str) -> None:
        """Updates the words by which texts get the tag with this name, and how the tag is written."""
        before, group = self._rows_by_tag.pop(name, {}), self._groups[name]
        for row in before.values():
            del self.rows[row]
        now: dict[str, Entry] = {}
        self.found.discard(name)
        if group:
            if all(one.found for one in group.values()):
                self.found.add(name)
            first = self.tags[name] = group[min(group)].tag
            written = ledger_hash(first.display)
            now = self._rows_by_tag[name] = {one.word: one.row._replace(third=written) for one in group.values()}
            self.rows.update((row, word) for word, row in now.items())
            self._added.update(now.values())
        else:
            del self._groups[name], self.tags[name]
        for word in before.keys() ^ now.keys():
            others = [tag for tag in self.matcher.values_of(word) if tag != name]
            self.matcher.put(word, sorted((*others, name)) if word in now else others)


class NodeNames(LedgerWords):
    """The node, by its key, that each name in a text refers to.

    If several nodes have the name, a source wins, then the smallest id; an entity made from a shared name comes last. A
    name without its accents refers to the same node, unless another node has exactly that name.
    """

    def __init__(self) -> None:
        super().__init__()
        self.matcher = WordMatcher[int]({}, mutable=True)
        self._names: set[Named] = set()
        self._by_name: dict[str, set[Named]] = {}
        self._by_folded_name: dict[str, set[Named]] = {}
        self._words: dict[int, set[str]] = {}

    def renew(self, names: Iterable[Named], _: Iterable[str] = ()) -> None:
        """Replaces the names of the partition, and updates the words that change by that."""
        names = set(names)
        changed: set[str] = set()
        for one in self._names - names:
            changed.update(self._forms(one, set[Named].discard))
        for one in names - self._names:
            changed.update(self._forms(one, set[Named].add))
        self._names = names
        self._added = set()
        for word in changed:
            self._update(word)

    def _forms(self, one: Named, change: Callable[[set[Named], Named], None]) -> Iterator[str]:
        """Adds a node to the sets of nodes for each spelling of its name, or removes it (`change`); yields these
        spellings.
        """
        if is_distinctive(one.norm):
            change(self._by_name.setdefault(one.norm, set()), one)
            yield one.norm
            if not one.norm.isascii():
                change(self._by_folded_name.setdefault(folded(one.norm), set()), one)
                yield folded(one.norm)

    def _update(self, word: str) -> None:
        """Updates which node this word refers to, after the nodes with that name changed."""
        for key in self.matcher.values_of(word):
            del self.rows[_row(word, key)]
            self._words[key].discard(word)
            if not self._words[key]:
                del self._words[key]
        some = self._by_name.get(word) or self._by_folded_name.get(word)
        for groups in (self._by_name, self._by_folded_name):
            if word in groups and not groups[word]:
                del groups[word]
        referents = [min(some, key=lambda one: (one.found, one.kind != "source", one.id)).key] if some else []
        self.matcher.put(word, referents)
        for key in referents:
            row = _row(word, key)
            self.rows[row] = word
            self._added.add(row)
            self._words.setdefault(key, set()).add(word)

    def for_nodes(self, keys: Collection[int]) -> WordMatcher[int]:
        """Returns a matcher that finds only the names of the nodes with these keys."""
        return WordMatcher({word: [key] for key in keys for word in self._words.get(key, ())})


def mark_unsettled(book: Book, new: Iterable[Entry], gone: Iterable[Entry]) -> Writes:
    """Returns ledger writes that mark new and removed words before texts are updated for them.

    If the update is interrupted, the next dream sees the marks and repeats it for these words.
    """
    # If only the spelling of a tag changes, both rows have the same key and the new one wins.
    return Writes(put=[(book, row._replace(fourth=1)) for row in (*gone, *new)])


def _row(word: str, key: int) -> Entry:
    return Entry(ledger_hash(word), key)


W = TypeVar("W", TagWords, NodeNames)
_cache: WeakKeyDictionary[Store, dict[tuple[type, Scope], TagWords | NodeNames]] = WeakKeyDictionary()


def cached_words(kind: type[W], store: Store, scope: Scope, names: Iterable[Named], given: Iterable[str] = ()) -> W:
    """Returns the words of a partition (`kind` is TagWords or NodeNames), cached if possible, brought up to date with
    these names and with the tags that users or rules gave.
    """
    partitions = _cache.setdefault(store, {})
    # Taken out of the cache first, so that an interruption leaves no half-renewed entry.
    before = partitions.pop((kind, scope), None)
    found = before if isinstance(before, kind) else kind()
    found.renew(names, given)
    partitions[kind, scope] = found
    while partitions and sum(len(one.rows) for one in partitions.values()) > MOST_CACHED:
        del partitions[next(iter(partitions))]
    return found


def _by_name(one: Named) -> Iterator[tuple[Order, TagWord]]:
    """Yields a name with the tag that it gives, if it is telling: the node's name.

    An alias gives itself if the node's name is not telling, or says more than the alias: "Linux" and "Linux alerts".
    """
    if _is_telling(one.norm):
        full = norm_name(one.name or "")
        says_more = set(one.norm.split(" ")) < set(full.split(" "))
        name = one.name if one.name and _is_telling(full) and not says_more else one.norm
        for tag in make_tags([name], "infected"):
            yield (0, one.norm, one.id), _tag_word(one.norm, tag, one.found)


def _is_telling(norm: str) -> bool:
    """True if a name is distinctive, no ordinary word ("Commands") and no phrase ("How to learn it").

    >>> [_is_telling(name) for name in ("grafana loki", "commands", "how to learn it", "commands for redis", "redis")]
    [True, False, False, False, True]
    """
    words = norm.split(" ")
    return is_distinctive(norm) and (not _JOINTS.intersection(words) if len(words) > 1 else word_kind(norm) == "name")


def _by_tag(tag: str) -> Iterator[tuple[Order, TagWord]]:
    """Yields the words of a tag as texts spell them, unless they are too common: a verb, adjective or vague noun."""
    word = norm_name(tag.replace("_", " "))
    if is_distinctive(word) and (" " in word or (word_kind(word) != "other" and word not in VAGUE_NOUNS)):
        yield (1, tag, ""), _tag_word(word, Tag(tag, tag, "infected"))


def _tag_word(word: str, tag: Tag, found: bool = False) -> TagWord:
    return TagWord(word, tag, Entry(ledger_hash(word), ledger_hash(tag.name), ledger_hash(tag.display)), found)
