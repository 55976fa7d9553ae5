"""A year of three people: chats come in every day, questions are asked, and every night is dreamt.

    python -m bench.year --data DIR              # DIR has conversation/longmemeval.sessions.jsonl.gz
    python -m bench.year --data DIR --chats 300 --days 120

The chats are exchanges of LongMemEval's sessions (MIT licence), 2,000 of them, spread over 365 days and over three
users of one memory. Those on SEASONAL topics come in the first and the last fifth of the year, the others evenly. Each
user has all TOPICS as concepts, and asks for one of them every day. Every night everyone's dream runs, and then once
more.

It is checked that the second run of a night writes nothing, that storylines and macros keep their rules, and that
nobody is shown anything of another. The CPU times of the nights are published: those around the last day against those
around day 30. A machine that others use too is slower at times, and there are minutes between these nights; so nights
are compared by how often a fixed piece of work, done right behind each, would fit into it.
"""

from __future__ import annotations

import gc
import gzip
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from pathlib import Path

from bench.common import Result, arguments, ms, p50, publish, times, workplace
from cuetrail import Memory, Node, Scope
from cuetrail.model import STORYLINE_KINDS, Edge, Mention

DAY = 86_400_000
# Monday, 2 January 2023.
START = 1_672_617_600_000
USERS = ("ann", "bob", "cleo")
TOPICS = (
    "garden", "camera", "guitar", "yoga", "recipe", "budget", "bike", "coffee", "museum", "wedding", "laptop", "hiking",
    "music", "travel", "fitness", "book", "dinner", "family", "weekend", "project",
)  # fmt: skip
SEASONAL = ("garden", "camera", "guitar", "hiking", "museum", "bike")
FILE = "conversation/longmemeval.sessions.jsonl.gz"
COLUMNS = ["night", "p50 of 11 nights", "times the fixed work", "nodes"]


@dataclass(frozen=True, slots=True)
class Chat:
    """An exchange: what was said, by whom."""

    id: str
    turns: list[dict[str, str]]


@dataclass(slots=True)
class Year:
    """What was seen: the seconds of each night and of the work behind it, how many nodes there were, and what second
    runs wrote.
    """

    seconds: list[float] = field(default_factory=list)
    fixed: list[float] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    again: int = 0


def main() -> None:
    parser = arguments(__doc__, sizes=False)
    parser.add_argument("--data", type=Path, help="the folder of the data sets")
    parser.add_argument("--chats", type=int, default=2_000, help="how many chats come in")
    parser.add_argument("--days", type=int, default=365, help="how many days there are")
    options = parser.parse_args()
    file = (options.data / FILE) if options.data else None
    if file is None or not file.exists():
        sys.exit(f"the year needs chats: give --data DIR, a folder with {FILE}")
    chats = exchanges(file, options.chats)
    with workplace(options.work) as work:
        place = work / "year"
        with Memory(place, scope=Scope(user=USERS[0]), embedder="none") as memory:
            year = lived(memory, place, chats, options.days)
        told = check(place)
    publish(_result(year, len(chats), told))


def _result(year: Year, chats: int, told: dict[str, int]) -> Result:
    last = len(year.seconds)
    rows, costs = [], []
    for night, some in ((30, slice(24, 35)), (last, slice(last - 11, last))):
        costs.append(p50([one / fixed for one, fixed in zip(year.seconds[some], year.fixed[some], strict=True)]))
        rows.append([str(night), ms(p50(year.seconds[some])), f"{costs[-1]:.1f}", f"{year.nodes[night - 1]:,}"])
    early, late = costs
    figures = {"last / day 30": late / early, "written by second runs": float(year.again), **told}
    notes = [f"{chats:,} chats; {told['storylines']} storylines, {told['macros']} macros; {times(late / early)}"]
    return Result("year", 0, COLUMNS, rows, figures, notes)


def exchanges(file: Path, count: int) -> list[Chat]:
    """So many exchanges, each a question and its answer, taken in turns from all sessions."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        sessions = [json.loads(line) for line in lines]
    found: list[tuple[int, Chat]] = []
    for session in sessions:
        turns = session["turns"]
        for n in range(0, len(turns), 2):
            said = [{"role": one["role"], "content": one["text"][:1500]} for one in turns[n : n + 2]]
            found.append((n, Chat(f"{session['id']}-{n}", said)))
    return [chat for _, chat in sorted(found, key=lambda pair: (pair[0], pair[1].id))][:count]


def lived(memory: Memory, place: Path, chats: Sequence[Chat], days: int, step: int = 1) -> Year:
    """Let the year pass, a night every so many days; each is dreamt twice."""
    year = Year()
    memories = [Memory(place, scope=Scope(user=user), embedder="none") for user in USERS]
    try:
        for one in memories:
            one.add_many({"name": topic, "kind": "concept", "at": START} for topic in TOPICS)
        coming = calendar(chats, days)
        for night in range(0, days, step):
            for day in range(night, min(night + step, days)):
                for number, chat in coming.get(day, []):
                    _say(memories[number % len(USERS)], chat, START + day * DAY + number % 8 * 3_600_000)
            evening = START + (night + step - 1) * DAY + 20 * 3_600_000
            for n, one in enumerate(memories):
                one.explore(text_matches=[TOPICS[(night // step + n) % len(TOPICS)]], now=evening)
            _sleep(memory, year, evening + 3_600_000)
    finally:
        for one in memories:
            one.close()
    return year


def _sleep(memory: Memory, year: Year, night: int) -> None:
    start = time.process_time()
    memory.dream(everyone=True, now=night)
    year.seconds.append(time.process_time() - start)
    year.fixed.append(_fixed_work())
    year.nodes.append(memory.stats().nodes)
    again = memory.dream(everyone=True, now=night)
    year.again += sum(one.wrote + one.removed for one in again.passes)


def _fixed_work() -> float:
    """The seconds of CPU of what is the same every night: numbers are written, read, counted and sorted.

    Nothing is collected meanwhile: that takes the longer the more the memory holds, and would make late nights look
    cheap.
    """
    gc.disable()
    start = time.process_time()
    for _ in range(5):
        words = json.loads(json.dumps([f"{n * 7_919 % 10_007} {n}" for n in range(10_000)]))
        counts = Counter(word.partition(" ")[0] for word in words)
        sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    spent = time.process_time() - start
    gc.enable()
    return spent


def calendar(chats: Sequence[Chat], days: int) -> dict[int, list[tuple[int, Chat]]]:
    """The chats of each day, with their numbers."""
    found: dict[int, list[tuple[int, Chat]]] = {}
    for number, chat in enumerate(chats):
        share = number / len(chats)
        said = " ".join(turn["content"] for turn in chat.turns).lower()
        if any(topic in said for topic in SEASONAL):
            share = share * 0.4 + (0.6 if share >= 0.5 else 0.0)
        found.setdefault(int(share * days), []).append((number, chat))
    return found


def _say(memory: Memory, chat: Chat, at: int) -> None:
    said = {"title": chat.id, "messages": [{**turn, "timestamp": at / 1000} for turn in chat.turns]}
    memory.ingest_text(json.dumps(said), source=f"chats/{chat.id}.json", format="json", now=at)


# --- what must hold


def check(place: Path) -> dict[str, int]:
    """Look at everyone's memories; how many storylines and macros there are. A broken rule is an AssertionError."""
    told = dict.fromkeys(("storylines", "macros"), 0)
    for user in USERS:
        with Memory(place, scope=Scope(user=user), embedder="none") as memory:
            records = [record for _, record in memory.store.scan(memory.scope)]
            for granularity in (1, 2, 3):
                found = memory.explore(list(TOPICS[:3]), granularity=granularity, record_access=False)
                assert {item.node.owner for item in found.items} <= {user}, "nothing of one user reaches another"
        nodes = {record.id: record for record in records if isinstance(record, Node)}
        assert {node.owner for node in nodes.values()} == {user}, "a scan has what a user owns"
        edges = [record for record in records if isinstance(record, Edge)]
        mentions = {(record.source, record.node) for record in records if isinstance(record, Mention)}
        told["storylines"] += _check_stories(nodes, edges, mentions)
        told["macros"] += _check_macros(nodes, edges)
    return told


def _children(nodes: dict[str, Node], edges: Sequence[Edge], kind: str) -> dict[str, list[Node]]:
    found: dict[str, list[Node]] = {id_: [] for id_, node in nodes.items() if node.kind == kind}
    for edge in edges:
        if edge.kind == "part_of" and edge.dst in found:
            found[edge.dst].append(nodes[edge.src])
    return found


def _check_stories(nodes: dict[str, Node], edges: Sequence[Edge], mentions: set[tuple[str, str]]) -> int:
    stories = _children(nodes, edges, STORYLINE_KINDS[0])
    placed = [node.id for children in stories.values() for node in children]
    assert len(placed) == len(set(placed)), "a source is in one storyline at most"
    for id_, children in stories.items():
        story, ats = nodes[id_], sorted(node.at for node in children)
        anchor = nodes[story.props["anchor"]]
        assert anchor.life.accesses > 0, "an anchor was used"
        assert all((node.id, anchor.id) in mentions for node in children), "every source names the anchor"
        assert len(ats) >= 5, "a storyline has five sources"
        assert len({at // DAY for at in ats}) >= 3, "on three days"
        assert ats[-1] - ats[0] > 3 * DAY, "over more than three"
        assert all(b - a < 90 * DAY for a, b in pairwise(ats)), "without a silence of 90 days"
        assert (story.at, story.props["end"], story.props["sources"]) == (ats[0], ats[-1], len(ats)), "it is counted"
    by_anchor = sorted((nodes[id_].props["anchor"], nodes[id_].at, nodes[id_].props["end"]) for id_ in stories)
    for _, some in groupby(by_anchor, key=lambda one: one[0]):
        spans = [(start, end) for _, start, end in some]
        assert all(b[0] - a[1] >= 90 * DAY for a, b in pairwise(spans)), "one is open at a time"
    return len(stories)


def _check_macros(nodes: dict[str, Node], edges: Sequence[Edge]) -> int:
    macros = _children(nodes, edges, STORYLINE_KINDS[1])
    for id_, children in macros.items():
        assert len(children) >= 2, "a macro has two storylines"
        assert {child.props["anchor"] for child in children} == {nodes[id_].props["anchor"]}, "of one anchor"
    return len(macros)


if __name__ == "__main__":
    main()
