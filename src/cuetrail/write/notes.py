"""Writes notes on nodes and on edges."""

from __future__ import annotations

from cuetrail.facts.find_node import find_node, require_node
from cuetrail.model import Note, When
from cuetrail.session import Session
from cuetrail.store.read import edges_by_id
from cuetrail.store.write import Batch
from cuetrail.validation.records import make_note
from cuetrail.write.pipeline import adopt, write


def note(session: Session, target: str, text: str, expires: When | None, now: int) -> Note:
    """Writes a note on a node, given by id or name, or on an edge, given by id, and returns it. Raises NotFound if
    there is neither, and InputError for an empty text or a wrong time.
    """
    store, scope = session.store, session.scope
    if find_node(store, scope, target) is None and edges_by_id(store, scope, [target]):
        made = make_note(target, text, expires, now, "edge")
        write(session, Batch(notes=[made], refuse_forgotten=True), now)
        return made
    made = make_note(require_node(store, scope, target), text, expires, now)
    write(session, Batch(nodes=adopt(session, (made.target,), now), notes=[made], refuse_forgotten=True), now)
    return made
