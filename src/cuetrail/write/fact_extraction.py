"""Facts read out of what is taken in: they are stated in the transaction that writes the texts they are from.

A fact names the text it was read out of (`source_ref`). When that text goes, the fact is retracted; when it is edited,
what it still says stays. What a model reads takes long and may fail, so it is stated
later, in a transaction of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from cuetrail.errors import InputError
from cuetrail.extract import facts as rules
from cuetrail.extract.facts import USER, Triple
from cuetrail.facts.resolve import Resolved, entity_of, precedence, resolve_entity, subjects_of
from cuetrail.model import FROM_FILE, Fact, Node, Scope
from cuetrail.model.ids import fact_id, source_id
from cuetrail.store.ports import Store
from cuetrail.store.shared.fact_validity import ACTIVE, MADE_FOR_A_FACT, Stated, Verdict, value_of
from cuetrail.store.write import Batch
from cuetrail.text.normalise import norm_name
from cuetrail.write.fact_transfer import entity_for, pass_on
from cuetrail.write.links import Change, is_found, norms_of, resolve

# Who a user is in a chat, and whose words are nobody's facts.
_USERS = frozenset({"user", "human", "me"})
_MACHINES = frozenset({"assistant", "system", "tool", "function", "ai", "bot", "model", "chatgpt", "claude"})
# So many unknown names of one transaction are looked for among those that are spelt nearly so.
MOST_COMPARED = 200


@dataclass(frozen=True, slots=True)
class Passage:
    """A text to read facts out of. `title` is what it is about, `speaker` who "I" is, empty if nobody knows."""

    id: str
    text: str
    title: str
    speaker: str = USER
    is_chat: bool = False


FactReader = Callable[[Sequence[Passage]], list[list[Triple]]]
"""From texts to what each of them states. Raises CuetrailError where it cannot."""

SingleValued = Callable[[Iterable[str]], set[str]]


def by_rules(passages: Sequence[Passage]) -> list[list[Triple]]:
    """What the rules find."""
    titles = {passage.title for passage in passages}
    return [
        rules.find(one.text, title=None if one.is_chat else one.title, speaker=one.speaker, known=titles)
        for one in passages
    ]


def passages_of(store: Store, scope: Scope, nodes: Sequence[Node]) -> list[Passage]:
    """The texts among these nodes that may state something: prose of people, not in quarantine."""
    atoms = [n for n in nodes if n.kind == "atom" and n.source and n.text and not n.props.get("level")]
    atoms = [n for n in atoms if n.provenance != "quarantine" and not n.props.get("language") and "code" not in n.tags]
    files = {n.id: n for n in nodes if n.kind == "source"}
    missing = {source_id(atom.source or "") for atom in atoms} - files.keys()
    files |= store.get(scope, sorted(missing)) if missing else {}
    found = []
    for atom in atoms:
        file = files.get(source_id(atom.source or ""))
        speaker = str(atom.props.get("speaker") or USER)
        if file is None or speaker.casefold() in _MACHINES:
            continue
        who = USER if speaker.casefold() in _USERS else speaker
        if who == USER and atom.provenance == "external":
            # Nobody knows who "I" is in what others wrote.
            who = ""
        # A turn begins with who speaks.
        text = atom.text.removeprefix(f"{speaker}: ")
        found.append(Passage(atom.id, text, file.name or "", who, file.props.get("format") == "chat"))
    return found


def state(
    store: Store, scope: Scope, batch: Batch, gone: Sequence[str], read: FactReader, single: SingleValued, now: int
) -> None:
    """Add to a batch of what is taken in the facts its texts state, and the end of those whose texts are `gone`."""
    nodes = {node.id: node for node in batch.nodes}
    passages = passages_of(store, scope, batch.nodes)
    found = list(zip(passages, read(passages), strict=True)) if passages else []
    fields = [(node, _fields(node)) for node in batch.nodes if node.kind == "source"]
    pass_on(store, scope, batch, batch.nodes)
    made = _State(store, scope, batch, [*gone, *batch.successors], now).put(found, fields, nodes, single)
    if made:
        resolve(store, scope, Change(arriving=made), batch, now)
    _end(store, scope, batch, [*gone, *(node.id for node, _ in fields)], now)


def _fields(file: Node) -> list[Triple]:
    """What the frontmatter of a note states of it."""
    if file.provenance == "quarantine" or file.props.get("format") != "note":
        return []
    # What people put on the node of a file is theirs.
    own = file.props.get(FROM_FILE, {}).get("props", ())
    given = {name: file.props[name] for name in own if name != "format" and name in file.props}
    return rules.from_fields(given, file.name or "")


def _end(store: Store, scope: Scope, batch: Batch, refs: Sequence[str], now: int) -> None:
    """Retract what was read out of texts that go, or of fields that changed, and is not stated again."""
    if not refs:
        return
    again: dict[Hashable, list[str | None]] = {}
    for one in batch.stated:
        for said in _said(one):
            again.setdefault(said, []).append(one.fact.source_ref)
    gone: dict[Hashable, list[Fact]] = {}
    extracted = chain.from_iterable(store.facts(scope, refs, "source_ref").values())
    for fact in sorted(extracted, key=lambda fact: fact.id):
        if fact.source != "user_edit":
            gone.setdefault((fact.subject, fact.predicate, value_of(fact)), []).append(fact)
    for said, facts in gone.items():
        living_on = _living_on(facts, again.get(said, []), batch.successors)
        ending = [fact for fact in facts if fact.source_ref not in living_on]
        batch.verdicts += [Verdict(fact.id, "retracted", now, "statement") for fact in ending]
    batch.stated = [replace(one, gone=frozenset(refs)) for one in batch.stated]


def _living_on(facts: Sequence[Fact], again: Sequence[str | None], successors: Mapping[str, str]) -> set[str | None]:
    """Of texts that go those whose statement lives on in a text that says it again: in each, one."""

    def rank(fact: Fact) -> tuple[bool, bool, bool]:
        ref = fact.source_ref or ""
        return ref not in again, successors.get(ref) not in again, fact.status not in ACTIVE

    refs = dict.fromkeys(fact.source_ref for fact in sorted(facts, key=rank))
    return set(list(refs)[: len(again)])


def _said(one: Stated) -> Iterator[Hashable]:
    """What is stated, also as it may be known so far: with a text for its object."""
    yield one.fact.subject, one.fact.predicate, value_of(one.fact)
    if one.words is not None:
        yield one.fact.subject, one.fact.predicate, (None, norm_name(one.words))


class _State:
    """Triples on their way to facts: who their subjects and objects are."""

    def __init__(self, store: Store, scope: Scope, batch: Batch, gone: Iterable[str], now: int) -> None:
        self.store, self.scope, self.batch, self.gone, self.now = store, scope, batch, set(gone), now
        self.ids: dict[str, str] = {}
        self.about: dict[str, str] = {}
        self.made: list[Node] = []

    def put(
        self,
        found: Sequence[tuple[Passage, Sequence[Triple]]],
        fields: Sequence[tuple[Node, Sequence[Triple]]],
        nodes: Mapping[str, Node],
        single: SingleValued,
    ) -> list[Node]:
        """Add the facts, and the entities that are new; these come back."""
        triples = [t for _, some in (*found, *fields) for t in some]
        if not triples:
            return []
        self._look_up({norm_name(word) for t in triples for word in (t.subject, t.value)})
        titles = {source_id(nodes[one.id].source or ""): one.title for one, some in found if some and one.id in nodes}
        titles |= {file.id: file.name or "" for file, some in fields if some}
        self.about = subjects_of(self.store, self.scope, titles, (self.scope.user, self.scope.share))
        facts: list[tuple[Fact, str]] = []
        for passage, some in found:
            node = nodes.get(passage.id)
            at = min(node.at, self.now) if node is not None else None
            source = "conversation" if passage.is_chat else "file"
            about = source_id(node.source or "") if node is not None else None
            for t in some:
                is_title = about is not None and t.subject == passage.title
                subject = self.about.get(about, about) if about and is_title else self._entity(t.subject)
                facts.append((self._fact(subject, t, source, passage.id, at if t.at is None else t.at), t.value))
        for file, some in fields:
            subject = self.about.get(file.id, file.id)
            facts += [(self._fact(subject, t, "file", file.id, None), t.value) for t in some]
        declared = single({fact.predicate for fact, _ in facts})
        self.batch.stated += [Stated(fact, fact.predicate in declared, words) for fact, words in facts]
        return self.made

    def _look_up(self, norms: set[str]) -> None:
        """Which names are known, in the memory or by what is taken in with them."""
        named = self.store.named(self.scope, sorted(norms))
        every = self.store.get(self.scope, sorted({id_ for ids in named.values() for id_ in ids}))
        for norm, ids in named.items():
            staying = [every[id_] for id_ in ids if id_ in every and id_ not in self.gone]
            if staying:
                best = min(staying, key=lambda n: (precedence(n, norm, self.scope), n.id))
                same = [n for n in staying if (n.owner, n.team) == (best.owner, best.team)]
                entity = entity_of(same, best.name or "") if best.kind == "source" else None
                self._keep(norm, entity or best)
        for node in list(self.batch.nodes):
            for norm in norms_of(node) & norms:
                # Whose it is only the store writes down.
                self._keep(norm, replace(node, owner=self.scope.user, team=self.scope.share))

    def _keep(self, norm: str, node: Node) -> None:
        """Use a node for a name. One that a rule made of a shared name must outlive the sharing."""
        self.ids.setdefault(norm, node.id)
        if is_found(node) and (node.owner, node.team) == (self.scope.user, self.scope.share):
            self.batch.nodes = [one for one in self.batch.nodes if one.id != node.id]
            self.batch.nodes.append(replace(node, props=MADE_FOR_A_FACT))

    def _entity(self, name: str) -> str:
        """The id of the entity of this name, which is made if nothing is called nearly so."""
        norm = norm_name(name)
        if norm not in self.ids:
            near = self._near(name) if len(self.ids) < MOST_COMPARED else None
            self.ids[norm] = near.id if near is not None else self._made(name)
        return self.ids[norm]

    def _near(self, name: str) -> Resolved | None:
        """Who is called nearly so and stays; nobody where that may be several."""
        try:
            near = resolve_entity(self.store, self.scope, name)
        except InputError:
            return None
        return near if near is not None and near.id not in self.gone else None

    def _made(self, name: str) -> str:
        made = entity_for(name, self.now)
        self.batch.nodes.append(made)
        self.made.append(made)
        return made.id

    def _fact(self, subject: str, triple: Triple, source: str, ref: str, at: int | None) -> Fact:
        object_ = self.ids.get(norm_name(triple.value))
        object_ = object_ if object_ != subject else None
        value = None if object_ is not None else triple.value
        return Fact(
            fact_id(subject, triple.predicate, object_, triple.value), subject, triple.predicate, object_, value,
            triple.confidence, "staged", source, ref, "explicit" if triple.confidence == rules.FIELD else "inference",
            created=self.now, valid_from=at,
        )  # fmt: skip
