"""The mirror: a memory's atoms as Markdown files, to browse without cuetrail.

@work/#radio/receiver_md_1f0c22d7.md        bucket, tag, file it came from and a hash of that file's path

- `sync` brings a folder in step with a memory; `mirror` has it kept so, and `follow` does that for all that are.
- `names` says what folders and files are called, `pages` which atoms go into which file and how they look.
- `place` says where a mirror may be, and what is known of the one that is there; `publish` puts the new one in place.

May import: errors, files, model, store, text.
"""

from cuetrail.mirror.location import Placement, is_there
from cuetrail.mirror.registry import Followed, end, follow, kept, mirror
from cuetrail.mirror.update import MirrorReport, sync

__all__ = ["Followed", "MirrorReport", "Placement", "end", "follow", "is_there", "kept", "mirror", "sync"]
