"""Tombstones keep forgotten memories from coming back. A tombstone is a hash; it contains no text.

A forgotten memory leaves hashes of its id, of its text, of the letters of its text and of each paragraph, and of each
of its sentences and lines. Letters are the text without the speaker of a chat, list marks, markup, punctuation and
spaces. Hashes of paragraphs keep them out also where a file is split into other passages than before.

A new text matches if its letters are the same, or if it consists of forgotten sentences alone. A text that has
forgotten sentences or lines among others is redacted: only the others are stored. Texts that are too short to identify
a memory, such as "Thanks!", do not count.
"""

from __future__ import annotations

import contextlib
import hashlib
import html
import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

from cuetrail.model import Node, Tombstone
from cuetrail.model.ids import fingerprint
from cuetrail.store.transaction import TombstoneTable, WriteTransaction
from cuetrail.text.normalise import has_topics, norm_name
from cuetrail.text.titles import topics_in, without_topics_in

# Shorter pieces are found in texts that have nothing to do with the forgotten one.
SHORTEST = 12
# Allowance, in characters, for a speaker, a list mark and a full stop around the same words.
AROUND = 80
# A forgotten text of more sentences and lines than this is not looked for inside a larger text.
LONGEST = 32
# In a text of thousands of sentences only shorter runs are hashed, so that a book takes about a second.
MOST_RUNS = 200_000
FEWEST = 4

# Where a sentence may end. One cut too many costs a hash, one too few lets a forgotten text come back.
_END = r"(?<![.!?…])[.!?…]++[\"'”’»)\]*_]*+(?=\s|\Z)|[。！？｡]++[」』”’）]*+"
_MARK = r"[-*+•>|–—]|#{1,6}|\d{1,3}[.)]|[a-z]\)|\[[ x]\]|(?:user|assistant|system|human|ai):"
_CELL = r"\|(?![^\[\]\n]{0,99}\]\])"
_SENTENCE = re.compile(rf"{_END}|\n(?=[^\S\n]*+(?:\n|(?:{_MARK})\s))", re.IGNORECASE)
_LINE = re.compile(r"\n")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_PIECE = re.compile(rf"{_END}|\n|{_CELL}")
_BEFORE = re.compile(rf"(?:(?:{_MARK})\s+|[\"'“‘«(\[*_]+)++")
# A speaker inside the text: one to four words before a colon or a dash, with a time in brackets perhaps; `<ann>` or
# `@ann`; or a number.
_LABEL = re.compile(
    r"[^\W\d][\w.-]{0,29}(?: [\w.-]{1,29}){0,3}(?: [\[(][\d: apm.,/-]{3,20}[\])])?(?:: | [–—-] )"
    r"|[^\W\d][\w.-]{0,29}> |<\w[\w.|-]{0,29}> |@[\w.-]{1,30}:? |#\d{1,5}:? |\d{1,4}: "
)
# Names of speakers at the beginning of lines, behind which a disguise may stand: one, and up to three in markup.
_NAMED = r"[^\W\d][\w.-]{0,29}(?: [\w.-]{1,29}){0,3}"
_SPEAKER = re.compile(rf"^[^\S\n]*{_NAMED}:[^\S\n]+", re.MULTILINE)
_SPEAKERS = re.compile(
    rf"^[^\S\n]*(?:[*_]{{0,3}}{_NAMED}(?: [\[(][\d: apm.,/-]{{3,20}}[\])])?[*_]{{0,3}}[:>][*_]{{0,3}}[^\S\n]+){{1,3}}",
    re.MULTILINE,
)
_CUTS = (_SENTENCE, _LINE)
_BEHIND = " .!?…。！？｡;,:\"'”’»)]*_|"
# Markup, and tags or block ids at the end, do not change what a text says.
_LINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]|!?\[([^\[\]]*)\]\([^()\s]*\)")
_MARKUP = re.compile(r"[`*\u00ad\u200b-\u200d\u2060]+|~~|==|(?<!\w)_+|_+(?!\w)")
# Disguises: prefixes of quoted, forwarded and timed lines and of tasks, footnote marks, links, and tags of HTML.
_DAY = r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}"
_CLOCK = r"\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:\s?[ap]\.?m\b\.?|z|[+-]\d\d:?\d\d)?"
_TIME = rf"[\[(]?(?:{_DAY},?(?:\s|t)\s*)?{_CLOCK}[\])]?(?:\s*[-–—](?=\s))?(?=\s)"
_MAIL = r"(?:fwd?|re|aw|wg|sv|vs|vb|tr|rv|antw)(?:\[\d{1,2}\])?:"
_TASK = r"(?:todo|done|\[#[a-z\d]\]|\[!\w{1,20}\][+-]?|[-*+]{1,6}|\d{1,3}[.)]|[•‣◦·▪▫●○■□☐☑☒✓✔→➜➢►▶])(?=\s)"
_PREFIX = re.compile(rf"^(?:[^\S\n]*(?:>|{_MAIL}|{_TIME}|{_TASK})[^\S\n]*)+", re.IGNORECASE | re.MULTILINE)
_FOOTNOTE = re.compile(r"\[\^[^\]\s]{1,30}\]:?|(?<=[^\W\d_][.!?,;:])\[\d{1,3}\]|(?<=[^\W\d_])\[\d{1,3}\]|[¹²³⁰⁴-⁹†‡]+")
_REFERENCE = re.compile(r"\[([^\[\]\n]+)\]\[[^\[\]\n]*\]")
_TARGET = re.compile(
    r"(!?)\[([^\[\]\n]*)\]\((?:<[^<>\n]*>|(?:[^()\s]|\([^()\s]*\))*)(?:[^\S\n]+(?:\"[^\"\n]*\"|'[^'\n]*'))?\)"
)
_HTML = re.compile(
    r"<sup>\s*\[?\d{1,3}\]?\s*</sup>|</?(?:a|abbr|address|article|aside|b|big|blockquote|body|br|center|cite|code|dd|del|"
    r"details|div|dl|dt|em|figcaption|figure|font|footer|h[1-6]|header|hr|html|i|ins|kbd|label|li|main|mark|nav|ol|p|pre|"
    r"q|s|samp|section|small|span|strike|strong|sub|summary|sup|table|tbody|td|tfoot|th|thead|time|tr|tt|u|ul|var|wbr)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_HIDDEN = re.compile(r"<!--|-->|%%")
_COMMENTS = (("<!--", "-->"), ("%%", "%%"))
_LATEX = re.compile(r"\\(?:text(?:bf|it|tt|sc)|emph|underline)\{([^{}]*)\}")
# Additions that may also be a part of a text: a date or the state of a task in front, numbers of footnotes, and
# pictures at the end of a line. Only a text that comes in is read without them.
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DATE = (
    rf"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{{0,6}}[.,]{{0,2}}\s+)?"
    rf"(?:{_DAY}|\d{{1,2}}\.?\s+{_MONTH}(?:,?\s+\d{{4}})?|{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?)"
)
_STATE = r"(?-i:NEXT|DOING|STARTED|WAIT|WAITING|HOLD|NOW|LATER|CANCELL?ED|FIXME|NOTE)"
_ADDITIONS = (
    re.compile(
        rf"^[^\S\n]*(?:[\[(<]?{_DATE}[\])>]?(?:\s*[:,;–—-])?|{_STATE}:?)[^\S\n]+(?=\S)",
        re.IGNORECASE | re.MULTILINE,
    ),
    re.compile(r"(?<=[^\W\d_])\s?\(\d{1,2}\)|(?<=[^\W\d_][.!?,;:])\s?\(\d{1,2}\)"),
    re.compile(
        r"(?<![^\S\n])[^\S\n]*+[\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]+(?=[.!?\s]*(?:\n|\Z))"
    ),
)
# More of them, which are all left out together: pictures, hashtags, remarks on a quotation, an address or the name of
# the author at the end of a line, levels of a log, and angle brackets around a line.
_FRAMES = (
    re.compile(r"(?<![^\S\n])[^\S\n]*+[\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]+"),
    re.compile(r"^[^\S\n]*(?:#[^\W\d_][\w/-]*[^\S\n]+)+(?=\S)|(?<!\S)#(?=[^\W\d_])", re.MULTILINE),
    re.compile(r"\s?[\[(](?:sic|translated|pp?\.\s?\d{1,4}(?:[–-]\d{1,4})?)[\])]", re.IGNORECASE),
    re.compile(r"(?<![^\S\n])[^\S\n]++<?https?://[^\s<>]+>?(?=[^\S\n]*(?:\n|\Z))"),
    re.compile(r"(?<=\S)[^\S\n]++—[^\S\n]?[^\W\d_][\w.]*(?:[^\S\n][\w.]+){0,2}(?=[^\S\n]*(?:\n|\Z))"),
    re.compile(
        r"^[^\S\n]*(?:\[(?:info|warn(?:ing)?|error|debug|trace)\]|(?-i:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE))[:\s]\s*",
        re.IGNORECASE | re.MULTILINE,
    ),
    re.compile(r"^[^\S\n]*<(?=[^<>\n]*>[^\S\n]*$)|(?<=\S)>[^\S\n]*$", re.MULTILINE),
)
# What formats put around a text or write instead of its characters: XML and BBCode, LaTeX, comments of code, numbers of
# sections, keys of fields, bytes as =20 or %20. Only a text that comes in is read without it.
_ENCODED = re.compile(r"=\r?\n|((?:=[\dA-F]{2}|%[\dA-Fa-f]{2})+)")
_JOINED = re.compile(r"\b\w+(?:\+\w+){3,}|\b\w+(?:/\w+){3,}")
_BBCODE = re.compile(r"\[/?(?:b|i|u|s|quote|code|url|color|size|list|spoiler|inst)(?:=[^\]\n]{0,99})?\]", re.IGNORECASE)
_WRAPPED = re.compile(
    r"<!\[CDATA\[|\]\]>|<r[tp]>[^<>]{0,99}</r[tp]>|</?[a-z][\w:.-]{0,30}(?:\s[^<>]*)?/?>"
    r"|\{/?(?:noformat|color|quote|code|panel)(?::[^{}\n]{0,60})?\}|<\|\w{1,20}\|>(?:(?:user|assistant|system)\n)?"
    r"|<</?sys>>|:[a-z][\w-]{0,30}:(?=`)|\{[#.][\w-]{1,60}\}|\(\([\w-]{1,60}\)\)"
    r"|(?:\(edited\)|\*{1,9}/)[^\S\n]*$"
    r"|^[^\S\n]*(?:/\*+|//+|rem\s|#\+\w+:|§+\s*(?:\d[\d.]*)?|\d{1,3}(?:\.\d{1,3})+\.?\s|\[\d{1,3}\]:|\w{1,30}::"
    r"|\.\.[^\S\n]+[\w-]{1,30}::|\\[a-z]{1,30}[^\S\n]|\w{1,20}\([\w./-]{1,30}\)!?:[^\S\n]|\([ivx]{1,5}\)[^\S\n]|tl;?dr:?[^\S\n]"
    r"|\w{1,30}[^\S\n]?=(?!=))[^\S\n]*",
    re.IGNORECASE | re.MULTILINE,
)
# Those of all of these that stand at the beginning of a line.
_AT_BEGINNING = (_PREFIX, _ADDITIONS[0], _FRAMES[1], *_FRAMES[5:], _BBCODE, _WRAPPED)
_COMMAND = re.compile(r"\\[a-z]{1,30}\*?(?:\[[^\[\]{}]*\])?\{([^{}]*)\}")
# A string in quotes, as in JSON, CSV and code.
_QUOTED = re.compile(
    r'(?<![^:;|\[{(,=\s])"((?:[^"\\\n]|\\.)*)"(?=[\s,:;|/\])}>.!?]|\Z)'
    r"|(?<![^;|\[{(,=\s])'((?:[^'\\\n]|\\.)*)'(?=[\s,:;|/\])}>.!?]|\Z)"
)
# Characters that are not seen: besides those of the category Cf, some controls, colours of a terminal, marks and
# letters, and strokes through or under letters.
_UNSEEN = re.compile(
    r"\x1b\[[\d;]{0,20}[A-Za-z]|[\u0305\u0332-\u0338\u033f\x00-\x08\x0e-\x1f\x7f\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0]+"
)
# What letters leave out: spaces and the punctuation of prose. Between digits, and before one, it has a meaning.
_MARKS = (
    r"\s;:!?\"'()\[\]{}*_~|\\`\u00a1\u00ab\u00b7\u00bb\u00bf\u2010-\u2027\u2032-\u205e\u2800\u3000-\u3003\u3008-\u301f"
)
_SPACING = rf"(?:[{_MARKS}]|[.,-](?!\d))"
_PUNCTUATION = re.compile(rf"((?<=\d){_SPACING}++(?=\d))|{_SPACING}++")
_SPACES, _DIGIT = re.compile(rf"{_SPACING}++"), re.compile(r"\d")
_EDGES = re.compile(r"^\W+(?=[^\W\d])|\$+\Z")
_TAG = re.compile(r"#[^\s#]+|\^[\w-]+")


def undisguised(text: str) -> str:
    """Returns the text without invisible characters, link targets, footnote marks, HTML tags, and prefixes of quotes
    and forwards.

    >>> undisguised("> Fwd: Re: The k\\u200bey[^1] is\\n> <b>under</b> the mat."), undisguised("[12:03] The key[2]")
    ('The key is\\nunder the mat.', 'The key')
    """
    if "&" in text:
        text = html.unescape(text)
    if not text.isascii():
        text = "".join(char for char in text if char.isascii() or unicodedata.category(char) != "Cf")
    text = _HIDDEN.sub("\n", _UNSEEN.sub("", text))
    if "<" in text:
        text = _HTML.sub("", text)
    if "\\" in text:
        text = _LATEX.sub(r"\1", text)
    if "](" in text:
        text = _TARGET.sub(lambda link: "" if link[1] else link[2], text)
    if "][" in text:
        text = _REFERENCE.sub(r"\1", text)
    return _PREFIX.sub("", _FOOTNOTE.sub("", text))


def letters(words: str) -> str:
    """Returns bare words without spaces and punctuation, except between digits and before one.

    >>> letters("the boat-\\nhouse, „kept“ by ann"), letters("from 1.5 to -20, and c++")
    ('theboathousekeptbyann', 'from1.5to-20andc++')
    """
    words = _EDGES.sub("", words)
    # Without a digit, as usual, no group must be kept, which takes half the time.
    return _PUNCTUATION.sub(r"\1", words) if _DIGIT.search(words) else _SPACES.sub("", words)


def _same(text: str, speaker: str = "") -> dict[str, None]:
    """Returns the text as it is, without disguises, and without disguises and comments; each form once. So also what
    stands behind the name of its speaker, if there is a disguise.
    """
    forms = dict.fromkeys((text, undisguised(text)))
    if "<!--" in text or "%%" in text:
        forms[undisguised(_without_comments(text))] = None
    if speaker:
        said = re.sub(rf"^{re.escape(speaker)}:[^\S\n]+", "", text, flags=re.MULTILINE)
        if (plain := undisguised(said)) != said:
            forms[plain] = None
    return forms


def _said(text: str) -> dict[str, None]:
    """The forms of what stands behind the names of speakers, if there is a disguise or an addition."""
    text = undisguised(text)
    said = _SPEAKERS.sub("", text)
    if said == text:
        return {}
    # One name alone is no disguise: `_runs` reads a text without it.
    one_name = _SPEAKER.sub("", text) == said
    if one_name and not any(form.search(said) for form in _AT_BEGINNING):
        return {}
    # Behind the disguise another name may stand.
    return _without_additions(_same(said) | _same(_SPEAKERS.sub("", undisguised(said))))


def _without_additions(forms: dict[str, None]) -> dict[str, None]:
    """Returns the forms of a text, and each of them without what may have been added to it, such as a date or tags."""
    for addition in _ADDITIONS:
        forms |= dict.fromkeys(addition.sub("", form) for form in list(forms))
    forms |= dict.fromkeys(_without_frames(form) for form in list(forms))
    return forms | dict.fromkeys(undisguised(unwrapped(form)) for form in list(forms))


def _without_comments(text: str) -> str:
    """Returns the text without comments. A regular expression would search the rest of the text for the end of each
    unclosed one, and take hours.
    """
    for begin, end in _COMMENTS:
        kept, at = "", 0
        while (start := text.find(begin, at)) >= 0 and (stop := text.find(end, start + len(begin))) >= 0:
            kept, at = kept + text[at:start], stop + len(end)
        text = kept + text[at:]
    return text


def _without_frames(text: str) -> str:
    for frame in _FRAMES:
        text = frame.sub("", text)
    return text


def unwrapped(text: str) -> str:
    """Returns the text without what formats of data, code and typesetting put around a text.

    >>> unwrapped("[b]The key[/b] is <in><the/> mat</in>"), unwrapped("The=20key%20is"), unwrapped("the/key/is/in/it")
    ('The key is  mat', 'The key is', 'the key is in it')
    """
    if "[" in text:
        # First, because `[size=20]` has no encoded byte.
        text = _BBCODE.sub("", text)
    if "=" in text or "%" in text:
        text = _ENCODED.sub(_decoded, text)
    if "/" in text or "+" in text:
        text = _JOINED.sub(lambda run: re.sub("[+/]", " ", run[0]), text)
    if "\\" in text:
        text = _COMMAND.sub(r"\1", text)
    return _WRAPPED.sub("", text)


def _decoded(found: re.Match[str]) -> str:
    """Returns the characters of encoded bytes; bytes that are not UTF-8 stay as they are."""
    try:
        return bytes.fromhex(re.sub("[=%]", "", found[1] or "")).decode()
    except UnicodeDecodeError:
        return found[0]


class TombstoneMatch(NamedTuple):
    """The tombstones (hashes) that a text matches, and the rest of it that was not forgotten: empty if all was."""

    hashes: set[str]
    rest: str


@dataclass(frozen=True, slots=True)
class TextHashes:
    """The hashes of a text that may match tombstones: of the whole, of runs of sentences, of each sentence and line.

    `runs` maps the hash of each run to the spans (start, end) of the text where the run stands. `cuts` has two ways to
    cut the text, into sentences and into lines; each sentence or line has several hashes: as a part of a forgotten
    text, and as a whole forgotten text.
    """

    text: str
    whole: frozenset[str]
    runs: Mapping[str, list[tuple[int, int]]]
    cuts: tuple[tuple[tuple[str, ...], ...], ...]

    def all(self) -> set[str]:
        """Returns all hashes of the text, to look them up among the tombstones."""
        return {hash_ for cut in self.cuts for hashes in cut for hash_ in hashes} | self.whole | self.runs.keys()

    def match(self, known: Collection[str]) -> TombstoneMatch | None:
        """Returns which tombstones in `known` the text matches and what is left of it; None if nothing was
        forgotten.
        """
        found = {hash_ for hash_ in (*self.whole, *self.runs) if hash_ in known}
        for cut in self.cuts:
            by = [{hash_ for hash_ in hashes if hash_ in known} for hashes in cut]
            # If every sentence was forgotten, the short pieces between them are dropped too.
            if all(by) and any(hashes.isdisjoint(found) for hashes in by):
                return TombstoneMatch(found.union(*by), "")
        if not found:
            return None
        spans = [span for hash_ in found for span in self.runs.get(hash_, ())]
        return TombstoneMatch(found, "" if found & self.whole else _without(self.text, spans))


@dataclass(frozen=True, slots=True)
class QuotedHashes:
    """The hashes of the strings in quotes in a text, each with its span and its readings."""

    text: str
    strings: Sequence[tuple[tuple[int, int], Sequence[Reading]]]

    def all(self) -> set[str]:
        """Returns every hash."""
        return {hash_ for _, readings in self.strings for one in readings for hash_ in one.all()}

    def match(self, known: Collection[str]) -> TombstoneMatch | None:
        """Matches each string against known tombstones; None if nothing of them was forgotten."""
        found: set[str] = set()
        rest = self.text
        for (start, end), readings in reversed(self.strings):
            if (matched := _first_match(readings, known)) is not None:
                found |= matched.hashes
                rest = rest[:start] + json.dumps(matched.rest, ensure_ascii=False) + rest[end:]
        return TombstoneMatch(found, rest) if found else None


Reading = TextHashes | QuotedHashes


def quoted_hashes(text: str) -> QuotedHashes | None:
    """Returns the hashes of the strings in quotes of at least SHORTEST characters in a text, such as JSON or code, each
    with its span in the text, quotes included. Returns None if there are no such strings.

    >>> found = quoted_hashes('{"said": "the key is\\\\nunder the mat", "by": "ann"}')
    >>> [span for span, _ in found.strings]
    [(9, 36)]
    """
    if '"' not in text and "'" not in text:
        return None
    found = [(one.span(), _content(one)) for one in _QUOTED.finditer(text)]
    strings = [(span, _readings(Node("", text=said))) for span, said in found if len(said) >= SHORTEST]
    return QuotedHashes(text, strings) if strings else None


def _content(string: re.Match[str]) -> str:
    """Returns the content of a string in quotes; of one in JSON, without its escapes."""
    if string[1] is not None:
        with contextlib.suppress(ValueError):
            return str(json.loads(string[0]))
    return string[1] or string[2] or ""


def node_tombstones(node: Node, shared: Collection[str] = ()) -> list[str]:
    """Returns the hashes that a node leaves when it is forgotten. Paragraphs in `shared` (bare words) leave none."""
    return [id_hash(node.id), *text_tombstones(_text(node), _speaker(node), shared)]


def text_hashes(node: Node) -> TextHashes:
    """Returns the hashes of a node's text and of its parts, for comparison with tombstones."""
    text = _text(node)
    if not text:
        return TextHashes("", frozenset(), {}, ())
    speaker = norm_name(_speaker(node))
    runs: dict[str, list[tuple[int, int]]] = defaultdict(list)
    hashes: dict[str, list[str]] = {}
    for words, span in _runs(text, speaker):
        if words not in hashes:
            hashes[words] = _hashes("words", words)
        for hash_ in hashes[words]:
            runs[hash_].append(span)
    parts = [_parts(text, cut, speaker) for cut in _CUTS]
    cuts = [
        tuple((*_hashes("part", one), *(hashes.get(one) or _hashes("words", one))) for one in some) for some in parts
    ]
    words = bare(text, speaker)
    whole = {_hash("text", norm_name(text)), *(_hashes("words", words) if len(words) >= SHORTEST else [])}
    return TextHashes(text, frozenset(whole), runs, tuple(cuts))


def match(table: TombstoneTable, nodes: Sequence[Node]) -> dict[str, TombstoneMatch]:
    """Compares nodes with the tombstones of the user; returns the matches by node id. Nodes that match none are absent.

    An id is forgotten in its own partition, a text in all partitions of the user. Nodes stored with identical content
    are skipped: they are not coming back.
    """
    if not nodes or not table.exist():
        return {}
    hashes = [_readings(node) for node in nodes]
    ids = {id_hash(node.id): node.id for node in nodes}
    known: set[str] = set()
    gone: dict[str, str] = {}
    for hash_, partition in table.find(set(ids).union(*(one.all() for readings in hashes for one in readings))):
        known.add(hash_)
        if hash_ in ids and partition == table.partition:
            gone[ids[hash_]] = hash_
    found = _matches(nodes, hashes, known, gone)
    given = {node.id: (node.name, node.text) for node in nodes}
    for id_, stored in (table.stored(found) if found else {}).items():
        if stored == given[id_]:
            del found[id_]
    return found | _again(found, match(table, _rests(nodes, found)))


def match_known(nodes: Sequence[Node], known: Collection[str]) -> dict[str, TombstoneMatch]:
    """Matches the texts of nodes against these tombstones, stored or not; returns the matches by id."""
    if not nodes or not known:
        return {}
    found = _matches(nodes, [_readings(node) for node in nodes], known, {})
    return found | _again(found, match_known(_rests(nodes, found), known))


def _rests(nodes: Sequence[Node], found: Mapping[str, TombstoneMatch]) -> list[Node]:
    """Returns the nodes with the rest of their text, which is matched again: with the words between them removed, two
    pieces may join to a forgotten sentence.
    """
    return [replace(node, text=found[node.id].rest) for node in nodes if node.id in found and found[node.id].rest]


def _again(found: Mapping[str, TombstoneMatch], again: Mapping[str, TombstoneMatch]) -> dict[str, TombstoneMatch]:
    return {id_: TombstoneMatch(found[id_].hashes | one.hashes, one.rest) for id_, one in again.items()}


def _matches(
    nodes: Sequence[Node], hashes: Sequence[Sequence[Reading]], known: Collection[str], gone: Mapping[str, str]
) -> dict[str, TombstoneMatch]:
    """Returns the matches by node id. `hashes` has, for each of `nodes` in order, the hashes of its text as it is and,
    if that differs, as cleaned of disguises. `known` are those hashes that are the user's tombstones, `gone` the
    forgotten ids with their hashes.
    """
    found = {id_: TombstoneMatch({hash_}, "") for id_, hash_ in gone.items()}
    for node, readings in zip(nodes, hashes, strict=True):
        if known and (matched := _first_match(readings, known)) is not None:
            by_id = {gone[node.id]} if node.id in gone else set()
            # A node without text cannot be redacted, and one whose id was forgotten stays out whatever its text.
            rest = matched.rest if node.text and not by_id else ""
            found[node.id] = TombstoneMatch(matched.hashes | by_id, rest)
    return found


def _readings(node: Node) -> list[Reading]:
    """Returns the hashes of a node's text as it is and, where they differ, without disguises, additions and speakers,
    and of its strings in quotes.
    """
    strings = quoted_hashes(_text(node))
    return [*_forms(node), *([strings] if strings is not None else ())]


def _forms(node: Node) -> list[TextHashes]:
    forms = _without_additions(_same(_text(node), _speaker(node))) | _said(_text(node))
    if "_" in _text(node) and " " not in _text(node):
        # A tag or a bucket, as it is stored.
        spaced = _text(node).replace("_", " ")
        forms |= _without_additions(_same(spaced)) | _said(spaced)
    return [text_hashes(node if form == _text(node) else replace(node, text=form)) for form in forms]


def _first_match(readings: Sequence[Reading], known: Collection[str]) -> TombstoneMatch | None:
    """Returns the match that leaves nothing of the text if there is one, else the first; None if there is none."""
    matches = [found for one in readings if (found := one.match(known)) is not None]
    return min(matches, key=lambda found: bool(found.rest), default=None)


def match_texts(table: TombstoneTable, texts: Collection[str]) -> dict[str, TombstoneMatch]:
    """Compares texts of any records with the tombstones of the user; returns the matches by text.

    Texts with fewer than SHORTEST characters never match, because they do not identify a memory.
    """
    readings = _readings_of_fields(texts) if table.exist() else {}
    if not readings:
        return {}
    known = {hash_ for hash_, _ in table.find({h for some in readings.values() for one in some for h in one.all()})}
    return _matched_fields(readings, known)


def match_known_texts(texts: Collection[str], known: Collection[str]) -> dict[str, TombstoneMatch]:
    """Matches texts of any records against these tombstones, as `match_texts` does; returns the matches by text."""
    return _matched_fields(_readings_of_fields(texts), known)


def _readings_of_fields(texts: Collection[str]) -> dict[str, list[Reading]]:
    long = (text for text in dict.fromkeys(texts) if len(bare(undisguised(text))) >= SHORTEST)
    return {text: _readings(Node("", text=text)) for text in long}


def _matched_fields(readings: Mapping[str, Sequence[Reading]], known: Collection[str]) -> dict[str, TombstoneMatch]:
    found = {text: _first_match(some, known) for text, some in readings.items()} if known else {}
    return {text: one for text, one in found.items() if one is not None}


def redact(nodes: Iterable[Node], matches: Mapping[str, TombstoneMatch]) -> tuple[list[Node], set[str], set[str]]:
    """Returns the nodes without forgotten text, the ids of those kept out, and the ids of those shortened."""
    out = {id_ for id_, one in matches.items() if not one.rest}
    unique = {node.id: node for node in nodes if node.id not in out}
    for id_ in matches.keys() - out:
        # The SimHash and the topics of the whole text could reveal the part that is left out.
        node, rest = unique[id_], matches[id_].rest
        props = (
            {**topics_in(rest), **without_topics_in(node.props, node.text)} if has_topics(node.props) else node.props
        )
        unique[id_] = replace(node, text=rest, simhash=None, props=props)
    return list(unique.values()), out, matches.keys() - out


def remove_tombstones(table: TombstoneTable, nodes: Iterable[Node], matches: Mapping[str, TombstoneMatch]) -> None:
    """Removes the tombstones that matched these nodes, and all that the nodes would leave if forgotten."""
    matched = [node for node in nodes if node.id in matches]
    table.remove({hash_ for node in matched for hash_ in (*matches[node.id].hashes, *node_tombstones(node))})


def add_tombstones(
    tx: WriteTransaction, partition: int, nodes: Sequence[Node], now: int, id_only: Collection[str] = (),
    shared: Collection[str] = (),
) -> None:  # fmt: skip
    """Leaves tombstones (hashes that keep a text from coming back) for nodes of a partition and for their earlier
    texts, and removes the earlier texts.

    Nodes in `id_only` leave a tombstone of their id alone, because other nodes have the same text. Paragraphs in
    `shared` leave none, because other files contain them.
    """
    ids = [node.id for node in nodes]
    hashes = [hash_ for n in nodes for hash_ in ([id_hash(n.id)] if n.id in id_only else node_tombstones(n, shared))]
    for id_, text in tx.history.texts(partition, ids):
        if id_ not in id_only:
            hashes += text_tombstones(text)
    tx.history.remove(partition, ids)
    tx.tombstones.put(partition, [Tombstone(hash_, now) for hash_ in hashes])


def id_hash(id_: str) -> str:
    """Returns the hash that stands for an id among the tombstones."""
    return _hash("id", norm_name(id_))


def bare(text: str, speaker: str = "") -> str:
    """Returns the bare words: lower case, single spaces, without markup, speaker, list marks and final punctuation.

    >>> bare("- [x] The **KEY** is  under the [[mat]]! #home"), bare("Ann: The key.", "Ann"), bare("Note: the key")
    ('the key is under the mat', 'the key', 'note: the key')
    """
    return _stripped(_plain(text), norm_name(speaker))


def bare_words(node: Node) -> str:
    """Returns a node's text (or name, if it has none) without case, markup, speaker and list marks; see `bare`."""
    return bare(_text(node), _speaker(node))


def _text(node: Node) -> str:
    return node.text or node.name or ""


def _speaker(node: Node) -> str:
    speaker = node.props.get("speaker")
    return speaker if isinstance(speaker, str) else ""


def _hash(kind: str, words: str) -> str:
    """Returns the hash of normalised words. `kind` keeps the hashes of whole texts, of parts and of ids apart."""
    return hashlib.blake2b(f"{kind} {words}".encode(), digest_size=16, person=b"cuetrail.text").hexdigest()


def _hashes(kind: str, words: str) -> list[str]:
    """Returns the hashes under which bare words may have been forgotten: of the words (older versions) or letters."""
    return list(dict.fromkeys((_hash(kind, words), _tombstone(kind, words))))


def _tombstone(kind: str, words: str) -> str:
    """Returns the hash that bare words leave when forgotten: of their letters, or of the words if letters are few."""
    found = letters(words)
    return _hash(f"{kind} letters", found) if len(found) >= SHORTEST else _hash(kind, words)


def text_tombstones(text: str, speaker: str = "", shared: Collection[str] = ()) -> list[str]:
    """Returns the hashes that a forgotten text leaves: none of `shared` paragraphs alone, which others contain too."""
    return [hash_ for form in _same(text, speaker) if form for hash_ in _tombstones(form, speaker, shared)]


def node_paragraphs(node: Node) -> list[str]:
    """Returns the bare words of the paragraphs of a node that identify a text."""
    return paragraphs(_text(node), _speaker(node))


def paragraphs(text: str, speaker: str = "") -> list[str]:
    """Returns each paragraph of a text, and each turn of its speaker, as bare words (see `bare`); not short ones."""
    said = re.split(rf"\n(?={re.escape(speaker)}: )", text) if speaker else [text]
    found = (bare(one, speaker) for some in said for one in _BLANK_LINE.split(some))
    return [words for words in dict.fromkeys(found) if len(words) >= SHORTEST]


def whole_tombstones(nodes: Iterable[Node], shared: Collection[str] = ()) -> set[str]:
    """Returns the hashes that forgotten nodes leave of their whole texts and paragraphs, without those of sentences."""
    texts = {(text, _speaker(node)) for node in nodes for text in _same(_text(node), _speaker(node)) if text}
    return {hash_ for text, speaker in texts for hash_ in _whole_tombstones(text, speaker, shared)}


def _whole_tombstones(text: str, speaker: str, shared: Collection[str]) -> list[str]:
    words = bare(text, speaker)
    whole = {words} if len(words) >= SHORTEST else set[str]()
    blocks = whole.union(one for one in paragraphs(text, speaker) if one not in shared)
    return [_hash("text", norm_name(text)), *(_tombstone("words", one) for one in sorted(blocks))]


def _tombstones(text: str, speaker: str, shared: Collection[str]) -> list[str]:
    words, own = bare(text, speaker), text
    if shared:
        own = "\n\n".join(block for block in _BLANK_LINE.split(text) if bare(block, speaker) not in shared)
    parts = dict.fromkeys(one for cut in _CUTS for one in _parts(own, cut, norm_name(speaker)) if one != words)
    return _whole_tombstones(text, speaker, shared) + [_tombstone("part", one) for one in parts]


def _plain(text: str) -> str:
    """Returns the text normalised, without markup and without tags at its end."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    if "[" in text:
        text = _LINK.sub(lambda match: match[1] or match[2] or "", text)
    words = norm_name(_MARKUP.sub("", text))
    if "#" not in words and "^" not in words:
        return words
    said = words.split(" ")
    while said and (not said[-1] or _TAG.fullmatch(said[-1])):
        said.pop()
    return " ".join(said)


def _start(words: str, speaker: str) -> int:
    """Returns the position in `words` behind list marks, quotes and the name of the speaker."""
    label, at = f"{speaker}: " if speaker else "", 0
    while True:
        if (before := _BEFORE.match(words, at)) is not None:
            at = before.end()
        elif label and words.startswith(label, at):
            at += len(label)
        else:
            return at


def _stripped(words: str, speaker: str) -> str:
    return words[_start(words, speaker) :].rstrip(_BEHIND)


class _Piece(NamedTuple):
    """A normalised piece of a text (sentence, line or table cell), its position, and the space behind it."""

    words: str
    start: int
    end: int
    gap: str


def _pieces(text: str, cut: re.Pattern[str]) -> list[_Piece]:
    cuts = [0, *(found.end() for found in cut.finditer(text)), len(text)]
    pieces = []
    for start, end in pairwise(cuts):
        # Scripts without spaces have no gap between sentences.
        edge = text[end - 1 : end + 1]
        if words := _plain(text[start:end]):
            pieces.append(_Piece(words, start, end, " " if edge != edge.strip() else ""))
    return pieces


def _parts(text: str, cut: re.Pattern[str], speaker: str) -> list[str]:
    """Returns the sentences or lines (`cut`) of a text as bare words, if they are long enough to identify a text."""
    found = (_stripped(piece.words, speaker) for piece in _pieces(text, cut))
    return [words for words in found if len(words) >= SHORTEST]


def _runs(text: str, speaker: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yields every run of consecutive sentences or lines that is long enough to identify a text: its bare words, and
    its span in the text.
    """
    pieces = _pieces(text, _PIECE)
    longest = min(LONGEST, max(FEWEST, MOST_RUNS // max(1, len(pieces))))
    for number, first in enumerate(pieces):
        begin = _start(first.words, speaker)
        # A leading name may or may not be a speaker: both readings are hashed.
        label = _LABEL.match(first.words, begin)
        starts = (begin,) if label is None else (begin, _start(first.words[label.end() :], "") + label.end())
        run = ""
        for piece in pieces[number : number + longest]:
            run += piece.words
            end = run.rstrip(_BEHIND)
            for at in starts:
                if len(end) - at >= SHORTEST:
                    yield end[at:], (first.start, piece.end)
            run += piece.gap


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Returns the text without these spans; "" if no letter or digit is left."""
    kept, at = "", 0
    for start, end in sorted(spans):
        kept = _joined(kept, text[at : max(at, start)])
        at = max(at, end)
    left = _joined(kept, text[at:]).strip()
    return left if any(char.isalnum() for char in bare(left)) else ""


def _joined(before: str, behind: str) -> str:
    """Returns both texts joined; of the line breaks where they meet, only the longer run is kept."""
    ends, begins = len(before) - len(before.rstrip("\n")), len(behind) - len(behind.lstrip("\n"))
    return before + behind[min(ends, begins) :]


def copy_test(nodes: Sequence[Node]) -> tuple[tuple[int, int] | None, Callable[[str, Mapping[str, Any]], bool]]:
    """Returns the least and greatest length (without white space) that a copy of one of these nodes can have, and a
    test for copies.

    The test gets a text and its props; case, spacing, markup, disguises and the speaker do not count. Instead of
    lengths there is None if no node has text.
    """
    said = [node for node in nodes if node.text]
    texts = {fingerprint(node.text) for node in said}
    words = {one for node in said for one in _bare_readings(node) if len(one) >= SHORTEST}
    sizes = [len("".join(text.split())) for node in said for text in (node.text, *_bare_readings(node))]

    def is_copy(text: str, props: Mapping[str, Any]) -> bool:
        return fingerprint(text) in texts or not words.isdisjoint(_bare_readings(Node("", text=text, props=props)))

    return (min(sizes), max(sizes) + AROUND) if sizes else None, is_copy


def _bare_readings(node: Node) -> tuple[str, ...]:
    """Returns a node's text as bare words (see `bare`): as it is, and without disguises, in the forms of `_same`."""
    return tuple(bare(form, _speaker(node)) for form in _same(_text(node), _speaker(node)))
