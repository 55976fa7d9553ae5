"""An associative memory for agents and people.

Names are loaded when first used, so `import cuetrail` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cuetrail.aio import AsyncMemory
    from cuetrail.embed import Embedder
    from cuetrail.errors import CuetrailError
    from cuetrail.graph import Graph
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
    "Graph",
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
    "AsyncMemory": "cuetrail.aio",
    "CuetrailError": "cuetrail.errors",
    "Embedder": "cuetrail.embed",
    "Graph": "cuetrail.graph",
    "Memory": "cuetrail.memory",
    "Recipe": "cuetrail.recall.stage_types",
}
"""The modules of public names; all other names are in `cuetrail.model`."""

# Hidden from type checkers: they would take any misspelt name for one that this function knows.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name not in __all__:
            raise AttributeError(f"module 'cuetrail' has no attribute {name!r}")
        value: object
        if name == "__version__":
            from importlib.metadata import version

            value = version("cuetrail")
        elif name == "recipes":
            value = import_module("cuetrail.recall.recipes")
        else:
            value = getattr(import_module(_HOMES.get(name, "cuetrail.model")), name)
        # Kept as a real attribute, so that the next use does not come here.
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
