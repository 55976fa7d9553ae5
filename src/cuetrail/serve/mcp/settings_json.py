"""Changes members of JSON texts that may have comments and trailing commas, as settings files do. The rest stays."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

# Strings come first, because a string may contain what looks like a comment.
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|[{}\[\]:,]|[^\s"{}\[\]:,/]+|.', re.DOTALL)
_DEFAULT_INDENT = 2


class _JsonToken(NamedTuple):
    """A piece of JSON text: punctuation or a value, and its position."""

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class _Object:
    """The positions of an object in a JSON text: its start and end, and those of the value of each member."""

    start: int
    end: int
    members: dict[str, tuple[int, int]]


def parse_json(text: str) -> Any:
    """Returns the value of a JSON text that may have comments and trailing commas; {} if empty. Raises ValueError."""
    return json.loads(_plain_json(text)) if _plain_json(text).strip() else {}


def set_member(text: str, key: str, name: str, value: Any) -> str:
    """Returns the JSON text with `value` as the member `name` of the object under `key`, which is made if missing.

    Raises ValueError if the text is no object, or has no object under the key.
    """
    if not _plain_json(text).strip():
        return text + json.dumps({key: {name: value}}, indent=_DEFAULT_INDENT, ensure_ascii=False) + "\n"
    tokens = _tokens(text)
    outer = _object(tokens, 0)
    if key not in outer.members:
        return _add_member(text, outer, key, {name: value})
    at = outer.members[key][0]
    inner = _object(tokens, _token_at(tokens, at))
    if name not in inner.members:
        return _add_member(text, inner, name, value)
    start, end = inner.members[name]
    return text[:start] + _format_value(text, start, value, "\n" in text[inner.start : inner.end]) + text[end:]


def remove_member(text: str, key: str, name: str) -> str:
    """Returns the JSON text without the member `name` of the object under `key`, and without that object if it is
    empty then. Raises ValueError if there is no such member.

    >>> remove_member('{"a": {"n": 1, "m": 2}, "b": 3}', "a", "n")
    '{"a": {"m": 2}, "b": 3}'
    >>> remove_member('{"a": {"n": 1}, "b": 3}', "a", "n")
    '{"b": 3}'
    """
    tokens = _tokens(text)
    outer = _object(tokens, 0)
    if key not in outer.members:
        raise ValueError(f"there is no {key}")
    inner = _object(tokens, _token_at(tokens, outer.members[key][0]))
    if name not in inner.members:
        raise ValueError(f"there is no {name}")
    within, gone = (outer, key) if len(inner.members) == 1 else (inner, name)
    return _without_member(text, tokens, within, gone)


def _without_member(text: str, tokens: list[_JsonToken], within: _Object, name: str) -> str:
    """Returns the text without a member of an object, its comma and its own line."""
    begin, end = within.members[name]
    value = _token_at(tokens, begin)
    # The name and the colon stand before the value.
    first, before = tokens[value - 2].start, tokens[value - 3]
    after = next(i for i, token in enumerate(tokens) if token.start >= end)
    if len(within.members) == 1:
        return text[: within.start + 1] + text[within.end :]
    if tokens[after].text == ",":
        rest = text[tokens[after].start + 1 :]
        # The next member takes its place. Behind the last one there may be a comma too.
        return text[:first].rstrip() + rest if tokens[after + 1].text == "}" else text[:first] + rest.lstrip()
    comments = text[before.start + 1 : first].rstrip()
    return text[: before.start] + comments + text[end:]


def _token_at(tokens: list[_JsonToken], position: int) -> int:
    return next(i for i, token in enumerate(tokens) if token.start == position)


def _tokens(text: str) -> list[_JsonToken]:
    """Returns the punctuation and values of a text, without spaces and comments."""
    found = (_JsonToken(one[0], one.start()) for one in _TOKEN.finditer(text))
    return [
        one for one in found if not one.text[0].isspace() and one.text[:2] not in ("//", "/*") and one.text != "\ufeff"
    ]


def _plain_json(text: str) -> str:
    """Returns the text without comments and without commas before a closing bracket."""
    tokens = _tokens(text)
    closed = {number for number, one in enumerate(tokens, -1) if one.text in ("]", "}")}
    return " ".join(one.text for number, one in enumerate(tokens) if one.text != "," or number not in closed)


def _object(tokens: list[_JsonToken], first: int) -> _Object:
    """Returns the object that begins at a token. Raises ValueError if none does."""
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
                members[name] = begun, before.start + len(before.text)
            name = ""
            if token.text == "}":
                return _Object(tokens[first].start, token.start, members)
        elif token.text in ("}", "]"):
            depth -= 1
    raise ValueError("an object has no end")


def _add_member(text: str, within: _Object, name: str, value: Any) -> str:
    """Returns the text with one more member at the end of an object, formatted like its other members."""
    last = max((end for _, end in within.members.values()), default=within.start + 1)
    tail = text[last : within.end]
    if within.members and "\n" not in text[within.start : within.end]:
        return f"{text[:last]}, {json.dumps(name)}: {_format_value(text, last, value, multiline=False)}{text[last:]}"
    comma = "," if within.members and not _tokens(tail) else ""
    line = "\r\n" if "\r\n" in text else "\n"
    outer = _indent(text, within.start)
    starts = [start for start, _ in within.members.values()]
    inner = _indent(text, starts[-1]) if starts else outer + _indent_unit(text)
    member = _indented(
        f"{json.dumps(name)}: {json.dumps(value, indent=_indent_unit(text), ensure_ascii=False)}", inner, line
    )
    return f"{text[:last]}{comma}{tail.rstrip()}{line}{inner}{member}{line}{outer}{text[within.end :]}"


def _format_value(text: str, at: int, value: Any, multiline: bool) -> str:
    """Returns a value as JSON: on several lines with the indent of the position, or on one line."""
    if not multiline:
        return json.dumps(value, ensure_ascii=False)
    line = "\r\n" if "\r\n" in text else "\n"
    return _indented(json.dumps(value, indent=_indent_unit(text), ensure_ascii=False), _indent(text, at), line)


def _indented(text: str, indent: str, line: str) -> str:
    return f"{line}{indent}".join(text.split("\n"))


def _indent(text: str, at: int) -> str:
    """Returns the indent of the line at a position."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indent_unit(text: str) -> str:
    """Returns one level of indent as the text uses it."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else " " * _DEFAULT_INDENT
