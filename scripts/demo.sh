#!/usr/bin/env bash
# Shows cuetrail on the examples, with a memory that is thrown away at the end.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

PATH="$PWD/.venv/bin:$PATH"
PLACE="$(mktemp -d)"
# DEMO_MEMORY=neo4j://user@host runs it on a server; the database must be empty, and keeps what the demo put in.
CUETRAIL_MEMORY="${DEMO_MEMORY:-$PLACE/memory}"
export PATH CUETRAIL_MEMORY
trap 'rm -rf "$PLACE"' EXIT

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
show cuetrail recall "what hardware decision did the frost lead to?" --explain --limit 3
show cuetrail recall "who traced the outages to the cold connector?" --explain --limit 3
show cuetrail recall "what depends on the pulse interval?" --explain --limit 5
show cuetrail get "Choose the pulse interval"
show cuetrail stats

printf '\nThis memory is thrown away now. For one of your own, let an agent use it, or serve it:\n'
printf '  .venv/bin/cuetrail mcp install claude --dry-run    # or cursor, vscode, codex; without --dry-run it is written\n'
printf '  .venv/bin/cuetrail serve                           # then open http://localhost:8765; REST is at /v1, MCP at /mcp\n'
