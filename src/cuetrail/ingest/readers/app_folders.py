"""The app whose folder a file lies in: an Obsidian vault, a graph of Logseq, an unpacked export of chats."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, Literal

from cuetrail.files import read_at_most

App = Literal["", "obsidian", "logseq", "chats"]

_MOST_BYTES = 1_000_000
# Names of template folders, without marks and numbers around them.
_TEMPLATES = frozenset({"template", "templates"})
_AROUND = "_-.0123456789 "
_LOGSEQ_OWN = ("logseq", "bak", ".recycle")


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a file: its path, the app in whose folder `home` it lies, and folders of templates below that.

    `shared` keeps what a reader found out about the whole folder, for the other files of one ingest. A text that is in
    no file has the place NOWHERE.
    """

    file: Path | None = None
    app: App = ""
    home: Path | None = None
    templates: tuple[str, ...] = ()
    shared: dict[str, Any] = field(default_factory=dict, compare=False)

    def inside(self) -> str:
        """Returns the path of the file below the folder of its app; "" if it is in none."""
        return "" if self.file is None or self.home is None else self.file.relative_to(self.home).as_posix()

    def is_template(self, text: str) -> bool:
        """True for a note in a folder that the settings of its Obsidian vault name for templates, and for one with
        fields to fill in below any folder called templates.
        """
        path = self.inside()
        if self.app != "obsidian" or not path:
            return False
        if any(path.startswith(f"{folder}/") or path == folder for folder in self.templates):
            return True
        named = any(part.strip(_AROUND).casefold() in _TEMPLATES for part in PurePath(path).parts[:-1])
        return named and ("{{" in text or "<%" in text)

    def is_own_of_logseq(self) -> bool:
        """True for backups and settings that Logseq keeps in its graph."""
        return self.app == "logseq" and self.inside().split("/", 1)[0] in _LOGSEQ_OWN


NOWHERE = Place()


@dataclass(slots=True)
class AppFolders:
    """Finds the place of files. It remembers folders, so that each is looked at once."""

    _known: dict[Path, Place] = field(default_factory=dict)

    def place(self, file: Path) -> Place:
        """Returns the place of a file. The nearest folder above it that belongs to an app counts."""
        found = self._of(file.parent)
        return Place(file, found.app, found.home, found.templates, found.shared)

    def _of(self, folder: Path) -> Place:
        if folder not in self._known:
            app = _app_of(folder)
            if app:
                self._known[folder] = Place(None, app, folder, _template_folders(folder) if app == "obsidian" else ())
            else:
                self._known[folder] = NOWHERE if folder.parent == folder else self._of(folder.parent)
        return self._known[folder]


def _app_of(folder: Path) -> App:
    # Unlike those of Path, these functions do not raise for a folder that may not be entered.
    if os.path.isdir(folder / ".obsidian"):  # noqa: PTH112
        return "obsidian"
    if os.path.isfile(folder / "logseq" / "config.edn"):  # noqa: PTH113
        return "logseq"
    if any(os.path.isfile(folder / name) for name in CHAT_FILES):  # noqa: PTH113
        return "chats"
    return ""


CHAT_FILES = ("conversations.json", "conversations-000.json")
"""The files by which an unpacked export of ChatGPT or Claude is known: new exports of ChatGPT number them."""


def _template_folders(vault: Path) -> tuple[str, ...]:
    """Returns the folders and notes that the vault's settings name as templates."""
    settings = vault / ".obsidian"
    core, daily = _settings(settings / "templates.json"), _settings(settings / "daily-notes.json")
    templater = _settings(settings / "plugins" / "templater-obsidian" / "data.json")
    named = (core.get("folder"), templater.get("templates_folder"), daily.get("template"))
    paths = [name.strip().strip("/") for name in named if isinstance(name, str)]
    return tuple(name for path in paths if path for name in (path, f"{path}.md"))


def _settings(file: Path) -> Mapping[str, object]:
    try:
        with file.open("rb") as opened:
            found = json.loads(read_at_most(opened, _MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
