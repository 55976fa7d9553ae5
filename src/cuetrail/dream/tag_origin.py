"""Whose tag is whose. A pass changes the tags of its own origin and never another; a user's tag stands above all."""

from __future__ import annotations

from collections.abc import Sequence

from cuetrail.model import Origin, Tag
from cuetrail.model.tags import is_path_tag
from cuetrail.store.dream import Atom

# A tag has one origin: what people and files gave comes first, then these. What says most of a text stands in front.
DREAMT: tuple[Origin, ...] = ("auto", "infected", "temporal")


def relabelled(atom: Atom, origin: Origin, wanted: Sequence[Tag]) -> tuple[Tag, ...] | None:
    """The atom's tags with these in place of those that dreams gave it by this origin; None when that is no change."""
    if not atom.tags:
        return tuple(wanted) or None
    given: list[Tag] = []
    dreamt: dict[Origin, list[Tag]] = {one: [] for one in DREAMT}
    for tag in atom.tags:
        # The most of them; a call for each would take as long as all the rest.
        if tag.origin == "infected" and not atom.borrowed:
            dreamt["infected"].append(tag)
        else:
            (dreamt[tag.origin] if is_dreamt(atom, tag) else given).append(tag)
    names = {tag.name for tag in given}
    for one in DREAMT:
        for tag in wanted if one == origin else dreamt[one]:
            if tag.name not in names:
                names.add(tag.name)
                given.append(tag)
    tags = tuple(given)
    return None if tags == atom.tags else tags


def is_dreamt(atom: Atom, tag: Tag) -> bool:
    """Whether a dream gave the tag: neither a user did, nor the atom's path, nor a near duplicate."""
    if tag.origin == "user":
        return False
    return tag.name not in atom.borrowed if tag.origin == "infected" else not is_path_tag(tag)
