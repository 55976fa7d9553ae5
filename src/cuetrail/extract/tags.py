"""Finds hashtags in prose, by Obsidian's rules.

>>> find("#radio and #field/notes, not issue #12, C# or https://x.org/#top")
('radio', 'field/notes')
"""

from __future__ import annotations

import re

from cuetrail.text.prose import prose_only

# A tag may contain letters of any script and emoji, so the pattern lists what ends it: spaces and punctuation.
_TAG = re.compile(
    r"(?:(?<=[\s(*_,;>|])|\A)#([^\u2000-\u200c\u200e-\u206f\u2e00-\u2e7f\u3000-\u303f'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\\s]{1,200})"
)
_MARK = re.compile(r"#[^\s#]")
_MEANING = re.compile(r"[^\d\-/_]")
_WIKILINK = re.compile(r"\[\[[^\[\]\n]{1,500}\]\]")


def find(text: str) -> tuple[str, ...]:
    """Returns the tags without `#`, as typed, in order. Tags that differ only in case are returned once."""
    # A heading also begins with #, but a space follows.
    if "#" not in text or not _MARK.search(text):
        return ()
    text = _WIKILINK.sub(" ", prose_only(text))
    unique: dict[str, str] = {}
    for match in _TAG.finditer(text):
        tag = match[1].strip("/-") if match[1][-1] in "/-" else match[1]
        if _MEANING.search(tag):
            unique.setdefault(tag.casefold(), tag)
    return tuple(unique.values())
