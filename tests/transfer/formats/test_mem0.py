"""Import and export of mem0 data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuetrail.errors import CuetrailError, ReadError
from cuetrail.model import Edge, FileError, Node, Tag
from cuetrail.store.read import Record
from cuetrail.transfer.formats import mem0

TEA: dict[str, Any] = {
    "id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8e",
    "memory": "Likes green tea 🍵",
    "hash": "d41d8cd98f00b204e9800998ecf8427e",
    "metadata": {"mood": "calm", "n": 2},
    "created_at": "2024-07-26T10:29:36.630547-07:00",
    "updated_at": None,
    "user_id": "ada",
    "categories": ["Food", "daily life"],
}
LIKES = {"source": "ada_lovelace", "relationship": "likes", "target": "tea"}


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_memory_becomes_an_atom_with_its_fields(tmp_path: Path) -> None:
    (node,) = mem0.load(write(tmp_path / "m.json", {"results": [TEA]}))
    assert isinstance(node, Node)
    assert (node.id, node.kind, node.text) == (f"mem0:{TEA['id']}", "atom", TEA["memory"])
    assert node.at == 1722014976631
    assert node.tags == ("food", "daily_life")
    assert (node.props["metadata"], node.props["user_id"]) == ({"mood": "calm", "n": 2}, "ada")


def test_relations_become_edges_between_entities(tmp_path: Path) -> None:
    records = list(mem0.load(write(tmp_path / "m.json", {"results": [], "relations": [LIKES]})))
    ada, tea, edge = records
    assert isinstance(ada, Node)
    assert isinstance(tea, Node)
    assert isinstance(edge, Edge)
    assert (ada.name, ada.aliases, tea.kind) == ("ada_lovelace", ("ada lovelace",), "entity")
    assert (edge.src, edge.dst, edge.type, edge.weight) == (ada.id, tea.id, "likes", 0.65)


def test_every_shape_of_an_export_gives_the_same_memories(tmp_path: Path) -> None:
    two = {**TEA, "id": "2", "memory": "Lives in Turin"}
    expected = list(mem0.load(write(tmp_path / "results.json", {"results": [TEA, two]})))
    shapes: list[Any] = [[TEA, two], {"memories": [TEA, two]}, [{"count": 1, "results": [TEA]}, {"results": [two]}]]
    for shape in shapes:
        assert list(mem0.load(write(tmp_path / "shape.json", shape))) == expected
    (tmp_path / "m.jsonl").write_text(f"{json.dumps(TEA)}\n\n{json.dumps(two)}\n", encoding="utf-8")
    assert list(mem0.load(tmp_path / "m.jsonl")) == expected


def test_older_names_of_fields_are_understood(tmp_path: Path) -> None:
    rows = [{"id": 7, "content": "From a self-hosted export", "createdAt": 1722014976}]
    relation = {"source": "a", "relation": "knows", "destination": "b"}
    records = list(mem0.load(write(tmp_path / "m.json", {"memories": rows, "relations": [relation]})))
    atom, edge = records[0], records[-1]
    assert isinstance(atom, Node)
    assert isinstance(edge, Edge)
    assert (atom.id, atom.at, edge.type) == ("mem0:7", 1722014976000, "knows")


def test_what_is_written_back_has_the_same_fields(tmp_path: Path) -> None:
    export = {"results": [TEA, {"id": "2", "memory": "x", "categories": None, "run_id": "r"}], "relations": [LIKES]}
    assert mem0.dump(mem0.load(write(tmp_path / "m.json", export)), tmp_path / "out.json") == 2
    assert read(tmp_path / "out.json") == export


def test_categories_follow_the_tags_when_these_were_changed(tmp_path: Path) -> None:
    (node,) = mem0.load(write(tmp_path / "m.json", [TEA]))
    assert isinstance(node, Node)
    tags = (Tag("tea", "Tea"), Tag("monday", "monday", "temporal"))
    changed = Node(node.id, text=node.text, tag_details=tags, props=node.props)
    mem0.dump([changed], tmp_path / "out.json")
    assert read(tmp_path / "out.json")["results"][0]["categories"] == ["Tea"]


def test_records_from_elsewhere_get_the_fields_mem0_knows(tmp_path: Path) -> None:
    records: list[Record] = [
        Node("A0", text="A thought", at=1000, tag_details=(Tag("x", "X"),), props={"page": 3}),
        Node("mem0:A0", text="Another"),
        Node("p", "person", "Ada"),
        Node("q", "person", "Bob"),
        Edge("e", "p", "q", type="knows"),
        Edge("e2", "p", "A0"),
    ]
    mem0.dump(records, tmp_path / "out.json")
    written = read(tmp_path / "out.json")
    first, second = written["results"]
    created = "1970-01-01T00:00:01+00:00"
    assert first == {
        "id": "A0", "memory": "A thought", "metadata": {"page": 3}, "categories": ["X"], "created_at": created
    }  # fmt: skip
    assert second["id"] != "A0"
    assert written["relations"] == [{"source": "Ada", "relationship": "knows", "target": "Bob"}]


def test_bad_items_are_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    rows = [TEA, 3, {"id": "x"}, {**TEA, "memory": "other"}, {"id": "t", "memory": "ok", "created_at": "soon"}]
    export = {"results": rows, "relations": [{"source": "a", "target": ""}, LIKES]}
    errors: list[FileError] = []
    records = list(mem0.load(write(tmp_path / "m.json", export), errors))
    assert [r.text for r in records if isinstance(r, Node) and r.kind == "atom"] == [TEA["memory"], "ok"]
    assert [e.error.split(":")[0] for e in errors] == [
        "results 2", "results 3", "results 4", "results 5", "relations 1"
    ]  # fmt: skip


def test_a_bad_line_of_jsonl_is_reported_with_its_number(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text(f"{json.dumps(TEA)}\n{{oops\n{json.dumps({**TEA, 'id': '2'})}\n")
    errors: list[FileError] = []
    assert len(list(mem0.load(tmp_path / "m.jsonl", errors))) == 2
    assert [e.error.split(":")[0] for e in errors] == ["line 2"]


def test_a_file_that_is_no_json_at_all_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text('{"results": [\n  {"id": "1",')
    with pytest.raises(ReadError, match="Export it from mem0 again"):
        mem0.load(tmp_path / "m.json")


def test_an_empty_file_gives_nothing(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text("")
    assert list(mem0.load(tmp_path / "m.json")) == []


def test_a_memory_without_an_id_gets_the_same_one_each_time(tmp_path: Path) -> None:
    file = write(tmp_path / "m.json", [{"memory": "Likes tea", "user_id": "ada"}, {"memory": "Likes tea"}])
    first, second = mem0.load(file)
    assert isinstance(first, Node)
    assert isinstance(second, Node)
    assert first.id != second.id
    assert [first, second] == list(mem0.load(file))


words = st.text(max_size=20) | st.sampled_from(['"q"\n🍵', "é\u2028", "Tea", " tea"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words,
    lambda v: st.lists(v, max_size=3) | st.dictionaries(words, v, max_size=3),
    max_leaves=8,
)
memories = st.fixed_dictionaries(
    {"memory": words},
    optional={
        "id": words | st.integers(),
        "metadata": values,
        "categories": st.none() | st.lists(words, max_size=3),
        "created_at": words | st.floats() | st.integers() | st.datetimes().map(lambda d: d.isoformat()),
        "user_id": words,
    },
)
relations = st.fixed_dictionaries({"source": words, "relationship": words, "target": words}, optional={"score": values})


@given(st.lists(memories, max_size=6), st.lists(relations, max_size=5))
def test_any_export_survives_the_round_trip(
    tmp_path_factory: pytest.TempPathFactory, results: list[Any], related: list[Any]
) -> None:
    folder = tmp_path_factory.mktemp("mem0")
    records = list(mem0.load(write(folder / "m.json", {"results": results, "relations": related})))
    mem0.dump(records, folder / "once.json")
    again = list(mem0.load(folder / "once.json"))
    mem0.dump(again, folder / "twice.json")
    assert again == records
    assert (folder / "twice.json").read_bytes() == (folder / "once.json").read_bytes()


@given(values)
def test_any_json_is_taken_or_refused_politely(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    list(mem0.load(write(tmp_path_factory.mktemp("mem0") / "m.json", value), []))


@given(st.binary(max_size=200))
def test_no_bytes_make_it_fail_otherwise_than_with_our_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    file = tmp_path_factory.mktemp("mem0") / "m.json"
    file.write_bytes(data)
    try:
        list(mem0.load(file, []))
    except CuetrailError as e:
        assert "again" in str(e)  # noqa: PT017  either outcome is right
