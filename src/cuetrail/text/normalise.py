"""Normalises names, tags and queries, and prepares texts for the analyser."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

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
    """Returns the text with unspaced scripts split into characters, as the analyser needs it."""
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


# Tags repeat, so results are cached.
@lru_cache(maxsize=65536)
def norm_tag(tag: str) -> str:
    """Returns the normal form of a tag: NFC, casefolded, trimmed, no leading # or @, underscores for spaces.

    >>> norm_tag(" #Machine  Learning "), norm_tag("@Work")
    ('machine_learning', 'work')
    """
    return norm_name(norm_name(tag).lstrip("#@")).replace(" ", "_")


def snippet(text: str, width: int = 80) -> str:
    """Returns the beginning of a text on one line, cut at a word to at most `width` characters."""
    line = " ".join(text.split())
    if len(line) <= width:
        return line
    cut = line[: width - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[width // 2 :] else cut) + "…"
