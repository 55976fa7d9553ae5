"""Tombstones match a forgotten text in another form, and do not match other texts."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuetrail import Memory
from cuetrail.errors import Forgotten
from cuetrail.model import Node
from cuetrail.model.ids import fingerprint
from cuetrail.store.shared.tombstones import LONGEST, SHORTEST, match_known, node_tombstones, text_hashes

SECRET = "My PIN is 1234, and nobody knows"
LONG = "The vault opens at noon. Its code is 7711! Ask the porter for the second key. He sits by the gate"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", embedder=None) as opened:
        yield opened


def forget(memory: Memory, *texts: str) -> None:
    for text in texts:
        memory.forget(memory.add(text).id)


def comes_back(memory: Memory, text: str) -> bool:
    try:
        memory.add(text)
    except Forgotten:
        return False
    return True


@pytest.mark.parametrize(
    "shape",
    [
        "{}.",
        "{}!",
        "“{}”",
        "- {}",
        "* [x] {}",
        "# {}",
        "12. {}",
        "user: {}",
        "Assistant: {}?",
        "Something else. {}. And more of it.",
        "A first line\n{}\nand a last one",
        "Dr. Ray wrote:\n\n{}\n\nThat was all.",
        "{}。次の文です。",
        "{} #hush",
        "{} ^abc123",
        "==~~{}~~==",
        "a) {}",
        "— {}",
        "Zoë Bell: {}",
        "| 7 | {} |",
    ],
)
@pytest.mark.parametrize("text", [SECRET, LONG], ids=["one sentence", "several"])
def test_the_same_words_are_known_in_any_of_these_shapes(memory: Memory, text: str, shape: str) -> None:
    forget(memory, text)
    assert not comes_back(memory, shape.format(text))
    assert not comes_back(memory, shape.format(text.upper().replace(" ", "\n ")))


@pytest.mark.parametrize(
    "again",
    [
        "My **PIN** is _1234_, and `nobody` knows",
        "My [[PIN]] is 1234, and [[people|nobody]] [knows](http://x.org)",
        "My PIN is １２３４, and nobody knows",
        "My PIN is 1234, and no\u00adbody\u200b knows",
    ],
)
def test_markup_and_letters_that_look_the_same_make_no_other_text(memory: Memory, again: str) -> None:
    forget(memory, SECRET)
    assert not comes_back(memory, again)
    memory.add(again, id="again", allow_again=True)
    memory.add(SECRET, id="copy", allow_again=True)
    assert set(memory.forget("copy")) == {"copy", "again"}


@pytest.mark.parametrize(
    "other",
    [
        "My PIN is 1235, and nobody knows.",
        "She said that my PIN is 1234, and nobody knows of it.",
        "My PIN is 1234.",
        "nobody knows",
        f"Not {SECRET}",
        f"{SECRET} but you",
    ],
)
def test_other_words_are_other_memories(memory: Memory, other: str) -> None:
    forget(memory, SECRET)
    assert comes_back(memory, other)


def test_a_forgotten_text_does_not_come_back_cut_into_other_paragraphs(memory: Memory, tmp_path: Path) -> None:
    forget(memory, LONG)
    (tmp_path / "a.md").write_text(LONG.replace("! ", "!\n\n").replace(" the ", " the\n") + ".")
    report = memory.ingest(tmp_path / "a.md")
    assert (report.added, report.forgotten) == (0, 1)
    assert not comes_back(memory, "Ask the porter for the second key.")
    assert comes_back(memory, "Ask the porter for the second key. She knows him.")


def test_a_chat_turn_that_was_forgotten_is_known_without_its_speaker(memory: Memory, tmp_path: Path) -> None:
    chat = tmp_path / "chat.json"
    chat.write_text(json.dumps([{"role": "Zoë", "content": SECRET}, {"role": "Zoë", "content": "Nothing more."}]))
    memory.ingest(chat)
    turn = next(hit.node for hit in memory.recall("PIN").hits)
    assert turn.text == f"Zoë: {SECRET}"
    memory.add(f"{SECRET}!", id="copy")
    assert "copy" in memory.forget(turn.id), "the same without its speaker is a copy"
    assert not comes_back(memory, SECRET)
    chat.write_text(json.dumps([{"role": "Ann", "content": SECRET}, {"role": "Zoë", "content": "Nothing more."}]))
    assert memory.ingest(chat).forgotten == 1


@pytest.mark.parametrize("short", ["Thanks!", "user: yes", "See you.", "OK. OK."])
def test_words_too_few_to_be_telling_are_known_only_as_a_whole(memory: Memory, short: str) -> None:
    forget(memory, short)
    assert not comes_back(memory, short.upper())
    assert comes_back(memory, f"{short} And now to something else.")
    assert comes_back(memory, f"Ann: {short}")


def test_what_contains_the_forgotten_and_was_there_before_keeps_the_rest_and_can_be_changed(memory: Memory) -> None:
    memory.add(f"Much more. {SECRET}. Even more.", id="larger")
    forget(memory, SECRET)
    assert memory.add("Much more. Even more.", id="larger", tags=["kept"]).tags == ("kept",)
    with pytest.raises(Forgotten):
        memory.add(f"Still more. {SECRET}.", id="larger")
    node = memory.get("larger")
    assert node is not None
    assert node.text == "Much more. Even more."
    assert memory.history("larger") == []


def test_allow_again_lifts_what_kept_it_out_and_what_it_would_leave(memory: Memory) -> None:
    forget(memory, SECRET, LONG)
    larger = f"Much more. {SECRET}."
    memory.add(larger, allow_again=True)
    assert comes_back(memory, f"And more. {SECRET}.")
    assert not comes_back(memory, SECRET)
    assert not comes_back(memory, LONG)
    memory.add("He sits by the gate. Its code is 7711!", allow_again=True)
    assert comes_back(memory, "Its code is 7711.")
    assert not comes_back(memory, LONG)


WORDS = "the pump of ann runs at 7 in may while 12 boats wait near 1.5 km of red rope and gates".split()  # noqa: SIM905
SHAPES = (
    "{}", "{}.", "- [x] **{}** #tag", "> {}[^1]", "Ann: {}", "[12:03] Ann: {}", "Fwd: Re: {}", "<p>{}</p>", "* TODO {}",
    "2024-05-01: {}", "May 1, 2024 {}", "{} 🔑", '{{"text": "{}"}}', "<!-- a --> {} <!-- b -->", "NOW {}", "{} (1)",
)  # fmt: skip


@given(
    st.lists(st.sampled_from(WORDS), min_size=5, max_size=12), st.data(), st.sampled_from(SHAPES),
    st.sampled_from(SHAPES),
)  # fmt: skip
def test_a_text_with_one_other_word_is_another_text_in_every_disguise(
    words: list[str], data: st.DataObject, forgotten: str, incoming: str
) -> None:
    at = data.draw(st.integers(0, len(words) - 1))
    other = data.draw(st.sampled_from([word for word in WORDS if word != words[at]]))
    known = set(node_tombstones(Node("a", text=forgotten.format(" ".join(words)))))
    changed = " ".join([*words[:at], other, *words[at + 1 :]])
    assert match_known([Node("b", text=incoming.format(changed))], known) == {}


@given(st.lists(st.sampled_from(WORDS), min_size=5, max_size=12), st.sampled_from(SHAPES))
def test_the_same_words_are_the_same_text_in_every_disguise(words: list[str], incoming: str) -> None:
    text = f"Words {' '.join(words)} end"
    known = set(node_tombstones(Node("a", text=text)))
    assert match_known([Node("b", text=incoming.format(text))], known)


def test_without_tombstones_nothing_is_hashed(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(node: Node) -> None:
        raise AssertionError("hashed")

    monkeypatch.setattr("cuetrail.store.shared.tombstones.text_hashes", never)
    memory.add_many(f"{LONG} {number}" for number in range(50))
    assert memory.stats().nodes == 50


def test_a_tombstone_of_an_earlier_export_is_still_known() -> None:
    node = Node("Some Id", text="Some  TEXT")
    assert {fingerprint("id\n" + node.id), fingerprint("text\n" + node.text)} <= set(node_tombstones(node))


@pytest.mark.parametrize("shape", ["- ", "ab. ", "1. ", "“", "| ", "[[", "Ann: "])
def test_a_long_text_is_judged_in_time_that_grows_with_its_length(shape: str) -> None:
    def seconds(times: int) -> float:
        begin = time.process_time()
        text_hashes(Node("a", text=shape * times + "x y z"))
        return time.process_time() - begin

    seconds(1_000)
    assert seconds(80_000) < 30 * max(seconds(10_000), 0.01)


# --- the rule itself


WORD = st.text("abcdefgh ÄßЖ日", min_size=1, max_size=20).filter(str.strip)
SENTENCE = st.tuples(WORD, st.sampled_from([". ", "! ", "? ", "… ", "\n", ".\n\n"])).map("".join)
SENTENCES = st.lists(SENTENCE, min_size=1, max_size=LONGEST)


def known(text: str, forgotten: str) -> bool:
    return bool(text_hashes(Node("new", text=text)).match(set(node_tombstones(Node("old", text=forgotten)))))


@given(before=SENTENCES, said=SENTENCES, after=SENTENCES)
def test_whole_sentences_are_found_wherever_they_stand(before: list[str], said: list[str], after: list[str]) -> None:
    forgotten = "".join(said)
    assert known(forgotten, forgotten)
    words = node_tombstones(Node("", text=forgotten))
    if len(words) > 2 and len(said) <= LONGEST:
        assert known("".join([*before, *said, *after]), forgotten)


@given(said=SENTENCES, pick=st.data())
def test_some_of_the_forgotten_sentences_and_no_others_are_known(said: list[str], pick: st.DataObject) -> None:
    some = pick.draw(st.lists(st.sampled_from(said), min_size=1, max_size=8))
    telling = any(len(one.strip(" .!?…\n")) > 2 * SHORTEST for one in some)
    if telling and len(set(said)) > 1:
        assert known("".join(some), "".join(said))


@given(one=SENTENCES, other=SENTENCES)
def test_texts_without_a_sentence_in_common_are_strangers(one: list[str], other: list[str]) -> None:
    assert not known(" ".join(f"x{n} {text}" for n, text in enumerate(one)), "".join(other))


@given(text=st.text(max_size=400), role=st.text(max_size=9))
def test_any_text_is_known_as_itself_whoever_says_it(text: str, role: str) -> None:
    node = Node("a", text=text, props={"speaker": role})
    assert bool(text_hashes(node).match(set(node_tombstones(node)))) == bool(text)
