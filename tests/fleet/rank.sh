#!/bin/sh
# lmroof-fleet rank on made-up fleets: faults by name, other architectures apart, drift, formats,
# bad input, ten thousand profiles.
set -u
command -v python3 >/dev/null 2>&1 || { echo "SKIP: no python3"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() { echo "FAIL: $*"; failed=1; }
make() { python3 "$TESTS/fleet/make.py" "$@" || exit 1; }
# refuse PATTERN ARG...: exit 2 and one line that matches.
refuse() {
    pattern=$1
    shift
    "$FLEET" rank "$@" >out 2>err
    [ $? -eq 2 ] || fail "rank $*: not exit 2"
    [ -s out ] && fail "rank $*: figures after an error"
    grep -qE -e "$pattern" err && [ "$(wc -l <err)" -eq 1 ] || fail "rank $*: says $(cat err)"
}

make now 120 5 1 2 0.18
make before 120 5 2 0 0.18
"$FLEET" rank now >text || fail "rank failed"
grep -q 'node7: DRAM load, 48 threads -1[5-9.0-9]* %, one channel missing?' text ||
    fail "node7 is not named: $(cat text)"
grep -q '^  node107: ' text || fail "node107 is not named"
grep -q 'governor is powersave, of others performance' text || fail "the odd setting is not said"
[ "$(grep -c '^  node' text)" -eq 2 ] || fail "others are named: $(grep '^  node' text)"
grep -A 5 'aarch64' text | grep -q 'not judged: fewer than 5' || fail "aarch64 is not apart"
"$FLEET" rank now --check >text
[ $? -eq 5 ] || fail "--check with outliers is not exit 5"
"$FLEET" rank before --check >text || fail "--check without outliers is not exit 0"
grep -q 'No unit differs' text || fail "a healthy fleet: $(cat text)"

"$FLEET" rank now --against before --json -o heat.html >now.json || fail "--against failed"
sh "$TESTS/schema.sh" now.json >schema.log || { [ $? -eq 77 ] || fail "$(cat schema.log)"; }
python3 - <<'PY' || fail "the document's drift or places are wrong"
import json
d = json.load(open("now.json"))
drifted = {row["unit"] for row in d["drift"]}
assert drifted == {"node7", "node107"}, drifted
assert d["drift_compared"] == 360, d["drift_compared"]
assert {d["units"][0]["unit"], d["units"][1]["unit"]} == {"node7", "node107"}
assert d["outlier_units"] == 2
PY
grep -q 'class="o"' heat.html && grep -q 'node107' heat.html || fail "no heat map"
grep -qE 'https?://' heat.html && fail "the heat map needs a network"
"$FLEET" rank now before -o both.json >text || fail "two runs as repeats failed"
grep -q '"repeats": 10' both.json || fail "two runs are not ten repeats"

refuse 'no folder'
refuse 'nowhere: cannot open' nowhere
refuse 'unknown kind of file' now -o x.pdf
mkdir empty && refuse 'found no profile' empty
cp -r now cut && echo '{"schema": ' >cut/node5-cpu0-47.r1.json && refuse 'node5-cpu0-47.r1.json' cut
cp -r now other && sed -i 's/"lmroof.fleet/"lmroof.run/' other/index.json && refuse 'schema' other
sed -i 's/lmroof.run/lmroof.fleet/; s#node9-cpu0-47.r1.json#../now/index.json#' other/index.json &&
    refuse 'name of a file in the same folder' other
cp -r now mixed && cp mixed/node3-cpu0-47.r0.json mixed/node4-cpu0-47.r0.json &&
    refuse 'of another machine' mixed

# 500 nodes, 5 repeats, noise of 2 %, 3 faults of 8 %: all found, no false alarm, whatever the seed.
seed=0
while [ "$seed" -lt 20 ]; do
    make seeded 500 5 "$seed" 3 0.08
    "$FLEET" rank seeded --json >seeded.json || fail "seed $seed: rank failed"
    python3 - <<'PY' || fail "seed $seed: not the three faults alone"
import json
units = json.load(open("seeded.json"))["units"]
found = {u["unit"] for u in units if u["outlier"]}
assert found == {"node7", "node107", "node207"}, found
PY
    rm -rf seeded
    seed=$((seed + 1))
done

make large 10000 1 1 1 0.4
timeout 240 "$FLEET" rank large --top 1 >text || fail "10000 profiles are too many"
grep -q '^  node7: ' text || fail "node7 of 10000 is not named"
[ "$failed" -eq 0 ] && echo "fleet rank: ok"
exit "$failed"
