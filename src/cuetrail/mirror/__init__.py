"""The mirror: a memory's atoms as Markdown files, to browse without cuetrail.

@work/#radio/receiver_md_1f0c22d7.md        bucket, tag, file it came from and a hash of that file's path

- `registry` lists the mirrors that a memory keeps up to date; `update` brings one up to date.
- `pages` decides which atoms go into which file, names the files and renders them.
- `marker_and_manifest` checks a folder, reads which memory it mirrors and lists its files.
- `atomic_publish` swaps the files.

May import: errors, files, model, store, text.
"""

from cuetrail.mirror.marker_and_manifest import Placement, is_mirror
from cuetrail.mirror.registry import SyncOutcome, folders_of, registered, sync_and_register, sync_registered, unregister
from cuetrail.mirror.update import MirrorReport, sync

__all__ = [
    "MirrorReport", "Placement", "SyncOutcome", "folders_of", "is_mirror", "registered", "sync", "sync_and_register",
    "sync_registered", "unregister",
]  # fmt: skip
