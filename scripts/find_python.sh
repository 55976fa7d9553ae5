#!/usr/bin/env bash
# Prints the path of a Python that can run cuetrail. PYTHON=... chooses one.
# 3.11 to 3.13 are preferred: every locked package has a wheel for them. A newer Python may have to compile some.
set -euo pipefail

version_of() {
    "$1" -c 'import sys; print(sys.version_info[0] * 100 + sys.version_info[1])' 2>/dev/null || echo 0
}

can_make_venv() {
    "$1" -c 'import ensurepip, venv' 2>/dev/null
}

names="${PYTHON:-python3 python3.13 python3.12 python3.11 python python3.14}"
newer=""
without_venv=""
for name in $names; do
    path="$(command -v "$name" 2>/dev/null)" || continue
    version="$(version_of "$path")"
    [ "$version" -ge 311 ] || continue
    if ! can_make_venv "$path"; then
        without_venv="$path"
    elif [ "$version" -le 313 ] || [ -n "${PYTHON:-}" ]; then
        echo "$path"
        exit 0
    else
        newer="${newer:-$path}"
    fi
done
if [ -n "$newer" ]; then
    echo "$newer"
    exit 0
fi
if [ -n "$without_venv" ]; then
    echo "$without_venv cannot make virtual environments. Install its venv package (Debian, Ubuntu: apt install python3-venv)." >&2
else
    echo "cuetrail needs Python 3.11 or newer and found none (tried: $names)." >&2
    echo "Install one from https://www.python.org/downloads/ or name it: make test PYTHON=/path/to/python3.12" >&2
fi
exit 1
