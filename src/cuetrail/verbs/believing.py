"""The verbs on facts: state, confirm and retract them, see what is and was believed, and have it told."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import NamedTuple

from cuetrail.errors import Forgotten, InputError, NotFound
from cuetrail.facts.predicates import one_each, single_valued
from cuetrail.facts.resolve import UNTYPED, resolve_entity
from cuetrail.model import Budget, Direction, Fact, Node, Scope, Stats, Where
from cuetrail.recall import recipes
from cuetrail.recall.anchor.text_and_vector import Ask, Measure
from cuetrail.recall.narrative import Matter, Narrative, gather, renewed, tell
from cuetrail.recall.narrative_cache import Answers, Question
from cuetrail.recall.query import Cue, parse_cue
from cuetrail.recall.render.text import budget_measure
from cuetrail.store.read import facts_by_id, own_nodes
from cuetrail.store.shared.fact_timeline import as_stated
from cuetrail.store.shared.fact_validity import (
    EVER,
    Stated,
    Verdict,
    begins,
    declaration,
    ends_of,
    holds,
    until,
    value_of,
)
from cuetrail.store.write import Batch, Written
from cuetrail.text.normalise import norm_name, norm_tag
from cuetrail.text.timestamps import now_ms
from cuetrail.validation.arguments import checked
from cuetrail.validation.records import make_fact, make_node, make_telling
from cuetrail.verbs.asking import DEFAULT_BUDGET, Asking
from cuetrail.write.links import Change, is_found, resolve

PREWARMED = 20


def _normal(cue: Cue) -> Cue:
    """The cue in small letters: in whatever case it is asked, the answer is the same."""
    words, phrases = norm_name(cue.query.words), tuple(map(norm_name, cue.query.phrases))
    return replace(cue, query=replace(cue.query, words=words, phrases=phrases))


def _is_echo(fact: Fact, other: Fact | None) -> bool:
    """Whether a text says nothing but what another one does."""
    return other is not None and until(fact) <= begins(fact) and value_of(fact) == value_of(other)


class Kept(NamedTuple):
    """A narrative that may be told again, what it was made of, and how much that had been used."""

    told: Narrative
    matter: Matter
    uses: Hashable


class Believing(Asking):
    """The part of a `Memory` that believes."""

    _narratives: Answers[Kept]

    def _write(self, batch: Batch, scope: Scope | None = None) -> Written:
        """Write a batch with the vectors of its nodes."""
        return self._vectors.write(scope or self.scope, batch)

    def _adopted(self, *ids: str) -> list[Node]:
        """Of these nodes, those a rule found, as nodes of their own: what is stated of them must outlive the rule.

        Those of the user's other places are written there; the others come back, to be written with what is stated.
        """
        adopted = {
            place: [replace(node, props={}) for node in nodes if is_found(node) or node.props.get("found") == "fact"]
            for place, nodes in own_nodes(self.store, self.scope, ids).items()
        }
        here = adopted.pop(self.scope, [])
        for place, nodes in adopted.items():
            if nodes:
                self._write(Batch(nodes=nodes), place)
        return here

    def _typed(self, id_: str, kind: str | None, adopted: list[Node]) -> list[Node]:
        """The node with its kind, where nobody had given it one; it takes the place of the one that is adopted."""
        here = [*adopted, *own_nodes(self.store, self.scope, [id_]).get(self.scope, [])]
        found = next((node for node in here if node.id == id_), None)
        if found is None or kind in (None, UNTYPED) or found.kind != UNTYPED:
            return []
        adopted[:] = [node for node in adopted if node.id != id_]
        return [replace(found, kind=kind)]

    def _single(self, predicates: Iterable[str]) -> set[str]:
        return single_valued(self.store, self.scope, predicates)

    # --- stating

    @checked
    def fact(
        self,
        subject: str,
        predicate: str,
        object: str,
        *,
        confidence: float = 0.9,
        source: str = "user_edit",
        source_ref: str | None = None,
        kind: str | None = None,
        tags: Iterable[str] = (),
        valid_from: int | None = None,
        valid_until: int | None = None,
        now: int | None = None,
    ) -> Fact:
        """State that subject - predicate - object; the fact comes back, as it stands now among the others.

        Subject and object are ids or names; a name may differ in case, accents and a letter or two. An unknown subject
        becomes an entity of this `kind`; an unknown object is a literal value. Of a predicate with one value at a time
        a value of confidence .9 or more ends the one before; a less certain one is kept as history alone.
        """
        if not norm_name(subject):
            raise InputError("a fact needs a subject")
        moment = now_ms() if now is None else now
        batch = Batch()
        kind = norm_tag(kind) if kind else None
        known = resolve_entity(self.store, self.scope, subject, kind)
        if known is None:
            batch.nodes.append(make_node({"name": subject, "kind": kind or UNTYPED}, moment))
        subject_id = known.id if known is not None else batch.nodes[0].id
        meant = resolve_entity(self.store, self.scope, object, fuzzy=False) if object.strip() else None
        given = {
            "confidence": confidence, "source": source, "source_ref": source_ref, "tags": tags,
            "valid_from": valid_from, "valid_until": valid_until,
        }  # fmt: skip
        fact = make_fact(subject_id, predicate, meant.id if meant is not None else None, object, given, moment)
        batch.nodes += self._adopted(*ends_of(fact))
        batch.nodes += self._typed(subject_id, kind, batch.nodes) if known is not None else []
        batch.stated.append(Stated(fact, bool(self._single([fact.predicate])), object if meant is not None else None))
        resolve(self.store, self.scope, Change(arriving=list(batch.nodes)), batch, moment)
        written = self._write(batch)
        if written.forgotten:
            raise Forgotten(f"{subject!r} was forgotten and stays so: `add` it with allow_again=True first")
        self._wake(fact, moment)
        return self._as_it_stands(fact)

    def _wake(self, fact: Fact, now: int) -> None:
        """Let what is spoken of be seen: an entity that faded into the archive is of use again."""
        ends = self.store.get(self.scope, list(ends_of(fact))).values()
        faded = [node.id for node in ends if node.life.state == "archived"]
        if faded:
            self.store.touch(self.scope, faded, now)

    def _as_it_stands(self, fact: Fact) -> Fact:
        """The fact as it was fitted in: it may have ended at once, or be one that was there."""
        found = facts_by_id(self.store, self.scope, [fact.id]).get(fact.id)
        if found is not None and holds(found, begins(fact)):
            return found
        alike = self.store.facts(self.scope, [fact.subject]).get(fact.subject, [])
        same = [f for f in alike if f.predicate == fact.predicate and value_of(f) == value_of(fact)]
        # What was just stated, if it holds, else what became of it.
        rank = {f.id: (not holds(f, begins(fact)), f.created != fact.created, f.id != fact.id) for f in same}
        return min(same, key=lambda f: rank[f.id], default=fact)

    @checked
    def confirm(self, id: str, *, now: int | None = None) -> Fact:
        """Confirm a fact, given by its id; it comes back."""
        return self._judged(id, "confirmed", now)

    @checked
    def retract(self, id: str, *, now: int | None = None) -> Fact:
        """Take a fact, given by its id, back: from now on it is history. It comes back as it is then.

        Of a predicate with one value at a time the value that it had superseded holds again.
        """
        return self._judged(id, "retracted", now)

    def _judged(self, id_: str, status: str, now: int | None) -> Fact:
        fact = facts_by_id(self.store, self.scope, [id_]).get(id_)
        if fact is None:
            raise NotFound(f"there is no fact {id_!r} in this scope; `cuetrail fact list SUBJECT` shows their ids")
        if as_stated(fact).status == "retracted" or (fact.status, status) == ("superseded", "confirmed"):
            raise InputError(f"the fact {id_!r} is {fact.status}: state it again if it holds after all")
        moment = now_ms() if now is None else now
        verdict = Verdict(id_, "confirmed" if status == "confirmed" else "retracted", moment)
        self._write(Batch(verdicts=[verdict]))
        judged = facts_by_id(self.store, self.scope, [id_]).get(id_) or self._rest_of(fact)
        if as_stated(judged).status != status:
            raise NotFound(f"the fact {id_!r} is a teammate's: only who stated it can judge it")
        return judged

    def _rest_of(self, fact: Fact) -> Fact:
        """What is left of a statement a stretch of which is gone: taken back, it ends before that would begin."""
        alike = self.store.facts(self.scope, [fact.subject]).get(fact.subject, [])
        same = [f for f in alike if (f.predicate, value_of(f)) == (fact.predicate, value_of(fact))]
        left = [f for f in same if (f.created, f.source_ref) == (fact.created, fact.source_ref)]
        return max(left, key=until, default=fact)

    @checked
    def declare(self, predicate: str, *, single: bool = True) -> str:
        """Declare that a predicate has one value at a time, or many; its normal form comes back.

        It holds for all that this user states and has stated: of several values the last one is believed, and with
        `single=False` the others are believed again. What other users declare is theirs.
        """
        norm = norm_tag(predicate)
        if not norm:
            raise InputError("there is no predicate to declare: name one, such as works_at")
        self.store.keep(declaration(self.scope.tenant, self.scope.user, norm), "single" if single else "many")
        self._write(Batch(declared={norm: single}))
        return norm

    # --- what is believed

    @checked
    def facts(self, subject: str, *, as_of: int | None = None, now: int | None = None) -> list[Fact]:
        """What is believed of a subject, given by id or name, now or `as_of` a time; the most certain first.

        Of what nothing is called nothing is believed. Raises InputError where a name is that of several.
        """
        moment = (now_ms() if now is None else now) if as_of is None else as_of
        return one_each(self.store, self.scope, [f for f in self.fact_history(subject) if holds(f, moment)])

    @checked
    def fact_history(self, subject: str, *, predicate: str | None = None) -> list[Fact]:
        """All that was ever stated of a subject, also what has ended or never held; the most certain first.

        What several texts say of the same time is told once. Of what nothing is called it is [], as with `facts`.
        """
        known = resolve_entity(self.store, self.scope, subject) if norm_name(subject) else None
        every = self.store.facts(self.scope, [known.id]).get(known.id, []) if known is not None else []
        norm = norm_tag(predicate) if predicate is not None else None
        known_by = {fact.id: fact for fact in every}
        return [
            f for f in every if norm in (None, f.predicate) and not _is_echo(f, known_by.get(f.superseded_by or ""))
        ]

    @checked
    def fact_ids(self, prefix: str, *, limit: int = 10) -> list[str]:
        """Ids of facts that begin so, in order."""
        return self.store.ids(self.scope, prefix, limit, "fact")

    # --- telling

    @checked
    def narrate(
        self,
        cue: str,
        *,
        budget: Budget = DEFAULT_BUDGET,
        anchors: int = 3,
        hops: int = 2,
        per_entity: int = 10,
        max_facts: int = 30,
        direction: Direction = "both",
        floor: float = 0.25,
        as_of: int | None = None,
        cache: bool = True,
        record_access: bool = True,
        count_tokens: Measure | None = None,
        now: int | None = None,
    ) -> Narrative:
        """What is believed about the entities a cue means, told in sections; each line says why it is there.

        Entities are found by meaning, or by name where there are no vectors (`.degraded`). Their facts and those of
        their neighbours, `hops` away, hold now or `as_of` a time. The same question is answered from memory for a
        minute, unless something was written in this scope meanwhile; `cache=False` asks anew.
        """
        telling = make_telling(anchors, hops, per_entity, max_facts, direction, floor)
        moment = now_ms() if now is None else now
        parsed = _normal(parse_cue(cue, Where()))
        question = Question(self.scope, (parsed.query, parsed.where), (*telling, budget, as_of, count_tokens))
        version, uses = self.store.version(self.scope) if cache else (None, None)
        kept = self._narratives.get(question, version, moment) if cache else None
        if kept is not None and kept.uses == uses:
            return replace(kept.told, cue=cue, cached=True)
        ask = Ask(
            self.store, self.scope, parsed, *budget_measure(budget, count_tokens), None,
            self._vectors.of_query, moment if as_of is None else as_of,
        )  # fmt: skip
        recipe = recipes.narrative(*telling)
        if kept is not None and (again := renewed(ask, kept.matter)) is not None:
            # It was used meanwhile, perhaps only by being told: what it is made of is the same, its scores are not.
            told = replace(tell(ask, recipe, again), notices=kept.told.notices)
            self._narratives.renew(question, version, Kept(told, again, uses))
            return replace(told, cue=cue, cached=True)
        matter = gather(ask, recipe)
        told = tell(ask, recipe, matter)
        told = replace(told, notices=self._noticed(told.notices))
        # An embedder that failed may be back in a moment.
        if cache and not (told.degraded and told.notices):
            until = self._unchanged_until(told, moment) if as_of is None else EVER
            self._narratives.put(question, version, moment, Kept(told, matter, uses), until)
        if record_access and told.lines:
            self._told([fact.id for fact in told.facts], list({fact.subject for fact in told.facts}), moment)
        return told

    def _unchanged_until(self, told: Narrative, now: int) -> int:
        """Until when the same would be told, if nobody writes: a fact may end, and another begin."""
        following = self.store.next_belief(self.scope, now)
        return told.until if following is None else min(told.until, following)

    @checked
    def prewarm(self, *, limit: int = PREWARMED, now: int | None = None) -> list[str]:
        """Have the narratives of the most used entities ready; the names they are ready for come back."""
        used = self.store.get(self.scope, self.store.most_used(self.scope, limit))
        names = [node.name for node in used.values() if node.name]
        for name in names:
            self.narrate(name, record_access=False, now=now)
        return names

    def stats(self) -> Stats:
        """Counts of what this scope can see, and how often narratives could be told again."""
        return replace(self.store.stats(self.scope), narratives=self._narratives.counts(self.scope))
