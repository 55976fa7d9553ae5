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
from cuetrail.evaluate import SEED, Question
from cuetrail.text.prose import sentence_ends

MIN_WORDS = 5
ASKED = 300
LINK = re.compile(r"(?<!!)(?:\[\[(?P<wiki>[^\[\]]+)\]\]|\[(?P<text>[^\[\]]*)\]\((?P<path>[^()\s]+)\))")
EMBEDDED = re.compile(r"!\[\[[^\[\]]*\]\]|!\[[^\]]*\]\([^)]*\)")
FENCED = re.compile(r"^(```|~~~).*?^\1[^\n]*$|\A---\n.*?^---$", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(r"[^\n]+(?:\n(?!\s*(?:[-*+#>|]|\d+\.))[^\n]+)*")
SIGNS = re.compile(r"[*_`#>|~]+|^\s*(?:[-+]|\d+\.)\s+", re.MULTILINE)
NO_BREAK = re.compile(r"[^\n]")
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
    found = list(links_of(notes))
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
        # Read in the archive's order, as a packed one cannot go back cheaply.
        files = ((member.name, vault.extractfile(member)) for member in vault if member.name.endswith(".md"))
        found = {name: file.read().decode("utf-8", "replace") for name, file in files if file}
    return dict(sorted(found.items()))


def links_of(notes: Mapping[str, str]) -> Iterator[Hidden]:
    """The sentences of a vault that ask for a note, one for each link from one note to another."""
    stems = {PurePosixPath(path).stem.lower(): path for path in sorted(notes, reverse=True)}
    for note, text in notes.items():
        for start, sentence in _sentences(text):
            for link in LINK.finditer(sentence):
                target = _target(link, note, notes, stems)
                cue = plain(sentence[: link.start()] + " " + sentence[link.end() :])
                if target is not None and target != note and len(WORD.findall(cue)) >= MIN_WORDS:
                    yield Hidden(note, start, start + len(sentence), cue, target)


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of a note and where they start; its properties and blocks of code are blank."""
    spoken = FENCED.sub(lambda fence: NO_BREAK.sub(" ", fence[0]), text)
    for block in BLOCK.finditer(spoken):
        cuts = [0, *sentence_ends(block[0]), len(block[0])]
        yield from ((block.start() + start, block[0][start:end]) for start, end in pairwise(cuts))


def plain(sentence: str) -> str:
    """A sentence as one would say it: links by their texts, without the signs of Markdown."""
    said = LINK.sub(lambda link: link["text"] or _sides(link["wiki"] or "")[0], EMBEDDED.sub(" ", sentence))
    return " ".join(SIGNS.sub(" ", said).split())


def _sides(wiki: str) -> list[str]:
    """Returns the parts of a wikilink. Vaults differ on which side of the bar is the name."""
    return [side.strip() for side in wiki.split("|")]


def _target(link: re.Match[str], note: str, notes: Mapping[str, str], stems: Mapping[str, str]) -> str | None:
    """The path of the note a link leads to, None where it leads out of the vault."""
    if link["path"] is not None:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(note), link["path"].partition("#")[0]))
        return path if path in notes else None
    named = (side.partition("#")[0].rpartition("/")[2].strip().lower() for side in reversed(_sides(link["wiki"])))
    return next((stems[name] for name in named if name in stems), None)


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
