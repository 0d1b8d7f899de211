#!/bin/sh
# GGUF files of public models and damaged ones through `lmroof model`.
command -v python3 >/dev/null 2>&1 || { echo "SKIP: no python3"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 exec python3 "$TESTS/gguf/check.py" "$LMROOF"
