"""Random atoms: each is filed where it belongs, whatever the order of changes."""

from __future__ import annotations

import shutil
import tempfile
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import get_args
from urllib.parse import unquote

from hypothesis import example, given, settings
from hypothesis import strategies as st

from cuetrail import Memory
from cuetrail.mirror.names import file_stem, folder_name
from cuetrail.model import Life, Node, Origin, Tag
from cuetrail.text.normalise import norm_tag
from tests.mirror.tools import ids, opened, pages

HOSTILE = [
    "..", ".", "/", "../../etc/passwd", "a/b", "a\\b", "c:", "con", "nul.", "x.", "x ", "-", "~", "%2f", "a%2fb", "a~b",
    "\n", "\x00", "\x1b[31m", "\u202e", "Work", "WORK", "work", "ı", "i", "İ", "ß", "ss", "ſ", "é", "e\u0301", "日本",
    "\U0001f469\u200d\U0001f680", "\U0001f469\U0001f680", "\u2764\ufe0f", "\u2764", "ﷺ", "\u3164", "x" * 300,
    "x" * 299, "日" * 120, "😀" * 90, "inbox", "general", "_untagged", "#x", "@x", "",
]  # fmt: skip
words = st.sampled_from(HOSTILE) | st.text(st.characters(codec="utf-8"), max_size=6)


# --- names


@settings(max_examples=200)
@given(st.lists(words, min_size=2, max_size=2, unique=True))
@example(["a%2fb", "a/b"])
@example(["%41", "A"])
@example(["ı", "i"])
@example(["ſ", "s"])
@example(["é", "e\u0301"])
@example(["x" * 300, "x" * 299])
@example(["\u2764\ufe0f", "\u2764"])
def test_two_names_never_share_a_folder_on_any_file_system(names: list[str]) -> None:
    one, other = map(folder_name, names)
    assert as_lenient_systems_see_it(one) != as_lenient_systems_see_it(other)


def as_lenient_systems_see_it(name: str) -> str:
    """A name without what some file systems do not tell apart: case, composition, invisible characters."""
    visible = (c for c in name if unicodedata.category(c) != "Cf" and not 0xFE00 <= ord(c) <= 0xFE0F and c != "\u3164")
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", "".join(visible)).upper().casefold())


@given(words)
def test_the_name_of_a_folder_is_taken_everywhere(name: str) -> None:
    safe = folder_name(name)
    assert len(safe.encode()) <= 100
    assert not set(safe) & set('<>:"/\\|?*\x7f')
    assert not any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp", "Zs") for char in safe)
    assert not safe.endswith((".", " "))
    assert folder_name(name) == safe
    if "~" not in safe:
        assert unquote(safe) == name


@given(words)
def test_the_name_of_a_bundle_is_plain(source: str) -> None:
    name = file_stem(source)
    assert name.isascii()
    assert name == name.lower()
    assert len(name) <= 64 + 9
    assert all(char.isalnum() or char in "_-" for char in name)


# --- whole mirrors

sources = (
    st.none() | st.sampled_from(["docs/a.md", "docs/A.md", "a.md", "x/../a.md", "/etc/passwd"]) | words.filter(bool)
)
labels = words.map(norm_tag).filter(bool)
origins = st.sampled_from(get_args(Origin))
tags = st.lists(st.tuples(labels, origins), max_size=4, unique_by=lambda pair: pair[0]).map(
    lambda given: tuple(Tag(name, name, origin) for name, origin in given)
)
lives = st.sampled_from([Life(), Life(), Life(state="archived")])


@st.composite
def nodes(draw: st.DrawFn) -> Node:
    return Node(
        id=draw(st.sampled_from("abcdefghij")),
        text=draw(words.filter(lambda text: bool(text.strip("\n"))) | st.just("## [a] fake\n\n---\n\n## [b] fake")),
        kind=draw(st.sampled_from(["atom", "atom", "atom", "person"])),
        tag_details=draw(tags),
        buckets=draw(st.lists(labels, max_size=2, unique=True).map(tuple)),
        source=draw(sources),
        seq=draw(st.integers(0, 3)),
        at=draw(st.integers(0, 3)),
        provenance=draw(st.sampled_from(["internal", "external", "quarantine"])),
        life=draw(lives),
    )


steps = st.lists(
    st.tuples(st.just("write"), st.lists(nodes(), min_size=1, max_size=6, unique_by=lambda node: node.id))
    | st.tuples(st.just("forget"), st.sampled_from("abcdefghij"))
    | st.tuples(st.just("place"), st.sampled_from(["first", "all"])),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60)
@given(steps)
def test_every_atom_stands_where_it_belongs_and_a_mirror_made_anew_is_the_same(
    steps: list[tuple[str, list[Node] | str]],
) -> None:
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        with opened(place / "memory") as memory:
            held: dict[str, Node] = {}
            for what, value in steps:
                carry_out(memory, held, what, value)
                report = memory.mirror(place / "brain", value if what == "place" else None)  # type: ignore[arg-type]
                check(place, memory, held, report.placement == "all")


def carry_out(memory: Memory, held: dict[str, Node], what: str, value: list[Node] | str) -> None:
    if what == "write" and isinstance(value, list):
        for node in value:
            # A tombstone of an earlier step must not decide what this one does.
            memory.add_many([node], allow_again=True)
            # A correction leaves a memory as alive as it was, unless it says otherwise.
            was = held.get(node.id)
            held[node.id] = replace(node, life=was.life) if was and node.life == Life() else node
    elif what == "forget" and isinstance(value, str) and value in held:
        for id_ in memory.forget(value):
            del held[id_]


def check(place: Path, memory: Memory, held: dict[str, Node], every: bool) -> None:
    """The mirror holds what it must, in order, and is byte for byte one that is made from nothing."""
    found = pages(place / "brain")
    assert {path: ids(data) for path, data in found.items()} == expected(held, every)
    assert sorted(p.name for p in place.iterdir()) == ["brain", "memory"]
    assert len({as_lenient_systems_see_it(path) for path in found}) == len(found)
    assert not [p for p in (place / "brain").rglob("*") if p.is_dir() and not any(p.iterdir())]
    memory.mirror(place / "anew", "all" if every else "first", follow=False)
    assert pages(place / "anew") == found
    shutil.rmtree(place / "anew")


def expected(held: dict[str, Node], every: bool) -> dict[str, list[str]]:
    """What the specification says, written down once more and without the engine."""
    bundles: dict[str, list[Node]] = {}
    for node in held.values():
        if node.kind != "atom" or node.provenance == "quarantine" or node.life.state == "archived":
            continue
        bucket = node.buckets[0] if node.buckets else "general"
        telling = [tag for tag in node.own_tags if tag not in (bucket, "inbox")] or ["_untagged"]
        for tag in telling if every else telling[:1]:
            path = f"@{folder_name(bucket)}/#{folder_name(tag)}/{file_stem(node.source)}.md"
            bundles.setdefault(path, []).append(node)
    return {
        path: [node.id for node in sorted(atoms, key=lambda node: (node.seq, node.at, node.id))]
        for path, atoms in bundles.items()
    }
