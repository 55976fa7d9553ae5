"""Generates the texts to measure from a seed: the same on every machine, and never all in memory.

- 50,000 pseudo-English words, the common ones short, drawn by the Zipf-Mandelbrot law 1 / (rank + 2.7).
- A text has 20 to 90 words in sentences; one in twenty of the rarer words is a name and always capitalised.
- Tags are 2,000 words of the same vocabulary, drawn by Zipf's law, three to a text, so that a query's word may be a
  tag's too. Each text is in one of five buckets and has a time of its own.
- The first texts of a larger corpus are the smaller corpus.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TypedDict

import numpy as np

SEED = 20_240_601
WORDS = 50_000
TAGS = 2_000
TAGS_EACH = 3
SHORTEST, LONGEST = 20, 90
BUCKETS = ("inbox", "project", "journal", "reference", "archive")
COMMON = (0, 30)
MEDIUM = (200, 2_000)
RARE = (2_000, 20_000)
BLOCK = 10_000
BATCH = 2_000
FIRST_TIME = 1_577_836_800_000
MINUTE = 60_000
NAME_FROM, NAME_EVERY = 500, 20

_ONSETS = "b c d f g h j k l m n p r s t v w bl br ch cl cr dr fl fr gl gr pl pr sc sh sl sp st str sw th tr wh"
_VOWELS = "a e i o u a e i o u ai ea ee ie oa oo ou"
_CODAS = "b ck d g k l ll m n n ng nd nt p r r rd rm rn rt s s sh st t t th x"


class Item(TypedDict):
    """One text, as `Memory.add_many` takes it."""

    id: str
    text: str
    tags: list[str]
    buckets: list[str]
    at: int


@cache
def vocabulary() -> list[str]:
    """The words, the most common first."""
    rng = np.random.default_rng([SEED, 1])
    onsets, vowels, codas = _ONSETS.split(), _VOWELS.split(), ["", "", "", *_CODAS.split()]
    found: dict[str, None] = {}
    while len(found) < WORDS:
        most = 1 if len(found) < 150 else 2 if len(found) < 4_000 else 3
        syllables = rng.integers((len(onsets), len(vowels)), size=(rng.integers(1, most + 1), 2))
        word = "".join(onsets[onset] + vowels[vowel] for onset, vowel in syllables) + codas[rng.integers(len(codas))]
        if word not in BUCKETS:
            found[word] = None
    return list(found)


@cache
def tag_ranks() -> list[int]:
    """The vocabulary ranks of the tags, the most used tag first: a quarter are medium words, the others rare ones."""
    rng = np.random.default_rng([SEED, 2])
    medium = rng.choice(np.arange(*MEDIUM), TAGS // 4, replace=False)
    rare = rng.choice(np.arange(*RARE), TAGS - TAGS // 4, replace=False)
    return [int(rank) for rank in rng.permutation(np.concatenate([medium, rare]))]


def _zipf(count: int, shift: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    weights = 1.0 / (np.arange(1, count + 1) + shift)
    return np.cumsum(weights / weights.sum())


def _block(number: int, count: int) -> Iterator[Item]:
    """The texts of one block; a block depends on nothing but its number."""
    rng = np.random.default_rng([SEED, 3, number])
    words, tags = _spelled(), [vocabulary()[rank] for rank in tag_ranks()]
    lengths = rng.integers(SHORTEST, LONGEST + 1, BLOCK)
    # A draw of exactly 1.0 cannot happen, but rounding may leave the last sum just below it.
    drawn = np.minimum(np.searchsorted(_zipf(WORDS, 2.7), rng.random(int(lengths.sum()))), WORDS - 1).tolist()
    tagged = np.minimum(np.searchsorted(_zipf(TAGS, 0.0), rng.random((BLOCK, TAGS_EACH))), TAGS - 1).tolist()
    buckets = rng.integers(len(BUCKETS), size=BLOCK).tolist()
    sentences = rng.integers(6, 18, size=BLOCK).tolist()
    start = 0
    for n, length in enumerate(lengths.tolist()[:count]):
        text = _sentences([words[rank] for rank in drawn[start : start + length]], sentences[n])
        start += length
        index = number * BLOCK + n
        yield Item(
            id=hashlib.blake2b(index.to_bytes(8, "big"), digest_size=16).hexdigest(),
            text=text,
            tags=list(dict.fromkeys(tags[tag] for tag in tagged[n])),
            buckets=[BUCKETS[buckets[n]]],
            at=FIRST_TIME + index * MINUTE,
        )


@cache
def _spelled() -> list[str]:
    """Returns the words as they are written in texts: names with a capital."""
    return [
        word.capitalize() if rank >= NAME_FROM and rank % NAME_EVERY == 0 else word
        for rank, word in enumerate(vocabulary())
    ]


def _sentences(words: list[str], length: int) -> str:
    parts = (" ".join(words[start : start + length]) for start in range(0, len(words), length))
    return " ".join(part[0].upper() + part[1:] + "." for part in parts)


def write_corpus(folder: Path, count: int) -> Path:
    """Returns the corpus file with at least `count` texts. Generates it if it does not exist."""
    path, have = folder / "corpus.tsv", folder / "corpus.count"
    if have.exists() and int(have.read_text("ascii")) >= count:
        return path
    have.unlink(missing_ok=True)
    with path.open("w", encoding="ascii") as file:
        for number in range(-(-count // BLOCK)):
            for item in _block(number, count - number * BLOCK):
                columns = (item["id"], str(item["at"]), item["buckets"][0], " ".join(item["tags"]), item["text"])
                file.write("\t".join(columns) + "\n")
    have.write_text(str(count), "ascii")
    return path


def batches(path: Path, count: int, size: int = BATCH) -> Iterator[list[Item]]:
    """The first `count` texts of a corpus file, in lists of `size`."""
    with path.open(encoding="ascii") as file:
        lines = islice(file, count)
        while some := [_item(line) for line in islice(lines, size)]:
            yield some


def _item(line: str) -> Item:
    # Columns and not JSON: an engine with threads works on while the next texts are read, so that must take no time.
    id_, at, bucket, tags, text = line.rstrip("\n").split("\t")
    return {"id": id_, "text": text, "tags": tags.split(" "), "buckets": [bucket], "at": int(at)}


def write_notes(folder: Path, path: Path, count: int, each: int = 100) -> int:
    """The texts as Markdown files of `each` paragraphs, with the tags and bucket of their first; how many files."""
    number = 0
    for number, items in enumerate(batches(path, count, each), 1):
        first = items[0]
        head = f"---\ntags: [{', '.join(first['tags'])}]\nbuckets: [{first['buckets'][0]}]\n---\n"
        body = "\n\n".join(item["text"] for item in items)
        place = folder / f"{number // 1000:03}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"note {number}.md").write_text(f"{head}\n{body}\n", "utf-8")
    return number
