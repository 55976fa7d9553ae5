"""Forgotten words come back in no field of any record, and in no ordinary disguise."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cuetrail import Memory
from cuetrail.errors import Forgotten
from cuetrail.model import Node
from cuetrail.store.shared.tombstones import match_known

WORD = "zanzibarquux"
SECRET = "Zanzibarquux keeps the vermilionish ledger under floorboardium seventeen"
PLANS = f"# Plans\n\nHarmless opening on gardens and rivers.\n\n---\n\n{SECRET}.\n\n---\n\nHarmless end of the plans."


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """A memory in which the secret was forgotten, and an export from before."""
    with Memory(tmp_path / "memory") as memory:
        memory.ingest_text(PLANS, source="plans.md")
        memory.add("A walk with Pia", id="walk", now=1)
        memory.add(name="Pia", kind="person", id="pia", now=1)
        memory.add(name="Tom", kind="person", id="tom", now=1)
        memory.dream()
        memory.export(tmp_path / "before.jsonl")
        memory.forget(memory.recall(SECRET).hits[0].node.id)
        yield memory


def exported(memory: Memory, tmp_path: Path) -> str:
    memory.export(tmp_path / "now.jsonl")
    text = (tmp_path / "now.jsonl").read_text("utf-8").lower()
    (tmp_path / "now.jsonl").unlink()
    return text


def test_an_earlier_export_brings_back_neither_the_text_nor_what_dreams_made_of_it(
    memory: Memory, tmp_path: Path
) -> None:
    before = (tmp_path / "before.jsonl").read_text("utf-8")
    assert before.count(SECRET) > 1, "the summary has it too"
    assert '"keywords"' in before
    memory.import_(tmp_path / "before.jsonl")
    now = exported(memory, tmp_path)
    assert '"keywords"' not in now
    assert not any(word in now for word in (WORD, "vermilionish", "floorboardium"))
    memory.dream()
    now = exported(memory, tmp_path)
    assert "harmless opening" in now
    assert not any(word in now for word in (WORD, "vermilionish", "floorboardium"))


FIELDS: dict[str, Callable[[Memory], object]] = {
    "a note": lambda m: m.note("walk", SECRET),
    "a property": lambda m: m.add("Something else", props={"deep": {"list": [SECRET, "b"]}}),
    "an alias": lambda m: m.add("Something else", aliases=[SECRET]),
    "a tag": lambda m: m.add("Something else", tags=[SECRET]),
    "a name": lambda m: m.add("Something else", name=SECRET),
    "a predicate that is declared": lambda m: m.declare(SECRET),
    "the value of a fact": lambda m: m.fact("Bob", "said", SECRET),
    "the text of a relationship": lambda m: m.relate("pia", "tom", text=f"Colleagues. {SECRET}."),
    "the text of a link": lambda m: m.link("walk", "pia", text=SECRET),
    "an edited name": lambda m: m.edit("walk", name=SECRET),
}


@pytest.mark.parametrize("field", FIELDS)
def test_no_field_takes_forgotten_words(memory: Memory, tmp_path: Path, field: str) -> None:
    with pytest.raises(Forgotten, match="forgotten and stays so"):
        FIELDS[field](memory)
    assert WORD not in exported(memory, tmp_path)


def test_imported_notes_relationships_facts_and_history_lose_forgotten_words(tmp_path: Path) -> None:
    with Memory(tmp_path / "there") as there:
        there.add(f"{SECRET}.", id="walk", now=1)
        there.edit("walk", text="A walk with Pia")
        there.add(name="Pia", kind="person", id="pia", now=1)
        there.note("walk", SECRET)
        there.note("walk", f"A note that stays. {SECRET}.")
        there.link("walk", "pia", text=f"> {SECRET}")
        there.fact("Pia", "said", SECRET)
        there.export(tmp_path / "there.jsonl")
    with Memory(tmp_path / "here") as here:
        here.forget(here.add(SECRET).id)
        here.import_(tmp_path / "there.jsonl")
        now = exported(here, tmp_path)
        assert WORD not in now
        assert '"text":"a note that stays."' in now
        assert here.history("walk") == []
        assert here.facts("Pia") == []


DISGUISES = (
    f"**{SECRET}**", f"`{SECRET}`", f"## {SECRET}", f"[{SECRET}](http://a.b)", f"[{SECRET}][1]", f"> {SECRET}",
    "> " + SECRET.replace(" under", "\n> under"), f"> > - **{SECRET}**[^2]", f"{SECRET}[^1].", f"{SECRET}[1]",
    f"{SECRET}¹", f"1. {SECRET}", f"Ann: {SECRET}", f"[12:03] Ann: {SECRET}", f"12:03:44 Ann: {SECRET}",
    f"[2024-05-01 12:03] Ann: {SECRET}", f"01/05/2024, 12:03 - Ann: {SECRET}", f"Fwd: Re: {SECRET}",
    SECRET.replace("ee", "e\u200be"), SECRET.replace("ee", "e\u00ade"), f"\ufeff{SECRET}", f"\u202e{SECRET}\u202c",
    SECRET.upper(), SECRET.replace(" ", "\u00a0"), SECRET.replace(" ", "\n"), f"<b>{SECRET}</b>", f"| {SECRET} |",
    f"<div class='a'><a href='b'>{SECRET}</a></div>", f"<h1>{SECRET}</h1>", SECRET.replace(" ", "&nbsp;"),
    SECRET.replace("ledger", '[ledger](http://a.b/c_(d) "title")'), SECRET.replace("ledger", "led-\nger"),
    f"• {SECRET}", f"☐ {SECRET}", f"→ {SECRET}", f"🔑 {SECRET}", f"SV: Re[2]: {SECRET}",
    f"Ann (12:03): {SECRET}", f"2024-05-01T12:03:44Z Ann: {SECRET}", f"Ann Mary Lee: {SECRET}",
    "\ufe0f".join(SECRET), "\u034f".join(SECRET), "\x7f".join(SECRET), SECRET.replace(" ", "\u2800"),
    SECRET.replace(" under", ", under"), SECRET.replace(" under", " — under"), f"„{SECRET}“", f"{{{SECRET}}}",
    f"* TODO {SECRET}", f"** DONE [#A] {SECRET}", SECRET.replace("ledger", "led<!-- hidden words -->ger"),
    SECRET.replace("ledger", "led%% hidden words %%ger"), f"> [!note] {SECRET}",
    f"%% {SECRET} %%", f"<!-- {SECRET} -->", f"${SECRET}$", f"\\emph{{{SECRET}}}",
)  # fmt: skip


@pytest.mark.parametrize("disguised", DISGUISES)
def test_disguises_of_a_forgotten_text_are_refused_and_its_plain_text_is_after_a_disguised_one(
    tmp_path: Path, disguised: str
) -> None:
    with Memory(tmp_path / "plain") as memory:
        memory.forget(memory.add(SECRET).id)
        with pytest.raises(Forgotten):
            memory.add(disguised)
    if "Ann" in disguised:
        return  # `Ann: ` may be a part of the text, so the text without it is another one
    with Memory(tmp_path / "disguised") as memory:
        memory.forget(memory.add(disguised).id)
        with pytest.raises(Forgotten):
            memory.add(SECRET)


ADDITIONS = (
    SECRET.replace("ledger", "ledger (1)"), SECRET.replace("ledger", "ledger(12)"), f"{SECRET}. (2)",
    f"{SECRET} 🔑", f"{SECRET}. 🔑🔒", f"{SECRET} ✨!", f"A line before it\n{SECRET} 🙈\nand one after it",
    f"2024-05-01 {SECRET}", f"2024-05-01: {SECRET}", f"1.5.2024 – {SECRET}", f"[2024/05/01] {SECRET}",
    f"May 1st, 2024: {SECRET}", f"Wed, 1 May 2024, {SECRET}", f"- 2024-05-01: {SECRET} 🔑", f"WAITING {SECRET}",
    f'{{"text": "{SECRET}"}}', f'[{{"role": "user", "content": "{SECRET}."}}]', f'  "note": "{SECRET}",',
    '{"a": 1, "text": "' + SECRET.replace(" under", "\\nunder").replace("Z", "\\u005a") + '"}',
    f'```json\n{{"b": ["one", "{SECRET}"]}}\n```', '"' + SECRET.replace("e", "\\u0065") + '"',
    f"<note><text>{SECRET}</text></note>", f"<note><![CDATA[{SECRET}]]></note>", f"[b]{SECRET}[/b]",
    f"[quote=ann]{SECRET}[/quote]", f"\\section{{{SECRET}}}", f"\\href[a]{{{SECRET}}}", f":emphasis:`{SECRET}`",
    f"#+TITLE: {SECRET}", f"§ 3.2 {SECRET}", f"3.2.1 {SECRET}", f"[1]: {SECRET}", f"text:: {SECRET}", f"REM {SECRET}",
    f"/* {SECRET} */", f"/**\n {SECRET}\n */", f"// {SECRET}", f"{SECRET} {{#id}}", f"{SECRET} ((abc-1))",
    f"{SECRET} (edited)", SECRET.replace("ledger", "<ruby>ledger<rt>book</rt></ruby>"), f'1,"{SECRET}",2',
    f'text = "{SECRET}"', f"const text = '{SECRET}';", f'echo "{SECRET}"', f'<a title="{SECRET}">x</a>',
    f'He wrote "{SECRET}" on the wall', SECRET.replace(" ", "=20"),
    SECRET.replace("ledger", "led=\nger"), SECRET.replace(" ", "%20"), SECRET.replace(" ", "+"),
    SECRET.replace(" ", "/"), "\u0336".join(SECRET), f"\x1b[1;31m{SECRET}\x1b[0m", f"[size=12]{SECRET}[/size]",
    f"INFO 2024-05-01 12:03:44 {SECRET}", f"[INFO] {SECRET}", f"fix(core): {SECRET}", f"\\item {SECRET}",
    f".. note:: {SECRET}", f"{{noformat}}{SECRET}{{noformat}}", f"{{color:red}}{SECRET}{{color}}", f"(iv) {SECRET}",
    f"{SECRET} (p. 12)", f"{SECRET} [sic]", f"{SECRET} (translated)", f"#secret {SECRET}",
    f"{SECRET} https://a.b/c", f"{SECRET} — Ann Lee", f"TL;DR: {SECRET}", f"<{SECRET}>", f'<note text="{SECRET}"/>',
    f'{{"a": "{{\\"text\\": \\"{SECRET}\\"}}"}}', f'a = """{SECRET}"""', f"key={SECRET}", f'1;"{SECRET}";x',
    SECRET.replace("ledger", "#ledger"), SECRET.replace(" ledger", " 📒 ledger"), f"Ann> {SECRET}",
    f"<|im_start|>user\n{SECRET}<|im_end|>", f"[INST] {SECRET} [/INST]",
)  # fmt: skip


@pytest.mark.parametrize("added", ADDITIONS)
def test_a_forgotten_text_with_an_addition_that_says_nothing_is_refused(tmp_path: Path, added: str) -> None:
    with Memory(tmp_path / "memory", embedder=None) as memory:
        memory.forget(memory.add(SECRET).id)
        with pytest.raises(Forgotten):
            memory.add(added)


SPEAKERS = ("Ann: ", "> Ann Lee: ", "**Ann**: ", "[12:03] Ann: ", "user: Ann: ", "user: [12:03] Ann: ")


def test_a_disguise_behind_the_name_of_a_speaker_is_refused(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory", embedder=None) as memory:
        memory.forget(memory.add(SECRET).id)
        taken = []
        for number, disguised in enumerate((*DISGUISES, *ADDITIONS)):
            try:
                taken.append(memory.add(SPEAKERS[number % len(SPEAKERS)] + disguised).text)
            except Forgotten:
                continue
        assert taken == []


def test_a_turn_that_was_forgotten_in_a_disguise_stays_out_without_it(tmp_path: Path) -> None:
    for number, disguised in enumerate(f"{before}{SECRET}" for before in ("> ", "Fwd: Re: ", "[12:03] ", "* TODO ")):
        with Memory(tmp_path / str(number), embedder=None) as memory:
            memory.chat([{"role": "user", "content": disguised}], source="talk")
            memory.forget(source="talk")
            with pytest.raises(Forgotten):
                memory.add(SECRET)


@pytest.mark.parametrize(
    "run", [" ", "\n", "\n ", "<!--", "%% ", "[[a|", '"a ', "> ", "a= ", "📒 ", "#a ", "a: ", "a: > ", "\na b: "]
)
def test_a_long_run_of_the_same_marks_is_compared_in_linear_time(run: str) -> None:
    short, long = (Node("", text="x" + run * count + "x") for count in (2_000, 32_000))
    begun = time.process_time()
    match_known([short], {"none"})
    middle = time.process_time()
    match_known([long], {"none"})
    # 16 times as long; a search that begins again at each mark would take 256 times as long.
    assert time.process_time() - middle < 64 * max(middle - begun, 0.01)


def test_of_json_only_the_forgotten_strings_stay_out(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory", embedder=None) as memory:
        memory.forget(memory.add(SECRET).id)
        memory.add_many([{"id": "a", "text": f'{{"by": "Ann", "said": "{SECRET}", "when": "on a Monday in May"}}'}])
        node = memory.get("a")
        assert node is not None
        assert node.text == '{"by": "Ann", "said": "", "when": "on a Monday in May"}'


@pytest.mark.parametrize(
    ("forgotten", "other"),
    [
        ("The pump runs at 1.5 bar today", "The pump runs at 15 bar today"),
        ("It was -20 degrees in the yard", "It was 20 degrees in the yard"),
        ("She writes her tools in C++ only", "She writes her tools in C only"),
        ("@ann please send us the report", "@bob please send us the report"),
        ("#12 The login page is very slow", "#13 The login page is very slow"),
        ("vector<int> values_of_the_row;", "vector<float> values_of_the_row;"),
        ("The lasagne at Gino's tonight: 👍", "The lasagne at Gino's tonight: 👎"),
        ("Rooms 1 2 are booked for May", "Rooms 12 are booked for May"),
        ("See open(2) for what it returns", "See open(3) for what it returns"),
        ("2024-05-01 The pump was checked", "2024-05-02 The pump was checked"),
        ('{"text": "The pump was checked"}', '{"text": "The pump was mended"}'),
        ("WAITING for the bus at the gate", "LATER for the bus at the gate"),
        ("The old pump house #12 is locked", "The old pump house #13 is locked"),
        ("See https://a.b/c for the plans", "See https://a.b/d for the plans"),
        ("[INFO] The pump was switched on", "[ERROR] The pump was switched on"),
        ("The meeting is at noon — Ann Lee", "The meeting is at noon — Bob Hill"),
    ],
)
def test_what_differs_in_a_sign_that_means_something_is_another_text(
    tmp_path: Path, forgotten: str, other: str
) -> None:
    with Memory(tmp_path / "memory") as memory:
        memory.forget(memory.add(forgotten).id)
        assert memory.add(other).text == other


def test_a_short_forgotten_text_affects_no_other_field(memory: Memory) -> None:
    for text in ("yes", "ok, thanks", "At 12:03"):
        memory.forget(memory.add(text).id)
    assert memory.fact("Bob", "agrees", "yes").value == "yes"
    assert memory.note("walk", "ok, thanks").text == "ok, thanks"
    assert memory.add("Something else", props={"answer": "yes"}, tags=["yes"]).tags == ("yes",)


def test_from_twelve_letters_on_a_forgotten_text_is_refused_in_other_fields(memory: Memory) -> None:
    for text in ("twelveletter", "elevenchars"):
        memory.forget(memory.add(text).id)
    assert memory.note("walk", "elevenchars").text == "elevenchars"
    with pytest.raises(Forgotten):
        memory.note("walk", "twelveletter")


def test_a_memory_that_had_the_words_in_a_field_before_loses_them_and_can_still_be_edited(memory: Memory) -> None:
    later = "A quite different sentence that is forgotten later"
    memory.add("Holds it already", id="old", props={"said": later, "by": "Pia"})
    memory.forget(memory.add(later).id)
    assert memory.edit("old", tags=["blue"]).props == {"by": "Pia"}
