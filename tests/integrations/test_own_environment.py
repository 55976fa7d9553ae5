"""Kits that need large packages: LangChain's tests for retrievers, and Google's ADK, in an environment of their own."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from scripts import frameworks as script

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs" / "frameworks.md"


@pytest.fixture(scope="module")
def python() -> Path:
    try:
        return script.install() if os.environ.get("CI") == "true" else script.find()
    except script.Missing as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(error))


@pytest.mark.parametrize(("kit", "passed"), [("kit_langchain.py", 5), ("kit_google_adk.py", 3)])
def test_every_test_of_the_kit_passes(python: Path, kit: str, passed: int) -> None:
    command = [str(python), "-m", "pytest", "-q", "-c", os.devnull, "--import-mode=importlib", "-p", "no:cacheprovider"]
    command += ["--rootdir", str(HERE), "-o", "asyncio_mode=auto", str(HERE / kit)]
    # Without tests/conftest.py, whose plugins are not all for this environment.
    done = subprocess.run([*command, "--noconftest"], capture_output=True, text=True, check=False, cwd=HERE)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert f"{passed} passed" in done.stdout
    assert "skipped" not in done.stdout
    assert "failed" not in done.stdout


def test_the_example_for_the_agent_development_kit_runs(python: Path, tmp_path: Path) -> None:
    (example,) = re.findall(r"^```py\n(.*?)^```", DOCS.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    done = subprocess.run([str(python), "-c", example], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stdout == "The antenna stands on the lee side.\n", done.stderr[-2000:]
