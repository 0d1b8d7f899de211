#!/bin/sh
# A page of ten thousand points: all of them are in it. Its processor time is printed, not judged:
# no test fails because a machine is slow.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
fail() { echo "FAIL: $*"; exit 1; }
python3 "$TESTS/report/make_run.py" --points 10000 >"$work/run.json" || fail "make_run.py"
python3 - "$LMROOF" "$work/run.json" "$work/page.html" >"$work/seconds" 2>"$work/err" <<'PY'
import resource, subprocess, sys
status = subprocess.run([sys.argv[1], "report", sys.argv[2], "-o", sys.argv[3]]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print("%.2f" % (used.ru_utime + used.ru_stime))
sys.exit(status)
PY
status=$?
if grep -q 'without Chart.js' "$work/err"; then
    echo "SKIP: built without Chart.js (Debian: libjs-chart.js)"
    exit 77
fi
[ "$status" -eq 0 ] || fail "report: $(cat "$work/err")"
python3 - "$work/page.html" <<'PY' || fail "points are missing"
import json, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))
assert len(data["runs"][0]["document"]["points"]) == 10000 == len(data["plot"]["points"])
PY
echo "10,000 points: $(cat "$work/seconds") s of processor time, $(wc -c <"$work/page.html") bytes"
