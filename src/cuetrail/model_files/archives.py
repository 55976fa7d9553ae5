"""Archives that may hold a model (wheel, jar, zip): opened for reading, with an error in words for a damaged one."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from pathlib import Path

from cuetrail.errors import ModelError


def open_archive(path: Path, fault: type[ModelError]) -> zipfile.ZipFile:
    """Returns an archive, open for reading. Raises `fault` if there is none, or it cannot be read."""
    if path.exists() and not path.is_file():
        raise fault(f"{path} is a pipe or a device: name a folder, wheel, jar or zip")
    try:
        return zipfile.ZipFile(path)
    except FileNotFoundError as error:
        raise fault(f"there is no {path}: name a folder, wheel, jar or zip with the model's files") from error
    except Exception as error:
        if not (isinstance(error, OSError) or is_damage(error)):
            raise
        raise fault(f"{path} cannot be read as an archive ({error}): name a folder, wheel, jar or zip") from error


def is_damage(error: Exception) -> bool:
    """True if an error raised while an archive was read says that it is damaged, or packed in an unknown way."""
    if isinstance(error, OSError):
        # bz2 raises one without a number; those of the system have one.
        return error.errno is None
    # A RuntimeError is raised for a password, or an unknown compression.
    kinds = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, RuntimeError, ValueError)
    return isinstance(error, kinds)
