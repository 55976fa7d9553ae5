"""Merges two nodes that mean the same person, concept or thing: one takes over what the other has, which is removed."""

from __future__ import annotations

from dataclasses import replace

from cuetrail.errors import InputError, NotFound
from cuetrail.facts.find_node import require_node
from cuetrail.model import Merged, Node, Scope, Tag, Version
from cuetrail.model.records import SEMANTIC_KINDS
from cuetrail.session import Session
from cuetrail.store.shared.ids import own_nodes
from cuetrail.store.write import Batch
from cuetrail.text.normalise import norm_name
from cuetrail.write.links import LinkChange, resolve_links
from cuetrail.write.pipeline import write

# How many edges of the node are counted for the report.
MOST_COUNTED = 1_000
# The property by which rules know the nodes that they made, and may remove: a person has stated this one now.
_MADE_BY_RULE = "found"


def merge(session: Session, gone: str, kept: str, dry_run: bool, now: int) -> Merged:
    """Merges the node `gone` into `kept`, both given by id or name, and returns what passed on.

    Raises NotFound for an unknown node or another user's, InputError for two nodes that cannot be merged, and Forgotten
    if a name or text that would pass on was forgotten before.
    """
    scope, (old, new) = _own(session, gone, kept)
    merged = _merged(old, new, now)
    versions, own = (session.store.history(scope, node.id) for node in (old, new))
    report = _report(session, old, merged, new)
    if dry_run:
        return report
    batch = Batch(
        nodes=[merged], successors={old.id: new.id}, versions=_moved(versions, own, new), remove_versions=versions,
        refuse_forgotten=True,
    )  # fmt: skip
    resolve_links(session.store, scope, LinkChange(arriving=[merged], leaving=[old.id]), batch, now)
    # Its name means the other node now; what was stated about it passes on before it goes.
    batch.remove_nodes = [id_ for id_ in batch.remove_nodes if id_ not in (old.id, new.id)]
    write(session, batch, now, scope=scope)
    stored = session.store.get(session.scope, [new.id]).get(new.id, merged)
    return replace(report, node=stored)


def _own(session: Session, gone: str, kept: str) -> tuple[Scope, tuple[Node, Node]]:
    """Returns both nodes, with the scope that writes to their partition."""
    ids = [require_node(session.store, session.scope, one) for one in (gone, kept)]
    if ids[0] == ids[1]:
        raise InputError(f"{gone!r} and {kept!r} are one node already: name two")
    homes = own_nodes(session.store, session.scope, ids)
    found = {node.id: (scope, node) for scope, nodes in homes.items() for node in nodes}
    if len(found) < len(ids):
        raise NotFound(f"{gone!r} or {kept!r} belongs to somebody else: only its owner can merge it")
    (scope, old), (other, new) = (found[id_.partition("@@")[0]] for id_ in ids)
    if scope != other:
        raise InputError(f"{gone!r} and {kept!r} are not shared with the same team: merge those that are")
    for node in (old, new):
        if node.kind not in SEMANTIC_KINDS or node.name is None or node.source is not None:
            raise InputError(
                f"{node.name or node.id!r} is a {node.kind}{' of a file' if node.source else ''}: only people, "
                "concepts and things with a name can be merged"
            )
    return scope, (old, new)


def _merged(old: Node, new: Node, now: int) -> Node:
    """Returns `new` with the names, text, tags, buckets and properties of `old` added to its own."""
    names = {norm_name(name): name for name in reversed((*new.aliases, old.name or "", *old.aliases)) if name}
    names.pop(norm_name(new.name or ""), None)
    tags: dict[str, Tag] = {tag.name: tag for tag in (*old.tag_details, *new.tag_details)}
    own = [tags[name] for name in dict.fromkeys(tag.name for tag in (*new.tag_details, *old.tag_details))]
    texts = dict.fromkeys(text for text in (new.text, old.text) if text)
    props = {**old.props, **new.props}
    props.pop(_MADE_BY_RULE, None)
    return replace(
        new, aliases=tuple(reversed(names.values())), text="\n\n".join(texts), tag_details=tuple(own),
        buckets=tuple(dict.fromkeys((*new.buckets, *old.buckets))), props=props, updated=now,
        simhash=new.simhash if new.text == "\n\n".join(texts) else None,
    )  # fmt: skip


def _moved(versions: list[Version], own: list[Version], new: Node) -> list[Version]:
    """Returns versions as those of the node `new`, none at a time at which it has one of its own."""
    taken = {version.at for version in own}
    moved = []
    for version in versions:
        at = version.at
        while at in taken:
            at += 1
        taken.add(at)
        moved.append(replace(version, id=new.id, at=at))
    return moved


def _report(session: Session, old: Node, merged: Node, new: Node) -> Merged:
    store, scope = session.store, session.scope
    facts = store.facts(scope, [old.id]).get(old.id, [])
    near = store.neighbours(scope, [old.id], MOST_COUNTED)
    notes = store.notes(scope, [old.id], "node", merged.updated, MOST_COUNTED).get(old.id, [])
    aliases = tuple(name for name in merged.aliases if name not in new.aliases)
    return Merged(merged, old, aliases, len(facts), near[old.id].degree if old.id in near else 0, len(notes))
