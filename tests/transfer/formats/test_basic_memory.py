"""Import and export of basic-memory projects."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuetrail.errors import InputError
from cuetrail.model import Edge, Fact, FileError, Node, Tag
from cuetrail.store.read import Record
from cuetrail.text.normalise import clean
from cuetrail.transfer.formats import basic_memory, mcp_memory
from cuetrail.transfer.formats.detect_format import load, recognise

COFFEE = """---
title: Coffee Brewing
type: guide
permalink: ideas/coffee-brewing
tags:
- coffee
- Brew Methods
created: 2024-05-01T10:00:00Z
rating: 5
---

# Coffee Brewing

Good with a [[Tea]] beside it, in the #morning.

## Observations
- [method] Pour over is clear #brewing (V60)
- [tip] Grind fresh
  and weigh it

- [ ] buy beans

## Relations
- relates_to [[Tea]]
- "made of" [[Beans]] (arabica (mostly))
- pairs_with [[Cake|a cake]]
"""


def project(folder: Path, **notes: str) -> Path:
    for name, text in notes.items():
        file = folder / f"{name.replace('__', '/')}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


def nodes(records: list[Record]) -> dict[str, Node]:
    return {r.name or r.text: r for r in records if isinstance(r, Node)}


def typed(records: list[Record]) -> dict[str, Edge]:
    return {str(r.type): r for r in records if isinstance(r, Edge) and r.type}


def test_a_note_becomes_a_node_with_its_frontmatter(tmp_path: Path) -> None:
    note = nodes(list(basic_memory.load(project(tmp_path, ideas__coffee=COFFEE))))["Coffee Brewing"]
    assert (note.kind, note.aliases, note.tags) == ("entity", ("ideas/coffee-brewing",), ("coffee", "brew_methods"))
    assert (note.at, note.buckets) == (1714557600000, ("ideas",))
    assert (note.props["type"], note.props["frontmatter"]["rating"]) == ("guide", "5")


def test_an_observation_is_an_atom_with_category_and_tags(tmp_path: Path) -> None:
    records = list(basic_memory.load(project(tmp_path, coffee=COFFEE)))
    found = nodes(records)
    atom = found["Pour over is clear #brewing (V60)"]
    assert (atom.kind, atom.tags) == ("atom", ("method", "brewing"))
    assert (atom.props["category"], atom.props["context"]) == ("method", "V60")
    assert "Grind fresh\nand weigh it" in found
    tie = next(r for r in records if isinstance(r, Edge) and r.src == atom.id)
    assert (tie.dst, tie.kind, tie.weight) == (found["Coffee Brewing"].id, "observation", 0.85)


def test_relations_lead_to_notes_and_to_placeholders_for_missing_ones(tmp_path: Path) -> None:
    records = list(basic_memory.load(project(tmp_path, coffee=COFFEE, Tea="Leaves in water.")))
    found, edges = nodes(records), typed(records)
    assert edges["relates_to"].dst == found["Tea"].id
    assert (edges["made of"].dst, edges["made of"].text) == (found["Beans"].id, "arabica (mostly)")
    assert edges["pairs_with"].dst == found["Cake"].id
    assert (found["Beans"].props, "placeholder" in found["Tea"].props) == ({"placeholder": True}, False)


def test_prose_is_kept_as_atoms_with_tags_and_links(tmp_path: Path) -> None:
    records = list(basic_memory.load(project(tmp_path, coffee=COFFEE, Tea="Leaves in water.")))
    found = nodes(records)
    atom = found["# Coffee Brewing\n\nGood with a [[Tea]] beside it, in the #morning."]
    assert atom.tags == ("morning",)
    assert "- [ ] buy beans" in found
    link = typed(records)["links_to"]
    assert (link.src, link.dst) == (atom.id, found["Tea"].id)


def test_code_is_neither_observation_nor_tag_nor_link(tmp_path: Path) -> None:
    code = "```c\n#include <a>\n- [x] y\n- [idea] no [[Nobody]]\n\n- uses [[Nobody]]\n```"
    records = list(basic_memory.load(project(tmp_path, code=code)))
    atom = nodes(records)[code]
    assert atom.tags == ()
    assert "Nobody" not in nodes(records)


def test_tasks_clock_times_and_web_links_are_not_observations(tmp_path: Path) -> None:
    body = "- [x] done\n- [/] half\n- [00:01:22] hello\n- [site](http://a.b) text\n- [[Wiki]] page"
    records = list(basic_memory.load(project(tmp_path, plain=body)))
    assert [n.props.get("category") for n in nodes(records).values() if n.kind == "atom"] == [None]


def test_several_words_may_name_a_relation_under_its_heading(tmp_path: Path) -> None:
    body = "is near [[A]]\n\n- is near [[B]]\n\n## Relations\n- is part of [[C]]\n"
    edges = typed(list(basic_memory.load(project(tmp_path, plain=body))))
    assert set(edges) == {"links_to", "is part of"}


def test_notes_are_found_by_title_permalink_path_and_file_name(tmp_path: Path) -> None:
    links = ["coffee  brewing", "ideas/coffee-brewing", "memory://ideas/coffee-brewing", "ideas/coffee", "coffee.md"]
    links += ["Coffee Brewing#Relations", "coffee|our note"]
    body = "\n".join(f"- r{n} [[{link}]]" for n, link in enumerate(links))
    records = list(basic_memory.load(project(tmp_path, ideas__coffee=COFFEE, index=body)))
    found = nodes(records)["Coffee Brewing"].id
    assert [e.dst for kind, e in typed(records).items() if kind.startswith("r") and kind[1:].isdigit()] == [found] * 7


def test_a_note_with_a_sharp_in_its_title_is_found(tmp_path: Path) -> None:
    records = list(basic_memory.load(project(tmp_path, a="---\ntitle: C# guide\n---\n", b="- see [[C# guide]]\n")))
    assert typed(records)["see"].dst == nodes(records)["C# guide"].id


def test_a_placeholder_has_the_id_of_the_note_it_waits_for(tmp_path: Path) -> None:
    before = nodes(list(basic_memory.load(project(tmp_path, coffee=COFFEE))))["Tea"].id
    assert nodes(list(basic_memory.load(project(tmp_path, Tea="Leaves."))))["Tea"].id == before


def test_two_notes_of_one_title_stay_two(tmp_path: Path) -> None:
    twin = "---\ntitle: Index\npermalink: p\n---\n- [a] b"
    records = list(basic_memory.load(project(tmp_path, a=twin, b=twin, c=twin)))
    ids = [r.id for r in records if isinstance(r, Node | Edge)]
    assert len(ids) == len(set(ids)) == 9


def test_notes_come_back_as_they_were_written(tmp_path: Path) -> None:
    vault = project(tmp_path / "in", ideas__coffee=COFFEE)
    assert basic_memory.dump(basic_memory.load(vault), tmp_path / "out") == 1
    assert (tmp_path / "out/ideas/coffee.md").read_text(encoding="utf-8") == COFFEE


def test_numbered_observations_and_those_with_a_tag_alone_are_observations(tmp_path: Path) -> None:
    body = """## Observations
1. [method] Pour at 80 degrees #brewing
2) [tip] Warm the pot

- Drink it fresh #habit

- [ ] buy tea #todo
- [[Cake]] first #sweet
- plain without
"""
    text = f"---\ntitle: Tea\ntype: note\npermalink: tea\n---\n\n{body}"
    found = nodes(list(basic_memory.load(project(tmp_path / "in", tea=text))))
    assert {name: (node.props.get("category"), node.tags) for name, node in found.items() if "of" in node.props} == {
        "Pour at 80 degrees #brewing": ("method", ("method", "brewing")),
        "Warm the pot": ("tip", ("tip",)),
        "Drink it fresh #habit": ("", ("habit",)),
        "- [ ] buy tea #todo\n- [[Cake]] first #sweet\n- plain without": (None, ("todo", "sweet")),
    }
    basic_memory.dump(basic_memory.load(tmp_path / "in"), tmp_path / "out")
    out = (tmp_path / "out/tea.md").read_text(encoding="utf-8")
    for line in ("1. [method] Pour at 80 degrees #brewing", "2) [tip] Warm the pot", "- Drink it fresh #habit"):
        assert f"\n{line}\n" in out
    assert nodes(list(basic_memory.load(tmp_path / "out"))).keys() == found.keys()


def test_long_paragraphs_are_cut_at_sentences_and_joined_again(tmp_path: Path) -> None:
    body = "---\ntitle: Long\ntype: note\n---\n\n" + " ".join(f"Sentence number {n} is here." for n in range(90)) + "\n"
    records = list(basic_memory.load(project(tmp_path / "in", long=body)))
    atoms = [n for n in nodes(records).values() if n.kind == "atom"]
    assert len(atoms) > 2
    assert all(len(n.text) <= 800 for n in atoms)
    basic_memory.dump(records, tmp_path / "out")
    assert (tmp_path / "out/long.md").read_text(encoding="utf-8") == body


def test_broken_frontmatter_is_reported_and_the_note_is_read(tmp_path: Path) -> None:
    bomb = "---\na: &a [x, x]\nb: [*a, *a]\n---\n- [idea] three"
    vault = project(tmp_path, one="---\ntitle: [oops\n---\n- [idea] one", two="- [idea] two", three=bomb)
    (vault / "latin.md").write_bytes(b"caf\xe9")
    errors: list[FileError] = []
    found = nodes(list(basic_memory.load(vault, errors)))
    assert {"one", "two", "three"} <= set(found)
    assert sorted(Path(e.path).name for e in errors) == ["latin.md", "one.md", "three.md"]


def test_hidden_folders_are_left_alone(tmp_path: Path) -> None:
    vault = project(tmp_path, **{".obsidian__a": "hidden", "b": "seen"})
    assert set(nodes(list(basic_memory.load(vault)))) == {"b", "seen"}


@pytest.mark.usefixtures("bound")
def test_what_may_not_be_read_is_named_and_the_rest_is_loaded(tmp_path: Path) -> None:
    noted = "---\ntitle: a\npermalink: a\n---\n- [idea] open"
    vault = project(tmp_path / "vault", a=noted, b="shut", closed__c="behind a door", listed__d="in sight")
    shut = {"b.md": 0, "closed": 0, "listed": 0o400}
    for name, mode in shut.items():
        (vault / name).chmod(mode)
    try:
        errors: list[FileError] = []
        found = load(vault, recognise(vault), errors)
        assert set(nodes(list(found))) == {"a", "open"}
    finally:
        for name in shut:
            (vault / name).chmod(0o700)
    assert {Path(error.path).relative_to(vault).as_posix() for error in errors} == {"b.md", "closed", "listed/d.md"}


def test_one_note_can_be_loaded_alone_and_an_empty_one_is_just_a_node(tmp_path: Path) -> None:
    vault = project(tmp_path, alone="")
    (node,) = basic_memory.load(vault / "alone.md")
    assert isinstance(node, Node)
    assert node.name == "alone"


def test_paths_that_cannot_be_used_say_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no"):
        basic_memory.load(tmp_path / "nothing")
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is a file"):
        basic_memory.dump([], tmp_path / "file")


def test_a_path_in_a_record_cannot_leave_the_folder(tmp_path: Path) -> None:
    paths = ["../evil.md", "/etc/evil.md", "a/../../evil.md", "..\\evil.md", ".hidden/evil.md", "evil.sh"]
    records = [Node(str(n), "entity", "Same", props={"path": path}) for n, path in enumerate(paths)]
    assert basic_memory.dump(records, tmp_path / "out") == 6
    assert len(list((tmp_path / "out").glob("same*.md"))) == 6
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_tags_added_since_are_written_before_the_context(tmp_path: Path) -> None:
    records = list(basic_memory.load(project(tmp_path / "in", coffee="- [method] Pour (V60)")))
    tags = (Tag("method", "method"), Tag("new", "New"), Tag("monday", "monday", "temporal"))
    changed = [
        Node(r.id, text=r.text, tag_details=tags, props=r.props) if isinstance(r, Node) and r.kind == "atom" else r
        for r in records
    ]
    basic_memory.dump(changed, tmp_path / "out")
    assert "- [method] Pour #new (V60)\n" in (tmp_path / "out/coffee.md").read_text()


def test_records_from_elsewhere_become_notes(tmp_path: Path) -> None:
    records: list[Record] = [
        Node("loose", text="A loose thought\n- [x] with a point\n\n# and a head"),
        Node("p", "person", "Ada: [the] first", text="Mathematician.", at=1000),
        Node("c", "concept", "Tea"),
        Node("o", text="Drinks a lot", props={"of": "p"}),
        Fact("f", "p", "lives_in", value="Turin"),
        Edge("e", "p", "c", type="is fond of", text="since (1830"),
    ]
    assert basic_memory.dump(records, tmp_path / "out") == 3
    again = list(basic_memory.load(tmp_path / "out"))
    found, edges = nodes(again), typed(again)
    assert found["Ada: [the] first"].kind == "person"
    assert found["Ada: [the] first"].at == 1000
    assert {"Mathematician.", "Drinks a lot", "Turin", "A loose thought\n- [x] with a point\n\n# and a head"} <= set(
        found
    )
    assert found["Turin"].props["category"] == "lives_in"
    assert (edges["is fond of"].dst, edges["is fond of"].text) == (found["Tea"].id, "since [1830")


def test_an_mcp_memory_can_move_to_notes(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text(
        '{"type":"entity","name":"Ada","entityType":"person","observations":["Likes tea"]}\n'
        '{"type":"relation","from":"Ada","to":"Turin","relationType":"lives_in"}\n'
    )
    basic_memory.dump(mcp_memory.load(tmp_path / "m.jsonl"), tmp_path / "out")
    body = "## Observations\n- [note] Likes tea\n\n## Relations\n- lives_in [[Turin]]\n"
    assert (tmp_path / "out/ada.md").read_text() == "---\ntitle: Ada\ntype: person\npermalink: ada\n---\n\n" + body


line = st.text(st.characters(codec="utf-8"), max_size=25)
marks = [
    "- [idea] x #t (c)",
    "  - [tip] y",
    "* [q] 🍵",
    "- [a] [b] c",
    "- [x] task",
    "1. one",
    "# Head",
    "## Relations",
]
marks += ["- uses [[B]] (why)", "- a b [[note0|z]]", '- "two words" [[ note0 ]]', "- see [[A]] and [[B]]", "- '' [[x]]"]
marks += [
    "",
    "  more",
    "    code",
    "\ttab",
    "```",
    "~~~",
    "---",
    "\\- [a] b",
    "  \\- [a] b",
    "text [[note1]] #tag",
    "A. B! " * 200,
]
pieces = st.sampled_from(marks)
bodies = st.lists(pieces | line, max_size=12).map("\n".join)
fronts = st.sampled_from(
    ["", "---\ntitle: 'Yes'\ntags: a, b\nn: 007\n---\n", "---\ntype: Person\npermalink: x/y\n---\n"]
)


@given(st.lists(st.tuples(fronts, bodies), min_size=1, max_size=3))
def test_any_notes_survive_the_round_trip(
    tmp_path_factory: pytest.TempPathFactory, contents: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("basic")
    vault = project(folder / "in", **{f"note{n}": front + body for n, (front, body) in enumerate(contents)})
    records = list(basic_memory.load(vault))
    basic_memory.dump(records, folder / "once")
    again = list(basic_memory.load(folder / "once"))
    basic_memory.dump(again, folder / "twice")
    assert again == records
    for file in (folder / "once").rglob("*.md"):
        assert (folder / "twice" / file.relative_to(folder / "once")).read_bytes() == file.read_bytes()


@given(st.lists(st.lists(pieces | line, min_size=1, max_size=4).map("\n".join), max_size=5))
def test_any_observation_text_can_be_written_and_read(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("basic")
    owner = Node("o", "entity", "Owner")
    atoms = [Node(str(n), text=t, seq=n, props={"of": "o", "category": "c"}) for n, t in enumerate(texts)]
    basic_memory.dump([owner, *atoms], folder)
    once = [r for r in basic_memory.load(folder) if isinstance(r, Node) and r.kind == "atom"]
    expected = ["\n".join(part.rstrip(" \t") for part in clean(t).strip().split("\n")) for t in texts]
    assert [r.text for r in once] == [t for t in expected if t]
