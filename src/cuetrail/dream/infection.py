"""Known names and tags spread to every atom whose text has them as whole words; the tag's origin is `infected`.

What is known are the names and aliases of nodes, and the tags that people or rules gave. A name stands for the tag that
its node's name makes. What came by infection or with the time does not spread, so nothing keeps itself alive.

The ledger notes, as hashes, which words stand for which tags. A word that is new is looked for in all texts, one that
is gone leaves the atoms that carry its tag; all other atoms are read only when they changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from cuetrail.dream import auto_tags
from cuetrail.dream.dictionary import Dictionary, Hits, Page, is_telling, page
from cuetrail.dream.labels import relabelled
from cuetrail.dream.night import Night, Work
from cuetrail.model import PassReport, Tag
from cuetrail.store.dreams import Atom, Book, Named, Row, Slice, Writes, hashed
from cuetrail.text import make_tags, norm_name

NAME = "infection"
VERSION = "1"
# Where that pass takes a tag away, the same tag may have to come by infection.
LISTENS = (auto_tags.NAME,)

Relabelled = list[tuple[Atom, tuple[Tag, ...]]]


@dataclass(frozen=True, slots=True)
class Known:
    """The words that infect, in their normal form, with the names of the tags they stand for; the tags by name; and the
    words as the ledger notes them.
    """

    meanings: Mapping[str, Sequence[str]]
    tags: Mapping[str, Tag]
    rows: Mapping[Row, str]


def infection(night: Night) -> PassReport:
    """Give every atom the tags that its text names."""
    work = Work(night, NAME)
    if work.memory.idle(VERSION):
        return work.report()
    words = known(work.names(), work.memory.tags())
    dictionary = Dictionary(words.meanings)
    noted, rows = set(work.memory.all(Book.INFECTS)), words.rows
    new, gone = rows.keys() - noted, noted - rows.keys()
    ledger = Writes(drop=[(Book.INFECTS, row) for row in gone], put=[(Book.INFECTS, row) for row in new])
    fresh = not work.memory.begun(VERSION)
    if fresh:
        # Every atom will be looked at with the words of now; a word that comes while they are is new to the next dream.
        work.save(ledger)
    for some, meant in _read_ahead(work.slices(VERSION, LISTENS), dictionary):
        work.save(Writes(mark=some.mark, relabelled=_infected(some.atoms, meant, words.tags)))
    if not fresh and (new or gone):
        sick = set(work.memory.carriers({row.second for row in gone}))
        sick |= work.named_in({rows[row] for row in new})
        for atoms in work.pieces(sick):
            meant = dictionary.meant([atom.text for atom in atoms])
            work.save(Writes(relabelled=_infected(atoms, meant, words.tags)))
        work.save(ledger)
    return work.report()


def known(names: Iterable[Named], given: Iterable[str]) -> Known:
    """What infects, of the names and given tags of a place."""
    entries = [*chain(*[_named(one.norm, one.name or one.norm) for one in names], *map(_given, given))]
    # Of those whose names make the same tag, the first by name and id says how it is written.
    tags = {tag.name: tag for _, tag, _ in reversed(entries)}
    rows = {row: word for word, tag, row in entries if tags[tag.name].display == tag.display}
    meanings: dict[str, Sequence[str]] = {word: (tag.name,) for word, tag, _ in entries}
    # As a rule a word stands for one tag, which is written in one way; the others are put right one by one.
    for word, tag, _ in entries:
        first = tags[tag.name]
        if first.display != tag.display:
            rows[_row(word, first)] = word
        if meanings[word] != (tag.name,) and tag.name not in meanings[word]:
            meanings[word] = tuple(sorted((*meanings[word], tag.name)))
    return Known(meanings, tags, rows)


Meaning = tuple[str, Tag, Row]
"""A word, the tag it stands for, and how the ledger notes that."""


def _row(word: str, tag: Tag) -> Row:
    return Row(hashed(word), hashed(tag.name), hashed(tag.display))


# The same words come night after night.
@lru_cache(maxsize=65_536)
def _named(norm: str, name: str) -> tuple[Meaning, ...]:
    """A name with the tags it stands for, if it is telling."""
    return tuple((norm, tag, _row(norm, tag)) for tag in make_tags([name], "infected")) if is_telling(norm) else ()


@lru_cache(maxsize=65_536)
def _given(tag: str) -> tuple[Meaning, ...]:
    """A tag with how it stands in a text, if that is telling."""
    word, made = norm_name(tag.replace("_", " ")), Tag(tag, tag, "infected")
    return ((word, made, _row(word, made)),) if is_telling(word) else ()


def _read_ahead(slices: Iterable[Slice], dictionary: Dictionary[str]) -> Iterator[tuple[Slice, list[set[str]]]]:
    """Each slice with what its texts mean. While the caller saves one, the texts of the next are searched."""
    waiting: tuple[Slice, Page, Future[Hits]] | None = None
    with ThreadPoolExecutor(1, "cuetrail-dream") as helper:
        for some in slices:
            texts = page([atom.text for atom in some.atoms])
            search = helper.submit(dictionary.search, texts)
            if waiting is not None:
                yield waiting[0], dictionary.read(waiting[1], waiting[2].result())
            waiting = (some, texts, search)
        if waiting is not None:
            yield waiting[0], dictionary.read(waiting[1], waiting[2].result())


def _infected(atoms: Sequence[Atom], meant: Sequence[set[str]], tags: Mapping[str, Tag]) -> Relabelled:
    """Those of the atoms that get or lose tags, with their tags."""
    found = []
    for atom, names in zip(atoms, meant, strict=True):
        if names or atom.tags:
            changed = relabelled(atom, "infected", [tags[name] for name in sorted(names)])
            if changed is not None:
                found.append((atom, changed))
    return found
