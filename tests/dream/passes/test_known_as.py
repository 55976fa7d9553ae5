"""Texts are known by the names that other texts use for them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from cuetrail import Memory
from cuetrail.dream import context
from tests.dream.tools import MONDAY, idle

LUND = 'Richard Ray "Rick" Lund (born 1960) is an actor. He lives in Oslo.'
FILM = "The film Red Kite was made by Rick Lund."


def known(memory: Memory, id_: str) -> list[str]:
    node = memory.get(id_)
    assert node is not None
    return list(node.props.get("known_as", []))


def test_a_text_is_known_by_the_name_that_another_text_uses(memory: Memory) -> None:
    memory.add(LUND, id="lund")
    memory.add(FILM, id="film")
    memory.add("Oslo is a city with trams.", id="oslo")
    assert "named" not in memory.recall("Where does Rick Lund live?").hits[0].why["found_by"]
    memory.dream(now=MONDAY)
    assert known(memory, "lund") == ["Rick Lund"]
    best = memory.recall("Where does Rick Lund live?").hits[0]
    assert best.node.id == "lund"
    assert "named" in best.why["found_by"]
    assert idle(memory.dream(now=MONDAY))


def test_a_name_leads_from_the_text_that_uses_it(memory: Memory) -> None:
    memory.add(LUND, id="lund")
    memory.add(FILM, id="film")
    memory.dream(now=MONDAY)
    hits = {hit.node.id: hit for hit in memory.recall("Who made the film Red Kite?").hits}
    assert hits["lund"].why["path"][0]["src"] == "film"


def test_a_name_that_nobody_uses_or_that_two_may_have_is_not_kept(memory: Memory) -> None:
    memory.add(LUND, id="lund")
    memory.dream(now=MONDAY)
    assert known(memory, "lund") == []
    memory.add(FILM, id="film")
    memory.add('Ricardo "Rick" Lund (born 1971) is a sailor. He sails.', id="sailor")
    memory.dream(now=MONDAY)
    assert known(memory, "lund") == known(memory, "sailor") == []
    memory.forget("sailor")
    memory.dream(now=MONDAY)
    assert known(memory, "lund") == ["Rick Lund"]


def test_a_name_within_a_longer_one_is_another_name(memory: Memory) -> None:
    memory.add(LUND, id="lund")
    memory.add("The film Red Kite was made by Rick Lund Hansen.", id="film")
    memory.dream(now=MONDAY)
    assert known(memory, "lund") == []


def test_named_texts_titles_turns_and_passages_keep_their_names(memory: Memory) -> None:
    memory.add(LUND, id="named", name="Lund")
    memory.add(f"The actor Lund\n{LUND}", id="titled")
    memory.add(f"Ann: {LUND}", id="turn", source="chat")
    memory.add(LUND, id="passage", source="a.md")
    memory.add(FILM, id="film")
    memory.dream(now=MONDAY)
    assert [known(memory, id_) for id_ in ("named", "titled", "turn", "passage")] == [[]] * 4


def test_an_edit_takes_the_names_back_and_given_ones_stay(memory: Memory) -> None:
    memory.add(LUND, id="lund", props={"known_as": ["The Kite Man"]})
    memory.add(FILM, id="film")
    memory.dream(now=MONDAY)
    assert known(memory, "lund") == ["The Kite Man", "Rick Lund"]
    memory.forget("film")
    memory.dream(now=MONDAY)
    assert known(memory, "lund") == ["The Kite Man"]
    memory.add("Another film was made by Rick Lund.", id="other")
    memory.dream(now=MONDAY)
    memory.edit("lund", text="Somebody is an actor.")
    assert known(memory, "lund") == []


def test_a_dry_run_says_which_names_it_would_give(memory: Memory) -> None:
    memory.add(LUND, id="lund")
    memory.add(FILM, id="film")
    (report,) = memory.dream(only=["known_as"], dry_run=True, now=MONDAY).passes
    assert report.changes == (f'~ lund "{LUND}" known as Rick Lund',)
    assert known(memory, "lund") == []


@pytest.mark.parametrize(("seed", "batch"), [(1, 8_000), (2, 8_000), (3, 2), (4, 1)])
def test_many_dreams_give_the_same_names_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, batch: int
) -> None:
    monkeypatch.setattr(context, "BATCH", batch)
    chance = random.Random(seed)
    names = ["Ann Berg", "Ann Bea Berg", "Ann Cleo Berg", "Bo Dahl", "Bo Emil Dahl"]
    with Memory(tmp_path / "often", embedder=None) as often, Memory(tmp_path / "once", embedder=None) as once:
        for _ in range(12):
            id_, name = f"t{chance.randrange(6)}", chance.choice(names)
            text = chance.choice([f"{name} (born 1960) is a baker.", f"They met {name} in a shop.", "Nobody came."])
            if chance.random() < 0.2 and often.get(id_):
                often.forget(id_)
            else:
                often.add(text, id=id_, at=MONDAY, allow_again=True)
            often.dream(only=["known_as"], now=MONDAY)
        kept = {id_: node for n in range(6) if (node := often.get(id_ := f"t{n}"))}
        for id_, node in sorted(kept.items(), reverse=True):
            once.add(node.text, id=id_, at=MONDAY)
        once.dream(only=["known_as"], now=MONDAY)
        assert {id_: sorted(known(often, id_)) for id_ in kept} == {id_: sorted(known(once, id_)) for id_ in kept}
