"""Any argument gives a result or a CuetrailError that says what to pass; nothing else is raised."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import math
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuetrail import Budget, Memory, Scope
from cuetrail.errors import CuetrailError, InputError
from cuetrail.memory import restore
from cuetrail.model import Node
from cuetrail.validation.arguments import RULES
from cuetrail.validation.limits import TIMES
from tests.hostile import FUZZ_CALLS, HOSTILE


def _any(wrong: object) -> Any:
    """A value of the wrong type on purpose."""
    return wrong


def _nested(depth: int) -> Any:
    """An object inside an object, so deep."""
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    return value


REQUIRED: dict[str, tuple[Any, ...]] = {
    "activate": ([("a", 0.9)],),
    "add": ("a text",),
    "add_many": (["a text"],),
    "backup": ("backup.tar",),
    "bench": ([{"question": "a", "gold": ["a"]}],),
    "brief": (),
    "doctor": (),
    "doomed": ("a",),
    "chat": ([{"role": "user", "content": "a text"}], "talk"),
    "confirm": ("f",),
    "declare": ("works_at",),
    "dream": (),
    "edge": ("a",),
    "edit": ("a",),
    "explore": (["a"],),
    "export": ("out.jsonl",),
    "fact": ("a", "knows", "b"),
    "fact_history": ("a",),
    "fact_ids": ("abc",),
    "facts": ("a",),
    "forget": ("a",),
    "get": ("a",),
    "history": ("a",),
    "ids": ("abc",),
    "import_": ("in.jsonl",),
    "ingest": ("note.md",),
    "ingest_bytes": (b"a text", "note.md"),
    "ingest_text": ("a text",),
    "labels": (),
    "link": ("a", "b"),
    "merge": ("a", "b"),
    "mirror": ("brain",),
    "end_mirror": ("brain",),
    "narrate": ("a",),
    "neighbours": ("a",),
    "nodes": ("a",),
    "note": ("a", "a remark"),
    "prewarm": (),
    "quarantine": ("a",),
    "recall": ("a",),
    "reembed": (),
    "relate": ("a", "b"),
    "refresh": (),
    "retract": ("f",),
    "savings": (),
    "scoped": (Scope(),),
    "tag_walk": ("a",),
    "timeline": (),
    "traverse": ("a",),
    "unlink": ("e",),
}
"""Every verb that takes arguments, with those it cannot be without."""

MANY = "a list of texts"
WRONG: list[tuple[str, str, Any, str]] = [
    ("add", "text", 5, "text must be a text, not 5"),
    ("add", "text", None, "text must be a text, not None"),
    ("add", "text", b"bytes", "text must be a text"),
    ("add", "tags", [None], f"tags must be {MANY}; None in it is none"),
    ("add", "tags", ["a", ["b"]], f"tags must be {MANY}"),
    ("add", "tags", "abc", r"tags must be a list"),
    ("add", "tags", {"a": 1}, f"tags must be {MANY}"),
    ("add", "tags", 5, f"tags must be {MANY}"),
    ("add", "buckets", "work", "buckets must be a list"),
    ("add", "aliases", [5], "aliases must be a list"),
    ("add", "name", 5, "name must be a text"),
    ("add", "id", 5, "id must be a text"),
    ("add", "kind", ["person"], "kind must be a text"),
    ("add", "source", Path("a.md"), "source must be a text"),
    ("add", "at", "someday", "at: 'someday' is no time: write 2025-03-04"),
    ("add", "at", 1.5, "UTC milliseconds"),
    ("add", "at", True, "UTC milliseconds"),
    ("add", "at", 10**30, "UTC milliseconds"),
    ("add", "provenance", "rumour", "internal or external or quarantine"),
    ("add", "provenance", ["internal"], "internal or external or quarantine"),
    ("add", "props", [1], "props must be a mapping"),
    ("add", "props", {"a": math.nan}, "plain JSON data"),
    ("add", "props", {"a": object()}, "plain JSON data"),
    ("add", "allow_again", "no", "allow_again must be True or False"),
    ("add", "now", "then", "now: 'then' is no time"),
    ("add_many", "items", "abc", "items must be a list"),
    ("add_many", "items", {"text": "a"}, "items must be a list"),
    ("add_many", "items", None, "items must be a list"),
    ("add_many", "items", ["good", None], "item 2: an item must be a text, a Node or a mapping"),
    ("add_many", "items", [{"text": 5}], "item 1: text must be a text, not 5"),
    ("add_many", "items", [{"text": "a", "tag": ["b"]}], "no field 'tag': use text, id, kind"),
    ("add_many", "items", [{"text": "a", "tags": "b"}], r"tags=\['b'\]"),
    ("add_many", "items", [Node(_any(5))], "item 1: .*cannot be stored"),
    ("add_many", "progress", 5, "progress must be a function"),
    ("link", "src", None, "src must be a text, not None"),
    ("link", "dst", 5, "dst must be a text"),
    ("link", "weight", "x", "weight must be a number"),
    ("link", "weight", math.nan, "weight must be a number"),
    ("link", "weight", math.inf, "weight must be a number"),
    ("link", "weight", True, "weight must be a number"),
    ("link", "weight", 0.1, "weight must be from 0.25 to 1.0"),
    ("link", "attitude", 2.5, "attitude must be a whole number"),
    ("link", "attitude", 0, "attitude must be from 1 to 5"),
    ("link", "proximity", "3", "proximity must be a whole number"),
    ("link", "tags", [None], f"tags must be {MANY}"),
    ("link", "kind", None, "kind must be a text"),
    ("link", "text", None, "text must be a text"),
    ("link", "confidence", math.nan, "confidence must be a number"),
    ("link", "confidence", 2, "confidence must be from 0 to 1"),
    ("link", "valid_from", [2024], "valid_from must be a time"),
    ("fact", "object", None, "object must be a text, not None"),
    ("fact", "subject", 5, "subject must be a text"),
    ("fact", "predicate", None, "predicate must be a text"),
    ("fact", "confidence", "high", "confidence must be a number"),
    ("fact", "tags", "abc", "tags must be a list"),
    ("note", "target", None, "target must be a text"),
    ("note", "text", None, "text must be a text"),
    ("note", "text", " ", "nothing to note"),
    ("note", "expires", "in a while", "expires: 'in a while' is no time"),
    ("recall", "cue", None, "cue must be a text, not None"),
    ("recall", "cue", ["a"], "cue must be a text"),
    ("recall", "budget", 5.5, r"budget must be a number of tokens, Budget\(tokens=2000\)"),
    ("recall", "budget", {"chars": 9, "tokens": 9}, "a budget must be a number of tokens"),
    ("recall", "budget", Budget(tokens=_any("9")), "budget must be a number of tokens"),
    ("recall", "limit", "3", "limit must be a whole number of at most 10000, not '3'"),
    ("recall", "limit", 10**20, "limit must be a whole number of at most 10000"),
    ("recall", "limit", 10**9, "limit must be a whole number of at most 10000, not 1000000000"),
    ("recall", "budget", Budget(tokens=10**11), "of at most 10000000000"),
    ("recall", "now", 10**15, "now must be a time in UTC milliseconds from the year 1 to 9999"),
    ("recall", "tags", ["t"] * 1001, "tags may have at most 1000 items"),
    ("tag_walk", "limit", 10**9, "limit must be a whole number of at most 10000"),
    ("tag_walk", "min_results", 2**31, "min_results must be a whole number from 0 to 10000"),
    ("brief", "now", 10**15, "now must be a time in UTC milliseconds from the year 1 to 9999"),
    ("note", "expires", 10**15, "expires must be a time"),
    ("add", "at", -(10**15), "at must be a time in UTC milliseconds from the year 1 to 9999"),
    ("add", "props", {"a": _nested(32)}, "props are too large: they are nested more than 32 deep"),
    ("add", "props", {"a": _nested(900)}, "props are too large: they are nested more than 32 deep"),
    ("add", "props", {"a": "x" * 1_000_001}, "props are too large: more than 1000000 bytes"),
    ("add_many", "items", [Node("x", props={"a": _nested(900)})], "nested more than 32 deep"),
    ("activate", "max_depth", 10**6, "max_depth must be a whole number of at most 100"),
    ("activate", "seeds", ["a"] * 10_001, "seeds may have at most 10000 items"),
    ("traverse", "start", ["a"] * 1_001, "start may have at most 1000 items"),
    ("traverse", "top_k", 10**9, "top_k must be a whole number of at most 10000"),
    ("narrate", "hops", 10**9, "hops must be a whole number of at most 10"),
    ("recall", "limit", 2.0, "limit must be a whole number"),
    ("recall", "recipe", "best", "there is no recipe 'best': use energy"),
    ("recall", "props", {"a": ["b"]}, "props filters by texts, numbers"),
    ("chat", "messages", ["hello"], "message 1 must be a mapping"),
    ("recall", "tags", "abc", "tags must be a list"),
    ("recall", "kinds", [5], "kinds must be a list of texts"),
    ("recall", "since", 2.5, "since must be a time"),
    ("recall", "include_archived", 1, "include_archived must be True or False"),
    ("recall", "count_tokens", 4, "count_tokens must be a function"),
    ("tag_walk", "mode", "mine", "mode must be all or internal or external"),
    ("tag_walk", "rank", None, "rank must be idf or gravity"),
    ("tag_walk", "spill", "yes", "spill must be True or False"),
    ("tag_walk", "limit", "3", "limit must be a whole number"),
    ("tag_walk", "tags", "abc", "tags must be a list"),
    ("explore", "queries", "tea", "queries must be a list of texts or of"),
    ("explore", "queries", [], "say what to explore"),
    ("explore", "queries", [" "], "say what to explore"),
    ("explore", "queries", [5], "a query must be a text or"),
    ("explore", "queries", [{"text": "a"}], "a query must be a text or"),
    ("explore", "queries", [{"query": "a", "threshold": 2}], "threshold must be from 0 to 1, not 2"),
    ("explore", "queries", [{"query": "a", "floor": 1}], "a query has no field 'floor'"),
    ("explore", "text_matches", "tea", "text_matches must be a list"),
    ("explore", "text_matches", [5], "text_matches must be a list of texts; 5 in it is none"),
    ("explore", "granularity", 4, "granularity must be from 1 to 3, not 4"),
    ("explore", "mode", "slow", "mode must be fast or deep, not 'slow'"),
    ("explore", "fuzzy", "guess", "fuzzy must be levenshtein or jaro_winkler or"),
    ("explore", "weights", {"semantic": -1}, "the weight of semantic must be a number from 0 on, not -1"),
    ("explore", "weights", {"semantic": 0, "time": 0, "salience": 0}, "the weights cannot all be 0"),
    ("explore", "weights", {"mood": 1}, "there is no weight 'mood'"),
    ("explore", "relationship_filters", {"max_proximity": 0}, "max_proximity must be a whole number from 1 to 5"),
    ("relate", "src", "nobody", "there is no node with the id or name 'nobody'"),
    ("relate", "attitude", 9, "attitude must be from 1 to 5, not 9"),
    ("relate", "proximity", "close", "proximity must be a whole number"),
    ("note", "expires", "someday", "expires: 'someday' is no time"),
    ("brief", "budget", "1300", "budget must be a number of tokens"),
    ("brief", "budget", Budget(tokens=-1), "a budget cannot be negative"),
    ("traverse", "start", 5, "start must be the id or name of a node, or a list"),
    ("traverse", "start", [5], "a start must be the id or the name of a node, not 5"),
    ("traverse", "start", [], "say where to start"),
    ("traverse", "start", "nobody", "there is no node with the id or name 'nobody'"),
    ("traverse", "mode", "cypher", "mode must be hops or ppr, not 'cypher'"),
    ("traverse", "direction", "up", "direction must be out or in or both, not 'up'"),
    ("traverse", "max_hops", 0, "max_hops must be from 1 to 3, not 0"),
    ("traverse", "max_hops", 4, "max_hops must be from 1 to 3, not 4"),
    ("traverse", "relationship_filters", {"min_attitude": 6}, "min_attitude must be a whole number from 1 to 5"),
    (
        "traverse",
        "relationship_filters",
        {"min_attitude": 5, "max_attitude": 2},
        r"min_attitude 5 \(--min-attitude\) is more than max_attitude 2 \(--max-attitude\). Swap them",
    ),
    ("explore", "relationship_filters", {"min_proximity": 3, "max_proximity": 2}, "min_proximity 3 .* is more than"),
    ("traverse", "relationship_filters", {"attitude": 2}, "there is no relationship filter 'attitude'"),
    ("traverse", "relationship_filters", {"relationship_types": "friend"}, "relationship_types must be a list"),
    ("activate", "seeds", 5, "seeds must be a query, or a list of ids and scores"),
    ("activate", "seeds", [("a", 0.0)], "the score of seed 'a' must be above 0 and at most 1, not 0.0"),
    ("activate", "seeds", [("a", 1.5)], "must be above 0 and at most 1, not 1.5"),
    ("activate", "seeds", [("a", math.nan)], "must be above 0 and at most 1"),
    ("activate", "seeds", [("a", True)], "must be above 0 and at most 1"),
    ("activate", "seeds", ["a", 5], "a seed must be an id, or an id and a score"),
    ("activate", "seeds", [("a", 0.5, "b")], "a seed must be an id, or an id and a score"),
    ("activate", "tags", "camp", "tags must be a list of texts"),
    ("activate", "tags", [5], "tags must be a list of texts"),
    ("activate", "max_depth", -1, "max_depth must be 0 or more, not -1"),
    ("activate", "max_depth", 2.0, "max_depth must be a whole number"),
    ("activate", "max_branches", -3, "max_branches must be 0 or more, not -3"),
    ("activate", "min_activation", -0.1, "min_activation must be from 0 to 1, not -0.1"),
    ("activate", "min_activation", math.nan, "min_activation must be a number"),
    ("activate", "tag_sim_floor", 1.01, "tag_sim_floor must be from 0 to 1, not 1.01"),
    ("activate", "text_weight", 2, "text_weight must be from 0 to 1"),
    ("activate", "claim", "first", "claim must be energy or frontier"),
    ("dream", "only", [{}], "there is no pass {}: choose of"),
    ("dream", "only", ["nap", 5], "there is no pass 'nap'"),
    ("quarantine", "undo", 1, "undo must be True or False"),
    ("quarantine", "ids", "nobody", "there is no node"),
    ("get", "id", None, "id must be a text"),
    ("edge", "id", 5, "id must be a text"),
    ("facts", "subject", 5, "subject must be a text"),
    ("history", "id", None, "id must be a text"),
    ("neighbours", "limit", "3", "limit must be a whole number"),
    ("forget", "ids", None, "ids must be a text"),
    ("forget", "source", 5, "source must be a text"),
    ("forget", "source", "\ud800", "source must be a text without broken characters"),
    ("ingest", "path", None, "path must be a path"),
    ("ingest", "path", "", "path must be a path"),
    ("ingest", "path", "a\x00b", "path must be a path"),
    ("ingest", "path", "a\ud800", "path must be a path"),
    ("ingest", "bucket", 5, "bucket must be a text"),
    ("ingest", "max_bytes", "1MB", "max_bytes must be a whole number"),
    ("ingest", "provenance", "rumour", "internal or external"),
    ("ingest_text", "text", None, "text must be a text"),
    ("ingest_text", "format", "papyrus", "unknown text format"),
    ("export", "path", 5, "path must be a path"),
    ("ingest", "path", "~no-such-user/a", "only for a user of this machine"),
    ("export", "path", "~no-such-user", "only for a user of this machine"),
    ("mirror", "directory", "~no-such-user", "only for a user of this machine"),
    ("ingest", "path", "loop", "no links that lead to each other"),
    ("export", "path", "loop", "no links that lead to each other"),
    ("backup", "path", "loop", "no links that lead to each other"),
    ("end_mirror", "directory", "loop", "no links that lead to each other"),
    ("bench", "questions", "/dev/zero", "is a folder, pipe or device"),
    ("export", "path", ".", "is a folder"),
    ("export", "format", "papyrus", "unknown format"),
    ("export", "vectors", "yes", "vectors must be True or False"),
    ("import_", "path", None, "path must be a path"),
    ("import_", "format", 5, "format must be a text"),
    ("backup", "path", None, "path must be a path"),
    ("mirror", "directory", None, "directory must be a path"),
    ("mirror", "placement", "last", "placement must be first or all"),
    ("reembed", "embedder", 5, "embedder must be an Embedder"),
    ("doctor", "repair", "yes", "repair must be True or False"),
]


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    monkeypatch.chdir(tmp_path)
    with filled(tmp_path) as opened:
        yield opened


def filled(place: Path) -> Memory:
    """A memory of two nodes, with a file for every verb that reads one."""
    (place / "note.md").write_text("# A note\n\nIt says something.\n")
    (place / "loop").symlink_to("loop")
    memory = Memory(place / "memory", embedder=None)
    memory.add("a", id="a")
    memory.add("b", id="b")
    memory.export(place / "in.jsonl")
    return memory


def call(memory: Memory, verb: str, name: str, value: Any) -> object:
    """The verb with good arguments, but for the one with this name; a stream is read to its end."""
    found = asked(memory, verb, name, value)
    return list(found) if isinstance(found, Generator) else found


def asked(memory: Memory, verb: str, name: str, value: Any) -> object:
    method = getattr(memory, verb)
    given: dict[str, Any] = {}
    positional = [p for p in inspect.signature(method).parameters.values() if p.kind is not p.KEYWORD_ONLY]
    if positional and positional[0].kind is inspect.Parameter.VAR_POSITIONAL:
        return method(value) if name == positional[0].name else method(*REQUIRED[verb], **{name: value})
    given.update(zip((p.name for p in positional), REQUIRED[verb], strict=False))
    return method(**{**given, name: value})


def arguments() -> list[tuple[str, str]]:
    """Every argument of every verb; what it hands on to another as it is, that one has."""
    signatures = {verb: inspect.signature(getattr(Memory, verb)).parameters.values() for verb in REQUIRED}
    named = [(verb, p.name) for verb, found in signatures.items() for p in found if p.kind is not p.VAR_KEYWORD]
    options = {verb: p for verb, found in signatures.items() for p in found if p.kind is p.VAR_KEYWORD}
    filters = [
        (verb, name)
        for verb, option in options.items()
        for name in get_args(get_type_hints(getattr(Memory, verb))[option.name])[0].__annotations__
    ]
    return named + filters


def test_the_table_knows_every_verb_that_takes_arguments() -> None:
    verbs = {
        name
        for name, method in inspect.getmembers(Memory, inspect.isfunction)
        if not name.startswith("_") and len(inspect.signature(method).parameters) > 1
    }
    assert verbs == set(REQUIRED), "put the new verb into REQUIRED, with the arguments it cannot be without"


@pytest.mark.parametrize(("verb", "name", "value", "message"), WRONG)
def test_a_wrong_argument_is_refused_with_what_to_pass_and_changes_nothing(
    memory: Memory, verb: str, name: str, value: Any, message: str
) -> None:
    before = memory.stats()
    with pytest.raises(InputError, match=message):
        call(memory, verb, name, value)
    assert memory.stats() == before


@pytest.mark.parametrize(("verb", "name"), [pair for pair in arguments() if pair[1] != "self"])
def test_every_argument_of_every_verb_has_a_rule_that_refuses_a_stranger(memory: Memory, verb: str, name: str) -> None:
    with pytest.raises(InputError, match=f"{name} must be"):
        call(memory, verb, name, object())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"address": None}, "address must be a path"),
        ({"address": ""}, "address must be a path"),
        ({"address": "~no-such-user/m"}, "only for a user of this machine"),
        ({"scope": "ann"}, r'scope must be a Scope, such as Scope\("acme", "ann"\)'),
        ({"embedder": 5}, "embedder must be an Embedder"),
        ({"api_key": 5}, "api_key must be a text, not int"),
        ({"scope": Scope(user=_any(5))}, "a tenant and a user"),
        ({"scope": Scope(teams=_any("ops"))}, "list of names"),
        ({"scope": Scope(teams=_any((None,)))}, "list of names"),
        ({"scope": Scope(share="ops")}, "--team ops, CUETRAIL_TEAMS, or Scope"),
    ],
)
def test_a_memory_is_not_opened_with_what_cannot_be(tmp_path: Path, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Memory(**{"address": tmp_path / "m", **wrong})
    assert not (tmp_path / "m").exists()


def test_a_backup_is_restored_from_a_path(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="backup must be a path"):
        restore(_any(None), tmp_path / "m")


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": ""}, {"id": "\ud800"}, {"name": 5}, {"text": b"x"}, {"text": "\ud800"}, {"aliases": 5}, {"buckets": [1]},
        {"tag_details": ("x",)}, {"at": "x"}, {"at": 2**80}, {"created": None}, {"valid_from": "x"}, {"simhash": -1},
        {"simhash": "x"}, {"props": 5}, {"props": {"a": object()}}, {"life": None}, {"provenance": ["internal"]},
    ],
)  # fmt: skip
def test_a_node_made_by_hand_is_checked_too(memory: Memory, wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="item 2: "):
        memory.add_many([Node("x", text="good"), Node(**{"id": "y", "text": "bad", **wrong})])
    assert memory.get("x") is None


def test_lists_of_any_kind_will_do(memory: Memory) -> None:
    node = memory.add("x", tags=(tag for tag in ("One", "Two")), buckets={"work"}, aliases=("x",), props={})
    assert (node.tags, node.buckets, node.aliases) == (("one", "two"), ("work",), ("x",))
    with Memory(memory.address, scope=Scope(teams=_any(["ops"]), share="ops"), embedder=None) as shared:
        assert shared.add("y").team == "ops"


def test_a_field_that_is_none_counts_as_not_given(memory: Memory) -> None:
    nothing = dict.fromkeys(("id", "kind", "aliases", "tags", "buckets", "source", "at", "provenance", "props", "text"))
    memory.add_many([{**nothing, "name": "Ada"}], now=7)
    node = memory.get("Ada")
    assert node is not None
    assert (node.kind, node.at, node.provenance, node.text) == ("atom", 7, "internal", "")


def test_a_kind_is_one_kind_however_it_is_written(memory: Memory) -> None:
    assert memory.add(name="Ada", kind="Person").id == memory.add(name="Ada", kind="person").id
    assert [hit.node.name for hit in memory.recall("Ada", kinds=["PERSON"]).hits] == ["Ada"]


# --- any value for any argument

# Halves of surrogate pairs too: Python has them in texts, UTF-8 does not.
_CHARACTERS = st.characters(exclude_categories=())
_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(alphabet=_CHARACTERS, max_size=8)
    | st.sampled_from(["a", "b", "x" * 300])
    | st.sampled_from(HOSTILE),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
# Nothing is written outside the test's own folder.
_names = st.text(alphabet=_CHARACTERS.filter(lambda c: c not in "/\\~"), max_size=5).filter(lambda name: name != "..")
_paths = st.none() | st.integers() | st.lists(_names, max_size=2) | _names | st.sampled_from(["n" * 300, ".", "memory"])


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, str, Any]:
    verb, name = draw(st.sampled_from([pair for pair in arguments() if pair[1] not in ("self", "watch", "stop")]))
    return verb, name, draw(_paths if RULES[name] is RULES["path"] else _json)


@settings(
    max_examples=FUZZ_CALLS or 100, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(chosen=calls())
def test_any_value_for_any_argument_gives_a_result_or_one_of_our_errors(
    chosen: tuple[str, str, Any], tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path_factory.mktemp("any")
    monkeypatch.chdir(place)
    with filled(place) as memory:
        with contextlib.suppress(CuetrailError):
            call(memory, *chosen)
        assert memory.doctor() == []
    shutil.rmtree(place)


@pytest.mark.parametrize("verb", ["recall", "traverse", "explore", "activate"])
def test_a_time_that_ends_before_it_begins_is_refused(memory: Memory, verb: str) -> None:
    asked: dict[str, Any] = {"explore": [["a"]], "traverse": ["a"], "recall": ["a"], "activate": ["a"]}
    with pytest.raises(InputError, match=r"since \(--since\) is later than until \(--until\). Swap them"):
        list(getattr(memory, verb)(*asked[verb], since=2, until=1))
    assert getattr(memory, verb)(*asked[verb], since=1, until=1) is not None


@pytest.mark.parametrize("field", ["tags", "buckets", "kinds"])
@pytest.mark.parametrize("empty", ["", "  ", "\ud800"])
def test_a_filter_without_a_word_is_refused_instead_of_finding_everything(
    memory: Memory, field: str, empty: str
) -> None:
    for verb, asked in (("timeline", ()), ("recall", ("a",)), ("tag_walk", ("a",))):
        with pytest.raises(InputError, match=f"{field} .* has no word to filter by"):
            getattr(memory, verb)(*asked, **{field: [empty]})
        assert getattr(memory, verb)(*asked, **{field: []}) is not None


@pytest.mark.parametrize("verb", ["link", "relate"])
def test_an_edge_that_ends_before_it_begins_is_refused(memory: Memory, verb: str) -> None:
    for id_ in ("c", "d"):
        memory.add(name=id_, id=id_, kind="person")
    with pytest.raises(InputError, match="valid_until must be later than valid_from"):
        getattr(memory, verb)("c", "d", valid_from=2, valid_until=2)
    assert getattr(memory, verb)("c", "d", valid_from=2, valid_until=3).valid_until == 3


def test_a_note_made_at_the_end_of_time_expires_there(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder=None) as memory:
        memory.add("tea", id="tea")
        assert memory.note("tea", "hot", expires="year", now=TIMES[1]).expires == TIMES[1]
        assert memory.doctor() == []


def test_lists_without_end_and_huge_words_are_refused_or_cut(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder=None) as memory:
        memory.add("tea", id="tea")
        with pytest.raises(InputError, match="there is no pass 'nap'"):
            memory.dream(only=itertools.repeat("nap"))
        assert memory.explore(itertools.repeat("tea")) is not None
        with pytest.raises(InputError, match="tags may have texts of at most 10000 characters"):
            memory.recall("tea", tags=["x" * 5_000_000])
        with pytest.raises(InputError) as caught:
            memory.confirm("x" * 5_000_000)
        assert len(str(caught.value)) < 5_000
        assert str(caught.value).endswith("shows their ids")


def test_a_number_too_long_to_be_written_in_an_error_is_refused(memory: Memory) -> None:
    endless = 10**5000
    calls = (
        lambda: memory.recall("tea", limit=endless), lambda: memory.timeline(props={"n": endless}),
        lambda: memory.add("tea", props={"n": endless}), lambda: memory.get(_any(endless)),
        lambda: memory.chat([{"role": "user", "content": "tea", "at": endless}], source="talk"),
    )  # fmt: skip
    for call in calls:
        with pytest.raises(InputError):
            call()


def test_a_vector_of_ones_own_with_wrong_numbers_is_refused_and_a_good_one_of_any_length_is_not(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory") as memory:
        memory.add("tea")
        space = memory.store.vector_spaces().held
        assert space is not None
        size = space.dim
        wrong = ([math.nan], [math.inf], [0.0], [10**400], ["1"], [[1.0]], [None], [True])
        for value in [*(one * size for one in wrong), [1.0] * (size - 1), [], itertools.repeat(1.0), "abc", {"a": 1.0}]:
            with pytest.raises(InputError, match="vector"):
                memory.add("bad", vector=_any(value))
        for number, large in enumerate((1e308, 5e-324, 3.4e38)):
            memory.add(f"good {number}", id=f"good {number}", vector=[large] * size)
        assert memory.stats().nodes == 4
        assert memory.recall("good").hits
        assert memory.doctor() == []
