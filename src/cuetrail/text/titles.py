r"""The title of a text, and the names of whom or what its first sentence is about, both by rules.

>>> title_of("Ed Wood (film)\nEd Wood is a 1994 American film."), title_of("# Red kite\n\nA bird of prey.")
('Ed Wood (film)', 'Red kite')
>>> [title_of(text) for text in ("Red kite", "We went to\nOslo by train.", "Milk\nEggs\nTea", "Dear Ann\nHow are you?")]
['', '', '', '']
>>> subjects_of("Ed Wood is a 1994 American film."), subjects_of("Ines Okafor, a baker from Bari, moved to Turin.")
(['Ed Wood'], ['Ines Okafor'])
>>> subjects_of("John Davison Lund (born 1906), known as Jo Lund, was a sailor.")
['John Davison Lund', 'John Lund', 'Jo Lund']
>>> [subjects_of(text) for text in ("It was late.", "Buy milk for Ann.", "Hi!", "In May Ann came.", "I am a baker.")]
[[], [], [], [], []]
>>> other_names_of('Richard Ray "Rick" Lund is an actor. He sings.')
['Richard Ray Lund', 'Rick Lund', 'Ray Lund', 'Richard Lund', 'Richard R. Lund']
>>> other_names_of("Kites or Gliders is a 1924 film."), other_names_of("The Kite Makers (KMU) were founded in 1924.")
(['Kites or Gliders', 'Kites', 'Gliders'], ['Kite Makers', 'KMU'])
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from cuetrail.text.normalise import KNOWN_AS
from cuetrail.text.word_lists import ABBREVIATIONS, CALENDAR_WORDS, FUNCTION_WORDS, HONORIFICS, NAME_OPENERS, NO_SUBJECT

MOST_TITLE_CHARS, MOST_TITLE_WORDS = 100, 14
# A text below a title has at least so many spaces in its first line.
LEAST_GAPS = 3
MOST_SUBJECT_CHARS, MOST_SUBJECT_WORDS = 80, 9
# The beginning of a text in which its subject is looked for.
MOST_CHARS = 300

_HEADING = re.compile(r"#{1,6}[ \t]+(?=\S)")
# Beginnings of list items, quotes, tables, code and links.
_NO_TITLE = re.compile(r"[-*+•>|`~<\[{(/\\#@$%=]|\d{1,3}[.)]\s|https?:")
_CODE = re.compile(r"[{}=<>|\\]|\w\(|://|::")
_GREETING = re.compile(r"(?:hi|hello|hey|dear|thanks|thank you|good (?:morning|evening|night))\b", re.IGNORECASE)
# A line that ends with one of these goes on in the next.
_UNFINISHED = frozenset(
    {"a", "an", "and", "are", "as", "at", "but", "by", "for", "from", "in", "is", "of", "on", "or", "the", "to", "was",
     "were", "with"}
)  # fmt: skip

# Small words inside a name.
_INNER = frozenset(
    {"&", "a", "al", "and", "at", "da", "de", "del", "den", "der", "des", "di", "do", "dos", "du", "e", "el", "for",
     "in", "la", "le", "of", "on", "the", "to", "van", "von", "y"}
)  # fmt: skip
_STATES = frozenset({"is", "was", "are", "were"})
_NOUN = re.compile(
    r"(?:The |An? )?([^\W\d_][\w’'-]*(?: [^\W\d_][\w’'-]*){0,4}) (?:\([^()]*\) )?(?:is|was|are|were) (?:an?|the|one) "
)
_QUOTED = re.compile(r"[\"“]([^\"”]{2,80})[,.]?[\"”]")
_BRACKET = re.compile(r"\s*\((?:[^()]|\([^()]*\))*\)")
# What may stand between the subject and its verb: ", a baker from Bari,".
_APPOSITION = re.compile(r"\s*,(?:[^.;!?(]|\.(?! [A-Z])){1,160}?(?:,(?=\s+[a-z])|(?=\s\())")
_LOWER_WORD = re.compile(r"\s+([a-z][a-z'’-]*)\b(?!:)")
_KNOWN_AS = re.compile(r"\bknown (?:\w+ )?(?:as|by (?:(?:his|her|its|their|the) )?(?:\w+ )?name) (?=[\"“A-Z])")
_NO_SUBJECTS = (NO_SUBJECT | FUNCTION_WORDS | CALENDAR_WORDS) - NAME_OPENERS - HONORIFICS - {"the", "st"}
_PREPOSITIONS = frozenset(
    {"after", "as", "at", "before", "by", "during", "for", "from", "if", "in", "on", "since", "when", "while", "with"}
)
# Where the name at the beginning of a sentence ends at the latest. A full stop behind an initial does not end it.
_NAME_END = re.compile(
    r"\s*\(|[,;:]\s|\s[–—]\s|(?<=[a-z]{3})\.\s|\s(?:is|was|are|were|has|had|refers?|began|became|served|stars?|plays?)\s"
)
_NICKNAME = re.compile(r"\s[\"“]([^\W\d_][\w.-]+)[\"”](?=\s)")
_CALLED = re.compile(
    r"\b(?:known|called|named|nicknamed|styled|spelled|spelt|abbreviated|formerly|née)"
    r"(?: (?:also|as|better|by|commonly|her|his|its|known|mostly|name|pen|professionally|ring|simply|stage|the))*"
    r" (?=[\"“A-Z])"
)
_ACRONYM = re.compile(r"\(([A-Z][A-Z&]{2,6})[,;)]")
_LEGAL_FORM = re.compile(r",? (?:Inc|Ltd|LLC|L\.P|PLC|Corp|Corporation|Company|Co|F\.C|FC|Football Club|Limited)\.?$")
# Texts about a person have one of these words near their beginning.
_OF_PERSON = re.compile(r"\b(?:[Hh]e|[Ss]he|[Hh]is|[Hh]er|born)\b")
_PARTICLES = _INNER - {"&", "and", "at", "for", "in", "of", "on", "the", "to", "a"} | {"ben", "bin", "ibn", "mac"}
_RANKS = HONORIFICS | frozenset(
    {"archduchess", "archduke", "baron", "captain", "colonel", "count", "countess", "dame", "duchess", "duke",
     "emperor", "empress", "general", "king", "lady", "lieutenant", "lord", "major", "prince", "princess", "queen",
     "rev", "saint", "st"}
)  # fmt: skip
_GENERATIONS = frozenset({"jr", "sr", "ii", "iii", "iv"})
MOST_OTHER_NAMES, MOST_PERSON_WORDS = 12, 5
_NO_VERBS = FUNCTION_WORDS - {"has", "had", "have", "can", "could", "will", "would", "did", "does", "do"}


def topics_in(text: str, title: object = None) -> dict[str, Any]:
    """Returns properties read from a text: its `title`, if it has one, and the list of names that it is `about`.

    The title comes first in `about`: the argument if the caller gives one, else that of the text.

    >>> topics_in("Ed Wood (film)\\nEd Wood is a 1994 American film."), topics_in("Nothing here.")
    ({'title': 'Ed Wood (film)', 'about': ['Ed Wood (film)', 'Ed Wood']}, {})
    """
    found = title_of(text)
    if not found and title is None:
        about = subjects_of(text)
        return {"about": about} if about else {}
    above = title.strip() if isinstance(title, str) else found
    names = [above, *subjects_of(text.lstrip().partition("\n")[2] if found else text)]
    about = list(dict.fromkeys(name for name in names if name))
    return {**({"title": found} if found else {}), **({"about": about} if about else {})}


def without_topics_in(props: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Returns the properties without those that were read from this text, and without the names others use for it."""
    read = topics_in(text, props.get("title"))
    kept = {key: value for key, value in props.items() if key not in read or value != read[key]}
    return {key: value for key, value in kept.items() if key != KNOWN_AS}


def title_of(text: str) -> str:
    """Returns the first line of a text if it looks like a title: short, no sentence, and more text below it. A Markdown
    heading is a title without its marks. Empty if there is none.
    """
    text = text.lstrip()
    end = text.find("\n", 0, MOST_TITLE_CHARS + 10)
    rest = text[end + 1 : end + 1 + MOST_CHARS].lstrip()
    if end < 0 or not rest:
        return ""
    heading = _HEADING.match(text)
    title = text[heading.end() : end].rstrip(" #\t\r") if heading else text[:end].strip()
    if not title or len(title) > MOST_TITLE_CHARS or not any(char.isalpha() for char in title):
        return ""
    has_gap = not text[end + 1 : end + 3].strip(" \t\r") or text[end + 1 : end + 3].startswith(("\n", "\r"))
    return title if heading or _looks_like_title(title, rest, has_gap) else ""


def _looks_like_title(title: str, rest: str, has_gap: bool) -> bool:
    words = title.split()
    if len(words) > MOST_TITLE_WORDS or _NO_TITLE.match(title) or _CODE.search(title) or _GREETING.match(title):
        return False
    if title[0].islower() or _ends_sentence(words[-1]) or words[-1] in _UNFINISHED:
        return False
    following = rest.partition("\n")[0]
    # A wrapped line goes on in small letters. Short lines below each other are a list or a poem.
    is_text = len(following) > len(title) and following.count(" ") >= LEAST_GAPS
    return not following[0].islower() and (has_gap or is_text)


def _ends_sentence(word: str) -> bool:
    return word[-1] in "!?…:;,。！？" or (word[-1] == "." and not _is_abbreviation(word))


def _is_abbreviation(word: str) -> bool:
    """True for "Jr.", "Inc.", "U.S." and initials: the full stop ends no sentence."""
    bare = word.rstrip(".,)").lstrip("(")
    return bare.replace(".", "").casefold() in ABBREVIATIONS or (bare[-1:].isupper() and len(bare.split(".")[-1]) == 1)


def subjects_of(text: str) -> list[str]:
    """Returns the names of the person or thing that the first sentence is about: it begins with a name, and a verb
    follows. [] if it does not.

    The name of a person is also given without middle names, and what somebody or something is "known as" is included.
    """
    line = _first_line(text)
    quoted = _QUOTED.match(line)
    name, end = (quoted[1], quoted.end()) if quoted else _leading_name(line)
    words = name.split()
    if not words or len(name) > MOST_SUBJECT_CHARS or name[-1] == ":":
        return _defined(line)
    verb, bracket = _verb_behind(line[end:].lstrip("*_"))
    is_clear = quoted or bracket or len(words) > 1
    is_subject = verb in _STATES or (is_clear and verb not in _NO_VERBS)
    if not quoted and words[0].casefold() in _NO_SUBJECTS:
        # A title may begin so: "He Comes Up Smiling is a film".
        is_subject = verb in _STATES and len(words) > 2 and words[0].casefold() not in _PREPOSITIONS
    if not verb or not is_subject:
        return _defined(line)
    names = [name.removeprefix("The ") if " " in name.removeprefix("The ") else name]
    if any(char.isdigit() for char in bracket):
        names += _without_middle_names(name)
    if " known " in line and (known := _KNOWN_AS.search(line)):
        nick = _QUOTED.match(line, known.end())
        names.append(nick[1] if nick else _leading_name(line[known.end() :])[0])
    return list(dict.fromkeys(one for one in names if len(one) > 1))


def other_names_of(text: str) -> list[str]:
    """Returns names by which other texts may call whom or what a text is about, all made of words of its first
    sentence. Many of them nobody uses, so each needs a text that does.

    They are the name that it begins with, also without rank or legal form; shorter names of a person, with a nickname
    or initials; both sides of an "or"; acronyms, and what it is "called".
    """
    line = _first_line(text)
    end = _NAME_END.search(line)
    name = line[: end.start()].strip(" *_") if end else ""
    nicknames = _NICKNAME.findall(f"{name} ")
    words = _NICKNAME.sub("", f"{name} ").strip(' "“”').split()
    found: list[str] = []
    if 0 < len(words) <= MOST_SUBJECT_WORDS:
        full = words[1:] if words[0] in ("The", "A", "An") else words
        found += [" ".join(full), _LEGAL_FORM.sub("", " ".join(full)), *" ".join(full).split(" or ")]
        found += _shorter_names(full, nicknames) if _OF_PERSON.search(text[: 2 * MOST_CHARS]) else []
    for called in _CALLED.finditer(line):
        quoted = _QUOTED.match(line, called.end())
        found.append(quoted[1] if quoted else _leading_name(line[called.end() :])[0])
    found += _ACRONYM.findall(line)
    names = dict.fromkeys(one.strip(' ,.()"“”') for one in found)
    return [one for one in names if _may_be_called(one)][:MOST_OTHER_NAMES]


def _shorter_names(words: list[str], nicknames: list[str]) -> list[str]:
    """Returns the forms of a person's name: without rank, with a nickname, with fewer first names, with initials."""
    first = next((at for at, word in enumerate(words) if word.rstrip(".").casefold() not in _RANKS), len(words))
    last = len(words) - (words[-1].strip(".,").casefold() in _GENERATIONS if words else 0)
    names = words[first:last]
    if not 1 < len(names) <= MOST_PERSON_WORDS or not all(word[0].isupper() or word in _PARTICLES for word in names):
        return []
    given, family = [word for word in names[1:-1] if word[0].isupper()], names[-1]
    found = [" ".join(names), *(f"{nickname} {family}" for nickname in nicknames)]
    # An initial, or a number as in "George VI", begins no name.
    found += [" ".join(names[at:]) for at in range(1, len(names) - 1) if len(names[at]) > 2 and names[at][-1] != "."]
    if len(names) > 2:
        initials = " ".join(f"{word[0]}." for word in given)
        found += [f"{names[0]} {family}", *([f"{names[0]} {initials} {family}"] if initials else [])]
    return found


def _may_be_called(name: str) -> bool:
    """True if somebody may be called so: a name begins and ends with a capital or a number, and is no date."""
    words = name.split()
    if not words or len(words) > MOST_SUBJECT_WORDS or any(word.casefold() in CALENDAR_WORDS for word in words):
        return False
    if not all(word[0].isupper() or word[0].isdigit() for word in (words[0], words[-1])):
        return False
    first = words[0].casefold()
    return (
        first not in _NO_SUBJECTS and len(name) > 2 and not name.isdigit()
        if len(words) == 1
        else (first not in _PREPOSITIONS or len(words) > 3)
    )


def _first_line(text: str) -> str:
    """Returns the beginning of the first line, with one kind of quotes and with single spaces, also before brackets."""
    line = text[:MOST_CHARS].lstrip().partition("\n")[0].lstrip("*_")
    if "``" in line or "''" in line:
        line = line.replace("``", '"').replace("''", '"')
    if "(" in line:
        line = line.replace("(", " (").replace("( ", "(")
    return " ".join(line.split()) if "  " in line or "\t" in line else line


def _verb_behind(rest: str) -> tuple[str, str]:
    """Returns the verb that follows a subject, and the bracket between them; empty if there is none."""
    before = _BRACKET.match(rest)
    at = before.end() if before else 0
    apposition = _APPOSITION.match(rest, at)
    at = apposition.end() if apposition else at
    behind = _BRACKET.match(rest, at)
    verb = _LOWER_WORD.match(rest, behind.end() if behind else at)
    bracket = before or behind
    return verb[1] if verb else "", bracket[0] if bracket else ""


def _leading_name(line: str) -> tuple[str, int]:
    """Returns the capitalised words at the beginning of a line, with small words inside them, and where they end."""
    words: list[str] = []
    position, end, kept = 0, 0, 0
    for word in line.split(" ", MOST_SUBJECT_WORDS + 1)[: MOST_SUBJECT_WORDS + 1]:
        bare = word.rstrip(",;*_")
        is_capital = bare[:1].isupper() or (bare[:1].isdigit() and (bool(words) or not bare.isdigit()))
        is_nick = not is_capital and bool(words) and _QUOTED.fullmatch(bare) is not None
        if not (is_capital or is_nick or (bare in _INNER and words and bare == word)):
            break
        if not is_nick:
            words.append(bare)
        if is_capital or is_nick:
            end, kept = position + len(bare), len(words)
        if bare != word or (word[-1] in ".!?" and not _is_abbreviation(word)):
            break
        position += len(word) + 1
    return " ".join(words[:kept]), end


def _without_middle_names(name: str) -> list[str]:
    """Returns the first and the last word of a person's name of three or more words, as one name; else []."""
    words = [word for word in name.split() if word.rstrip(".") not in ("Jr", "Sr", "II", "III", "IV", "Sir", "Dame")]
    return [f"{words[0]} {words[-1]}"] if len(words) > 2 and all(word[0].isupper() for word in words) else []


def _defined(line: str) -> list[str]:
    """Returns the noun that a sentence defines, as in "The effective nuclear charge is the ...", else []."""
    found = _NOUN.match(line)
    if found is None:
        return []
    words = found[1].casefold().split()
    return [] if any(word in NO_SUBJECT or word in FUNCTION_WORDS for word in words) else [found[1]]
