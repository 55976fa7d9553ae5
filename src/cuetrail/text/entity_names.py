"""Names worth keeping as entities and labels: those that `names.find` finds, without ordinary words and identifiers.

>>> find(["Buy it from Acme Robotics. Developed by Ines. The `main` uses podType. We love Great Things and Ines."])
[('Acme Robotics', 'Ines')]
>>> find(["Introduce Grafana Loki"]), find(["Enable it in the Command Palette, or press Enter."])
([('Grafana Loki',)], [('Command Palette',)])

`names.find` takes every word that is capitalised like a name, which suits a search. An entity or a label is shown to
people, so here a word that is an ordinary one in lower case needs more: the document capitalises it within sentences,
and never writes it small.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Literal

from cuetrail.text import names
from cuetrail.text.ordinary_words import ORDINARY_NOUNS, OTHER_WORDS, VERBS
from cuetrail.text.prose import prose_only
from cuetrail.text.word_lists import (
    ACRONYMS_OF_TWO,
    CALENDAR_WORDS,
    COMMON_WORDS,
    FUNCTION_WORDS,
    NAME_OPENERS,
    NO_ACRONYMS,
    STOP_WORDS,
    VAGUE_NOUNS,
)

WordKind = Literal["noun", "other", "name"]

_NO_TOPIC = STOP_WORDS | COMMON_WORDS | FUNCTION_WORDS | CALENDAR_WORDS | OTHER_WORDS
# Emphasis, tags of HTML, templates and formulas are markup.
_MARKUP = re.compile(r"(?<!\w)_+|_+(?!\w)|</?[a-zA-Z][^<>\n]{0,300}>|\{\{[^{}\n]{0,200}\}\}|\$[^$\n]{1,200}\$")
# A run of capitalised words behind a word in lower case, or as the whole text of a link.
_RUN = r"[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*"
# A run that a dot or "de" continues is part of a longer name: "Rocket.Chat", "Nido de rojos".
_ENDS = r"(?![\w'’-])(?!\.\w| (?:de|del|des|di|da|dos) )"
_INSIDE = re.compile(rf"(?<=[a-z,;] )[*\"“'(\[]{{0,4}}({_RUN}){_ENDS}|(?<=\[)({_RUN})(?=\])")
# A line of wrapped text that goes on in the next one.
_WRAPPED = re.compile(r"(?<=[\w,])\n[ \t]*(?=[A-Z])")
_LEAST_WRAPPED = 60
_ANY_RUN = re.compile(_RUN)
_INLINE_CODE = re.compile(r"`([^`\n]+)`")
_TOKEN = re.compile(r"\w+")
_SMALL_WORD = re.compile(r"(?<![\w.])[a-z][a-z'’-]+")
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_BRAND = re.compile(r"[a-z][A-Z]\w+|[a-z]{2,8}(?:OS|X|QL|DB)")
_CODE = re.compile(r"[A-Z]{1,4}\d{3,}|[A-Z]\d{2,}|[QMHVPTL]\d{1,2}|[A-Z]-\w+|[YMDHSymdhs]{3,}(?:-\w+)*")
_INITIALS = re.compile(r"(?:[A-Z]\.)+[A-Z]?")
# A character of a word; and behind a name, unless the word goes on: the next word if it is in lower case.
_WORD_CHAR = re.compile(r"\w")
_BEHIND = re.compile(r"(?!\w)(?: ([a-z]+))?")
_CONTRACTION = re.compile(r"['’](?:ll|re|ve|d|m|t|s)$", re.IGNORECASE)
_ADJECTIVE = re.compile(
    r"-(?:based|like|bound|compatible|style|only|friendly|specific|related|driven|powered|free|wide)$"
)
_AND = re.compile(r" (?:y|e) ")
# Parts of identifiers that are no words of everyday language.
_PROGRAM_WORDS = frozenset(
    {"arg", "args", "bool", "cfg", "conf", "config", "ctx", "enum", "env", "func", "id", "ids", "impl", "init", "int",
     "msec", "param", "params", "parser", "props", "provider", "sec", "str", "timeout", "timeouts", "util", "utils"}
)  # fmt: skip
_MOST_HUMPS = 3
_SHORTEST = 3
_LONG_VERB = 6
# A longer word in capitals is shouted, not an abbreviation.
_LONGEST_ACRONYM = 7
# An ordinary noun is a name if its document writes it as one this often.
_OFTEN = 3


def find(texts: Sequence[str], code: Sequence[str] = ()) -> list[tuple[str, ...]]:
    """Returns the names worth keeping in each text of one document, in order, without repeats.

    A word with inner capitals that stands in the document's `code` is an identifier.
    """
    plain = [_unwrapped(_MARKUP.sub(_blank, text)) if text else text for text in texts]
    evidence = _Evidence(plain, code)
    return [
        tuple({kept.casefold(): kept for name in some for kept in evidence.kept(name)}.values())
        for some in names.find(plain)
    ]


def _unwrapped(text: str) -> str:
    """Returns the text with a space for each line end inside a wrapped paragraph, where a name may go on.

    >>> _unwrapped("It is an essay on the lives of others, written by Kimberlé Williams\\nCrenshaw.")[-27:]
    'Kimberlé Williams Crenshaw.'
    """

    def joined(match: re.Match[str]) -> str:
        start = text.rfind("\n", 0, match.start()) + 1
        return " " if match.start() - start >= _LEAST_WRAPPED else match[0]

    return _WRAPPED.sub(joined, text) if "\n" in text else text


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


@lru_cache(maxsize=65536)
def word_kind(word: str) -> WordKind:
    """Returns whether a word is an ordinary noun, another ordinary word, or may be a name.

    >>> [word_kind(word) for word in ("backups", "improving", "Reinstall", "cloud-based", "DuckDB")]
    ['noun', 'other', 'other', 'other', 'name']
    """
    low = word.casefold().replace("’", "'")
    if low in _NO_TOPIC or low in NO_ACRONYMS or _ADJECTIVE.search(low) or _CONTRACTION.search(low):
        return "other"
    if low in ORDINARY_NOUNS:
        return "noun"
    if "-" in low.strip("-"):
        kinds = [word_kind(part) for part in low.split("-") if part]
        # "API-first" and "GL-accelerated" are adjectives.
        return "name" if "name" in kinds and kinds[-1] != "other" else kinds[-1]
    return _inflected_kind(low)


def _inflected_kind(low: str) -> WordKind:
    """Returns the kind of a word whose stem may be an ordinary word."""
    for ending, stems in (("ies", ("y",)), ("es", ("", "e")), ("s", ("",))):
        for stem in (low[: -len(ending)] + rest for rest in stems) if low.endswith(ending) else ():
            if len(stem) <= _SHORTEST:
                continue
            if stem in ORDINARY_NOUNS:
                return "noun"
            if stem in _NO_TOPIC:
                return "other"
    for ending in ("ing", "ed", "ly"):
        bare = low.removesuffix(ending)
        if bare == low or len(bare) < _SHORTEST:
            continue
        roots = [root for root in (bare, bare + "e", bare[:-1]) if len(root) >= _SHORTEST]
        if any(root in _NO_TOPIC or root in ORDINARY_NOUNS for root in roots):
            return "other"
    if len(low) > _LONG_VERB and low.endswith("ize"):
        return "other"
    rest = re.sub(r"^(?:re|un|auto|pre|dis|de)-?", "", low)
    return "other" if rest != low and len(rest) > 3 and rest in OTHER_WORDS else "name"


def is_identifier(word: str) -> bool:
    """True for names of code and for codes: podType, wsRoot, CreateScratchNote, BASH_SOURCE, W1510.

    >>> [is_identifier(word) for word in ("podType", "CreateNoteCommand", "DuckDB", "iPhone", "macOS", "S3")]
    [True, True, False, False, False, False]
    """
    if "_" in word or "/" in word or _CODE.fullmatch(word):
        return True
    if word[0].islower():
        return _BRAND.fullmatch(word) is None
    humps = _HUMPS.findall(word)
    ordinary = (word_kind(hump) != "name" or hump.casefold() in _PROGRAM_WORDS for hump in humps)
    return len(humps) >= _MOST_HUMPS and "-" not in word and all(ordinary)


def _is_acronym(word: str) -> bool:
    """True for a word in capitals that is no ordinary one, and for VS, as in "VS Code"."""
    return word.isupper() and len(word) > 1 and (word == "VS" or word_kind(word) == "name")


def _is_loose(words: Sequence[str]) -> bool:
    """True if the first word is an ordinary one that seems to be no part of the name: "Introduce Grafana Loki"."""
    opens = words[0].casefold() in NAME_OPENERS and word_kind(words[1]) == "name"
    return word_kind(words[0]) == "other" and not opens and not _is_acronym(words[0])


class _Evidence:
    """How one document writes its words: runs of capitalised words within sentences or as links, and small words."""

    def __init__(self, texts: Sequence[str], code: Sequence[str] = ()) -> None:
        self._texts, self._code = texts, code
        self._in_code: frozenset[str] | None = None
        self._inside: Counter[str] | None = None
        self._small: frozenset[str] = frozenset()
        self._runs: frozenset[str] = frozenset()

    @cached_property
    def prose(self) -> str:
        """The text without code and addresses."""
        return "\n".join(prose_only(text) for text in self._texts if text)

    def inside(self, name: str) -> int:
        """Returns how often the document has this run of capitalised words within a sentence."""
        if self._inside is None:
            text = self.prose
            found = (match[1] or match[2] for match in _INSIDE.finditer(text))
            self._inside = Counter(name.removesuffix("'s").removesuffix("’s") for name in found)
            self._runs = frozenset(_ANY_RUN.findall(text))
            self._small = frozenset(_SMALL_WORD.findall(text))
        return self._inside[name]

    def is_run(self, name: str) -> bool:
        """True if the document has exactly this run of capitalised words, anywhere."""
        self.inside(name)
        return name in self._runs

    def is_code(self, word: str) -> bool:
        """True if the word has inner capitals and stands in the document's code."""
        if word[1:].islower() or word.isupper() or not word.isalnum():
            return False
        if self._in_code is None:
            spans = (span for text in self._texts if "`" in text for span in _INLINE_CODE.findall(text))
            self._in_code = frozenset(word for text in (*self._code, *spans) for word in _TOKEN.findall(text))
        return word in self._in_code

    def is_small(self, word: str) -> bool:
        """True if the document also writes the word in lower case."""
        self.inside(word)
        return word.lower() in self._small

    def kept(self, name: str) -> Iterator[str]:
        """Yields the part of a found name that is worth keeping: all of it, its end, both parts of "A y B", or none."""
        left, *right = _AND.split(name)
        if right and all(" " in part for part in (left, *right)):
            for part in (left, *right):
                yield from self.kept(part)
            return
        words = name.split(" ")
        if len(words) > 1 and words[1] == "of" and words[0].isupper():
            words = [word for word in words[2:] if word not in FUNCTION_WORDS]
        if self.is_run(f"New {name}") and not self.is_run(name):
            words = ["New", *words]
        whole = len(words)
        while len(words) > 1 and _is_loose(words) and not self._is_title(words) and not self._is_within(words):
            words = words[1:]
        if len(words) < whole and all(word_kind(word) != "name" and not _is_acronym(word) for word in words):
            return
        if words and (self._is_name(words[0]) if len(words) == 1 else self._is_phrase(words)):
            yield " ".join(words)

    def _is_title(self, words: Sequence[str]) -> bool:
        """True if the document has these words, capitalised, within a sentence; twice if the first is no noun. False if
        the first is a verb.
        """
        if words[0].casefold() in VERBS:
            return False
        return self.inside(" ".join(words)) > (word_kind(words[0]) == "other")

    def _is_within(self, words: Sequence[str]) -> bool:
        """True if the document has these words, capitalised, within a sentence, and the first is no verb: then the
        first word is part of the name.
        """
        return words[0].casefold() not in VERBS and self.inside(" ".join(words)) > 0

    def _is_modifier(self, name: str) -> bool:
        """True if an ordinary noun always follows the name: "the CUDA GPG key"."""
        text, at, found = self.prose, self.prose.find(name), False
        while at >= 0:
            # `find` is many times faster than a pattern that begins with the boundary of a word.
            behind = None if at and _WORD_CHAR.match(text, at - 1) else _BEHIND.match(text, at + len(name))
            if behind is not None:
                if behind[1] is None or word_kind(behind[1]) != "noun":
                    return False
                found = True
            at = text.find(name, behind.end() if behind is not None else at + 1)
        return found

    def _is_phrase(self, words: Sequence[str]) -> bool:
        """True if several words are one name: not all are ordinary, or the document has them within a sentence."""
        if any(is_identifier(word) for word in words if word[0].isalnum()) or len(words[-1]) == 1:
            return False
        kinds = ["name" if _is_acronym(word) else word_kind(word) for word in words]
        if kinds[-1] == "other" and not words[-1].isupper():
            return self.inside(" ".join(words)) > 1
        # Two plain words may be a person: "the Frantz Fanon books".
        is_plain = all(kind == "name" and word[1:].islower() for kind, word in zip(kinds, words, strict=True))
        if len(words) == 2 and not is_plain and self._is_modifier(" ".join(words)):
            return False
        if "name" in kinds:
            return len(words[0]) > 1 or kinds[1] == "name" or words[0].endswith(".")
        # Ordinary words that are always part of a longer run are cut from it: "Generation Publishing".
        return self._is_title(words) and self.is_run(" ".join(words))

    def _is_name(self, word: str) -> bool:
        """True if a single word is to be kept as a name."""
        if len(word) < _SHORTEST and word.casefold() not in ACRONYMS_OF_TWO:
            return False
        kind = word_kind(word)
        if kind == "other" or is_identifier(word) or self.is_code(word) or word.casefold() in VAGUE_NOUNS:
            return False
        if _INITIALS.fullmatch(word):
            return False
        if kind == "noun":
            return not word.isupper() and self.inside(word) >= _OFTEN and not self.is_small(word)
        if word.isupper():
            return len(word) <= _LONGEST_ACRONYM
        if not word[1:].islower() and word[0].islower():
            return True
        if not word[1:].islower():
            # Made of ordinary words, as WorkingDirectory, it may be an option or a class.
            ordinary = all(word_kind(hump) != "name" for hump in _HUMPS.findall(word))
            return not ordinary or self.inside(word) > 0
        return self.inside(word) > 0 and not self.is_small(word)
