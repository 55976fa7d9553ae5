"""Decides which atoms go into which file of a mirror, and renders the files as Markdown.

Pure functions: the same memory always gets the same files.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import xxhash

from cuetrail.mirror.names import UNSOURCED, file_name, file_stem, folder_paths
from cuetrail.store.read import AtomLabels, AtomText
from cuetrail.text.normalise import snippet

# Increase it when the rendering changes: pages of an older version are then written again.
LAYOUT = 2
ATOMS_PER_PAGE = 100
SEPARATOR = "\n\n---\n\n"
# Lines of a text that look like the heading of an atom, or like the rule between two atoms.
_OWN_MARKUP = re.compile(r"(?m)(?:^|(?<=\r))(?=## \[|---[ \t]*\r?$)")
_ESCAPE = r"\\"
_HEADING = re.compile(r"\A\s*#{1,6}[ \t]+")
_SNIPPET_CHARS = 200


@dataclass(frozen=True, slots=True)
class MirrorPage:
    """One file of the mirror. `keys`: the engine's keys of its atoms. `check`: a hash of the atoms' checksums, the
    layout version and the title; if it is unchanged, so is the file.
    """

    path: str
    stem: str
    title: str
    keys: Sequence[int]
    check: str


def pages(placed: Iterable[AtomLabels], titles: Mapping[str, str], every: bool) -> Iterator[MirrorPage]:
    """Yields the pages for these atoms, of all files with the same stem together. `titles` maps a stem to the title of
    its pages. With `every`, an atom is under each of its tags, else under the first.
    """
    # Only 16 bytes are held per atom, and no text, so that a file may have a million atoms.
    bundles: dict[tuple[str, str], tuple[array[int], array[int]]] = {}
    previous: tuple[object, ...] = ()
    for atom in placed:
        # Neighbours in a file mostly have the same labels, so their folders are computed once.
        if (labels := atom[1:4]) != previous:
            previous, name = labels, file_stem(atom.source)
            under = folder_paths(atom.tags, atom.buckets, every)
            targets = [bundles.setdefault((folder, name), (array("q"), array("Q"))) for folder in under]
        for keys, checks in targets:
            keys.append(atom.key)
            checks.append(atom.check)
    for (above, name), (keys, checks) in sorted(bundles.items()):
        starts = range(0, len(keys), ATOMS_PER_PAGE)
        for part, start in enumerate(starts, 1):
            title = titles[name] if len(starts) == 1 else f"{titles[name]}, part {part}"
            content = checks[start : start + ATOMS_PER_PAGE].tobytes() + f"{LAYOUT} {title}".encode()
            path = f"{above}/{file_name(name, part, len(starts))}"
            yield MirrorPage(path, name, title, keys[start : start + ATOMS_PER_PAGE], xxhash.xxh3_64_hexdigest(content))


def page_title(sources: Sequence[str | None]) -> str:
    """Returns the title of the pages of these sources: their paths, or `unsourced` for atoms without one."""
    return ", ".join(_one_line(UNSOURCED if source is None else source) for source in sources)


def render_page(title: str, atoms: Iterable[AtomText]) -> bytes:
    """Returns a page as Markdown in UTF-8: the title, then each atom under a heading of its id and a snippet.

    A rule stands between two atoms.
    """
    return f"# {title}\n\n{SEPARATOR.join(map(_section, atoms))}\n".encode()


def _section(atom: AtomText) -> str:
    text = atom.text.strip("\n")
    body = f"{atom.name}\n\n{text}" if atom.name and text else text or atom.name or ""
    heading = f"## [{_one_line(atom.id)}] {_snippet(_HEADING.sub('', text or body))}".rstrip()
    if "## [" in body or "---" in body:
        # Escape it: one atom must not look like two.
        body = _OWN_MARKUP.sub(_ESCAPE, body)
    return f"{heading}\n\n{body}" if body else heading


def _snippet(text: str) -> str:
    """Returns the snippet of a text. Looks at the first characters only where they suffice: ten times faster."""
    first = snippet(text[:_SNIPPET_CHARS])
    return first if first.endswith("…") or len(text) <= _SNIPPET_CHARS else snippet(text)


def _one_line(text: str) -> str:
    return " ".join(text.split())
