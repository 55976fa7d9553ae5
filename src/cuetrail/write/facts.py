"""States facts, confirms and retracts them, and declares predicates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from cuetrail.errors import Forgotten, InputError, NotFound
from cuetrail.facts.beliefs import single_valued
from cuetrail.facts.resolve_entity import UNTYPED, resolve_entity
from cuetrail.model import Fact, Node
from cuetrail.model.predicates import declaration
from cuetrail.session import Session
from cuetrail.store.read import facts_by_id, forgotten_ids
from cuetrail.store.shared.fact_fields import begins, ends_of, holds, until, value_of
from cuetrail.store.shared.fact_timeline import as_stated
from cuetrail.store.shared.ids import own_nodes
from cuetrail.store.shared.tombstones import SHORTEST
from cuetrail.store.write import Batch, Stated, Verdict
from cuetrail.text.normalise import norm_name, norm_tag
from cuetrail.validation.records import make_fact, make_node
from cuetrail.write.links import LinkChange
from cuetrail.write.pipeline import adopt, write


def state_fact(
    session: Session, subject: str, predicate: str, object_: str, kind: str | None, given: Mapping[str, Any], now: int
) -> Fact:
    """Writes a fact, and its subject if that is unknown; returns the fact as stored, with the times it is valid.

    Raises InputError for an ambiguous name, and Forgotten if the subject or the value was forgotten.
    """
    if not norm_name(subject):
        raise InputError("a fact needs a subject")
    store, scope = session.store, session.scope
    batch = Batch(refuse_forgotten=True)
    kind = norm_tag(kind) if kind else None
    known = resolve_entity(store, scope, subject, kind)
    if known is None:
        batch.nodes.append(make_node({"name": subject, "kind": kind or UNTYPED}, now))
    subject_id = known.id if known is not None else batch.nodes[0].id
    entity = resolve_entity(store, scope, object_, fuzzy=False) if object_.strip() else None
    fact = make_fact(subject_id, predicate, entity.id if entity is not None else None, object_, given, now)
    batch.nodes += adopt(session, ends_of(fact), now)
    batch.nodes += _with_kind(session, subject_id, kind, batch.nodes) if known is not None else []
    single = bool(single_valued(store, scope, [fact.predicate]))
    batch.stated.append(Stated(fact, single, object_ if entity is not None else None))
    try:
        write(session, batch, now, links=LinkChange(arriving=list(batch.nodes)))
    except Forgotten as error:
        what = subject if forgotten_ids(store, scope, batch.nodes) else object_
        raise Forgotten(f"{what!r} was forgotten and stays so: `add` it with allow_again=True first") from error
    _unarchive(session, fact, now)
    return _as_stored(session, fact)


def _with_kind(session: Session, id_: str, kind: str | None, adopted: list[Node]) -> list[Node]:
    """Returns [the node with the given kind] if its kind is UNTYPED, and removes the node from `adopted`; else []."""
    here = [*adopted, *own_nodes(session.store, session.scope, [id_]).get(session.scope, [])]
    found = next((node for node in here if node.id == id_), None)
    if found is None or kind in (None, UNTYPED) or found.kind != UNTYPED:
        return []
    adopted[:] = [node for node in adopted if node.id != id_]
    return [replace(found, kind=kind)]


def _unarchive(session: Session, fact: Fact, now: int) -> None:
    """Counts archived entities of the fact as used, which takes them out of the archive."""
    ends = session.store.get(session.scope, list(ends_of(fact))).values()
    archived = [node.id for node in ends if node.life.state == "archived"]
    if archived:
        session.store.touch(session.scope, archived, now)


def _as_stored(session: Session, fact: Fact) -> Fact:
    """Returns the stored form of a fact that was just written: it may have ended at once, or have existed before."""
    found = facts_by_id(session.store, session.scope, [fact.id]).get(fact.id)
    if found is not None and holds(found, begins(fact)):
        return found
    # Of the facts with the same content one that holds, else the one just stated.
    return min(
        _same(session, fact),
        key=lambda f: (not holds(f, begins(fact)), f.created != fact.created, f.id != fact.id),
        default=fact,
    )


def _same(session: Session, fact: Fact) -> list[Fact]:
    """Returns all facts with the same subject, predicate and value."""
    every = session.store.facts(session.scope, [fact.subject]).get(fact.subject, [])
    return [f for f in every if f.predicate == fact.predicate and value_of(f) == value_of(fact)]


def judge_fact(session: Session, id_: str, status: Literal["confirmed", "retracted"], now: int) -> Fact:
    """Confirms or retracts a fact and returns it as stored then.

    Raises NotFound if the fact is missing or a teammate's; InputError if it was retracted before, or if a superseded
    fact is to be confirmed.
    """
    store, scope = session.store, session.scope
    fact = facts_by_id(store, scope, [id_]).get(id_)
    if fact is None:
        raise NotFound(f"there is no fact {id_!r} in this scope; `cuetrail fact list SUBJECT` shows their ids")
    if as_stated(fact).status == "retracted" or (fact.status, status) == ("superseded", "confirmed"):
        raise InputError(f"the fact {id_!r} is {fact.status}: state it again if it holds after all")
    write(session, Batch(verdicts=[Verdict(id_, status, now)]), now)
    judged = facts_by_id(store, scope, [id_]).get(id_) or _remainder(session, fact)
    if as_stated(judged).status != status:
        raise NotFound(f"the fact {id_!r} is a teammate's: only who stated it can judge it")
    return judged


def _remainder(session: Session, fact: Fact) -> Fact:
    """Returns the latest remaining period of a statement after the record with the fact's id was removed; the fact
    itself if none remains.
    """
    same = _same(session, fact)
    left = [f for f in same if (f.created, f.source_ref) == (fact.created, fact.source_ref)]
    return max(left, key=until, default=fact)


def declare_predicate(session: Session, predicate: str, single: bool, now: int) -> str:
    """Declares that a predicate has one value at a time, or many; returns its normal form. Raises InputError if that is
    empty, and Forgotten if the predicate is a forgotten text.
    """
    norm = norm_tag(predicate)
    if not norm:
        raise InputError("there is no predicate to declare: name one, such as works_at")
    scope = session.scope
    if len(norm) >= SHORTEST and forgotten_ids(session.store, scope, [Node(norm, text=predicate)]):
        raise Forgotten(f"{predicate!r:.60} was forgotten and stays so: declare another name for the predicate")
    session.store.settings[declaration(scope.tenant, scope.user, norm)] = "single" if single else "many"
    write(session, Batch(declared={norm: single}), now)
    return norm
