"""ONNX models on disk, in a folder or in an archive (wheel, jar, zip): their files, their hash, and loading them."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from glob import escape
from pathlib import Path, PurePosixPath
from typing import Any

from cuetrail.errors import ModelError
from cuetrail.model_files.archives import is_damage, open_archive
from cuetrail.model_files.lazy_loading import import_library

TOKENIZER = "tokenizer.json"
MOST_NAMED = 20
"""The most models of an archive that an error names."""
MOST_BYTES = 1 << 31
"""The most bytes of a model in an archive, and of all files that are compared with a model's checksums: ONNX's own."""


@dataclass(frozen=True, slots=True)
class OnnxFiles:
    """A model in a folder, or in an archive: the folder or archive, and its files relative to that.

    `name` is the name of the folder that holds them, in the archive too if there is one. `fault` is the error that is
    raised if one cannot be read.
    """

    place: Path
    name: str
    model: str
    tokenizer: str
    fault: type[ModelError]

    def __str__(self) -> str:
        return str(self.place / self.model)

    @property
    def in_archive(self) -> bool:
        """True if the files are members of an archive."""
        return not self.place.is_dir()

    def read(self, file: str) -> bytes:
        """Returns the content of one of the files. Raises `fault` if it cannot be read, or is larger than a model."""
        try:
            if not self.in_archive:
                return (self.place / file).read_bytes()
            with open_archive(self.place, self.fault) as archive:
                size = archive.getinfo(file).file_size
                if size <= MOST_BYTES:
                    return archive.read(file)
        except Exception as error:
            if isinstance(error, ModelError) or not (isinstance(error, OSError) or is_damage(error)):
                raise
            raise self.fault(f"{file} in {self.place} cannot be read ({error}): fetch it again") from error
        raise self.fault(f"{file} in {self.place} has {size:,} bytes, and a model has at most {MOST_BYTES:,}")

    def digest(self, start: bytes = b"") -> str:
        """Returns a hash (twelve hex digits) of `start`, the model file and the weight files beside it."""
        total = hashlib.sha256(start)
        if self.in_archive:
            total.update(hashlib.sha256(self.read(self.model)).digest())
            return total.hexdigest()[:12]
        file = self.place / self.model
        for part in (file, *sorted(file.parent.glob(escape(file.name) + "?data"))):
            with part.open("rb") as stream:
                total.update(hashlib.file_digest(stream, "sha256").digest())
        return total.hexdigest()[:12]


def find_onnx(spec: str | Path, fault: type[ModelError]) -> OnnxFiles:
    """Returns the files of the model in a folder or an archive. `ARCHIVE#FOLDER` names one of several in an archive.

    Raises `fault`, which names the file that is missing, or the models to choose from.
    """
    place, inner = _resolved(str(spec), fault), ""
    if not place.exists():
        path, _, inner = str(spec).partition("#")
        place = _resolved(path, fault)
    return _in_archive(place, inner.strip("/"), fault) if place.is_file() else _in_folder(place, fault)


def _resolved(path: str, fault: type[ModelError]) -> Path:
    try:
        return Path(path).expanduser().resolve()
    except (RuntimeError, ValueError) as error:
        # An unknown ~user, links that lead to each other, or a character that no path has.
        raise fault(f"{path} cannot be a folder or archive ({error}): name the one that holds the model") from error


def _in_folder(folder: Path, fault: type[ModelError]) -> OnnxFiles:
    if not folder.is_dir():
        raise fault(f"there is no folder {folder}; name one that holds the model's ONNX file and its {TOKENIZER}")
    if not (folder / TOKENIZER).is_file():
        raise fault(f"{folder} holds no {TOKENIZER}; put the model's {TOKENIZER} beside its ONNX file")
    for named in ("model.onnx", "onnx/model.onnx"):
        if (folder / named).is_file():
            return OnnxFiles(folder, folder.name, named, TOKENIZER, fault)
    files = sorted(file.name for file in folder.glob("*.onnx"))
    if len(files) != 1:
        raise fault(f"{folder} holds {len(files)} ONNX files; call the one to use model.onnx")
    return OnnxFiles(folder, folder.name, files[0], TOKENIZER, fault)


def _in_archive(place: Path, inner: str, fault: type[ModelError]) -> OnnxFiles:
    with open_archive(place, fault) as archive:
        members = [PurePosixPath(name) for name in archive.namelist()]
    tokenizers: dict[PurePosixPath, list[PurePosixPath]] = {}
    for member in members:
        if member.name.endswith(TOKENIZER):
            tokenizers.setdefault(member.parent, []).append(member)
    found = []
    for member in members:
        beside = tokenizers.get(member.parent, [])
        if member.suffix == ".onnx" and len(beside) == 1 and (not inner or str(member.parent) == inner):
            name = member.parent.name or place.stem
            found.append(OnnxFiles(place, name, str(member), str(beside[0]), fault))
    if len(found) == 1:
        return found[0]
    if not found:
        raise fault(f"{place} holds no ONNX model{f' in {inner}' if inner else ''} with a {TOKENIZER} beside it")
    choices = ", ".join(f"{place.name}#{PurePosixPath(one.model).parent}" for one in found[:MOST_NAMED])
    raise fault(f"{place} holds {len(found)} models; name one of: {choices}")


def load_onnx(files: OnnxFiles, max_tokens: int, fault: type[ModelError]) -> tuple[Any, Any]:
    """Returns the session and the tokenizer of a model. The tokenizer cuts texts at `max_tokens`, or earlier if the
    model reads less.

    Each run uses one thread: texts run side by side instead. Raises `fault` if a library is missing, or the model
    cannot be loaded.
    """
    onnxruntime = import_library("onnxruntime", "'cuetrail[local]'", fault)
    tokenizers = import_library("tokenizers", "'cuetrail[local]'", fault)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    try:
        # A folder's model is loaded by its path, because its weights may be in a file beside it.
        model = files.read(files.model) if files.in_archive else str(files)
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        tokenizer = tokenizers.Tokenizer.from_str(files.read(files.tokenizer).decode())
    except Exception as error:  # neither library has a base class for its errors
        raise fault(f"the model in {files.place} cannot be loaded: {error}; fetch it again") from error
    own_limit = (tokenizer.truncation or {}).get("max_length", max_tokens)
    tokenizer.no_padding()
    tokenizer.enable_truncation(min(own_limit, max_tokens))
    return session, tokenizer


def processors() -> int:
    """Returns how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
