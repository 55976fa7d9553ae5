"""The words of one place: which tags they stand for, and which nodes they mean.

Both are kept from night to night while the memory is open: few words change, and to make them all anew takes longer
than all that a usual night has to do with them. What they say depends on the names and tags that they were last renewed
with, and on nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from cuetrail.dream.word_matcher import Dictionary, is_telling
from cuetrail.model import Scope, Tag
from cuetrail.model.ids import ledger_hash
from cuetrail.model.tags import make_tags
from cuetrail.store.dream import Book, Named, Row, Writes
from cuetrail.store.ports import Store
from cuetrail.text.normalise import folded, norm_name

# So many words of one memory are kept, of the places that dreamt last.
MOST_KEPT = 50_000

Order = tuple[int, str, str]
"""Of those whose names make the same tag, the first by this says how it is written: by name and id; then given tags."""


class Meaning(NamedTuple):
    """A word, the tag it stands for, and how the ledger notes that: as hashes of both and of how the tag is written."""

    word: str
    tag: Tag
    row: Row


class Noted:
    """The rows that a book of the ledger is to have of words, with these."""

    def __init__(self) -> None:
        self.rows: dict[Row, str] = {}
        self._came: set[Row] = set()

    def difference(self, noted: Collection[Row]) -> tuple[Mapping[Row, str], Collection[Row]]:
        """The rows that are not among those noted, with their words; and those noted that are none of them.

        Rows in doubt (see `in_doubt`) are always one or the other.
        """
        there = {row for row in noted if not row.fourth}
        gone = there.difference(self.rows)
        # As a rule what is new came just now; to see that nothing else is, it is enough to count.
        new = {row: self.rows[row] for row in self._came if row not in there}
        if len(new) + len(there) - len(gone) != len(self.rows):
            new = {row: word for row, word in self.rows.items() if row not in there}
        gone.update(row for doubted in noted if doubted.fourth and (row := doubted._replace(fourth=0)) not in self.rows)
        return new, gone


class Lexicon(Noted):
    """The words that infect: the names and aliases of nodes, and the tags that people or rules gave.

    `tags` by name, and the `dictionary` of the words with the names of the tags they stand for.
    """

    def __init__(self) -> None:
        super().__init__()
        self.tags: dict[str, Tag] = {}
        self.dictionary = Dictionary[str]({}, lasting=True)
        self._names: set[Named] = set()
        self._given: set[str] = set()
        self._groups: dict[str, dict[Order, Meaning]] = {}
        self._noted: dict[str, dict[str, Row]] = {}
        self._hashes: dict[int, str] = {}

    def renew(self, names: Iterable[Named], given: Iterable[str]) -> None:
        """Let these be the names and given tags of the place."""
        names, given = set(names), set(given)
        changed: set[str] = set()
        for one in self._names - names:
            changed.update(map(self._without, _by_name(one)))
        for tag in self._given - given:
            changed.update(map(self._without, _by_tag(tag)))
        for one in names - self._names:
            changed.update(map(self._with, _by_name(one)))
        for tag in given - self._given:
            changed.update(map(self._with, _by_tag(tag)))
        self._names, self._given = names, given
        self._came = set()
        for name in changed:
            self._settle(name)

    def _without(self, entry: tuple[Order, Meaning]) -> str:
        order, meaning = entry
        del self._groups[meaning.tag.name][order]
        return meaning.tag.name

    def _with(self, entry: tuple[Order, Meaning]) -> str:
        order, meaning = entry
        self._groups.setdefault(meaning.tag.name, {})[order] = meaning
        return meaning.tag.name

    def _settle(self, name: str) -> None:
        """Write down anew which words stand for a tag, and how it is written."""
        before, group = self._noted.pop(name, {}), self._groups[name]
        for row in before.values():
            del self.rows[row]
        now: dict[str, Row] = {}
        if group:
            first = self.tags[name] = group[min(group)].tag
            written = ledger_hash(first.display)
            now = self._noted[name] = {one.word: one.row._replace(third=written) for one in group.values()}
            self.rows.update((row, word) for word, row in now.items())
            self._came.update(now.values())
            self._hashes[ledger_hash(name)] = name
        else:
            del self._groups[name], self.tags[name], self._hashes[ledger_hash(name)]
        for word in before.keys() ^ now.keys():
            others = [tag for tag in self.dictionary.meaning(word) if tag != name]
            self.dictionary.put(word, sorted((*others, name)) if word in now else others)

    def standing_for(self, hashes: Collection[int]) -> tuple[Dictionary[str], set[str]]:
        """The words for tags whose names have these hashes, with these tags alone; and the names of the tags."""
        names = {self._hashes[one] for one in hashes if one in self._hashes}
        meanings: dict[str, list[str]] = {}
        for name in names:
            for word in self._noted[name]:
                meanings.setdefault(word, []).append(name)
        return Dictionary(meanings), names


class Callings(Noted):
    """The node that each name means: a note before anything else, then by id, and an entity that was made of a shared
    name only if nothing else has it. Without its marks a name means the same, where no other is called just so.
    """

    def __init__(self) -> None:
        super().__init__()
        self.dictionary = Dictionary[int]({}, lasting=True)
        self._names: set[Named] = set()
        self._called: dict[str, set[Named]] = {}
        self._unmarked: dict[str, set[Named]] = {}
        self._words: dict[int, set[str]] = {}

    def renew(self, names: Iterable[Named], _: Iterable[str] = ()) -> None:
        """Let these be the names of the place."""
        names = set(names)
        changed: set[str] = set()
        for one in self._names - names:
            changed.update(self._forms(one, set[Named].discard))
        for one in names - self._names:
            changed.update(self._forms(one, set[Named].add))
        self._names = names
        self._came = set()
        for word in changed:
            self._settle(word)

    def _forms(self, one: Named, change: Callable[[set[Named], Named], None]) -> Iterator[str]:
        """Change who is called so, by the forms of a name."""
        if is_telling(one.norm):
            change(self._called.setdefault(one.norm, set()), one)
            yield one.norm
            if not one.norm.isascii():
                change(self._unmarked.setdefault(folded(one.norm), set()), one)
                yield folded(one.norm)

    def _settle(self, word: str) -> None:
        """Write down anew which node a word means."""
        for key in self.dictionary.meaning(word):
            del self.rows[_calling(word, key)]
            self._words[key].discard(word)
            if not self._words[key]:
                del self._words[key]
        some = self._called.get(word) or self._unmarked.get(word)
        for groups in (self._called, self._unmarked):
            if word in groups and not groups[word]:
                del groups[word]
        means = [min(some, key=_rank).key] if some else []
        self.dictionary.put(word, means)
        for key in means:
            row = _calling(word, key)
            self.rows[row] = word
            self._came.add(row)
            self._words.setdefault(key, set()).add(word)

    def meaning(self, keys: Collection[int]) -> Dictionary[int]:
        """The words for these nodes alone."""
        return Dictionary({word: [key] for key in keys for word in self._words.get(key, ())})


def in_doubt(book: Book, new: Iterable[Row], gone: Iterable[Row]) -> Writes:
    """What to note before texts are settled by words that came or went: should that break off, some texts are settled
    and others are not, and the next night cannot tell which, whatever the words are by then.
    """
    # Where a tag is only written in another way both have the same key, and what is new stays.
    return Writes(put=[(book, row._replace(fourth=1)) for row in (*gone, *new)])


def _rank(one: Named) -> tuple[bool, bool, str]:
    return (one.found, one.kind != "source", one.id)


def _calling(word: str, key: int) -> Row:
    return Row(ledger_hash(word), key)


W = TypeVar("W", Lexicon, Callings)
_kept: WeakKeyDictionary[Store, dict[tuple[type, Scope], Lexicon | Callings]] = WeakKeyDictionary()


def words_of(kind: type[W], store: Store, scope: Scope, names: Iterable[Named], given: Iterable[str] = ()) -> W:
    """The words of a place with these names and given tags."""
    places = _kept.setdefault(store, {})
    # What breaks off must not leave half of it for the next night.
    before = places.pop((kind, scope), None)
    found = before if isinstance(before, kind) else kind()
    found.renew(names, given)
    places[kind, scope] = found
    while places and sum(len(one.rows) for one in places.values()) > MOST_KEPT:
        del places[next(iter(places))]
    return found


def _by_name(one: Named) -> Iterator[tuple[Order, Meaning]]:
    for meaning in _named(one.norm, one.name or one.norm):
        yield (0, one.norm, one.id), meaning


def _by_tag(tag: str) -> Iterator[tuple[Order, Meaning]]:
    for meaning in _given(tag):
        yield (1, tag, ""), meaning


def _named(norm: str, name: str) -> list[Meaning]:
    """A name with the tags it stands for, if it is telling."""
    return [_meaning(norm, tag) for tag in make_tags([name], "infected")] if is_telling(norm) else []


def _given(tag: str) -> list[Meaning]:
    """A tag with how it stands in a text, if that is telling."""
    word = norm_name(tag.replace("_", " "))
    return [_meaning(word, Tag(tag, tag, "infected"))] if is_telling(word) else []


def _meaning(word: str, tag: Tag) -> Meaning:
    return Meaning(word, tag, Row(ledger_hash(word), ledger_hash(tag.name), ledger_hash(tag.display)))
