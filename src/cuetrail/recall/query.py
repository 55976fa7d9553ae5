"""Parses a cue: words, quoted phrases and filters, without the words that only wrap a question.

`dates_in_query` reads the dates in it.

>>> parse_cue("what is the latest state of the #radio antenna?", Where()).query.words
'state antenna?'
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from cuetrail.model import TextQuery, Where
from cuetrail.text import names
from cuetrail.text.normalise import clean, norm_tag, pieces
from cuetrail.text.word_lists import ASKING_WORDS, CATCH_ALL_WORDS, FUNCTION_WORDS, NON_NOUNS

# Joins the two ends of a cue that is too long: white space that no phrase crosses.
_GAP = "\x1f"
_QUOTES = '"“”„‟«»＂「」『』'
_PHRASE = re.compile(f"[{_QUOTES}]([^{_QUOTES}{_GAP}]*)[{_QUOTES}]")
_TAG = re.compile(r"(?<!\S)[(\[{]*#([^\s#@\"]+)")
_BUCKET = re.compile(r"(?<!\S)[(\[{]*(?:@|bucket:)([^\s#@\"]+)")
# A word prefix: one star, at the very end and behind letters, so not "**bold**".
_PREFIX = re.compile(r"([^\s*]*\w)\*")
_WORD = re.compile(r"\w+")
_STOPS = ".,;:!?)]}'…。！？"
_EDGES = string.punctuation + "“”‘’«»‹›„…·–—¿¡。！？、，"
# Function words that are also names, if capitalised.
_ALSO_NAMES = frozenset({"an", "do", "he", "will"})
# In capitals these are operators of other search engines, not names.
_OPERATORS = frozenset({"AND", "NOT", "OR"})
# In a longer text that is all capitalised, capitals do not mark names.
_MOST_CAPITALS = 3
# How people begin a question. These words are not about its topic.
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
# Beside a tag or bucket these words only ask for it.
_ASKS_FOR_LABEL = re.compile(
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
# Limits that keep any cue fast. 300 words are about 2,000 characters. Of a longer cue both ends are read.
LONGEST_CUE = 10_000
_LAST = 2_500
MOST_WORDS, MOST_DIFFERENT = 600, 300
_MOST_WORDS = f"{MOST_WORDS} words, {MOST_DIFFERENT} of them different"
# Phrase search takes longer with every word.
MOST_QUOTED = 16
_MOST_QUOTED = f"{MOST_QUOTED} words in quotes"
# In longer cues repeated words count once.
MANY_WORDS = 100
MOST_FILTERS = 16
"""The most tags, the most buckets and the most phrases of a cue."""
# Names are only looked for in the first characters.
LONGEST_NAMED = 1_000
_MOST_WRAPPERS = 12
_LONGEST_CLOSER = 100


@dataclass(frozen=True, slots=True)
class Cue:
    """A parsed cue: the text query, and filters including those written as #tag, @bucket or bucket:x.

    `raw` is the text that was read. `notices` say which parts were left out.
    """

    raw: str
    query: TextQuery
    where: Where
    notices: tuple[str, ...] = ()


def parse_cue(raw: str, where: Where, fuzzy: bool = False) -> Cue:
    """Returns the parsed cue, with the filters in its text added to `where`. Never raises.

    A final `word*` becomes a prefix: it matches every word that begins with `word`. `fuzzy` allows for typos.
    """
    notices: list[str] = []
    raw = _shortened(raw, notices)
    rest = clean(raw.replace("\x00", " "))
    phrases = _first_filters("phrases", filter(None, map(str.strip, _PHRASE.findall(rest))), notices)
    rest = _PHRASE.sub(" ", rest)
    if "#" in rest:
        tags = _first_filters("tags", map(_name, _TAG.findall(rest)), notices)
        where = replace(where, tags=tuple(dict.fromkeys(where.tags + tags)))
        rest = _TAG.sub(" ", rest)
    if "@" in rest or "bucket:" in rest:
        buckets = _first_filters("buckets", map(_name, _BUCKET.findall(rest)), notices)
        where = replace(where, buckets=tuple(dict.fromkeys(where.buckets + buckets)))
        rest = _BUCKET.sub(" ", rest)
    phrases = _bounded(phrases, MOST_QUOTED, MOST_QUOTED, _MOST_QUOTED, notices)
    (rest,) = _bounded((rest,), MOST_WORDS, MOST_DIFFERENT, _MOST_WORDS, notices)
    rest, prefix = _split_prefix(rest)
    words = _content_words(rest, alone=not (prefix or phrases or where.tags or where.buckets))
    if len(words) > MANY_WORDS:
        words = list(dict.fromkeys(words))
    words += [prefix] if prefix else []
    query = TextQuery(" ".join(words), tuple(filter(None, phrases)), bool(prefix), fuzzy)
    return Cue(raw, query, where, tuple(notices))


def question_text(cue: Cue) -> str:
    """Returns the cue as it was asked, without the filters in it.

    >>> question_text(parse_cue("what is the state of the antenna @camp #radio ?", Where()))
    'what is the state of the antenna ?'
    """
    rest = clean(cue.raw.replace("\x00", " ").replace(_GAP, " "))
    return " ".join(_BUCKET.sub(" ", _TAG.sub(" ", rest)).split())


def _shortened(raw: str, notices: list[str]) -> str:
    """Returns the cue; if it has more than LONGEST_CUE characters, its beginning and its end, with a new notice.

    The end is kept because filters are often there.
    """
    if len(raw) <= LONGEST_CUE:
        return raw
    notices.append(f"a cue is read up to {LONGEST_CUE:,} characters; of this one only the beginning and the end were")
    # Words are not cut in two, unless there is only one.
    first = raw[: LONGEST_CUE - _LAST].rsplit(None, 1)
    last = raw[-_LAST:].split(None, 1)
    return _GAP.join((*first[:1], *last[1:]))


def _first_filters(what: str, found: Iterable[str], notices: list[str]) -> tuple[str, ...]:
    """Returns the first MOST_FILTERS distinct values that are not empty; adds a notice if there are more.

    `what` names the values in that notice.
    """
    kept: dict[str, None] = {}
    for one in found:
        if one and len(kept) == MOST_FILTERS and one not in kept:
            notices.append(f"a cue has at most {MOST_FILTERS} {what}; those from {one!r:.60} on were left out")
            break
        if one:
            kept[one] = None
    return tuple(kept)


def _bounded(texts: tuple[str, ...], most: int, different: int, what: str, notices: list[str]) -> tuple[str, ...]:
    """Returns the texts cut after `most` words in all or `different` distinct ones; texts behind the cut are empty.

    If anything is cut, adds a notice in which `what` states the limit.
    """
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


def _split_prefix(words: str) -> tuple[str, str]:
    """Returns the words without a final `word*`, and that prefix; "" if there is none."""
    if not words.rstrip().endswith("*"):
        return words, ""
    last = words.split()[-1]
    match = _PREFIX.fullmatch(last)
    return (words[: words.rindex(last)], match[1]) if match else (words, "")


def unwrap_question(words: str) -> str:
    """Returns a question without phrases such as "tell me" and "please", or unchanged if nothing would be left.

    >>> unwrap_question("Hey, can you tell me what we know about the antenna please?"), unwrap_question("tell me")
    ('the antenna', 'tell me')
    """
    rest = _without_wrappers(words)
    return rest if any(map(_has_letters, _without_function_words(rest))) else words


def _without_wrappers(words: str, empty: re.Pattern[str] | None = None) -> str:
    """Returns a question without the phrases that only ask, such as "tell me about" before it and "please" behind it.

    Returns "" if what is left at any step matches `empty`.
    """
    near = max(0, len(words) - _LONGEST_CLOSER)
    rest = words[:near] + _CLOSERS.sub("", words[near:])
    start = 0
    for _ in range(_MOST_WRAPPERS):
        if empty is not None and empty.fullmatch(rest, start):
            return ""
        found = _WRAPPERS.match(rest, start)
        if found is None:
            break
        start = found.end()
    return rest[start:].strip()


def _content_words(words: str, alone: bool = True) -> list[str]:
    """Returns the words that a search can use: no function words, and no phrases that only ask.

    If no such word is left: with `alone` (the cue has no phrase, prefix or filter) all words, else a title or [].

    >>> _content_words("what is the capital of France?"), _content_words("the who"), _content_words("the WHO budget")
    (['capital', 'France?'], ['the', 'who'], ['WHO', 'budget'])
    >>> _content_words("show me"), _content_words("show me", alone=False), _content_words("The Who", alone=False)
    (['show'], [], ['The', 'Who'])
    """
    inside = unwrap_question(words) if alone else _without_wrappers(words, _ASKS_FOR_LABEL)
    content = list(_without_function_words(inside))
    if any(map(_has_letters, content)):
        return content
    return words.split() if alone else _title(inside.split())


def _title(words: list[str]) -> list[str]:
    """Returns the words if they are capitalised as a title or a name, such as The Who and Will; else [].

    All of them are function words.
    """
    is_one = all(word[0].isupper() and word not in _OPERATORS for word in words)
    return words if is_one and (len(words) > 1 or _bare("".join(words)) in _ALSO_NAMES) else []


def _has_letters(word: str) -> bool:
    return any(map(str.isalnum, word))


def _without_function_words(text: str) -> Iterator[str]:
    """Yields the words that are not function words, and those that are written as names.

    >>> [list(_without_function_words(text)) for text in ("flights to the US", "Will Smith", "will it rain")]
    [['flights', 'US'], ['Will', 'Smith'], ['rain']]
    """
    words = text.split()
    all_capitals = len(words) > _MOST_CAPITALS and (text.isupper() or text.istitle())
    for at, word in enumerate(words):
        if _bare(word) not in FUNCTION_WORDS or (not all_capitals and not word.islower() and _is_name(words, at)):
            yield word


def _is_name(words: list[str], at: int) -> bool:
    """True if a function word is written as a name: IT, WHO; Will inside a sentence or before another name."""
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
    """Returns the nouns and dates of a cue: all words but known verbs, adjectives and adverbs.

    >>> nouns(parse_cue("Why did Hanne quickly decide to take the count on 12 April?", Where()))
    'Hanne count 12 April?'
    """
    return " ".join(word for word in cue.query.words.split() if _is_date(word) or not _is_other_word(_bare(word)))


def proper_nouns(cue: Cue) -> str:
    """Returns the words of a cue that are part of a name, and its dates.

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


def _is_other_word(word: str) -> bool:
    return word in NON_NOUNS or (len(word) > 4 and word.endswith("ly"))


def query_terms(cue: Cue) -> tuple[str, ...]:
    """Returns the phrases, words and filters of a cue, each once, filters written as #tag and @bucket."""
    filters = (*(f"#{tag}" for tag in cue.where.tags), *(f"@{bucket}" for bucket in cue.where.buckets))
    words = (word.strip(_EDGES) or word for word in cue.query.words.split())
    return tuple(dict.fromkeys((*cue.query.phrases, *words, *filters)))


def _name(found: str) -> str:
    """Returns a tag or bucket of a cue in its stored form, without punctuation at its end."""
    return norm_tag(found.rstrip(_STOPS))


# --- the form of the answer: a number, a length of time, an order


# Words for the form of the answer stay if fewer others would be left: they may be the topic.
_FEWEST_WORDS = 2
_ANSWER_FORM = re.compile(
    r"""\b(?:
      how\s+(?:many|much|long|often|old|far)(?:\s+(?:times|(?:minute|hour|day|week|month|year)s)(?!\s+of\b))?
    | (?:the\s+)?(?:(?:total|combined|average|overall|whole|exact)\s+)*(?:number|amount|percentage|sum|order)\s+of
    | (?:the\s+)?(?:total|combined|overall)(?:\s+(?:number|amount|sum|cost|price|time))?
    | in\s+total | altogether | (?:happened|came|occurred)\s+(?:first|last|earlier|later)
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)


def without_answer_form(raw: str, words: Sequence[str]) -> list[str]:
    """Returns `words` without those that only say which form the answer has, such as "how many" or "total amount of".

    `raw` is the whole cue. The words come back unchanged if fewer than two would be left.

    >>> without_answer_form("How many model kits have I bought?", ["many", "model", "kits", "bought?"])
    ['model', 'kits', 'bought?']
    >>> without_answer_form("What is the total amount I spent on bikes?", ["total", "amount", "spent", "bikes?"])
    ['spent', 'bikes?']
    >>> without_answer_form("total amount", ["total", "amount"])
    ['total', 'amount']
    """
    form = Counter(word for found in _ANSWER_FORM.finditer(raw) for word in _WORD.findall(found[0].lower()))
    if not form:
        return list(words)
    rest = []
    for word in words:
        bare = "".join(_WORD.findall(word.lower()))
        if form[bare] > 0:
            form[bare] -= 1
        else:
            rest.append(word)
    return rest if len(rest) >= _FEWEST_WORDS else list(words)


# A longer cue has no topic as a whole.
LONGEST_TOPIC = 200
_AROUND_TOPIC = " \t\n?!.,;:\"'“”‘’«»"


def asks_for_anything(cue: str) -> bool:
    """True if a cue, given without its dates, names no topic.

    >>> [asks_for_anything(cue) for cue in ("What happened in", "what did we do", "what did Hanne do")]
    [True, True, False]
    """
    return all(word in FUNCTION_WORDS or word in CATCH_ALL_WORDS for word in _WORD.findall(cue.lower()))


def possible_topics(cue: str) -> list[str]:
    """Returns the cue, and its parts without some or all of the words at both ends that only ask, longest first.

    Any of them may be the name of the cue's topic.

    >>> possible_topics("What about the Grey Heron?")[-3:]
    ['the Grey Heron', 'Grey Heron?', 'Grey Heron']
    """
    words = cue[:LONGEST_TOPIC].split()
    first = next((i for i, word in enumerate(words) if not only_asks(word)), len(words))
    last = next((i for i in range(len(words), first, -1) if not only_asks(words[i - 1])), len(words))
    spans = [" ".join(words[i:j]) for i in range(first + 1) for j in range(last, len(words) + 1)]
    bare = [span.strip(_AROUND_TOPIC) for span in spans]
    return sorted(dict.fromkeys(span for span in (*spans, *bare) if span), key=len, reverse=True)


def only_asks(word: str) -> bool:
    """True for a word of a question that says nothing about its topic, such as "what", "the" or "show"."""
    plain = word.strip(_AROUND_TOPIC).lower()
    return plain in FUNCTION_WORDS or plain in CATCH_ALL_WORDS or plain in ASKING_WORDS
