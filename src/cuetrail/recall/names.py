"""Names as they stand in a text: which runs of words may be one, and by which forms a memory's name is said.

>>> sorted(names_said("They met Ada Lovelace's aunt."))[:4]
['ada lovelace', "ada lovelace's aunt", "lovelace's aunt", 'they']
>>> sorted(heads("Margaret Mayo (playwright)")), sorted(heads("Fort Deposit, Alabama"))
(['margaret mayo', 'margaret mayo playwright'], ['fort deposit', 'fort deposit alabama'])
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from cuetrail.model import Node
from cuetrail.text import names as proper_names
from cuetrail.text.normalise import norm_name
from cuetrail.text.word_lists import FUNCTION_WORDS

# A name has no more words than this.
LONGEST = 8
# Of more aliases only the first are looked for.
MOST_ALIASES = 5
# Of a long text its beginning says what it is about.
MOST_CHARS = 4_000
# So many texts are kept as they were read: what is often recalled is read once.
TEXTS = 1 << 13
_WORD = re.compile(r"[^\W_]+(?:[.'’&-][^\W_]+)*")
_BREAK = re.compile(r"[.!?;]\s|\n")
_OWNED = re.compile(r"['’]s?$")
_FIRST_NAME = re.compile(r"(?<!\w)(?!(?:The|A|In|On|At|And|But|Of)\b)[A-Z][\w.'’-]* $")
_NO_LETTER = re.compile(r"[\W_]+")
_MARKS = re.compile(r"[\u0300-\u036f]+")
_BEHIND = re.compile(r"\s*(?:\([^()]*\)\s*$|,\s.*$)")


class Run(NamedTuple):
    """Some words in a row, as a name is looked up, and where they stand among all words.

    `capital`: one of them has one, and not only because the text begins there; `part`: they seem to be part of a
    longer name.
    """

    norm: str
    start: int
    end: int
    capital: bool
    part: bool


def runs(text: str, opening: bool = False) -> Iterator[Run]:
    """Every run of words that may be a name: it neither ends in a function word nor goes on over a sentence's end.

    With `opening`, only those that begin with a capital or a number.
    """
    text = text[:MOST_CHARS]
    words = list(_WORD.finditer(text))
    tells = [word[0][0].isupper() for word in words]
    # The full stop behind an initial or a title ends no sentence.
    ends = [
        len(left[0]) > 2 and bool(_BREAK.search(text, left.end(), right.start() + 1)) for left, right in pairwise(words)
    ]
    joins = [word[0].lower() in FUNCTION_WORDS for word in words]
    for start, first in enumerate(words):
        opens = tells[start] or first[0][0].isdigit()
        if opening and not opens:
            continue
        for end in range(start, min(start + LONGEST, len(words))):
            if end > start and ends[end - 1]:
                break
            if joins[end] and not tells[end]:
                continue
            said = text[first.start() : words[end].end()]
            if said[-1] in "s'’":
                said = _OWNED.sub("", said)
            elif "(" in said and ")" not in said and text[words[end].end() :][:1] == ")":
                said += ")"
            capital = any(tells[max(start, 1) : end + 1]) or (end == 0 and tells[0])
            yield Run(norm_name(said), start, end + 1, capital, _is_part(text, words, start, end))


def _is_part(text: str, words: Sequence[re.Match[str]], start: int, end: int) -> bool:
    """Whether a capital follows at once; or precedes a single word, as a first name does a last one."""
    after = words[end + 1] if end + 1 < len(words) else None
    if after is not None and after[0][0].isupper() and text[words[end].end() : after.start()] == " ":
        return True
    before = words[start - 1] if start == end and start else None
    if before is None or not before[0][0].isupper() or text[before.end() : words[start].start()] not in (" ", ". "):
        return False
    return before[0].lower() not in FUNCTION_WORDS


@lru_cache(TEXTS)
def names_said(text: str) -> frozenset[str]:
    """The runs of a text that may be names, because they begin as one."""
    found = (run.norm for run in runs(text, opening=True) if not run.part)
    return frozenset(norm for norm in found if len(norm) > 2 and not norm.isdigit())


@lru_cache(TEXTS)
def names_in(text: str) -> frozenset[str]:
    """The names in a text as rules find them, spelt."""
    (found,) = proper_names.find([text[:MOST_CHARS]])
    return frozenset(name for name in map(spelt, found) if len(name) > 2 and not name.isdigit())


def holders(forms: Collection[str], texts: Mapping[str, str]) -> dict[str, list[str]]:
    """Who says each of these forms, by ids, in the order of the texts; these are spaced.

    >>> holders({"ada", "ada lovelace"}, {"a": spaced("Ada Lovelace, Ada"), "b": spaced("Ada!"), "c": spaced("Adana")})
    {'ada': ['a', 'b'], 'ada lovelace': ['a']}
    """
    from ahocorasick_rs import AhoCorasick, Implementation

    found: dict[str, list[str]] = {form: [] for form in sorted(forms)}
    if found:
        keys = list(found)
        words = AhoCorasick([f" {form} " for form in keys], implementation=Implementation.ContiguousNFA)
        for id_, text in texts.items():
            for at in {match[0] for match in words.find_matches_as_indexes(text, overlapping=True)}:
                found[keys[at]].append(id_)
    return found


def says(text: str, form: str) -> bool:
    """Whether a text says a name, given spelt, and not as a part of a longer one.

    >>> says("He met John Middleton.", "john middleton"), says("He met John Middleton Murry.", "john middleton")
    (True, False)
    >>> says("Morgan sings.", "morgan"), says("Frank Morgan sings.", "morgan")
    (True, False)
    """
    found = _said(form).finditer(text)
    return any(
        " " in form or not _FIRST_NAME.search(text, max(match.start() - 40, 0), match.start()) for match in found
    )


@lru_cache(1 << 12)
def _said(form: str) -> re.Pattern[str]:
    words = r"[\W_]+".join(re.escape(word) for word in form.split())
    # What follows is told by case, so case must not be ignored there.
    return re.compile(rf"(?i:(?<!\w){words}(?!\w))(?! [A-Z])")


def forms_of(node: Node) -> frozenset[str]:
    """The forms by which a text says a memory's name or one of its aliases."""
    if not node.aliases:
        return heads(node.name) if node.name else frozenset()
    names = [name for name in (node.name, *node.aliases[:MOST_ALIASES]) if name]
    return frozenset[str]().union(*map(heads, names))


@lru_cache(1 << 14)
def heads(name: str) -> frozenset[str]:
    """The forms by which a text says a name, folded: the whole of it, and what stands before a bracket or a comma."""
    forms = {spelt(name), spelt(_BEHIND.sub("", name))}
    return frozenset(form for form in forms if len(form) > 2)


@lru_cache(TEXTS)
def spaced(text: str) -> str:
    """A text, spelt as far as it is read, with a space at both ends."""
    return f" {spelt(text[:MOST_CHARS])} "


def unread() -> None:
    """Let go of all texts that are kept as they were read: what is forgotten must not stay in memory for that."""
    for kept in (names_said, names_in, spaced, heads):
        kept.cache_clear()


def spelt(text: str) -> str:
    """Words alone, without case, marks and signs, so that names can be found in it between spaces.

    >>> spelt("São José's (old) town")
    'sao jose s old town'
    """
    if not text.isascii():
        text = _MARKS.sub("", unicodedata.normalize("NFKD", text))
    return _NO_LETTER.sub(" ", text.casefold()).strip()
