"""Facts in texts by rules: fields, "X is a Y", "X uses Y", "I prefer ...", dated decisions.

>>> [(t.subject, t.predicate, t.value) for t in find("JACQ uses DuckDB and Next.js. I live in Oslo.", title="Plan")]
[('JACQ', 'uses', 'DuckDB'), ('JACQ', 'uses', 'Next.js'), ('user', 'lives_in', 'Oslo')]

Rather nothing than something wrong: questions, conditions, negations, hearsay and what was once are passed over, and a
single word at the start of a sentence is taken for a name only where its shape, the text or the verb tells.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cuetrail.extract.fact_words import (
    ASIDES,
    BARE,
    COMPARED,
    END,
    I_DO,
    JOINTS,
    NAMED_PLACES,
    NO_SUBJECT,
    NO_VALUE,
    OPINIONS,
    PLACE_NAME,
    PLACED,
    POINTED_AT,
    PROPOSALS,
    SPOKEN_TO,
    THEY_DO,
    TIMES,
)
from cuetrail.text import dates, names, sentences
from cuetrail.text.markup import prose_only
from cuetrail.text.normalise import clean, norm_tag

USER = "user"
FIELD, DECISION, SURE, FAIR = 0.95, 0.9, 0.9, 0.75
"""How sure the rules are: of fields, of dated decisions, of what people say of themselves, and of others."""

MOST = 50
_LONGEST_VALUE = 80
_MOST_WORDS = 8
_SHORT = 4
# Fields that say something of the file, not of what it is about.
_NO_FACTS = frozenset(
    {
        "alias", "aliases", "author", "bucket", "buckets", "categories", "category", "created", "cssclass",
        "cssclasses", "date", "draft", "format", "id", "lang", "layout", "modified", "permalink", "publish",
        "published", "slug", "tag", "tags", "title", "uid", "updated", "uuid",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Triple:
    """Something a text states. `at` is when it says that this began, None where it does not say."""

    subject: str
    predicate: str
    value: str
    confidence: float
    at: int | None = None


def from_fields(fields: Mapping[str, Any], title: str) -> list[Triple]:
    """What frontmatter states of its note: a fact for each text in its fields.

    >>> from_fields({"status": "draft", "uses": ["DuckDB"], "tags": ["x"], "level": 3}, "JACQ")[0].value
    'draft'
    """
    found = []
    for name, given in fields.items():
        predicate = norm_tag(str(name))
        for value in given if isinstance(given, list) else [given]:
            said = _plain(value) if isinstance(value, str) else ""
            if predicate and predicate not in _NO_FACTS and said and len(said) <= _LONGEST_VALUE:
                found.append(Triple(title, predicate, said, FIELD))
    return found[:MOST]


def find(text: str, *, title: str | None = None, speaker: str = USER, known: Iterable[str] = ()) -> list[Triple]:
    """What a text states, in its order. `title` is what its fields and decisions are about, `speaker` who "I" is, empty
    if nobody knows, and `known` are names that the document has elsewhere.
    """
    if not _TELLING.search(text):
        return []
    prose = prose_only(clean(text))
    found: dict[tuple[str, str, str], Triple] = {}
    named = _Named(text, (*known, title) if title is not None else known)
    if title is not None:
        for triple in _fields(prose, title):
            found.setdefault((triple.subject, triple.predicate, triple.value), triple)
    for sentence in _sentences(prose):
        for triple in _stated(sentence, title, speaker, named):
            found.setdefault((triple.subject, triple.predicate, triple.value), triple)
    return list(found.values())[:MOST]


# What every sentence has that a rule fits; most texts are passed over by it, in a tenth of the time.
_TELLING = re.compile(
    r"::|\b(?:I|I['’]m|[Mm]y|uses?|using|(?:is|are) (?:an?|the)|lives? in|works? (?:on|at|for|with)|prefers?|likes?"
    r"|loves?|supports|depends on|runs on|is based in|is located in|was born in|[Dd]ecided|[Aa]greed|chose|[Rr]esolved"
    r"|[Dd]ecision|DECI(?:DED|SION)|AGREED|RESOLVED)\b"
)


class _Named:
    """The names that go with a text; those in it are looked for when the first is asked for."""

    def __init__(self, text: str, known: Iterable[str]) -> None:
        self._text, self._known = text, known
        self._all: frozenset[str] | None = None

    def __contains__(self, name: object) -> bool:
        if self._all is None:
            inside = (name for some in names.find([self._text]) for name in some)
            self._all = frozenset(one.casefold() for one in (*self._known, *inside))
        return str(name).casefold() in self._all


# --- fields

_LINE_FIELD = re.compile(
    r"^[ \t]*+(?:[-*+][ \t]++(?:\[[ xX]\][ \t]++)?+)?+\**(\w[\w \-]{0,40}?)\**::[ \t]++(\S[^\n]{0,200})$", re.MULTILINE
)
_IN_BRACKETS = re.compile(r"[\[(](\w[\w \-]{0,40}?)::[ \t]++([^\[\]()\n]{1,200})[\])]")


def _fields(text: str, title: str) -> Iterator[Triple]:
    """`key:: value` on a line of its own, or in brackets."""
    if "::" not in text:
        return
    for pattern in (_LINE_FIELD, _IN_BRACKETS):
        for match in pattern.finditer(text):
            predicate, value = norm_tag(match[1]), _plain(match[2])
            if predicate not in _NO_FACTS and value and len(value) <= _LONGEST_VALUE:
                yield Triple(title, predicate, value, FIELD)


# --- sentences

_MARKS = re.compile(r"^[ \t]*+(?:>[ \t]?|[-*+][ \t]++(?:\[[ xX]\][ \t]++)?|\d{1,3}[.)][ \t]++|#{1,6}[ \t]++)++")
# What makes a sentence say something else than that it is so.
_DOUBT = re.compile(
    r"\?|[\"“”„]|\b(?:if|whether|unless|would|could|should|might|may|maybe|perhaps|probably|possibly|supposedly|apparently"
    r"|allegedly|not|never|no longer|nobody|hardly|don't|doesn't|didn't|isn't|aren't|wasn't|won't|wouldn't|can't|cannot"
    r"|used to|wish|imagine|suppose|pretend|think|thought|believe|guess|seems?|heard|said|says|claims?|asked|told"
    r"|according to|rumou?rs?|reportedly|hopefully|supposed to|let's say|assuming|in case|as soon as|stopped|almost"
    r"|nearly|joking|kidding)\b",
    re.IGNORECASE,
)
_FIELD_LINE = re.compile(r"^\S[^\n]{0,60}::")


def _sentences(text: str) -> Iterator[str]:
    """The sentences of a text without the marks of lists and quotes; those that are in doubt are left out."""
    for paragraph in re.split(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*+>#]|\d{1,3}[.)])[ \t])", text):
        bare = _MARKS.sub("", paragraph)
        for sentence in sentences.split(" ".join(bare.split())):
            said = sentence.strip().replace("’", "'")
            if (
                6 <= len(said) <= 400
                and _TELLING.search(said)
                and not _DOUBT.search(said)
                and not _FIELD_LINE.match(said)
            ):
                yield said


_WORD = r"[A-Z][\w.+#&'-]*"
_NAME = rf"(?:The )?{_WORD}(?: (?:{_WORD}|\d[\w.]*|of|de|van|von|the))*"
_NOW = r"(?:now |also |still |currently |mainly |mostly |really |generally |usually )?"
_OPENING = r"(?:\w+(?: \w+)?, |And |But |So )?"
_IS_A = re.compile(rf"^({_NAME}),? (?:is|are) (?:a|an|the) (\w[^;:!]*)$")
_WHO_IS = r"(?:, (?:an?|the|our|my|his|her|their) [^,]{3,40},)?"
_USES = re.compile(rf"^({_NAME}|I){_WHO_IS} {_NOW}(?:uses?|is using|am using) (.+)$")
_BOTH = re.compile(
    rf"^({_WORD}(?: {_WORD})?) and ({_WORD}(?: {_WORD})?) {_NOW}"
    r"(use|live in|work on|work at|work for|prefer|like|love) (.+)$"
)
_DOES = re.compile(rf"^({_NAME}){_WHO_IS} {_NOW}({THEY_DO}) (.+)$")
_I_DO = re.compile(rf"^{_OPENING}I {_NOW}({I_DO}) (.+)$")
# Where a sentence goes on with another verb, of the same one or of "I".
_AND_I = re.compile(rf",? (?:and|but) (?=I {_NOW}(?:{I_DO}) |(?:I'm|I am) an? )")
_AND_DO = re.compile(rf",? (?:and|but) (?={_NOW}(?:{I_DO}) )")
_AND_DOES = re.compile(rf",? (?:and|but) (?={_NOW}(?:{THEY_DO}|uses|is an?|is the) )")
_SPEAKS = re.compile(rf"^{_OPENING}I(?:'m| )")
_OF_ONE = re.compile(rf"^({_NAME}){_WHO_IS} {_NOW}(?:{THEY_DO}|uses|is an?|is the) ")
_I_AM = re.compile(rf"^{_OPENING}(?:I'm|I am) (?=an? [a-z])(.+)$")
_MY = re.compile(
    rf"^{_OPENING}[Mm]y (name|email|birthday|hometown|job|employer|favou?rite [a-z]+(?: [a-z]+)?|timezone|dog|cat|wife"
    r"|husband|partner|boss|manager)(?:'s name)? is (.+)$"
)
_DECIDED = re.compile(
    r"^(?:Decided|Agreed|Resolved|Chose) (?:to |on |that )?(?P<alone>.+)$"
    r"|\b(?:we|We|I|team|board|committee|group|council|crew|management|they|They|[A-Z]\w+)(?: have| has)?"
    r" (?:decided|agreed|chose|resolved) (?:to |on |that )?(?P<said>.+)$"
)
_DECISION = re.compile(r"^\W*(?:Decision|Decided|Resolved|Agreed)\b[^:]{0,30}:\s*(.+)$", re.IGNORECASE)
_DATE = re.compile(r"\b(\d{4}-\d{2}-\d{2})\b")
_DATED = re.compile(r"\(?(?:\bon )?\b\d{4}-\d{2}-\d{2}\b\)?", re.IGNORECASE)

_LIST = re.compile(r",? and |, ")
_ARTICLE = re.compile(r"^(?:a|an|the) ", re.IGNORECASE)
_UNDECIDED = ("nothing", "anything", "it", "this", "yet", "soon", "later")
_PREDICATES = {
    "live in": "lives_in", "is based in": "based_in", "is located in": "located_in", "work on": "works_on",
    "work at": "works_at", "work for": "works_at", "works for": "works_at", "work as": "works_as",
    "prefer": "prefers", "like": "likes", "love": "likes", "loves": "likes", "enjoy": "likes", "hate": "dislikes",
    "dislike": "dislikes", "use": "uses", "own": "owns", "speak": "speaks", "study": "studies",
    "was born in": "born_in",
}  # fmt: skip


def _stated(sentence: str, title: str | None, speaker: str, named: Container[str]) -> Iterator[Triple]:
    """What one sentence states: by the first rule that fits."""
    about = title or speaker
    if about and (decided := _decision(sentence, about)) is not None:
        yield decided
        return
    for clause in _clauses(sentence):
        found = list(_of_me(clause, speaker, named))
        yield from found or _of_others(clause, speaker, named)


def _clauses(sentence: str) -> Iterator[str]:
    """The sentence, in so many as it has verbs that are of one who is named once.

    >>> list(_clauses("I work on Wingbeat and live in Oslo")), list(_clauses("Ada Holm uses Vim and likes tea"))
    (['I work on Wingbeat', 'I live in Oslo'], ['Ada Holm uses Vim', 'Ada Holm likes tea'])
    """
    for part in _AND_I.split(sentence):
        one = _OF_ONE.match(part)
        who, joint = ("I", _AND_DO) if _SPEAKS.match(part) else (one[1], _AND_DOES) if one else ("", None)
        first, *others = joint.split(part) if joint else [part]
        yield first
        yield from (f"{who} {other}" for other in others)


def _decision(sentence: str, about: str) -> Triple | None:
    """A decision with a date."""
    date = _DATE.search(sentence)
    at = dates.parse(date[1]) if date else None
    if at is None:
        return None
    bare = " ".join(_DATED.sub(" ", sentence).split()).strip(" ,:-")
    match = _DECISION.match(bare) or _DECIDED.search(bare)
    value = _plain(next(filter(None, match.groups()), "")) if match else ""
    if not 3 <= len(value) <= 200 or value.casefold().split()[0] in _UNDECIDED:
        return None
    return Triple(about, "decided", value, DECISION, int(at))


def _of_me(sentence: str, speaker: str, _named: Container[str]) -> Iterator[Triple]:
    """What somebody says of himself."""
    if not speaker:
        return
    if match := _I_DO.match(sentence):
        yield from _done(speaker, _PREDICATES[match[1]], match[2], SURE)
    elif match := _MY.match(sentence):
        of, values = match[1], list(_values(match[2]))
        yield from (Triple(speaker, norm_tag(of), value, SURE) for value in values if _fits(of, value))
    elif match := _I_AM.match(sentence):
        yield from (Triple(speaker, "is_a", value, SURE) for value in _kinds(match[1]))


def _of_others(sentence: str, speaker: str, named: Container[str]) -> Iterator[Triple]:
    """What is said of something that has a name."""
    if match := _USES.match(sentence):
        subject = speaker or None if match[1] == "I" else _subject(match[1], named, telling=True)
        yield from _done(subject, "uses", match[2], SURE if match[1] == "I" else FAIR)
    elif match := _DOES.match(sentence):
        predicate = _PREDICATES.get(match[2], match[2].replace(" ", "_"))
        yield from _done(_subject(match[1], named, telling=True), predicate, match[3], FAIR)
    elif match := _BOTH.match(sentence):
        for subject in (_subject(match[number], named, telling=True) for number in (1, 2)):
            yield from _done(subject, _PREDICATES[match[3]], match[4], FAIR)
    elif match := _IS_A.match(sentence):
        subject = _subject(match[1], named, telling=False)
        yield from (Triple(str(subject), "is_a", value, FAIR) for value in (_kinds(match[2]) if subject else ()))


_SEVERAL = ("uses", "speaks", "owns", "depends_on")
_AT = re.compile(r" (?:at|for) (?=[A-Z])")


def _done(subject: str | None, predicate: str, given: str, sure: float) -> Iterator[Triple]:
    """What somebody does with what. Where he works, too, if that is said along with what he works on."""
    if subject is None:
        return
    if predicate in PLACED:
        # One does not live in fear; and a name of a place ends where other words begin.
        place = PLACE_NAME.match(_ARTICLE.sub("", given) if predicate == "lives_in" else given)
        pointed_at = POINTED_AT.match(given) and predicate not in NAMED_PLACES
        values = [place[0].rstrip(".,")] if place else list(_values(given)) if pointed_at else []
        # A year is no place.
        yield from (Triple(subject, predicate, value, sure) for value in values if not value.isdigit())
        return
    if predicate in ("works_on", "runs_on") and TIMES.match(given):
        return
    first, _, place_at = given.partition(at[0]) if (at := _AT.search(given)) else (given, "", "")
    if predicate == "works_on" and place_at:
        yield from _done(subject, "works_at", place_at, sure)
        given = first
    for value in _values(given, split=predicate in _SEVERAL):
        words = value.casefold().replace(",", "").split()
        if SPOKEN_TO.isdisjoint(words) and words[-1] not in COMPARED and words[0] not in PROPOSALS:
            yield Triple(subject, predicate, value, sure)


_NAMED_ONE = ("name", "hometown", "employer", "dog", "cat", "wife", "husband", "partner", "boss", "manager", "timezone")
_DAY = re.compile(r"\d|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE)


def _fits(of: str, value: str) -> bool:
    """Whether this may be a name, an address, a day: "my boss is furious" says nothing of who that is."""
    if of in _NAMED_ONE:
        return value[0].isupper() or value[0].isdigit()
    if of == "email":
        return "@" in value
    if of == "birthday":
        return _DAY.search(value) is not None
    return not (value[0].islower() and value.split()[0].endswith("ing"))


def _kinds(given: str) -> Iterator[str]:
    """What something is said to be, but for opinions."""
    for value in _values(given):
        head = JOINTS.sub("", value.casefold()).split()
        cut = value.endswith(" fan") or value[-2:-1] == " " or (BARE.match(value) and f"{value}," in given)
        judged = not OPINIONS.isdisjoint(head) or not SPOKEN_TO.isdisjoint(value.casefold().split())
        if head and not cut and not judged and not head[0].endswith("est"):
            yield value


def _subject(given: str, named: Container[str], telling: bool) -> str | None:
    """The name that a sentence begins with. `telling`: its verb alone tells that it is one."""
    name = re.sub(r"^The ", "", given).strip(" ,")
    first = name.split()[0].casefold() if name else ""
    if not name or first in NO_SUBJECT or name.split()[-1] in ("of", "the", "de", "van", "von"):
        return None
    if telling and given == name:
        return name
    shaped = sum(c.isupper() for c in name) >= 2 or any(c.isdigit() for c in name)
    return name if shaped or name in named else None


def _values(given: str, split: bool = False) -> Iterator[str]:
    """What is said, up to where another thought begins; several where it is a list of short things."""
    said = ASIDES.sub("", END.sub("", f"{given} ").strip(" ,.!"))
    items = _LIST.split(said) if split else [said.partition(", ")[0]]
    if any(len(item.split()) > _SHORT for item in items):
        items = [said.partition(", ")[0]]
    for item in items:
        value = _ARTICLE.sub("", _plain(item))
        words = value.casefold().split()
        if 0 < len(words) <= _MOST_WORDS and len(value) <= _LONGEST_VALUE and words[0] not in NO_VALUE:
            yield value


_LINKED = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]|[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}")


def _plain(text: str) -> str:
    """A value without markup and what stands around it."""
    return " ".join(_LINKED.sub(lambda m: m[1] or "", text).split()).strip(" \t.,;")
