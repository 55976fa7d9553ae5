"""Finds facts in texts by rules: fields, "X is a Y", "X uses Y", "I prefer ...", dated decisions.

>>> [(t.subject, t.predicate, t.value) for t in find("JACQ uses DuckDB and Next.js. I live in Oslo.", title="Plan")]
[('JACQ', 'uses', 'DuckDB'), ('JACQ', 'uses', 'Next.js'), ('user', 'lives_in', 'Oslo')]

The rules prefer precision to recall. They skip questions, conditions, negations, hearsay and past states. A single word
at the start of a sentence counts as a name only if its shape, the rest of the text or the verb confirms it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cuetrail.text import document_dates, names
from cuetrail.text.entity_names import word_kind
from cuetrail.text.normalise import clean, norm_tag
from cuetrail.text.prose import prose_only, split_sentences
from cuetrail.text.word_lists import COMPARATIVES, NO_SUBJECT, NO_VALUE, OPINION_WORDS, PRONOUNS_OF_TALK, PROPOSAL_WORDS

USER = "user"
FIELD, DECISION, SURE, LIKELY = 0.95, 0.9, 0.9, 0.75
"""The confidence of fields, of dated decisions, of statements about oneself, and of statements about others."""

MOST = 50
_LONGEST_VALUE = 80
_MOST_WORDS = 8
_MOST_WORDS_IN_LIST_ITEM = 4
# Fields that describe the file itself.
_FILE_FIELDS = frozenset(
    {
        "about", "alias", "aliases", "author", "bucket", "buckets", "categories", "category", "created", "cssclass",
        "cssclasses", "date", "draft", "format", "id", "lang", "layout", "modified", "permalink", "publish",
        "published", "slug", "tag", "tags", "title", "uid", "updated", "uuid",
        "color", "colour", "cover", "excerpt", "icon", "image", "keywords", "link", "sort_by", "sort_order", "stub",
        "template", "theme", "toc", "uri", "url", "version", "visibility", "voice", "weight",
    }
)  # fmt: skip
# Fields that steer a program: nav_order, has_collection, documentid, commentsupdated, enableX.
_STEERING_FIELD = re.compile(
    r"(?:nav|has|is|sort|no|css|max|min|use|auto|seo|og|site|page)[_-]\w+|(?:show|hide|enable|disable|skip|total|current)\w+"
    r"|\w*(?:id|uuid|url|uri|path|order|index|class|hash|updated|created|modified|step|steps|level|levels|layout)"
)
# Fields whose value may be a bare number.
_MEASURES = frozenset(
    {
        "age", "amount", "budget", "chapters", "cost", "distance", "height", "length", "members", "pages", "population",
        "price", "quantity", "rating", "score", "seats", "size", "stars", "width", "year",
    }
)  # fmt: skip
_NO_WORDS = re.compile(
    r"(?:true|false|yes|no|on|off|null|none|n/a|tbd|\?+)|#[0-9a-f]{3,8}|\S+://\S+|[./~]?[\w.-]*/\S+|\S+\.(?:png|jpe?g|gif|svg|webp|md|pdf|html?|css|json|ya?ml)"
    r"|(?=\S*\d)(?=\S*[a-z])[\w-]{12,}|\d{10,}",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)*%?")


@dataclass(frozen=True, slots=True)
class Passage:
    """A text to read facts from. `title` names its topic, `speaker` the person who says "I" (empty if unknown)."""

    id: str
    text: str
    title: str
    speaker: str = USER
    is_chat: bool = False


@dataclass(frozen=True, slots=True)
class Triple:
    """A fact that a text states. `at` is the time from which it is valid, None if the text does not say."""

    subject: str
    predicate: str
    value: str
    confidence: float
    at: int | None = None


def from_fields(fields: Mapping[str, Any], title: str) -> list[Triple]:
    """Returns the facts that frontmatter states about its note, one for each text in its fields.

    >>> from_fields({"status": "draft", "uses": ["DuckDB"], "tags": ["x"], "level": 3}, "JACQ")[0].value
    'draft'
    """
    found = []
    for name, given in fields.items():
        predicate = norm_tag(str(name))
        for value in given if isinstance(given, list) else [given]:
            said = _plain(value) if isinstance(value, str) else ""
            if predicate and _states_fact(predicate, said) and said.casefold() != title.casefold():
                found.append(Triple(title, predicate, said, FIELD))
    return found[:MOST]


def _states_fact(field: str, value: str) -> bool:
    """True if a field says something about the topic of its note, and not about the file or to a program.

    >>> _states_fact("status", "draft"), _states_fact("nav_order", "3"), _states_fact("stub", "true")
    (True, False, False)
    """
    if not value or len(value) > _LONGEST_VALUE or _NO_WORDS.fullmatch(value):
        return False
    if field in _FILE_FIELDS or _STEERING_FIELD.fullmatch(field):
        return False
    return field in _MEASURES or _NUMBER.fullmatch(value) is None


def find(text: str, *, title: str | None = None, speaker: str = USER, known: Iterable[str] = ()) -> list[Triple]:
    """Returns the facts a text states, in its order.

    `title` is the subject of fields and decisions. `speaker` is the subject of "I"; empty if unknown. `known` are names
    from the rest of the document.
    """
    if not _CANDIDATE.search(text):
        return []
    prose = prose_only(clean(text))
    found: dict[tuple[str, str, str], Triple] = {}
    named = _NameSet(text, (*known, title) if title is not None else known)
    if title is not None:
        for triple in _fields(prose, title):
            found.setdefault((triple.subject, triple.predicate, triple.value), triple)
    for sentence in _sentences(prose_only(_readable(clean(text)))):
        for triple in _sentence_facts(sentence, title, speaker, named):
            found.setdefault((triple.subject, triple.predicate, triple.value), triple)
    return list(found.values())[:MOST]


# Every sentence that fits a rule matches this. Most texts do not, which makes the check ten times as fast.
_CANDIDATE = re.compile(
    r"::|\b(?:I|I['’]m|[Mm]y|uses?|using|(?:is|are) (?:an?|the)|lives? in|works? (?:on|at|for|with)|prefers?|likes?"
    r"|loves?|supports|depends on|runs on|is based in|is located in|was born in|[Dd]ecided|[Aa]greed|chose|[Rr]esolved"
    r"|[Dd]ecision|DECI(?:DED|SION)|AGREED|RESOLVED)\b"
)


# Inline code of one word is read as the word, longer code as a hole. A value with a hole is no fact.
_CODE_WORD = re.compile(r"(?<!`)`([\w.+@/#-]{1,40})`(?!`)")
_CODE_SPAN = re.compile(r"(?<!`)`[^`\n]{1,200}`(?!`)")
_HOLE = "\ufffc"
_LINK = re.compile(r"!?\[([^\[\]]{0,200})\]\((?:[^()\n]|\([^()\n]{0,200}\)){0,500}\)")


def _readable(text: str) -> str:
    """Returns the text as it is displayed: links as their text, inline code without its marks."""
    if "](" in text:
        text = _LINK.sub(lambda m: m[1], text)
    return _CODE_SPAN.sub(_HOLE, _CODE_WORD.sub(lambda m: m[1], text)) if "`" in text else text


class _NameSet:
    """The names known for a text. Names in the text itself are extracted at the first lookup."""

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
    """Yields the facts of `key:: value` fields, on a line of their own or in brackets."""
    if "::" not in text:
        return
    for pattern in (_LINE_FIELD, _IN_BRACKETS):
        for match in pattern.finditer(text):
            predicate, value = norm_tag(match[1]), _plain(match[2])
            if value and len(value) <= _LONGEST_VALUE and predicate not in _FILE_FIELDS:
                yield Triple(title, predicate, value, FIELD)


# --- sentences

_MARKS = re.compile(r"^[ \t]*+(?:>[ \t]?|[-*+][ \t]++(?:\[[ xX]\][ \t]++)?|\d{1,3}[.)][ \t]++|#{1,6}[ \t]++)++")
# Words that make a sentence a question, a negation, hearsay or a guess.
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
    """Yields the sentences that may state facts, without the marks of lists and quotes."""
    for paragraph in re.split(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*+>#]|\d{1,3}[.)])[ \t])", text):
        bare = _MARKS.sub("", paragraph)
        for sentence in split_sentences(" ".join(bare.split())):
            said = sentence.strip().replace("’", "'")
            candidate = 6 <= len(said) <= 400 and _CANDIDATE.search(said)
            if candidate and not _DOUBT.search(said) and not _FIELD_LINE.match(said):
                yield said


# The verbs the rules know, in the first and the third person.
_I_VERBS = (
    "prefer|like|love|enjoy|hate|dislike|work on|work at|work for|work as|live in|was born in|use|own|speak|study"
)
_THIRD_PERSON_VERBS = (
    "lives in|works (?:on|at|for|with)|prefers|likes|loves|supports|depends on|runs on|is based in|is located in"
    "|was born in"
)
# Words with which a new clause begins. The value of a fact ends before them.
_CLAUSE_STARTS = (
    "because|since|but|so|when|while|which|who|although|though|as well|instead|until|where|after|before|even|now"
    "|these days|at the moment|right now|for now|currently|at work|every|whenever|if|that|once|unless|except"
)
_VALUE_END = re.compile(
    rf"\s*(?:[.;:!](?=\s)|,? (?:{_CLAUSE_STARTS})\b|,? and (?:I|we|it|he|she|they|that)\b"
    rf"|,? and (?:(?:{_I_VERBS}|{_THIRD_PERSON_VERBS}|uses)|(?:am|is|are|was|were|has|have) )| - | – | — |\s\().*$",
    re.IGNORECASE | re.DOTALL,
)
# Filler words after a comma or at the end of a value.
_FILLERS = re.compile(
    r"(?:,? (?:too|today|again|here|btw|by the way|lately|anyway|actually|honestly|sadly|of course|indeed|already|lol"
    r"|haha|I must say|this week|this month|this year))+$",
    re.IGNORECASE,
)
_ADJECTIVE = (
    r"(?:private|public|small|large|new|old|free|open(?: source)?|former|retired|lightweight"
    r"|\w+(?:al|ic|ive|ous|ary|less|[ai]ble|ful|ed)|\w+-\w+)"
)
_LONE_ADJECTIVE = re.compile(rf"{_ADJECTIVE}(?: {_ADJECTIVE})*(?: and \w+)?$", re.IGNORECASE)
"""Adjectives, cut off from their noun."""

_INNER_BRACKET = re.compile(r" \([^()]*\)(?= \w)")
"""A bracket inside a value, which goes on behind it: "an Android (4.4+) application"."""

_QUALIFIER = re.compile(
    r" (?:of|for|to|in|at|on|with|behind|by|from|that|which|who|between|under|over|without|written|based|designed"
    r"|specialized|implementing|providing)\b.*$"
)

# Predicates whose value is a place.
_PLACE_PREDICATES = ("lives_in", "works_at", "based_in", "located_in", "born_in")
# Predicates whose value must be a name: "lives in a small flat" does not say in which town.
_NAMED_PLACE_PREDICATES = ("lives_in", "born_in", "based_in")
_DEFINITE = re.compile(r"(?:a|an|the|my|our|his|her|their) |[A-Z0-9]")
_PLACE_WORD = r"[A-Z0-9][\w.&'/-]*"
_PLACE_JOINTS = "of|de|da|di|del|la|am|an|der|upon|and|the|&"
_PLACE = rf"{_PLACE_WORD}(?: (?:{_PLACE_JOINTS}) {_PLACE_WORD}| {_PLACE_WORD})*"
_PLACE_NAME = re.compile(rf"{_PLACE}(?:, {_PLACE})*")
_TIME_VALUE = re.compile(
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends?|weekdays?|holidays|time|schedule|demand|average|purpose"
    r"|(?:the )?(?:week|day|night|morning|evening)s?|jan|feb|january|february|march|april|may|june|july|august"
    r"|september|october|november|december|christmas|\d.*)\b",
    re.IGNORECASE,
)
"""A value of "works on" or "runs on" that is a time: "works on Mondays"."""

_WORD = r"[A-Z][\w.+#&'-]*"
_NAME = rf"(?:The )?{_WORD}(?: (?:{_WORD}|\d[\w.]*|of|de|van|von|the))*"
_NOW = r"(?:now |also |still |currently |mainly |mostly |really |generally |usually )?"
_OPENING = r"(?:\w+(?: \w+)?, |And |But |So )?"
_IS_A = re.compile(rf"^({_NAME}),? (?:is|are) (?:a|an|the) (\w[^;:!]*)$")
_WHO_IS = r"(?:, (?:an?|the|our|my|his|her|their) [^,]{3,40},)?"
_USES = re.compile(rf"^({_NAME}|I){_WHO_IS} {_NOW}(uses?|is using|am using) (.+)$")
_TWO_SUBJECTS = re.compile(
    rf"^({_WORD}(?: {_WORD})?) and ({_WORD}(?: {_WORD})?) {_NOW}"
    r"(use|live in|work on|work at|work for|prefer|like|love) (.+)$"
)
_THIRD_PERSON = re.compile(rf"^({_NAME}){_WHO_IS} {_NOW}({_THIRD_PERSON_VERBS}) (.+)$")
_FIRST_PERSON = re.compile(rf"^{_OPENING}I {_NOW}({_I_VERBS}) (.+)$")
# A conjunction before another verb of the same subject or of "I".
_AND_I = re.compile(rf",? (?:and|but) (?=I {_NOW}(?:{_I_VERBS}) |(?:I'm|I am) an? )")
_AND_DO = re.compile(rf",? (?:and|but) (?={_NOW}(?:{_I_VERBS}) )")
_AND_DOES = re.compile(rf",? (?:and|but) (?={_NOW}(?:{_THIRD_PERSON_VERBS}|uses|is an?|is the) )")
_STARTS_WITH_I = re.compile(rf"^{_OPENING}I(?:'m| )")
_ONE_SUBJECT = re.compile(rf"^({_NAME}){_WHO_IS} {_NOW}(?:{_THIRD_PERSON_VERBS}|uses|is an?|is the) ")
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
_NO_DECISION = ("nothing", "anything", "it", "this", "yet", "soon", "later")
_PREDICATES = {
    "live in": "lives_in", "is based in": "based_in", "is located in": "located_in", "work on": "works_on",
    "work at": "works_at", "work for": "works_at", "works for": "works_at", "work as": "works_as",
    "prefer": "prefers", "like": "likes", "love": "likes", "loves": "likes", "enjoy": "likes", "hate": "dislikes",
    "dislike": "dislikes", "use": "uses", "own": "owns", "speak": "speaks", "study": "studies",
    "was born in": "born_in",
}  # fmt: skip


def _sentence_facts(sentence: str, title: str | None, speaker: str, named: Container[str]) -> Iterator[Triple]:
    """Yields the facts of one sentence. The first rule that fits decides."""
    about = title or speaker
    if about and (decided := _decision(sentence, about)) is not None:
        yield decided
        return
    for clause in _clauses(sentence):
        found = list(_first_person_facts(clause, speaker))
        yield from found or _third_person_facts(clause, speaker, named)


def _clauses(sentence: str) -> Iterator[str]:
    """Yields one clause for each verb of the sentence, each with its subject.

    >>> list(_clauses("I work on Wingbeat and live in Oslo")), list(_clauses("Ada Holm uses Vim and likes tea"))
    (['I work on Wingbeat', 'I live in Oslo'], ['Ada Holm uses Vim', 'Ada Holm likes tea'])
    """
    for part in _AND_I.split(sentence):
        one = _ONE_SUBJECT.match(part)
        who, joint = ("I", _AND_DO) if _STARTS_WITH_I.match(part) else (one[1], _AND_DOES) if one else ("", None)
        first, *others = joint.split(part) if joint else [part]
        yield first
        yield from (f"{who} {other}" for other in others)


def _decision(sentence: str, about: str) -> Triple | None:
    """Returns the dated decision a sentence states, or None."""
    date = _DATE.search(sentence)
    at = document_dates.parse(date[1]) if date else None
    if at is None:
        return None
    bare = " ".join(_DATED.sub(" ", sentence).split()).strip(" ,:-")
    match = _DECISION.match(bare) or _DECIDED.search(bare)
    value = _plain(next(filter(None, match.groups()), "")) if match else ""
    if not 3 <= len(value) <= 200 or value.casefold().split()[0] in _NO_DECISION:
        return None
    return Triple(about, "decided", value, DECISION, int(at))


def _first_person_facts(sentence: str, speaker: str) -> Iterator[Triple]:
    """Yields the facts that the speaker states about himself, with "I" or "my"; none without a speaker."""
    if not speaker:
        return
    if match := _FIRST_PERSON.match(sentence):
        yield from _verb_facts(speaker, _PREDICATES[match[1]], match[2], SURE)
    elif match := _MY.match(sentence):
        of, values = match[1], list(_values(match[2]))
        yield from (Triple(speaker, norm_tag(of), value, SURE) for value in values if _is_plausible(of, value))
    elif match := _I_AM.match(sentence):
        yield from (Triple(speaker, "is_a", value, SURE) for value in _categories(match[1]))


def _third_person_facts(sentence: str, speaker: str, named: Container[str]) -> Iterator[Triple]:
    """Yields the facts that a sentence states about the person or thing it names as subject, or by "I use"."""
    if match := _USES.match(sentence):
        subject = speaker or None if match[1] == "I" else _subject(match[1], named, verb_confirms=True)
        if match[2] != "use" or match[1].endswith(("I", "s")):
            yield from _verb_facts(subject, "uses", _PURPOSE.sub("", match[3]), SURE if match[1] == "I" else LIKELY)
    elif match := _THIRD_PERSON.match(sentence):
        predicate = _PREDICATES.get(match[2], match[2].replace(" ", "_"))
        yield from _verb_facts(_subject(match[1], named, verb_confirms=True), predicate, match[3], LIKELY)
    elif match := _TWO_SUBJECTS.match(sentence):
        for subject in (_subject(match[number], named, verb_confirms=True) for number in (1, 2)):
            yield from _verb_facts(subject, _PREDICATES[match[3]], match[4], LIKELY)
    elif match := _IS_A.match(sentence):
        subject = _subject(match[1], named, verb_confirms=False)
        yield from (Triple(str(subject), "is_a", value, LIKELY) for value in (_categories(match[2]) if subject else ()))


# The purpose of a use is no part of what is used: "tokens to authorize requests".
_PURPOSE = re.compile(
    r",? (?:primarily |mainly |mostly |only )?(?:to [a-z]+|for [a-z]+ing|in order to|when|as an?)\b.*$"
)
_LIST_PREDICATES = ("uses", "speaks", "owns", "depends_on")
_AT = re.compile(r" (?:at|for) (?=[A-Z])")


def _verb_facts(subject: str | None, predicate: str, given: str, sure: float) -> Iterator[Triple]:
    """Yields the facts of one verb with the confidence `sure`; none without a subject. "works on X at Y" also gives the
    fact "works at Y".
    """
    if subject is None:
        return
    if predicate in _PLACE_PREDICATES:
        # "lives in fear" is no place. The name of a place ends at the first word in lower case.
        place = _PLACE_NAME.match(_ARTICLE.sub("", given) if predicate == "lives_in" else given)
        pointed_at = _DEFINITE.match(given) and predicate not in _NAMED_PLACE_PREDICATES
        values = [place[0].rstrip(".,")] if place else list(_values(given)) if pointed_at else []
        # A year is not a place.
        yield from (Triple(subject, predicate, value, sure) for value in values if not value.isdigit())
        return
    if predicate in ("works_on", "runs_on") and _TIME_VALUE.match(given):
        return
    first, _, place_at = given.partition(at[0]) if (at := _AT.search(given)) else (given, "", "")
    if predicate == "works_on" and place_at:
        yield from _verb_facts(subject, "works_at", place_at, sure)
        given = first
    for value in _values(given, split=predicate in _LIST_PREDICATES):
        words = value.casefold().replace(",", "").split()
        if PRONOUNS_OF_TALK.isdisjoint(words) and words[-1] not in COMPARATIVES and words[0] not in PROPOSAL_WORDS:
            yield Triple(subject, predicate, value, sure)


_NAMED_PROPERTIES = frozenset(
    ["name", "hometown", "employer", "dog", "cat", "wife", "husband", "partner", "boss", "manager", "timezone"]
)
_LOOKS_LIKE_DATE = re.compile(r"\d|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE)


def _is_plausible(of: str, value: str) -> bool:
    """True if the value has the form its property needs: "my boss is furious" does not name the boss."""
    if of in _NAMED_PROPERTIES:
        return value[0].isupper() or value[0].isdigit()
    if of == "email":
        return "@" in value
    if of == "birthday":
        return _LOOKS_LIKE_DATE.search(value) is not None
    return not (value[0].islower() and value.split()[0].endswith("ing"))


def _categories(given: str) -> Iterator[str]:
    """Yields the categories in `given`, the words after "X is a". A category that is an opinion ("a mess", "the best")
    is skipped as a whole.
    """
    for value in _values(given):
        if f"{value}," in given and _QUALIFIER.search(value):
            # "a package for the creation, study and use of": the list is cut, so only what it qualifies is certain.
            value = _QUALIFIER.sub("", value)
        head = _QUALIFIER.sub("", value.casefold()).split()
        cut = value.endswith(" fan") or value[-2:-1] == " " or _is_lone_adjective(value, given)
        judged = not OPINION_WORDS.isdisjoint(head) or not PRONOUNS_OF_TALK.isdisjoint(value.casefold().split())
        if head and not cut and not judged and not head[0].endswith("est") and _ends_in_noun(head):
            yield value


def _is_lone_adjective(value: str, given: str) -> bool:
    """True if a value is an adjective, or two, cut off from its noun at a comma or bracket: "a fast, small tool"."""
    if f"{value}," not in given and f"{value} (" not in given:
        return False
    return _LONE_ADJECTIVE.match(value) is not None or (" " not in value and word_kind(value) == "other")


def _ends_in_noun(head: Sequence[str]) -> bool:
    """True if the last word of a category may be a noun; False for adjectives and adverbs such as "portable"."""
    return not (word_kind(head[-1]) == "other" and head[-1].endswith(("able", "ible", "ful", "ous", "ly")))


def _subject(given: str, named: Container[str], verb_confirms: bool) -> str | None:
    """Returns the subject without "The" if it is surely a name, else None. `verb_confirms`: a verb such as "lives in"
    follows, which makes a name more likely.
    """
    name = re.sub(r"^The ", "", given).strip(" ,")
    first = name.split()[0].casefold() if name else ""
    if not name or first in NO_SUBJECT or name.split()[-1] in ("of", "the", "de", "van", "von"):
        return None
    alone = " " not in name
    numbered = any(c.isdigit() for c in name)
    if word_kind(name.split()[0]) == "other" and not numbered and (alone or name not in named):
        return None
    if verb_confirms and given == name and (not alone or word_kind(name) == "name"):
        return name
    shaped = sum(c.isupper() for c in name) >= 2 or numbered
    return name if shaped or name in named else None


def _values(given: str, split: bool = False) -> Iterator[str]:
    """Yields the value of a fact: the words up to the next clause or comma; with `split`, each item of a list of short
    items. Yields nothing that is too long or begins with a word that no value begins with.
    """
    given = _INNER_BRACKET.sub("", given) if "(" in given else given
    said = _FILLERS.sub("", _VALUE_END.sub("", f"{given} ").strip(" ,.!"))
    items = _LIST.split(said) if split else [said.partition(", ")[0]]
    if any(len(item.split()) > _MOST_WORDS_IN_LIST_ITEM for item in items):
        items = [said.partition(", ")[0]]
    for item in items:
        value = _DANGLING.sub("", _ARTICLE.sub("", _plain(item)))
        words = value.casefold().split()
        if _HOLE in value or not value.isprintable():
            continue
        if 0 < len(words) <= _MOST_WORDS and len(value) <= _LONGEST_VALUE and words[0] not in NO_VALUE:
            yield value


_DANGLING = re.compile(
    r"(?: (?:for|to|of|in|on|with|and|or|from|by|that|which|the|an?|is|are|called|both|including|such as|like"
    r"|written|based|specialized|designed))+$"
)
_MARKUP = re.compile(r"!?\[\[(?:([^\[\]|]*)\|)?([^\[\]|]*)\]\]|[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}")


def _plain(text: str) -> str:
    """Returns a value without markup and surrounding punctuation."""
    return " ".join(_MARKUP.sub(_shown, text).split()).strip(" \t.,;")


def _shown(match: re.Match[str]) -> str:
    """Returns the text that a wikilink shows. Dendron has it before the bar, others behind it."""
    first, last = match[1] or "", match[2] or ""
    return first if first and "." in last and " " not in last else last


# --- readers of facts: these rules, a language model, or a function of the caller

FactReader = Callable[[Sequence[Passage]], list[list[Triple]]]
"""A function that returns the facts stated in each passage. Raises CuetrailError if it fails."""


def by_rules(passages: Sequence[Passage]) -> list[list[Triple]]:
    """Returns the facts that the rules find in each passage."""
    titles = {passage.title for passage in passages}
    return [
        find(one.text, title=None if one.is_chat else one.title, speaker=one.speaker, known=titles) for one in passages
    ]
