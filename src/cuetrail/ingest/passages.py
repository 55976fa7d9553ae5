"""Joins the parts of a file into passages that a person can read alone, and makes a document of them.

- Neighbours under one heading are joined up to about PROSE characters; on real vaults the mean is 740. A list stays
  with the sentence that introduces it, code with the paragraph before it.
- An edit has a local effect. No passage crosses a heading. Inside a long section a passage begins at the part with the
  smallest hash nearby, so that behind an edit the old boundaries are soon found again.
- Headings and other structure are no text. Their links, tags and names go to the nearest passage of their section, or
  else to the document.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from cuetrail.extract.links_and_tags import find_links, find_tags
from cuetrail.ingest.document import Document, Part, Piece
from cuetrail.ingest.split import CODE, PROSE, is_comment, is_list
from cuetrail.text import document_dates, entity_names
from cuetrail.text.normalise import norm_name
from cuetrail.text.prose import prose_only

# The length of a passage that is cut from a longer section.
SHORTEST_CUT, LONGEST_CUT = PROSE * 7 // 8, PROSE * 11 // 8
# A section of this length is still one passage: a rest would say too little.
LONGEST = PROSE * 7 // 4
# A shorter section is joined with short ones beside it.
SHORT = PROSE // 2
# A text of fewer words says too little to stand alone.
FEW_WORDS = 5
# A paragraph that begins with a date is an entry of a log. The date ends within so many characters.
_DATE_CHARS = 32
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _Found:
    """The tags, links, names and the date of a part or of several."""

    tags: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    at: int | None = None


@dataclass(frozen=True, slots=True)
class _Block:
    """A part, and the tags, links, names and date that were found in it."""

    part: Part
    found: _Found


@dataclass(frozen=True, slots=True)
class _Section:
    """The blocks below one heading; `path` are the headings above them, `at` the date that these state.

    `extras` are tags, links and names of headings and link lists, each with the number of the nearest block.
    """

    path: tuple[str, ...]
    at: int | None = None
    blocks: list[_Block] = field(default_factory=list)
    extras: list[tuple[int, _Found]] = field(default_factory=list)

    def add(self, block: _Block) -> None:
        if block.part.structure or block.part.level:
            self.extras.append((max(len(self.blocks) - 1, 0), block.found))
        else:
            self.blocks.append(block)

    def is_short(self, depth: int) -> bool:
        """True if the section is `depth` headings deep and its text is shorter than SHORT and would be one passage."""
        if len(self.path) != depth or any(_begins_passage(block.part) for block in self.blocks[1:]):
            return False
        return 0 < _length([block.part for block in self.blocks]) < SHORT

    def headed(self) -> _Section:
        """Returns the section with its innermost heading as the line before its text."""
        first, *rest = self.blocks
        top = _Block(Part(f"{self.path[-1].rstrip(': ')}:", apart=_begins_passage(first.part)), _Found())
        below = replace(first, part=replace(first.part, apart=False, joint="\n"))
        extras = [(number + 1, found) for number, found in self.extras]
        return _Section(self.path[:-1], self.at, [top, below, *rest], extras)

    def append(self, other: _Section) -> None:
        """Adds the content of the section that follows."""
        self.extras.extend((number + len(self.blocks), found) for number, found in other.extras)
        self.blocks.extend(other.blocks)


def compose(document: Document, parts: Sequence[Part]) -> Document:
    """Returns the document with the passages made of these parts as its pieces, each with its tags, links and names."""
    code = [part.text for part in parts if not part.prose]
    found = entity_names.find([part.spoken() if part.prose else "" for part in parts], code)
    blocks = [_Block(part, _find(part, some)) for part, some in zip(parts, found, strict=True)]
    sections = _lift_small(_sections(blocks, document.title))
    pieces = [piece for section in sections for piece in _pieces(section)]
    loose = [extra for section in sections if not section.blocks for _, extra in section.extras]
    if not pieces and (outline := _outline(blocks, document.title)):
        pieces, loose = [outline], []
    own = _union([_Found(document.own_tags, document.own_links), *loose])
    return replace(document, pieces=tuple(pieces), own_tags=own.tags, own_links=own.links)


def _find(part: Part, found: tuple[str, ...]) -> _Found:
    if not part.prose:
        return _Found(part.tags, part.links, (), part.at)
    text, at = part.spoken(), part.at
    if at is None and document_dates.first(text) is not None:
        # Dates in code and addresses do not count. Masking those is slow, so it is only done if there is a date.
        at = document_dates.first(prose_only(text))
    return _Found(_unique((*part.tags, *find_tags(text))), _unique((*part.links, *find_links(text))), found, at)


def _union(some: Sequence[_Found]) -> _Found:
    """Returns all that was found, each once, and the first date. A link to a name replaces the name."""
    links = _unique(link for one in some for link in one.links)
    known = {norm_name(link) for link in links}
    return _Found(
        _unique(tag for one in some for tag in one.tags),
        links,
        _unique(name for one in some for name in one.names if norm_name(name) not in known),
        next((one.at for one in some if one.at is not None), None),
    )


def _unique(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


# --- sections


def _sections(blocks: Iterable[_Block], title: str) -> Iterator[_Section]:
    """Yields a section for each heading, and one for what stands above the first."""
    above: list[tuple[int, str, int | None]] = []
    section = _Section(())
    for block in blocks:
        if level := block.part.level:
            yield section
            above = [one for one in above if one[0] < level]
            above.append((level, str(block.part.props["heading"]), block.found.at))
            path = tuple(heading for _, heading, _ in above)
            if norm_name(path[0]) == norm_name(title):
                path = path[1:]
            section = _Section(path, next((at for _, _, at in reversed(above) if at is not None), None))
        section.add(block)
    yield section


def _lift_small(sections: Iterable[_Section]) -> list[_Section]:
    """Returns the sections with short neighbours below one heading joined, each with its own heading as a line."""
    found = list(sections)
    for depth in range(max(len(section.path) for section in found), 0, -1):
        runs = _runs(found, depth)
        found = [section for run in runs for section in ([_lifted(run)] if _is_liftable(run, depth) else run)]
    return found


def _runs(sections: Sequence[_Section], depth: int) -> list[list[_Section]]:
    """Groups short sections of this depth with short neighbours, and with the section above them."""
    runs: list[list[_Section]] = []
    for section in sections:
        first = runs[-1][0] if runs else section
        above = first.path[:-1] if first.is_short(depth) else first.path
        if runs and section.is_short(depth) and section.path[:-1] == above and section.at == first.at:
            runs[-1].append(section)
        else:
            runs.append([section])
    return runs


def _is_liftable(run: Sequence[_Section], depth: int) -> bool:
    """True if the run has several texts, or a text of so few words that it needs its heading to be understood."""
    texts = [section for section in run if section.blocks]
    return len(texts) > 1 or any(one.is_short(depth) and _is_tiny([b.part for b in one.blocks]) for one in texts)


def _lifted(run: Sequence[_Section]) -> _Section:
    """Returns one section with the texts of all sections of the run; each short one follows its heading."""
    whole = _Section(run[-1].path[:-1], run[0].at)
    for section in run:
        whole.append(section if section.path == whole.path else section.headed())
    return whole


def _is_tiny(parts: Sequence[Part]) -> bool:
    if any(not part.prose or len(part.text) > PROSE for part in parts):
        return False
    return sum(len(_WORD.findall(part.text)) for part in parts) < FEW_WORDS


# --- passages


def _pieces(section: _Section) -> Iterator[Piece]:
    start = 0
    for parts in join([block.part for block in section.blocks]):
        end = start + len(parts)
        own = _union([block.found for block in section.blocks[start:end]])
        extras = [found for number, found in section.extras if start <= number < end]
        every = _union([own, *extras])
        given = {tag for part in parts for tag in part.tags}
        shared = {k: v for k, v in parts[0].props.items() if all(part.props.get(k) == v for part in parts)}
        yield Piece(
            _text(parts), section.path, every.tags,
            tuple(tag for tag in every.tags if tag in given or tag not in own.tags),
            every.links, every.names, section.at if own.at is None else own.at, parts[0].speaker, shared,
            _unique(alias for part in parts for alias in part.aliases),
        )  # fmt: skip
        start = end


def _text(parts: Sequence[Part]) -> str:
    first, *rest = parts
    return "".join([first.spoken(), *(part.joint + part.text for part in rest)]).strip("\n").rstrip()


def join(parts: Sequence[Part]) -> Iterator[list[Part]]:
    """Yields the parts of each passage of one section, in order."""
    run: list[Part] = []
    for part in parts:
        if run and _begins_passage(part):
            yield from _pack(_bound(run))
            run = []
        run.append(part)
    if run:
        yield from _pack(_bound(run))


def _begins_passage(part: Part) -> bool:
    """True if a part is not joined to the one before it: behind a rule, or a paragraph that begins with a date."""
    return part.apart or (part.prose and part.at is None and document_dates.first(part.text[:_DATE_CHARS]) is not None)


def _bound(parts: Sequence[Part]) -> list[list[Part]]:
    """Returns the parts in groups that must stay together, such as a list and the sentence that introduces it."""
    units: list[list[Part]] = []
    for part in parts:
        if units and _binds(units[-1][-1], part) and _length(units[-1]) + len(part.text) <= CODE:
            units[-1].append(part)
        else:
            units.append([part])
    return units


def _binds(before: Part, part: Part) -> bool:
    """True if a part needs the one before it: the sentence that introduces it, or the comment on code."""
    if not before.prose:
        return not part.prose and is_comment(before.text)
    introduces = before.text.rstrip("*_ ").endswith((":", "："))
    return introduces or not part.prose or (is_list(part.text) and not is_list(before.text))


def _pack(units: Sequence[Sequence[Part]]) -> Iterator[list[Part]]:
    """Yields the parts of each passage: units joined up to about PROSE characters. A passage ends where the unit behind
    it has the smallest hash, so that an edit moves few ends.
    """
    rest, start = sum(map(_length, units)), 0
    while start < len(units):
        cut = len(units) if rest <= LONGEST else _cut(units, start)
        if _is_tiny([part for unit in units[start:cut] for part in unit]):
            cut = min(cut + 1, len(units))
        if len(units) - cut < FEW_WORDS and _is_tiny([part for unit in units[cut:] for part in unit]):
            cut = len(units)
        yield [part for unit in units[start:cut] for part in unit]
        rest -= sum(map(_length, units[start:cut]))
        start = cut


def _cut(units: Sequence[Sequence[Part]], start: int) -> int:
    """Returns the index of the unit behind the passage that begins at `start`, for units that need several passages."""
    length, end, wide = _length(units[start]), start + 1, []
    while end < len(units) and length <= LONGEST_CUT:
        if length >= SHORTEST_CUT:
            wide.append(end)
        length += _length(units[end])
        end += 1
    if wide:
        return min(wide, key=lambda n: zlib.crc32(units[n][0].text.encode()))
    return max(start + 1, end - 1 if length > LONGEST_CUT else end)


def _length(parts: Sequence[Part]) -> int:
    return sum(len(part.joint) + len(part.text) for part in parts)


def _outline(blocks: Sequence[_Block], title: str) -> Piece | None:
    """Returns a passage of headings and links for a document of nothing else, None if it has only its title."""
    lines: list[str] = []
    for block in blocks:
        words = str(block.part.props["heading"]) if block.part.level else block.part.text
        if words and norm_name(words) != norm_name(title):
            lines += words.split("\n")
    ends = accumulate(len(line) + 1 for line in lines)
    text = "\n".join(line for line, end in zip(lines, ends, strict=True) if end <= LONGEST)
    found, own = _union([block.found for block in blocks]), set(find_tags(text))
    away = tuple(tag for tag in found.tags if tag not in own)
    return Piece(text, (), found.tags, away, found.links, found.names, found.at) if text else None
