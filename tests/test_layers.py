"""The layout of the code: what each package may import, and that the children of a folder form no circle."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src" / "cuetrail"

# Modules that stand alone in the package have no `__init__` of their own to say what they may import.
FLAT: dict[str, set[str]] = {
    "": {"aio", "embed", "errors", "graph", "memory", "model", "recall"},
    "__main__": {"cli"},
    "aio": {"embed", "errors", "extract", "memory", "model", "recall", "rerank", "store", "validation"},
    "config": {"errors", "model"},
    "engines": {"config", "errors", "model", "store"},
    "errors": set(),
    "evaluate": {"errors", "facts", "files", "model", "recall", "session", "store"},
    "files": {"errors"},
    "formulas": set(),
    "http_post": set(),
    "recipes": {"recall"},
    "session": {"config", "embed", "extract", "formulas", "model", "rerank", "savings", "store"},
}
MOST_FLAT_MODULES = 12
MOST_MODULES_IN_A_FOLDER = 16
LONGEST_CHAIN = 15
MOST_METHODS_OF_THE_PORTS = 46
MOST_LINES_OF_A_FUNCTION = 60
MAY_IMPORT = re.compile(r"^May import: (.*?)\.$", re.MULTILINE | re.DOTALL)


def module_name(path: Path) -> str:
    """The dotted name below `cuetrail`; "" for the package itself."""
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(path): path for path in sorted(SRC.rglob("*.py"))}
PACKAGES = sorted(name for name, path in FILES.items() if name and path.name == "__init__.py")
every_module = pytest.mark.parametrize("module", FILES, ids=lambda module: module or "cuetrail")
every_package = pytest.mark.parametrize("package", PACKAGES)


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse(FILES[module].read_text(encoding="utf-8"))


def _imported(module: str, node: ast.AST) -> set[str]:
    """The modules of cuetrail that one import statement names."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, f"cuetrail.{module}:{node.lineno}: write the full name instead of a relative import"
        # `from cuetrail.store import ports` names a module, `from cuetrail.model import Node` a name in one.
        names = [f"{node.module}.{alias.name}" for alias in node.names]
        names = [name if name.removeprefix("cuetrail.") in FILES else str(node.module) for name in names]
    else:
        return set()
    ours = (name for name in names if name == "cuetrail" or name.startswith("cuetrail."))
    return {name.removeprefix("cuetrail").removeprefix(".") for name in ours} - {module}


@cache
def imports_of(module: str) -> frozenset[str]:
    """Every import: at the top, inside functions and for type checking alike."""
    return frozenset(name for node in ast.walk(tree_of(module)) for name in _imported(module, node))


@cache
def loaded_by(module: str) -> frozenset[str]:
    """The modules that are loaded when this one is: imports at its top."""
    return frozenset(name for node in tree_of(module).body for name in _imported(module, node))


def declared(package: str) -> set[str]:
    """The "May import" line of a package's docstring."""
    found = MAY_IMPORT.search(ast.get_docstring(tree_of(package)) or "")
    assert found, f"the docstring of cuetrail.{package} has no line `May import: ...`"
    return {name for name in re.split(r"[,\s]+", found[1]) if name not in ("", "nothing")}


def is_within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


@every_package
def test_a_package_imports_what_its_docstring_allows_and_nothing_else(package: str) -> None:
    allowed = declared(package)
    inside = [module for module in FILES if is_within(module, package)]
    outside = {name for module in inside for name in imports_of(module) if name and not is_within(name, package)}
    strange = sorted(name for name in outside if not any(is_within(name, one) for one in allowed))
    assert not strange, f"cuetrail.{package} may not import {strange}: add them to its `May import`, or move the code"
    unused = sorted(one for one in allowed if not any(is_within(name, one) for name in outside))
    assert not unused, f"cuetrail.{package} says it may import {unused}, but does not"


@pytest.mark.parametrize("module", FLAT)
def test_a_module_outside_packages_imports_what_is_listed_here(module: str) -> None:
    strange = {name.split(".")[0] for name in imports_of(module)} - FLAT[module]
    assert not strange, f"cuetrail.{module} may not import {sorted(strange)}"


@pytest.mark.parametrize("folder", ["", *PACKAGES])
def test_the_children_of_a_folder_do_not_import_each_other_in_a_circle(folder: str) -> None:
    prefix = f"{folder}." if folder else ""

    def child_of(module: str) -> str:
        return module.removeprefix(prefix).split(".")[0] if module.startswith(prefix) and module != folder else ""

    edges: dict[str, set[str]] = {}
    for module in FILES:
        if own := child_of(module):
            edges.setdefault(own, set()).update({child_of(name) for name in imports_of(module)} - {"", own})
    while free := [child for child, needs in edges.items() if not needs & edges.keys()]:
        for child in free:
            del edges[child]
    assert not edges, f"cuetrail.{folder}: {sorted(edges)} import each other in a circle"


def test_no_chain_of_imports_is_long() -> None:
    @cache
    def chain(module: str) -> tuple[str, ...]:
        return (module, *max((chain(name) for name in loaded_by(module)), key=len, default=()))

    longest = max((chain(module) for module in FILES), key=len)
    assert len(longest) <= LONGEST_CHAIN, " -> ".join(longest)


def test_folders_are_small_enough_to_read() -> None:
    counts: dict[str, int] = {}
    for name, path in FILES.items():
        if path.name != "__init__.py":
            folder = name.rpartition(".")[0]
            counts[folder] = counts.get(folder, 0) + 1
    assert counts[""] <= MOST_FLAT_MODULES
    assert not {folder: count for folder, count in counts.items() if count > MOST_MODULES_IN_A_FOLDER}


def test_the_engine_ports_stay_small() -> None:
    bases = next(node.bases for node in tree_of("store.ports").body if isinstance(node, ast.ClassDef))
    ports = {ast.unparse(base) for base in bases} - {"Protocol"}
    methods = [
        f"{port.name}.{method.name}"
        for module in FILES
        if module.startswith("store.")
        for port in tree_of(module).body
        if isinstance(port, ast.ClassDef) and port.name in ports and "Protocol" in map(ast.unparse, port.bases)
        for method in port.body
        if isinstance(method, ast.FunctionDef)
    ]
    assert len({method.split(".")[0] for method in methods}) == len(ports) == 6
    assert len(methods) <= MOST_METHODS_OF_THE_PORTS, methods


@every_module
def test_functions_stay_short(module: str) -> None:
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
            length = node.end_lineno - node.lineno + 1
            assert length <= MOST_LINES_OF_A_FUNCTION, f"cuetrail.{module}: {node.name} has {length} lines"


@every_module
def test_only_the_engines_module_opens_an_engine(module: str) -> None:
    if module == "engines":
        return
    others = tuple(engine for engine in ("store.sqlite", "store.neo4j") if not module.startswith(engine))
    opened = sorted(name for name in imports_of(module) if name.startswith(others))
    assert not opened, f"cuetrail.{module} imports {opened}; only cuetrail.engines may"


@every_module
def test_records_are_written_by_the_write_path_alone(module: str) -> None:
    # The engines store a batch, `embed.vectors` adds its vectors, and everything else goes through `write.pipeline`.
    if module.startswith("store.") or module == "embed.vectors":
        return
    lines = [
        node.lineno
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.Attribute) and node.attr == "write" and ast.unparse(node.value).endswith("store")
    ]
    assert not lines, f"cuetrail.{module} writes to the engine in lines {lines}; call a function of cuetrail.write"


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
