"""Measures of how similar two short texts are, from 0 to 1. Each is pure and symmetric."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping

_SOUNDS = {
    letter: digit
    for digit, letters in (("1", "bfpv"), ("2", "cgjkqsxz"), ("3", "dt"), ("4", "l"), ("5", "mn"), ("6", "r"))
    for letter in letters
}


def levenshtein(a: str, b: str) -> float:
    """Returns 1 minus the edit distance divided by the length of the longer text.

    >>> round(levenshtein("kitten", "sitting"), 4), levenshtein("", ""), levenshtein("a", "")
    (0.5714, 1.0, 0.0)
    """
    if not a or not b:
        return float(a == b)
    return 1 - _edits(a, b) / max(len(a), len(b))


def is_misspelling(a: str, b: str) -> bool:
    """True if both have the same number of words, and each word differs from its counterpart by at most one letter: by
    at most two if the longer one has 7 letters or more, by none if it has fewer than 4.

    >>> [is_misspelling(a, b) for a, b in (("ana", "anna"), ("steven ash", "stephen ash"), ("ann", "jon"))]
    [True, True, False]
    """
    ours, theirs = a.split(), b.split()
    if len(ours) != len(theirs) or not ours:
        return False
    return all(x == y or _edits(x, y) <= _slips(max(len(x), len(y))) for x, y in zip(ours, theirs, strict=True))


def _slips(letters: int) -> int:
    """Returns how many letters of a name may be wrong, by its length."""
    return 2 if letters >= 7 else 1 if letters >= 4 else 0


def _edits(a: str, b: str) -> int:
    """Returns the edit distance, computed a column at a time with bit operations (Myers 1999, Hyyrö 2003).

    Bit n of `more` and `less` is set if the table entry of letter n of `a` is 1 more or 1 less than the entry above.
    """
    positions: dict[str, int] = {}
    for n, letter in enumerate(a):
        positions[letter] = positions.get(letter, 0) | 1 << n
    whole, last, edits = (1 << len(a)) - 1, 1 << len(a) - 1, len(a)
    more, less = whole, 0
    for letter in b:
        same = positions.get(letter, 0)
        level = (((same & more) + more) ^ more) | same | less
        right, back = less | ~(level | more) & whole, more & level
        edits += bool(right & last) - bool(back & last)
        right = right << 1 | 1
        more = (back << 1 | ~(level | right)) & whole
        less = right & level & whole
    return edits


def jaro_winkler(a: str, b: str) -> float:
    """Returns the Jaro-Winkler similarity: letters in common and in order, more for a common prefix (Winkler 1990).

    >>> round(jaro_winkler("martha", "marhta"), 4), round(jaro_winkler("dixon", "dicksonx"), 4), jaro_winkler("", "")
    (0.9611, 0.8133, 1.0)
    """
    jaro = _jaro(a, b)
    prefix = 0
    while prefix < min(4, len(a), len(b)) and a[prefix] == b[prefix]:
        prefix += 1
    return jaro + 0.1 * prefix * (1 - jaro)


def _jaro(a: str, b: str) -> float:
    if a == b:
        return 1.0
    reach = max(max(len(a), len(b)) // 2 - 1, 0)
    taken = [False] * len(b)
    ours: list[str] = []
    for i, x in enumerate(a):
        for j in range(max(i - reach, 0), min(i + reach + 1, len(b))):
            if not taken[j] and b[j] == x:
                taken[j] = True
                ours.append(x)
                break
    if not ours:
        return 0.0
    theirs = [y for j, y in enumerate(b) if taken[j]]
    swapped = sum(x != y for x, y in zip(ours, theirs, strict=True)) / 2
    same = len(ours)
    return (same / len(a) + same / len(b) + (same - swapped) / same) / 3


def token_overlap(a: str, b: str) -> float:
    """Returns the number of words in common, divided by the number of words of the shorter text.

    >>> token_overlap("the old mill", "mill road"), token_overlap("", ""), token_overlap("a", "")
    (0.5, 1.0, 0.0)
    """
    ours, theirs = set(a.split()), set(b.split())
    if not ours or not theirs:
        return float(ours == theirs)
    return len(ours & theirs) / min(len(ours), len(theirs))


def phonetic(a: str, b: str) -> float:
    """Returns 1 if all words have the same Soundex codes, else 0. Meant for names.

    >>> phonetic("robert smyth", "rupert smith"), phonetic("robert", "alice")
    (1.0, 0.0)
    """
    return float(soundex(a) == soundex(b))


def soundex(text: str) -> list[str]:
    """Returns the Soundex code of each word: a letter and three digits.

    >>> soundex("Robert Ashcraft Tymczak Pfister")
    ['r163', 'a261', 't522', 'p236']
    """
    plain = unicodedata.normalize("NFKD", text.casefold())
    return [_sound(word) for word in plain.split() if word]


def _sound(word: str) -> str:
    letters = [letter for letter in word if letter.isalnum()]
    if not letters:
        return ""
    digits, last = "", _SOUNDS.get(letters[0], "")
    for letter in letters[1:]:
        digit = _SOUNDS.get(letter, "")
        if digit and digit != last:
            digits += digit
        # Two letters with the same digit count twice if a vowel is between them, but not if h or w is.
        if letter not in "hw":
            last = digit
    return f"{letters[0]}{digits}000"[:4]


MEASURES: Mapping[str, Callable[[str, str], float]] = {
    "levenshtein": levenshtein,
    "jaro_winkler": jaro_winkler,
    "token_overlap": token_overlap,
    "phonetic": phonetic,
}
