"""Reads the canvases of Obsidian (JSON Canvas): cards with text, cards that show notes, groups, and arrows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cuetrail.errors import ReadError
from cuetrail.extract.links_and_tags import link_target_name
from cuetrail.files import load_json
from cuetrail.ingest.document import Document, Part, aliases, stem
from cuetrail.ingest.passages import compose
from cuetrail.text import document_dates
from cuetrail.text.normalise import clean

_KINDS = ("text", "file", "link", "group")
# A card's first line, so long, is its name in the list of arrows.
_NAME_CHARS = 80
MOST_CARDS, MOST_GROUPS = 20_000, 1_000
"""The most cards that are read, and the most groups whose labels count."""


@dataclass(frozen=True, slots=True)
class _Card:
    """One card: its kind, its text (a group's is its label), the note it shows, and its place on the canvas."""

    id: str
    kind: str
    text: str
    note: str
    box: tuple[float, float, float, float]

    def name(self) -> str:
        """Returns the name of the card in a list of arrows."""
        return self.note or self.text.strip().split("\n", 1)[0].lstrip("# ")[:_NAME_CHARS]

    def within(self, other: _Card) -> bool:
        """True if the middle of the card lies in the other one."""
        x, y = self.box[0] + self.box[2] / 2, self.box[1] + self.box[3] / 2
        left, top, width, height = other.box
        return left <= x <= left + width and top <= y <= top + height


def read(text: str, source: str) -> Document:
    """Returns a canvas as one document. Raises ReadError if it is not JSON Canvas."""
    value = _load(text, source)
    left_out = 0
    cards: dict[str, _Card] = {}
    for one in value.get("nodes") or []:
        if len(cards) < MOST_CARDS and isinstance(one, dict) and (card := _card(one)) is not None:
            cards[card.id] = card
        else:
            left_out += 1
    title = stem(source)
    arrows = [arrow for arrow in value.get("edges") or [] if isinstance(arrow, dict)]
    known = [one for one in arrows if str(one.get("fromNode")) in cards and str(one.get("toNode")) in cards]
    document = Document(
        path=source, title=title, kind="note", aliases=aliases(source, title), at=document_dates.from_name(title),
        own_links=tuple(dict.fromkeys(card.note for card in cards.values() if card.note)),
        read={"canvases": 1, "cards": len(cards), "arrows": len(known)},
        left_out={name: count for name, count in
                  (("cards that are not read", left_out), ("arrows without ends", len(arrows) - len(known))) if count},
    )  # fmt: skip
    return compose(document, [*_labelled(cards, known), *_parts(title, cards, known)])


def _load(text: str, source: str) -> Mapping[str, Any]:
    try:
        value = load_json(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise ReadError(f"{source} is no canvas ({error}). Open it in Obsidian and save it again.") from error
    if not isinstance(value, dict) or not all(isinstance(value.get(key, []), list) for key in ("nodes", "edges")):
        raise ReadError(f"{source} is no canvas: it has no lists of nodes and edges. Leave it out.")
    return value


def _card(given: Mapping[str, Any]) -> _Card | None:
    kind = given.get("type")
    if kind not in _KINDS or not isinstance(given.get("id"), str):
        return None
    words = {"text": "text", "file": "file", "link": "url", "group": "label"}[kind]
    text = given.get(words)
    text = clean(text).strip() if isinstance(text, str) else ""
    box = tuple(float(given[key]) if isinstance(given.get(key), (int, float)) else 0.0 for key in _BOX)
    note = link_target_name(text) if kind == "file" else ""
    return _Card(given["id"], kind, "" if kind == "file" else text, note, box)  # type: ignore[arg-type]  # four numbers


_BOX = ("x", "y", "width", "height")


def _parts(title: str, cards: Mapping[str, _Card], arrows: Sequence[Mapping[str, Any]]) -> list[Part]:
    """Returns a part for each card with text, those of a group below its label. An arrow becomes a link."""
    groups = [card for card in cards.values() if card.kind == "group" and card.text][:MOST_GROUPS]
    texts = [card for card in cards.values() if card.kind in ("text", "link") and card.text]
    links = _links(title, cards, arrows)
    inside: dict[str, list[Part]] = {}
    for card in sorted(texts, key=lambda one: (one.box[1], one.box[0], one.id)):
        around = min((one for one in groups if card.within(one)), key=lambda one: one.box[2] * one.box[3], default=None)
        part = Part(card.text, apart=True, links=tuple(links.get(card.id, ())), aliases=(_anchor(title, card),))
        inside.setdefault("" if around is None else around.id, []).append(part)
    found = inside.get("", [])
    for group in sorted(groups, key=lambda one: (one.box[1], one.box[0], one.id)):
        found += [Part(group.text, level=1, props={"heading": group.text}), *inside.get(group.id, [])]
    return found


def _links(title: str, cards: Mapping[str, _Card], arrows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, None]]:
    """Returns the names that each card links to: the cards and notes its arrows lead to, and notes that lead to it."""
    found: dict[str, dict[str, None]] = {}
    for arrow in arrows:
        start, end = cards[str(arrow["fromNode"])], cards[str(arrow["toNode"])]
        if end.note or end.text:
            found.setdefault(start.id, {})[end.note or _anchor(title, end)] = None
        if start.note:
            found.setdefault(end.id, {})[start.note] = None
    return found


def _anchor(title: str, card: _Card) -> str:
    return f"{title}#^{card.id}"


def _labelled(cards: Mapping[str, _Card], arrows: Sequence[Mapping[str, Any]]) -> list[Part]:
    """Returns one part with the labelled arrows, such as "Receiver → needs → Antenna"; [] if there are none."""
    lines, links = [], []
    for arrow in arrows:
        label = arrow.get("label")
        start, end = cards[str(arrow["fromNode"])], cards[str(arrow["toNode"])]
        if isinstance(label, str) and label.strip() and start.name() and end.name():
            lines.append(f"{start.name()} → {clean(label).strip()} → {end.name()}")
            links += [card.note for card in (start, end) if card.note]
    return [Part("\n".join(lines), level=0, apart=True, links=tuple(dict.fromkeys(links)))] if lines else []
