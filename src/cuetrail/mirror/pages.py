"""Decides which atoms go into which file of a mirror, names the folders and files, and renders them as Markdown.

Pure functions: the same memory always gets the same files.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

import xxhash

from cuetrail.store.read import AtomLabels, AtomText
from cuetrail.text.normalise import snippet

GENERAL = "general"
UNTAGGED = "_untagged"
UNSOURCED = "unsourced"
STEM_CHARS = 64
# A longer folder name is cut and ends in a hash, to stay below every file system's limit.
FOLDER_BYTES = 100
_CUT_BYTES = 80
_NOT_IN_STEM = re.compile(r"[^A-Za-z0-9_-]")
# Characters that some file systems ignore when they compare names.
_IGNORED = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
# Increase it when the rendering changes: pages of an older version are then written again.
LAYOUT = 2
ATOMS_PER_PAGE = 100
SEPARATOR = "\n\n---\n\n"
# Lines of a text that look like the heading of an atom, or like the rule between two atoms.
_OWN_MARKUP = re.compile(r"(?m)(?:^|(?<=\r))(?=## \[|---[ \t]*\r?$)")
_ESCAPE = r"\\"
_HEADING = re.compile(r"\A\s*#{1,6}[ \t]+")
_SNIPPET_CHARS = 200


@lru_cache(maxsize=65536)
def folder_name(name: str) -> str:
    """Returns a unique name for a bucket or tag that is valid on every file system.

    Unsafe characters are percent-encoded; a name that is too long ends in a hash.

    >>> [folder_name(name) for name in ("radio", "v1.2", "日本", "project:jacq", "../x")]
    ['radio', 'v1.2', '日本', 'project%3ajacq', '..%2fx']
    >>> folder_name("Radio"), folder_name(".."), folder_name("x" * 300)[-20:]
    ('%52adio', '.%2e', 'xxx~8a4876ea55d998a5')
    """
    normalized = unicodedata.is_normalized("NFC", name)
    safe = "".join(char if _is_safe(char, normalized) else _escaped(char) for char in name)
    if safe.endswith("."):
        # Windows drops a final dot.
        safe = safe[:-1] + _escaped(".")
    data = safe.encode()
    if len(data) <= FOLDER_BYTES:
        return safe
    # A tilde in a name is escaped, so only cut names contain one.
    return f"{data[:_CUT_BYTES].decode(errors='ignore')}~{_md5(name)[:16]}"


def _is_safe(char: str, normalized: bool) -> bool:
    """True if every file system stores the character unchanged. Upper case is unsafe: some ignore case."""
    if char.isascii():
        return char.islower() or char.isdigit() or char in "_.-"
    if not normalized or _IGNORED.match(char) or char.upper().casefold() != char:
        return False
    return char.isalnum() or unicodedata.category(char) in ("So", "Mn", "Mc")


def _escaped(char: str) -> str:
    return "".join(f"%{byte:02x}" for byte in char.encode())


def folder_paths(tags: Sequence[str], buckets: Sequence[str], every: bool) -> list[str]:
    """Returns the folders of an atom: below its first bucket, under its first tag or, with `every`, under each tag.

    The tags are those that people gave: automatic ones make no folders.

    >>> folder_paths(["inbox", "work", "radio", "frost"], ["work", "field"], False)
    ['@work/#radio']
    >>> folder_paths(["radio", "frost"], [], True), folder_paths(["work", "inbox"], ["work"], True)
    (['@general/#radio', '@general/#frost'], ['@work/#_untagged'])
    """
    bucket = buckets[0] if buckets else GENERAL
    topics = [tag for tag in tags if tag not in (bucket, "inbox")] or [UNTAGGED]
    above = f"@{folder_name(bucket)}"
    return [f"{above}/#{folder_name(tag)}" for tag in (topics if every else topics[:1])]


@lru_cache(maxsize=4096)
def file_stem(source: str | None) -> str:
    """Returns the stem of a source's mirror files: its file name and a hash of its path.

    >>> file_stem("docs/architecture.md"), file_stem(None)
    ('architecture_md_934e0568', 'unsourced_d41d8cd9')
    """
    if source is None:
        return f"{UNSOURCED}_{_md5('')[:8]}"
    base = PurePosixPath(source).name.lower()
    return f"{_NOT_IN_STEM.sub('_', base)[:STEM_CHARS]}_{_md5(source)[:8]}"


def file_name(stem: str, part: int, parts: int) -> str:
    """Returns the name of the file that is number `part` of `parts` files with this stem; a single one has no number.

    >>> file_name("a_md_0cc175b9", 1, 1), file_name("a_md_0cc175b9", 2, 3)
    ('a_md_0cc175b9.md', 'a_md_0cc175b9_part2.md')
    """
    return f"{stem}_part{part}.md" if parts > 1 else f"{stem}.md"


def _md5(text: str) -> str:
    # Only to tell names apart; not for security.
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


# --- pages


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
