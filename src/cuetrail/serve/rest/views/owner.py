"""The view `owner`: what the memory holds about its user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cuetrail.explore.brief import owner_of
from cuetrail.serve.json_data import to_json_data
from cuetrail.text.normalise import snippet

if TYPE_CHECKING:
    from cuetrail.memory import Memory

MOST_FACTS = 500
"""The most facts that are shown, the newest first."""


def owner(memory: Memory, _arguments: Mapping[str, Any], _local: bool) -> dict[str, Any]:
    """Returns the name of the user, the user's node (None if there is none), and the facts about the user, newest
    first: each with the title of its object, and the text that states it (None if it was stated directly).
    """
    node = owner_of(memory.store, memory.scope)
    stated = memory.fact_history(node.id) if node is not None else []
    facts = sorted(stated, key=lambda fact: -fact.created)[:MOST_FACTS]
    wanted = {id_ for fact in facts for id_ in (fact.object, fact.source_ref) if id_ is not None}
    nodes = memory.nodes(*wanted)
    rows = []
    for fact in facts:
        about, text = nodes.get(fact.object or ""), nodes.get(fact.source_ref or "")
        origin = None if text is None else {"id": text.id, "source": text.source, "text": snippet(text.text, 160)}
        title = None if about is None else about.name or snippet(about.text, 90) or about.id
        rows.append({**to_json_data(fact), "object_title": title, "origin": origin})
    return {"user": memory.scope.user, "node": None if node is None else to_json_data(node), "facts": rows}
