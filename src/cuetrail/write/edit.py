"""Edits nodes: changes the given fields of a node, and keeps the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cuetrail.errors import InputError, NotFound
from cuetrail.facts.find_node import require_node
from cuetrail.model import STORYLINE_KINDS, Node
from cuetrail.session import Session
from cuetrail.store.shared.ids import own_nodes
from cuetrail.store.write import Batch
from cuetrail.text.titles import without_topics_in
from cuetrail.validation.records import make_node
from cuetrail.write.links import LinkChange
from cuetrail.write.pipeline import write

# Files and what dreams write about others: rules depend on these kinds.
_FIXED_KINDS = frozenset({"source", *STORYLINE_KINDS})


def edit(session: Session, id_or_name: str, given: Mapping[str, Any], allow_again: bool, now: int) -> Node:
    """Changes the given fields of a node, and returns it as stored; a field that is None stays. Raises InputError for
    invalid fields, NotFound for a node that is missing or another user's, and Forgotten if it says what was forgotten.
    """
    id_ = require_node(session.store, session.scope, id_or_name)
    homes = own_nodes(session.store, session.scope, [id_])
    if not homes:
        raise NotFound(f"{id_!r} belongs to somebody else: only its owner can edit it")
    (partition, (node,)), *_ = homes.items()
    changed = _edited(node, {key: value for key, value in given.items() if value is not None}, now)
    renamed = changed.name != node.name or changed.aliases != node.aliases
    names = LinkChange(arriving=[changed] if renamed else [])
    batch = Batch(nodes=[changed], allow_again=allow_again, refuse_forgotten=True)
    write(session, batch, now, scope=partition, links=names)
    return session.store.get(session.scope, [id_]).get(id_, changed)


def _edited(node: Node, given: dict[str, Any], now: int) -> Node:
    """Returns the node with the given fields, each made valid as `add` does. Raises InputError for invalid fields, and
    for a kind that cannot be changed.
    """
    as_is = {
        "id": node.id,
        "kind": node.kind,
        "name": node.name,
        "text": node.text,
        "at": node.at,
        "source": node.source,
    }
    made = make_node({**as_is, **given}, now)
    fields: dict[str, Any] = {
        key: getattr(made, key) for key in ("text", "kind", "name", "aliases", "buckets", "at") if key in given
    }
    if made.kind != node.kind and not _FIXED_KINDS.isdisjoint((made.kind, node.kind)):
        raise InputError(
            f"the kind {node.kind} cannot become {made.kind}: files and summaries keep their kind, others cannot get it"
        )
    if "tags" in given:
        # The tags that a person gives now, followed by those that rules found before.
        found = (tag for tag in node.tag_details if tag.origin != "user" and tag.name not in made.tags)
        fields["tag_details"] = (*made.tag_details, *found)
    if made.text != node.text:
        # The new text has other near duplicates and other topics.
        fields["simhash"] = None
        fields["props"] = {**made.props, **without_topics_in(node.props, node.text)}
    return replace(node, **fields, updated=now)
