"""The verb that corrects a memory, and leaves alone what it is not told of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from cuetrail.errors import Forgotten, NotFound
from cuetrail.model import Node, Tag
from cuetrail.store.read import own_nodes
from cuetrail.store.write import Batch
from cuetrail.text.timestamps import now_ms
from cuetrail.validation.arguments import checked
from cuetrail.validation.records import make_node
from cuetrail.verbs.believing import Believing
from cuetrail.write.links import Change, resolve


class Correcting(Believing):
    """The part of a `Memory` that corrects itself."""

    @checked
    def edit(
        self,
        id: str,
        *,
        text: str | None = None,
        name: str | None = None,
        aliases: Iterable[str] | None = None,
        tags: Iterable[str] | None = None,
        buckets: Iterable[str] | None = None,
        at: int | None = None,
        allow_again: bool = False,
        now: int | None = None,
    ) -> Node:
        """Correct a memory, given by id or name; it comes back. What is not given stays as it is.

        What it said before is kept as history. `tags` are those that people gave; what rules found stays beside them.
        Raises NotFound for one that is not there or is somebody else's, and Forgotten when it would say what was
        forgotten, unless `allow_again`.
        """
        moment = now_ms() if now is None else now
        found = self._need(id)
        homes = own_nodes(self.store, self.scope, [found])
        if not homes:
            raise NotFound(f"{found!r} belongs to somebody else: only its owner can edit it")
        (place, (node,)), *_ = homes.items()
        given = {"text": text, "name": name, "aliases": aliases, "tags": tags, "buckets": buckets, "at": at}
        changed = _corrected(node, {key: value for key, value in given.items() if value is not None}, moment)
        if not allow_again and self.store.redacted_texts(place, [changed]).get(changed.id):
            raise Forgotten(
                "a part of this was forgotten and stays so: leave that out, or pass allow_again=True (--allow-again)"
            )
        batch = Batch(nodes=[changed], allow_again=allow_again)
        if changed.name != node.name or changed.aliases != node.aliases:
            resolve(self.store, place, Change(arriving=[changed]), batch, moment)
        if self._write(batch, place).forgotten:
            raise Forgotten("this was forgotten and stays so: pass allow_again=True (--allow-again) to say it anew")
        return self.store.get(self.scope, [found]).get(found, changed)


def _corrected(node: Node, given: dict[str, Any], now: int) -> Node:
    """The node with the fields that are given, each as `add` would have it. Raises InputError."""
    as_is = {"id": node.id, "kind": node.kind, "name": node.name, "text": node.text, "at": node.at}
    made = make_node({**as_is, **given}, now)
    told: dict[str, Any] = {
        key: getattr(made, key) for key in ("text", "name", "aliases", "buckets", "at") if key in given
    }
    if "tags" in given:
        told["tag_details"] = _tags(made.tag_details, node.tag_details)
    if made.text != node.text:
        # It is no longer like what it was like.
        told["simhash"] = None
    return replace(node, **told, updated=now)


def _tags(given: tuple[Tag, ...], before: tuple[Tag, ...]) -> tuple[Tag, ...]:
    """The tags that people give now, and those that rules found."""
    names = {tag.name for tag in given}
    return (*given, *(tag for tag in before if tag.origin != "user" and tag.name not in names))
