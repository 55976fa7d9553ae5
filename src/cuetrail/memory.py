"""The façade: opens a memory, wires engine and embedder, and is the only place with side effects."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from copy import copy as copy_of
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any

from cuetrail.config import on_server, server_home, server_login, without_login, without_password
from cuetrail.dream import RULE, AutoTagger, Night, Teller, dream, extract, zone_of
from cuetrail.embed import open_embedder
from cuetrail.embed.embedder import Embedder
from cuetrail.embed.vectors import Vectors
from cuetrail.errors import Forgotten, InputError, MemoryError_, NotFound
from cuetrail.facts.relationships import related
from cuetrail.ingest.document import Document
from cuetrail.ingest.pipeline import Options, Writer, ingest_documents, ingest_path
from cuetrail.ingest.readers import read as read_bytes
from cuetrail.ingest.readers import read_string
from cuetrail.ingest.watch import watch_path
from cuetrail.mirror import MirrorReport, Placement, registered, sync, sync_and_register, sync_registered, unregister
from cuetrail.model import DreamReport, Edge, Finding, IngestReport, Node, Note, Provenance, Retention, Scope
from cuetrail.recall.narrative_cache import Answers
from cuetrail.store.ports import Store
from cuetrail.store.read import forgotten_ids
from cuetrail.store.shared.copy import copy
from cuetrail.store.write import Batch, Progress, Written
from cuetrail.text.timestamps import now_ms
from cuetrail.transfer.export_file import export_file
from cuetrail.transfer.import_file import ImportReport, Target, import_file
from cuetrail.validation.arguments import checked
from cuetrail.validation.records import make_edge, make_node, make_nodes, make_note, make_scope
from cuetrail.verbs.browsing import write_down
from cuetrail.verbs.correcting import Correcting
from cuetrail.write.fact_extraction import FactReader, by_rules, state
from cuetrail.write.fact_transfer import outlive, pass_on
from cuetrail.write.forget import Doomed, doom, forget
from cuetrail.write.links import Change, resolve
from cuetrail.write.quarantine import move

log = logging.getLogger("cuetrail")

# Memories in one transaction. Larger ones write each page of the index of ids less often, smaller ones let others in.
BATCH = 16_000


class Memory(Correcting):
    """A memory, opened. Use it as a context manager or call `close`.

    `address` is a directory (made if missing), or a database of a Neo4j server, `neo4j://user@host:7687/database`.
    `embedder` is an Embedder, a spec such as "static", "none", "onnx:FOLDER", "openai:URL#MODEL", or None for text
    alone. `extractor` reads facts out of what is ingested: "rules", "none", "openai:URL#MODEL", or a function of yours.
    """

    @checked
    def __init__(
        self,
        address: str | Path,
        *,
        scope: Scope | None = None,
        embedder: Embedder | str | None = "static",
        api_key: str | None = None,
        extractor: FactReader | str | None = "rules",
    ) -> None:
        self.scope = make_scope(scope or Scope())
        self._extractor = _reader(extractor, api_key)
        self.address = without_password(str(address))
        self._api_key = api_key
        self._narratives = Answers()
        self.store: Store = _open_store(str(address))
        try:
            self._vectors = Vectors(self.store, self._embedder(embedder))
        except BaseException:
            self.store.close()
            raise

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release files and connections. Everything acknowledged is on disk already."""
        self.store.close()

    @checked
    def scoped(self, scope: Scope) -> Memory:
        """The same memory as somebody else sees it. To close one closes both."""
        other = copy_of(self)
        other.scope = make_scope(scope)
        return other

    def _embedder(self, chosen: Embedder | str | None) -> Embedder | None:
        return open_embedder(chosen, api_key=self._api_key) if isinstance(chosen, str) else chosen

    # --- putting in

    @checked
    def add(
        self,
        text: str = "",
        *,
        id: str | None = None,
        kind: str = "atom",
        name: str | None = None,
        aliases: Iterable[str] = (),
        tags: Iterable[str] = (),
        buckets: Iterable[str] = (),
        source: str | None = None,
        at: int | None = None,
        provenance: Provenance = "internal",
        props: Mapping[str, Any] | None = None,
        retention: Retention = "decay",
        confidence: float = 1.0,
        allow_again: bool = False,
        now: int | None = None,
    ) -> Node:
        """Remember one thing; the node comes back. The same id again corrects it and keeps the old text as history.

        `retention` is how it fades: by "decay" while nobody uses it, never ("keep_forever"), or after 30 days, 90 for
        people, concepts and entities ("ephemeral"). What is less certain than .8 fades before its first use too.
        Raises Forgotten when it was forgotten before, unless `allow_again`.
        """
        item = {
            "text": text, "id": id, "kind": kind, "name": name, "aliases": aliases, "tags": tags, "buckets": buckets,
            "source": source, "at": at, "provenance": provenance, "props": props, "retention": retention,
            "confidence": confidence,
        }  # fmt: skip
        moment = now_ms() if now is None else now
        node = make_node(item, moment)
        if not allow_again and self.store.redacted_texts(self.scope, [node]).get(node.id):
            raise Forgotten(
                "a part of this was forgotten and stays so: leave that out, or pass allow_again=True (--allow-again)"
            )
        written = self._remember([node], allow_again, moment)
        if written.forgotten:
            raise Forgotten(
                "this was forgotten and stays so: pass allow_again=True (--allow-again) to remember it anew"
            )
        # Another process may have forgotten it in the meantime; what was remembered is what comes back.
        return self.store.get(self.scope, [node.id]).get(node.id, node)

    @checked
    def add_many(
        self,
        items: Iterable[str | Mapping[str, Any] | Node],
        *,
        allow_again: bool = False,
        now: int | None = None,
        progress: Progress | None = None,
    ) -> Written:
        """Remember many things, in transactions of BATCH: texts, nodes, or mappings with the arguments of `add`."""
        moment = now_ms() if now is None else now
        nodes = make_nodes(items, moment)
        total = Written()
        done = 0
        with self.store.bulk():
            while some := list(islice(nodes, BATCH)):
                total = total.plus(self._remember(some, allow_again, moment))
                done += len(some)
                if progress:
                    progress("adding", done, 0)
        return total

    def _remember(self, nodes: Sequence[Node], allow_again: bool, now: int) -> Written:
        """Write nodes; links that wait for one of their names become edges."""
        batch = Batch(nodes=list(nodes), allow_again=allow_again)
        named = [node for node in nodes if node.name is not None or node.aliases]
        if named and not allow_again:
            kept_out = forgotten_ids(self.store, self.scope, named)
            named = [node for node in named if node.id not in kept_out]
        if named:
            pass_on(self.store, self.scope, batch, named)
        resolve(self.store, self.scope, Change(arriving=named, leaving=list(batch.successors)), batch, now)
        return self._write(batch)

    @checked
    def link(
        self,
        src: str,
        dst: str,
        *,
        weight: float | None = None,
        tags: Iterable[str] = (),
        kind: str = "relates",
        text: str = "",
        type: str | None = None,
        attitude: int | None = None,
        proximity: int | None = None,
        confidence: float = 1.0,
        valid_from: int | None = None,
        valid_until: int | None = None,
        id: str | None = None,
        now: int | None = None,
    ) -> Edge:
        """Join two nodes, given by id or name; the edge comes back. The same ends and kind again replace it."""
        given = {
            "weight": weight, "tags": tags, "kind": kind, "text": text, "type": type, "attitude": attitude, "id": id,
            "proximity": proximity, "confidence": confidence, "valid_from": valid_from, "valid_until": valid_until,
        }  # fmt: skip
        edge = make_edge(self._need(src), self._need(dst), given, now_ms() if now is None else now)
        self._write(Batch(nodes=self._adopted(edge.src, edge.dst), edges=[edge]))
        return self.store.edges(self.scope, [edge.id])[edge.id]

    @checked
    def unlink(self, *ids: str) -> list[str]:
        """Remove edges, given by id; the removed ids come back. Raises NotFound for one that is not this user's."""
        there = self.store.edges(self.scope, ids)
        for id_ in ids:
            if id_ not in there:
                raise NotFound(f"there is no edge {id_!r} in this scope; `neighbours` shows the edges of a node")
        self._write(Batch(remove_edges=list(there)))
        left = self.store.edges(self.scope, list(there))
        if left:
            raise NotFound(f"the edge {next(iter(left))!r} is a teammate's: only who made it can remove it")
        return list(there)

    @checked
    def note(self, target: str, text: str, *, expires: int | str | None = None, now: int | None = None) -> Note:
        """Put a remark on a node, given by id or name, or on a relationship, given by id; it comes back.

        It `expires` at a time, or after a "week", a "month" or a "year"; "never" and None keep it.
        """
        moment = now_ms() if now is None else now
        found = self._find(target)
        if found is None and self.store.edges(self.scope, [target]):
            note = make_note(target, text, expires, moment, "edge")
            self._write(Batch(notes=[note]))
            return note
        note = make_note(self._need(target), text, expires, moment)
        self._write(Batch(nodes=self._adopted(note.target), notes=[note]))
        return note

    @checked
    def relate(
        self,
        src: str,
        dst: str,
        type: str | None = None,
        *,
        attitude: int | None = None,
        proximity: int | None = None,
        text: str = "",
        confidence: float | None = None,
        weight: float | None = None,
        tags: Iterable[str] = (),
        valid_from: int | None = None,
        valid_until: int | None = None,
        now: int | None = None,
    ) -> Edge:
        """State how two people, concepts or entities stand to each other, given by id or name; the edge comes back.

        What joins them follows from what they are. What is not said stays as it was. Another type, attitude or
        proximity than was held closes the old relationship, which stays as history, and begins a new one.
        """
        given = {
            "weight": weight, "tags": tags, "text": text, "type": type, "attitude": attitude, "proximity": proximity,
            "confidence": confidence, "valid_from": valid_from, "valid_until": valid_until,
        }  # fmt: skip
        ids = [self._need(src), self._need(dst)]
        nodes = self.store.get(self.scope, ids)
        moment = now_ms() if now is None else now
        edge, edges = related(self.store, self.scope, nodes[ids[0]], nodes[ids[1]], given, moment)
        self._write(Batch(nodes=self._adopted(*ids), edges=edges))
        return self.store.edges(self.scope, [edge.id])[edge.id]

    # --- ingest

    @checked
    def ingest(
        self, path: str | Path, *, bucket: str | None = None, watch: bool = False, max_bytes: int | None = None,
        provenance: Provenance = "internal", progress: Progress | None = None,
        on_report: Callable[[IngestReport], None] | None = None, stop: threading.Event | None = None,
        now: int | None = None,
    ) -> IngestReport:  # fmt: skip
        """Take in a file or folder and follow it: what is unchanged is skipped, what is gone is removed.

        With `watch`, goes on until `stop` is set or Ctrl-C, reporting each round to `on_report`.
        """
        options = Options(bucket, provenance, max_bytes, now_ms() if now is None else now, (self._home,))
        place = Path(path).expanduser()
        folder = place if place.is_dir() else place.parent
        with self.store.bulk():
            report = ingest_path(self.store, self.scope, place, options, self._learning(options.now), progress)
        report = replace(report, notices=self._taken_in(report.notices, progress))
        if watch:
            if on_report:
                on_report(report)
            write = self._learning(None)
            for report in watch_path(self.store, self.scope, place, folder, options, write, stop, now_ms):
                report = replace(report, notices=self._taken_in(report.notices, None))
                if on_report:
                    on_report(report)
        return report

    @checked
    def ingest_text(
        self, text: str, *, source: str = "stdin", format: str | None = None, bucket: str | None = None,
        provenance: Provenance = "internal", now: int | None = None,
    ) -> IngestReport:  # fmt: skip
        """Take in a text as if it were the file `source`, replacing what that source held."""
        return self._ingest(read_string(text, source, format), source, bucket, provenance, now, None)

    @checked
    def ingest_bytes(
        self, data: bytes, source: str, *, bucket: str | None = None, provenance: Provenance = "internal",
        progress: Progress | None = None, now: int | None = None,
    ) -> IngestReport:  # fmt: skip
        """Take in the bytes of a file, such as a PDF, as if it were the file `source`; see `ingest_text`."""
        return self._ingest(read_bytes(data, source), source, bucket, provenance, now, progress)

    def _ingest(
        self, documents: list[Document], source: str, bucket: str | None, provenance: Provenance, now: int | None,
        progress: Progress | None,
    ) -> IngestReport:  # fmt: skip
        options = Options(bucket, provenance, None, now_ms() if now is None else now, ())
        report = ingest_documents(self.store, self.scope, source, documents, options, self._learning(options.now))
        return replace(report, notices=self._taken_in(report.notices, progress))

    def _learning(self, now: int | None) -> Writer:
        """Writes what is taken in together with the facts in it; those that a model reads come after it."""

        def write(batch: Batch) -> Written:
            moment = now_ms() if now is None else now
            gone = [*batch.remove_nodes, *batch.successors]
            outlive(self.store, self.scope, batch, moment)
            if self._extractor is by_rules:
                state(self.store, self.scope, batch, gone, by_rules, self._single, moment)
                return self._write(batch)
            written = self._write(batch)
            if self._extractor is not None:
                new = [node for node in batch.nodes if node.id not in written.forgotten]
                self._read_by(self._extractor, new, gone, moment)
            return written

        return write

    def _read_by(self, extractor: FactReader, new: list[Node], gone: Sequence[str], now: int) -> None:
        """State what a model reads; that it fails, however it does, costs its facts alone."""
        later = Batch(nodes=list(new))
        try:
            state(self.store, self.scope, later, gone, extractor, self._single, now)
        except Exception as error:  # noqa: BLE001  # a function of the caller's may raise anything
            log.warning("no facts were read out of %d memories: %s", len(new), error)
            return
        written = {id(node) for node in new}
        later.nodes = [node for node in later.nodes if id(node) not in written]
        self._write(later)

    def _taken_in(self, notices: tuple[str, ...], progress: Progress | None) -> tuple[str, ...]:
        """Bring indexes and mirrors up to date with what was taken in; the notices, with what there is to say of it."""
        self.store.refresh(progress)
        done = sync_registered(self.store, self.scope, self._home, progress)
        return self._noticed((*notices, *done.problems, *done.ended))

    @property
    def _home(self) -> Path:
        if not on_server(self.address):
            return Path(self.address).expanduser().resolve()
        home = server_home(without_login(self.address))
        home.mkdir(parents=True, exist_ok=True)
        return home

    # --- setting aside

    @checked
    def quarantine(
        self, *ids: str, source: str | None = None, undo: bool = False, now: int | None = None
    ) -> list[Node]:
        """Set nodes aside: they stay, but nothing finds them unless asked to; with `undo`, let them back as they were.

        `source` names everything that came from a file. What is so already is left alone; the others come back.
        """
        moving = self._own(self._meant(ids, source), "move")
        moment = now_ms() if now is None else now
        return move(self.store, self.scope, self._write, [node.id for node in moving], undo, moment, self._home)

    def _meant(self, ids: Iterable[str], source: str | None) -> list[str]:
        """These ids and those of everything that came from a file. Raises NotFound where there is nothing."""
        nodes = [] if source is None else self.store.atoms_of(self.scope, [source], everywhere=True)[source]
        from_file = [node.id for node in nodes]
        if source is not None and not from_file:
            raise NotFound(f"nothing in this scope came from {source!r}")
        return [self._need(id_) for id_ in ids] + from_file

    def _own(self, ids: Sequence[str], verb: str) -> list[Node]:
        """The nodes of these ids. Raises NotFound for one of somebody else."""
        nodes = list(self.store.get(self.scope, ids).values())
        other = next((node for node in nodes if node.owner != self.scope.user), None)
        if other is not None:
            raise NotFound(f"{other.id!r} belongs to {other.owner!r}: only its owner can {verb} it")
        return nodes

    # --- forgetting

    @checked
    def forget(
        self, *ids: str, source: str | None = None, purge: bool = False, now: int | None = None,
        progress: Progress | None = None,
    ) -> list[str]:  # fmt: skip
        """Remove nodes for good and keep them from coming back; the forgotten ids come back. All of them or none.

        `source` forgets everything that came from a file, and so does the node of a file. Copies go too: what is
        forgotten must not answer from another place; `doomed` tells of them before. A large text index keeps the words,
        where no search finds them, until it is next rewritten (`has_traces` tells); `purge` does that at once.
        """
        doomed = self.doomed(*ids, source=source)
        moment = now_ms() if now is None else now
        return forget(self._vectors, self.scope, doomed, moment, self._home, purge, progress)

    @checked
    def doomed(self, *ids: str, source: str | None = None) -> Doomed:
        """What `forget` would take with the same arguments: the nodes meant, copies elsewhere, and what stays there."""
        named = self._own([self._need(id_) for id_ in ids], "forget")
        of_file = self._own(self._meant((), source), "forget")
        for file in [node for node in named if node.kind == "source" and node.source is not None]:
            of_file += self._own(self._meant((), file.source), "forget")
        files = {node.id for node in of_file if node.kind == "source"}
        named = [node for node in named if node.id not in files]
        doomed = doom(self.store, self.scope, named, list({node.id: node for node in of_file}.values()))
        return replace(doomed, subjects=frozenset(map(self._need, ids)))

    def has_traces(self) -> bool:
        """Whether words of something forgotten are still in the text index, where no search finds them."""
        return self.store.has_traces()

    # --- upkeep

    @checked
    def dream(
        self, *, only: Iterable[str] = (), dry_run: bool = False, everyone: bool = False, zone: str = "UTC",
        tagger: AutoTagger | None = None, teller: Teller | None = None, progress: Progress | None = None,
        now: int | None = None,
    ) -> DreamReport:  # fmt: skip
        """Let the memory find what belongs together: tags, edges, episodes. Only what changed since is looked at.

        `only` names passes; a dry run writes nothing and reports what it would change; `everyone` dreams for all users;
        `zone` is where days begin; a `tagger` and a `teller` take the place of the rules. While another dream is at
        work it is skipped.
        """
        now = now_ms() if now is None else now
        night = Night(
            self.store, self.scope, now, zone_of(zone), tagger or RULE, progress, self._home, self._vectors,
            teller or extract,
        )  # fmt: skip
        report = dream(night, only=list(only), dry_run=dry_run, everyone=everyone)
        return write_down(self.store, self.scope, report, now)

    @checked
    def mirror(
        self,
        directory: str | Path,
        placement: Placement | None = None,
        *,
        follow: bool = True,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> MirrorReport:
        """Write what this scope sees to Markdown files to browse, `@bucket/#tag/source.md`, or bring them in step.

        `placement` says whether an atom stands under its "first" tag or under "all"; None leaves it as it is. From now
        on ingest, dream and forget keep the folder in step, until it is deleted or mirrored with `follow=False`.
        """
        place, home = Path(directory), self._home
        if dry_run:
            return sync(self.store, self.scope, place, placement, memory=home, dry_run=True, progress=progress)
        return sync_and_register(self.store, self.scope, place, placement, memory=home, keep=follow, progress=progress)

    @checked
    def end_mirror(self, directory: str | Path) -> str:
        """No longer keep a mirror in step, also one that is away; the folder, which stays as it is, comes back."""
        return str(unregister(self.store, self.scope, Path(directory), self._home))

    def mirrors(self) -> list[str]:
        """The folders that are kept in step for this user, also those that are away."""
        known = registered(self.store, self._home).items()
        return [str(place) for place, one in known if one.state == "kept" and one.is_for(self.scope, ())]

    @checked
    def export(self, path: str | Path, *, format: str = "cuetrail", vectors: bool = False) -> int:
        """Write everything this user owns to a file, or in another system's format; how many records."""
        return export_file(self.store, self.scope, Path(path).expanduser(), format, vectors)

    @checked
    def import_(
        self, path: str | Path, *, format: str | None = None, progress: Progress | None = None, now: int | None = None
    ) -> ImportReport:
        """Take in an export of cuetrail or of another system. What was forgotten here stays forgotten."""
        place = Path(path).expanduser()
        options = Options(None, "internal", None, now_ms() if now is None else now, (self._home,))
        learn, space = self._learning(options.now), self._vectors.space()
        target = Target(self.store, self.scope, self._write, learn, self._single, space, options.now)
        report = import_file(target, place, format, options, progress)
        return replace(report, notices=self._taken_in(report.notices, progress))

    @checked
    def backup(self, path: str | Path) -> None:
        """Write one consistent copy of the memory to a tar file, while others go on writing."""
        self.store.backup(Path(path).expanduser())

    @checked
    def reembed(self, embedder: Embedder | str | None = None, *, progress: Progress | None = None) -> int:
        """Change over to another embedder, for every user, or make the missing vectors; how many were made.

        "none" drops all vectors: the memory is then searched by words alone. Recalls go on meanwhile and use the old
        vectors until all new ones are made. Interrupted, the same call goes on where it stopped.
        """
        if embedder is None:
            made = self._vectors.complete(progress)
        else:
            made = self._vectors.change_over(self._embedder(embedder), progress)
        self.store.refresh(progress)
        return made

    @checked
    def doctor(self, *, repair: bool = False, progress: Progress | None = None) -> list[Finding]:
        """What is wrong with this memory; empty when nothing is."""
        return self.store.doctor(repair, progress)

    @checked
    def refresh(self, progress: Progress | None = None) -> None:
        """Bring the indexes up to date now instead of at the next recall."""
        self.store.refresh(progress)


@checked
def restore(backup: str | Path, address: str | Path, *, force: bool = False) -> Path | None:
    """Put a backup in place of the memory at `address`; where a damaged one was kept, if there was one."""
    from cuetrail.store.sqlite.backup import restore as put_back

    if on_server(str(address)):
        raise InputError("a backup is restored to a folder: restore it there, then `cuetrail copy FOLDER ADDRESS`")
    return put_back(Path(backup).expanduser(), Path(address).expanduser(), force)


def copy_memory(source: str | Path, target: str | Path, *, progress: Progress | None = None) -> int:
    """Copy everyone's memories from one address to another, of either engine; how many records.

    The target must be empty. Vectors, history, tombstones and settings go along.
    """
    if not on_server(str(source)) and not (Path(source).expanduser() / "memory.db").exists():
        raise NotFound(f"there is no memory at {source}: name one to copy from")
    with closing(_open_store(str(source))) as one, closing(_open_store(str(target))) as other:
        done = copy(one, other, progress)
        other.refresh(progress)
    return done


def _reader(given: FactReader | str | None, key: str | None) -> FactReader | None:
    """What reads facts: the rules, a model, a function of the caller's, or nothing. Raises InputError for no such."""
    if given is None or given == "none":
        return None
    if given == "rules":
        return by_rules
    if not isinstance(given, str):
        return given
    kind, _, rest = given.partition(":")
    url, _, model = rest.rpartition("#")
    if kind != "openai":
        raise InputError(f"there is no extractor {given!r}: use rules, none, or openai:URL#MODEL")
    # Imported here: it takes longer than most commands need.
    from cuetrail.extract.llm import OpenAIReader

    return OpenAIReader(url, model, key)


def _open_server(address: str) -> Store:
    from cuetrail.store.neo4j.connection import Address, parse
    from cuetrail.store.neo4j.engine import Neo4jStore
    from cuetrail.store.sqlite import LocalStore

    found = parse(address)
    user, password = server_login(str(found), found.user, found.password)
    return Neo4jStore(Address(found.uri, found.database, user, password), LocalStore)


def _open_store(address: str) -> Store:
    if on_server(address):
        return _open_server(address)
    # Imported here because tantivy and numpy take longer to load than most commands need.
    from cuetrail.store.sqlite import LocalStore

    try:
        return LocalStore(Path(address).expanduser())
    except OSError as error:
        raise MemoryError_(
            f"{address} cannot be used as a memory's directory ({error.strerror or error}): choose another"
        ) from error
