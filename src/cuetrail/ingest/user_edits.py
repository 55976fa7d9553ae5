"""What people put on the nodes of a file, told from what ingest made of it, so that it outlives edits and renames.

The node that stands for a document keeps a record of what its file states: tags, buckets, aliases, properties. The rest
is by hand. Tags in a paragraph's text are found in that text again. A document without a record is one that an earlier
version took in: nothing of it counts as made by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cuetrail.extract import tags as extract
from cuetrail.model import FROM_FILE, Node, Tag
from cuetrail.model.tags import make_tags
from cuetrail.write import near_duplicates
from cuetrail.write.quarantine import still_aside

Records = Mapping[str | None, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ByHand:
    """What a person added to a node. `leads` says that a bucket of theirs is the primary one."""

    tags: tuple[Tag, ...] = ()
    buckets: tuple[str, ...] = ()
    leads: bool = False
    name: str | None = None
    aliases: tuple[str, ...] = ()
    props: Mapping[str, Any] = field(default_factory=dict)
    valid_from: int | None = None
    valid_until: int | None = None


def records(nodes: Iterable[Node]) -> Records:
    """The records that the nodes of documents hold, by their paths."""
    kept = {node.source: node.props.get(FROM_FILE) for node in nodes if node.kind == "source"}
    return {path: record for path, record in kept.items() if isinstance(record, dict)}


def told_from(node: Node, record: Mapping[str, Any] | None) -> ByHand:
    """What of a stored node is by hand, by the record of its document; nothing where there is none."""
    if record is None:
        return ByHand()
    node = near_duplicates.own(node)
    is_atom = node.kind == "atom"
    stated = {*record.get("tags", ()), *(tag.name for tag in make_tags(extract.find(node.text)))}
    buckets = tuple(bucket for bucket in node.buckets if bucket not in record.get("buckets", ()))
    names = {*record.get("atom_props" if is_atom else "props", ()), FROM_FILE}
    return ByHand(
        tags=tuple(tag for tag in node.tag_details if tag.origin == "user" and tag.name not in stated),
        buckets=buckets,
        leads=bool(buckets) and node.buckets[0] == buckets[0],
        name=node.name if is_atom else None,
        aliases=tuple(alias for alias in node.aliases if is_atom or alias not in record.get("aliases", ())),
        props={name: value for name, value in node.props.items() if name not in names},
        valid_from=node.valid_from,
        valid_until=node.valid_until,
    )


def put_on(node: Node, added: ByHand) -> Node:
    """The node as its file states it, with what was added by hand. Where both say something the file is right."""
    if added == ByHand():
        return node
    buckets = (*added.buckets, *node.buckets) if added.leads else (*node.buckets, *added.buckets)
    whole = replace(
        node,
        tag_details=node.tag_details + tuple(tag for tag in added.tags if tag.name not in node.tags),
        buckets=tuple(dict.fromkeys(buckets)),
        name=node.name or added.name,
        aliases=tuple(dict.fromkeys((*node.aliases, *added.aliases))),
        props={**added.props, **node.props},
        valid_from=added.valid_from,
        valid_until=added.valid_until,
    )
    return still_aside(whole)
