#!/usr/bin/env bash
# Measures ingest and search at each size in SIZES (atoms).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

for size in ${SIZES:-10000 100000}; do
    .venv/bin/python -m bench.ingest "$size"
    .venv/bin/python -m bench.search "$size"
done
