#!/usr/bin/env bash
# Builds the documentation as a site into site/, with an environment of its own, .venv-docs. Any broken link is an error.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

installed=.venv-docs/requirements.lock
if ! .venv-docs/bin/python -c '' 2>/dev/null || ! cmp -s requirements-docs.lock "$installed"; then
    python="$(scripts/find_python.sh)"
    echo "Setting up .venv-docs with $("$python" --version): once."
    "$python" -m venv --clear .venv-docs
    .venv-docs/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps \
        --requirement requirements-docs.lock
    cp requirements-docs.lock "$installed"
fi
# Not --quiet, which hides warnings from --strict as well.
if ! said="$(NO_MKDOCS_2_WARNING=1 .venv-docs/bin/python -m mkdocs build --strict 2>&1)"; then
    grep -v '^INFO' <<< "$said" >&2
    exit 1
fi
echo "Built site/: open site/index.html, or run python -m http.server --directory site"
