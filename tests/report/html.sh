#!/bin/sh
# The html report in headless Chromium: no console message, every point present, toggles, hover and
# details work, in light and dark, wide and narrow; and what it carries is the document itself.
set -u
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "SKIP: no chromium: the html report was not opened (Debian: chromium)"
    exit 77
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
fail() { echo "FAIL: $*"; exit 1; }

python3 "$TESTS/report/make_run.py" >"$work/run.json" || fail "make_run.py"
python3 "$TESTS/report/make_run.py" --slow 1.4 >"$work/slow.json" || fail "make_run.py"
"$LMROOF" report "$work/run.json" -o "$work/one.html" 2>"$work/err"
if grep -q 'without Chart.js' "$work/err"; then
    echo "SKIP: built without Chart.js (Debian: libjs-chart.js)"
    exit 77
fi
[ -s "$work/one.html" ] || fail "no report: $(cat "$work/err")"
"$LMROOF" report "$work/run.json" "$work/slow.json" -o "$work/two.html" || fail "no report of two runs"
"$LMROOF" report "$TESTS/documents/run.json" -o "$work/small.html" || fail "no report of the example"

"$LMROOF" report "$TESTS/documents/validate.json" -o "$work/claim.html" || fail "no report of a claim"
python3 "$TESTS/report/cut_run.py" "$work/run.json" 6 >"$work/part.json" || fail "cut_run.py"
"$LMROOF" report "$work/part.json" -o "$work/part.html" || fail "no report of a part"

[ "$(wc -c <"$work/one.html")" -lt 5000000 ] || fail "larger than 5 MB"
python3 "$TESTS/report/check_page.py" "$work/one.html" "$work/run.json" || exit 1

# open PAGE WIDTH HEIGHT SWITCH...: the page's own test passes and the console is silent.
open_page() {
    page=$1 width=$2 height=$3
    shift 3
    python3 - "$work/$page.html" "$TESTS/report/page_test.js" >"$work/test.html" <<'PY'
import sys
page, test = (open(path, encoding="utf-8").read() for path in sys.argv[1:])
print(page.replace("</body>\n</html>", "<script>\n%s</script>\n</body>\n</html>" % test))
PY
    rm -rf "$work/profile"
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync \
        --user-data-dir="$work/profile" --enable-logging=stderr --window-size="$width,$height" \
        --virtual-time-budget=20000 "$@" --dump-dom "file://$work/test.html" \
        >"$work/dom" 2>"$work/log" </dev/null
    if grep -q 'CONSOLE' "$work/log"; then
        fail "$page at $width: the console says: $(grep -m 3 'CONSOLE' "$work/log")"
    fi
    result=$(grep -o '<pre id="test">.*' "$work/dom" | sed 's/<[^>]*>//g')
    case $result in
    PASSED*) echo "$page at $width $*: $result" ;;
    *) fail "$page at $width $*: ${result:-no result}" ;;
    esac
}
# Counters that tell the bytes of three levels: each point once for each level.
python3 - "$TESTS/documents/run.json" "$work/levels.json" <<'PY' || fail "levels.json"
import json, sys
run = json.load(open(sys.argv[1]))
for point in run["points"]:
    for metric, per_flop in (("l1_l2_bytes", 4), ("l2_l3_bytes", 2), ("dram_read_bytes", 1)):
        value = point["flop"] * per_flop
        point["counters"][metric] = {
            "value": value, "ci95": None, "n": 1, "best": value, "samples": [value], "origin": "counted",
            "scope": "thread", "source": "perf", "events": "X", "running_fraction": 1.0,
            "background_fraction": None}
json.dump(run, open(sys.argv[2], "w"))
PY
"$LMROOF" report "$work/levels.json" -o "$work/levels.html" || fail "no report by level"
grep -q '"hierarchy":{' "$work/levels.html" || fail "the page has no levels"
open_page levels 1280 900
open_page one 1600 1000
open_page one 1600 1000 --blink-settings=preferredColorScheme=0
open_page one 500 900
open_page two 1280 900
open_page small 1280 900
open_page claim 1280 900
open_page part 1280 900
open_page part 500 900
echo "html: ok"
