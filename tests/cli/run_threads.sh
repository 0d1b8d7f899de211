#!/bin/sh
# lmroof run --threads LIST: a run at each number, gathered in one document, table and picture;
# --numa: where the data lies.
set -u
command=run
. "$TESTS/cli/common.sh"
small_llama "$work/config.json" 64 128 2 1 1 99
most=$(taskset -pc $$ | python3 -c '
import sys
cpus = sys.stdin.read().split(":")[1].split(",")
print(sum(int(c.split("-")[-1]) - int(c.split("-")[0]) + 1 for c in cpus))')
refuses "accepted" -m "$work/config.json" --threads 1,x
refuses "accepted" -m "$work/config.json" --threads 0,1
refuses "may use $most cpus" -m "$work/config.json" --threads "1,$((most + 1))" -o "$work/none.json"
[ -e "$work/none.json" ] && fail "a refused list left a document"
[ "$most" -ge 2 ] || { echo "one cpu: nothing to sweep over"; exit $failed; }

sweep() { # ARG...
    "$LMROOF" run -m "$work/config.json" --threads 2,1,2 --phase decode --context 40 --repeat 3 \
        --no-twins --counters off --quiet "$@" -o "$work/run.json" >"$work/out" 2>"$work/err" ||
        fail "run --threads 2,1,2 $*: exit $?: $(cat "$work/err")"
}
# A pass that finds no time costs no other pass its points: what there is is shown.
"$LMROOF" run -m pythia-160m --threads 1,2 --phase decode --context 40 --repeat 3 --budget 4 \
    --counters off --quiet -o "$work/short.json" >"$work/out" 2>"$work/err"
code=$?
python3 - "$work/short.json" "$work/out" $code <<'PYTHON' || fail "a sweep without time: exit $code"
import json, os, sys

shown = open(sys.argv[2]).read()
if not os.path.exists(sys.argv[1]):
    assert sys.argv[3] == "1" and not shown  # too slow a machine for a single point
    sys.exit()
document = json.load(open(sys.argv[1]))
measured = [p for p in document["points"] if p["seconds"] is not None]
for p in document["points"]:
    assert p["id"].count("/t") == 1, p["id"]
assert (sys.argv[3] == "0") == bool(measured) == bool(shown), (sys.argv[3], len(measured))
PYTHON
check() { # SOURCE
    python3 - "$work/run.json" "$1" <<'PYTHON' || fail "the document of a sweep by $1"
import json
import sys

document = json.load(open(sys.argv[1]))
assert document["complete"]
points = document["points"]
assert len(points) % 2 == 0 and len({p["id"] for p in points}) == len(points)
for p in points:
    assert p["threads"] in (1, 2) and p["id"].endswith("/t%d" % p["threads"]), p["id"]
    assert p["smt"] in ("on", "off") and (p["threads"] == 2 or p["smt"] == "off")
assert [s["threads"] for s in document["steps"]] == [2, 1]
sweep, = document["thread_sweeps"]
assert sweep["source"] == sys.argv[2] and [r["threads"] for r in sweep["rows"]] == [1, 2]
one, two = [r["tokens_per_s"]["value"] for r in sweep["rows"]]
if one >= 0.95 * max(one, two):
    assert sweep["knee_threads"]["value"] == 1
else:
    assert sweep["knee_threads"] is None and "no knee" in sweep["why_absent"]["knee_threads"]["text"]
seconds = sum(p["seconds"]["value"] * p["layers"] for p in points if p["threads"] == 1)
rate = 1 / seconds if sweep["source"] == "operators" else [
    s["tokens_per_s"]["value"] for s in document["steps"] if s["threads"] == 1][0]
assert abs(one / rate - 1) < 1e-9, (one, rate)
assert {b["threads"] for b in document["machine"]["bandwidth"]} == {1, 2}
assert document["conditions"]["threads"] == "2; 1"
PYTHON
    grep -q "tokens/s by threads 1: " "$work/out" || fail "no line of the threads"
    grep -q "bf16, 1 thread$" "$work/out" || fail "no section of one thread"
    valid "$work/run.json"
}
sweep
check operators
sweep --step
check step
"$LMROOF" report "$work/run.json" -o "$work/out.md" || fail "a report of a sweep"
grep -q "^Threads: .*by threads 1: " "$work/out.md" || fail "no threads in the report"
# Where the data lies, recorded in points and read roofs.
for numa in interleave replicate; do
    "$LMROOF" run -m "$work/config.json" --threads 1 --phase decode --context 40 --repeat 3 --step \
        --no-twins --counters off --quiet --numa $numa -o "$work/run.json" >"$work/out" ||
        fail "run --numa $numa: exit $?"
    python3 - "$work/run.json" $numa <<'PYTHON' || fail "the document of --numa $numa"
import json
import sys

document = json.load(open(sys.argv[1]))
rows = document["points"] + document["machine"]["bandwidth"]
assert {r["placement"] for r in rows} == {sys.argv[2]} and document["step"]["verified"]
if document["host"]["numa_nodes"] == "1":
    assert "one_node" in {w["code"] for w in document["warnings"]}
PYTHON
done
exit $failed
