"""An associative memory for agents and people.

Names are loaded when first used, so `import cuetrail` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cuetrail.aio import AsyncMemory
    from cuetrail.embed import Embedder
    from cuetrail.errors import CuetrailError
    from cuetrail.memory import Memory
    from cuetrail.model import (
        Activation,
        Budget,
        DreamReport,
        Edge,
        Fact,
        Hit,
        IngestReport,
        Node,
        Path,
        Recollection,
        Scope,
    )
    from cuetrail.recall import recipes
    from cuetrail.recall.stage_types import Recipe

    __version__: str

__all__ = [
    "Activation",
    "AsyncMemory",
    "Budget",
    "CuetrailError",
    "DreamReport",
    "Edge",
    "Embedder",
    "Fact",
    "Hit",
    "IngestReport",
    "Memory",
    "Node",
    "Path",
    "Recipe",
    "Recollection",
    "Scope",
    "__version__",
    "recipes",
]

_HOMES = {
    "Activation": "cuetrail.model",
    "AsyncMemory": "cuetrail.aio",
    "Budget": "cuetrail.model",
    "CuetrailError": "cuetrail.errors",
    "DreamReport": "cuetrail.model",
    "Edge": "cuetrail.model",
    "Embedder": "cuetrail.embed",
    "Fact": "cuetrail.model",
    "Hit": "cuetrail.model",
    "IngestReport": "cuetrail.model",
    "Memory": "cuetrail.memory",
    "Node": "cuetrail.model",
    "Path": "cuetrail.model",
    "Recipe": "cuetrail.recall.stage_types",
    "Recollection": "cuetrail.model",
    "Scope": "cuetrail.model",
}

# Hidden from type checkers: they would take any misspelt name for one that this function knows.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        value: object
        if name == "__version__":
            from importlib.metadata import version

            value = version("cuetrail")
        elif name == "recipes":
            from importlib import import_module

            value = import_module("cuetrail.recall.recipes")
        elif name in _HOMES:
            from importlib import import_module

            value = getattr(import_module(_HOMES[name]), name)
        else:
            raise AttributeError(f"module 'cuetrail' has no attribute {name!r}")
        # Kept as a real attribute, so that the next use does not come here.
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
