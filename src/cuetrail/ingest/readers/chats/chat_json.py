"""Reads chats in JSON and JSONL: role/content lists, `messages` objects, and the exports of ChatGPT and Claude.

Each of these shapes is first turned into `Turn`s, then into documents. `chatgpt` and `claude` have what only one of
them writes. JSON of another kind goes to its own reader.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cuetrail.errors import ReadError
from cuetrail.files import load_json
from cuetrail.ingest import split
from cuetrail.ingest.document import Document, LeftOut, Part, aliases, stem
from cuetrail.ingest.passages import compose
from cuetrail.ingest.readers import plain, refused_exports, roam
from cuetrail.ingest.readers.app_folders import NOWHERE, Place
from cuetrail.ingest.readers.chats import chatgpt, claude
from cuetrail.ingest.readers.chats.left_out import OTHER_FILES, refuse_without_chats
from cuetrail.ingest.readers.chats.message_fields import (
    id_of,
    messages_of,
    names_a_speaker,
    speaker_of,
    text_of,
    time_of,
    title_of,
)
from cuetrail.text import document_dates
from cuetrail.text.prose import split_sentences

# A longer question says enough by itself.
_LONGEST_QUESTION = 200


@dataclass(frozen=True, slots=True)
class Turn:
    """One message: speaker, text, and time if known. The text of an attached file has its name, and no speaker."""

    speaker: str
    text: str
    at: int | None
    attachment: str = ""


@dataclass(frozen=True, slots=True)
class Chat:
    """One conversation in reading order."""

    id: str
    title: str
    at: int | None
    turns: tuple[Turn, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)


def read(text: str, source: str, place: Place = NOWHERE) -> list[Document]:
    """Returns one document of kind `chat` per conversation, or one per page of a Roam graph.

    JSON of an unknown shape becomes one document of text blobs. Raises ReadError for empty JSON and for the export of
    a known product that is not read here, LeftOut for account data and the like.
    """
    value, skipped = load_values(text)
    if (value is None and not text.strip()) or value in ([], {}, ""):
        raise ReadError(f"{source} is empty JSON. Export the chat again, or leave the file out.")
    if roam.is_graph(value):
        return roam.read(value, source)
    chats = _chats(value)
    if not chats:
        if others := _documents_beside_chats(value, source):
            return others
        refused_exports.refuse(value, source)
        if place.app == "chats":
            raise LeftOut(source, OTHER_FILES)
        return [plain.read(text, source, prose=False)]
    return _documents(chats, source, {"skipped_lines": skipped} if skipped else {})


def load_values(text: str) -> tuple[Any, int]:
    """Returns the value of a JSON text, or the list of values of JSON Lines, and the number of broken lines.

    The value is None if the text is neither, or if most of its lines are broken.
    """
    try:
        return load_json(text), 0
    except (ValueError, RecursionError):
        pass
    values: list[Any] = []
    broken = 0
    # splitlines() would also split at U+2028, which strings may contain.
    for line in filter(str.strip, text.split("\n")):
        try:
            values.append(load_json(line))
        except (ValueError, RecursionError):
            broken += 1
            if broken > len(values) + 1:
                return None, 0
    return (values, broken) if values and broken <= len(values) else (None, 0)


def _chats(value: Any) -> list[Chat]:
    """Returns the conversations in a JSON value: an object, or a list of conversations or messages; [] if none."""
    if isinstance(value, dict):
        chat = _conversation(value)
        return [chat] if chat else []
    if not isinstance(value, list):
        return []
    left_out = Counter[str]()
    turns = [_turns(item, left_out) for item in value]
    if any(turns) and all(turn or names_a_speaker(item) for turn, item in zip(turns, value, strict=True)):
        return [Chat("", "", None, tuple(turn for some in turns for turn in some), left_out)]
    found = [_conversation(item) for item in value if isinstance(item, dict)]
    return [chat for chat in found if chat]


def _conversation(item: Mapping[str, Any]) -> Chat | None:
    mapping = item.get("mapping")
    if isinstance(mapping, dict):
        messages: Iterable[Any] = chatgpt.messages_of_branch(mapping, item.get("current_node"))
    else:
        messages = messages_of(item)
    left_out = Counter[str]()
    turns = tuple(turn for message in messages for turn in _turns(message, left_out))
    return Chat(id_of(item), title_of(item), time_of(item), turns, left_out) if turns else None


def read_turn(message: Any) -> Turn | None:
    """Returns a message as a turn; None if it is hidden, is not an object, or has no speaker or no text."""
    if not isinstance(message, dict) or chatgpt.reason_to_hide(message):
        return None
    return _turn(message, Counter())


def _turns(message: Any, left_out: Counter[str]) -> list[Turn]:
    """Returns a message as a turn, after the texts of the files attached to it; only these if it has no speaker or no
    text, and [] if it is hidden or not an object. Counts in `left_out` what is left out.
    """
    if not isinstance(message, dict):
        return []
    if reason := chatgpt.reason_to_hide(message):
        left_out[reason] += 1
        return []
    claude.count_blocks(message, left_out)
    turn = _turn(message, left_out)
    files = [Turn("", text, time_of(message), name) for name, text in claude.attached_texts(message, left_out)]
    chatgpt.count_attachments(message, left_out)
    return [*files, turn] if turn is not None else files


def _turn(message: Mapping[str, Any], left_out: Counter[str]) -> Turn | None:
    """Returns a message as a turn; None if it has no speaker or no text. A name wins over the role "user"."""
    speaker = speaker_of(message)
    text = claude.without_unsupported(chatgpt.without_citations(text_of(message), left_out)).strip()
    return Turn(speaker, text, time_of(message)) if speaker and text else None


def _documents_beside_chats(value: Any, source: str) -> list[Document]:
    """Returns the documents of projects and memories of Claude; [] for any other JSON.

    Raises LeftOut for account data and for chats without any message.
    """
    items = [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]
    if not items or (isinstance(value, list) and len(items) != len(value)):
        return []
    refuse_without_chats(items, source)
    return claude.projects_and_memories(items, source)


def _documents(chats: list[Chat], source: str, props: Mapping[str, Any]) -> list[Document]:
    documents: list[Document] = []
    used: set[str] = set()
    for number, chat in enumerate(chats, start=1):
        key = chat.id or str(number)
        # Merged exports repeat conversations; each needs its own path.
        key = key if key not in used else f"{key}-{number}"
        used.add(key)
        alone = len(chats) == 1
        title = chat.title or (stem(source) if alone else f"{stem(source)} {number}")
        document = Document(
            path=f"{source}#{key}",
            title=title,
            kind="chat",
            aliases=aliases(source, title) if alone else (),
            at=document_dates.from_name(stem(source)) if chat.at is None else chat.at,
            props=props,
            read={"conversations": 1, "messages": sum(not turn.attachment for turn in chat.turns)},
            left_out={name: count for name, count in chat.left_out.items() if count},
        )
        documents.append(compose(document, _parts(chat.turns)))
    return documents


def _parts(turns: Sequence[Turn]) -> list[Part]:
    """Returns the parts of all turns. A short question is put before its answer, in the answer's first part."""
    parts: list[Part] = []
    question: Turn | None = None
    for number, (turn, following) in enumerate(zip(turns, [*turns[1:], None], strict=True), 1):
        if question is None and following and turn.speaker and _is_question(turn) and turn.speaker != following.speaker:
            question = turn
            continue
        first, *rest = split_turn(turn, number)
        if question is not None:
            at = question.at if first.at is None else first.at
            first = replace(first, question=f"{question.speaker}: {question.text}", at=at)
        parts += [first, *rest]
        question = None
    return parts


def _is_question(turn: Turn) -> bool:
    """True if the turn is short and consists of questions only."""
    if len(turn.text) > _LONGEST_QUESTION or "\n" in turn.text:
        return False
    return all(sentence.rstrip("\"'”’)*_ \n").endswith(("?", "？", "؟")) for sentence in split_sentences(turn.text))


def split_turn(turn: Turn, number: int) -> list[Part]:
    """Returns a short turn as one part, a long one as its blocks."""
    part = Part(turn.text, apart=True, at=turn.at, speaker=turn.speaker or None, props={"turn": number})
    if turn.attachment:
        part = replace(
            part, text=f"{turn.attachment}:\n{turn.text}", props={**part.props, "attachment": turn.attachment}
        )
    if len(part.text) <= split.PROSE:
        return [part]
    blocks = [block for block in split.markdown(part.text) if block.kind != "rule"]
    return [
        replace(part, text=block.text, prose=block.kind != "code", apart=not i, joint=block.joint)
        for i, block in enumerate(blocks)
    ]
