"""Moves facts from a node that goes, or turns out to be something else, to the node that takes its place.

The facts of an entity that a rule made pass to the node that gets its name. When a file is removed, the facts that
others stated about its note stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from cuetrail.extract.facts import USER
from cuetrail.facts.resolve import UNTYPED, norms_of, precedence
from cuetrail.model import Node, Scope
from cuetrail.model.ids import named_node_id
from cuetrail.store.ports import Store
from cuetrail.store.read import HeldAt
from cuetrail.store.shared.fact_validity import MADE_FOR_A_FACT
from cuetrail.store.write import Batch
from cuetrail.text.normalise import norm_name
from cuetrail.write.links import LinkChange, resolve_links

MOST_CHECKED = 100
"""The number of facts leading to a note that are checked for whether others stated them."""


def take_over_facts(store: Store, scope: Scope, batch: Batch, arriving: Iterable[Node]) -> None:
    """Makes arriving nodes the successors of entities that a rule made and that have the same name.

    A node that a user adds also succeeds an entity of that name that has nothing but its name.
    """
    made = (node for node in arriving if node.kind != "atom" and "found" not in node.props)
    heirs = {norm: node for node in made for norm in norms_of(node)}
    named = store.named(scope, sorted(heirs)) if heirs else {}
    nodes = store.get(scope, sorted({id_ for ids in named.values() for id_ in ids}))
    for norm, ids in named.items():
        heir = heirs[norm]
        replaced = (nodes[id_] for id_ in ids if id_ in nodes and _is_replaced_by(nodes[id_], heir))
        here = [node for node in replaced if (node.owner, node.team) == (scope.user, scope.share)]
        batch.successors |= {node.id: heir.id for node in here if node.id != heir.id}


def _is_replaced_by(node: Node, heir: Node) -> bool:
    """True if a node exists only for its facts, and these belong to `heir`, which has its name.

    Such a node was made by a rule, or by a user who stated a fact before saying what its subject is. A note replaces
    only the former: it may be about what the user means.
    """
    if dict(node.props) == MADE_FOR_A_FACT:
        return True
    has_more = node.text or node.aliases or node.tags or node.buckets or node.props
    return node.kind == UNTYPED and heir.kind not in (UNTYPED, "source") and not has_more


def keep_facts_of_removed_notes(store: Store, scope: Scope, batch: Batch, now: int) -> None:
    """Passes the facts about notes that a batch removes to another node of that name, or to an entity made for them.

    The facts that others stated about a deleted file stay; those that the file itself stated are history.
    """
    notes = [node for node in store.get(scope, batch.remove_nodes).values() if node.kind == "source" and node.name]
    heirs = _heirs(store, scope, notes, batch, now) if notes else {}
    batch.remove_nodes = [id_ for id_ in batch.remove_nodes if id_ not in heirs]
    batch.successors |= {id_: heir.id for id_, heir in heirs.items()}
    made = _made_for_facts(heirs.values())
    batch.nodes = [*(node for node in batch.nodes if node.id not in made), *made.values()]
    if made:
        leaving = [*batch.remove_nodes, *batch.successors]
        resolve_links(store, scope, LinkChange(arriving=list(made.values()), leaving=leaving), batch, now)


def facts_outliving_forgotten(store: Store, scope: Scope, leaving: Sequence[Node], now: int) -> Batch:
    """Returns a batch that passes others' facts about notes on, before the notes are forgotten with their files."""
    notes = [node for node in leaving if node.kind == "source" and node.name]
    removal = Batch(remove_nodes=[node.id for node in leaving])
    heirs = _heirs(store, scope, notes, removal, now, own_facts=False) if notes else {}
    made = _made_for_facts(heirs.values())
    return Batch(nodes=list(made.values()), heirs={id_: heir.id for id_, heir in heirs.items()})


def _made_for_facts(nodes: Iterable[Node]) -> dict[str, Node]:
    """Returns, by id, those of the nodes that a rule made, marked as made for a fact."""
    return {node.id: replace(node, props=MADE_FOR_A_FACT) for node in nodes if "found" in node.props}


def _heirs(
    store: Store, scope: Scope, notes: Sequence[Node], batch: Batch, now: int, own_facts: bool = True
) -> dict[str, Node]:
    """Returns, by note id, the node that takes over the facts of each note that goes.

    That is another node of the user's with that name in the same partition, else a new entity. A note has no heir if
    nothing is stated about it, or if only its own file states something and another note has its name; without
    `own_facts`, its own file's facts do not count.
    """
    gone = {*batch.remove_nodes, *batch.successors, *(note.id for note in notes)}
    ids = [note.id for note in notes]
    about, inward = store.facts(scope, ids), store.facts(scope, ids, held=HeldAt(now, MOST_CHECKED, "in"))
    named = store.named(scope, sorted({norm_name(note.name or "") for note in notes}))
    every = store.get(scope, sorted({id_ for some in named.values() for id_ in some} - gone))
    every |= {node.id: replace(node, owner=scope.user, team=scope.share) for node in batch.nodes if node.name}
    found: dict[str, Node] = {}
    for note in notes:
        facts = [*about.get(note.id, ()), *inward.get(note.id, ())]
        heir = _namesake(note, every.values(), scope)
        by_others = [fact for fact in facts if fact.source_ref not in gone]
        if by_others or (own_facts and facts and (heir is None or heir.kind != "source")):
            found[note.id] = heir or entity_for(note.name or "", now)
    return found


def _namesake(note: Node, nodes: Iterable[Node], scope: Scope) -> Node | None:
    """Returns another node of the note's name in the same partition, None if there is none."""
    norm = norm_name(note.name or "")
    here = (node for node in nodes if (node.owner, node.team) == (note.owner, note.team) and node.kind != "atom")
    named = (node for node in here if norm in norms_of(node))
    return min(named, key=lambda node: (precedence(node, norm, scope), node.id), default=None)


def entity_for(name: str, now: int) -> Node:
    """Returns a new entity that exists to have a fact stated about it."""
    norm = norm_name(name)
    kind = "person" if norm == USER else "entity"
    return Node(named_node_id(kind, norm), kind, name, at=now, props=MADE_FOR_A_FACT, created=now, updated=now)
