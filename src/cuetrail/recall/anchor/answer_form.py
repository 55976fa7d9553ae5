"""What an answer is to look like, as a cue says it: a number, a length of time, an order. No memory is about that.

>>> asked_about("How many model kits have I bought?", ["many", "model", "kits", "bought?"])
['model', 'kits', 'bought?']
>>> asked_about("What is the total amount I spent on bike lights?", ["total", "amount", "spent", "bike", "lights?"])
['spent', 'bike', 'lights?']
>>> asked_about("total amount", ["total", "amount"])
['total', 'amount']
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from cuetrail.text.word_lists import CATCH_ALL_WORDS, FUNCTION_WORDS

# With fewer words left, those that say what the answer looks like may be what is looked for.
_LEAST = 2
_FORM = re.compile(
    r"""\b(?:
      how\s+(?:many|much|long|often|old|far)(?:\s+(?:times|(?:minute|hour|day|week|month|year)s)(?!\s+of\b))?
    | (?:the\s+)?(?:(?:total|combined|average|overall|whole|exact)\s+)*(?:number|amount|percentage|sum|order)\s+of
    | (?:the\s+)?(?:total|combined|overall)(?:\s+(?:number|amount|sum|cost|price|time))?
    | in\s+total | altogether | (?:happened|came|occurred)\s+(?:first|last|earlier|later)
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_WORD = re.compile(r"\w+")


def asked_about(raw: str, words: Sequence[str]) -> list[str]:
    """The words of a cue without those that say what its answer looks like; all where hardly any would be left."""
    form = Counter(word for found in _FORM.finditer(raw) for word in _WORD.findall(found[0].lower()))
    if not form:
        return list(words)
    kept = []
    for word in words:
        bare = "".join(_WORD.findall(word.lower()))
        if form[bare] > 0:
            form[bare] -= 1
        else:
            kept.append(word)
    return kept if len(kept) >= _LEAST else list(words)


def asks_nothing(cue: str) -> bool:
    """Whether a cue, the times it names aside, asks for whatever there is.

    >>> asks_nothing("What happened in"), asks_nothing("what did we do"), asks_nothing("what did Hanne do")
    (True, True, False)
    """
    return all(word in FUNCTION_WORDS or word in CATCH_ALL_WORDS for word in _WORD.findall(cue.lower()))
