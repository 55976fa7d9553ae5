"""Brief: a summary for the start of a conversation, within a budget.

It has the user's beliefs, goals and relationships, and what happened in the last seven days.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from cuetrail.formulas import DAY
from cuetrail.model import Budget, Edge, Fact, Node, Scope, TextQuery, Where
from cuetrail.model.ids import source_id
from cuetrail.model.records import SEMANTIC_KINDS
from cuetrail.recall.render.text import budget_measure
from cuetrail.recall.stage_types import Measure
from cuetrail.store.graph import EdgeFilter, StepQuery
from cuetrail.store.ports import Store
from cuetrail.store.read import PageRequest
from cuetrail.text.normalise import norm_name, snippet

if TYPE_CHECKING:
    from cuetrail.session import Session

BRIEF_BUDGET = Budget(tokens=1300)
BELIEFS, GOALS, RELATIONSHIPS, RECENT = 10, 5, 10, 20
LAST = 7 * DAY
# The most characters of a line.
WIDTH = 200
OWNERS = ("me", "user")
WANTED = ("goal", "wants", "plans", "aims_at")
# How many of the newest atoms are searched for those without a source.
ATOMS = 200
# How many of the owner's strongest relationships are read.
RELATED = 200


@dataclass(frozen=True, slots=True)
class Brief:
    """A summary: `text` within the budget, and all lines of each section, also those the budget had no room for.

    `ids` are the nodes that the text shows.
    """

    text: str
    owner: str
    beliefs: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    relationships: tuple[str, ...] = ()
    recent: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        lists = {name: list(getattr(self, name)) for name in ("beliefs", "goals", "relationships", "recent", "ids")}
        return {"text": self.text, "owner": self.owner, **lists}


Line = tuple[str, str | None]
"""A line of the text, and the id of the node it shows."""


def brief(session: Session, budget: Budget, count_tokens: Measure | None, record_access: bool, now: int) -> Brief:
    """Returns the brief of this user. With `record_access`, the access count of the nodes in its text grows by one."""
    size, measure, _ = budget_measure(budget, count_tokens)
    found = make_brief(session.store, session.scope, now, size, measure)
    if record_access and found.ids:
        session.store.touch(session.scope, list(found.ids), now)
    if record_access:
        session.count_answer(found.text, session.store.get(session.scope, found.ids).values(), now)
    return found


def make_brief(store: Store, scope: Scope, now: int, size: int, measure: Measure) -> Brief:
    """Returns the brief of this user, with a text of at most `size` units of `measure`."""
    owner = owner_of(store, scope)
    facts = _believed(store.facts(scope, [owner.id]).get(owner.id, []) if owner else [], now)
    names = _names(store, scope, facts)
    core = store.page(scope, PageRequest(2 * BELIEFS, Where(kinds=("belief", *SEMANTIC_KINDS)), order="salience"))
    held = {node.id: node for node in (*(one.node for one in core), *_newest(store, scope, "belief", BELIEFS))}
    beliefs: list[Line] = [(_line(node), id_) for id_, node in held.items() if owner is None or id_ != owner.id]
    beliefs += [(_stated(fact, names), None) for fact in facts if fact.predicate not in WANTED]
    goals: list[Line] = [(_line(node), node.id) for node in _newest(store, scope, "goal", GOALS)]
    goals += [(_stated(fact, names), None) for fact in facts if fact.predicate in WANTED]
    parts = (
        ("Beliefs", beliefs[:BELIEFS]),
        ("Goals", goals[:GOALS]),
        ("Relationships", _relationships(store, scope, owner, now)),
        ("Last 7 days", [(_dated(node), node.id) for node in _recent(store, scope, now)]),
    )
    title = snippet(_line(owner), WIDTH) if owner else scope.user
    lines: list[Line] = [(f"# {title}", owner.id if owner else None), *_lines(parts)]
    text, kept = _fitted([line for line, _ in lines], size, measure)
    ids = dict.fromkeys(id_ for _, id_ in lines[:kept] if id_ is not None)
    sections = [tuple(line for line, _ in some) for _, some in parts]
    return Brief(text, title, sections[0], sections[1], sections[2], sections[3], tuple(ids))


def owner_of(store: Store, scope: Scope) -> Node | None:
    """Returns the node of the user: one with the user's name, or the user's own node `me` or `user`; people first."""
    norms = [norm_name(name) for name in (scope.user, *OWNERS)]
    named = store.named(scope, norms)
    nodes = store.get(scope, [id_ for norm in norms for id_ in named.get(norm, [])])
    called = named.get(norms[0], [])
    mine = [node for node in nodes.values() if node.owner == scope.user or node.id in called]
    order = sorted(mine, key=lambda node: node.kind != "person")
    return next((node for node in order if Where(kinds=SEMANTIC_KINDS).admits(node)), None)


def _believed(facts: Sequence[Fact], now: int) -> list[Fact]:
    """Returns those of the facts that are valid now and neither superseded nor retracted."""
    return [
        fact
        for fact in facts
        if fact.status in ("staged", "confirmed")
        and (fact.valid_from is None or fact.valid_from <= now)
        and (fact.valid_until is None or now < fact.valid_until)
    ]


def _names(store: Store, scope: Scope, facts: Sequence[Fact]) -> dict[str, str]:
    nodes = store.get(scope, [fact.object for fact in facts if fact.object is not None])
    return {id_: node.name or node.id for id_, node in nodes.items()}


def _stated(fact: Fact, names: dict[str, str]) -> str:
    value = fact.value if fact.object is None else names.get(fact.object, fact.object)
    return snippet(f"{fact.predicate}: {value}", WIDTH)


def _newest(
    store: Store, scope: Scope, kind: str, limit: int, since: int | None = None, until: int | None = None
) -> list[Node]:
    found = store.text(scope, TextQuery(""), limit, Where(kinds=(kind,), since=since, until=until), nodes=True)
    return [one.node for one in found if one.node is not None]


def _relationships(store: Store, scope: Scope, owner: Node | None, now: int) -> list[Line]:
    """Returns a line for each of the owner's relationships, closest first, with the id of the other node."""
    if owner is None:
        return []
    query = StepQuery((owner.id,), RELATED, "both", EdgeFilter(at=now, stated=True), Where(kinds=SEMANTIC_KINDS))
    steps = [step for step in store.steps(scope, query)[owner.id] if step.other != owner.id]
    steps.sort(key=lambda step: _closeness(step.edge))
    nodes = store.get(scope, [step.other for step in steps[:RELATIONSHIPS]])
    return [
        (_related(nodes[step.other], step.edge), step.other) for step in steps[:RELATIONSHIPS] if step.other in nodes
    ]


def _closeness(edge: Edge) -> tuple[int, int, int, str]:
    return (-(edge.proximity or 0), -(edge.attitude or 0), -edge.updated, edge.id)


def _related(node: Node, edge: Edge) -> str:
    levels = [
        f"{name} {value}" for name, value in (("attitude", edge.attitude), ("proximity", edge.proximity)) if value
    ]
    parts = [f"{node.name or node.id} ({edge.type or edge.kind})", *levels, *([edge.text] if edge.text else [])]
    return snippet(", ".join(parts), WIDTH)


def _recent(store: Store, scope: Scope, now: int) -> list[Node]:
    """Returns the newest files, and the newest atoms that belong to no file, of the last seven days, newest first."""
    sources = _newest(store, scope, "source", RECENT, now - LAST, now)
    atoms = _newest(store, scope, "atom", ATOMS, now - LAST, now)
    known = store.get(scope, sorted({source_id(node.source) for node in atoms if node.source is not None}))
    single = [node for node in atoms if node.source is None or source_id(node.source) not in known]
    return sorted([*sources, *single], key=lambda node: (-node.at, node.id))[:RECENT]


def _line(node: Node) -> str:
    said = node.text or str(node.props.get("summary") or "")
    return snippet(": ".join(part for part in (node.name, said) if part), WIDTH)


def _dated(node: Node) -> str:
    return f"{datetime.fromtimestamp(node.at / 1000, UTC):%Y-%m-%d} {_line(node)}"


def _lines(parts: Sequence[tuple[str, Sequence[Line]]]) -> Iterator[Line]:
    for title, lines in parts:
        if lines:
            yield f"\n## {title}", None
            yield from ((f"- {line}", id_) for line, id_ in lines)


def _fitted(lines: Sequence[str], size: int, measure: Measure) -> tuple[str, int]:
    """Returns the text of as many lines as fit, and their number. A heading is left out if no line below it fits."""
    text, kept = "", 0
    for number, line in enumerate(lines):
        longer = f"{text}\n{line}" if text else line
        below = f"{longer}\n{lines[number + 1]}" if line.startswith("\n## ") else longer
        if measure(below) > size:
            break
        text, kept = longer, number + 1
    return text, kept
