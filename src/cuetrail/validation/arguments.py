"""The rules for the arguments of the verbs: one table. A name means the same in every verb.

@checked
def recall(self, cue: str, *, limit: int = 10) -> Recollection: ...

recall("tea", limit="3")    # InputError: limit must be a whole number, not '3'
"""

from __future__ import annotations

import errno
import inspect
import json
import math
import os
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from itertools import islice
from pathlib import Path, PurePath
from typing import Any, ParamSpec, TypedDict, TypeVar, get_args, get_type_hints

from cuetrail.errors import InputError
from cuetrail.model import Budget, Claim, FactProvenance, Provenance, Rank, Retention, Scope, When, Where
from cuetrail.model.tags import make_tags, norm_buckets
from cuetrail.recall.stage_types import Measure, Mode, Recipe
from cuetrail.text.normalise import clean, storable
from cuetrail.text.similarity import MEASURES
from cuetrail.validation.convert_arguments import COERCIONS, TERMS, coerced, ms_of
from cuetrail.validation.limits import MOST, MOST_ITEMS, TIMES, WORD_CHARS

PROVENANCES, MODES, RANKS, CLAIMS = get_args(Provenance), get_args(Mode), get_args(Rank), get_args(Claim)
RETENTIONS, FACT_PROVENANCES = get_args(Retention), get_args(FactProvenance)
LEVELS = (1, 5)
"""The range of attitude and proximity."""

# Positions and counts stay far inside the 64 bits an engine keeps.
_FAR = 2**62

C = TypeVar("C", bound=str)
P = ParamSpec("P")
R = TypeVar("R")


class PlaceFilters(TypedDict, total=False):
    """Filters on nodes: one of the `buckets`, a time from `since` to `until`, and properties with these values, such as
    {"project": "x"}. Quarantined and archived nodes are left out unless they are included.
    """

    buckets: Iterable[str]
    since: When | None
    until: When | None
    props: Mapping[str, Any] | None
    include_quarantined: bool
    include_archived: bool


class KindFilters(PlaceFilters, total=False):
    """The filters of `PlaceFilters`, and one of the `kinds`."""

    kinds: Iterable[str]


class Filters(KindFilters, total=False):
    """The filters of `KindFilters`, and all of the `tags`."""

    tags: Iterable[str]


class RecallOptions(Filters, total=False):
    """The filters, and the options that every recipe of a recall takes; see `Memory.recall`."""

    limit: int | None
    fuzzy: bool
    record_access: bool
    count_tokens: Measure | None
    now: When | None


@dataclass(frozen=True, slots=True)
class Rule:
    """A test for values (`fits`), and a description of the values that pass it (`what`)."""

    fits: Callable[[Any], bool]
    what: str


def is_whole(value: object) -> bool:
    """True if this is a whole number small enough to be stored; True and False are not numbers."""
    return isinstance(value, int) and not isinstance(value, bool) and -_FAR < value < _FAR


def is_time(value: object) -> bool:
    """True if this is a time in UTC milliseconds, from the year 1 to the year 9999."""
    return is_whole(value) and TIMES[0] <= value <= TIMES[1]  # type: ignore[operator]  # it is a whole number


def is_number(value: object) -> bool:
    """True if this is a finite number; True and False are not numbers."""
    if not isinstance(value, float | int) or isinstance(value, bool):
        return False
    # A whole number may be too large for a float.
    return -_FAR < value < _FAR if isinstance(value, int) else math.isfinite(value)


def is_path(value: object) -> bool:
    """True if a file could have this name. `~name` is the home of a user of this machine.

    False for links that lead to each other, which no file can have.
    """
    if not isinstance(value, str | PurePath) or not str(value) or "\x00" in str(value):
        return False
    try:
        os.fsencode(value)
        path = Path(value).expanduser()
    except (UnicodeEncodeError, RuntimeError):
        return False
    return not _is_loop(path)


def _is_loop(path: Path) -> bool:
    try:
        path.stat()
    except OSError as error:
        return error.errno == errno.ELOOP
    return False


def is_list(value: object) -> bool:
    """True if this can be iterated over and is neither a text nor a mapping."""
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | bytearray | Mapping)


def _is_budget(value: object) -> bool:
    return isinstance(value, Budget) and all(
        size is None or (is_whole(size) and size <= MOST["budget"]) for size in (value.chars, value.tokens)
    )


def _at_most(name: str) -> Rule:
    return Rule(lambda value: is_whole(value) and value <= MOST[name], f"a whole number of at most {MOST[name]}")


def _is_embedder(value: object) -> bool:
    return (
        value is None
        or isinstance(value, str)
        or all(hasattr(value, name) for name in ("model", "embed", "embed_query"))
    )


def _is_reranker(value: object) -> bool:
    return value is None or isinstance(value, str) or all(hasattr(value, name) for name in ("name", "scores"))


def _is_tagger(value: object) -> bool:
    named = isinstance(getattr(value, "name", None), str)
    return callable(value) and named and is_whole(getattr(value, "shared", None))


_TEXT = Rule(lambda value: isinstance(value, str), "a text")
# Texts that are looked up unchanged: broken characters cannot be removed first.
_STORABLE = Rule(lambda value: isinstance(value, str) and storable(value), "a text without broken characters")
_FLAG = Rule(lambda value: isinstance(value, bool), "True or False")
_WHOLE = Rule(is_whole, "a whole number of at most 18 digits")
_NUMBER = Rule(is_number, "a number")
_TIME = Rule(
    is_time,
    "a time in UTC milliseconds from the year 1 to 9999, a date, a datetime, or a text such as 2025-03-04 or yesterday",
)
_WORDS = Rule(is_list, 'a list of texts, such as ["field"]')
_PATH = Rule(is_path, "a path (`~name` only for a user of this machine, and no links that lead to each other)")
_FUNCTION = Rule(callable, "a function")

RULES: Mapping[str, Rule] = {
    **dict.fromkeys(
        ("cue", "dst", "format", "id", "ids", "into", "kind", "name", "object", "predicate", "prefix"), _TEXT
    ),
    **dict.fromkeys(("after", "what", "zone"), _TEXT),
    **{name: _at_most(name) for name in MOST if name not in ("depth", "max_hops")},
    **dict.fromkeys(("cache", "single"), _FLAG),
    "as_of": _TIME,
    "extractor": Rule(
        lambda value: value is None or isinstance(value, str) or callable(value),
        '"rules", "none", "openai:URL#MODEL", or a function from passages to lists of triples',
    ),
    "floor": _NUMBER,
    **dict.fromkeys(("source_ref", "src", "subject", "target", "text", "type", "api_key"), _TEXT),
    **dict.fromkeys(("bucket", "source"), _STORABLE),
    **dict.fromkeys(("allow_again", "force", "include_archived", "fuzzy", "include_quarantined", "repair"), _FLAG),
    "data": Rule(lambda value: isinstance(value, bytes), "bytes"),
    "purge": _FLAG,
    "min_results": Rule(
        lambda value: is_whole(value) and 0 <= value <= MOST["min_results"],
        f"a whole number from 0 to {MOST['min_results']}",
    ),
    "seq": Rule(lambda value: is_whole(value) and 0 <= value <= MOST["seq"], f"a whole number from 0 to {MOST['seq']}"),
    **dict.fromkeys(
        ("dry_run", "everyone", "everything", "follow", "follow_links", "record_access", "vectors", "watch"), _FLAG
    ),
    **dict.fromkeys(("attitude", "proximity"), _WHOLE),
    **dict.fromkeys(
        ("confidence", "min_activation", "tag_sim_floor", "text_weight", "vector_weight", "weight"), _NUMBER
    ),
    "expires": Rule(
        lambda value: is_time(value) or (isinstance(value, str) and value in TERMS),
        f"a time in UTC milliseconds, a date, a datetime, a text such as 2025-03-04, or {', '.join(TERMS)}",
    ),
    **dict.fromkeys(("at", "now", "since", "until", "valid_from", "valid_until"), _TIME),
    **dict.fromkeys(("aliases", "buckets", "keywords", "kinds", "only", "tags"), _WORDS),
    **dict.fromkeys(("relationship_types", "exclude_relationship_types"), _WORDS),
    **dict.fromkeys(("address", "backup", "directory", "path"), _PATH),
    **dict.fromkeys(("choose_tags", "count_tokens", "on_line", "on_report", "progress"), _FUNCTION),
    "budget": Rule(
        _is_budget, f"a number of tokens, Budget(tokens=2000) or Budget(chars=8000), of at most {MOST['budget']}"
    ),
    "embedder": Rule(_is_embedder, 'an Embedder, the name of one such as "static", or None'),
    "reranker": Rule(_is_reranker, 'a Reranker, the name of one such as "onnx:FOLDER", or None'),
    "items": Rule(is_list, 'a list of texts, nodes or mappings, such as ["a text", {"text": "another", "tags": []}]'),
    "messages": Rule(is_list, 'a list of messages such as [{"role": "user", "content": "hello"}]'),
    "vector": Rule(is_list, "a list of numbers"),
    "questions": Rule(
        lambda value: is_path(value) or is_list(value),
        'a file of questions, or a list such as [{"question": "...", "gold": ["id or name"]}]',
    ),
    "others": Rule(
        lambda value: isinstance(value, Mapping) and all(isinstance(one, Recipe) for one in value.values()),
        'recipes by name, such as {"mine": recipes.TRAIL}',
    ),
    "seeds": Rule(
        lambda value: isinstance(value, str) or is_list(value),
        'a query, or a list of ids and scores such as [("A0", 0.9)]',
    ),
    "props": Rule(lambda value: isinstance(value, Mapping), 'a mapping, such as {"role": "hardware"}'),
    **dict.fromkeys(("spill", "undo"), _FLAG),
    # Each verb has its own modes and checks them itself.
    **dict.fromkeys(("direction", "mode"), _TEXT),
    # `validation.queries` checks these, with the range of each.
    **dict.fromkeys(("depth", "max_hops"), _WHOLE),
    "damping": _NUMBER,
    "granularity": _WHOLE,
    **dict.fromkeys(("explain", "multi_query"), _FLAG),
    "queries": Rule(is_list, 'a list of texts or of {"query": ..., "threshold": ...}'),
    "text_matches": _WORDS,
    "weights": Rule(lambda value: isinstance(value, Mapping), 'a mapping, such as {"semantic": 0.5, "time": 0.2}'),
    **dict.fromkeys(("expander", "teller"), _FUNCTION),
    "relationship_filters": Rule(
        lambda value: isinstance(value, Mapping),
        'a mapping, such as {"min_attitude": 4, "relationship_types": ["friend"]}',
    ),
    "start": Rule(
        lambda value: isinstance(value, str) or is_list(value), "the id or name of a node, or a list of these"
    ),
    "rank": Rule(lambda value: isinstance(value, str) and value in RANKS, " or ".join(RANKS)),
    "retention": Rule(lambda value: isinstance(value, str) and value in RETENTIONS, " or ".join(RETENTIONS)),
    "claim": Rule(lambda value: isinstance(value, str) and value in CLAIMS, " or ".join(CLAIMS)),
    "provenance": Rule(lambda value: isinstance(value, str) and value in PROVENANCES, " or ".join(PROVENANCES)),
    "placement": Rule(lambda value: isinstance(value, str) and value in ("first", "all"), "first or all"),
    "recipe": Rule(
        lambda value: isinstance(value, Recipe | str), 'a Recipe or its name, such as recipes.TRAIL or "tag-walk"'
    ),
    "scope": Rule(lambda value: isinstance(value, Scope), 'a Scope, such as Scope("acme", "ann")'),
    "tagger": Rule(_is_tagger, "an AutoTagger: a function from texts to lists of tags, with a name and `shared`"),
    "stop": Rule(lambda value: hasattr(value, "is_set"), "a threading.Event"),
}


VERB_RULES: Mapping[tuple[str, str], Rule] = {
    ("fact", "provenance"): Rule(
        lambda value: isinstance(value, str) and value in FACT_PROVENANCES, " or ".join(FACT_PROVENANCES)
    ),
    ("explore", "fuzzy"): Rule(lambda value: isinstance(value, str) and value in MEASURES, " or ".join(MEASURES)),
}
"""Rules of single verbs, where a name means something else than elsewhere."""


def refusal(name: str, value: object, rule: Rule | None = None) -> InputError:
    """Returns the error for an argument that breaks its rule; it says what the argument must be."""
    # The value of a key is never shown, even if it has the wrong type.
    given = type(value).__name__ if name == "api_key" else reprlib.repr(value)
    hint = ": chat takes the messages of a chat" if name == "text" and isinstance(value, list | Mapping) else ""
    return InputError(f"{name} must be {(rule or RULES[name]).what}, not {given}{hint}")


def check(name: str, value: object) -> None:
    """Raises InputError if the value breaks the rule of its name."""
    if not RULES[name].fits(value):
        raise refusal(name, value)


def checked(verb: Callable[P, R]) -> Callable[P, R]:
    """Decorator: returns the verb with a check of each argument by RULES. None passes if it is the default.

    Times, budgets and recipes are first turned into what the verb takes (`convert_arguments`). The verb then raises
    InputError for a wrong argument, and for a path that the system cannot open; TypeError for an unknown keyword.
    """
    signature = inspect.signature(verb).parameters.values()
    parameters = [p for p in signature if p.name != "self" and p.kind is not p.VAR_KEYWORD]
    options = _options(verb)
    known = [*(p.name for p in parameters), *options]
    rules = {name: VERB_RULES.get((verb.__name__, name), RULES[name]) for name in known}
    optional = {p.name for p in parameters if p.default is None}
    optional |= {name for name, hint in options.items() if "None" in str(hint)}
    skipped = sum(p.name == "self" for p in signature)
    names = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
    takes_path = any(RULES[name] is _PATH for name in rules)
    many = any(p.kind is p.VAR_POSITIONAL for p in parameters)

    def checked_call(*args: P.args, **kwargs: P.kwargs) -> R:
        given = args[skipped:]
        if many:
            check_length(names[0], given)
        for name, value in zip(names * len(given) if many else names, given, strict=False):
            if not rules[name].fits(value) and not (value is None and name in optional):
                raise refusal(name, value, rules[name])
        if any(name in COERCIONS for name in kwargs):
            kwargs = coerced(kwargs)  # type: ignore[assignment]  # the same names, with the types that the verb takes
        for name, value in kwargs.items():
            if name not in rules:
                raise TypeError(f"{verb.__qualname__}() got an unexpected keyword argument {name!r}")
            if not rules[name].fits(value) and not (value is None and name in optional):
                raise refusal(name, value, rules[name])
        return verb(*args, **kwargs)

    return wraps(verb)(_with_errors_in_words(checked_call, takes_path))


def _with_errors_in_words(call: Callable[P, R], takes_path: bool) -> Callable[P, R]:
    """Returns the call, which raises InputError in place of errors that `_in_words` knows."""

    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return call(*args, **kwargs)
        except (OSError, ValueError) as error:
            if (told := _in_words(error, takes_path)) is None:
                raise
            raise told from error

    return wrapper


def _in_words(error: OSError | ValueError, takes_path: bool) -> InputError | None:
    """Returns the error for a path that cannot be opened, or for a number too long to be written in an error; None for
    any other.
    """
    if isinstance(error, OSError):
        if not takes_path or error.filename is None:
            return None
        return InputError(f"{error.filename!s:.500}: {error.strerror}: check the path and its permissions")
    if "set_int_max_str_digits" not in str(error):
        return None
    return InputError("a number has thousands of digits, which is more than Python writes out: pass a smaller one")


def _options(verb: Callable[..., Any]) -> Mapping[str, object]:
    """Returns the options that a verb takes as `**options: Unpack[...]`, each with its type; {} if it takes none."""
    variable = [p for p in inspect.signature(verb).parameters.values() if p.kind is p.VAR_KEYWORD]
    if not variable:
        return {}
    hint = get_type_hints(verb)[variable[0].name]
    options: Mapping[str, object] = get_args(hint)[0].__annotations__
    return options


def check_share(name: str, value: float) -> None:
    """Raises InputError unless the value is from 0 to 1."""
    if not is_number(value) or not 0 <= value <= 1:
        raise InputError(f"{name} must be from 0 to 1, not {value!r}")


def check_range(name: str, value: int, low: int, high: int) -> None:
    """Raises InputError if the whole number is out of these bounds."""
    if not low <= value <= high:
        raise InputError(f"{name} must be from {low} to {high}, not {value}")


def chosen(name: str, value: C, choices: Sequence[str]) -> C:
    """Returns the value. Raises InputError if it is none of the choices."""
    if value not in choices:
        raise InputError(f"{name} must be {' or '.join(choices)}, not {value!r:.60}")
    return value


def check_length(name: str, given: Sequence[Any]) -> None:
    """Raises InputError if a list has more items than one may have."""
    if len(given) > MOST_ITEMS[name]:
        raise InputError(f"{name} may have at most {MOST_ITEMS[name]} items: pass fewer, or split the call")


def words(field: str, given: Any) -> Sequence[str]:
    """Returns the texts of a list. Raises InputError if it is no list, or has an item that is no text."""
    if given.__class__ not in (list, tuple):
        # A text is a list of its letters, but nobody means that.
        if isinstance(given, str):
            raise InputError(f"{field} must be a list: write {field}=[{given!r:.60}]")
        check(field, given)
        given = list(islice(given, MOST_ITEMS[field] + 1))
    check_length(field, given)
    for word in given:
        if not isinstance(word, str):
            raise InputError(f"{field} must be a list of texts; {word!r:.60} in it is none")
        if len(word) > WORD_CHARS:
            raise InputError(f"{field} may have texts of at most {WORD_CHARS} characters: shorten {word!r:.60}")
    texts: Sequence[str] = given
    return texts


# --- the filters of a recall


def make_where(given: Filters) -> Where:
    """Returns the filters of a recall, with tags, buckets and kinds in their stored form.

    Raises InputError if `since` is later than `until`, for a filter whose words are all empty in stored form, and for a
    property that is neither a text, a number, a truth value nor None.
    """
    since, until = ms_of(given.get("since")), ms_of(given.get("until"))
    if since is not None and until is not None and since > until:
        raise InputError(
            "nothing can be found: since (--since) is later than until (--until). Swap them, or leave one out"
        )
    return Where(
        _filter("tags", given.get("tags", ()), lambda words: tuple(tag.name for tag in make_tags(words))),
        _filter("buckets", given.get("buckets", ()), norm_buckets),
        _filter("kinds", given.get("kinds", ()), norm_buckets),
        since, until, given.get("include_quarantined", False), given.get("include_archived", False),
        props=_properties(given.get("props") or {}),
    )  # fmt: skip


def _properties(given: Mapping[Any, Any]) -> tuple[tuple[str, str], ...]:
    """Returns the names of properties, each with its value as JSON. Raises InputError for a value that is neither a
    text, a number, a truth value nor None.
    """
    check_length("props", list(given))
    for name, value in given.items():
        fits = isinstance(name, str) and (value is None or isinstance(value, str | bool) or is_number(value))
        if not fits or not storable(f"{name}{value}"):
            raise InputError(f"props filters by texts, numbers, True, False and None, not { ({name: value})!r:.60}")
    stored = {clean(name): clean(value) if isinstance(value, str) else value for name, value in given.items()}
    return tuple((name, json.dumps(value, ensure_ascii=False)) for name, value in stored.items())


def _filter(field: str, given: Iterable[str], stored: Callable[[Sequence[str]], tuple[str, ...]]) -> tuple[str, ...]:
    """Returns the words of a filter in stored form. Raises InputError if words are given and none is left of them: an
    empty filter would let everything pass.
    """
    asked = words(field, given)
    found = stored(asked)
    if asked and not found:
        raise InputError(f"{field} {list(asked)!r:.60} has no word to filter by: name one, or leave {field} out")
    return found
