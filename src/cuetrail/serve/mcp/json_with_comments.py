"""Settings that people write by hand: JSON with comments and commas too many. One entry changes, all else stays."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

# Strings come first: what looks like a comment in one is none.
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|[{}\[\]:,]|[^\s"{}\[\]:,/]+|.', re.DOTALL)
_UNIT = 2


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class _Object:
    """Where an object begins and ends in a text, and where the value of each of its members does."""

    start: int
    end: int
    members: dict[str, tuple[int, int]]


def parsed(text: str) -> Any:
    """What a text says, without its comments. Raises ValueError."""
    return json.loads(_bare(text)) if _bare(text).strip() else {}


def entered(text: str, key: str, name: str, value: Any) -> str:
    """The text with `value` as the member `name` of the object under `key`; what is not there is made.

    Raises ValueError where the text is no object, or has something else under the key.
    """
    if not _bare(text).strip():
        return text + json.dumps({key: {name: value}}, indent=_UNIT, ensure_ascii=False) + "\n"
    tokens = _tokens(text)
    whole = _object(tokens, 0)
    if key not in whole.members:
        return _with_member(text, whole, key, {name: value})
    at = whole.members[key][0]
    inner = _object(tokens, next(i for i, token in enumerate(tokens) if token.start == at))
    if name not in inner.members:
        return _with_member(text, inner, name, value)
    start, end = inner.members[name]
    return text[:start] + _written(text, start, value, "\n" in text[inner.start : inner.end]) + text[end:]


def _tokens(text: str) -> list[_Token]:
    """The marks and values of a text, without spaces and comments."""
    found = (_Token(one[0], one.start()) for one in _TOKEN.finditer(text))
    return [
        one for one in found if not one.text[0].isspace() and one.text[:2] not in ("//", "/*") and one.text != "\ufeff"
    ]


def _bare(text: str) -> str:
    """Plain JSON of the same text: without comments, and without commas before a closing bracket."""
    tokens = _tokens(text)
    closed = {number for number, one in enumerate(tokens, -1) if one.text in ("]", "}")}
    return " ".join(one.text for number, one in enumerate(tokens) if one.text != "," or number not in closed)


def _object(tokens: list[_Token], first: int) -> _Object:
    """The object that begins at a token. Raises ValueError where none does."""
    if tokens[first].text != "{":
        raise ValueError("there is no object")
    members: dict[str, tuple[int, int]] = {}
    depth, name, begun = 0, "", 0
    for before, token in zip(tokens[first:], tokens[first + 1 :], strict=False):
        if depth == 0 and token.text == ":":
            name, begun = json.loads(before.text), 0
        elif depth == 0 and name and not begun:
            begun = token.start
        if token.text in ("{", "["):
            depth += 1
        elif depth == 0 and token.text in (",", "}"):
            if name:
                members[name] = begun, before.end
            name = ""
            if token.text == "}":
                return _Object(tokens[first].start, token.start, members)
        elif token.text in ("}", "]"):
            depth -= 1
    raise ValueError("an object has no end")


def _with_member(text: str, within: _Object, name: str, value: Any) -> str:
    """The text with one more member at the end of an object, written as its neighbours are."""
    last = max((end for _, end in within.members.values()), default=within.start + 1)
    tail = text[last : within.end]
    if within.members and "\n" not in text[within.start : within.end]:
        return f"{text[:last]}, {json.dumps(name)}: {_written(text, last, value, wide=False)}{text[last:]}"
    comma = "," if within.members and not _tokens(tail) else ""
    line = "\r\n" if "\r\n" in text else "\n"
    outer = _indent(text, within.start)
    starts = [start for start, _ in within.members.values()]
    inner = _indent(text, starts[-1]) if starts else outer + _unit(text)
    member = _lines(f"{json.dumps(name)}: {json.dumps(value, indent=_unit(text), ensure_ascii=False)}", inner, line)
    return f"{text[:last]}{comma}{tail.rstrip()}{line}{inner}{member}{line}{outer}{text[within.end :]}"


def _written(text: str, at: int, value: Any, wide: bool) -> str:
    """A value as it is written at a place: over lines that go on with that line's indent, or in one."""
    if not wide:
        return json.dumps(value, ensure_ascii=False)
    line = "\r\n" if "\r\n" in text else "\n"
    return _lines(json.dumps(value, indent=_unit(text), ensure_ascii=False), _indent(text, at), line)


def _lines(text: str, indent: str, line: str) -> str:
    return f"{line}{indent}".join(text.split("\n"))


def _indent(text: str, at: int) -> str:
    """What stands before the first mark of the line of a place."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """By how much this text indents."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else " " * _UNIT
