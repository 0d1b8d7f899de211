#!/bin/sh
# schema.sh DOCUMENT...: validates documents by the shipped schemas; without arguments the examples
# of every kind, and that broken copies of them are refused. For other tests to call.
set -u
schemas="$SOURCE/profiler/schemas"
if [ $# -gt 0 ]; then
    exec python3 "$TESTS/schema.py" "$schemas" "$@"
fi
python3 "$TESTS/schema.py" "$schemas" "$TESTS"/documents/*.json || exit $?
exec python3 "$TESTS/schema_refuses.py" "$TESTS/schema.py" "$schemas" "$TESTS/documents"
