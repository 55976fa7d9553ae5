#!/usr/bin/env bash
# Runs all benchmarks at each size in SIZES (numbers of atoms) and checks the results against the published bounds.
# ENERGY_ARGS=--neo4j also measures activation in Neo4j.
# INGEST_ARGS="--embed --files" also ingests vectors and files at 1,000,000.
# WORK=folder keeps the memories that are built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

read -ra sizes <<<"${SIZES:-10000 100000}"
read -ra ingest_args <<<"${INGEST_ARGS:-}"
read -ra energy_args <<<"${ENERGY_ARGS:-}"
python=.venv/bin/python
if [[ -n "${WORK:-}" ]]; then
    work=$WORK
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi

"$python" -m bench.startup
"$python" -m bench.hub --work "$work"
# The search benchmarks use the memories that the ingest benchmark built.
"$python" -m bench.ingest "${sizes[@]}" --work "$work" ${ingest_args[@]+"${ingest_args[@]}"}
"$python" -m bench.search "${sizes[@]}" --work "$work"
"$python" -m bench.tag_walk "${sizes[@]}" --work "$work"
"$python" -m bench.energy "${sizes[@]}" --work "$work" ${energy_args[@]+"${energy_args[@]}"}
"$python" -m bench.explore "${sizes[@]}" --work "$work"
"$python" -m bench.narrate "${sizes[@]}" --work "$work"
"$python" -m bench.vectors "${sizes[@]}" --work "$work"
"$python" -m bench.dream "${sizes[@]}" --work "$work"
"$python" -m bench.mirror "${sizes[@]}" --work "$work"
"$python" -m bench.serve 100000 --work "$work"
"$python" -m bench.greeting "${sizes[@]}" --work "$work"
"$python" -m bench.bounds "${sizes[@]}"
