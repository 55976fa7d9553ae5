#!/usr/bin/env bash
# Makes .venv with the locked packages, each checked against its hash, and with cuetrail in editable mode.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

installed=.venv/requirements.lock
if ! .venv/bin/python -c '' 2>/dev/null || ! cmp -s requirements.lock "$installed"; then
    python="$(scripts/find_python.sh)"
    echo "Setting up .venv with $("$python" --version): about a minute, once."
    # --clear: packages of an older lock must not hide a missing dependency.
    "$python" -m venv --clear .venv
    # --no-deps: the lock is complete. Given a dependency with an extra, such as sqlalchemy[asyncio], some pips look past the lock for a newer one.
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --requirement requirements.lock
    cp requirements.lock "$installed"
fi
# The build backend is in the lock, so building needs no download.
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
touch .venv/.ready
