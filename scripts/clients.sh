#!/usr/bin/env bash
# Generates clients in Python, TypeScript and Go from the OpenAPI document, compiles them, and uses each against a server.
#
#     scripts/clients.sh [python] [typescript] [go] [spectral]     all of them if none is named
#
# Needs network access to PyPI, npm and the Go proxy, Node.js and Go. Takes some minutes, so `make test` does not run it.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
bin="$here/../.venv/bin"
work="$(mktemp -d)"
server=""
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

"$bin/python" -c 'import json; from cuetrail.serve.rest.openapi import openapi_document as made; print(json.dumps(made()))' \
    > "$work/openapi.json"

# Starts a server on a new memory; its address is in $url.
serve() {
    [ -z "$server" ] || kill "$server"
    "$bin/cuetrail" serve --memory "$work/memory-$1" --embedder none --port 0 --workers 1 2> "$work/server.log" &
    server=$!
    url=""
    for _ in $(seq 300); do
        url="$(sed -n 's/.* on \(http[^ ]*\)$/\1/p' "$work/server.log")"
        [ -z "$url" ] || break
        sleep 0.1
    done
    [ -n "$url" ] || { cat "$work/server.log" >&2; exit 1; }
}

python() {
    "$bin/python" -m venv "$work/venv"
    "$work/venv/bin/pip" install -q --disable-pip-version-check 'openapi-python-client==0.29.1' 'ruff'
    (cd "$work" && PATH="$work/venv/bin:$PATH" openapi-python-client generate --path openapi.json --meta none \
        --output-path cuetrail_client)
    serve python
    PYTHONPATH="$work" "$work/venv/bin/python" "$here/clients/use.py" "$url"
}

typescript() {
    mkdir -p "$work/typescript/src"
    cp "$here/clients/use.ts" "$work/typescript/src/"
    (
        cd "$work/typescript"
        echo '{"private": true, "type": "module"}' > package.json
        npm install --silent --no-audit --no-fund '@hey-api/openapi-ts@0.99.0' 'typescript@5.9' '@types/node@22'
        npx openapi-ts -i ../openapi.json -o src/client -c @hey-api/client-fetch
        npx tsc --strict --target es2022 --module esnext --moduleResolution bundler --lib es2023,dom --types node \
            --outDir out src/use.ts
    )
    serve typescript
    # The generated imports have no endings, which bundlers add.
    (cd "$work/typescript" && npx --yes esbuild@0.25 out/use.js --bundle --platform=node --format=esm --outfile=use.mjs \
        --log-level=error && node use.mjs "$url")
}

go_client() {
    mkdir -p "$work/go/cuetrail"
    cp "$here/clients/use.go" "$work/go/main.go"
    serve go
    (
        cd "$work/go"
        go mod init client 2> /dev/null
        GOBIN="$work/bin" GOFLAGS=-mod=mod go install github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2
        "$work/bin/oapi-codegen" -generate types,client -package cuetrail -o cuetrail/client.gen.go ../openapi.json
        go mod tidy 2> /dev/null
        go vet ./...
        go run . "$url"
    )
}

spectral() {
    echo 'extends: ["spectral:oas"]' > "$work/spectral.yaml"
    (cd "$work" && npx --yes '@stoplight/spectral-cli@6.16.3' lint --ruleset spectral.yaml --fail-severity error openapi.json)
}

for what in "${@:-all}"; do
    case "$what" in
        python) python ;;
        typescript) typescript ;;
        go) go_client ;;
        spectral) spectral ;;
        all) python; typescript; go_client; spectral ;;
        *) echo "there is no client $what: use python, typescript, go, spectral" >&2; exit 2 ;;
    esac
done
