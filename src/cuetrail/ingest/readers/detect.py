"""Detects the format of a text that has no file suffix."""

from __future__ import annotations

import json
import re

_LOOKS_HTML = re.compile(
    r"\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,500}?-->\s*)?<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_LOOKS_MARKDOWN = re.compile(
    r"\A---[ \t]*\n|^#{1,6} \S|^(?:```|~~~)|\[\[[^\[\]\n]{1,200}\]\]|\]\([^()\s]{1,200}\)", re.M
)
_HEAD_CHARS = 65536


def detect_format(text: str) -> str:
    """Returns html, code, json or markdown; text if there is no sign of another format."""
    head = text[:_HEAD_CHARS]
    if _LOOKS_HTML.match(head):
        return "html"
    if text.startswith("#!"):
        return "code"
    if head.lstrip()[:1] in ("{", "[") and _is_json(text):
        return "json"
    return "markdown" if _LOOKS_MARKDOWN.search(head) else "text"


def _is_json(text: str) -> bool:
    """True if the text, or its first line, is JSON that is not empty."""
    for candidate in (text, text.strip().split("\n", 1)[0]):
        try:
            if json.loads(candidate):
                return True
        except (ValueError, RecursionError):
            continue
    return False
