"""The effect of every verb of `Memory`: whether it writes, may lose data, or concerns files or all users."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of one verb.

    `repeatable`: a second call with the same arguments changes nothing more. `paths`: it takes or shows paths on the
    machine that stores the memory. `all_users`: it concerns the memories of all users.
    """

    writes: bool = False
    destroys: bool = False
    repeatable: bool = True
    paths: bool = False
    all_users: bool = False


_READS, _WRITES = Effect(), Effect(writes=True)
EFFECTS: dict[str, Effect] = {
    **dict.fromkeys(
        (
            "activate", "bench", "brief", "doomed", "dreams", "edge", "explore", "fact_history", "fact_ids", "facts",
            "get", "has_traces", "history", "ids", "labels", "narrate", "neighbours", "nodes", "prewarm", "recall",
            "stats", "tag_walk", "timeline", "traverse",
        ),
        _READS,
    ),
    **dict.fromkeys(
        ("add", "add_many", "confirm", "declare", "edit", "fact", "link", "quarantine", "refresh", "relate", "retract"),
        _WRITES,
    ),
    "dream": _WRITES,
    "note": Effect(writes=True, repeatable=False),
    "mirrors": Effect(paths=True),
    "doctor": Effect(writes=True, all_users=True),
    "reembed": Effect(writes=True, destroys=True, all_users=True),
    "unlink": Effect(writes=True, destroys=True),
    "forget": Effect(writes=True, destroys=True),
    "ingest_text": Effect(writes=True, destroys=True),
    "ingest": Effect(writes=True, destroys=True, paths=True),
    "ingest_bytes": Effect(writes=True, destroys=True, paths=True),
    "import_": Effect(writes=True, paths=True),
    "export": Effect(writes=True, destroys=True, paths=True),
    "backup": Effect(writes=True, destroys=True, paths=True),
    "mirror": Effect(writes=True, destroys=True, paths=True),
    "end_mirror": Effect(writes=True, paths=True),
}  # fmt: skip
"""Every verb of `Memory`; a test fails when one is missing."""
