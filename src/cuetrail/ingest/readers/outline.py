"""Outlines of Logseq and Roam: blocks with blocks below them, as parts that can be read alone.

A block and the blocks below it are one part, the lower ones as a list. One that is too long becomes several parts, each
of which begins with the line of the block above.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cuetrail.ingest.document import Part
from cuetrail.ingest.split import CODE, PROSE
from cuetrail.text.normalise import norm_name

# A longer line is no title for what stands below it, and is not repeated.
_LONGEST_LINE = 160
# A longer block is linked to, not quoted.
_LONGEST_QUOTE = 500
QUOTED_CHARS, QUOTED_TIMES = 1_000_000, 4
"""So many characters, and so many times its own text, the references of a page quote; later ones are blank."""
DEEPEST = 100
"""Blocks are nested at most so deep; deeper ones count as children of the last level."""

_REFERENCE = re.compile(r"(?:\{\{\s*\[{0,2}embed\]{0,2}:?\s*)?\(\(([\w-]{6,64})\)\)(?:\s*\}\})?")
_LABELLED = re.compile(r"\[([^\[\]\n]{1,200})\]\(\(\(([\w-]{6,64})\)\)\)")
_PAGE_EMBED = re.compile(r"\{\{\s*\[{0,2}embed\]{0,2}:?\s*(\[\[[^\[\]\n]{1,300}\]\])\s*\}\}")
# A page of a namespace, by its whole name.
_NAMESPACED = re.compile(r"\[\[([^\[\]|\n]{1,300}/[^\[\]|\n]{1,300})\]\]")
_TAG = re.compile(r"(?<![\w#])#\[\[([^\[\]\n]{1,200})\]\]")


@dataclass(frozen=True, slots=True)
class Block:
    """One block: its text, the blocks below it, and the id by which others refer to it. `level` > 0 is a heading."""

    text: str
    below: tuple[Block, ...] = ()
    id: str = ""
    level: int = 0
    tags: tuple[str, ...] = ()
    at: int | None = None


Texts = Mapping[str, str]
"""The texts of blocks by id."""


def name_of(id_: str) -> str:
    """Returns the name under which other texts link to the block with this id."""
    return f"(({id_}))"


def resolve(text: str, known: Texts, missed: Callable[[str], None]) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Returns a block's text with its references replaced, the names of the blocks it refers to, and its tags.

    A reference becomes the text of its block, or its own label. One to an unknown block is removed (a label stays), and
    `missed` is called with the id.
    """
    links: list[str] = []
    tags: list[str] = []

    def quote(match: re.Match[str]) -> str:
        id_ = match[1]
        if id_ not in known:
            missed(id_)
            return ""
        links.append(name_of(id_))
        quoted = _REFERENCE.sub("", known[id_]).strip()
        return quoted if len(quoted) <= _LONGEST_QUOTE else f"{quoted.split(chr(10), 1)[0][:_LONGEST_LINE]} ..."

    def label(match: re.Match[str]) -> str:
        if match[2] in known:
            links.append(name_of(match[2]))
        else:
            missed(match[2])
        return match[1]

    def tag(match: re.Match[str]) -> str:
        tags.append(match[1])
        return match[1]

    if "((" in text:
        text = _REFERENCE.sub(quote, _LABELLED.sub(label, text))
    text = _TAG.sub(tag, _PAGE_EMBED.sub(r"\1", text)) if "[[" in text else text
    links += _NAMESPACED.findall(text)
    return text, tuple(links), tuple(tags)


class _Quotable(Mapping[str, str]):
    """The texts of blocks for the references of one page. Once so many characters were quoted, they are blank: a small
    file in which each block refers to long ones many times would fill the memory.
    """

    def __init__(self, texts: Texts, most: int) -> None:
        self._texts, self._left = texts, most

    def __getitem__(self, id_: str) -> str:
        text = self._texts[id_]
        self._left -= min(len(text), _LONGEST_QUOTE)
        return text if self._left >= 0 else ""

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __contains__(self, id_: object) -> bool:
        return id_ in self._texts


def parts(blocks: Sequence[Block], known: Texts, missed: Callable[[str], None]) -> list[Part]:
    """Returns the parts of a page: one for each heading, and one or more for each other block with all below it. Calls
    `missed` with the id of each unknown block that a text refers to.
    """
    size = sum(len(one.text) for block in blocks for one, _ in _walk(block))
    return _parts(blocks, _Quotable(known, QUOTED_CHARS + QUOTED_TIMES * size), missed)


def _parts(blocks: Sequence[Block], known: Texts, missed: Callable[[str], None]) -> list[Part]:
    found: list[Part] = []
    for block in blocks:
        if block.level and norm_name(block.text):
            words = block.text.lstrip("# ").strip()
            found.append(
                Part(words, level=block.level, props={"heading": words}, tags=block.tags, aliases=_alias(block))
            )
            found += _parts(block.below, known, missed)
        else:
            found += [part for part in _block_parts(block, known, missed) if part.text.strip()]
    return found


def _block_parts(block: Block, known: Texts, missed: Callable[[str], None]) -> Iterator[Part]:
    own = _part(block, known, missed, 0)
    below = [_joined([_part(one, known, missed, depth) for one, depth in _walk(child)]) for child in block.below]
    if len(own.text) + sum(len(part.text) + 1 for part in below) <= PROSE:
        yield _joined([own, *below])
        return
    line = own.text if len(own.text) <= _LONGEST_LINE else ""
    run = [own]
    for child, part in zip(block.below, below, strict=True):
        if len(part.text) > CODE and child.below:
            if run:
                yield _joined(run)
            yield from _block_parts(replace(child, text=f"{block.text}\n{child.text}" if line else child.text), known,
                                    missed)  # fmt: skip
            run = []
        elif run and sum(len(one.text) + 1 for one in run) + len(part.text) > PROSE and run != [own]:
            yield _joined(run)
            run = [replace(own, aliases=()), part] if line else [part]
        else:
            run = run or ([replace(own, aliases=())] if line else [])
            run.append(part)
    if run and (len(run) > 1 or not block.below or run[0] is own):
        yield _joined(run)


def _walk(block: Block) -> Iterator[tuple[Block, int]]:
    """Yields a block and all below it with their depths, in order, without recursion."""
    stack = [(block, 1)]
    while stack:
        one, depth = stack.pop()
        yield one, depth
        stack += [(child, depth + 1) for child in reversed(one.below)]


def _part(block: Block, known: Texts, missed: Callable[[str], None], depth: int) -> Part:
    text, links, tags = resolve(block.text, known, missed)
    if depth and text.strip():
        indent = "  " * (min(depth, DEEPEST) - 1)
        first, *rest = text.strip().split("\n")
        text = "\n".join([f"{indent}- {first}", *(f"{indent}  {line}" for line in rest)])
    return Part(text.rstrip(), links=links, tags=(*block.tags, *tags), at=block.at, aliases=_alias(block))


def _alias(block: Block) -> tuple[str, ...]:
    return (name_of(block.id),) if block.id else ()


def _joined(some: Sequence[Part]) -> Part:
    first = some[0]
    return Part(
        "\n".join(part.text for part in some if part.text.strip()),
        links=tuple(link for part in some for link in part.links),
        tags=tuple(tag for part in some for tag in part.tags),
        at=first.at,
        aliases=tuple(alias for part in some for alias in part.aliases),
    )
