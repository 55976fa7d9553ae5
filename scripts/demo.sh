#!/usr/bin/env bash
# Shows cuetrail on the examples, with a memory that is thrown away at the end.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

PATH="$PWD/.venv/bin:$PATH"
CUETRAIL_MEMORY="$(mktemp -d)"
export PATH CUETRAIL_MEMORY
trap 'rm -rf "$CUETRAIL_MEMORY"' EXIT

show() {
    printf '\n$'
    printf ' %q' "$@"
    printf '\n'
    "$@"
}

show cuetrail ingest examples/vault
show cuetrail ingest examples/chat.json
show cuetrail recall "what did we decide about the database?" --explain
show cuetrail recall "who knows about backups?" --explain
show cuetrail recall "what is planned for spring?" --explain
show cuetrail stats
