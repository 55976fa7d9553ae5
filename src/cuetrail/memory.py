"""The façade: every verb of a memory with its signature, what it does, and a call to the function that does it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from copy import copy as copy_of
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Unpack, cast

from cuetrail import engines, evaluate, mirror
from cuetrail.config import without_password
from cuetrail.dream.report_log import Dreamt, logged_reports
from cuetrail.dream.run import dream_and_log
from cuetrail.dream.summaries import Teller
from cuetrail.dream.taggers import AutoTagger
from cuetrail.embed import open_embedder
from cuetrail.embed.embedder import Embedder
from cuetrail.embed.reembed import reembed
from cuetrail.embed.vectors import Vectors
from cuetrail.evaluate import Comparison, Question
from cuetrail.explore import brief, browse, explore
from cuetrail.explore.brief import BRIEF_BUDGET, Brief
from cuetrail.explore.browse import Timeline
from cuetrail.explore.candidates import CANDIDATES
from cuetrail.explore.context import Expander
from cuetrail.explore.explore import Exploration
from cuetrail.extract.facts_by_rules import FactReader
from cuetrail.extract.registry import open_fact_reader
from cuetrail.facts.beliefs import believed_facts, fact_history
from cuetrail.facts.find_node import get_node, require_node
from cuetrail.ingest.build_nodes import Options
from cuetrail.ingest.conversation import add_messages
from cuetrail.ingest.pipeline import ingest, ingest_content
from cuetrail.ingest.readers.read_file import read as read_bytes
from cuetrail.ingest.readers.read_file import read_string
from cuetrail.mirror import MirrorReport, Placement
from cuetrail.model import (
    BudgetLike,
    ChatReport,
    Claim,
    Direction,
    DreamReport,
    Edge,
    Fact,
    FactProvenance,
    Finding,
    IngestReport,
    Neighbourhood,
    Node,
    Note,
    Provenance,
    Rank,
    Recollection,
    Retention,
    Scope,
    Stats,
    Version,
    When,
)
from cuetrail.recall import narrative, pipeline, recipes
from cuetrail.recall.anchor.activation_seeds import Chooser
from cuetrail.recall.narrative import PREWARMED, Narrative, NarrativeCache
from cuetrail.recall.pipeline import DEFAULT_BUDGET, WALK_BUDGET
from cuetrail.recall.spread import activation, traversal_pagerank
from cuetrail.recall.spread.activation import Stream
from cuetrail.recall.spread.traversal_pagerank import Traversal
from cuetrail.recall.stage_types import Measure, Mode, Recipe
from cuetrail.rerank import Reranker, reranker_of
from cuetrail.rerank.time_budget import RERANK_MS
from cuetrail.session import Session
from cuetrail.store.ports import Store
from cuetrail.store.read import LABEL_KINDS, LabelKind, Labelled, edges_by_id
from cuetrail.store.write import Batch, Progress, Written
from cuetrail.text.normalise import norm_tag
from cuetrail.text.timestamps import now_ms
from cuetrail.transfer.export_file import export_file
from cuetrail.transfer.import_file import How, ImportReport, OnLine, import_file
from cuetrail.validation import queries as valid
from cuetrail.validation.arguments import (
    MODES,
    Filters,
    KindFilters,
    PlaceFilters,
    RecallOptions,
    check_range,
    checked,
    chosen,
    make_where,
)
from cuetrail.validation.convert_arguments import as_budget, ms_of
from cuetrail.validation.limits import MOST, MOST_ITEMS
from cuetrail.validation.records import make_scope
from cuetrail.validation.stored_records import find_faulty
from cuetrail.write import edges, facts
from cuetrail.write.edit import edit
from cuetrail.write.forget import Doomed, forget, plan_forget
from cuetrail.write.notes import note
from cuetrail.write.pipeline import add, add_many, write
from cuetrail.write.quarantine import quarantine
from cuetrail.write.relationships import relate


class Memory:
    """A memory, opened. Use it as a context manager or call `close`.

    `address` is a directory (made if missing), or a database of a Neo4j server, `neo4j://user@host:7687/database`.
    `embedder` is an Embedder, a spec such as "static", "none", "onnx:FOLDER", "openai:URL#MODEL", or None for text
    alone; "auto" is the strongest on this machine. `extractor` reads facts from files: "rules", "none",
    "openai:URL#MODEL", or a function of yours. `reranker` reads the best candidates of a recall once more: a Reranker,
    a spec such as "onnx:FOLDER" or "fastembed:MODEL", or None. It has `rerank_ms` milliseconds; else the answer is
    without it, and says so.
    """

    @checked
    def __init__(
        self, address: str | Path, *, scope: Scope | None = None, embedder: Embedder | str | None = "static",
        api_key: str | None = None, extractor: FactReader | str | None = "rules",
        reranker: Reranker | str | None = None, rerank_ms: int = RERANK_MS,
    ) -> None:  # fmt: skip
        check_range("rerank_ms", rerank_ms, 1, MOST["rerank_ms"])
        self.scope = make_scope(scope or Scope())
        self._reranker, self._rerank_ms = reranker_of(reranker), rerank_ms
        self._extractor = open_fact_reader(extractor, api_key)
        self.address = without_password(str(address))
        self._api_key = api_key
        self._narratives: NarrativeCache = NarrativeCache()
        self.store: Store = engines.open_store(str(address))
        try:
            held = self.store.vector_spaces().held
            self._vectors = Vectors(self.store, self._open_embedder(embedder, held.model if held else None))
        except BaseException:
            self.store.close()
            raise

    def __repr__(self) -> str:
        """Return the address and the scope."""
        return f"Memory({self.address!r}, scope={self.scope!r})"

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release files and connections. What verbs have written is on disk already."""
        self.store.close()

    @checked
    def scoped(self, scope: Scope) -> Memory:
        """Return the same memory as another user or team member sees it. Closing one closes both."""
        other = copy_of(self)
        other.scope = make_scope(scope)
        return other

    @property
    def session(self) -> Session:
        """The address, engine, scope and models of this memory, as the functions behind the verbs take them."""
        return Session(
            self.address, self.store, self.scope, self._vectors, self._extractor, self._reranker, self._rerank_ms
        )

    def _open_embedder(self, given: Embedder | str | None, held: str | None = None) -> Embedder | None:
        return open_embedder(given, api_key=self._api_key, held=held) if isinstance(given, str) else given

    # --- write: nodes, edges, notes (write/)

    @checked
    def add(
        self, text: str = "", *, id: str | None = None, kind: str = "atom", name: str | None = None,
        aliases: Iterable[str] = (), tags: Iterable[str] = (), buckets: Iterable[str] = (), source: str | None = None,
        seq: int | None = None, at: When | None = None, provenance: Provenance = "internal",
        props: Mapping[str, Any] | None = None, retention: Retention = "decay", confidence: float = 1.0,
        vector: Iterable[float] | None = None, allow_again: bool = False, now: When | None = None,
    ) -> Node:  # fmt: skip
        """Add one node and return it. The same id again edits it and keeps the old text as history.

        `source` is the conversation or file it belongs to. Nodes of a source stand in the order in which they arrive,
        unless `seq` gives the position; recall reads a turn with those beside it. Who speaks is read from `props`
        (`{"speaker": "Ann"}`) or from a text that begins with "Ann: ".
        A first line that looks like a title becomes the property `title`. The title, and the name with which the first
        sentence begins, become the property `about`: names by which recall finds a text that has no `name`.

        `retention` says how it fades: "decay" while nobody uses it, "keep_forever" never, or "ephemeral" after 30 days
        (90 for people, concepts and entities). A node with a confidence below .8 also fades before its first use.
        `vector` is used in place of the embedder's; it must come from the same model.
        Raises Forgotten if it was forgotten before, unless `allow_again`.
        """
        given = {
            "text": text, "id": id, "kind": kind, "name": name, "aliases": aliases, "tags": tags, "buckets": buckets,
            "source": source, "seq": seq, "at": at, "provenance": provenance, "props": props, "retention": retention,
            "confidence": confidence, "vector": vector,
        }  # fmt: skip
        return add(self.session, given, allow_again, _time(now))

    @checked
    def add_many(
        self, items: Iterable[str | Mapping[str, Any] | Node], *, allow_again: bool = False, now: When | None = None,
        progress: Progress | None = None,
    ) -> Written:  # fmt: skip
        """Add many nodes, in large transactions: texts, nodes, or mappings with the arguments of `add`.

        Those that were forgotten before are left out and named in the result, unless `allow_again`. Raises InputError
        with the number of a wrong item.
        """
        return add_many(self.session, items, allow_again, progress, _time(now))

    @checked
    def chat(
        self, messages: Iterable[Mapping[str, Any]], source: str, *, at: When | None = None,
        tags: Iterable[str] = (), buckets: Iterable[str] = (), provenance: Provenance = "internal",
        allow_again: bool = False, progress: Progress | None = None, now: When | None = None,
    ) -> ChatReport:  # fmt: skip
        """Add the messages of a chat, {"role": "user", "content": "..."}, to the conversation `source`.

        They go behind those that it has. A repeated call adds nothing; one with the whole history adds what is new. A
        message may have an id, by which it is known again, a `name`, which wins over the role "user", and a time (`at`,
        `timestamp` or `created_at`); `at` is the time of the others. `content` is a text or a list of parts, of which
        texts are kept. Facts are read from what people say. The report names what was left out, such as images and
        messages of the system. Raises InputError for a message without a role or name.
        """
        common = {"tags": list(tags), "buckets": list(buckets), "provenance": provenance}
        return add_messages(self.session, messages, source, ms_of(at), common, allow_again, progress, _time(now))

    @checked
    def edit(
        self, id: str, *, text: str | None = None, kind: str | None = None, name: str | None = None,
        aliases: Iterable[str] | None = None, tags: Iterable[str] | None = None, buckets: Iterable[str] | None = None,
        at: When | None = None, allow_again: bool = False, now: When | None = None,
    ) -> Node:  # fmt: skip
        """Change a node, given by id or name, and return it. Arguments that are not given leave their field unchanged.

        The old text is kept as history. `tags` replaces the tags that people gave; tags that rules found stay. Raises
        InputError for invalid fields and for a kind that cannot be changed, NotFound for a node that is missing or
        another user's, and Forgotten if the new text was forgotten before, unless `allow_again`.
        """
        given = {
            "text": text, "kind": kind, "name": name, "aliases": aliases, "tags": tags, "buckets": buckets, "at": at,
        }  # fmt: skip
        return edit(self.session, id, given, allow_again, _time(now))

    @checked
    def link(
        self, src: str, dst: str, *, weight: float | None = None, tags: Iterable[str] = (), kind: str = "relates",
        text: str = "", type: str | None = None, attitude: int | None = None, proximity: int | None = None,
        confidence: float = 1.0, valid_from: When | None = None, valid_until: When | None = None, id: str | None = None,
        now: When | None = None,
    ) -> Edge:  # fmt: skip
        """Add an edge between two nodes, given by id or name, and return it. The same ends and kind replace an edge."""
        given = {
            "weight": weight, "tags": tags, "kind": kind, "text": text, "type": type, "attitude": attitude, "id": id,
            "proximity": proximity, "confidence": confidence, "valid_from": valid_from, "valid_until": valid_until,
        }  # fmt: skip
        return edges.link(self.session, src, dst, given, _time(now))

    @checked
    def unlink(self, *ids: str) -> list[str]:
        """Remove edges, given by id, and return their ids. Raises NotFound for one that is not this user's."""
        return edges.unlink(self.session, ids, _time(None))

    @checked
    def note(self, target: str, text: str, *, expires: When | None = None, now: When | None = None) -> Note:
        """Add a note to a node, given by id or name, or to a relationship, given by id, and return it.

        It `expires` at a time, or after a "week", a "month" or a "year"; with "never" or None it stays.
        """
        return note(self.session, target, text, expires, _time(now))

    @checked
    def relate(
        self, src: str, dst: str, type: str | None = None, *, attitude: int | None = None, proximity: int | None = None,
        text: str = "", confidence: float | None = None, weight: float | None = None, tags: Iterable[str] = (),
        valid_from: When | None = None, valid_until: When | None = None, now: When | None = None,
    ) -> Edge:  # fmt: skip
        """State how two people, concepts or entities, given by id or name, relate; return the relationship.

        The kinds of both nodes decide the kind of the edge. Arguments that are not given keep their earlier value. A
        type, attitude or proximity that differs from the current one closes the old relationship, which stays as
        history, and begins a new one. Raises NotFound for an unknown node, and InputError for nodes of other kinds.
        """
        given = {
            "weight": weight, "tags": tags, "text": text, "type": type, "attitude": attitude, "proximity": proximity,
            "confidence": confidence, "valid_from": valid_from, "valid_until": valid_until,
        }  # fmt: skip
        return relate(self.session, src, dst, given, _time(now))

    # --- facts (write/facts.py, facts/)

    @checked
    def fact(
        self, subject: str, predicate: str, object: str, *, confidence: float = 0.9, source: str = "user_edit",
        source_ref: str | None = None, provenance: FactProvenance = "explicit", kind: str | None = None,
        tags: Iterable[str] = (), valid_from: When | None = None, valid_until: When | None = None,
        now: When | None = None,
    ) -> Fact:  # fmt: skip
        """State the fact subject - predicate - object and return it as stored, with its status and times.

        Subject and object are ids or names; a name may differ in case, accents and a letter or two. An unknown subject
        becomes an entity of this `kind`; an unknown object is stored as text. If the predicate has one value at a
        time, a value of confidence .9 or more ends the previous one; a less certain value is only kept as history.
        `provenance` says whether it was stated ("explicit"), concluded ("inference") or imported ("import"). Raises
        InputError if a name is ambiguous, and Forgotten if the subject or the object was forgotten before.
        """
        given = {
            "confidence": confidence, "source": source, "source_ref": source_ref, "provenance": provenance,
            "tags": tags, "valid_from": valid_from, "valid_until": valid_until,
        }  # fmt: skip
        return facts.state_fact(self.session, subject, predicate, object, kind, given, _time(now))

    @checked
    def confirm(self, id: str, *, now: When | None = None) -> Fact:
        """Confirm a fact, given by id, and return it.

        Raises NotFound for a fact that is missing or a teammate's, and InputError for a superseded or retracted one.
        """
        return facts.judge_fact(self.session, id, "confirmed", _time(now))

    @checked
    def retract(self, id: str, *, now: When | None = None) -> Fact:
        """Retract a fact, given by id, and return it: from now on it is history.

        If the predicate has one value at a time, the value that this one had superseded is valid again. Raises NotFound
        for a fact that is missing or a teammate's, and InputError for one that was retracted before.
        """
        return facts.judge_fact(self.session, id, "retracted", _time(now))

    @checked
    def declare(self, predicate: str, *, single: bool = True) -> str:
        """Declare that a predicate has one value at a time, or many; return its normal form.

        The declaration applies to all facts of this user, past and future: of several values the last one is believed,
        and with `single=False` the others are believed again. Other users declare their own.
        """
        return facts.declare_predicate(self.session, predicate, single, _time(None))

    @checked
    def facts(self, subject: str, *, as_of: When | None = None, now: When | None = None) -> list[Fact]:
        """Return the facts believed about a subject, given by id or name, now or `as_of` a time; most certain first.

        Unknown subjects return []. Raises InputError if the name is ambiguous.
        """
        return believed_facts(self.store, self.scope, subject, _time(now if as_of is None else as_of))

    @checked
    def fact_history(self, subject: str, *, predicate: str | None = None) -> list[Fact]:
        """Return all facts ever stated about a subject, also ended ones and those that never held; most certain first.

        A fact that several texts state for the same time is listed once. Unknown subjects return [].
        """
        return fact_history(self.store, self.scope, subject, predicate)

    @checked
    def fact_ids(self, prefix: str, *, limit: int = 10) -> list[str]:
        """Return the ids of facts that begin with a prefix, in order."""
        return self.store.ids(self.scope, prefix, limit, "fact")

    # --- files (ingest/)

    @checked
    def ingest(
        self, path: str | Path, *, bucket: str | None = None, watch: bool = False, max_bytes: int | None = None,
        provenance: Provenance = "internal", follow_links: bool = False, progress: Progress | None = None,
        on_report: Callable[[IngestReport], None] | None = None, stop: threading.Event | None = None,
        now: When | None = None,
    ) -> IngestReport:  # fmt: skip
        """Take in a file or folder. Unchanged files are skipped, and the content of deleted files is removed.

        Links that lead out of the folder are reported as errors and not read, unless `follow_links`.
        With `watch`, goes on until `stop` is set or Ctrl-C, and reports each round to `on_report`. Files that cannot be
        read are errors in the report. Raises InputError if the path does not exist, or is a mirror or a memory.
        """
        session = self.session
        options = Options(bucket, provenance, max_bytes, _time(now), (session.home,), follow_links)
        return ingest(
            session, Path(path), options, watch=watch, on_report=on_report, stop=stop, progress=progress
        )  # fmt: skip

    @checked
    def ingest_text(
        self, text: str, *, source: str = "stdin", format: str | None = None, bucket: str | None = None,
        provenance: Provenance = "internal", now: When | None = None,
    ) -> IngestReport:  # fmt: skip
        """Take in a text as if it were the file `source`; it replaces the earlier content of that source.

        The `format` is that of the source's suffix, else detected. Raises InputError for an unknown one, and ReadError
        for a text that cannot be read in its format.
        """
        options = Options(bucket, provenance, None, _time(now), ())
        return ingest_content(self.session, source, read_string(text, source, format), options, None)

    @checked
    def ingest_bytes(
        self, data: bytes, source: str, *, bucket: str | None = None, provenance: Provenance = "internal",
        progress: Progress | None = None, now: When | None = None,
    ) -> IngestReport:  # fmt: skip
        """Take in the bytes of a file, such as a PDF, as if it were the file `source`; see `ingest_text`.

        Raises ReadError for bytes that cannot be read.
        """
        options = Options(bucket, provenance, None, _time(now), ())
        return ingest_content(self.session, source, read_bytes(data, source), options, progress)

    # --- quarantine and forgetting (write/)

    @checked
    def quarantine(
        self, *ids: str, source: str | None = None, undo: bool = False, now: When | None = None
    ) -> list[Node]:
        """Put nodes into quarantine: they stay, but only searches that ask for them find them. `undo` releases them.

        `source` means all nodes of a file. Returns the nodes that moved; those already there are left alone. Raises
        NotFound for a node that is missing or another user's.
        """
        return quarantine(self.session, ids, source, undo, _time(now))

    @checked
    def forget(
        self, *ids: str, source: str | None = None, everything: bool = False, dry_run: bool = False,
        purge: bool = False, now: When | None = None, progress: Progress | None = None,
    ) -> list[str]:  # fmt: skip
        """Remove nodes for good and keep them from coming back; return the ids that were removed. All go, or none.

        `source` forgets everything from a file or conversation, and so does the node of one; `everything` forgets all
        that this scope's user has. Copies go too, so that the forgotten text cannot be found elsewhere. With `dry_run`
        nothing is removed, and `doomed` also tells of copies and of what stays. A large text index keeps the words,
        where no search finds them, until it is next rewritten (see `has_traces`); `purge` rewrites it at once. Raises
        InputError if nothing is given.
        """
        doomed = self.doomed(*ids, source=source, everything=everything)
        return doomed.ids if dry_run else forget(self.session, doomed, purge, progress, _time(now))

    @checked
    def doomed(self, *ids: str, source: str | None = None, everything: bool = False) -> Doomed:
        """Return what `forget` would remove with the same arguments: the nodes, their copies, and what stays.

        Raises NotFound for a node that is missing or another user's, and InputError if nothing is given.
        """
        return plan_forget(self.session, ids, source, everything)

    def has_traces(self) -> bool:
        """Return whether words of something forgotten are still in the text index, where no search finds them."""
        return self.store.has_traces()

    # --- read: nodes and edges (store/)

    @checked
    def get(self, id: str) -> Node | None:
        """Return the node with this id or, failing that, this name; None if there is none in this scope."""
        return get_node(self.store, self.scope, id)

    @checked
    def nodes(self, *ids: str) -> dict[str, Node]:
        """Return the nodes with these ids, in this order; ids that are not in this scope are left out."""
        return self.store.get(self.scope, ids)

    @checked
    def ids(self, prefix: str, *, limit: int = 10) -> list[str]:
        """Return the ids of nodes that begin with a prefix, in order."""
        return self.store.ids(self.scope, prefix, limit)

    @checked
    def edge(self, id: str) -> Edge | None:
        """Return the edge with this id, None if there is none."""
        return edges_by_id(self.store, self.scope, [id]).get(id)

    @checked
    def neighbours(self, id: str, limit: int = 10) -> Neighbourhood:
        """Return the strongest edges of a node, given by id or name.

        Raises NotFound for an unknown node.
        """
        found = require_node(self.store, self.scope, id)
        return self.store.neighbours(self.scope, [found], limit)[found]

    @checked
    def history(self, id: str) -> list[Version]:
        """Return the earlier versions of the node with this id, the oldest first; [] if there are none."""
        return self.store.history(self.scope, id)

    # --- read: by a cue (recall/)

    @checked
    def recall(
        self, cue: str, *, budget: BudgetLike = DEFAULT_BUDGET, limit: int | None = None,
        recipe: Recipe | str = recipes.TRAIL, fuzzy: bool = False, record_access: bool = True,
        count_tokens: Measure | None = None, now: When | None = None, **filters: Unpack[Filters],
    ) -> Recollection:  # fmt: skip
        """Return what the memory holds on a cue: text within the budget, hits, and why each was found.

        `budget` is a number of tokens, or {"chars": 2000}; `recipe` may be a name, such as "tag-walk". `fuzzy`
        tolerates typos, and then searches by words alone. `filters`: only nodes are found that have all `tags`, one of
        the `buckets`, one of the `kinds`, a time from `since` to `until`, and the properties `props`, such as
        {"project": "x"}; hidden ones with `include_quarantined` and `include_archived`.
        """
        return pipeline.recall(
            self.session, cue, recipe=recipes.recipe_of(recipe), budget=as_budget(budget), limit=limit,
            where=make_where(filters), fuzzy=fuzzy, record_access=record_access, count_tokens=count_tokens,
            now=_time(now),
        )  # fmt: skip

    @checked
    def tag_walk(
        self, cue: str, *, budget: BudgetLike = WALK_BUDGET, mode: Mode = "all", rank: Rank = "idf",
        spill: bool = False, min_results: int = 10, **options: Unpack[RecallOptions],
    ) -> Recollection:  # fmt: skip
        """Return what the words of a cue find (`.anchors`), and what shares tags and buckets with it (`.walkers`).

        `mode` multiplies scores: internal memories get more with "all", even more with "internal"; the others get more
        with "external". `rank` orders walkers by the rarity of the tags they share ("idf"), or by their number, time
        and similarity ("gravity"). Anchors get 70 % of the budget and walkers the rest; with `spill`, one may use what
        the other leaves. A cue that finds fewer than `min_results` is searched again, more tolerantly. `options` are as
        in `recall`.
        """
        recipe = recipes.tag_walk(chosen("mode", mode, MODES), rank, spill, min_results)
        return self.recall(cue, budget=budget, recipe=recipe, **options)

    @checked
    def activate(
        self, seeds: str | Iterable[str | tuple[str, float]], *, tags: Iterable[str] | None = None, max_depth: int = 5,
        max_branches: int = 3, min_activation: float = 0.005, tag_sim_floor: float = 0.15, claim: Claim = "energy",
        limit: int = 5, text_weight: float = 0.5, vector_weight: float = 0.5, choose_tags: Chooser | None = None,
        record_access: bool = True, stop: threading.Event | None = None, now: When | None = None,
        **filters: Unpack[KindFilters],
    ) -> Stream:  # fmt: skip
        """Spread energy from seeds along edges; yield one result per seed, as soon as its walk has ended.

        Seeds are ids with their initial energy (1 if none is given), or a query that finds at most `limit` of them.
        `tags` are what the query is about: edges with none of them pass little energy on. By default these are the tags
        of edges that the query's words or its best results name; `choose_tags` may choose others. The `filters`,
        as in `recall`, apply to every node on the way. Closing the stream, or `stop`, ends the walk.
        """
        flow = valid.make_flow(max_depth, max_branches, min_activation, tag_sim_floor, claim)
        where = make_where(cast("Filters", filters))
        return activation.activate(
            self.session, seeds if isinstance(seeds, str) else valid.make_seeds(seeds),
            tags=None if tags is None else valid.make_query_tags(tags), flow=flow,
            seeding=valid.make_seeding(limit, text_weight, vector_weight), choose_tags=choose_tags, where=where,
            record_access=record_access, stop=stop, now=ms_of(now),
        )  # fmt: skip

    @checked
    def traverse(
        self, start: str | Iterable[str], *, mode: Literal["hops", "ppr"] = "hops", direction: Direction = "both",
        max_hops: int = 1, depth: int = 3, damping: float = 0.85, top_k: int = 20, limit: int = 100,
        relationship_filters: Mapping[str, Any] | None = None, record_access: bool = True, now: When | None = None,
        **filters: Unpack[Filters],
    ) -> Traversal:  # fmt: skip
        """Return the nodes that edges lead to from a start, given by ids or names: up to `max_hops` away or, with mode
        "ppr", where a random walk from the start is most often (personalised PageRank).

        Filters, as in `recall`, apply to every edge and node on the way, before anything is scored. Raises NotFound for
        an unknown start; it is never a query.
        """
        where = make_where(filters)
        extent = valid.make_extent(mode, max_hops, limit, depth, damping, top_k)
        time = _time(now)
        edge_filter = valid.make_traversal_filter(direction, relationship_filters, where, time)
        starts = valid.make_starts(start)
        return traversal_pagerank.traverse(self.session, starts, edge_filter, extent, record_access, time)

    @checked
    def narrate(
        self, cue: str, *, budget: BudgetLike = DEFAULT_BUDGET, anchors: int = 3, hops: int = 2, per_entity: int = 10,
        max_facts: int = 30, direction: Direction = "both", floor: float = 0.25, as_of: When | None = None,
        cache: bool = True, record_access: bool = True, count_tokens: Measure | None = None, now: When | None = None,
    ) -> Narrative:  # fmt: skip
        """Return the facts believed about the entities that a cue means, in sections; each line says why it is there.

        Entities are found by meaning, or by name if there are no vectors (`.degraded`). Their facts and those of their
        neighbours, `hops` away, hold now or `as_of` a time. The answer is cached for a minute, as long as nothing is
        written in this scope; `cache=False` makes it anew.
        """
        settings = valid.make_narrative_settings(anchors, hops, per_entity, max_facts, direction, floor)
        return narrative.narrate(
            self.session, self._narratives, cue, recipe=recipes.narrative(*settings), parameters=settings,
            budget=as_budget(budget), as_of=ms_of(as_of), use_cache=cache, record_access=record_access,
            count_tokens=count_tokens, now=_time(now),
        )  # fmt: skip

    @checked
    def prewarm(self, *, limit: int = PREWARMED, now: When | None = None) -> list[str]:
        """Make and cache the narratives of the most used entities; return their names."""
        names = narrative.most_used_names(self.session, limit)
        for name in names:
            self.narrate(name, record_access=False, now=now)
        return names

    @checked
    def bench(
        self, questions: str | Path | Iterable[Mapping[str, Any] | Question], *, only: Iterable[str] = (),
        others: Mapping[str, Recipe] | None = None, limit: int = 10, progress: Progress | None = None,
        now: When | None = None,
    ) -> Comparison:  # fmt: skip
        """Return how well each recipe answers questions with known answers, so that one can be chosen for this memory.

        `questions` are a JSONL file or a list: {"question": ..., "gold": [ids or names]}. Gold that is a source counts
        as found if anything from it is found. `only` names recipes; `others` are your own. The first row is the
        baseline of the others. Nothing counts as used. Raises InputError for a wrong question, NotFound for unknown
        gold.
        """
        asked = evaluate.make_questions(questions)
        return evaluate.bench(
            self.session, asked, evaluate.contenders(only, others or {}), limit, progress, _time(now)
        )  # fmt: skip

    # --- read: all sides of a topic, and lists (explore/)

    @checked
    def explore(
        self, queries: Iterable[str | Mapping[str, Any]] = (), *, text_matches: Iterable[str] = (),
        relationship_filters: Mapping[str, Any] | None = None, granularity: int = 1, multi_query: bool = False,
        mode: Literal["fast", "deep"] = "fast", weights: Mapping[str, float] | None = None, fuzzy: str = "levenshtein",
        explain: bool = False, expander: Expander | None = None, record_access: bool = True, now: When | None = None,
        tags: Iterable[str] = (), **filters: Unpack[PlaceFilters],
    ) -> Exploration:  # fmt: skip
        """Return what the memory holds on some questions: people, concepts, entities and their relationships, events,
        and artifacts.

        `queries` find by meaning; each is a text or {"query": ..., "threshold": ...}. `text_matches` find by name and
        tag, and relationships by their descriptions. `granularity` chooses single sources (1), storylines, which sum up
        sources (2), or macros, which sum up storylines (3). With `multi_query`, and in mode "deep", more queries are
        made of each, by templates or by the `expander`.
        `weights` are those of "semantic", "time" and "salience"; `filters` are those of `recall`. Raises InputError
        if there is nothing to look for.
        """
        matches = valid.make_matches(text_matches)
        check_range("granularity", granularity, 1, 3)
        chosen("mode", mode, tuple(CANDIDATES))
        time = _time(now)
        return explore.explore(
            self.session, valid.make_queries(queries, matches), matches,
            ties=valid.make_ties(relationship_filters, time),
            where=make_where(cast("Filters", {"tags": tags, **filters})),
            granularity=granularity, multi_query=multi_query, expander=expander,
            mode=mode, weights=valid.make_weights(weights), fuzzy=fuzzy,
            explain=explain, record_access=record_access, now=time,
        )  # fmt: skip

    @checked
    def brief(
        self, *, budget: BudgetLike = BRIEF_BUDGET, count_tokens: Measure | None = None, record_access: bool = True,
        now: When | None = None,
    ) -> Brief:  # fmt: skip
        """Return a summary for the start of a conversation: whose memory it is, 10 core beliefs, 5 goals, 10
        relationships, and the last 7 days, within the budget.
        """
        return brief.brief(self.session, as_budget(budget), count_tokens, record_access, _time(now))

    @checked
    def timeline(
        self, *, provenance: Provenance | None = None, limit: int = 50, after: str | None = None,
        **filters: Unpack[Filters],
    ) -> Timeline:  # fmt: skip
        """Return the nodes that pass all filters (as in `recall`), the newest first; with `provenance`, only those with
        this one.

        `after` is the `more` of the previous page. Nodes that dreams made are listed only if `kinds` names their kind.
        """
        where = make_where(filters)
        return browse.timeline(self.store, self.scope, valid.make_page(where, provenance, limit, after))

    @checked
    def labels(self, what: LabelKind = "tag", *, prefix: str = "", limit: int = 1000) -> list[Labelled]:
        """Return labels that begin with a prefix, with how many nodes have them; the most common first.

        `what` is "tag" for people's tags, "automatic" for those that ingest and dreams gave, or "bucket". A tag that
        came both ways is in both lists, each with its own nodes.
        """
        what = chosen("what", what, LABEL_KINDS)
        return self.store.labels(self.scope, what, norm_tag(prefix) if prefix else "", limit)

    def stats(self) -> Stats:
        """Return counts of what this scope can see, the models in use, and how often narratives came from the cache."""
        reranker = self._reranker.name if self._reranker else None
        found = self.store.stats(self.scope)
        return replace(found, narratives=self._narratives.counts(self.scope), reranker=reranker)

    # --- upkeep (dream/, mirror/, transfer/, embed/, store/)

    @checked
    def dream(
        self, *, only: Iterable[str] = (), dry_run: bool = False, everyone: bool = False, zone: str = "UTC",
        tagger: AutoTagger | None = None, teller: Teller | None = None, progress: Progress | None = None,
        now: When | None = None,
    ) -> DreamReport:  # fmt: skip
        """Find what belongs together: tags, edges, episodes, storylines. Reads only what changed since the last dream.

        `only` names passes; a dry run writes nothing and reports what it would change; `everyone` dreams for all users;
        `zone` is the time zone of days; a `tagger` and a `teller` replace the rules. While another dream runs, this one
        is skipped. Raises InputError for an unknown pass or zone.
        """
        return dream_and_log(
            self.session, only=list(islice(only, MOST_ITEMS["only"])), dry_run=dry_run, everyone=everyone, zone=zone,
            tagger=tagger, teller=teller, progress=progress, now=_time(now),
        )  # fmt: skip

    def dreams(self) -> list[Dreamt]:
        """Return the reports of this user's last dreams, the newest first."""
        return logged_reports(self.store, self.scope)

    @checked
    def mirror(
        self, directory: str | Path, placement: Placement | None = None, *, follow: bool = True, dry_run: bool = False,
        progress: Progress | None = None,
    ) -> MirrorReport:  # fmt: skip
        """Write what this scope sees to Markdown files, `@bucket/#tag/source.md`, or bring them up to date.

        `placement` puts an atom under its "first" tag or under "all" of them; None leaves it as it is. From now on
        ingest, dream and forget keep the folder up to date, until it is deleted or mirrored with `follow=False`. Raises
        InputError for a folder that holds anything else, and MirrorError if the mirror cannot be written.
        """
        session = self.session
        return mirror.sync_and_register(
            self.store, self.scope, Path(directory), placement, memory=session.home, keep=follow, dry_run=dry_run,
            progress=progress,
        )  # fmt: skip

    @checked
    def end_mirror(self, directory: str | Path) -> str:
        """Stop updating a mirror, even if its folder cannot be reached now. Return the folder; its files stay.

        Raises InputError for a folder that is no mirror of this user's.
        """
        return str(mirror.unregister(self.store, self.scope, Path(directory), self.session.home))

    def mirrors(self) -> list[str]:
        """Return the folders of this user's mirrors that are kept up to date, also those that cannot be reached now."""
        return mirror.folders_of(self.store, self.scope, self.session.home)

    @checked
    def export(self, path: str | Path, *, format: str = "cuetrail", vectors: bool = False) -> int:
        """Write everything this user owns to a file, also in another system's format; return the number of records.

        With the format cuetrail, `vectors` includes the vectors. The format basic-memory writes a folder. Raises
        InputError for an unknown format or a path that cannot be written.
        """
        return export_file(self.store, self.scope, Path(path).expanduser(), format, vectors)

    @checked
    def import_(
        self, path: str | Path, *, format: str | None = None, dry_run: bool = False, on_line: OnLine | None = None,
        progress: Progress | None = None, now: When | None = None,
    ) -> ImportReport:  # fmt: skip
        """Take in an export of cuetrail or of another system. What was forgotten here stays forgotten.

        A dry run writes nothing and counts what would come in. `on_line` is called with a LineReport for each line of
        an export of cuetrail: what was read, or why it was refused. Records that cannot be imported are errors in the
        report. Raises InputError for a missing path or an unknown format, and ReadError for a file of another format.
        """
        how = How(dry_run, on_line, progress)
        return import_file(self.session, Path(path).expanduser(), format, how, _time(now))

    @checked
    def backup(self, path: str | Path) -> None:
        """Write one consistent copy of the memory to a tar file, while others go on writing.

        An older file is replaced when the new one is complete. Raises InputError for a folder, and MemoryError_ if the
        file cannot be written.
        """
        self.store.backup(Path(path).expanduser())

    @checked
    def reembed(self, embedder: Embedder | str | None = None, *, progress: Progress | None = None) -> int:
        """Change to another embedder, for every user, or make the missing vectors; return how many were made.

        "none" drops all vectors: the memory is then searched by words alone. Recalls go on meanwhile with the old
        vectors, until all new ones are made. After an interruption, the same call continues.
        """
        keep = embedder is None
        return reembed(self._vectors, None if keep else self._open_embedder(embedder), keep, progress)

    @checked
    def doctor(self, *, repair: bool = False, progress: Progress | None = None) -> list[Finding]:
        """Check the memory and return what is wrong with it; empty if nothing is. `repair` mends what it can."""
        found = self.store.doctor(repair, progress)
        if any(one.check == "truth" for one in found):
            # A damaged file cannot be read to its end.
            return found
        mend = partial(self._write_mended, _time(None)) if repair else None
        return [*found, *find_faulty(self.store, mend)]

    def _write_mended(self, now: int, partition: Scope, batch: Batch) -> None:
        write(self.session, batch, now, scope=partition)

    @checked
    def refresh(self, progress: Progress | None = None) -> None:
        """Bring the indexes up to date now instead of at the next recall."""
        self.store.refresh(progress)


@checked
def restore(backup: str | Path, address: str | Path, *, force: bool = False) -> Path | None:
    """Replace the memory at `address` by a backup; return where a damaged one was moved to, if there was one.

    A memory that is not damaged is replaced only with `force`. Raises InputError for a healthy memory without it, for
    the address of a server, and for a file that is no backup.
    """
    return engines.restore_backup(Path(backup), str(address), force)


def copy_memory(source: str | Path, target: str | Path, *, progress: Progress | None = None) -> int:
    """Copy everyone's memories from one address to another, of either engine; return the number of records.

    Vectors, history, tombstones and settings are copied too. Raises NotFound if there is no memory at `source`, and
    InputError if the target is not empty.
    """
    return engines.copy_everything(str(source), str(target), progress)


def _time(now: When | None) -> int:
    given = ms_of(now)
    return now_ms() if given is None else given
