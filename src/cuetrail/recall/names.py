"""Names: which words of a text may be a name, in which variants a node's name is written, and which nodes carry a name.

>>> sorted(possible_names("They met Ada Lovelace's aunt."))[:4]
['ada lovelace', "ada lovelace's aunt", "lovelace's aunt", 'they']
>>> sorted(name_variants("Margaret Mayo (playwright)")), sorted(name_variants("Fort Deposit, Alabama"))
(['margaret mayo', 'margaret mayo playwright'], ['fort deposit', 'fort deposit alabama'])
>>> other_spellings("müllers"), other_spellings("the duchies"), other_spellings("glass"), other_spellings("anna")
(['mullers', 'müller', 'muller'], ['the duchy'], [], [])
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

from cuetrail.model import Node
from cuetrail.recall.stages import RecallContext
from cuetrail.text import names as name_rules
from cuetrail.text.normalise import folded, norm_name
from cuetrail.text.word_lists import FUNCTION_WORDS

MOST_NAME_WORDS = 8
MOST_ALIASES = 5
# Names are only looked for in the first characters of a text.
MOST_CHARS = 4_000
CACHED_TEXTS = 1 << 13
# How many nodes with a similar name are looked at, for how many words of the cue.
MOST_SIMILAR, MOST_WORDS = 20, 16
# A shorter word that ends in s is hardly a plural.
_SHORTEST_PLURAL = 4
_WORD = re.compile(r"[^\W_]+(?:[.'’&-][^\W_]+)*")
_SENTENCE_END = re.compile(r"[.!?;]\s|\n")
_POSSESSIVE = re.compile(r"['’]s?$")
_FIRST_NAME = re.compile(r"(?<!\w)(?!(?:The|A|In|On|At|And|But|Of)\b)[A-Z][\w.'’-]* $")
_NO_LETTER = re.compile(r"[\W_]+")
_ACCENTS = re.compile(r"[\u0300-\u036f]+")
_QUALIFIER = re.compile(r"\s*(?:\([^()]*\)\s*$|,\s.*$)")


# --- possible names in a text


class WordRun(NamedTuple):
    """Consecutive words that may be a name: in normal form, and their position among the words of the text.

    `capital`: one has a capital that does not only begin the text. `part`: they seem to be part of a longer name.
    """

    norm: str
    start: int
    end: int
    capital: bool
    part: bool


def word_runs(text: str, capital_first: bool = False) -> Iterator[WordRun]:
    """Yields every run of words that may be a name: within a sentence, and not ending in a function word.

    With `capital_first`, only runs that begin with a capital or a number.
    """
    text = text[:MOST_CHARS]
    words = list(_WORD.finditer(text))
    capitals = [word[0][0].isupper() for word in words]
    # A full stop behind an initial or a title does not end a sentence.
    ends = [
        len(left[0]) > 2 and bool(_SENTENCE_END.search(text, left.end(), right.start() + 1))
        for left, right in pairwise(words)
    ]
    function_words = [word[0].lower() in FUNCTION_WORDS for word in words]
    for start, first in enumerate(words):
        if capital_first and not capitals[start] and not first[0][0].isdigit():
            continue
        for end in range(start, min(start + MOST_NAME_WORDS, len(words))):
            if end > start and ends[end - 1]:
                break
            if function_words[end] and not capitals[end]:
                continue
            run = text[first.start() : words[end].end()]
            if run[-1] in "s'’":
                run = _POSSESSIVE.sub("", run)
            elif "(" in run and ")" not in run and text[words[end].end() :][:1] == ")":
                run += ")"
            capital = any(capitals[max(start, 1) : end + 1]) or (end == 0 and capitals[0])
            yield WordRun(norm_name(run), start, end + 1, capital, _is_part(text, words, start, end))


def _is_part(text: str, words: Sequence[re.Match[str]], start: int, end: int) -> bool:
    """True if a capitalised word follows at once, or precedes a single word as a first name does."""
    after = words[end + 1] if end + 1 < len(words) else None
    if after is not None and after[0][0].isupper() and text[words[end].end() : after.start()] == " ":
        return True
    before = words[start - 1] if start == end and start else None
    if before is None or not before[0][0].isupper() or text[before.end() : words[start].start()] not in (" ", ". "):
        return False
    return before[0].lower() not in FUNCTION_WORDS


@lru_cache(CACHED_TEXTS)
def possible_names(text: str) -> frozenset[str]:
    """Returns every run of words that begins like a name, in normal form: many of them are no names."""
    found = (run.norm for run in word_runs(text, capital_first=True) if not run.part)
    return frozenset(norm for norm in found if len(norm) > 2 and not norm.isdigit())


@lru_cache(CACHED_TEXTS)
def proper_names(text: str) -> frozenset[str]:
    """Returns the names that the rules of `text.names` find in a text, folded."""
    (found,) = name_rules.find([text[:MOST_CHARS]])
    return frozenset(name for name in map(fold, found) if len(name) > 2 and not name.isdigit())


# --- a known name in texts


def fold(text: str) -> str:
    """Returns the words of a text in lower case, without accents and punctuation, separated by single spaces.

    >>> fold("São José's (old) town")
    'sao jose s old town'
    """
    if not text.isascii():
        text = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return _NO_LETTER.sub(" ", text.casefold()).strip()


@lru_cache(CACHED_TEXTS)
def fold_padded(text: str) -> str:
    """Returns the beginning of a text, folded, with a space at both ends, so that " word " finds whole words."""
    return f" {fold(text[:MOST_CHARS])} "


@lru_cache(1 << 14)
def name_variants(name: str) -> frozenset[str]:
    """Returns the folded forms in which a text may write a name: in full, and without a bracket or comma part."""
    forms = {fold(name), fold(_QUALIFIER.sub("", name))}
    return frozenset(form for form in forms if len(form) > 2)


def variants_of(node: Node) -> frozenset[str]:
    """Returns the variants of a node's name and of its first aliases."""
    if not node.aliases:
        return name_variants(node.name) if node.name else frozenset()
    names = [name for name in (node.name, *node.aliases[:MOST_ALIASES]) if name]
    return frozenset[str]().union(*map(name_variants, names))


def texts_with(names: Collection[str], texts: Mapping[str, str]) -> dict[str, list[str]]:
    """Returns, for each folded name, the ids of the padded texts that contain it, in the order of the texts.

    >>> texts = {"a": fold_padded("Ada Lovelace, Ada"), "b": fold_padded("Ada!"), "c": fold_padded("Adana")}
    >>> texts_with({"ada", "ada lovelace"}, texts)
    {'ada': ['a', 'b'], 'ada lovelace': ['a']}
    """
    from ahocorasick_rs import AhoCorasick, Implementation

    found: dict[str, list[str]] = {name: [] for name in sorted(names)}
    if found:
        keys = list(found)
        words = AhoCorasick([f" {name} " for name in keys], implementation=Implementation.ContiguousNFA)
        for id_, text in texts.items():
            for at in {match[0] for match in words.find_matches_as_indexes(text, overlapping=True)}:
                found[keys[at]].append(id_)
    return found


def mentions(text: str, name: str) -> bool:
    """True if a text contains a folded name, and not as part of a longer name.

    >>> mentions("He met John Middleton.", "john middleton"), mentions("He met John Middleton Murry.", "john middleton")
    (True, False)
    >>> mentions("Morgan sings.", "morgan"), mentions("Frank Morgan sings.", "morgan")
    (True, False)
    """
    found = _mention(name).finditer(text)
    return any(
        " " in name or not _FIRST_NAME.search(text, max(match.start() - 40, 0), match.start()) for match in found
    )


@lru_cache(1 << 12)
def _mention(name: str) -> re.Pattern[str]:
    words = r"[\W_]+".join(re.escape(word) for word in name.split())
    # Case is ignored in the name only: a capital behind it makes it part of a longer one.
    return re.compile(rf"(?i:(?<!\w){words}(?!\w))(?! [A-Z])")


def clear_name_caches() -> None:
    """Drops all cached texts, so that forgotten ones do not stay in memory."""
    for cached in (possible_names, proper_names, fold_padded, name_variants):
        cached.cache_clear()


# --- nodes by name


def other_spellings(norm: str) -> list[str]:
    """Returns other names that may be meant: without accents, and in the singular."""
    spellings = [norm] if norm.isascii() else [norm, folded(norm)]
    plural = norm.endswith("s") and not norm.endswith("ss") and len(norm) >= _SHORTEST_PLURAL
    singular = [f"{one[:-3]}y" if one.endswith("ies") else one[:-1] for one in spellings] if plural else []
    return list(dict.fromkeys([*spellings[1:], *singular]))


def nodes_named(context: RecallContext, norms: Iterable[str], each: int) -> dict[str, list[str]]:
    """Returns the ids of the nodes with each name; `each` limits those whose name goes on with a bracket or comma.

    The exact spelling wins over other spellings. Names that no node has are left out.
    """
    norms = list(norms)
    others = {norm: other_spellings(norm) for norm in norms if norm[-1:] == "s" or not norm.isascii()}
    wanted = list(dict.fromkeys([*norms, *chain.from_iterable(others.values())]))
    ids = context.store.named(context.scope, wanted, each)
    by_other = {norm: next((ids[one] for one in some if one in ids), []) for norm, some in others.items()}
    return {norm: found for norm in norms if (found := ids.get(norm) or by_other.get(norm))}


def nodes_named_with_accents(context: RecallContext, runs: Sequence[WordRun]) -> dict[str, list[str]]:
    """Returns, for each run, the ids of nodes whose name equals it but for accents: "Jose" finds José."""
    single = dict.fromkeys(run.norm for run in runs if run.end - run.start == 1)
    words = dict.fromkeys(fold(one) for norm in single for one in (norm, *other_spellings(norm)))
    if not words:
        return {}
    ids_by_variant: dict[str, list[str]] = {}
    for similar in context.store.named_like(context.scope, list(words)[:MOST_WORDS], (), MOST_SIMILAR):
        for name in (similar.name, *similar.aliases[:MOST_ALIASES]):
            # A name without accents was found by its exact spelling already.
            for form in name_variants(folded(name)) if not name.isascii() else ():
                ids_by_variant.setdefault(form, []).append(similar.id)
    found: dict[str, list[str]] = {}
    for run in runs if ids_by_variant else ():
        spellings = (run.norm, *other_spellings(run.norm))
        ids = [id_ for one in spellings for id_ in ids_by_variant.get(fold(one), ())]
        if ids:
            found[run.norm] = sorted(set(ids))
    return found
