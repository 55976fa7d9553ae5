#!/usr/bin/env bash
# Runs cuetrail on the examples, with a temporary memory that is deleted at the end.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

PATH="$PWD/.venv/bin:$PATH"
FOLDER="$(mktemp -d)"
# DEMO_MEMORY=neo4j://user@host runs it on a server. The database must be empty, and the demo data stays in it.
CUETRAIL_MEMORY="${DEMO_MEMORY:-$FOLDER/memory}"
export PATH CUETRAIL_MEMORY
trap 'rm -rf "$FOLDER"' EXIT

show() {
    printf '\n$'
    for word in "$@"; do
        if [[ $word == *[[:space:]]* ]]; then printf ' "%s"' "$word"; else printf ' %s' "$word"; fi
    done
    printf '\n'
    "$@"
}

show cuetrail ingest examples/chat.json
show cuetrail ingest examples/vault
show cuetrail recall "what did we decide about connectors in frost?" --explain --limit 3
show cuetrail recall "who traced the outages to the cold connector?" --explain --limit 3
show cuetrail recall "what depends on the pulse interval?" --explain --limit 5
show cuetrail get "Choose the pulse interval"
show cuetrail stats

printf '\nThis memory is deleted now. To use one of your own, connect an agent to it, or serve it:\n'
printf '  .venv/bin/cuetrail mcp install claude --dry-run    # or cursor, vscode, codex; omit --dry-run to write it\n'
printf '  .venv/bin/cuetrail serve                           # then open http://localhost:8765; REST is at /v1, MCP at /mcp\n'
