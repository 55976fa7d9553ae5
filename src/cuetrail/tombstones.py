"""What a forgotten memory leaves, and by what a text is known that was forgotten: hashes, no content.

A memory leaves hashes of its id, of what it says, of its bare words, and of each of its sentences and lines. Bare words
are those without the speaker of a chat or the mark of a list before them and without the full stop behind them. So a
text is known that says the same, that has the forgotten words among its own as whole sentences or lines, or that is
made of forgotten sentences alone, as when a file is cut into other paragraphs than before. Words too few to be telling
do not count: "Thanks!" is said everywhere.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise

from cuetrail.model import Node
from cuetrail.text import norm_name

# Fewer characters than this are found in texts that have nothing to do with the forgotten one.
TELLING = 12
# A forgotten text of more sentences and lines is not looked for inside a larger one.
LONGEST = 32

# Where a sentence may end. A cut too many costs a hash, one too few lets a forgotten text come back.
_END = r"(?<![.!?…])[.!?…]++[\"'”’»)\]*_]*+(?=\s|\Z)|[。！？｡]++[」』”’）]*+"
_MARK = r"[-*+•>]|#{1,6}|\d{1,3}[.)]|\[[ x]\]|(?:user|assistant|system|human|ai):"
_SENTENCE = re.compile(rf"{_END}|\n(?=\s*(?:\n|(?:{_MARK})\s))", re.IGNORECASE)
_LINE = re.compile(r"\n")
_PIECE = re.compile(rf"{_END}|\n")
_BEFORE = re.compile(rf"(?:{_MARK})\s+|[\"'“‘«(\[*_]+")
_WAYS = (_SENTENCE, _LINE)
_BEHIND = " .!?…。！？｡;,:\"'”’»)]*_"


@dataclass(frozen=True, slots=True)
class Signs:
    """The hashes by which a text may be known: of itself and passages in it, of all its sentences, of all its lines.

    A sentence or line has two: as a part of what was forgotten, and as all of it.
    """

    passages: frozenset[str]
    cuts: tuple[tuple[tuple[str, str], ...], ...]

    def hashes(self) -> set[str]:
        """Every hash that matters."""
        return {hash_ for cut in self.cuts for pair in cut for hash_ in pair} | self.passages

    def met(self, known: Collection[str]) -> set[str]:
        """Of the known hashes those by which this text was forgotten; empty when it was not."""
        found = {hash_ for hash_ in self.passages if hash_ in known}
        for cut in self.cuts:
            if not found and all(any(hash_ in known for hash_ in pair) for pair in cut):
                found = {hash_ for pair in cut for hash_ in pair if hash_ in known}
        return found


def stones(node: Node) -> list[str]:
    """The hashes that a forgotten node leaves."""
    return [id_stone(node.id), *_stones(_said(node), _speaker(node))]


def text_stones(said: str) -> list[str]:
    """The hashes that a forgotten text without an id leaves, such as an earlier wording of a node."""
    return _stones(said, "")


def signs(node: Node) -> Signs:
    """By what a node may be known besides its id."""
    said = _said(node)
    if not said:
        return Signs(frozenset(), ())
    speaker = norm_name(_speaker(node))
    words = {one: _hash("words", one) for one in set(_passages(said, speaker))}
    parts = [_parts(said, cut, speaker) for cut in _WAYS]
    cuts = [tuple((_hash("part", one), words.get(one) or _hash("words", one)) for one in some) for some in parts]
    return Signs(frozenset({_hash("text", norm_name(said)), *words.values()}), tuple(cuts))


def id_stone(id_: str) -> str:
    """The hash of an id."""
    return _hash("id", norm_name(id_))


def bare(text: str, speaker: str = "") -> str:
    """A text without regard to case and spacing, to who says it, to list marks and to how it ends.

    >>> bare("- [x] The KEY is  under the mat!"), bare("Ann: The key.", "Ann"), bare("Note: the key")
    ('the key is under the mat', 'the key', 'note: the key')
    """
    return _stripped(norm_name(text), norm_name(speaker))


def said_by(node: Node) -> str:
    """The bare words of a node."""
    return bare(_said(node), _speaker(node))


def _said(node: Node) -> str:
    return node.text or node.name or ""


def _speaker(node: Node) -> str:
    speaker = node.props.get("speaker")
    return speaker if isinstance(speaker, str) else ""


def _hash(kind: str, words: str) -> str:
    """The hash of words in their normal form: the fingerprint of the kind and the words, one after the other."""
    return hashlib.blake2b(f"{kind} {words}".encode(), digest_size=16, person=b"cuetrail.text").hexdigest()


def _stones(said: str, speaker: str) -> list[str]:
    if not said:
        return []
    words = bare(said, speaker)
    parts = dict.fromkeys(one for cut in _WAYS for one in _parts(said, cut, norm_name(speaker)) if one != words)
    found = [_hash("text", norm_name(said)), *([_hash("words", words)] if len(words) >= TELLING else [])]
    return found + [_hash("part", one) for one in parts]


def _stripped(words: str, speaker: str) -> str:
    label = f"{speaker}: " if speaker else ""
    while True:
        start = _BEFORE.match(words)
        if start is not None:
            words = words[start.end() :]
        elif label and words.startswith(label):
            words = words.removeprefix(label)
        else:
            return words.rstrip(_BEHIND)


def _pieces(text: str, cut: re.Pattern[str]) -> list[tuple[str, str]]:
    """The pieces of a text in their normal form, each with what keeps it apart from the next."""
    cuts = [0, *(found.end() for found in cut.finditer(text)), len(text)]
    pieces = []
    for start, end in pairwise(cuts):
        # Scripts without spaces join what others keep apart.
        edge = text[end - 1 : end + 1]
        if words := norm_name(text[start:end]):
            pieces.append((words, " " if edge != edge.strip() else ""))
    return pieces


def _parts(text: str, cut: re.Pattern[str], speaker: str) -> list[str]:
    """The bare words of the pieces that are long enough to be telling."""
    found = (_stripped(words, speaker) for words, _ in _pieces(text, cut))
    return [words for words in found if len(words) >= TELLING]


def _passages(text: str, speaker: str) -> Iterator[str]:
    """The bare words of every run of sentences and lines that is long enough to be telling."""
    pieces = _pieces(text, _PIECE)
    for first in range(len(pieces)):
        run = ""
        for words, gap in pieces[first : first + LONGEST]:
            run += words
            found = _stripped(run, speaker)
            if len(found) >= TELLING:
                yield found
            run += gap
