"""The loaders of the public benchmark sets on small files of the same formats, and a whole run."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.quality import report
from bench.quality.conversation import milliseconds
from bench.quality.registry import SETS
from bench.quality.run import Job, Measured, chosen_rows, keep, load_measured, run
from bench.quality.sets import Corpus, data_folder
from bench.quality.vaults import links_of, plain, without
from cuetrail import Memory

NOTES = {
    "blue-book/docs/anki.md": "---\ntitle: Anki\n---\n\nAnki makes remembering very easy through "
    "[spaced repetition](spaced_repetition.md). It is free.\n\n- [Vim](vim.md)\n\n```\nsee the [tool](vim.md) in all "
    "of these places\n```\n",
    "blue-book/docs/spaced_repetition.md": "# Spaced repetition\n\nCards come back after longer and longer pauses.\n",
    "blue-book/docs/vim.md": "# Vim\n\nAn editor. Its cards were all made in [[Anki#Import|that other program]] and "
    "then exported. See [the site](https://vim.org) for many more of these things.\n",
}


def write_lines(file: Path, objects: Iterable[Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(file, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(one) + "\n" for one in objects)


def write_archive(file: Path, texts: dict[str, str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(file, "w:gz") as archive:
        for name, text in texts.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    passages = [
        {"id": "p0", "title": "Ida Lund", "text": "Ida Lund was born in Harstad."},
        {"id": "p1", "title": "Harstad", "text": "Harstad is a town in Troms."},
        {"id": "p2", "title": "Frost", "text": "Frost breaks connectors."},
    ]
    asked = {"id": "q0", "question": "Where is the town of Ida Lund?", "answer": "Troms", "kind": "2hop"}
    write_lines(folder / "multihop" / "musique.corpus.jsonl.gz", passages)
    write_lines(folder / "multihop" / "musique.questions.jsonl.gz", [{**asked, "gold": ["p0", "p1"]}])
    write_lines(folder / "conversation" / "locomo.jsonl.gz", [_locomo()])
    sessions = [_session("s1", "My new bike is red."), _session("s2", "I sold my car.")]
    write_lines(folder / "conversation" / "longmemeval.sessions.jsonl.gz", sessions)
    question = {"id": "q", "question": "What colour is my bike?", "date": "2023/04/11 (Tue) 09:00", "kind": "single"}
    write_lines(folder / "conversation" / "longmemeval.questions.jsonl.gz", [{**question, "gold": ["s1"]}])
    write_archive(folder / "conversation" / "lihua-world.tar.gz", _lihua())
    write_archive(folder / "vaults" / "blue-book.tar.gz", NOTES)
    return folder


def _locomo() -> dict[str, Any]:
    day = {"session": "session_1", "date": "1:56 pm on 8 May, 2023", "caption": None}
    turns = [
        {**day, "id": "D1:1", "speaker": "Ann", "text": "I saw a kite."},
        {**day, "id": "D1:2", "speaker": "Ben", "text": "It was red."},
    ]
    asked = [
        {"id": "0", "question": "What did Ann see?", "answer": "a kite", "category": 4, "gold": ["D1:1"]},
        {"id": "1", "question": "What did Zoe see?", "answer": None, "category": 5, "gold": []},
    ]
    return {"id": "conv-1", "turns": turns, "questions": asked}


def _session(id_: str, said: str) -> dict[str, Any]:
    turns = [{"role": "user", "text": said}, {"role": "assistant", "text": "Great!"}, {"role": "user", "text": "Bye."}]
    return {"id": id_, "date": "2023/04/10 (Mon) 17:50", "turns": turns}


def _lihua() -> dict[str, str]:
    asked = {
        "0": {"question": "Who bakes?", "answer": "Alice", "evidence": "20260502_08:14", "type": "Single"},
        "1": {
            "question": "Who bakes and reads?",
            "answer": "",
            "evidence": "20260502_0814<and>20260503_09:00",
            "type": "Multi",
        },
        "2": {"question": "Who flies?", "answer": "", "evidence": "N/A", "type": "Null"},
    }
    return {
        "query_set.json": json.dumps(asked),
        "LiHua-World/bakery/20260502.txt": "Time: 20260502_08:14\nAlice: I bake.",
        "LiHua-World/week1/20260503_0900.txt": "Time: 20260503_09:00\nWolfgang: I read.",
    }


def only(name: str, data: Path) -> Corpus:
    (corpus,) = SETS[name].load(data, None)
    return corpus


def filled(corpus: Corpus, folder: Path) -> Memory:
    memory = Memory(folder / "memory", embedder=None)
    corpus.fill(memory, folder)
    return memory


def test_a_multihop_corpus_is_a_node_a_passage(data: Path, tmp_path: Path) -> None:
    corpus = only("musique", data)
    assert [(q.cue, q.gold, q.kind) for q in corpus.questions] == [
        ("Where is the town of Ida Lund?", ("p0", "p1"), "2hop")
    ]
    with filled(corpus, tmp_path) as memory:
        assert memory.stats().nodes == 3
        assert [(n.id, n.name) for n in memory.nodes("p1", "p0").values()] == [("p1", "Harstad"), ("p0", "Ida Lund")]


def test_with_triples_a_corpus_also_holds_them_as_facts_that_their_passage_states(data: Path, tmp_path: Path) -> None:
    triples = [["Ida Lund", "born in", "Harstad"], ["ida lund", "Born in", "Harstad"], ["Harstad", "lies in", "Troms"]]
    given = {"passage": "p0", "triples": [*triples, ["no", "triple"], ["Ida Lund", "", "Troms"], ["a", "b", 3]]}
    write_lines(data / "multihop" / "musique.triples.jsonl.gz", [given])
    job = Job("musique", data, tmp_path, "static", "static", triples=True)
    (corpus,) = job.corpora()
    with filled(corpus, tmp_path) as memory:
        found = [
            (one.subject, one.predicate, one.object, one.source_ref)
            for id_ in ("p0", "p1")
            for one in memory.facts(id_)
        ]
        assert memory.stats().nodes == 4
    assert sorted(found, key=str) == [
        ("p0", "born_in", "p1", "p0"),
        ("p1", "lies_in", "entity troms", "p0"),
    ]
    assert job.place(corpus) != replace(job, triples=False).place(corpus)


def test_turns_of_locomo_are_added_in_order_at_the_time_of_their_session(data: Path, tmp_path: Path) -> None:
    corpus = only("locomo", data)
    assert [(q.gold, q.kind) for q in corpus.questions] == [(("D1:1",), "single")]
    with filled(corpus, tmp_path) as memory:
        turn = memory.get("D1:2")
        assert turn is not None
        assert (turn.text, turn.source, turn.seq) == ("Ben: It was red.", "session_1", 1)
        assert turn.at == milliseconds("2023-05-08 13:56", "%Y-%m-%d %H:%M")
        assert turn.props == {}


def test_sessions_of_longmemeval_are_asked_for_by_what_the_user_said(data: Path, tmp_path: Path) -> None:
    corpus = only("longmemeval", data)
    assert corpus.place == "source"
    (question,) = corpus.questions
    assert question.gold == ("s1",)
    assert question.now == milliseconds("2023-04-11 09:00", "%Y-%m-%d %H:%M")
    with filled(corpus, tmp_path) as memory:
        assert memory.stats().nodes == 4
        assert {hit.node.source for hit in memory.recall("bike").hits} == {"s1"}
        assert not memory.recall("great").hits


def test_evidence_of_lihua_names_chats_and_unanswerable_questions_are_left_out(data: Path, tmp_path: Path) -> None:
    corpus = only("lihua", data)
    assert [(q.gold, q.kind) for q in corpus.questions] == [
        (("202605020814",), "single"),
        (("202605020814", "202605030900"), "multi"),
    ]
    with filled(corpus, tmp_path) as memory:
        chat = memory.get("202605030900")
        assert chat is not None
        assert (chat.text, chat.at) == ("Wolfgang: I read.", milliseconds("2026-05-03 09:00", "%Y-%m-%d %H:%M"))


def test_a_linking_sentence_asks_for_its_note_and_is_hidden(data: Path, tmp_path: Path) -> None:
    corpus = only("blue-book", data)
    assert {(q.cue, q.gold[0]) for q in corpus.questions} == {
        ("Anki makes remembering very easy through .", "blue-book/docs/spaced_repetition.md"),
        ("Its cards were all made in and then exported.", "blue-book/docs/anki.md"),
    }
    with filled(corpus, tmp_path) as memory:
        assert not memory.recall("remembering exported").hits
        assert [hit.node.source for hit in memory.recall("pauses").hits] == ["blue-book/docs/spaced_repetition.md"]
        assert memory.recall("free").hits


def test_only_the_links_that_are_asked_for_are_hidden() -> None:
    hidden = list(links_of(NOTES))
    assert [one.note for one in hidden] == ["blue-book/docs/anki.md", "blue-book/docs/vim.md"]
    left = without(NOTES, hidden[:1])
    assert "It is free." in left["blue-book/docs/anki.md"]
    assert "spaced repetition" not in left["blue-book/docs/anki.md"]
    assert left["blue-book/docs/vim.md"] == NOTES["blue-book/docs/vim.md"]
    assert plain("- See *[the site](https://vim.org)* or [[Red kite|kites]]") == "See the site or Red kite"
    assert plain("An [](https://vim.org) empty link") == "An empty link"


def test_data_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUETRAIL_DATA", raising=False)
    with pytest.raises(SystemExit, match="--data or CUETRAIL_DATA"):
        data_folder(None)
    with pytest.raises(SystemExit, match="is no folder"):
        data_folder(tmp_path / "none")
    monkeypatch.setenv("CUETRAIL_DATA", str(tmp_path))
    assert data_folder(None) == tmp_path
    with pytest.raises(SystemExit, match=r"musique\.corpus\.jsonl\.gz is missing"):
        SETS["musique"].load(tmp_path, None)


@pytest.fixture
def result(data: Path, tmp_path: Path) -> Measured:
    return run(Job("locomo", data, tmp_path, "static", "static", only=("TRAIL", "BM25", "vectors", "NARRATIVE")))


def test_a_run_measures_every_row_and_what_it_took(result: Measured) -> None:
    assert (result.questions, result.nodes, result.tokens) == (1, 2, 0)
    figures = {row["name"]: row["figures"]["R@5"] for row in result.rows}
    assert figures == {"TRAIL": 1.0, "BM25": 1.0, "vectors": 1.0, "NARRATIVE": 0.0}
    assert result.rows[3]["lead"] == {"mean": -1.0, "low": -1.0, "high": -1.0}
    assert result.rows[0]["groups"]["non-adversarial"] == {"questions": 1, "R@5": 1.0, "R@10": 1.0, "R@25": 1.0}
    assert result.index_seconds > 0 < result.ask_peak
    assert result.rows[0]["p95"] >= result.rows[0]["p50"] > 0


def test_rows_that_were_not_asked_stay_as_they_are_stored(result: Measured, tmp_path: Path) -> None:
    path = keep(result, tmp_path / "results")
    again = replace(result, rows=[{**row, "p50": 7.0} for row in result.rows if row["name"] in ("TRAIL", "NARRATIVE")])
    assert keep(again, path.parent) == path
    (stored,) = load_measured(path.parent)
    assert [row["name"] for row in stored.rows] == ["TRAIL", "BM25", "vectors", "NARRATIVE"]
    assert [row["p50"] == 7.0 for row in stored.rows] == [True, False, False, True]
    keep(replace(again, questions=5), path.parent)
    assert [len(one.rows) for one in load_measured(path.parent)] == [2]


def test_a_row_that_there_is_not_is_refused(data: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="there is no row 'walk': use some of TRAIL, BM25"):
        chosen_rows(Job("locomo", data, tmp_path, "static", "static", only=("walk",)))


def test_tables_tell_leads_the_way_round_they_are_read(result: Measured, tmp_path: Path) -> None:
    text = report.filled([result])
    assert "| with the default embedder | LoCoMo R@5 |" in text
    assert "| NARRATIVE | 0.0 | 0.0 | 0.0 | +100.0 (+100.0 to +100.0) |" in text
    assert "| DRAGON (LoCoMo's paper): needs a GPU encoder | 56.7 | 66.2 |  |" in text
    assert "Tokens of a language model: 0." in text
    page = tmp_path / "page.md"
    page.write_text("no markers", "utf-8")
    with pytest.raises(SystemExit, match="needs the lines"):
        report.publish([result], page)
