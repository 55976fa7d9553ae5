"""Tags, names and properties that users added to the nodes of a file, which stay when it is edited or renamed.

The source node lists what its file states (FROM_FILE); all else was added by users. Tags in a text are found again in
that text. If the list is missing, an earlier version ingested the source, and nothing on its nodes counts as a user's
edit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cuetrail.extract.links_and_tags import find_tags
from cuetrail.model import FROM_FILE, Node, Tag
from cuetrail.model.records import FORMER, into_quarantine
from cuetrail.model.tags import make_tags
from cuetrail.write import near_duplicate_tags

Stated = Mapping[str | None, Mapping[str, Any]]
"""The labels and properties that each file states, by source."""


@dataclass(frozen=True, slots=True)
class UserEdits:
    """The additions of users to a node of a file. `leads` is True if their first bucket is the node's primary one."""

    tags: tuple[Tag, ...] = ()
    buckets: tuple[str, ...] = ()
    leads: bool = False
    name: str | None = None
    aliases: tuple[str, ...] = ()
    props: Mapping[str, Any] = field(default_factory=dict)
    valid_from: int | None = None
    valid_until: int | None = None


def stated_by_files(nodes: Iterable[Node]) -> Stated:
    """Returns, by source, the tags, buckets, aliases and properties that each file states about itself.

    They are listed on the nodes of kind `source` among these nodes; other nodes are ignored.
    """
    stated = {node.source: node.props.get(FROM_FILE) for node in nodes if node.kind == "source"}
    return {source: fields for source, fields in stated.items() if isinstance(fields, dict)}


def user_edits_on(node: Node, stated: Mapping[str, Any] | None) -> UserEdits:
    """Returns the additions of users to a stored node: all that `stated` does not list; none if `stated` is None."""
    if stated is None:
        return UserEdits()
    node = near_duplicate_tags.without_borrowed(node)
    is_atom = node.kind == "atom"
    tags = {*stated.get("tags", ()), *(tag.name for tag in make_tags(find_tags(node.text)))}
    buckets = tuple(bucket for bucket in node.buckets if bucket not in stated.get("buckets", ()))
    names = {*stated.get("atom_props" if is_atom else "props", ()), FROM_FILE}
    return UserEdits(
        tags=tuple(tag for tag in node.tag_details if tag.origin == "user" and tag.name not in tags),
        buckets=buckets,
        leads=bool(buckets) and node.buckets[0] == buckets[0],
        name=node.name if is_atom else None,
        aliases=tuple(alias for alias in node.aliases if alias not in stated.get("aliases", ())),
        props={name: value for name, value in node.props.items() if name not in names},
        valid_from=node.valid_from,
        valid_until=node.valid_until,
    )


def with_edits(node: Node, added: UserEdits) -> Node:
    """Returns the node as its file states it, with the users' additions. If both give a property or a name, the file
    wins; the users' period of validity, leading bucket and quarantine are kept.
    """
    if added == UserEdits():
        return node
    buckets = (*added.buckets, *node.buckets) if added.leads else (*node.buckets, *added.buckets)
    # Of two passages that were joined, the second name becomes an alias.
    other = (added.name,) if added.name and node.name and added.name != node.name else ()
    edited = replace(
        node,
        tag_details=node.tag_details + tuple(tag for tag in added.tags if tag.name not in node.tags),
        buckets=tuple(dict.fromkeys(buckets)),
        name=node.name or added.name,
        aliases=tuple(dict.fromkeys((*node.aliases, *added.aliases, *other))),
        props={**added.props, **node.props},
        valid_from=node.valid_from if added.valid_from is None else added.valid_from,
        valid_until=node.valid_until if added.valid_until is None else added.valid_until,
    )
    # A person may have put it into quarantine; then it stays there.
    return into_quarantine(edited) if FORMER in edited.props else edited
