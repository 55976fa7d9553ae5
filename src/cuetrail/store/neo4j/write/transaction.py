"""One write transaction on the server: a table for each kind of record. See `store.transaction` for the methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cuetrail.model import Scope
from cuetrail.store.neo4j.changelog import log
from cuetrail.store.neo4j.connection import Tx
from cuetrail.store.neo4j.index import vector_spaces
from cuetrail.store.neo4j.write.edges import Edges
from cuetrail.store.neo4j.write.facts import Facts
from cuetrail.store.neo4j.write.history import History
from cuetrail.store.neo4j.write.links import Links
from cuetrail.store.neo4j.write.nodes import Nodes
from cuetrail.store.neo4j.write.notes import Notes
from cuetrail.store.neo4j.write.sources import Sources
from cuetrail.store.neo4j.write.state import WriteState
from cuetrail.store.neo4j.write.tombstones import Tombstones
from cuetrail.store.transaction import Handle, Kind
from cuetrail.store.vector_space import VectorKind, VectorSpace

_VECTORS = "UNWIND $rows AS row MATCH (n:CueNode {key: row.key}) SET n += row.props"
_LABELLED = """UNWIND $rows AS row MATCH (p:CuePlace {part: row[0]})
SET p.labelled = coalesce(p.labelled, 0) + row[1]"""


class Neo4jTransaction:
    """A transaction that writes to a scope's partition; `free_keys` are for new nodes. See `store.transaction`."""

    def __init__(self, tx: Tx, scope: Scope, free_keys: Sequence[int] = ()) -> None:
        self.tx = tx
        self.state = WriteState(tx, scope, free_keys)
        self.partition = self.state.partition
        self.ids = self.state.ids
        self.tombstones = Tombstones(tx, self.ids)
        self.notes = Notes(self.state)
        self.edges = Edges(self.state)
        self.facts = Facts(self.state)
        self.nodes = Nodes(self.state, self.edges.remove_at, self.facts.topics_with_objects)
        self.history = History(self.state)
        self.links = Links(self.state)
        self.sources = Sources(self.state)

    def log(self, dreamed_by: str | None = None) -> None:
        """Appends the changed keys to the change log, as last step. `dreamed_by` names the dream pass that wrote."""
        self.state.run(_LABELLED, [[part, n] for part, n in sorted(self.state.labelled.items()) if n])
        log(self.tx, self.state.changed, dreamed_by, self.state.new)

    # --- ids

    def find(self, ids: Iterable[str], kind: Kind = "node") -> dict[str, Handle]:
        return {id_: one.handle for id_, one in self.ids.seek(ids, kind).items()}

    def find_own(self, ids: Iterable[str], kind: Kind = "node") -> dict[str, Handle]:
        """Returns the same as `find`, but only for records that the user owns, and locks their partitions."""
        found = self.ids.seek(ids, kind, mine=True)
        self.state.lock(one.part for one in found.values())
        return {id_: one.handle for id_, one in found.items()}

    def find_here(self, ids: Iterable[str]) -> dict[str, int]:
        return {id_: int(one.handle) for id_, one in self.ids.find(ids, parts=[self.partition]).items()}

    # --- vectors

    def vector_space(self) -> VectorSpace | None:
        return vector_spaces.held(self.tx)

    def put_vectors(self, kind: VectorKind, space: VectorSpace, vectors: Mapping[Handle, bytes]) -> None:
        vector_spaces.store(self.tx, space, vectors, kind)

    def drop_vectors(self, keys: Sequence[int]) -> None:
        held = (vector_spaces.held(self.tx), vector_spaces.coming(self.tx)) if keys else ()
        nothing = {vector_spaces.slot(space): None for space in held if space}
        if nothing:
            self.state.run(_VECTORS, [{"key": key, "props": nothing} for key in keys])
