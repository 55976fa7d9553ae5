"""The image, the services around it, and the lock files say what they should."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
CONTAINERFILE = (ROOT / "Containerfile").read_text("utf-8")


def pins(text: str) -> set[str]:
    return {found.replace("_", "-") for found in re.findall(r"^([\w.-]+==\S+)", text, re.MULTILINE)}


def test_the_image_installs_every_locked_version() -> None:
    (expression,) = re.findall(r"sed -nE '(.*)' requirements\.lock", CONTAINERFILE)
    done = subprocess.run(
        ["sed", "-nE", expression, str(ROOT / "requirements.lock")], capture_output=True, text=True, check=True
    )
    assert pins(done.stdout) == pins((ROOT / "requirements.lock").read_text("utf-8"))
    assert "--hash" not in done.stdout
    assert "\\" not in done.stdout


def test_the_image_runs_without_rights_and_keeps_the_memory_on_a_volume() -> None:
    last = CONTAINERFILE.rpartition("\nFROM ")[2]
    (user,) = re.findall(r"^USER (\d+)$", last, re.MULTILINE)
    assert int(user) > 0
    (memory,) = re.findall(r"CUETRAIL_MEMORY=(\S+)", last)
    assert f"VOLUME {memory}\n" in last
    assert "HEALTHCHECK" in last
    assert "/health" in last


def test_the_services_open_one_port_to_this_machine_alone() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]
    assert services["cuetrail"]["ports"] == ["127.0.0.1:8765:8765"]
    assert "ports" not in services["neo4j"]
    assert services["cuetrail"]["depends_on"] == {"neo4j": {"condition": "service_healthy"}}


def test_only_the_step_that_publishes_may_ask_for_a_token() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))["jobs"]
    assert [name for name, job in jobs.items() if "id-token" in job.get("permissions", {})] == ["publish"]


def test_the_lock_of_the_site_has_every_package_of_its_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    locked = {pin.partition("==")[0] for pin in pins((ROOT / "requirements-docs.lock").read_text("utf-8"))}
    assert {re.split(r"[<>=]", one)[0] for one in project["optional-dependencies"]["docs"]} <= locked
    dev = {pin.partition("==")[0] for pin in pins((ROOT / "requirements.lock").read_text("utf-8"))}
    assert "mkdocs" not in dev
