"""The public names, the wheel, and a command line that starts fast."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

import cuetrail

ROOT = Path(__file__).parents[1]
HEAVY = {
    "anyio",
    "jsonschema",
    "mcp",
    "numpy",
    "onnxruntime",
    "pypdf",
    "rich",
    "simsimd",
    "starlette",
    "tantivy",
    "tokenizers",
    "uvicorn",
    "yaml",
}


def imported_by(*arguments: str) -> tuple[str, set[str]]:
    """What a fresh Python prints, and the top-level packages it imports meanwhile."""
    command = [sys.executable, "-X", "importtime", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    names = re.findall(r"^import time:.*\| +(\S+)$", done.stderr, flags=re.MULTILINE)
    return done.stdout, {name.partition(".")[0] for name in names}


def test_public_names_are_sorted_and_there() -> None:
    assert cuetrail.__all__ == sorted(cuetrail.__all__)
    for name in cuetrail.__all__:
        assert getattr(cuetrail, name) is not None
        assert name in dir(cuetrail)


def test_a_wrong_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Memroy"):
        _ = cuetrail.Memroy  # type: ignore[attr-defined]  # the misspelling is the test


def test_the_version_is_the_installed_one() -> None:
    assert cuetrail.__version__ == metadata.version("cuetrail")


def test_importing_the_package_imports_nothing_heavy() -> None:
    _, packages = imported_by("-c", "import cuetrail")
    assert "cuetrail" in packages
    assert not packages & HEAVY


def test_help_imports_nothing_heavy() -> None:
    printed, packages = imported_by("-m", "cuetrail", "--help")
    assert "Usage" in printed
    assert not packages & HEAVY


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = out.glob("*.whl")
    return built


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"cuetrail"}
    assert "cuetrail/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_wheel_has_the_page_built_in(wheel: Path) -> None:
    if shutil.which("npm") is None and os.environ.get("CI") != "true":
        pytest.skip("the page is built with Node.js and npm, which are not here")
    names = zipfile.ZipFile(wheel).namelist()
    kinds = {name.rpartition(".")[2] for name in names if name.startswith("cuetrail/serve/static/")}
    assert {"html", "js", "css", "woff2", "svg", "txt"} <= kinds


def test_the_wheel_works_without_any_other_package(wheel: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import cuetrail, cuetrail.model;"
        "assert cuetrail.__file__.startswith(sys.argv[1]); print(cuetrail.__version__, cuetrail.Scope().tenant)"
    )
    # -S leaves out site-packages: neither the editable install nor a dependency can help.
    command = [sys.executable, "-I", "-S", "-c", code, str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    # The version of the commit that was built, which need not be the one that is installed.
    assert done.stdout.split() == [wheel.name.split("-")[1], "default"], done.stderr
