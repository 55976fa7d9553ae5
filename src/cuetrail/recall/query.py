"""A cue, taken apart: words, quoted phrases, filters; without what only wraps a question; and the words that name.

>>> parse_cue("what is the latest state of the #radio antenna?", Where()).query.words
'state antenna?'
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from cuetrail.model import TextQuery, Where
from cuetrail.text import names
from cuetrail.text.normalise import clean, norm_tag, pieces
from cuetrail.text.word_lists import FUNCTION_WORDS, NON_NOUNS

# Stands between the two ends of a cue that is too long: white space, and no phrase goes across it.
_GAP = "\x1f"
_QUOTES = '"“”„‟«»＂「」『』'
_PHRASE = re.compile(f"[{_QUOTES}]([^{_QUOTES}{_GAP}]*)[{_QUOTES}]")
_TAG = re.compile(r"(?<!\S)[(\[{]*#([^\s#@\"]+)")
_BUCKET = re.compile(r"(?<!\S)[(\[{]*(?:@|bucket:)([^\s#@\"]+)")
# One star, at the very end and behind letters: "**bold**" is no beginning of a word.
_BEGUN = re.compile(r"([^\s*]*\w)\*")
_WORD = re.compile(r"\w+")
_STOPS = ".,;:!?)]}'…。！？"
_EDGES = string.punctuation + "“”‘’«»‹›„…·–—¿¡。！？、，"
# Function words that are names too where they are written as one.
_ALSO_NAMES = frozenset({"an", "do", "he", "will"})
# In capitals they are what other search engines understand, not names.
_OPERATORS = frozenset({"AND", "NOT", "OR"})
# More words than this in capitals, or with one each, are a way of writing and no names.
_MOST_CAPITALS = 3
# How people begin to ask. What such a beginning says is said to whoever is asked, not about what is asked for.
_WRAPPERS = re.compile(
    r"""\s*+(?:
      (?:hey|hi|hello|okay|ok|so|well|please|now)\b(?!-\w)[\s,.!:;-]+
    | (?:can|could|would|will)\s+(?:you|we|i)\s+(?:please\s+|kindly\s+)?
    | (?:i|we)(?:'d|’d|\s+would)\s+like\s+(?:you\s+)?to\b
    | (?:i|we)\s+(?:want|need|wish|have)\s+(?:you\s+)?to\s+(?=know|see|hear|learn|find|remember|recall|tell|understand)
    | (?:i'm|i’m|i\s+am|we're|we’re|we\s+are)\s+(?:looking\s+for|wondering|trying\s+to\s+(?=find|remember|recall))\b
    | (?:tell|show|give|remind|get|bring|send|find|help)\s+(?-i:[Mm]e|[Uu]s)\b
    | let\s+(?:me|us)\s+know\b
    | (?:know|see|hear|learn|remember|recall|understand|find)\s+(?:out\b|(?=about\b|of\b|what\b|how\b|who\b|the\b))
    | (?:search|look)\s+(?:for|up)\b
    | (?:do|did)\s+(?:you|we|i)\s+(?:know|remember|recall|have)\b
    | what\s+(?:do\s+|did\s+)?(?:you|we|i)\s+(?:know|remember|have)\b
    | (?:everything|anything|something|all|more|some|any)\s+(?:info|information|details|news|notes|that|there\s+is)\b
    | (?:everything|anything|something|more|info|information|details|news|(?:any\s+)?updates?|(?:the\s+)?latest)\s+
      (?=about\b|on\b|regarding\b|concerning\b)
    | (?:about|on|of|regarding|concerning|if|whether)\b(?![-/]\w)
    | (?:what|who|where|when|how)(?:'s|’s|\s+is|\s+are|\s+was|\s+were)\b
    | (?:what|how)\s+about\b
    | (?:the|my|our|any)\s+(?:very\s+)?(?:latest|newest|most\s+recent|up[ -]to[ -]date)\b
    | (?:the|my|our)\s+current\s+(?=state\b|status\b|version\b|situation\b)
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_CLOSERS = re.compile(
    r"(?:[\s,]+(?:please|thanks|thank\s+you|for\s+me|right\s+now|at\s+the\s+moment)){1,3}[\s.!?]*$", re.IGNORECASE
)
# Beside a tag or bucket all that these say is that it is asked for.
_ASKS = re.compile(
    r"""\s*(?:
      (?:(?:show|list|find|get|see)\s+)?(?:all|everything|anything|something)
    | what\s+(?:has\s+|have\s+)?happened
    | (?:what(?:'s|’s|\s+is)|anything|something)\s+(?:new|up|going\s+on)
    | any\s+(?:news|updates?)
    | remember | recall | thanks | thank\s+you | right\s+now
    )(?:\s+(?:about|at|for|from|in|of|on|to|with))?[\s,.!?]*""",
    re.VERBOSE | re.IGNORECASE,
)
_DATE = re.compile(
    r"""\d{4}(?:[-/.]\d{1,2}){0,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}(?:st|nd|rd|th)?|q[1-4]
    |(?:jan|febr)uary|march|april|may|june|july|august|(?:septem|octo|novem|decem)ber
    |(?:mon|tues|wednes|thurs|fri|satur|sun)day|spring|summer|autumn|winter|today|yesterday|tomorrow""",
    re.VERBOSE | re.IGNORECASE,
)
# Whatever a cue holds, it must not take long: it is read, and looked for, no further than this.
# A cue of 300 words has about 2,000 characters; of a longer one than LONGEST_CUE both ends are read.
LONGEST_CUE = 10_000
_LAST = 2_500
MOST_WORDS, MOST_DIFFERENT = 600, 300
_MOST_WORDS = f"{MOST_WORDS} words, {MOST_DIFFERENT} of them different"
# To see whether common words stand one behind the other takes the longer the more of them there are.
MOST_QUOTED = 16
_MOST_QUOTED = f"{MOST_QUOTED} words in quotes"
# Of so many, repeats say nothing.
MANY_WORDS = 100
MOST_FILTERS = 16
"""Tags, buckets and phrases, of each."""
# Who puts more than half a page into a cue does not ask by names.
LONGEST_NAMED = 1_000
_MOST_WRAPPERS = 12
_LONGEST_CLOSER = 100


@dataclass(frozen=True, slots=True)
class Cue:
    """A query, taken apart: words, quoted phrases, and the filters written as #tag, @bucket or bucket:x.

    `raw` is as much of it as is read. `notices` say what of it was left out.
    """

    raw: str
    query: TextQuery
    where: Where
    notices: tuple[str, ...] = ()


def parse_cue(raw: str, where: Where, fuzzy: bool = False) -> Cue:
    """Never raises; an empty cue has no words. A last word that ends in * stands for all that begin so."""
    notices: list[str] = []
    raw = _ends(raw, notices)
    rest = clean(raw.replace("\x00", " "))
    phrases = _few("phrases", filter(None, map(str.strip, _PHRASE.findall(rest))), notices)
    rest = _PHRASE.sub(" ", rest)
    if "#" in rest:
        tags = _few("tags", map(_name, _TAG.findall(rest)), notices)
        where = replace(where, tags=tuple(dict.fromkeys(where.tags + tags)))
        rest = _TAG.sub(" ", rest)
    if "@" in rest or "bucket:" in rest:
        buckets = _few("buckets", map(_name, _BUCKET.findall(rest)), notices)
        where = replace(where, buckets=tuple(dict.fromkeys(where.buckets + buckets)))
        rest = _BUCKET.sub(" ", rest)
    phrases = _bounded(phrases, MOST_QUOTED, MOST_QUOTED, _MOST_QUOTED, notices)
    (rest,) = _bounded((rest,), MOST_WORDS, MOST_DIFFERENT, _MOST_WORDS, notices)
    rest, begun = _begun(rest)
    words = _telling(rest, alone=not (begun or phrases or where.tags or where.buckets))
    if len(words) > MANY_WORDS:
        words = list(dict.fromkeys(words))
    words += [begun] if begun else []
    query = TextQuery(" ".join(words), tuple(filter(None, phrases)), bool(begun), fuzzy)
    return Cue(raw, query, where, tuple(notices))


def _ends(raw: str, notices: list[str]) -> str:
    """The cue as far as it is read: whole, or its beginning and its end, where filters often stand."""
    if len(raw) <= LONGEST_CUE:
        return raw
    notices.append(f"a cue is read up to {LONGEST_CUE:,} characters; of this one only the beginning and the end were")
    # No word is read in half, unless there is but one.
    first = raw[: LONGEST_CUE - _LAST].rsplit(None, 1)
    last = raw[-_LAST:].split(None, 1)
    return _GAP.join((*first[:1], *last[1:]))


def _few(what: str, found: Iterable[str], notices: list[str]) -> tuple[str, ...]:
    """The first MOST_FILTERS different ones that are not empty."""
    kept: dict[str, None] = {}
    for one in found:
        if one and len(kept) == MOST_FILTERS and one not in kept:
            notices.append(f"a cue has at most {MOST_FILTERS} {what}; those from {one!r:.60} on were left out")
            break
        if one:
            kept[one] = None
    return tuple(kept)


def _bounded(texts: tuple[str, ...], most: int, different: int, what: str, notices: list[str]) -> tuple[str, ...]:
    """The texts up to so many words in all and so many different ones; those behind are empty."""
    if sum(map(len, texts)) <= different:
        return texts
    words: set[str] = set()
    left = most
    for at, text in enumerate(texts):
        for match in pieces(text):
            words.add(match[0])
            left -= 1
            if left < 0 or len(words) > different:
                notices.append(f"a cue has at most {what}; those from {match[0]!r:.60} on were left out")
                return (*texts[:at], text[: match.start()].strip(), *[""] * (len(texts) - at - 1))
    return texts


def _begun(words: str) -> tuple[str, str]:
    """The words without the last one if that only begins one, and its beginning."""
    if not words.rstrip().endswith("*"):
        return words, ""
    last = words.split()[-1]
    match = _BEGUN.fullmatch(last)
    return (words[: words.rindex(last)], match[1]) if match else (words, "")


def unwrapped(words: str) -> str:
    """A question without what wraps it; as it is where nothing would be left.

    >>> unwrapped("Hey, can you tell me what we know about the antenna please?"), unwrapped("tell me")
    ('the antenna', 'tell me')
    """
    rest = _inside(words)
    return rest if any(map(_says, _beside_joints(rest))) else words


def _inside(words: str, asks: re.Pattern[str] | None = None) -> str:
    """What a question's wrapping has in it, perhaps nothing; nothing if that does no more than these ask."""
    near = max(0, len(words) - _LONGEST_CLOSER)
    rest = words[:near] + _CLOSERS.sub("", words[near:])
    start = 0
    for _ in range(_MOST_WRAPPERS):
        if asks is not None and asks.fullmatch(rest, start):
            return ""
        found = _WRAPPERS.match(rest, start)
        if found is None:
            break
        start = found.end()
    return rest[start:].strip()


def _telling(words: str, alone: bool = True) -> list[str]:
    """The words that tell something. When none does: all of them, or none where they do not stand alone.

    >>> _telling("what is the capital of France?"), _telling("the who"), _telling("what is the WHO budget")
    (['capital', 'France?'], ['the', 'who'], ['WHO', 'budget'])
    >>> _telling("show me"), _telling("show me", alone=False), _telling("The Who", alone=False)
    (['show'], [], ['The', 'Who'])
    """
    inside = unwrapped(words) if alone else _inside(words, _ASKS)
    kept = _without_joints(inside)
    if any(map(_says, kept)):
        return kept
    return words.split() if alone else _title(inside.split())


def _title(words: list[str]) -> list[str]:
    """Function words that are written as a title or a name, such as The Who and Will; else none."""
    is_one = all(word[0].isupper() and word not in _OPERATORS for word in words)
    return words if is_one and (len(words) > 1 or _bare("".join(words)) in _ALSO_NAMES) else []


def _says(word: str) -> bool:
    return any(map(str.isalnum, word))


def _without_joints(words: str) -> list[str]:
    """The words but for those that only join others.

    >>> _without_joints("flights to the US"), _without_joints("Will Smith"), _without_joints("will it rain")
    (['flights', 'US'], ['Will', 'Smith'], ['rain'])
    """
    return list(_beside_joints(words))


def _beside_joints(words: str) -> Iterator[str]:
    said = words.split()
    plain = len(said) > _MOST_CAPITALS and (words.isupper() or words.istitle())
    for at, word in enumerate(said):
        if _bare(word) not in FUNCTION_WORDS or (not plain and not word.islower() and _is_name(said, at)):
            yield word


def _is_name(words: list[str], at: int) -> bool:
    """Whether a function word is written as a name: IT, WHO; Will inside a sentence, or before another name."""
    word = words[at].strip(_EDGES)
    if word.isupper():
        return len(word) > 1 and word not in _OPERATORS
    if word.lower() not in _ALSO_NAMES:
        return False
    if at and words[at - 1][-1] not in ".!?:":
        return True
    after = words[at + 1] if at + 1 < len(words) else ""
    # "Will Smith called", but not "Will Smith call?"
    return after[:1].isupper() and _bare(after) not in FUNCTION_WORDS and not words[-1].endswith("?")


def nouns(cue: Cue) -> str:
    """The words of a cue that name something, and its dates: all but known verbs, adjectives and adverbs.

    >>> nouns(parse_cue("Why did Hanne quickly decide to take the count on 12 April?", Where()))
    'Hanne count 12 April?'
    """
    return " ".join(word for word in cue.query.words.split() if _is_date(word) or not _is_no_noun(_bare(word)))


def proper_nouns(cue: Cue) -> str:
    """The words of a cue that are part of a name, and its dates.

    >>> proper_nouns(parse_cue("why did Hanne move the count to 12 April?", Where()))
    'Hanne 12 April?'
    """
    (found,) = names.find([clean(cue.raw[:LONGEST_NAMED])])
    parts = {part for name in found for part in _WORD.findall(name.lower())}
    words = cue.query.words.split()
    return " ".join(word for word in words if _is_date(word) or not parts.isdisjoint(_WORD.findall(word.lower())))


def _is_date(word: str) -> bool:
    return _DATE.fullmatch(_bare(word)) is not None


def _bare(word: str) -> str:
    return word.strip(_EDGES).lower()


def _is_no_noun(word: str) -> bool:
    return word in NON_NOUNS or (len(word) > 4 and word.endswith("ly"))


def looked_for(cue: Cue) -> tuple[str, ...]:
    """What a cue asks for, each once: phrases, words, and the filters that hold, as they are written in a cue."""
    filters = (*(f"#{tag}" for tag in cue.where.tags), *(f"@{bucket}" for bucket in cue.where.buckets))
    words = (word.strip(_EDGES) or word for word in cue.query.words.split())
    return tuple(dict.fromkeys((*cue.query.phrases, *words, *filters)))


def _name(found: str) -> str:
    """A tag or bucket as it is stored; what ends the sentence is not part of the name."""
    return norm_tag(found.rstrip(_STOPS))
