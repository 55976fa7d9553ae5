"""Vaults of notes: links are hidden with their sentences, and each sentence, without its link, asks for the note.

Only the links that are asked for are hidden, a seeded draw, so that the rest of the vault stays as it is. What asks is
a sentence that still has MIN_WORDS words; a list of bare links asks for nothing.
"""

from __future__ import annotations

import posixpath
import re
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path, PurePosixPath
from random import Random

from bench.quality.sets import REMEMBERED, Corpus, QualitySet, present
from cuetrail import Memory
from cuetrail.extract import sentences
from cuetrail.quality import SEED, Question

MIN_WORDS = 5
ASKED = 300
LINK = re.compile(r"(?<!!)(?:\[\[(?P<wiki>[^\[\]]+)\]\]|\[(?P<text>[^\[\]]*)\]\((?P<path>[^()\s]+)\))")
EMBEDDED = re.compile(r"!\[\[[^\[\]]*\]\]|!\[[^\]]*\]\([^)]*\)")
FENCED = re.compile(r"^(```|~~~).*?^\1[^\n]*$|\A---\n.*?^---$", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(r"[^\n]+(?:\n(?!\s*(?:[-*+#>|]|\d+\.))[^\n]+)*")
SIGNS = re.compile(r"[*_`#>|~]+|^\s*(?:[-+]|\d+\.)\s+", re.MULTILINE)
WORD = re.compile(r"\w{2,}")


@dataclass(frozen=True, slots=True)
class Hidden:
    """A sentence of a note that links to another: where it stands, what it asks, and the note it asks for."""

    note: str
    start: int
    end: int
    cue: str
    target: str


def load(data: Path, most: int | None, *, name: str) -> list[Corpus]:
    notes = read_notes(present(data / "vaults" / f"{name}.tar.gz"))
    found = [one for note, text in notes.items() for one in links_of(note, text, notes)]
    drawn = Random(SEED).sample(found, min(most or ASKED, len(found)))
    questions = [Question(one.cue, (one.target,)) for one in drawn]
    return [Corpus(name, partial(fill, notes=without(notes, drawn), name=name), questions, place="source")]


def fill(memory: Memory, folder: Path, *, notes: Mapping[str, str], name: str) -> None:
    """Write the vault as it is asked about, and take it in as any vault."""
    for path, text in notes.items():
        file = folder / "vault" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    memory.ingest(folder / "vault" / name, now=REMEMBERED)


def read_notes(archive: Path) -> dict[str, str]:
    """The texts of a vault by path."""
    with tarfile.open(archive) as vault:
        files = ((member.name, vault.extractfile(member)) for member in vault if member.name.endswith(".md"))
        return {name: file.read().decode("utf-8", "replace") for name, file in sorted(files, key=_name) if file}


def _name(pair: tuple[str, object]) -> str:
    return pair[0]


def links_of(note: str, text: str, notes: Mapping[str, str]) -> Iterator[Hidden]:
    """The sentences of a note that ask for another note of the vault, one for each such link."""
    stems = _stems(tuple(notes))
    fenced = [match.span() for match in FENCED.finditer(text)]
    for block in BLOCK.finditer(text):
        if any(start < block.end() and block.start() < end for start, end in fenced):
            continue
        cuts = [0, *sentences.ends(block[0]), len(block[0])]
        for start, end in pairwise(cuts):
            sentence = block[0][start:end]
            for link in LINK.finditer(sentence):
                target = _target(link, note, notes, stems)
                cue = plain(sentence[: link.start()] + " " + sentence[link.end() :])
                if target not in (None, note) and len(WORD.findall(cue)) >= MIN_WORDS:
                    yield Hidden(note, block.start() + start, block.start() + end, cue, target)


def plain(sentence: str) -> str:
    """A sentence as one would say it: links by their texts, without the signs of Markdown."""
    said = LINK.sub(lambda link: link["text"] or _sides(link["wiki"])[0], EMBEDDED.sub(" ", sentence))
    return " ".join(SIGNS.sub(" ", said).split())


def _sides(wiki: str) -> list[str]:
    """What stands in a wikilink. Which side of a bar is the name and which the label, vaults disagree on."""
    return [side.strip() for side in wiki.split("|")]


def _target(link: re.Match[str], note: str, notes: Mapping[str, str], stems: Mapping[str, str]) -> str | None:
    """The path of the note a link leads to, None where it leads out of the vault."""
    if link["path"] is not None:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(note), link["path"].partition("#")[0]))
        return path if path in notes else None
    named = (side.partition("#")[0].rpartition("/")[2].strip().lower() for side in reversed(_sides(link["wiki"])))
    return next((stems[name] for name in named if name in stems), None)


def _stems(paths: Sequence[str]) -> dict[str, str]:
    return {PurePosixPath(path).stem.lower(): path for path in reversed(paths)}


def without(notes: Mapping[str, str], hidden: Sequence[Hidden]) -> dict[str, str]:
    """The notes without the sentences that ask."""
    left = dict(notes)
    spans = {(one.note, one.start, one.end) for one in hidden}
    for note, start, end in sorted(spans, key=lambda span: -span[1]):
        left[note] = left[note][:start] + left[note][end:]
    return left


SETS = [
    QualitySet(name, title, ("Hit@10", "MRR"), "Hit@10", 50, partial(load, name=name))
    for name, title in (("blue-book", "Blue book"), ("dendron-site", "Dendron site"), ("til", "Today I learned"))
]
