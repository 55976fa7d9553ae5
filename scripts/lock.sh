#!/usr/bin/env bash
# Writes requirements.lock, and requirements-docs.lock for the site, for all platforms and Python >= 3.11, with the
# hashes that PyPI publishes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
"$(scripts/find_python.sh)" -m venv "$work/uv"
"$work/uv/bin/python" -m pip install --quiet --disable-pip-version-check uv
compile() {
    # Ignore the settings of this machine (a mirror, a folder of wheels): they must not change the lock file.
    env -u UV_INDEX -u UV_DEFAULT_INDEX -u UV_INDEX_URL -u UV_EXTRA_INDEX_URL -u UV_FIND_LINKS \
        "$work/uv/bin/uv" --no-config pip compile "$@" \
        --universal --python-version 3.11 --generate-hashes --upgrade --quiet \
        --default-index https://pypi.org/simple --custom-compile-command "make lock"
}
compile pyproject.toml --extra dev --extra local --extra neo4j --output-file requirements.lock
# The extra alone: the site needs nothing of cuetrail.
"$work/uv/bin/python" scripts/extra.py docs > "$work/docs.in"
compile "$work/docs.in" --no-annotate --output-file requirements-docs.lock
if grep -nE '^ *--(index|extra|find|trusted)|https?://|file:|@ |^/|[ =]/' requirements.lock requirements-docs.lock; then
    echo "A lock file names an index, a link or a path (lines above). Remove the setting that caused it and run make lock again." >&2
    exit 1
fi
