"""Readers on real files: their output, and the message for an unreadable file."""

from __future__ import annotations

import io
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuetrail.errors import InputError, ReadError
from cuetrail.ingest.readers import markdown
from cuetrail.ingest.readers.file_format import supported
from cuetrail.ingest.readers.read_file import read, read_string
from tests.ingest.readers.tools import DAY, one, read_file, write

EXAMPLES = Path(__file__).parents[3] / "examples"


def make_pdf(pages: list[str], password: str = "") -> bytes:
    """A PDF with one line of text for each "\\n" on each page, its cross references written by pypdf."""
    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = PdfWriter()
    font = DictionaryObject({NameObject("/Type"): NameObject("/Font"), NameObject("/Subtype"): NameObject("/Type1")})
    font[NameObject("/BaseFont")] = NameObject("/Helvetica")
    for text in pages:
        page = writer.add_blank_page(300, 300)
        resources = DictionaryObject({NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})})
        page[NameObject("/Resources")] = resources
        stream = DecodedStreamObject()
        shown = " ".join(f"({line}) Tj T*" for line in text.split("\n"))
        stream.set_data(f"BT /F1 12 Tf 14 TL 20 250 Td {shown} ET".encode())
        page[NameObject("/Contents")] = writer._add_object(stream)
    writer.add_metadata({"/Title": "Radio report", "/CreationDate": "D:20240312000000Z"})
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


# Markdown


NOTE = """---
title: Ada Lovelace
aliases: [Ada, Countess]
tags: "person, #maths"
created: 2024-03-12
category: people
role: analyst
up: "[[Home]]"
---
# About

She wrote to [[Charles Babbage|Babbage]] about the Analytical Engine. #letters

Details
-------

> [!note] Careful
> Not on 2024-03-12 but on 13 March 2024.

---

```python
x = "[[no]] #no"
```
"""


def test_a_note_gives_its_frontmatter_headings_links_tags_names_and_dates(tmp_path: Path) -> None:
    note = one(tmp_path, "ada-note.md", NOTE)
    assert (note.title, note.kind, note.at) == ("Ada Lovelace", "note", DAY)
    assert note.aliases == ("Ada", "Countess", "ada-note")
    assert (note.tags, note.buckets) == (("person", "maths"), ("people",))
    assert note.props["role"] == "analyst"
    assert note.own_links == ("Home",)
    assert [piece.heading for piece in note.pieces] == [("About",), ("About", "Details"), ("About", "Details")]
    body, callout, code = note.pieces
    assert (body.links, body.tags, body.names) == (("Charles Babbage",), ("letters",), ("Analytical Engine",))
    assert (callout.props["callout"], callout.at) == ("note", DAY)
    assert (code.links, code.tags, code.props["language"]) == ((), (), "python")


def test_text_is_kept_as_written_except_frontmatter_and_rules(tmp_path: Path) -> None:
    note = one(
        tmp_path,
        "n.md",
        "---\ntitle: T\n---\n# *One*\n\nThis *is* it:\n\n- **a**\n- b\n\n***\n\nThe very end of it all.",
    )
    assert [piece.text for piece in note.pieces] == ["This *is* it:\n\n- **a**\n- b", "The very end of it all."]
    assert note.pieces[0].heading == ("One",)


def test_the_title_is_frontmatter_then_first_h1_then_the_file_name(tmp_path: Path) -> None:
    assert one(tmp_path, "a.md", "---\ntitle: X\n---\n# Y").title == "X"
    assert one(tmp_path, "a.md", "## Z\n\n# The **[[Y|Why]]**\n").title == "The Why"
    assert one(tmp_path, "a.md", "text").title == "a"
    assert one(tmp_path, "a.md", "text").aliases == ()


@pytest.mark.parametrize(
    "head",
    [
        "title: [broken",
        "a: b: c",
        "- a list",
        "just text",
        "\tx: y",
        "[" * 60_000,
        "a: &a [*a]",
        "x: !!python/object:os.system y",
    ],
)
def test_frontmatter_that_is_no_yaml_mapping_never_loses_the_note(tmp_path: Path, head: str) -> None:
    note = one(tmp_path, "n.md", f"---\n{head}\nmore\n---\nThe body.\n")
    assert note.pieces[-1].text.endswith("The body.")
    assert head[:5].strip() in note.pieces[0].text


def test_odd_frontmatter_values_are_taken_as_text(tmp_path: Path) -> None:
    note = one(tmp_path, "n.md", "---\ntitle: 2024\ntags:\n- yes\n- 1.0\n-\ndate: 2024-99-99\naliases:\n---\nx")
    assert (note.title, note.tags, note.at, note.aliases) == ("2024", ("yes", "1.0"), None, ("n",))


def test_the_date_may_come_from_the_file_name(tmp_path: Path) -> None:
    assert one(tmp_path, "2024-03-12.md", "x").at == DAY
    assert one(tmp_path, "2024-03-12.txt", "x").at == DAY
    assert one(tmp_path, "2024-03-12.md", "---\ndate: 2024-03-13\n---\nx").at == DAY + 86400000


def test_an_empty_note_is_a_document_without_pieces(tmp_path: Path) -> None:
    assert one(tmp_path, "empty.md", "").pieces == ()
    assert one(tmp_path, "head.md", "---\ntitle: Only\n---\n").title == "Only"


# Text, code and encodings


def test_paragraphs_of_plain_text_are_joined(tmp_path: Path) -> None:
    text = one(tmp_path, "log.txt", "We met Ada.\r\n\r\nSecond #tag.\r\n")
    [piece] = text.pieces
    assert piece.text == "We met Ada.\n\nSecond #tag."
    assert (text.kind, piece.names, piece.tags) == ("text", ("Ada",), ("tag",))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_the_encoding_is_found(tmp_path: Path, encoding: str) -> None:
    document = one(tmp_path, "a.txt", "Grüße aus Zürich – “quoted”".encode(encoding))
    assert document.pieces[0].text == "Grüße aus Zürich – “quoted”"


def test_bytes_no_encoding_knows_are_still_read(tmp_path: Path) -> None:
    assert "caf" in one(tmp_path, "a.txt", b"caf\xe9 \x81\x8d broken").pieces[0].text


def test_code_pieces_know_their_language_and_carry_no_text_of_each_other(tmp_path: Path) -> None:
    body = "\n".join(f"    line_{n} = {n}" for n in range(300))
    document = one(tmp_path, "tool.py", f"import os\n\n\ndef long():\n{body}\n")
    assert (document.kind, document.title) == ("code", "tool")
    assert all(piece.props["language"] == "python" for piece in document.pieces)
    assert all(set(piece.props) == {"language"} for piece in document.pieces)
    assert len(document.pieces) > 2


# HTML


PAGE = """<!doctype html><html><head><title> My  page </title>
<meta property="article:published_time" content="2024-03-12">
<style>p {}</style></head><body><nav>Home</nav><h1>Top</h1>
<p>We met <b>Ada</b>  Lovelace, see <a href="notes/radio.html">this</a>.</p>
<ul><li>one</li><li><p>two</p><ul><li>three</li></ul></li></ul><script>bad()</script><template>bad</template>
<table><tr><td>a</td><td>b</td></tr></table><pre>x = 1
  y = 2</pre><div>loose<br>text</div></body></html>"""


def test_a_page_gives_what_a_person_would_read(tmp_path: Path) -> None:
    page = one(tmp_path, "p.html", PAGE)
    assert (page.kind, page.title, page.at, page.aliases) == ("page", "My page", DAY, ("p",))
    [piece] = page.pieces
    blocks = [
        "We met Ada Lovelace, see this.",
        "- one\n- two\n- three",
        "a | b",
        "```\nx = 1\n  y = 2\n```",
        "loose\ntext",
    ]
    assert (piece.heading, piece.text.split("\n\n")) == (("Top",), blocks)
    assert (piece.links, piece.names) == (("radio",), ("Ada Lovelace",))


def test_a_page_nested_very_deeply_is_read(tmp_path: Path) -> None:
    """The parser's work grows with the square of the depth: uncut, this page would take minutes."""
    page = one(
        tmp_path, "p.html", "<h1>Top</h1>" + "<div>" * 200_000 + "deep</div> <p>and on" + "</div>" * 200_000 + "end"
    )
    assert (page.title, [piece.text for piece in page.pieces]) == ("Top", ["deep\n\nand on\n\nend"])


# PDF


def test_a_pdf_gives_its_pages_title_and_date(tmp_path: Path) -> None:
    document = one(tmp_path, "r.pdf", make_pdf(["The receiver broke.\nIt was cold.", "Ask Ines Okafor."]))
    assert (document.kind, document.title, document.at) == ("pdf", "Radio report", DAY)
    assert [piece.props["page"] for piece in document.pieces] == [1, 2]
    assert "cold" in document.pieces[0].text
    assert document.pieces[1].names == ("Ines Okafor",)


def test_a_pdf_without_its_suffix_is_still_read_as_one(tmp_path: Path) -> None:
    assert one(tmp_path, "report", make_pdf(["Text."])).kind == "pdf"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (make_pdf(["secret"], password="x"), "encrypted"),
        (make_pdf([""]), "OCR"),
        (b"%PDF-1.7\nnothing else", "broken PDF"),
        (make_pdf(["text"])[:300], "PDF"),
        (b"", "broken PDF"),
    ],
)
def test_a_pdf_that_cannot_be_read_says_why_and_what_to_do(tmp_path: Path, content: bytes, says: str) -> None:
    with pytest.raises(ReadError, match=says):
        read_file(write(tmp_path, "x.pdf", content), "x.pdf")


# Errors, sniffing and strings


def test_a_file_over_the_limit_names_the_option_that_raises_it(tmp_path: Path) -> None:
    path = write(tmp_path, "big.txt", "x" * 101)
    with pytest.raises(ReadError, match=r"100 bytes.*--max-size"):
        read_file(path, "big.txt", max_bytes=100)
    assert read_file(path, "big.txt", max_bytes=101)


@pytest.mark.parametrize(
    "content", [b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9, b"\x00\x01\x02" * 100, b"\x7fELF" + b"\0" * 60]
)
def test_binary_files_are_refused_by_any_name(tmp_path: Path, content: bytes) -> None:
    for name in ("x.md", "x.bin", "x.json"):
        with pytest.raises(ReadError, match="binary"):
            read_file(write(tmp_path, name, content), name)


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="does not exist"):
        read_file(tmp_path / "no.md", "no.md")
    with pytest.raises(ReadError, match="not a regular file"):
        read_file(tmp_path, "folder")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<!DOCTYPE html><p>x", "page"),
        ('[{"role": "user", "content": "hi"}]', "chat"),
        ("#!/bin/sh\nls", "code"),
        ("# Title\n\ntext", "note"),
        ("see [[Ada]]", "note"),
        ("just words", "text"),
        ("[not json", "text"),
        ("", "text"),
    ],
)
def test_a_text_without_a_suffix_is_told_by_its_content(text: str, kind: str) -> None:
    assert read_string(text, "stdin")[0].kind == kind


def test_the_format_may_be_given() -> None:
    assert read_string("# x", "stdin", format="text")[0].kind == "text"
    assert read_string("x", "a.txt", format="md")[0].kind == "note"
    with pytest.raises(InputError, match="markdown"):
        read_string("x", "stdin", format="docx")


def test_supported_goes_by_the_suffix() -> None:
    suffixes = [
        "md",
        "MD",
        "markdown",
        "txt",
        "rst",
        "org",
        "html",
        "htm",
        "pdf",
        "json",
        "jsonl",
        "ndjson",
        "py",
        "rs",
    ]
    assert all(supported(Path(f"a.{suffix}")) for suffix in suffixes)
    assert not any(supported(Path(name)) for name in ("a.png", "a", "a.exe", ".md"))


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=400), suffix=st.sampled_from(["md", "txt", "html", "pdf", "json", "jsonl", "py", "xyz"]))
def test_any_bytes_give_documents_or_a_read_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, suffix: str
) -> None:
    path = write(tmp_path_factory.getbasetemp(), f"any.{suffix}", data)
    try:
        documents = read_file(path, path.name)
    except ReadError as error:
        assert path.name in str(error)  # noqa: PT017 - most bytes do not raise
    else:
        assert all(piece.text.strip() for document in documents for piece in document.pieces)


FIELDS = [
    "role",
    "content",
    "messages",
    "mapping",
    "current_node",
    "chat_messages",
    "parts",
    "author",
    "text",
    "parent",
]
KEYS = st.sampled_from(FIELDS) | st.text()
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner)
)


@settings(max_examples=200, deadline=None)
@given(value=JSON)
def test_any_json_gives_documents_or_says_it_is_empty(value: Any) -> None:
    try:
        documents = read_string(json.dumps(value), "x.json")
    except ReadError as error:
        assert re.search("empty JSON|left out|looks like an export", str(error))  # noqa: PT017 - most values do not raise
    else:
        assert documents


# The bundled examples


def test_the_example_vault_links_only_to_notes_it_holds() -> None:
    files = sorted((EXAMPLES / "vault").rglob("*.md"))
    notes = [note for path in files for note in read_file(path, path.relative_to(EXAMPLES).as_posix())]
    known = {name.casefold() for note in notes for name in (note.title, *note.aliases)}
    linked = {link.casefold() for note in notes for piece in note.pieces for link in piece.links}
    assert len(notes) >= 18
    assert linked <= known


def test_the_example_chat_has_dated_turns_about_the_vault() -> None:
    [chat] = read_file(EXAMPLES / "chat.json", "chat.json")
    # Three of the fourteen turns are questions and stand before their answers.
    assert (len(chat.pieces), sum(piece.text.count("?\nassistant: ") for piece in chat.pieces)) == (11, 3)
    assert all(piece.at and piece.speaker in ("user", "assistant") for piece in chat.pieces)
    assert "Ines Okafor" in {name for piece in chat.pieces for name in piece.names}


def test_a_large_note_is_read_quickly(tmp_path: Path) -> None:
    paragraph = "We asked Ines Okafor about the [[Receiver]] on 2024-03-12. It was cold, e.g. in Bergen. #radio\n\n"
    path = write(tmp_path, "large.md", paragraph * 20_000)
    began = time.process_time()
    [note] = read_file(path, "large.md")
    assert 2_000 < len(note.pieces) < 4_000
    assert time.process_time() - began < 20


# The first stop may come while a callback of the garbage collector runs, which swallows it; the second does not.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_pdf_that_describes_endless_work_is_given_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cuetrail.ingest.readers.pdf.SECONDS", 0.2)

    def stream(fields: bytes, body: bytes) -> bytes:
        return b"<<%s/Length %d>>stream\n%s\nendstream" % (fields, len(body), body)

    # Each form draws the next one nine times: 9 ** 12 words on one page.
    kinds = [b"/Font<</F 5 0 R>>/XObject<</X %d 0 R>>" % number for number in range(7, 19)]
    forms = [stream(b"/Subtype/Form/BBox[0 0 9 9]/Resources<<%s>>" % kind, b"/X Do " * 9) for kind in kinds]
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</XObject<</X 6 0 R>>>>>>",
        stream(b"", b"/X Do " * 9), b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>", *forms,
        stream(b"/Subtype/Form/BBox[0 0 9 9]/Resources<</Font<</F 5 0 R>>>>", b"BT /F 9 Tf (word) Tj ET"),
    ]  # fmt: skip
    data, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF"
    data += end % (len(objects) + 1, table, len(objects) + 1, len(data))
    with pytest.raises(ReadError, match="takes more than 0 s to read"):
        read(data, "endless.pdf")


def test_a_heading_behind_text_is_no_title_but_the_note_is_looked_for_by_it() -> None:
    note = markdown.read("[Nix](https://nixos.org) manages packages.\n\n# Installation\n\nRun it.", "nix.md")
    assert (note.title, note.known_as) == ("nix", ("Installation",))
    note = markdown.read("![[map]]\n\n# Nix\n\nIt manages packages.", "tool.md")
    assert (note.title, note.known_as) == ("Nix", ())


def test_each_part_of_a_long_code_block_has_its_fence() -> None:
    lines = "\n".join(f"print({n})" for n in range(400))
    note = markdown.read(f"Run:\n\n  ```python\n{lines}\n  ```", "a.md")
    code = [piece.text[piece.text.index("```") - 2 :] for piece in note.pieces]
    assert len(code) > 1
    assert all(text.lstrip().startswith("```python\n") and text.endswith("\n  ```") for text in code)


@pytest.mark.parametrize(
    ("before", "run", "after"),
    [("* a", " ", "x\n"), ("* a\n:PROPERTIES:\n:b: c", " ", "d\n:END:\n"), ("", "#+a: bbbb\n", "")],
    ids=["heading", "property", "keywords"],
)
def test_an_org_file_with_a_long_run_is_read_in_linear_time(before: str, run: str, after: str) -> None:
    begun = time.process_time()
    read_string(before + run * 50_000 + after, "a.org")
    # Looking at each blank again from every other one takes ten seconds.
    assert time.process_time() - begun < 2


def test_a_heading_of_org_keeps_its_words_and_tags_whatever_stands_between() -> None:
    text = "* TODO [#A] Mend the mast [2/3]   :radio:mast:  \nBolts.\n*  :only:\n* \n* No tags: here\nNuts.\n"
    document = read_string(text, "a.org")[0]
    assert [piece.text for piece in document.pieces] == [
        "Mend the mast:\nTODO: Mend the mast\n\nBolts.\n\nNo tags: here:\nNuts."
    ]
    assert {"radio", "mast"} <= {tag for piece in document.pieces for tag in piece.tags}


def test_references_that_quote_one_block_without_end_are_cut_off() -> None:
    long, many = {"string": "x" * 499, "uid": "abcdef01"}, "((abcdef01))" * 100
    block: dict[str, Any] = {"string": many, "uid": "abcdef02"}
    for number in range(90):
        block = {"string": many, "uid": f"abcdefg{number}", "children": [block, {"string": many, "uid": f"b{number}"}]}
    page = [{"title": "Page", "uid": "page", "children": [{"string": "See ((abcdef01))", "uid": "c"}, long, block]}]
    (document,) = read_string(json.dumps(page), "graph.json")
    # Quoted at every level it would be half a gigabyte.
    assert sum(len(piece.text) for piece in document.pieces) < 5_000_000
    assert any("See " + "x" * 499 in piece.text for piece in document.pieces)
