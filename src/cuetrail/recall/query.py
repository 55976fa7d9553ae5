"""Parses a cue: words, quoted phrases, filters and dates, without the words that only wrap a question.

>>> parse_cue("what is the latest state of the #radio antenna?", Where()).query.words
'state antenna?'
>>> now = 1_700_000_000_000  # Tuesday 14 November 2023
>>> [str(span) for span in read_dates("What did we plan yesterday, and what in May?", now)[0]]
['2023-11-13 to 2023-11-13', '2023-05-01 to 2023-05-31']
>>> [str(span) for span in read_dates("Who called on 20230807 or two weeks ago?", now)[0]]
['2023-08-07 to 2023-08-07', '2023-10-28 to 2023-11-03']
>>> [str(span) for span in read_dates("What came two weeks before 11 August, and what is next Friday?", now)[0]]
['2023-07-25 to 2023-07-31', '2023-11-17 to 2023-11-17']
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta

from cuetrail.formulas import DAY
from cuetrail.model import TextQuery, Where
from cuetrail.text import names
from cuetrail.text.normalise import clean, norm_tag, pieces
from cuetrail.text.word_lists import (
    ASKING_WORDS,
    CATCH_ALL_WORDS,
    FUNCTION_WORDS,
    MONTHS,
    NON_NOUNS,
    NUMBER_WORDS,
    SEASON_STARTS,
    UNIT_DAYS,
    WEEKDAYS,
)

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


# --- dates: a day, a month, a season, a year, "two weeks ago", "since May"

# Bounds of the distance from a span at which nearness is one half; people often tell of events a little later.
LEAST_DRIFT, MOST_DRIFT = 1 * DAY, 14 * DAY
# A cue with more dates is not about any of them.
MOST_SPANS = 4
LONGEST_DATED = 2_000

_MONTH = "(?P<month>" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY_OF_MONTH = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_COUNT = r"(?P<count>\d{1,3}|" + "|".join(sorted(NUMBER_WORDS, key=len, reverse=True)) + ")"
_UNIT = r"(?P<unit>day|week|month|year)s?"
_RECENT = r"(?:last|past|previous)"
_WITHIN = "(?:in|over|during|within)"
_NO_YEAR = "(?P<year>(?!))?"
_SEASON = "(?P<season>" + "|".join(SEASON_STARTS) + ")"
_TIME_WORD = (
    "(?:"
    + "|".join(rf"(?<=\b{word} )" for word in ("in", "since", "during", "until", "before", "after"))
    + r"|\b(?P<last>last)\s|\bthis\s|\b(?:early|mid|late)[\s-])"
)


@dataclass(frozen=True, slots=True)
class Span:
    """A span of time in UTC milliseconds: `start` is inside, `end` is not."""

    start: int
    end: int

    def nearness(self, at: int) -> float:
        """Returns 1 for a time inside the span, and less the farther a time is outside.

        The value halves with every half of the span's length, taken as at least 1 and at most 14 days.

        >>> Span(0, DAY).nearness(DAY // 2), Span(0, DAY).nearness(2 * DAY - 1)
        (1.0, 0.5)
        """
        if self.start <= at < self.end:
            return 1.0
        away = self.start - at if at < self.start else at - self.end + 1
        drift = min(max((self.end - self.start) // 2, LEAST_DRIFT), MOST_DRIFT)
        return float(0.5 ** (away / drift))

    def __str__(self) -> str:
        first, last = (datetime.fromtimestamp(ms / 1000, UTC).date() for ms in (self.start, self.end - 1))
        return f"{first} to {last}"


def read_dates(cue: str, now: int) -> tuple[list[Span], str]:
    """Returns the spans of time that a cue names, in order, and the cue with these dates blanked out.

    With more than MOST_SPANS dates, returns no spans and the whole cue. A date without a year is the latest one up to
    now. Only the first LONGEST_DATED characters are read.
    """
    try:
        today = datetime.fromtimestamp(now / 1000, UTC).date()
    except (ValueError, OverflowError, OSError):
        # `now` is outside the calendar.
        return [], cue
    found: list[tuple[int, Span]] = []
    rest = cue[:LONGEST_DATED]
    for pattern, to_days in _FORMS:
        for match in pattern.finditer(rest):
            days = _days(to_days, match, today)
            if days is not None:
                found.append((match.start(), _extended(Span(_ms(days[0]), _ms(days[1])), match, cue, now)))
                # Blank what was read, so that the year of a day is not read again as a year.
                rest = rest[: match.start()] + "\0" * (match.end() - match.start()) + rest[match.end() :]
    found.sort(key=lambda pair: pair[0])
    return ([span for _, span in found], rest + cue[LONGEST_DATED:]) if len(found) <= MOST_SPANS else ([], cue)


def _extended(span: Span, match: re.Match[str], cue: str, now: int) -> Span:
    """Returns the span, changed by the words before it, such as "since", "until" or "two weeks before"."""
    if (offset := _OFFSET.search(cue, 0, match.start())) is not None and offset.end() == match.start():
        return _shifted(span, offset)
    before = _BOUND.search(cue, 0, match.start())
    if before is None or before.end() != match.start():
        return span
    word = before[1].lower()
    if word in ("since", "after"):
        return Span(span.start if word == "since" else span.end, max(now + 1, span.end + 1))
    return Span(0, span.start if word == "before" else span.end)


_BOUND = re.compile(r"\b(since|after|before|until)\s+$", re.IGNORECASE)


def _shifted(span: Span, offset: re.Match[str]) -> Span:
    """Returns the span, one unit long, at an offset such as "two weeks before" from the given span: its middle day is
    that far before the first day, or after the last day, of the given span.

    Without a number, as in "the week before" or "the week after", it adjoins the given span.
    """
    days = UNIT_DAYS[offset["unit"].lower()]
    is_before = offset["side"].lower() == "before"
    if offset["count"] is None:
        return Span(span.start - days * DAY, span.start) if is_before else Span(span.end, span.end + days * DAY)
    away = _count(offset) * days
    middle = span.start - away * DAY if is_before else span.end + (away - 1) * DAY
    return Span(middle - days // 2 * DAY, middle + (days - days // 2) * DAY)


_OFFSET = re.compile(rf"\b(?:{_COUNT}|the)\s+{_UNIT}\s+(?P<side>before|after)\s+$", re.IGNORECASE)
Days = tuple[date, date]
"""The first day, and the day after the last."""


def _days(to_days: Callable[[re.Match[str], date], Days], match: re.Match[str], today: date) -> Days | None:
    try:
        return to_days(match, today)
    except (ValueError, OverflowError):
        return None


def _ms(day: date) -> int:
    return (day.toordinal() - _EPOCH_DAY) * DAY


_EPOCH_DAY = date(1970, 1, 1).toordinal()


def _some_days(first: date, count: int = 1) -> Days:
    return first, first + timedelta(count)


def _months(year: int, month: int, count: int = 1) -> Days:
    last = year * 12 + month - 1 + count
    return date(year, month, 1), date(last // 12, last % 12 + 1, 1)


def _month_of(match: re.Match[str]) -> int:
    return MONTHS[match["month"].lower()]


def _exact(match: re.Match[str], _today: date) -> Days:
    return _some_days(date(int(match["year"]), int(match["m"]), int(match["day"])))


def _dated(match: re.Match[str], today: date) -> Days:
    """Returns the day of a date such as "12 April 2023"; without a year, the latest such day up to today."""
    month, day = _month_of(match), int(match["day"])
    if match["year"]:
        return _some_days(date(int(match["year"]), month, day))
    years = (today.year - back for back in range(5))
    return _some_days(next(found for found in _existing(years, month, day) if found <= today))


def _existing(years: Iterator[int], month: int, day: int) -> Iterator[date]:
    """Yields this month and day in each of the years; 29 February only in leap years."""
    for year in years:
        if (month, day) != (2, 29) or (year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)):
            yield date(year, month, day)


def _month(match: re.Match[str], today: date) -> Days:
    month = _month_of(match)
    if match["year"]:
        return _months(int(match["year"]), month)
    # "Last May" is never the current month.
    now = today.month - (1 if match["last"] else 0)
    return _months(today.year if month <= now else today.year - 1, month)


def _month_of_year(match: re.Match[str], today: date) -> Days:
    return _months(today.year - (1 if match["which"].lower() == "last" else 0), _month_of(match))


def _month_in_numbers(match: re.Match[str], _today: date) -> Days:
    return _months(int(match["year"]), int(match["m"]))


def _season(match: re.Match[str], today: date) -> Days:
    begins = SEASON_STARTS[match["season"].lower()]
    if match["year"]:
        return _months(int(match["year"]), begins, 3)
    year = today.year if begins <= today.month else today.year - 1
    found = _months(year, begins, 3)
    # "Last summer" is never the current season.
    return _months(year - 1, begins, 3) if match["last"] and today < found[1] else found


def _year(match: re.Match[str], _today: date) -> Days:
    return _months(int(match["year"]), 1, 12)


def _day_ago(match: re.Match[str], today: date) -> Days:
    words = match[0].lower()
    back = {"the day before yesterday": 2, "yesterday": 1, "last night": 1, "tomorrow": -1}.get(words, 0)
    return _some_days(today - timedelta(back))


def _weekday(match: re.Match[str], today: date) -> Days:
    back = (today.weekday() - WEEKDAYS.index(match["weekday"].lower())) % 7
    return _some_days(today + timedelta(7 - back) if match["next"] else today - timedelta(back or 7))


def _ago(match: re.Match[str], today: date) -> Days:
    """Returns the days that "three weeks ago" names: one unit (here a week) around the day so long ago."""
    unit = UNIT_DAYS[match["unit"].lower()]
    return _some_days(today - timedelta(_count(match) * unit + unit // 2), unit)


def _half_a_year_ago(_match: re.Match[str], today: date) -> Days:
    return _some_days(today - timedelta(182 + 30), 60)


def _recent(match: re.Match[str], today: date) -> Days:
    days = _count(match) * UNIT_DAYS[match["unit"].lower()]
    return today - timedelta(days), today + timedelta(1)


def _count(match: re.Match[str]) -> int:
    count = (match["count"] or "one").lower()
    return int(count) if count.isdigit() else NUMBER_WORDS[count]


def _period(match: re.Match[str], today: date) -> Days:
    """Returns this, the last or the next calendar week, weekend, month or year."""
    back = {"this": 0, "next": -1}.get(match["which"].lower(), 1)
    monday = today - timedelta(today.weekday() + 7 * back)
    period = match["period"].lower()
    if period == "week":
        return _some_days(monday, 7)
    if period == "weekend":
        return _some_days(monday + timedelta(5), 2)
    if period == "year":
        return _months(today.year - back, 1, 12)
    months = today.year * 12 + today.month - 1 - back
    return _months(months // 12, months % 12 + 1)


_FORMS: Sequence[tuple[re.Pattern[str], Callable[[re.Match[str], date], Days]]] = [
    (re.compile(form, re.IGNORECASE), to_days)
    for form, to_days in (
        (rf"(?<![\d.-]){_YEAR}(?P<sep>[-/.]?)(?P<m>\d\d)(?P=sep)(?P<day>\d\d)(?![\d-])", _exact),
        (rf"(?<![\w.])(?P<day>\d{{1,2}})\.(?P<m>\d{{1,2}})\.{_YEAR}\b", _exact),
        (rf"(?<![\w.-]){_YEAR}-(?P<m>0[1-9]|1[0-2])(?![\w-])", _month_in_numbers),
        (rf"(?<!\w){_DAY_OF_MONTH}\s+(?:of\s+)?{_MONTH}(?:,?\s+(?:of\s+)?{_YEAR}\b)?", _dated),
        (rf"(?<!\w){_MONTH}\s+(?:the\s+)?{_DAY_OF_MONTH}\b(?:,?\s+(?:of\s+)?{_YEAR}\b)?", _dated),
        (rf"(?<!\w)(?P<last>last\s+)?{_MONTH},?\s+(?:of\s+|in\s+)?{_YEAR}\b", _month),
        (rf"(?<!\w){_MONTH},?\s+(?:of\s+)?(?P<which>last|this)\s+year\b", _month_of_year),
        (rf"\b(?P<which>last|this)\s+year,?\s+in\s+{_MONTH}", _month_of_year),
        # Without a year "may" and "march" are months only behind words such as "in" and "last".
        (rf"{_TIME_WORD}\s*{_MONTH}{_NO_YEAR}", _month),
        (rf"\b{_SEASON}\s+(?:of\s+)?{_YEAR}\b", _season),
        (rf"\b(?:(?P<last>last|past)|this|{_WITHIN}(?:\s+the)?)\s+{_SEASON}\b(?!\s+of\b){_NO_YEAR}", _season),
        (r"\bhalf\s+a\s+year\s+ago\b", _half_a_year_ago),
        (rf"\b{_COUNT}\s+{_UNIT}\s+(?:ago|before\s+now|back)\b", _ago),
        (rf"\b{_WITHIN}\s+the\s+{_RECENT}\s+(?:{_COUNT}\s+)?{_UNIT}\b", _recent),
        (rf"\b{_RECENT}\s+{_COUNT}\s+{_UNIT}\b", _recent),
        (rf"\bpast\s+(?P<count>(?!))?{_UNIT}\b", _recent),
        (r"\b(?P<which>this|last|past|previous|next)\s+(?P<period>weekend|week|month|year)\b", _period),
        (r"\b(?:the day before yesterday|yesterday|tomorrow|today|tonight|last night|this morning)\b", _day_ago),
        (r"\b(?:last|this|past|on|(?P<next>next))\s+(?P<weekday>" + "|".join(WEEKDAYS) + r")\b", _weekday),
        (rf"(?:\bmid-|(?<![\w.,/-])){_YEAR}(?![\w/-])", _year),
    )
]  # fmt: skip
