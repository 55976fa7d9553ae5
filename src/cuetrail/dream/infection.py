"""Known names and tags spread to every atom whose text has them as whole words; the tag's origin is `infected`.

What is known are the names and aliases of nodes, and the tags that people or rules gave. A name stands for the tag that
its node's name makes. What came by infection or with the time does not spread, so nothing keeps itself alive.

The ledger notes, as hashes, which words stand for which tags. A word that is new is looked for in all texts, one that
is gone leaves the atoms that carry its tag; all other atoms are read only when they changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from cuetrail.dream import auto_tags
from cuetrail.dream.dictionary import Dictionary, is_telling
from cuetrail.dream.labels import relabelled
from cuetrail.dream.night import Night, Work
from cuetrail.model import PassReport, Tag
from cuetrail.store.dreams import Atom, Book, Named, Row, Writes, hashed
from cuetrail.text import make_tags, norm_name

NAME = "infection"
VERSION = "1"
# Where that pass takes a tag away, the same tag may have to come by infection.
LISTENS = (auto_tags.NAME,)

Meanings = Mapping[str, Sequence[Tag]]


def infection(night: Night) -> PassReport:
    """Give every atom the tags that its text names."""
    work = Work(night, NAME)
    if work.memory.idle(VERSION):
        return work.report()
    meanings = known(work.memory.names(), work.memory.tags())
    words = Dictionary(meanings)
    noted = set(work.memory.all(Book.INFECTS))
    rows = {row: word for word, tags in meanings.items() for row in _rows(word, tags)}
    new, gone = rows.keys() - noted, noted - rows.keys()
    ledger = Writes(drop=[(Book.INFECTS, row) for row in gone], put=[(Book.INFECTS, row) for row in new])
    fresh = not work.memory.begun(VERSION)
    if fresh:
        # Every atom will be looked at with the words of now; a word that comes while they are is new to the next dream.
        work.save(ledger)
    for some in work.slices(VERSION, LISTENS):
        work.save(Writes(mark=some.mark, relabelled=_infected(some.atoms, words)))
    if not fresh and (new or gone):
        sick = set(work.memory.carriers({row.second for row in gone}))
        sick |= set(work.named_in({rows[row]: meanings[rows[row]] for row in new}))
        for atoms in work.pieces(sick):
            work.save(Writes(relabelled=_infected(atoms, words)))
        work.save(ledger)
    return work.report()


def known(names: Iterable[Named], tags: Iterable[str]) -> dict[str, list[Tag]]:
    """The words that infect, in their normal form, and the tags they stand for."""
    found: dict[str, dict[str, Tag]] = {}
    made: dict[str, Tag] = {}
    for one in names:
        if is_telling(one.norm):
            for tag in make_tags([one.name or one.norm], "infected"):
                # Of those whose names make the same tag, the first by name and id says how it is written.
                found.setdefault(one.norm, {})[tag.name] = made.setdefault(tag.name, tag)
    for name in tags:
        word = norm_name(name.replace("_", " "))
        if is_telling(word):
            found.setdefault(word, {})[name] = made.get(name, Tag(name, name, "infected"))
    return {word: list(meant.values()) for word, meant in sorted(found.items())}


def _rows(word: str, tags: Sequence[Tag]) -> Iterator[Row]:
    return (Row(hashed(word), hashed(tag.name), hashed(tag.display)) for tag in tags)


def _infected(atoms: Sequence[Atom], words: Dictionary[Tag]) -> list[tuple[Atom, tuple[Tag, ...]]]:
    """Those of the atoms that get or lose tags, with their tags."""
    found = ((atom, relabelled(atom, "infected", sorted(words.find(atom.text), key=_by_name))) for atom in atoms)
    return [(atom, tags) for atom, tags in found if tags is not None]


def _by_name(tag: Tag) -> str:
    return tag.name
