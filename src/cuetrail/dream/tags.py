"""The tags that dreams give: which of an atom's tags a pass may change.

A pass changes only tags of its own origin; tags of users and files take precedence, then those of the more specific
pass.
"""

from __future__ import annotations

from collections.abc import Sequence

from cuetrail.model import Origin, Tag
from cuetrail.model.tags import is_path_tag
from cuetrail.store.dream import Atom

# A tag has one origin. Tags from users and files come first, then these, the most specific first.
DREAM_ORIGINS: tuple[Origin, ...] = ("auto", "infected", "temporal")
# The most tags about topics that dreams give an atom: those of the origins "auto" and "infected" together.
MOST_TOPICS = 5


def retag(atom: Atom, origin: Origin, wanted: Sequence[Tag]) -> tuple[Tag, ...] | None:
    """Returns the atom's tags with `wanted` in place of its dream tags of this origin; None if nothing changes."""
    if not atom.tags:
        return tuple(wanted) or None
    given: list[Tag] = []
    dreamt: dict[Origin, list[Tag]] = {one: [] for one in DREAM_ORIGINS}
    for tag in atom.tags:
        # The common case, inlined: a function call for each tag would double the time.
        if tag.origin == "infected" and not atom.borrowed:
            dreamt["infected"].append(tag)
        else:
            (dreamt[tag.origin] if is_from_dream(atom, tag) else given).append(tag)
    names = {tag.name for tag in given}
    for one in DREAM_ORIGINS:
        for tag in wanted if one == origin else dreamt[one]:
            if tag.name not in names:
                names.add(tag.name)
                given.append(tag)
    tags = tuple(given)
    return None if tags == atom.tags else tags


def is_from_dream(atom: Atom, tag: Tag) -> bool:
    """True if a dream gave the tag, and not a user, the atom's path or a near duplicate."""
    if tag.origin == "user":
        return False
    return tag.name not in atom.borrowed if tag.origin == "infected" else not is_path_tag(tag)
