"""Adds messages to a conversation: new ones go behind those that it has, and none is stored twice.

A message is the same as a stored one if both have the same id or, without ids, the same speaker, text and stated time.
A short answer such as "yes" may be given twice: `_known_ids` tells a new one from a repeated one by what stands around
it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cuetrail.errors import InputError
from cuetrail.extract.whose_voice import SILENT_ROLES
from cuetrail.ingest.readers.chats.chat_json import Turn, load_values, read_turn, split_turn
from cuetrail.model import FROM_FILE, ChatReport, Node
from cuetrail.model.ids import atom_id, source_id
from cuetrail.session import Session
from cuetrail.store.read import forgotten_ids
from cuetrail.store.write import Batch, Progress, Written
from cuetrail.text.document_dates import parse
from cuetrail.validation.arguments import check, check_length
from cuetrail.validation.convert_arguments import time_of
from cuetrail.validation.limits import nesting_fault
from cuetrail.validation.records import make_node
from cuetrail.write.pipeline import NODES_PER_WRITE, write

TIME_FIELDS = ("at", "timestamp", "created_at")
ID_FIELDS = ("id", "uuid", "message_id")
TEXT_PARTS = frozenset({"text", "input_text", "output_text"})
# An answer of fewer words, such as "yes, please", may well be given again.
FEW_WORDS = 3
# How many more equal messages are looked up at once, if there is one.
PROBED = 8


@dataclass(frozen=True, slots=True)
class Message:
    """One message to store: its number in the call, from 1 on, and what it is known by.

    `stated_at` is the time that the message itself has. `own_id` is the message's own id, or "".
    """

    number: int
    turn: Turn
    stated_at: int | None
    own_id: str

    @property
    def key(self) -> str:
        """A text that is the same for equal messages, and different for others."""
        if self.own_id:
            return f"id {self.own_id}"
        return f"{self.stated_at} {self.turn.speaker}: {self.turn.text}"

    @property
    def is_identified(self) -> bool:
        """True if an equal message is certainly the same one."""
        return bool(self.own_id) or self.stated_at is not None


def add_messages(
    session: Session, given: Iterable[Any], source: str, at: int | None, common: Mapping[str, Any], allow_again: bool,
    progress: Progress | None, now: int,
) -> ChatReport:  # fmt: skip
    """Adds messages to the conversation `source` and returns what was added. `common` are arguments of `Memory.add`
    for every message. Raises InputError for a message that cannot be read, and if `source` is an ingested file.
    """
    items = list(given)
    check_length("messages", items)
    messages, left_out = read_messages(items, now)
    place = _conversation(session, source, common, now)
    path = place.source or ""
    stored = _stored_ids(session, path, messages)
    ids = _known_ids(session, path, messages, stored)
    known = len(ids)
    counts = Counter({key: len(some) for key, some in stored.items()})
    nodes: list[Node] = []
    for message in messages:
        if message.number not in ids:
            ids[message.number] = atom_id(path, message.key, counts[message.key])
            counts[message.key] += 1
            nodes += _nodes(message, ids[message.number], path, at, common, now)
    place = replace(place, at=nodes[0].at) if nodes else place
    written = _write(session, place, nodes, allow_again, progress, now)
    refused = [number for number, id_ in ids.items() if id_ in written.forgotten]
    left_out += [f"message {number} was forgotten before: allow_again (--allow-again) adds it" for number in refused]
    left_out += [
        f"message {number} lost sentences that were forgotten" for number, id_ in ids.items() if id_ in written.cut
    ]
    facts = session.store.facts(session.scope, [node.id for node in nodes], "source_ref") if nodes else {}
    return ChatReport(
        path,
        tuple(None if number in refused else ids.get(number) for number in range(1, len(items) + 1)),
        added=len(ids) - known - len(refused),
        known=known,
        facts=sum(map(len, facts.values())),
        left_out=tuple(left_out),
        notices=session.with_notice(()),
    )


# --- from the caller's messages to turns


def messages_in(text: str, file: str) -> list[Any]:
    """Returns the messages of a file: a JSON list of them, an object with `messages`, or one message in each line.

    Raises InputError for any other file.
    """
    value, broken = load_values(text)
    if isinstance(value, Mapping):
        value = value.get("messages")
    if broken or not isinstance(value, list) or any(isinstance(one, Mapping) and "messages" in one for one in value):
        raise InputError(
            f'{file} is no list of messages such as [{{"role": "user", "content": "hello"}}]: '
            "exports of other programs are read by `cuetrail ingest` and `cuetrail import`"
        )
    return value


def read_messages(items: Sequence[Any], now: int) -> tuple[list[Message], list[str]]:
    """Returns the messages to store, and what of the others is left out and why. Raises InputError for one that is no
    message, or has a time that cannot be read.
    """
    messages: list[Message] = []
    left_out: list[str] = []
    for number, item in enumerate(items, 1):
        if not isinstance(item, Mapping):
            raise InputError(
                f'message {number} must be a mapping such as {{"role": "user", "content": "hello"}}, not {item!r:.60}'
            )
        if (fault := nesting_fault(item)) is not None:
            raise InputError(f"message {number} is too large: its parts cannot be read, {fault}")
        item = dict(item)
        role = str(item.get("role") or "").casefold()
        if role in SILENT_ROLES:
            left_out.append(f"message {number} ({role}): only what users and assistants say is kept")
            continue
        turn = read_turn(item)
        others = _other_parts(item)
        if turn is None and not others and not _has_speaker(item):
            raise InputError(f"message {number} must say who speaks: give role (user or assistant) or name")
        if others:
            left_out.append(f"message {number}: {', '.join(others)}")
        if turn is None:
            left_out += [] if others else [f"message {number}: it has no text"]
            continue
        messages.append(Message(number, turn, _stated_time(item, number, now), _own_id(item)))
    return messages, left_out


def _has_speaker(item: Mapping[str, Any]) -> bool:
    """True if the message says who speaks, so that it lacks at most a text."""
    return read_turn({**item, "content": "text"}) is not None


def _other_parts(item: Mapping[str, Any]) -> list[str]:
    """Returns the types of the parts of a message that are no text, such as image_url, and tool_calls."""
    parts = item.get("content")
    kinds = [
        str(part.get("type") or "a part without a type")
        for part in (parts if isinstance(parts, list) else ())
        if isinstance(part, Mapping) and part.get("type", "text") not in TEXT_PARTS
    ]
    return list(dict.fromkeys([*kinds, *(name for name in ("tool_calls", "function_call") if item.get(name))]))


def _stated_time(item: Mapping[str, Any], number: int, now: int) -> int | None:
    """Returns the time that a message states, None if it states none. Raises InputError if it cannot be read."""
    given = next((item[name] for name in TIME_FIELDS if item.get(name) is not None), None)
    if given is None:
        return None
    read = parse(given) if isinstance(given, (int, float)) and not isinstance(given, bool) else None
    try:
        found: int = time_of(given, now) if read is None else int(read)
        check("at", found)
    except InputError as error:
        raise InputError(f"message {number}: {error}") from None
    return found


def _own_id(item: Mapping[str, Any]) -> str:
    given = next((item[name] for name in ID_FIELDS if item.get(name) is not None), "")
    return str(given).strip() if isinstance(given, (str, int)) and not isinstance(given, bool) else ""


# --- which messages the conversation has


def _stored_ids(session: Session, source: str, messages: Iterable[Message]) -> dict[str, list[str]]:
    """Returns, by key, the ids of the stored messages that are equal to these, in the order in which they came."""
    found: dict[str, list[str]] = {}
    asked = list(dict.fromkeys(message.key for message in messages))
    begin, end = 0, 1
    while asked:
        ids = {key: [atom_id(source, key, nth) for nth in range(begin, end)] for key in asked}
        present = session.store.get(session.scope, [id_ for some in ids.values() for id_ in some])
        for key, some in ids.items():
            found.setdefault(key, []).extend(id_ for id_ in some if id_ in present)
        asked = [key for key, some in ids.items() if all(id_ in present for id_ in some)]
        begin, end = end, end + PROBED
    return found


def _known_ids(
    session: Session, source: str, messages: Sequence[Message], stored: Mapping[str, Sequence[str]]
) -> dict[int, str]:
    """Returns the ids of the messages that are stored, by number.

    If all of them stand in the conversation one after another, they are those. If they begin with the messages that it
    ends with, only these are known. Otherwise an equal message is the same one, except a short answer if some of the
    messages are new. A message with an id or a time is known by that in any case.
    """
    seen: Counter[str] = Counter()
    equal: dict[int, str] = {}
    for message in messages:
        some = stored[message.key]
        if seen[message.key] < len(some):
            equal[message.number] = some[seen[message.key]]
        seen[message.key] += 1
    surely = {one.number: equal[one.number] for one in messages if one.is_identified and one.number in equal}
    if len(surely) == len(equal):
        return equal
    ids = _order(session, source)
    keys = {id_: key for key, some in stored.items() for id_ in some}
    held, asked = [keys.get(id_, "") for id_ in ids], [one.key for one in messages]
    if len(equal) == len(messages) and _is_run(asked, held):
        return equal
    size = next((size for size in range(min(len(held), len(asked)), 0, -1) if held[-size:] == asked[:size]), 0)
    if size:
        return surely | {one.number: id_ for one, id_ in zip(messages, ids[-size:], strict=False)}
    short = {one.number for one in messages if len(one.turn.text.split()) < FEW_WORDS}
    is_new = len(equal) < len(messages)
    return surely | {number: id_ for number, id_ in equal.items() if not (is_new and number in short)}


def _order(session: Session, source: str) -> list[str]:
    """Returns the ids of the messages of a conversation in order."""
    nodes = session.store.atoms_of(session.scope, [source])[source]
    return [n.id for n in nodes if n.kind == "atom" and n.source == source and not n.props.get("block")]


def _is_run(asked: Sequence[str], held: Sequence[str]) -> bool:
    """True if the keys stand in the conversation one after another."""
    starts = (place for place, key in enumerate(held) if key == asked[0])
    return any(held[place : place + len(asked)] == asked for place in starts)


# --- what is written


def _conversation(session: Session, source: str, common: Mapping[str, Any], now: int) -> Node:
    """Returns the node of the conversation, with its source in stored form. Raises InputError if the source is empty or
    an ingested file has that name.
    """
    if not source.strip():
        raise InputError("name the conversation that the messages belong to: give a source, such as talk-42")
    named = make_node({"kind": "source", "name": source, "source": source}, now)
    place = replace(
        named, id=source_id(named.source or ""), seq=-1, provenance=common["provenance"], props={"format": "chat"}
    )
    held = session.store.get(session.scope, [place.id]).get(place.id)
    if held is not None and (FROM_FILE in held.props or held.props.get("format", "chat") != "chat"):
        raise InputError(
            f"{source!r:.80} is an ingested file, and its next ingest would remove what is added: name another source"
        )
    return place


def _nodes(
    message: Message, id_: str, source: str, at: int | None, common: Mapping[str, Any], now: int
) -> Iterable[Node]:
    """Yields the node of a message; of a long one, a node for each of its blocks."""
    turn = message.turn
    time = message.stated_at if message.stated_at is not None else at
    for block, part in enumerate(split_turn(turn, message.number)):
        props = {"speaker": turn.speaker, **({"block": block} if block else {})}
        block_id = atom_id(source, id_, block) if block else id_
        given = {**common, "id": block_id, "text": part.spoken(), "source": source, "at": time, "props": props}
        yield make_node(given, now)


def _write(
    session: Session, place: Node, nodes: Sequence[Node], allow_again: bool, progress: Progress | None, now: int
) -> Written:
    """Writes the conversation and its new messages, and the facts that people state in them; returns what was
    written.
    """
    store, scope = session.store, session.scope
    total = Written()
    forgotten = set() if allow_again else forgotten_ids(store, scope, nodes)
    with store.bulk():
        if place.id not in store.get(scope, [place.id]) and any(node.id not in forgotten for node in nodes):
            # A conversation that was forgotten may begin anew under its name.
            write(session, Batch(nodes=[place], allow_again=True), now)
        for start in range(0, len(nodes), NODES_PER_WRITE):
            some = list(nodes[start : start + NODES_PER_WRITE])
            total = total.plus(write(session, Batch(nodes=some, allow_again=allow_again), now, read_facts=True))
            if progress:
                progress("adding", start + len(some), len(nodes))
    return total
