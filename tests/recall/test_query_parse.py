"""A cue is parsed into words, phrases and filters, whatever its form."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuetrail.model import TextQuery, Where
from cuetrail.recall.query import Cue, parse_cue, query_terms


@pytest.mark.parametrize(
    ("raw", "words", "phrases", "tags", "buckets"),
    [
        ("plain words", "plain words", (), (), ()),
        ("#Camp what about it", "", (), ("camp",), ()),
        ("what about #camp?", "", (), ("camp",), ()),
        ("(see #camp, #c++)", "(see", (), ("camp", "c++"), ()),
        ("notes @Work", "notes", (), (), ("work",)),
        ("notes bucket:work now", "notes  now", (), (), ("work",)),
        ('say "hello world" twice', "say   twice", ("hello world",), (), ()),
        ('"a" "" "  b  "', "", ("a", "b"), (), ()),
        ('an "open quote', '"open quote', (), (), ()),
        ('"#not a tag"', "", ("#not a tag",), (), ()),
        ("mail me@example.org about C# and issue#5", "mail me@example.org C# issue#5", (), (), ()),
        ("# @ bucket: #? @!", "# @ bucket:", (), (), ()),
        ("#Ünï_Cödé #日本", "", (), ("ünï_cödé", "日本"), ()),
    ],
)
def test_a_cue_is_taken_apart(
    raw: str, words: str, phrases: tuple[str, ...], tags: tuple[str, ...], buckets: tuple[str, ...]
) -> None:
    cue = parse_cue(raw, Where())
    assert cue == Cue(raw, TextQuery(cue.query.words, phrases), Where(tags=tags, buckets=buckets))
    assert cue.query.words.split() == words.split()


@settings(max_examples=300)
@given(st.text())
def test_any_cue_can_be_taken_apart(raw: str) -> None:
    cue = parse_cue(raw, Where(tags=("given",)))
    assert cue.where.tags[0] == "given"
    assert "" not in (*cue.where.tags, *cue.where.buckets, *cue.query.phrases, *query_terms(cue))
