"""What the folders and files of a mirror are called. Pure, so the same memory always has the same names."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from pathlib import PurePosixPath

GENERAL = "general"
UNTAGGED = "_untagged"
UNSOURCED = "unsourced"
STEM_CHARS = 64
# A name of a folder is cut so that it stays below every file system's limit, with room for the hash of the rest.
FOLDER_BYTES = 100
_CUT_BYTES = 80
_NOT_IN_STEM = re.compile(r"[^A-Za-z0-9_-]")
# Letters and marks that some file systems leave out of account when they compare names.
_IGNORED = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")


@lru_cache(maxsize=65536)
def folder(name: str) -> str:
    """A bucket or tag as a name that every file system takes, a different one for each.

    What could mislead one is written as in a web address; a name that is too long ends in a hash.

    >>> folder("radio"), folder("v1.2"), folder("日本"), folder("project:jacq"), folder("../x")
    ('radio', 'v1.2', '日本', 'project%3ajacq', '..%2fx')
    >>> folder("Radio"), folder(".."), folder("x" * 300)[-20:]
    ('%52adio', '.%2e', 'xxx~8a4876ea55d998a5')
    """
    settled = unicodedata.is_normalized("NFC", name)
    safe = "".join(char if _keeps(char, settled) else _escaped(char) for char in name)
    if safe.endswith("."):
        # Windows drops a dot at the end.
        safe = safe[:-1] + _escaped(".")
    data = safe.encode()
    if len(data) <= FOLDER_BYTES:
        return safe
    # No other name has a tilde in it: it would be escaped.
    return f"{data[:_CUT_BYTES].decode(errors='ignore')}~{_md5(name)[:16]}"


def _keeps(char: str, settled: bool) -> bool:
    """Whether a character means the same to every file system: the case of a letter does not to some."""
    if char.isascii():
        return char.islower() or char.isdigit() or char in "_.-"
    if not settled or _IGNORED.match(char) or char.upper().casefold() != char:
        return False
    return char.isalnum() or unicodedata.category(char) in ("So", "Mn", "Mc")


def _escaped(char: str) -> str:
    return "".join(f"%{byte:02x}" for byte in char.encode())


def folders(tags: Sequence[str], buckets: Sequence[str], every: bool) -> list[str]:
    """Where an atom belongs: below its first bucket, under its first tag or, with `every`, under each.

    >>> folders(["inbox", "work", "radio", "frost"], ["work", "field"], False)
    ['@work/#radio']
    >>> folders(["radio", "frost"], [], True), folders(["work", "inbox"], ["work"], True)
    (['@general/#radio', '@general/#frost'], ['@work/#_untagged'])
    """
    bucket = buckets[0] if buckets else GENERAL
    telling = [tag for tag in tags if tag not in (bucket, "inbox")] or [UNTAGGED]
    above = f"@{folder(bucket)}"
    return [f"{above}/#{folder(tag)}" for tag in (telling if every else telling[:1])]


@lru_cache(maxsize=4096)
def stem(source: str | None) -> str:
    """What the bundles of a file are called: its name, and a hash of its path to tell files of one name apart.

    >>> stem("docs/architecture.md"), stem(None)
    ('architecture_md_934e0568', 'unsourced_d41d8cd9')
    """
    if source is None:
        return f"{UNSOURCED}_{_md5('')[:8]}"
    base = PurePosixPath(source).name.lower()
    return f"{_NOT_IN_STEM.sub('_', base)[:STEM_CHARS]}_{_md5(source)[:8]}"


def file_name(stem: str, part: int, parts: int) -> str:
    """The name of one file of a bundle; only a bundle that has several says which.

    >>> file_name("a_md_0cc175b9", 1, 1), file_name("a_md_0cc175b9", 2, 3)
    ('a_md_0cc175b9.md', 'a_md_0cc175b9_part2.md')
    """
    return f"{stem}_part{part}.md" if parts > 1 else f"{stem}.md"


def _md5(text: str) -> str:
    # Tells names apart, guards nothing.
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
