"""Changing the embedder: the old vectors answer until all new ones are there, and the two are never mixed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from cuetrail import Memory, Scope
from cuetrail.embed.embedder import FloatArray, to_blob
from cuetrail.errors import EmbedderError, EmbedderMismatch, InputError
from cuetrail.store.vector_space import VectorSpace
from tests.embed.test_vectors import CATS, TAXES, Concepts, first

TEA = "A brew at five."


class Opposite(Concepts):
    """Another model: the same meanings with the other sign, so that a vector tells which model made it."""

    def __init__(self, model: str = "opposite") -> None:
        super().__init__(model)
        self.before: Callable[[], object] | None = None

    def embed(self, texts: Sequence[str]) -> FloatArray:
        if self.before is not None:
            doing, self.before = self.before, None
            doing()
        return -super().embed(texts)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.fixture
def memory(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A memory of fifty, and change-overs in small steps."""
    monkeypatch.setattr("cuetrail.embed.reembed.BATCH", 10)
    with Memory(place, embedder=Concepts()) as opened:
        opened.add_many([CATS, *(f"Filler number {number}." for number in range(48)), TAXES])
        yield opened


def interrupted(memory: Memory, other: Concepts) -> None:
    """A change-over that got half way."""
    other.patience = other.seen + 25
    with pytest.raises(EmbedderError, match="holiday"):
        memory.reembed(other)
    other.patience = 10**9


def assert_all_are_of(memory: Memory, embedder: Concepts) -> None:
    """Every memory has the vector that this model makes of its text."""
    assert memory.store.vector_spaces().held == VectorSpace(embedder.model, embedder.dim)
    nodes = [hit.node for hit in memory.recall("cat invoice filler number brew", limit=99, record_access=False).hits]
    assert len(nodes) >= 50
    stored = memory.store.vectors(memory.scope, [node.id for node in nodes])
    made = to_blob(embedder.embed([node.text for node in nodes]))
    assert stored == {node.id: vector for node, vector in zip(nodes, made, strict=True)}


def test_reembedding_changes_over_to_another_model(memory: Memory, place: Path) -> None:
    other = Concepts("others", dim=6)
    assert memory.reembed(other) == 50
    assert memory.stats().embedder == "others"
    assert first(memory, "kitten") == CATS
    memory.add(TEA)
    assert first(memory, "tea") == TEA
    assert memory.reembed(other) == 0
    assert_all_are_of(memory, other)
    with Memory(place, embedder=other) as again:
        assert first(again, "bill") == TAXES
    with pytest.raises(EmbedderMismatch):
        Memory(place, embedder=Concepts())


def test_interrupted_it_leaves_a_memory_that_answers_with_the_old_model(memory: Memory, place: Path) -> None:
    interrupted(memory, Opposite())
    assert (memory.stats().embedder, memory.stats().vectors) == ("concepts", 50)
    for opened in (memory, Memory(place, embedder=Concepts())):
        found = opened.recall("kitten")
        assert [hit.node.text for hit in found.hits][:1] == [CATS]
        assert found.notices == ()
        opened.add(f"{TEA} {opened is memory}")
        assert str(first(opened, "tea")).startswith(TEA)
        opened.close()


def test_ctrl_c_is_an_interruption_like_any_other(memory: Memory) -> None:
    def stop(what: str, done: int, total: int) -> None:
        if done >= 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.reembed(Opposite(), progress=stop)
    assert_all_are_of(memory, Concepts())
    other = Opposite()
    assert memory.reembed(other) == 30
    assert_all_are_of(memory, other)


def test_the_same_call_again_goes_on_where_it_stopped(memory: Memory, place: Path) -> None:
    interrupted(memory, Opposite())
    memory.close()
    other = Opposite()
    with Memory(place, embedder=None) as again:
        assert again.reembed(other) == 30
        assert other.seen == 30
        assert again.doctor() == []
        assert_all_are_of(again, other)


def test_opened_with_the_new_model_before_it_is_finished_it_answers_by_words_and_says_so(
    memory: Memory, place: Path
) -> None:
    interrupted(memory, Opposite())
    other = Opposite()
    with Memory(place, embedder=other) as early:
        found = early.recall("windowsill")
        assert [hit.node.text for hit in found.hits] == [CATS]
        assert "not finished" in found.notices[0]
        assert "cuetrail reembed" in found.notices[0]
        early.add(TEA)
        assert early.recall("brew").hits[0].node.text == TEA
        seen = other.seen
        assert early.reembed() == 30
        assert other.seen == seen + 30, "what was added meanwhile had its vector already"
        assert early.recall("kitten").notices == ()
        assert_all_are_of(early, other)


def test_a_narrative_that_was_made_with_vectors_is_not_told_when_they_are_gone(memory: Memory, place: Path) -> None:
    memory.add("Tea for Ines.", id="ines", name="Ines Okafor", kind="person")
    memory.fact("ines", "likes", "tea")
    assert not memory.narrate("brew").degraded
    with Memory(place, embedder=None) as other:
        other.reembed("none")
    assert memory.narrate("brew").degraded


def test_going_back_to_the_old_model_drops_what_was_made(memory: Memory, place: Path) -> None:
    interrupted(memory, Opposite())
    assert memory.reembed(Concepts()) == 0
    assert memory.store.vector_spaces().next is None
    with pytest.raises(EmbedderMismatch):
        Memory(place, embedder=Opposite())
    assert_all_are_of(memory, Concepts())
    assert memory.reembed(Opposite()) == 50


def test_filling_gaps_of_the_old_model_leaves_an_unfinished_change_over_alone(memory: Memory) -> None:
    interrupted(memory, Opposite())
    with Memory(memory.address, embedder="none") as wordy:
        wordy.add(TEA)
    assert memory.reembed() == 1
    assert_all_are_of(memory, Concepts())
    other = Opposite()
    assert memory.reembed(other) == 31


def test_what_is_written_meanwhile_has_the_right_vector_in_the_end(memory: Memory, place: Path) -> None:
    def meanwhile(what: str, done: int, total: int) -> None:
        if what == "embedding" and done in (10, 30, 50):
            memory.add(f"{TEA} {done}")
            memory.add(f"A kitten corrected at {done}", id="changing")
            memory.forget(memory.recall(f'"Filler number {done // 10}."').hits[0].node.id)
            assert first(memory, "payment") == TAXES

    other = Opposite()
    memory.add("A feline", id="changing")
    memory.reembed(other, progress=meanwhile)
    assert_all_are_of(memory, other)
    assert memory.doctor() == []


def test_a_correction_between_reading_and_storing_is_not_overwritten(memory: Memory, place: Path) -> None:
    memory.add(CATS, id="changing")
    other = Opposite()
    other.before = lambda: memory.add("Tea instead", id="changing")
    memory.reembed(other)
    assert first(memory, "brew") == "Tea instead"
    assert_all_are_of(memory, other)


def test_a_write_that_meets_the_switch_does_not_mix_the_models(memory: Memory, place: Path) -> None:
    slow = Opposite("slow")
    with Memory(place, embedder=None) as changer:
        changer.reembed(slow)
        with Memory(place, embedder=slow) as writer:
            slow.before = lambda: changer.reembed(Opposite())
            writer.add(TEA)
            assert any("reembed" in notice for notice in writer.recall("brew").notices)
        assert changer.reembed(Opposite()) == 1
        assert_all_are_of(changer, Opposite())


def test_a_recall_that_meets_the_switch_answers_by_words(memory: Memory, place: Path) -> None:
    slow = Opposite("slow")
    with Memory(place, embedder=None) as changer:
        changer.reembed(slow)
        with Memory(place, embedder=slow) as reader:
            slow.before = lambda: changer.reembed(Opposite())
            found = reader.recall("windowsill")
    assert [hit.node.text for hit in found.hits] == [CATS]
    assert "reembed" in found.notices[0]


def test_of_two_change_overs_the_later_one_wins_and_the_other_says_so(memory: Memory) -> None:
    early, late = Opposite("early"), Opposite("late")
    early.before = lambda: interrupted(memory, late)
    with pytest.raises(EmbedderMismatch, match="early"):
        memory.reembed(early)
    assert memory.reembed(late) == 30
    assert_all_are_of(memory, late)


def test_two_processes_may_change_over_to_one_model_together(memory: Memory, place: Path) -> None:
    other = Opposite()
    with Memory(place, embedder=None) as second:
        other.before = lambda: second.reembed(Opposite())
        memory.reembed(other)
    assert_all_are_of(memory, other)


def test_a_process_that_still_has_the_old_model_does_not_mix_its_vectors_in(memory: Memory, place: Path) -> None:
    with Memory(place, embedder=Concepts()) as changer:
        changer.reembed(Concepts("others"))
    memory.add(TEA)
    assert memory.stats().vectors == 50
    found = memory.recall("brew")
    assert [hit.node.text for hit in found.hits] == [TEA]
    assert any("reembed" in notice for notice in found.notices)


def test_reembedding_makes_the_vectors_of_every_user_anew(place: Path) -> None:
    ann, bob = Scope(user="ann"), Scope(user="bob", teams=("ops",), share="ops")
    for scope in (ann, bob):
        with Memory(place, scope=scope, embedder=Concepts()) as memory:
            memory.add("what the sea knows", id="same")
    with Memory(place, scope=bob, embedder=None) as memory:
        assert memory.reembed(Opposite()) == 2
    for scope in (ann, bob):
        with Memory(place, scope=scope, embedder=Opposite()) as memory:
            assert memory.stats().vectors == 1


def test_none_keeps_a_memory_without_vectors_until_another_is_chosen(memory: Memory, place: Path) -> None:
    assert memory.reembed("none") == 0
    assert (memory.stats().embedder, memory.stats().vectors) == ("none", 0)
    for embedder in (Concepts(), Opposite(), None):
        with Memory(place, embedder=embedder) as opened:
            opened.add(f"{TEA} {embedder is None}")
            assert first(opened, "windowsill") == CATS
            assert opened.recall("kitten").hits == ()
            assert opened.recall("kitten").notices == ()
            with pytest.raises(InputError, match="--embedder"):
                opened.reembed()
    other = Opposite()
    assert memory.reembed(other) == 52
    assert_all_are_of(memory, other)
    assert memory.doctor() == []


def test_a_change_of_vectors_leaves_the_text_index_as_it_is(memory: Memory, place: Path) -> None:
    memory.refresh()
    folder = next((place / "index" / "text").glob("[0-9]*"))
    before = {file.name: (file.stat().st_ino, file.stat().st_mtime_ns) for file in folder.iterdir()}
    memory.reembed(Opposite())
    assert first(memory, "windowsill") == CATS
    assert {file.name: (file.stat().st_ino, file.stat().st_mtime_ns) for file in folder.iterdir()} == before
    memory.add("A new word: zebra.")
    assert first(memory, "zebra") == "A new word: zebra."


def test_a_backup_of_an_unfinished_change_over_is_a_memory_that_can_finish_it(memory: Memory, tmp_path: Path) -> None:
    from cuetrail.memory import restore

    interrupted(memory, Opposite())
    memory.backup(tmp_path / "b.tar")
    restore(tmp_path / "b.tar", tmp_path / "copy")
    with Memory(tmp_path / "copy", embedder=Concepts()) as copy:
        assert first(copy, "kitten") == CATS
        assert copy.reembed(Opposite()) == 30
        assert_all_are_of(copy, Opposite())


def test_no_vector_of_a_forgotten_memory_is_left_half_way(memory: Memory, place: Path) -> None:
    interrupted(memory, Opposite())
    gone = [blob for model in (Concepts(), Opposite()) for blob in to_blob(model.embed([CATS]))]
    copy = place.with_name("copy")
    shutil.copytree(place, copy)
    assert all(any(blob in file.read_bytes() for file in copy.rglob("memory.db*")) for blob in gone)
    memory.forget(memory.recall("windowsill").hits[0].node.id)
    files = [file.read_bytes() for file in place.rglob("*") if file.is_file()]
    assert not [blob for blob in gone if any(blob in data for data in files)]
