"""Which atoms go into which file, and how they look there."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import xxhash

from cuetrail.mirror.file_names import UNSOURCED, file_name, folders, stem
from cuetrail.store.ports import Placed, Said
from cuetrail.text.normalise import snippet

# Changes with anything that changes how a page looks, so that pages of an older cuetrail are made anew.
LAYOUT = 1
ATOMS_PER_PAGE = 100
RULE = "\n\n---\n\n"
# What in a text would pass for the heading of an atom, or for the rule between two.
_OURS = re.compile(r"(?m)(?:^|(?<=\r))(?=## \[|---[ \t]*\r?$)")
_ESCAPE = r"\\"
_HEADING = re.compile(r"\A\s*#{1,6}[ \t]+")
_TELLING = 200


@dataclass(frozen=True, slots=True)
class Page:
    """One file of the mirror: the engine's numbers of its atoms, in order. `check` is another when one of them is."""

    path: str
    stem: str
    title: str
    keys: Sequence[int]
    check: str


def pages(placed: Iterable[Placed], titles: Mapping[str, str], every: bool) -> Iterator[Page]:
    """The pages of whole bundles. `titles` says by their stems what they are called inside."""
    # 16 bytes an atom: of a file with a million of them no text is held here.
    bundles: dict[tuple[str, str], tuple[array[int], array[int]]] = {}
    here: tuple[object, ...] = ()
    for atom in placed:
        # Neighbours in a file mostly have the same labels, so where they belong is worked out once.
        if (where := atom[1:4]) != here:
            here, name = where, stem(atom.source)
            under = folders(atom.tags, atom.buckets, every)
            into = [bundles.setdefault((folder, name), (array("q"), array("Q"))) for folder in under]
        for keys, checks in into:
            keys.append(atom.key)
            checks.append(atom.check)
    for (above, name), (keys, checks) in sorted(bundles.items()):
        starts = range(0, len(keys), ATOMS_PER_PAGE)
        for part, start in enumerate(starts, 1):
            title = titles[name] if len(starts) == 1 else f"{titles[name]}, part {part}"
            said = checks[start : start + ATOMS_PER_PAGE].tobytes() + f"{LAYOUT} {title}".encode()
            path = f"{above}/{file_name(name, part, len(starts))}"
            yield Page(path, name, title, keys[start : start + ATOMS_PER_PAGE], xxhash.xxh3_64_hexdigest(said))


def title_of(sources: Sequence[str | None]) -> str:
    """What stands above the atoms of a bundle: the path of the file, or of those that share its name and hash."""
    return ", ".join(_one_line(UNSOURCED if source is None else source) for source in sources)


def rendered(title: str, atoms: Iterable[Said]) -> bytes:
    """A page: a heading with id and snippet above each atom, a rule between two."""
    return f"# {title}\n\n{RULE.join(map(_section, atoms))}\n".encode()


def _section(atom: Said) -> str:
    text = atom.text.strip("\n")
    said = f"{atom.name}\n\n{text}" if atom.name and text else text or atom.name or ""
    heading = f"## [{_one_line(atom.id)}] {_begin(_HEADING.sub('', text or said))}".rstrip()
    if "## [" in said or "---" in said:
        # An atom must not be able to pass for two.
        said = _OURS.sub(_ESCAPE, said)
    return f"{heading}\n\n{said}" if said else heading


def _begin(text: str) -> str:
    """The snippet of a text. Mostly its first characters tell, and looking at all of them takes ten times as long."""
    first = snippet(text[:_TELLING])
    return first if first.endswith("…") or len(text) <= _TELLING else snippet(text)


def _one_line(text: str) -> str:
    return " ".join(text.split())
