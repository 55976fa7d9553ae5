"""Following a path: a report after each change below it, through the loss and return of its folder."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from cuetrail.errors import InputError, ReadError
from cuetrail.ingest.files import is_own, links
from cuetrail.ingest.pipeline import Options, Writer, ingest_path
from cuetrail.model import FileError, IngestReport, Scope
from cuetrail.store.ports import Store

# How often a watch looks whether it should stop, in milliseconds.
STEP = 500
# How long changes that follow each other are gathered into one round, in milliseconds.
DEBOUNCE = 400


@dataclass(slots=True)
class _Watch:
    """What happens in a folder. When something in it is closed, the rest is watched (`leniently`)."""

    folder: Path
    skip: Sequence[Path]
    stop: threading.Event
    leniently: bool = False

    def rounds(self) -> Iterator[set[str] | None]:
        """The paths that changed, none of them when a while passed without a change; None when it must begin anew."""
        # Imported here: only --watch needs it.
        from watchfiles import Change, watch

        try:
            for changes in watch(
                self.folder,
                watch_filter=lambda _, changed: not is_own(Path(changed), self.skip),
                stop_event=self.stop,
                raise_interrupt=False,
                debounce=DEBOUNCE,
                rust_timeout=STEP,
                yield_on_timeout=True,
                # Not from the beginning: it also says nothing of folders that are one too many to be watched.
                ignore_permission_denied=self.leniently,
            ):
                # One made anew may have the very identity of the one that left, but it is not watched.
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
                f"{self.folder} cannot be watched ({error}). What is there was taken in. If it has more folders than"
                " may be watched, raise that limit (sysctl fs.inotify.max_user_watches) or watch one of its folders."
            ) from error


def watch_path(
    store: Store,
    scope: Scope,
    path: Path,
    folder: Path,
    options: Options,
    write: Writer,
    stop: threading.Event | None,
    clock: Callable[[], int],
) -> Iterator[IngestReport]:
    """A report after each change below the path, until `stop` is set or Ctrl-C.

    The folder is the path or, as editors replace a file rather than write to it, the one that a file is in.
    """
    path, folder, stop = path.absolute(), folder.absolute(), stop or threading.Event()

    def look() -> IngestReport:
        return _look(store, scope, path, replace(options, now=clock()), write)

    watch, lost = _Watch(folder, options.skip, stop), False
    while not stop.is_set():
        there = _identity(folder)
        if there is None:
            # Deleted or moved away, perhaps to be made anew.
            if not lost:
                yield look()
            lost = True
            with suppress(KeyboardInterrupt):
                stop.wait(STEP / 1000)
                continue
            return
        lost, first = False, True
        linked: dict[Path, _Stamp] = {}
        for changes in watch.rounds():
            if changes is None or _identity(folder) != there:
                break
            # What changed before the watch began is in no event, so its first round looks without one.
            if changes or first or any(_stamp(file) != was for file, was in linked.items()):
                linked = {file: _stamp(file) for file in links(path, options.skip)}
                report = look()
                if report.errors or changes or report.unchanged_files < report.files or report.removed_files:
                    yield report
            first = False
        else:
            return


def _look(store: Store, scope: Scope, path: Path, options: Options, write: Writer) -> IngestReport:
    try:
        return ingest_path(store, scope, path, options, write, None)
    except InputError as error:
        return IngestReport(files=1, errors=(FileError(str(path), str(error)),))


_Stamp = tuple[int, int, int] | None


def _stamp(file: Path) -> _Stamp:
    """What tells that a file was changed where a link leads to, which may be a folder that is not watched."""
    try:
        found = file.stat()
    except OSError:
        return None
    return (found.st_ino, found.st_mtime_ns, found.st_size)


def _identity(folder: Path) -> tuple[int, int] | None:
    """Which folder it is: one that was made anew is another. None when there is none."""
    try:
        found = folder.stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino)
