"""The facts that the texts of a batch state: added, kept, or withdrawn when no text states them any more; and the facts
of nodes that are replaced or removed.

The facts of an entity that a rule made pass to the node that gets its name. When a file is removed, the facts that
others stated about its note stay.

A fact names the text it was read from (`source_ref`). When that text is removed, the fact is retracted; when it is
edited, the facts that it still states stay. They are written in the transaction that writes the texts. Only facts that
a model reads, which takes long and may fail, are written in a later transaction of their own; see `write.pipeline`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from cuetrail.errors import InputError
from cuetrail.extract.facts_by_rules import FIELD, USER, FactReader, Passage, Triple, from_fields
from cuetrail.extract.whose_voice import MACHINES, USERS, is_own_voice
from cuetrail.facts.beliefs import single_valued
from cuetrail.facts.resolve_entity import (
    UNTYPED,
    Resolved,
    entity_of,
    is_shared_name,
    norms_of,
    precedence,
    resolve_entity,
    subjects_of,
)
from cuetrail.model import FROM_FILE, Fact, Node, Scope
from cuetrail.model.ids import fact_id, named_node_id, source_id
from cuetrail.store.ports import Store
from cuetrail.store.read import HeldAt
from cuetrail.store.shared.fact_fields import ACTIVE, MADE_FOR_A_FACT, value_of
from cuetrail.store.write import Batch, Stated, Verdict
from cuetrail.text.normalise import norm_name
from cuetrail.write.links import LinkChange, resolve_links

MOST_COMPARED = 200
"""The number of unknown names in one transaction that are compared with similar names."""
MOST_CHECKED = 100
"""The number of facts leading to a note that are checked for whether others stated them."""


# --- facts of nodes that are replaced or removed


def take_over_facts(store: Store, scope: Scope, batch: Batch, arriving: Iterable[Node]) -> None:
    """Adds to `batch.successors`: each arriving node takes over the facts of entities with its name that a rule made.

    These entities are removed. So is an entity that a user made and that has nothing but the name.
    """
    made = (node for node in arriving if node.kind != "atom" and "found" not in node.props)
    by_norm = {norm: node for node in made for norm in norms_of(node)}
    named = store.named(scope, sorted(by_norm)) if by_norm else {}
    nodes = store.get(scope, sorted({id_ for ids in named.values() for id_ in ids}))
    for norm, ids in named.items():
        successor = by_norm[norm]
        replaced = (nodes[id_] for id_ in ids if id_ in nodes and _is_replaced_by(nodes[id_], successor))
        here = [node for node in replaced if (node.owner, node.team) == (scope.user, scope.share)]
        batch.successors |= {node.id: successor.id for node in here if node.id != successor.id}


def _is_replaced_by(node: Node, successor: Node) -> bool:
    """True if a node exists only for its facts, and `successor`, which has the same name, takes them over.

    Such a node was made by a rule, or by a user who stated a fact before saying what its subject is. A note replaces
    only the former: it may be about what the user means.
    """
    if dict(node.props) == MADE_FOR_A_FACT:
        return True
    has_more = node.text or node.aliases or node.tags or node.buckets or node.props
    return node.kind == UNTYPED and successor.kind not in (UNTYPED, "source") and not has_more


def keep_facts_of_removed_notes(store: Store, scope: Scope, batch: Batch, now: int) -> None:
    """Changes a batch so that facts about the notes it removes pass to another node of that name, or to a new entity.

    The facts that others stated about a deleted file stay; those that the file itself stated are history.
    """
    notes = [node for node in store.get(scope, batch.remove_nodes).values() if node.kind == "source" and node.name]
    successors = _successors_of(store, scope, notes, batch, now) if notes else {}
    batch.remove_nodes = [id_ for id_ in batch.remove_nodes if id_ not in successors]
    batch.successors |= {id_: node.id for id_, node in successors.items()}
    made = _made_for_facts(successors.values())
    batch.nodes = [*(node for node in batch.nodes if node.id not in made), *made.values()]
    if made:
        leaving = [*batch.remove_nodes, *batch.successors]
        resolve_links(store, scope, LinkChange(arriving=list(made.values()), leaving=leaving), batch, now)


def facts_outliving_forgotten(store: Store, scope: Scope, leaving: Sequence[Node], now: int) -> Batch:
    """Returns a batch that moves facts about notes, stated by other texts, to other nodes with the names of the notes.

    It is written before the notes in `leaving` are forgotten with their files.
    """
    notes = [node for node in leaving if node.kind == "source" and node.name]
    removal = Batch(remove_nodes=[node.id for node in leaving])
    successors = _successors_of(store, scope, notes, removal, now, own_facts=False) if notes else {}
    made = _made_for_facts(successors.values())
    return Batch(nodes=list(made.values()), fact_successors={id_: node.id for id_, node in successors.items()})


def _made_for_facts(nodes: Iterable[Node]) -> dict[str, Node]:
    """Returns, by id, copies of those nodes that a rule made (they have the property `found`). A copy has only the
    properties that mark a node as made for a fact.
    """
    return {node.id: replace(node, props=MADE_FOR_A_FACT) for node in nodes if "found" in node.props}


def _successors_of(
    store: Store, scope: Scope, notes: Sequence[Node], batch: Batch, now: int, own_facts: bool = True
) -> dict[str, Node]:
    """Returns, by note id, the node that takes over the facts about each of these notes, which are to be removed.

    That is another node of the user's with that name in the same partition, else a new entity. A note has none if
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
        successor = _namesake(note, every.values(), scope)
        by_others = [fact for fact in facts if fact.source_ref not in gone]
        if by_others or (own_facts and facts and (successor is None or successor.kind != "source")):
            found[note.id] = successor or entity_for(note.name or "", now)
    return found


def _namesake(note: Node, nodes: Iterable[Node], scope: Scope) -> Node | None:
    """Returns another node of the note's name in the same partition, None if there is none."""
    norm = norm_name(note.name or "")
    here = (node for node in nodes if (node.owner, node.team) == (note.owner, note.team) and node.kind != "atom")
    named = (node for node in here if norm in norms_of(node))
    return min(named, key=lambda node: (precedence(node, norm, scope), node.id), default=None)


def entity_for(name: str, now: int) -> Node:
    """Returns a new node that exists only as the subject of facts: a person if the name is "user", else an entity."""
    norm = norm_name(name)
    kind = "person" if norm == USER else "entity"
    return Node(named_node_id(kind, norm), kind, name, at=now, props=MADE_FOR_A_FACT, created=now, updated=now)


# --- facts that texts state


def passages_of(store: Store, scope: Scope, nodes: Sequence[Node]) -> list[Passage]:
    """Returns the texts among the nodes that may state facts: prose that people wrote, not in quarantine."""
    atoms = [n for n in nodes if n.kind == "atom" and n.source and n.text and not n.props.get("level")]
    atoms = [n for n in atoms if n.provenance != "quarantine" and not n.props.get("language") and "code" not in n.tags]
    files = {n.id: n for n in nodes if n.kind == "source"}
    missing = {source_id(atom.source or "") for atom in atoms} - files.keys()
    files |= store.get(scope, sorted(missing)) if missing else {}
    found = []
    for atom in atoms:
        file = files.get(source_id(atom.source or ""))
        speaker = str(atom.props.get("speaker") or USER)
        if file is None or speaker.casefold() in MACHINES:
            continue
        who = USER if speaker.casefold() in USERS else speaker
        if who == USER and (atom.provenance == "external" or not is_own_voice(file)):
            # In a text by somebody else it is unknown who "I" is.
            who = ""
        # The text of a chat turn begins with its speaker; the question that it answers may stand before it.
        label = f"{speaker}: "
        text = atom.text.removeprefix(label)
        if text == atom.text and f"\n{label}" in text:
            text = text.partition(f"\n{label}")[2]
        found.append(Passage(atom.id, text, file.name or "", who, file.props.get("format") == "chat"))
    return found


def extract_facts(store: Store, scope: Scope, batch: Batch, removed: Sequence[str], read: FactReader, now: int) -> None:
    """Adds to the batch the facts that `read` finds in its texts and frontmatter, and the retraction of facts whose
    texts are `removed` (ids) or no longer state them.
    """
    nodes = {node.id: node for node in batch.nodes}
    passages = passages_of(store, scope, batch.nodes)
    found = list(zip(passages, read(passages), strict=True)) if passages else []
    fields = [(node, _fields(node)) for node in batch.nodes if node.kind == "source"]
    take_over_facts(store, scope, batch, batch.nodes)
    made = _Extraction(store, scope, batch, [*removed, *batch.successors], now).add(found, fields, nodes)
    if made:
        resolve_links(store, scope, LinkChange(arriving=made), batch, now)
    _retract(store, scope, batch, [*removed, *(node.id for node, _ in fields)], now)


def _fields(file: Node) -> list[Triple]:
    """Returns the triples that the frontmatter of a note states; [] for other files and in quarantine."""
    if file.provenance == "quarantine" or file.props.get("format") != "note":
        return []
    # Properties that people put on the node of a file are not the file's.
    own = file.props.get(FROM_FILE, {}).get("props", ())
    given = {name: file.props[name] for name in own if name != "format" and name in file.props}
    return from_fields(given, file.name or "")


def _retract(store: Store, scope: Scope, batch: Batch, refs: Sequence[str], now: int) -> None:
    """Adds to the batch the retraction of the facts that were read from the texts `refs` (ids), unless the batch states
    them again.
    """
    if not refs:
        return
    restated: dict[Hashable, list[str | None]] = {}
    for one in batch.stated:
        for statement in _statements(one):
            restated.setdefault(statement, []).append(one.fact.source_ref)
    ending: dict[Hashable, list[Fact]] = {}
    extracted = chain.from_iterable(store.facts(scope, refs, "source_ref").values())
    for fact in sorted(extracted, key=lambda fact: fact.id):
        if fact.source != "user_edit":
            ending.setdefault((fact.subject, fact.predicate, value_of(fact)), []).append(fact)
    for statement, facts in ending.items():
        surviving = _surviving(facts, restated.get(statement, []), batch.successors)
        retracted = [fact for fact in facts if fact.source_ref not in surviving]
        batch.verdicts += [Verdict(fact.id, "retracted", now, "statement") for fact in retracted]
    batch.stated = [replace(one, gone=frozenset(refs)) for one in batch.stated]


def _surviving(facts: Sequence[Fact], restated: Sequence[str | None], successors: Mapping[str, str]) -> set[str | None]:
    """Returns the old texts, by id, whose statement is kept; the statements of all others are retracted. Kept are as
    many as there are texts that state it now: first the texts that state it themselves, then those whose successor
    states it, then those whose fact is active.

    `facts` are one statement, as stored for several old texts; `restated` are the ids of the texts that state it now;
    `successors` has the new id of each replaced text.
    """

    def rank(fact: Fact) -> tuple[bool, bool, bool]:
        ref = fact.source_ref or ""
        return ref not in restated, successors.get(ref) not in restated, fact.status not in ACTIVE

    refs = dict.fromkeys(fact.source_ref for fact in sorted(facts, key=rank))
    return set(list(refs)[: len(restated)])


def _statements(one: Stated) -> Iterator[Hashable]:
    """Yields subject, predicate and value of a fact. If the value is a node, also with its words as a literal value,
    because an earlier fact may have been stored like that.
    """
    yield one.fact.subject, one.fact.predicate, value_of(one.fact)
    if one.words is not None:
        yield one.fact.subject, one.fact.predicate, (None, norm_name(one.words))


class _Extraction:
    """Turns triples of words into facts: finds or makes the entities that their subjects and objects name."""

    def __init__(self, store: Store, scope: Scope, batch: Batch, gone: Iterable[str], now: int) -> None:
        self.store, self.scope, self.batch, self.gone, self.now = store, scope, batch, set(gone), now
        self.ids: dict[str, str] = {}
        self.subjects: dict[str, str] = {}
        self.made: list[Node] = []

    def add(
        self,
        found: Sequence[tuple[Passage, Sequence[Triple]]],
        fields: Sequence[tuple[Node, Sequence[Triple]]],
        nodes: Mapping[str, Node],
    ) -> list[Node]:
        """Adds the facts and the new entities to the batch; returns the new entities."""
        triples = [t for _, some in (*found, *fields) for t in some]
        if not triples:
            return []
        self._look_up({norm_name(word) for t in triples for word in (t.subject, t.value)})
        titles = {source_id(nodes[one.id].source or ""): one.title for one, some in found if some and one.id in nodes}
        titles |= {file.id: file.name or "" for file, some in fields if some}
        self.subjects = subjects_of(self.store, self.scope, titles, (self.scope.user, self.scope.share))
        facts: list[tuple[Fact, str]] = []
        for passage, some in found:
            node = nodes.get(passage.id)
            at = min(node.at, self.now) if node is not None else None
            source = "conversation" if passage.is_chat else "file"
            note = source_id(node.source or "") if node is not None else None
            for t in some:
                is_title = note is not None and t.subject == passage.title
                subject = self.subjects.get(note, note) if note and is_title else self._entity(t.subject)
                facts.append((self._fact(subject, t, source, passage.id, at if t.at is None else t.at), t.value))
        for file, some in fields:
            subject = self.subjects.get(file.id, file.id)
            facts += [(self._fact(subject, t, "file", file.id, None), t.value) for t in some]
        single = single_valued(self.store, self.scope, {fact.predicate for fact, _ in facts})
        self.batch.stated += [Stated(fact, fact.predicate in single, words) for fact, words in facts]
        return self.made

    def _look_up(self, norms: set[str]) -> None:
        """Looks up the nodes with these names, in the memory and in the batch, and stores their ids by name."""
        named = self.store.named(self.scope, sorted(norms))
        every = self.store.get(self.scope, sorted({id_ for ids in named.values() for id_ in ids}))
        for norm, ids in named.items():
            staying = [every[id_] for id_ in ids if id_ in every and id_ not in self.gone]
            if staying:
                best = min(staying, key=lambda n: (precedence(n, norm, self.scope), n.id))
                same = [n for n in staying if (n.owner, n.team) == (best.owner, best.team)]
                entity = entity_of(same, best.name or "") if best.kind == "source" else None
                self._use(norm, entity or best)
        for node in list(self.batch.nodes):
            for norm in norms_of(node) & norms:
                # Owner and team of a node in a batch are set only by the store.
                self._use(norm, replace(node, owner=self.scope.user, team=self.scope.share))

    def _use(self, norm: str, node: Node) -> None:
        """Stores a node as the meaning of a name, unless the name has one. Marks a shared-name entity as made for a
        fact, so that it stays when the name is no longer shared.
        """
        self.ids.setdefault(norm, node.id)
        if is_shared_name(node) and (node.owner, node.team) == (self.scope.user, self.scope.share):
            self.batch.nodes = [one for one in self.batch.nodes if one.id != node.id]
            self.batch.nodes.append(replace(node, props=MADE_FOR_A_FACT))

    def _entity(self, name: str) -> str:
        """Returns the id of the entity with this or a very similar name; makes one if there is none."""
        norm = norm_name(name)
        if norm not in self.ids:
            near = self._near(name) if len(self.ids) < MOST_COMPARED else None
            if near is None:
                made = entity_for(name, self.now)
                self.batch.nodes.append(made)
                self.made.append(made)
            self.ids[norm] = near.id if near is not None else made.id
        return self.ids[norm]

    def _near(self, name: str) -> Resolved | None:
        """Returns the entity with a very similar name; None if there is none, it is removed, or several match."""
        try:
            near = resolve_entity(self.store, self.scope, name)
        except InputError:
            return None
        return near if near is not None and near.id not in self.gone else None

    def _fact(self, subject: str, triple: Triple, source: str, ref: str, at: int | None) -> Fact:
        object_ = self.ids.get(norm_name(triple.value))
        object_ = object_ if object_ != subject else None
        value = None if object_ is not None else triple.value
        return Fact(
            fact_id(subject, triple.predicate, object_, triple.value), subject, triple.predicate, object_, value,
            triple.confidence, "staged", source, ref, "explicit" if triple.confidence == FIELD else "inference",
            created=self.now, valid_from=at,
        )  # fmt: skip
