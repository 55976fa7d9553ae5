"""Who inherits what is stated of something that goes, or that turns out to be something else.

What a rule made an entity of passes to what gets its name. When a file goes, what others stated of its name stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from cuetrail.extract.facts import USER
from cuetrail.facts.resolve import UNTYPED, precedence
from cuetrail.model import Node, Scope
from cuetrail.model.ids import named_node_id
from cuetrail.store.ports import Store
from cuetrail.store.shared.fact_validity import MADE_FOR_A_FACT
from cuetrail.store.write import Batch
from cuetrail.text.normalise import norm_name
from cuetrail.write.links import Change, norms_of, resolve

# Of the facts that lead to a note so many are looked at, to see whether others state something of it.
MOST_LOOKED_AT = 100


def pass_on(store: Store, scope: Scope, batch: Batch, arriving: Iterable[Node]) -> None:
    """Let what was stated of entities that a rule made pass to what is called so and arrives with a batch: notes, and
    what a user adds. To what he adds passes also what was stated of a name alone.
    """
    made = (node for node in arriving if node.kind != "atom" and "found" not in node.props)
    heirs = {norm: node for node in made for norm in norms_of(node)}
    named = store.named(scope, sorted(heirs)) if heirs else {}
    nodes = store.get(scope, sorted({id_ for ids in named.values() for id_ in ids}))
    for norm, ids in named.items():
        heir = heirs[norm]
        mine = (nodes[id_] for id_ in ids if id_ in nodes and _leaves_all_to(nodes[id_], heir))
        here = [node for node in mine if (node.owner, node.team) == (scope.user, scope.share)]
        batch.successors |= {node.id: heir.id for node in here if node.id != heir.id}


def _leaves_all_to(node: Node, heir: Node) -> bool:
    """Whether a node is there for its facts alone, which are then of what gets its name: a rule made it, or a statement
    of a user who had not said yet what it is. To a note only the former passes: it may be about what the user means.
    """
    if dict(node.props) == MADE_FOR_A_FACT:
        return True
    has_more = node.text or node.aliases or node.tags or node.buckets or node.props
    return node.kind == UNTYPED and heir.kind not in (UNTYPED, "source") and not has_more


def outlive(store: Store, scope: Scope, batch: Batch, now: int) -> None:
    """Let what is stated of notes that go with a batch pass to what else is called so, or to an entity that is made for
    it: when a file is deleted, what others said of its name stays, and what it said itself is history.
    """
    notes = [node for node in store.get(scope, batch.remove_nodes).values() if node.kind == "source" and node.name]
    heirs = heirs_of(store, scope, notes, batch, now) if notes else {}
    batch.remove_nodes = [id_ for id_ in batch.remove_nodes if id_ not in heirs]
    batch.successors |= {id_: heir.id for id_, heir in heirs.items()}
    made = {heir.id: replace(heir, props=MADE_FOR_A_FACT) for heir in heirs.values() if "found" in heir.props}
    batch.nodes = [*(node for node in batch.nodes if node.id not in made), *made.values()]
    if made:
        leaving = [*batch.remove_nodes, *batch.successors]
        resolve(store, scope, Change(arriving=list(made.values()), leaving=leaving), batch, now)


def outlive_forgotten(store: Store, scope: Scope, leaving: Sequence[Node], now: int) -> Batch:
    """What lets others' facts of notes that are to be forgotten with their files outlive them."""
    notes = [node for node in leaving if node.kind == "source" and node.name]
    going = Batch(remove_nodes=[node.id for node in leaving])
    heirs = heirs_of(store, scope, notes, going, now, history=False) if notes else {}
    made = {heir.id: replace(heir, props=MADE_FOR_A_FACT) for heir in heirs.values() if "found" in heir.props}
    return Batch(nodes=list(made.values()), heirs={id_: heir.id for id_, heir in heirs.items()})


def heirs_of(
    store: Store, scope: Scope, notes: Sequence[Node], batch: Batch, now: int, history: bool = True
) -> dict[str, Node]:
    """Who inherits the facts of notes that go: what else the user has of that name in the same place, else an entity to
    be made. Nobody where nothing is stated of a note, or only by its own file and another note has its name; without
    `history` what its own file states does not count at all.
    """
    gone = {*batch.remove_nodes, *batch.successors, *(note.id for note in notes)}
    ids = [note.id for note in notes]
    told, inward = store.facts(scope, ids), store.beliefs(scope, ids, now, MOST_LOOKED_AT, "in")
    named = store.named(scope, sorted({norm_name(note.name or "") for note in notes}))
    every = store.get(scope, sorted({id_ for some in named.values() for id_ in some} - gone))
    every |= {node.id: replace(node, owner=scope.user, team=scope.share) for node in batch.nodes if node.name}
    found: dict[str, Node] = {}
    for note in notes:
        facts = [*told.get(note.id, ()), *inward.get(note.id, ())]
        heir = _namesake(note, every.values(), scope)
        theirs = [fact for fact in facts if fact.source_ref not in gone]
        if theirs or (history and facts and (heir is None or heir.kind != "source")):
            found[note.id] = heir or entity_for(note.name or "", now)
    return found


def _namesake(note: Node, nodes: Iterable[Node], scope: Scope) -> Node | None:
    """What else is called as a note is, in the same place."""
    norm = norm_name(note.name or "")
    here = (node for node in nodes if (node.owner, node.team) == (note.owner, note.team) and node.kind != "atom")
    named = (node for node in here if norm in norms_of(node))
    return min(named, key=lambda node: (precedence(node, norm, scope), node.id), default=None)


def entity_for(name: str, now: int) -> Node:
    """An entity that is made to state a fact of."""
    norm = norm_name(name)
    kind = "person" if norm == USER else "entity"
    return Node(named_node_id(kind, norm), kind, name, at=now, props=MADE_FOR_A_FACT, created=now, updated=now)
