"""The worker with the failing file layer, compiled when the first test needs it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

from tests.reliability.failing_files import Worker, build, compiler


@pytest.fixture(scope="session")
def worker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    """A worker; without a C compiler or Linux the test is skipped, except under CI=true."""
    missing = None if compiler() else "no C compiler (cc) to build the failing file layer"
    if not sys.platform.startswith("linux"):
        missing = "the failing file layer needs Linux"
    if missing:
        assert os.environ.get("CI") != "true", missing
        pytest.skip(missing)
    cache = request.config.cache
    assert cache is not None
    with Worker(build(cache.mkdir("failing-files")), tmp_path_factory.mktemp("worker") / "log") as opened:
        yield opened
