"""What a forgotten memory leaves, and by what a text is known that was forgotten: hashes, no content.

A memory leaves hashes of its id, of what it says, of its bare words, and of each of its sentences and lines. Bare words
are those without the speaker of a chat or the mark of a list before them, without the full stop behind them and without
markup. So a text is known that says the same, or that is made of forgotten sentences alone, as when a file is cut into
other paragraphs than before. Of a text that has the forgotten words among others, as whole sentences or lines, the
others are left. Words too few to be telling do not count: "Thanks!" is said everywhere.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from cuetrail.model import Node
from cuetrail.text.normalise import norm_name

# Fewer characters than this are found in texts that have nothing to do with the forgotten one.
TELLING = 12
# A forgotten text of more sentences and lines is not looked for inside a larger one.
LONGEST = 32
# In a text of thousands of sentences shorter runs are looked at, so that a book is judged in about a second.
MOST_RUNS = 200_000
FEWEST = 4

# Where a sentence may end. A cut too many costs a hash, one too few lets a forgotten text come back.
_END = r"(?<![.!?…])[.!?…]++[\"'”’»)\]*_]*+(?=\s|\Z)|[。！？｡]++[」』”’）]*+"
_MARK = r"[-*+•>|–—]|#{1,6}|\d{1,3}[.)]|[a-z]\)|\[[ x]\]|(?:user|assistant|system|human|ai):"
_CELL = r"\|(?![^\[\]\n]{0,99}\]\])"
_SENTENCE = re.compile(rf"{_END}|\n(?=\s*(?:\n|(?:{_MARK})\s))", re.IGNORECASE)
_LINE = re.compile(r"\n")
_PIECE = re.compile(rf"{_END}|\n|{_CELL}")
_BEFORE = re.compile(rf"(?:(?:{_MARK})\s+|[\"'“‘«(\[*_]+)++")
# Who says it, where the text alone tells: one or two words before a colon.
_LABEL = re.compile(r"[^\W\d][\w.-]{0,29}(?: [\w.-]{1,29})?: ")
_WAYS = (_SENTENCE, _LINE)
_BEHIND = " .!?…。！？｡;,:\"'”’»)]*_|"
# Markup changes how a text looks, not what it says; tags and block ids behind it do not either.
_LINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]|!?\[([^\[\]]*)\]\([^()\s]*\)")
_MARKUP = re.compile(r"[`*\u00ad\u200b-\u200d\u2060]+|~~|==|(?<!\w)_+|_+(?!\w)")
_TRAIL = re.compile(r"(?:(?:^|(?<=\s))(?:#[^\s#]+|\^[\w-]+)\s*)+\Z")


class Met(NamedTuple):
    """The hashes by which a text was forgotten, and what of it was not: empty when it stays out as a whole."""

    hashes: set[str]
    left: str


@dataclass(frozen=True, slots=True)
class Signs:
    """The hashes by which a text may be known: of itself, of its runs of sentences, of all sentences, of all lines.

    A run has the spans of the text it stands in. A sentence or line has two hashes: as a part of what was forgotten,
    and as all of it.
    """

    said: str
    whole: frozenset[str]
    runs: Mapping[str, list[tuple[int, int]]]
    cuts: tuple[tuple[tuple[str, str], ...], ...]

    def hashes(self) -> set[str]:
        """Every hash that matters."""
        return {hash_ for cut in self.cuts for pair in cut for hash_ in pair} | self.whole | self.runs.keys()

    def met(self, known: Collection[str]) -> Met | None:
        """By which of the known hashes this text was forgotten, and what of it was not; None when it was not."""
        found = {hash_ for hash_ in (*self.whole, *self.runs) if hash_ in known}
        for cut in self.cuts:
            by = [{hash_ for hash_ in pair if hash_ in known} for pair in cut]
            # Where each sentence is all of something forgotten, the short words between them are of nobody.
            if all(by) and any(hashes.isdisjoint(found) for hashes in by):
                return Met(found.union(*by), "")
        if not found:
            return None
        spans = [span for hash_ in found for span in self.runs.get(hash_, ())]
        return Met(found, "" if found & self.whole else _without(self.said, spans))


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
        return Signs("", frozenset(), {}, ())
    speaker = norm_name(_speaker(node))
    runs: dict[str, list[tuple[int, int]]] = defaultdict(list)
    hashes: dict[str, str] = {}
    for words, span in _runs(said, speaker):
        if words not in hashes:
            hashes[words] = _hash("words", words)
        runs[hashes[words]].append(span)
    parts = [_parts(said, cut, speaker) for cut in _WAYS]
    cuts = [tuple((_hash("part", one), hashes.get(one) or _hash("words", one)) for one in some) for some in parts]
    words = bare(said, speaker)
    whole = {_hash("text", norm_name(said)), *([_hash("words", words)] if len(words) >= TELLING else [])}
    return Signs(said, frozenset(whole), runs, tuple(cuts))


def judge(
    nodes: Sequence[Node], said: Sequence[Signs], known: Collection[str], gone: Mapping[str, str]
) -> dict[str, Met]:
    """What the known hashes meet of these nodes, by id; `gone` are the ids that were forgotten, with their hashes."""
    found = {id_: Met({hash_}, "") for id_, hash_ in gone.items()}
    for node, one in zip(nodes, said, strict=True):
        if (met := one.met(known) if known else None) is not None:
            by_id = {gone[node.id]} if node.id in gone else set()
            # What has no text cannot be cut, and what is forgotten by its id is not let in by its words.
            found[node.id] = Met(met.hashes | by_id, met.left if node.text and not by_id else "")
    return found


def let_in(nodes: Iterable[Node], met: Mapping[str, Met]) -> tuple[list[Node], set[str], set[str]]:
    """The nodes without what was forgotten; the ids of those that stay out, and of those that come in shortened."""
    out = {id_ for id_, one in met.items() if not one.left}
    unique = {node.id: node for node in nodes if node.id not in out}
    for id_ in met.keys() - out:
        # What was derived from the whole text would tell of what is left out.
        unique[id_] = replace(unique[id_], text=met[id_].left, simhash=None)
    return list(unique.values()), out, met.keys() - out


def id_stone(id_: str) -> str:
    """The hash of an id."""
    return _hash("id", norm_name(id_))


def bare(text: str, speaker: str = "") -> str:
    """A text without regard to case and spacing, to markup, to who says it, to list marks and to how it ends.

    >>> bare("- [x] The **KEY** is  under the [[mat]]! #home"), bare("Ann: The key.", "Ann"), bare("Note: the key")
    ('the key is under the mat', 'the key', 'note: the key')
    """
    return _stripped(_plain(text), norm_name(speaker))


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


def _plain(text: str) -> str:
    """A text in its normal form and without markup."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    if "[" in text:
        text = _LINK.sub(lambda match: match[1] or match[2] or "", text)
    words = norm_name(_MARKUP.sub("", text))
    return _TRAIL.sub("", words).rstrip() if "#" in words or "^" in words else words


def _start(words: str, speaker: str) -> int:
    """Where words begin behind marks and the name of the one who says them."""
    label, at = f"{speaker}: " if speaker else "", 0
    while True:
        if (before := _BEFORE.match(words, at)) is not None:
            at = before.end()
        elif label and words.startswith(label, at):
            at += len(label)
        else:
            return at


def _stripped(words: str, speaker: str) -> str:
    return words[_start(words, speaker) :].rstrip(_BEHIND)


class _Piece(NamedTuple):
    """A sentence or line in its normal form, where it stands, and what keeps it apart from the next."""

    words: str
    start: int
    end: int
    gap: str


def _pieces(text: str, cut: re.Pattern[str]) -> list[_Piece]:
    cuts = [0, *(found.end() for found in cut.finditer(text)), len(text)]
    pieces = []
    for start, end in pairwise(cuts):
        # Scripts without spaces join what others keep apart.
        edge = text[end - 1 : end + 1]
        if words := _plain(text[start:end]):
            pieces.append(_Piece(words, start, end, " " if edge != edge.strip() else ""))
    return pieces


def _parts(text: str, cut: re.Pattern[str], speaker: str) -> list[str]:
    """The bare words of the pieces that are long enough to be telling."""
    found = (_stripped(piece.words, speaker) for piece in _pieces(text, cut))
    return [words for words in found if len(words) >= TELLING]


def _runs(text: str, speaker: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """The bare words of every run of sentences and lines that is long enough to be telling, and where it stands."""
    pieces = _pieces(text, _PIECE)
    longest = min(LONGEST, max(FEWEST, MOST_RUNS // max(1, len(pieces))))
    for number, first in enumerate(pieces):
        begin = _start(first.words, speaker)
        # Where a text only may name its speaker, it is known with and without that.
        label = _LABEL.match(first.words, begin)
        starts = (begin,) if label is None else (begin, _start(first.words[label.end() :], "") + label.end())
        run = ""
        for piece in pieces[number : number + longest]:
            run += piece.words
            end = run.rstrip(_BEHIND)
            for at in starts:
                if len(end) - at >= TELLING:
                    yield end[at:], (first.start, piece.end)
            run += piece.gap


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text without these spans; empty when nothing is left that says anything."""
    kept, at = [], 0
    for start, end in sorted(spans):
        kept.append(text[at : max(at, start)])
        at = max(at, end)
    left = "".join([*kept, text[at:]]).strip()
    return left if any(char.isalnum() for char in bare(left)) else ""
