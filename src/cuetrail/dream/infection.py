"""Known names and tags spread to every atom whose text has them as whole words; the tag's origin is `infected`.

What is known are the names and aliases of nodes, and the tags that people or rules gave. A name stands for the tag that
its node's name makes. What came by infection or with the time does not spread, so nothing keeps itself alive.

The ledger notes, as hashes, which words stand for which tags. A word that is new is looked for in all texts, one that
is gone leaves the atoms that carry its tag; all other atoms are read only when they changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

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
    """The words that infect, in their normal form, with the names of the tags they stand for; the tags by name; and,
    as the ledger notes them, the words that were not noted yet, and what is noted of words that are gone.
    """

    meanings: Mapping[str, Sequence[str]]
    tags: Mapping[str, Tag]
    new: Mapping[Row, str]
    gone: Collection[Row]


def infection(night: Night) -> PassReport:
    """Give every atom the tags that its text names."""
    work = Work(night, NAME)
    if work.memory.idle(VERSION):
        return work.report()
    words = known(work.names(), work.memory.tags(), work.memory.all(Book.INFECTS))
    dictionary = Dictionary(words.meanings)
    ledger = Writes(drop=[(Book.INFECTS, row) for row in words.gone], put=[(Book.INFECTS, row) for row in words.new])
    fresh = not work.memory.begun(VERSION)
    if fresh:
        # Every atom will be looked at with the words of now; a word that comes while they are is new to the next dream.
        work.save(ledger)
    for some, meant in _read_ahead(work.slices(VERSION, LISTENS), dictionary):
        work.save(Writes(mark=some.mark, relabelled=_infected(some.atoms, meant, words.tags)))
    if not fresh and (words.new or words.gone):
        _look_again(work, words)
        work.save(ledger)
    return work.report()


def _look_again(work: Work, words: Known) -> None:
    """Settle the atoms that say a word which infects since, or no longer did; of their tags, those it stands for."""
    turned = {row.second for row in (*words.new, *words.gone)}
    moved = {name for name in words.tags if hashed(name) in turned}
    few = Dictionary(
        {word: moved.intersection(meant) for word, meant in words.meanings.items() if not moved.isdisjoint(meant)}
    )
    sick = set(work.memory.carriers({row.second for row in words.gone}))
    sick |= work.named_in(set(words.new.values()))
    for atoms in work.pieces(sick):
        meant = few.meant([atom.text for atom in atoms])
        for atom, names in zip(atoms, meant, strict=True):
            had = (tag.name for tag in atom.tags if tag.origin == "infected" and tag.name in words.tags)
            names.update(name for name in had if name not in moved)
        work.save(Writes(relabelled=_infected(atoms, meant, words.tags)))


def known(names: Iterable[Named], given: Iterable[str], noted: Iterable[Row]) -> Known:
    """What infects, of the names and given tags of a place."""
    tags: dict[str, Tag] = {}
    meanings: dict[str, tuple[str, ...]] = {}
    new: dict[Row, str] = {}
    gone = set(noted)
    for word, alone, tag, row in chain(*[_named(one.norm, one.name or one.norm) for one in names], *map(_given, given)):
        (name,) = alone
        # Of those whose names make the same tag, the first by name and id says how it is written.
        first = tags.setdefault(name, tag)
        meant = meanings.get(word)
        if meant is None:
            meanings[word] = alone
        elif name in meant:
            continue
        else:
            meanings[word] = tuple(sorted((*meant, name)))
        written = row if first.display == tag.display else Row(row.first, row.second, hashed(first.display))
        try:
            gone.remove(written)
        except KeyError:
            new[written] = word
    return Known(meanings, tags, new, gone)


class Meaning(NamedTuple):
    """A word, the name of the tag it stands for, alone, the tag, and how the ledger notes that."""

    word: str
    names: tuple[str]
    tag: Tag
    row: Row


# The same words come night after night.
@lru_cache(maxsize=65_536)
def _named(norm: str, name: str) -> tuple[Meaning, ...]:
    """A name with the tags it stands for, if it is telling."""
    return tuple(_meaning(norm, tag) for tag in make_tags([name], "infected")) if is_telling(norm) else ()


@lru_cache(maxsize=65_536)
def _given(tag: str) -> tuple[Meaning, ...]:
    """A tag with how it stands in a text, if that is telling."""
    word = norm_name(tag.replace("_", " "))
    return (_meaning(word, Tag(tag, tag, "infected")),) if is_telling(word) else ()


def _meaning(word: str, tag: Tag) -> Meaning:
    return Meaning(word, (tag.name,), tag, Row(hashed(word), hashed(tag.name), hashed(tag.display)))


def _read_ahead(slices: Iterable[Slice], dictionary: Dictionary[str]) -> Iterator[tuple[Slice, list[set[str]]]]:
    """Each slice with what its texts mean. While the caller saves one, the texts of the next are searched."""
    waiting: tuple[Slice, Page, Future[Hits[str]]] | None = None
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
