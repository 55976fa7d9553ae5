"""Normalises names, tags and queries, and analyses texts into the terms that are indexed and searched.

Index and query share the analyser, in all engines.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import tantivy


MOST_TOPICS, LONGEST_TOPIC = 8, 200
ABOUT, KNOWN_AS = "about", "known_as"
"""The properties with the names that a text is known by: those it begins with, and others that a dream found."""
_SPACE = re.compile(r"\s+")
_ASCII_JUNK = re.compile(r"[^A-Za-z0-9\s]+")
# Scripts written without spaces. Each character counts as a word, so that any part of a sentence can be found.
_UNSPACED_CHARS = (
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
)
_UNSPACED = re.compile(f"([{_UNSPACED_CHARS}])")
_PIECE = re.compile(rf"[{_UNSPACED_CHARS}]|[^\W_{_UNSPACED_CHARS}]+")


def clean(text: str) -> str:
    """Returns the text as it is stored: no BOM, no NUL, LF line ends, NFC, no lone surrogates."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isascii():
        return text.replace("\x00", "") if "\x00" in text else text
    text = text.replace("\ufeff", "").replace("\x00", "")
    return unicodedata.normalize("NFC", text.encode("utf-8", "ignore").decode("utf-8"))


# Letters with a stroke and ligatures, which Unicode normalisation does not decompose.
_STROKES = str.maketrans(
    {"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "ħ": "h", "Ħ": "H", "ı": "i",
     "þ": "th", "Þ": "Th", "æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe"}
)  # fmt: skip


def folded(text: str) -> str:
    """Returns a name for comparison without regard to accents and case: no marks, casefolded, single spaces.

    >>> folded("  Málaga  CAFÉ "), folded("Straße"), folded("Øyvind Łaska"), folded("東京")
    ('malaga cafe', 'strasse', 'oyvind laska', '東京')
    """
    if not text.isascii():
        text = "".join(c for c in unicodedata.normalize("NFKD", clean(text)) if not unicodedata.combining(c))
        text = text.translate(_STROKES)
    return norm_name(text)


def name_words(name: str) -> frozenset[str]:
    """Returns the words of a name without accents and case.

    >>> sorted(name_words("The JACQ-Project, Málaga"))
    ['jacq', 'malaga', 'project', 'the']
    """
    return frozenset(piece[0] for piece in pieces(folded(name)))


def storable(text: str) -> bool:
    """True if the text can be encoded as UTF-8. A text with a lone surrogate cannot, so it is no stored id.

    >>> storable("é"), storable("\\ud800")
    (True, False)
    """
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def sanitize_query(query: str, ascii: bool = False) -> str:
    """Returns the query in lower case with letters, digits and single spaces only. It may be empty. Never raises.

    >>> sanitize_query("arXiv.org"), sanitize_query("C++ (2025)"), sanitize_query("#tag @b snake_case")
    ('arxiv org', 'c 2025', 'tag b snake case')
    """
    query = clean(query)
    if ascii or query.isascii():
        query = _ASCII_JUNK.sub(" ", query)
    else:
        query = "".join(c if c.isalnum() or unicodedata.category(c)[0] == "M" else " " for c in query)
    return _SPACE.sub(" ", query).strip().lower()


def analysable(text: str) -> str:
    """Returns the text with spaces between the characters of scripts such as Chinese, as the analyser needs it."""
    # `sub` is ten times as slow as split and join.
    return text if text.isascii() else " ".join(_UNSPACED.split(unicodedata.normalize("NFC", text)))


def pieces(text: str) -> Iterator[re.Match[str]]:
    """Yields matches for about the same words as the analyser finds in a text.

    >>> [piece[0] for piece in pieces("snake_case at 東京")]
    ['snake', 'case', 'at', '東', '京']
    """
    return _PIECE.finditer(text)


def is_unspaced(text: str) -> bool:
    """True if the text has characters of a script that is written without spaces.

    >>> is_unspaced("東京 tower"), is_unspaced("tower")
    (True, False)
    """
    return not text.isascii() and _UNSPACED.search(text) is not None


def norm_name(name: str) -> str:
    """Returns the key under which a name is looked up: NFC, casefolded, single spaces.

    >>> norm_name("  Project  JACQ "), norm_name("Straße")
    ('project jacq', 'strasse')
    """
    folded = name.casefold() if name.isascii() else unicodedata.normalize("NFC", clean(name).casefold())
    return " ".join(folded.replace("\x00", "").split())


def is_block_name(norm: str) -> bool:
    """True for the normalised name of a block: `note#^id` of Obsidian, `((id))` of outliners, `id:...` of org.

    >>> is_block_name("plan#^a1"), is_block_name("((65f0a1))"), is_block_name("the plan")
    (True, True, False)
    """
    return "#^" in norm or norm.startswith("id:") or (norm.startswith("((") and norm.endswith("))"))


# Tags repeat, so results are cached.
@lru_cache(maxsize=65536)
def norm_tag(tag: str) -> str:
    """Returns the normal form of a tag: NFC, casefolded, trimmed, no leading # or @, underscores for spaces.

    >>> norm_tag(" #Machine  Learning "), norm_tag("@Work")
    ('machine_learning', 'work')
    """
    return norm_name(norm_name(tag).lstrip("#@")).replace(" ", "_")


def names_of(name: str | None, aliases: Iterable[str]) -> frozenset[str]:
    """Returns a node's name and aliases, normalised: the node is found under each of them."""
    return _norm_names(name or "", *aliases)


# Cached, because every dream needs the names of all nodes.
@lru_cache(maxsize=65_536)
def _norm_names(*names: str) -> frozenset[str]:
    return frozenset(norm for norm in map(norm_name, names) if norm)


def topic_names(props: Mapping[str, Any]) -> list[str]:
    """Returns what a text is known by: the names in its properties `about` and `known_as`."""
    lists = [value for key in (ABOUT, KNOWN_AS) if isinstance(value := props.get(key), list)]
    names = [name for some in lists for name in some[:MOST_TOPICS]]
    return [name for name in names if isinstance(name, str) and len(name) <= LONGEST_TOPIC]


def has_topics(props: Mapping[str, Any]) -> bool:
    """True if a text may be known by names of its own."""
    return ABOUT in props or KNOWN_AS in props


def topics_of(props: Mapping[str, Any]) -> frozenset[str]:
    """Returns what a text is known by, normalised, also without "the"."""
    norms = _norm_names(*topic_names(props))
    return norms | frozenset(short for norm in norms if (short := norm.removeprefix("the ")))


def words_in_names(name: str | None, aliases: Iterable[str]) -> set[str]:
    """Returns the words of a node's name and aliases: a search for similar names finds the node by them."""
    return {word for one in (name or "", *aliases) for word in name_words(one)}


def one_line(text: str) -> str:
    """Returns the text on one line, with single spaces."""
    return " ".join(text.split())


def snippet(text: str, width: int = 80) -> str:
    """Returns the beginning of a text on one line, cut at a word to at most `width` characters."""
    line = one_line(text)
    if len(line) <= width:
        return line
    cut = line[: width - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[width // 2 :] else cut) + "…"


# --- the analyser

LONGEST_TOKEN = 255
# BM25 divides by the mean length of a field. Counting missing titles as empty would make every title look long if few
# memories have one; they count as three words that no query has.
MISSING_FIELD = "_ _ _"
# The index has stems, and no stem begins with "runnin". A prefix without matches is retried with up to 4 letters less.
ENDING = 4
SHORTEST_STEM = 3

# Results of case folding that the analyser treats as different letters: ς becomes σ, the sign µ becomes μ. Rare ones
# (nine old Cyrillic letters, ﬅ for st) are left out, because many names have the letters they fold to.
_FOLDED_TO = re.compile("[βεθικμπρσφեինխւ\u02bc\u02be\u0307ṡ]")
# A word begins with its stem, except for the last letters of a stem that ends like this: die, dying; happi, happy;
# probabl, probability; sky, skies. The number says how many letters may differ.
_ALTERED = {"e": 2, "i": 1, "l": 1, "y": 1}
_PUNCTUATION_TO_SPACE = {code: " " for code in range(128) if not chr(code).isalnum()}


def make_analyser() -> tantivy.TextAnalyzer:
    """Returns the analyser of index and query: Unicode words, lower case, accents removed, English stems."""
    import tantivy

    return _whole_words().filter(tantivy.Filter.stemmer("english")).build()


def _whole_words() -> tantivy.TextAnalyzerBuilder:
    import tantivy

    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for step in (tantivy.Filter.remove_long(LONGEST_TOKEN), tantivy.Filter.lowercase(), tantivy.Filter.ascii_fold()):
        builder = builder.filter(step)
    return builder


@cache
def _analysers() -> tuple[tantivy.TextAnalyzer, tantivy.TextAnalyzer]:
    return make_analyser(), _whole_words().build()


def terms_of(text: str) -> list[str]:
    """Returns the index terms of a text in order, with repeats."""
    return _analysers()[0].analyze(analysable(clean(text)))


def indexed_terms(text: str) -> str:
    """Returns the index terms of a title or heading, separated by spaces; of an empty one MISSING_FIELD.

    >>> indexed_terms("Cold Connectors"), indexed_terms("")
    ('cold connector', '_ _ _')
    """
    return " ".join(terms_of(text)) or MISSING_FIELD


def unique_terms(*texts: str) -> list[str]:
    """Returns the index terms of texts, each once, in alphabetical order.

    >>> unique_terms("old friend", "Friends since school")
    ['friend', 'old', 'school', 'sinc']
    """
    return sorted(set(terms_of("\n".join(texts))))


def unstemmed(text: str) -> list[str]:
    """Returns the words of a text analysed like index terms, but without stemming."""
    return _analysers()[1].analyze(analysable(clean(text)))


def word_beginnings(text: str) -> Iterator[str]:
    """Yields the last word of a text, which may be unfinished, then the word without its last letter, without its last
    two, and so on: stemming may have removed these from the indexed words.
    """
    last = (unstemmed(text) or [""])[-1]
    for start in (last[: len(last) - less] for less in range(ENDING + 1)):
        if not start or (start != last and len(start) < SHORTEST_STEM):
            return
        yield start


class Terms:
    """Query terms to look for in texts. A fast check of word beginnings rules out most texts that lack them.

    >>> die_cast, texts = Terms(["die", "cast"]), ("Dying birds", "They cast it, and died.", "An indie forecast")
    >>> [(die_cast.any_in(text), die_cast.all_in(text)) for text in texts]
    [(True, False), (True, True), (False, False)]
    """

    __slots__ = ("_starts", "_terms")

    def __init__(self, terms: Iterable[str]) -> None:
        self._terms = frozenset(terms)
        self._starts = [f" {term[: len(term) - _ALTERED.get(term[-1], 0)]}" for term in self._terms]

    def any_in(self, text: str) -> bool:
        """True if the text contains at least one of the terms."""
        return self._may_be_in(text, any) and not self._terms.isdisjoint(terms_of(text))

    def all_in(self, text: str) -> bool:
        """True if the text contains every term."""
        return self._may_be_in(text, all) and self._terms.issubset(terms_of(text))

    def _may_be_in(self, text: str, enough: Callable[[Iterable[bool]], bool]) -> bool:
        # Analysing a text takes ten times as long as this check. Texts with accents are left to the analyser.
        if not text.isascii():
            return True
        words = f" {text.lower().translate(_PUNCTUATION_TO_SPACE)}"
        return enough([start in words for start in self._starts])


def is_findable(norm: str) -> bool:
    """True if a search for the terms of this normalised name finds every text that contains the name as whole words.

    >>> is_findable("ada lovelace"), is_findable("josé"), is_findable("東京"), is_findable("λογοσ")
    (True, True, True, False)
    """
    return norm.isascii() or _FOLDED_TO.search(norm) is None


def searchable_text(name: str | None, aliases: Collection[str], text: str) -> str:
    """Returns the text under which a node is indexed: its name, its aliases and its text, one per line."""
    if not name and not aliases:
        return text
    return "\n".join([*([name] if name else []), *aliases, *([text] if text else [])])
