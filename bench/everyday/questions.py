"""The questions: asked of a vault, titles typed in, titles in a sentence, and topics that no note is about."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from random import Random

from bench.quality.sets import present
from bench.quality.vaults import FENCED, plain, read_notes
from cuetrail.evaluate import SEED

VAULTS = ("dendron-site", "blue-book", "til")
# Our own questions, of the same kind as those of the data folder.
OWN = Path(__file__).parent / "own"
DRAWN = 300
FRONT = re.compile(r"\A---\n(.*?)\n---\s*\n", re.DOTALL)
TITLE = re.compile(r"^title:\s*(.+?)\s*$", re.MULTILINE | re.IGNORECASE)
HEADING = re.compile(r"^# +(.+?)\s*#*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the note that answers it, and a piece of the passage that does; an absent topic has neither."""

    cue: str
    note: str = ""
    answer: str = ""
    style: str = ""


@dataclass(frozen=True, slots=True)
class Vault:
    """A vault by path, and the groups of questions asked of it."""

    name: str
    notes: Mapping[str, str]
    groups: Mapping[str, list[Asked]]


def load_vault(data: Path, name: str, most: int | None) -> Vault:
    notes = read_notes(present(data / "vaults" / f"{name}.tar.gz"))
    titles = own_titles(notes)
    drawn = Random(SEED).sample(titles, min(DRAWN, len(titles)))
    groups = {
        "questions": list(_read(data / "everyday" / f"{name}.jsonl")),
        "more questions": list(_read(OWN / f"{name}.jsonl")),
        "titles typed": titles,
        "titles in a question": [Asked(f"what did I write about {one.cue}?", one.note) for one in drawn],
        "absent": list(_read(present(data / "everyday" / "absent.jsonl"))),
        "more absent": list(_read(OWN / "til-absent.jsonl")),
    }
    return Vault(name, notes, {kind: asked[:most] for kind, asked in groups.items() if asked})


def own_titles(notes: Mapping[str, str]) -> list[Asked]:
    """The titles that exactly one note has, as somebody types them."""
    titles = {path: title_of(path, text) for path, text in notes.items()}
    shared = Counter(title.casefold() for title in titles.values())
    return [Asked(title, path) for path, title in titles.items() if shared[title.casefold()] == 1]


def title_of(path: str, text: str) -> str:
    """The title in the front matter, else the first heading of level one, else the file's name; as people say it."""
    front = FRONT.match(text)
    found = TITLE.search(front[1]) if front else None
    found = found or HEADING.search(FENCED.sub("", text))
    return plain(found[1].strip("'\" ")) if found else PurePosixPath(path).stem


def _read(file: Path) -> Iterator[Asked]:
    """Yields the questions of a file; none if there is no such file, as for vaults that only OWN asks about."""
    for line in file.read_text("utf-8").splitlines() if file.is_file() else ():
        one = json.loads(line)
        yield Asked(one["question"], one.get("note", ""), one.get("answer", ""), one["style"])
