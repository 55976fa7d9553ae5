"""The names of folders and files in a mirror: tags and buckets as safe names of folders, and sources as names of files.

Pure functions: the same tag, bucket or source always gets the same name.
"""

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
# A longer folder name is cut and ends in a hash, to stay below every file system's limit.
FOLDER_BYTES = 100
_CUT_BYTES = 80
_NOT_IN_STEM = re.compile(r"[^A-Za-z0-9_-]")
# Characters that some file systems ignore when they compare names.
_IGNORED = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")


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
