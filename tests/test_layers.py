"""The shape of the code: which module may import which, and how long things may get."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src"

# Top to bottom. A module may import from its own layer and from lower ones. "x.*" is the package x and all in it.
LAYERS: list[set[str]] = [
    {"", "__main__", "cli", "cli.*", "serve.*"},
    {"asynchronous", "retrievers", "retrievers.*"},
    {"memory"},
    {"config", "asking", "exploring", "believing", "browsing", "correcting"},
    {
        "recall",
        "narrate",
        "quality",
        "resolution",
        "cache",
        "recipes",
        "arguments",
        "boundary",
        "briefing",
        "relating",
        "asked",
        "transfer",
        "ingest.*",
        "exporting",
        "switch.*",
        "dream.*",
        "forgetting",
        "quarantine",
        "mirror.*",
        "vectors",
    },
    {
        "cue",
        "anchor",
        "seeds",
        "activation",
        "traversal",
        "gathering",
        "exploration",
        "spread",
        "score",
        "predicates",
        "telling",
        "trail",
        "trail.*",
        "render",
        "paths",
        "extract.*",
        "embed",
    },
    {"store.local.*", "store.neo4j.*"},
    {
        "store",
        "store.base",
        "store.browsing",
        "store.copying",
        "store.dreams",
        "store.energy",
        "store.facts",
        "store.naming",
        "store.relations",
        "store.settling",
        "store.steps",
        "store.timeline",
        "store.words",
    },
    {"formulas", "likeness", "lifecycle", "files", "moments", "text", "tombstones", "model", "quick", "errors"},
]
MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 60


def module_name(path: Path) -> str:
    """The name below `cuetrail`, "" for the package itself."""
    parts = path.relative_to(SRC / "cuetrail").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(path): path for path in sorted((SRC / "cuetrail").rglob("*.py"))}
every_module = pytest.mark.parametrize("module", FILES, ids=lambda module: module or "cuetrail")


def layer_of(module: str) -> int:
    packages = [module, *(module[:i] for i, char in enumerate(module) if char == ".")]
    names = {module, *(f"{package}.*" for package in packages)}
    for depth, layer in enumerate(LAYERS):
        if layer & names:
            return depth
    pytest.fail(f"cuetrail.{module} is in no layer. Add it to LAYERS here, as low as its imports allow.")


def tree_of(module: str) -> ast.Module:
    return ast.parse(FILES[module].read_text(encoding="utf-8"))


def imports_of(module: str) -> set[str]:
    """Every module of cuetrail that `module` imports, at the top, inside functions and for type checking alike."""
    found: set[str] = set()
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"cuetrail.{module}:{node.lineno}: write the full name instead of a relative import"
            # `from cuetrail.store import base` means the module, `from cuetrail.model import Node` a name in it.
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name.removeprefix("cuetrail.") in FILES else str(node.module) for name in names]
        else:
            continue
        ours = (name for name in names if name == "cuetrail" or name.startswith("cuetrail."))
        found.update(name.removeprefix("cuetrail").removeprefix(".") for name in ours)
    return found - {module}


@every_module
def test_imports_point_down_only(module: str) -> None:
    own = layer_of(module)
    upward = sorted(f"cuetrail.{name}".rstrip(".") for name in imports_of(module) if layer_of(name) < own)
    assert not upward, f"cuetrail.{module} may not import {upward}: they are in a higher layer"


@every_module
def test_only_the_facade_opens_an_engine(module: str) -> None:
    if module == "memory":
        return
    others = tuple(engine for engine in ("store.local", "store.neo4j") if not module.startswith(engine))
    opened = sorted(name for name in imports_of(module) if name.startswith(others))
    assert not opened, f"cuetrail.{module} imports {opened}; only cuetrail.memory may"


@every_module
def test_only_config_reads_the_environment(module: str) -> None:
    if module == "config":
        return
    words = {"environ", "environb", "getenv", "getenvb"}
    lines = [
        node.lineno
        for node in ast.walk(tree_of(module))
        if (isinstance(node, ast.Attribute) and node.attr in words)
        or (isinstance(node, ast.ImportFrom) and node.module == "os" and words & {alias.name for alias in node.names})
    ]
    assert not lines, f"cuetrail.{module} reads the environment in lines {lines}; let cuetrail.config do it"


@every_module
def test_files_and_functions_stay_short(module: str) -> None:
    count = len(FILES[module].read_text(encoding="utf-8").splitlines())
    assert count <= MAX_FILE_LINES, f"cuetrail.{module} has {count} lines, {MAX_FILE_LINES} are allowed"
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
            length = node.end_lineno - node.lineno + 1
            assert length <= MAX_FUNCTION_LINES, f"cuetrail.{module}: {node.name} has {length} lines"


def test_every_layer_entry_is_matched_by_one_layer_only() -> None:
    entries = [entry for layer in LAYERS for entry in layer]
    assert len(entries) == len(set(entries))
