"""Adds nodes to a memory, and edits them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from cuetrail.errors import NotFound
from cuetrail.facts.resolve import is_shared_name, require_node
from cuetrail.model import Node, Tag
from cuetrail.session import Session
from cuetrail.store.shared.ids import own_nodes
from cuetrail.store.write import Batch, Progress, Written
from cuetrail.validation.records import make_node, make_nodes
from cuetrail.write.links import LinkChange
from cuetrail.write.pipeline import write

NODES_PER_WRITE = 16_000
"""The nodes in one transaction. More write each page of the index of ids less often, fewer let other writers in."""


def add(session: Session, given: Mapping[str, Any], allow_again: bool, now: int) -> Node:
    """Writes one node, made from the arguments of `Memory.add`, and returns it as stored. Raises Forgotten."""
    node = make_node(given, now)
    _write_new(session, [node], allow_again, now, refuse_forgotten=True)
    # Another process may have forgotten it in the meantime; the node as it was written is returned then.
    return session.store.get(session.scope, [node.id]).get(node.id, node)


def add_many(
    session: Session,
    items: Iterable[str | Mapping[str, Any] | Node],
    allow_again: bool,
    progress: Progress | None,
    now: int,
) -> Written:
    """Writes many nodes, in transactions of NODES_PER_WRITE. Nodes that were forgotten are left out."""
    nodes = make_nodes(items, now)
    total, done = Written(), 0
    with session.store.bulk():
        while some := list(islice(nodes, NODES_PER_WRITE)):
            total = total.plus(_write_new(session, some, allow_again, now))
            done += len(some)
            if progress:
                progress("adding", done, 0)
    return total


def _write_new(
    session: Session, nodes: list[Node], allow_again: bool, now: int, refuse_forgotten: bool = False
) -> Written:
    named = LinkChange(arriving=[node for node in nodes if node.name is not None or node.aliases])
    batch = Batch(nodes=nodes, allow_again=allow_again)
    return write(session, batch, now, links=named, refuse_forgotten=refuse_forgotten, take_over=True)


def edit(session: Session, id_or_name: str, given: Mapping[str, Any], allow_again: bool, now: int) -> Node:
    """Changes the given fields of a node and returns it; a field that is None stays. Raises NotFound and Forgotten."""
    id_ = require_node(session.store, session.scope, id_or_name)
    homes = own_nodes(session.store, session.scope, [id_])
    if not homes:
        raise NotFound(f"{id_!r} belongs to somebody else: only its owner can edit it")
    (partition, (node,)), *_ = homes.items()
    changed = _edited(node, {key: value for key, value in given.items() if value is not None}, now)
    renamed = changed.name != node.name or changed.aliases != node.aliases
    names = LinkChange(arriving=[changed] if renamed else [])
    batch = Batch(nodes=[changed], allow_again=allow_again)
    write(session, batch, now, scope=partition, links=names, refuse_forgotten=True)
    return session.store.get(session.scope, [id_]).get(id_, changed)


def _edited(node: Node, given: dict[str, Any], now: int) -> Node:
    """Returns the node with the given fields, each made valid as `add` does. Raises InputError."""
    as_is = {"id": node.id, "kind": node.kind, "name": node.name, "text": node.text, "at": node.at}
    made = make_node({**as_is, **given}, now)
    fields: dict[str, Any] = {
        key: getattr(made, key) for key in ("text", "name", "aliases", "buckets", "at") if key in given
    }
    if "tags" in given:
        fields["tag_details"] = _tags(made.tag_details, node.tag_details)
    if made.text != node.text:
        # The near duplicates of the old text are not those of the new one.
        fields["simhash"] = None
    return replace(node, **fields, updated=now)


def _tags(given: tuple[Tag, ...], before: tuple[Tag, ...]) -> tuple[Tag, ...]:
    """Returns the tags that a person gives now, followed by those that rules found before."""
    names = {tag.name for tag in given}
    return (*given, *(tag for tag in before if tag.origin != "user" and tag.name not in names))


def adopt(session: Session, ids: Iterable[str], now: int) -> list[Node]:
    """Turns nodes that a rule made into nodes of the user's own, so that statements about them outlive the rule.

    Nodes of the user's other partitions are written at once; those of the session's own are returned, to be written
    together with the statement.
    """
    adopted = {
        partition: [
            replace(node, props={}) for node in nodes if is_shared_name(node) or node.props.get("found") == "fact"
        ]
        for partition, nodes in own_nodes(session.store, session.scope, list(ids)).items()
    }
    here = adopted.pop(session.scope, [])
    for partition, nodes in adopted.items():
        if nodes:
            write(session, Batch(nodes=nodes), now, scope=partition)
    return here
