"""Watches a path and reports each change to the ingest. Continues if the folder is deleted and made again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cuetrail.errors import ReadError
from cuetrail.ingest.scan import is_own_output, linked_files
from cuetrail.model import IngestReport

# How often a watch checks whether it should stop, in milliseconds.
STEP = 500
# Changes within this many milliseconds are handled together.
DEBOUNCE = 400


@dataclass(slots=True)
class _Watch:
    """A watch on one folder. `leniently` skips subfolders that may not be read."""

    folder: Path
    skip: Sequence[Path]
    stop: threading.Event
    leniently: bool = False

    def rounds(self) -> Iterator[set[str] | None]:
        """Yields the changed paths; an empty set after STEP without changes; None if the watch must start again."""
        # Imported here, because only --watch needs it.
        from watchfiles import Change, watch

        try:
            for changes in watch(
                self.folder,
                watch_filter=lambda _, changed: not is_own_output(Path(changed), self.skip),
                stop_event=self.stop,
                raise_interrupt=False,
                debounce=DEBOUNCE,
                rust_timeout=STEP,
                yield_on_timeout=True,
                # Set only after an error, because it also hides the error for too many watched folders.
                ignore_permission_denied=self.leniently,
            ):
                # A new folder with the same path is not watched, even if it has the same identity.
                if (Change.deleted, str(self.folder)) in changes:
                    yield None
                    return
                yield {changed for _, changed in changes}
        except FileNotFoundError:
            yield None
        except PermissionError:
            self.leniently = True
            yield None
        except OSError as error:
            raise ReadError(
                f"{self.folder} cannot be watched ({error}). Its files were ingested. If it has more folders than may"
                " be watched, raise that limit (sysctl fs.inotify.max_user_watches) or watch one of its folders."
            ) from error


def watch_path(
    path: Path, folder: Path, skip: Sequence[Path], stop: threading.Event, ingest: Callable[[], IngestReport]
) -> Iterator[IngestReport]:
    """Calls `ingest` at each change below the path and yields its report, until `stop` is set or Ctrl-C is pressed.

    `folder` is the path, or the folder of a single file: editors replace a file instead of writing to it.
    """
    watch, lost = _Watch(folder, skip, stop), False
    while not stop.is_set():
        identity = _identity(folder)
        if identity is None:
            # It was deleted or moved, and may return.
            if not lost:
                yield ingest()
            lost = True
            with suppress(KeyboardInterrupt):
                stop.wait(STEP / 1000)
                continue
            return
        lost, first = False, True
        linked: dict[Path, _Stamp] = {}
        for changes in watch.rounds():
            if changes is None or _identity(folder) != identity:
                break
            # Changes before the watch began have no event, so the first round always ingests.
            if changes or first or any(_stamp(file) != old for file, old in linked.items()):
                linked = {file: _stamp(file) for file in linked_files(path, skip)}
                report = ingest()
                if report.errors or changes or report.unchanged_files < report.files or report.removed_files:
                    yield report
            first = False
        else:
            return


_Stamp = tuple[int, int, int] | None


def _stamp(file: Path) -> _Stamp:
    """Returns inode, time and size of the file that a symbolic link leads to; None if it cannot be read."""
    try:
        found = file.stat()
    except OSError:
        return None
    return (found.st_ino, found.st_mtime_ns, found.st_size)


def _identity(folder: Path) -> tuple[int, int] | None:
    """Returns the identity of a folder, None if it does not exist. A folder made again has another identity."""
    try:
        found = folder.stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino)
