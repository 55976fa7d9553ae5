"""Finds the names that other texts use for whom or what a text is about, the pass `known_as`.

A text that begins "Richard Ray "Rick" Lund (born 1960) is an actor" is known by that name. Others write "Rick Lund", so
neither they nor a question with that name would lead to it. The first sentence of a text gives the names that may be
meant (`text.titles.other_names_of`). Such a name is kept, in the property `known_as`, if another text uses it and no
other text may be meant by it. Texts with a name or a title, passages of files and turns of conversations get none.

The ledger stores the names that each text may be called by, and the texts that use one of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from cuetrail.dream.context import DreamContext, Work
from cuetrail.dream.word_matcher import WordMatcher
from cuetrail.model import Node, PassReport
from cuetrail.model.ids import ledger_hash
from cuetrail.store.dream import Atom, Book, Entry, Slice, Writes
from cuetrail.text.names import possible_names, speaker_in
from cuetrail.text.normalise import KNOWN_AS, folded, norm_name
from cuetrail.text.titles import other_names_of, topics_in

NAME = "known_as"
VERSION = "1"
# The most names that a text gets.
MOST = 5
# Texts of one transaction.
BATCH = 500

Forms = dict[str, str]
"""The names that a text may be called by, as written there, by their normal form; "" if it is known by it anyway."""


def known_as(context: DreamContext) -> PassReport:
    """Updates the names of texts that changed, and of texts that changed texts call by a name."""
    work = Work(context, NAME)
    # In a first dream nothing lies outside the first slice yet.
    alone = work.memory.state(VERSION) == "new"
    for some in work.slices(VERSION):
        forms = {atom.key: _forms(atom) for atom in some.atoms}
        old = _rows_of(work, some)
        new = {(Book.NAME_FORMS, row) for key, names in forms.items() for row in _form_rows(key, names)}
        new |= {(Book.NAME_USES, row) for row in _uses_in(work, some.atoms, forms)}
        others = set[tuple[Book, Entry]]() if alone else {(Book.NAME_USES, row) for row in _uses_elsewhere(work, forms)}
        work.save(Writes(put=sorted((new | others) - old)))
        # Rows that no longer hold are deleted last: a dream that was interrupted before reads the same slice again.
        gone = old - new
        _rename(work, {row.second for _, row in old | new | others}, gone)
        work.save(Writes(mark=some.mark, drop=sorted(gone)))
        alone = False
    return work.report()


def _rows_of(work: Work, some: Slice) -> set[tuple[Book, Entry]]:
    """Returns the ledger rows of the atoms in a slice, also of removed ones."""
    return {(book, row) for book in (Book.NAME_FORMS, Book.NAME_USES) for row in work.memory.within(book, some.runs)}


def _forms(atom: Atom) -> Forms:
    """Returns the names that a text may be called by."""
    if atom.source is not None or speaker_in(atom.text):
        return {}
    topics = topics_in(atom.text)
    others = [] if "title" in topics else other_names_of(atom.text)
    forms = {form: name for name in others for form in (norm_name(name), folded(name))}
    return forms | {norm_name(name): "" for name in topics.get("about", ())}


def _form_rows(key: int, forms: Forms) -> Iterable[Entry]:
    return (Entry(key, ledger_hash(form), int(not name)) for form, name in forms.items())


def _uses_in(work: Work, atoms: Sequence[Atom], forms: Mapping[int, Forms]) -> Iterable[Entry]:
    """Yields a row for each name in these atoms by which another text may be called."""
    matcher = _matcher(forms)
    for atom, found in zip(atoms, matcher.matches([atom.text for atom in atoms]), strict=True):
        yield from _use_rows(atom, found - forms[atom.key].keys())
    if work.memory.all(Book.NAME_FORMS, 1):
        names = {atom.key: [ledger_hash(name) for name in possible_names(atom.text)] for atom in atoms}
        known = work.memory.firsts(Book.NAME_FORMS, {one for some in names.values() for one in some})
        for key, some in names.items():
            yield from (Entry(key, one) for one in some if any(owner != key for owner in known.get(one, ())))


def _uses_elsewhere(work: Work, forms: Mapping[int, Forms]) -> Iterable[Entry]:
    """Yields a row for each text outside the slice that uses a name by which one in it may be called."""
    matcher = _matcher(forms)
    for atoms in work.pieces(work.named_in(matcher.values.keys()) - forms.keys()):
        for atom, found in zip(atoms, matcher.matches([atom.text for atom in atoms]), strict=True):
            yield from _use_rows(atom, found)


def _matcher(forms: Mapping[int, Forms]) -> WordMatcher[str]:
    return WordMatcher({form: [form] for names in forms.values() for form, name in names.items() if name})


def _use_rows(atom: Atom, names: AbstractSet[str]) -> Iterable[Entry]:
    """Yields a row for each of these names that a text uses as a name, not within a longer one."""
    return (Entry(atom.key, ledger_hash(name)) for name in names & possible_names(atom.text)) if names else ()


def _rename(work: Work, hashes: Collection[int], gone: Collection[tuple[Book, Entry]]) -> None:
    """Gives the texts that may be called by these names those that hold now. Rows in `gone` count as deleted."""
    owners = _firsts(work, Book.NAME_FORMS, hashes, gone)
    keys = sorted({key for some in owners.values() for key in some})
    for start in range(0, len(keys), BATCH):
        atoms = work.memory.atoms(keys[start : start + BATCH])
        forms = {atom.key: {form: name for form, name in _forms(atom).items() if name} for atom in atoms}
        wanted = {ledger_hash(form) for names in forms.values() for form in names}
        owners = _firsts(work, Book.NAME_FORMS, wanted, gone)
        users = _firsts(work, Book.NAME_USES, wanted, gone)
        nodes = work.context.store.get(work.context.scope, [atom.id for atom in atoms])
        writes = Writes()
        for atom in atoms:
            hashes_of = {form: ledger_hash(form) for form in forms[atom.key]}
            names = [
                forms[atom.key][form]
                for form, hash_ in hashes_of.items()
                if owners.get(hash_) == {atom.key} and users.get(hash_, set()) - {atom.key}
            ]
            node = nodes.get(atom.id)
            renamed = None if node is None else _with_names(node, names, forms[atom.key])
            if renamed is not None:
                writes.batch.nodes.append(renamed)
                writes.unchanged.append(atom)
        if writes.batch.nodes:
            work.save(writes)


def _firsts(
    work: Work, book: Book, hashes: Collection[int], gone: Collection[tuple[Book, Entry]]
) -> dict[int, set[int]]:
    """Returns the atoms with a row for each of these names."""
    without = {(row.first, row.second) for of, row in gone if of == book}
    found = work.memory.firsts(book, hashes).items()
    return {hash_: {key for key in keys if (key, hash_) not in without} for hash_, keys in found}


def _with_names(node: Node, names: Iterable[str], forms: Forms) -> Node | None:
    """Returns the node with these names in place of those that earlier dreams gave; None if nothing changes.

    Names that the caller gave are not made of the words of the text, and stay.
    """
    had = node.props.get(KNOWN_AS, [])
    if node.name is not None or not isinstance(had, list):
        return None
    given = [name for name in had if not isinstance(name, str) or norm_name(name) not in forms]
    now = [*given, *list(dict.fromkeys(names))[:MOST]]
    if now == had:
        return None
    props = {key: value for key, value in node.props.items() if key != KNOWN_AS}
    return replace(node, props={**props, KNOWN_AS: now} if now else props)
