#!/bin/sh
# A thousand profiles at once: all of them are compared, ranked and priced. Nothing is timed here
# (tests/peers/answers_speed.sh is for that).
set -u
command=compare
. "$TESTS/cli/common.sh"
python3 "$TESTS/cli/many_profiles.py" "$TESTS/documents/machine.json" "$work" 1000 ||
    fail "many_profiles.py"
"$LMROOF" compare "$work"/p*.json -m llama-3.2-1b --batch 1,16 --price p0999.json=2 --json --quiet \
    >"$work/all.json" 2>"$work/err" || fail "compare: $(cat "$work/err")"
python3 - "$work/all.json" <<'PY' || failed=1
import json, sys
document = json.load(open(sys.argv[1]))
machines = document["prediction"]["machines"]
assert len(machines) == 1000 and [m["rank"] for m in machines] == list(range(1, 1001))
assert machines[0]["name"] == "p0999.json" and machines[-1]["name"] == "p0000.json"
assert machines[0]["price_per_hour"] == 2 and machines[1]["price_per_hour"] is None
load = next(row for row in document["ceilings"] if row["name"] == "DRAM load")["machines"]
assert len(load) == 1000
for i, machine in enumerate(load):
    assert abs(machine["ratio"] - (1 + i / 1000)) < 1e-9, (i, machine)
PY
"$LMROOF" compare "$work"/p*.json --quiet >"$work/text" 2>"$work/err" || fail "as text"
[ "$(grep -c '^  p0500.json' "$work/text")" -ge 2 ] || fail "p0500.json is not in the table"
[ "$failed" -eq 0 ] && echo "many: ok"
exit "$failed"
