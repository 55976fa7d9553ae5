"""What the integrations share: recalled texts with their metadata, and messages of conversations as memories."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from cuetrail.store.write import Batch
from cuetrail.text.timestamps import now_ms
from cuetrail.write.pipeline import write

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.model import Hit, Node, Recollection
    from cuetrail.store.write import Written

FACTS = "facts"
"""The id and kind of the retrieved text that has the current facts."""


class Message(NamedTuple):
    """A message of a conversation: who says it (`speaker`), its text, and an id that stays the same if it comes again.

    `at` is its time in UTC milliseconds, None for now. `props` are kept beside it. `outside`: it came from a tool.
    """

    id: str
    speaker: str
    text: str
    at: int | None = None
    props: Mapping[str, Any] = {}
    outside: bool = False


def made_id(*parts: str) -> str:
    """Returns an id made of texts: the same for the same texts."""
    return hashlib.blake2b(json.dumps(parts).encode("utf-8", "replace"), digest_size=16).hexdigest()


def remember(memory: Memory, source: str, messages: Iterable[Message]) -> Written:
    """Adds messages to a conversation, in their order; one that is known already is not added again."""
    every = {message.id: message for message in messages if message.text.strip()}
    known = memory.nodes(*every)
    return memory.add_many(
        {
            "id": id_, "text": one.text, "source": source, "at": one.at, "props": {"speaker": one.speaker, **one.props},
            "provenance": "external" if one.outside else "internal",
        }
        for id_, one in every.items()
        if id_ not in known
    )  # fmt: skip


def conversation(memory: Memory, source: str) -> list[Node]:
    """Returns the messages of a conversation, in their order."""
    found = memory.store.atoms_of(memory.scope, [source]).get(source, [])
    return sorted(found, key=lambda node: (node.seq, node.at, node.id))


def remove(memory: Memory, ids: Sequence[str]) -> None:
    """Removes memories without a tombstone: a framework may write the same text again. Copies elsewhere stay."""
    if ids:
        write(memory.session, Batch(remove_nodes=list(ids)), now_ms())


def recalled_text(memory: Memory, cue: str, options: Mapping[str, Any]) -> str:
    """Returns the text of a recall, "" if the cue is blank or the memory does not answer it."""
    found = memory.recall(cue, **options) if cue.strip() else None
    return found.text if found is not None and found.answerable else ""


class Retrieved(NamedTuple):
    """One retrieved text, its score, and its metadata."""

    id: str
    text: str
    score: float
    metadata: dict[str, Any]


def retrieve(memory: Memory, query: str, options: Mapping[str, Any]) -> list[Retrieved]:
    """Returns the texts of a recall, best first, at most `options["limit"]`; [] if nothing answers the query. Current
    facts that fit the query come first, joined in one text with a line for each.
    """
    result = memory.recall(query, **options)
    if not result.answerable:
        return []
    anchors = {hit.node.id for hit in result.anchors}
    hits = [
        Retrieved(hit.node.id, _text(hit), hit.score, _metadata(hit, hit.node.id in anchors)) for hit in result.hits
    ]
    return [*_facts(result), *hits][: options.get("limit")]


def _facts(result: Recollection) -> list[Retrieved]:
    """Returns [one text with the current facts of a recollection, a line for each]; [] if there are none."""
    if not result.facts:
        return []
    metadata = {
        "id": FACTS, "kind": FACTS, "name": None, "tags": [], "automatic_tags": [], "buckets": [],
        "source": ", ".join(dict.fromkeys(one.source for one in result.facts if one.source is not None)) or None,
        "at": max(one.since for one in result.facts), "score": 1.0, "found": FACTS, "mark": "",
        "facts": [one.fact.id for one in result.facts],
    }  # fmt: skip
    return [Retrieved(FACTS, "\n".join(one.line for one in result.facts), 1.0, metadata)]


def _metadata(hit: Hit, directly: bool) -> dict[str, Any]:
    node = hit.node
    return {
        "id": node.id, "kind": node.kind, "name": node.name, "tags": list(node.own_tags),
        "automatic_tags": list(node.automatic_tags), "buckets": list(node.buckets),
        "source": node.source, "at": node.at, "score": hit.score, "found": "directly" if directly else "associated",
        "mark": hit.mark,
    }  # fmt: skip


def _text(hit: Hit) -> str:
    """Returns the text of a hit, or its name if it has no text. If it states an outdated fact, its mark comes first."""
    text = hit.node.text or hit.node.name or ""
    return f"[{hit.mark}] {text}" if hit.mark else text
