"""Names, links, headings and order become edges, and the edges go when their reason goes."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from cuetrail import Memory
from cuetrail.model import Edge, TextQuery, Where

CAUSAL, BRIDGE, TOPICAL = (0.85, 1.0), (0.55, 0.75), (0.25, 0.45)


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    (tmp_path / "vault").mkdir()
    return tmp_path / "vault"


def atom(memory: Memory, text: str) -> str:
    """The id of the atom with this text."""
    ids = [found.id for found in memory.store.text(memory.scope, TextQuery(text), 50, Where())]
    found = [node.id for node in memory.store.get(memory.scope, ids).values() if node.text == text]
    assert len(found) == 1
    return found[0]


def edges(memory: Memory, id_: str, kind: str) -> list[Edge]:
    """The edges of a node of one kind."""
    steps = [step for step in memory.neighbours(id_, limit=1000).neighbours if step.kind == kind]
    return [edge for step in steps if (edge := memory.edge(step.edge)) is not None]


def ends(memory: Memory, id_: str, kind: str) -> set[str]:
    """The names or texts of what a node points at along one kind."""
    found = (memory.get(edge.dst) for edge in edges(memory, id_, kind) if edge.src == id_)
    return {node.name or node.text for node in found if node is not None}


def in_band(edge: Edge, band: tuple[float, float]) -> bool:
    return edge.weight is not None and band[0] <= edge.weight <= band[1]


@pytest.mark.parametrize("link", ["[[target]]", "[[Target Note]]", "[[tn]]", "[[TARGET|shown]]", "[[target#Part]]"])
def test_a_wikilink_by_stem_title_or_alias_becomes_a_bridge(vault: Path, memory: Memory, link: str) -> None:
    (vault / "target.md").write_text("---\ntitle: Target Note\naliases: [tn]\n---\nBody.")
    (vault / "from.md").write_text(f"Look at {link} now.")
    memory.ingest(vault)
    source = atom(memory, f"Look at {link} now.")
    assert ends(memory, source, "links") == {"Target Note"}
    assert all(in_band(edge, BRIDGE) for edge in edges(memory, source, "links"))


def test_two_names_of_one_note_linked_from_one_atom_come_and_go_apart(vault: Path, memory: Memory) -> None:
    (vault / "target.md").write_text("---\ntitle: Target\naliases: [tn]\n---\nBody.")
    (vault / "from.md").write_text("Look at [[Target]] and [[tn]].")
    memory.ingest(vault)
    source = atom(memory, "Look at [[Target]] and [[tn]].")
    assert len(edges(memory, source, "links")) == 2
    (vault / "target.md").write_text("---\ntitle: Target\n---\nBody, longer.")
    memory.ingest(vault)
    assert len(edges(memory, source, "links")) == 1


def test_notes_and_sequence_become_topical_edges(vault: Path, memory: Memory) -> None:
    order = [f"{name} text. {'It goes on and on about the mast. ' * 12}".strip() for name in ("Intro", "Deep", "Last")]
    (vault / "a.md").write_text("# Top\n\n{}\n\n## Deep\n\n{}\n\n# Second\n\n{}".format(*order))
    memory.ingest(vault)
    assert [memory.nodes(atom(memory, text))[atom(memory, text)].props.get("heading") for text in order] == [
        None,
        "Deep",
        "Second",
    ]
    assert all(ends(memory, atom(memory, text), "under") == {"Top"} for text in order)
    for first, second in itertools.pairwise(order):
        assert ends(memory, atom(memory, first), "next") == {second}
    for kind in ("under", "next"):
        assert all(in_band(edge, TOPICAL) for edge in edges(memory, atom(memory, order[1]), kind))


def test_a_name_two_atoms_share_becomes_an_entity_and_one_atom_alone_makes_none(vault: Path, memory: Memory) -> None:
    (vault / "a.md").write_text("We met Grace Hopper.\n\n---\n\nAlone we met Alan Turing.")
    memory.ingest(vault)
    assert memory.get("Grace Hopper") is None
    (vault / "b.md").write_text("They met Grace Hopper too.")
    memory.ingest(vault)
    entity = memory.get("grace hopper")
    assert entity is not None
    assert (entity.kind, entity.name) == ("entity", "Grace Hopper")
    assert memory.get("Alan Turing") is None
    mentions = edges(memory, entity.id, "mentions")
    assert len(mentions) == 2
    assert all(in_band(edge, TOPICAL) for edge in mentions)
    (vault / "b.md").unlink()
    memory.ingest(vault)
    assert memory.get("grace hopper") is None


def test_a_note_takes_over_the_name_an_entity_had_and_gives_it_back(vault: Path, memory: Memory) -> None:
    (vault / "a.md").write_text("We met Grace Hopper.")
    (vault / "b.md").write_text("They met Grace Hopper too.")
    memory.ingest(vault)
    (vault / "Grace Hopper.md").write_text("Admiral.")
    memory.ingest(vault)
    note = memory.get("Grace Hopper")
    assert note is not None
    assert note.kind == "source"
    assert len(edges(memory, note.id, "mentions")) == 2
    (vault / "Grace Hopper.md").unlink()
    memory.ingest(vault)
    entity = memory.get("Grace Hopper")
    assert entity is not None
    assert entity.kind == "entity"
    assert len(edges(memory, entity.id, "mentions")) == 2


def test_the_spelling_of_an_entity_does_not_depend_on_who_came_first(tmp_path: Path, vault: Path) -> None:
    texts = {"a.md": "We use the Duckdb engine.", "b.md": "We like the DuckDB engine.", "c.md": "They like DuckDB."}
    spellings = set()
    for number, order in enumerate(itertools.permutations(texts)):
        folder = tmp_path / str(number) / "vault"
        folder.mkdir(parents=True)
        with Memory(tmp_path / str(number) / "memory", embedder="none") as memory:
            for name in order:
                (folder / name).write_text(texts[name])
                memory.ingest(folder)
            entity = memory.get("duckdb")
            assert entity is not None
            spellings.add(entity.name)
    assert spellings == {"DuckDB"}


def test_a_renamed_title_lets_go_of_the_old_name(vault: Path, memory: Memory) -> None:
    (vault / "n.md").write_text("---\ntitle: Old Name\n---\nBody.")
    (vault / "a.md").write_text("See [[Old Name]].")
    memory.ingest(vault)
    source = atom(memory, "See [[Old Name]].")
    assert ends(memory, source, "links") == {"Old Name"}
    (vault / "n.md").write_text("---\ntitle: Brand New\n---\nBody.")
    memory.ingest(vault)
    assert ends(memory, source, "links") == set()


def test_a_link_waits_for_a_node_that_is_added_by_hand(vault: Path, memory: Memory) -> None:
    (vault / "a.md").write_text("See [[Ada]].")
    memory.ingest(vault)
    source = atom(memory, "See [[Ada]].")
    assert ends(memory, source, "links") == set()
    memory.add(name="Ada", kind="person")
    assert ends(memory, source, "links") == {"Ada"}
    memory.forget("Ada")
    assert ends(memory, source, "links") == set()


def test_what_is_stated_of_a_found_entity_outlives_the_texts_it_was_found_in(vault: Path, memory: Memory) -> None:
    (vault / "a.md").write_text("We met Grace Hopper and Alan Turing and Kurt Gödel.")
    (vault / "b.md").write_text("They met Grace Hopper and Alan Turing and Kurt Gödel too.")
    memory.ingest(vault)
    memory.add(name="Navy", kind="entity")
    memory.fact("Grace Hopper", "rank", "admiral")
    memory.link("Navy", "Alan Turing", weight=0.6)
    memory.note("Kurt Gödel", "Ask about the proof.")
    (vault / "a.md").unlink()
    (vault / "b.md").unlink()
    memory.ingest(vault)
    assert [fact.value for fact in memory.facts("Grace Hopper")] == ["admiral"]
    assert memory.neighbours("Navy").degree == 1
    assert memory.stats().notes == 1


def test_a_link_a_user_made_between_the_same_two_is_not_the_rules_to_remove(vault: Path, memory: Memory) -> None:
    (vault / "target.md").write_text("Body.")
    (vault / "a.md").write_text("See [[target]].\n\n---\n\nNext one.")
    memory.ingest(vault)
    source, target, following = atom(memory, "See [[target]]."), memory.get("target"), atom(memory, "Next one.")
    assert target is not None
    mine = [
        memory.link(source, target.id, kind="links", weight=0.9),
        memory.link(source, following, kind="next", weight=0.9),
    ]
    (vault / "a.md").write_text("See [[target]].\n\n---\n\nBetween.\n\n---\n\nNext one.")
    (vault / "target.md").write_text("---\naliases: [x]\n---\nBody.")
    memory.ingest(vault)
    assert [memory.edge(edge.id) is not None for edge in mine] == [True, True]
