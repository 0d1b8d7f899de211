#!/bin/sh
# `lmroof report` as a user and an attacker meet it: every format from the file alone, several runs
# laid over each other, and every kind of bad input with one clear line and the right exit status.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAIL: $*"; failed=1; }
run="$TESTS/documents/run.json"
cd "$work" || exit 1

# refused STATUS WORDS ARG...: exits with STATUS, one line on stderr that holds WORDS, no output.
refused() {
    status=$1 words=$2
    shift 2
    "$LMROOF" report "$@" >out 2>err
    got=$?
    [ "$got" -eq "$status" ] || fail "report $*: exit $got, want $status: $(cat err)"
    [ "$(wc -l <err)" -eq 1 ] || fail "report $*: not one line: $(cat err)"
    grep -qF -- "$words" err || fail "report $*: '$(cat err)' lacks '$words'"
    [ ! -s out ] || fail "report $*: wrote to stdout besides the error"
}

# ---- formats
command -v gnuplot >/dev/null 2>&1 && pictures='svg png pdf' || pictures=
[ -n "$pictures" ] || echo "no gnuplot: pictures are only tried for their error"
for format in csv md txt $pictures; do
    "$LMROOF" report "$run" -o "one.$format" || fail "no $format"
    "$LMROOF" report "$run" "$TESTS/documents/validate.json" -o "two.$format" || fail "no overlay in $format"
    [ -s "one.$format" ] && [ -s "two.$format" ] || fail "$format is empty"
done
for picture in batch threads operators levels; do
    [ -z "$pictures" ] || {
        "$LMROOF" report "$run" --picture "$picture" -o "$picture.svg" || fail "no picture $picture"
        grep -q '<svg' "$picture.svg" || fail "$picture.svg is no SVG"
        cmp -s "$picture.svg" one.svg && fail "$picture is the roofline"
        "$LMROOF" report "$run" --picture "$picture" >"$picture.txt" || fail "no $picture in text"
    }
done
refused 2 '--picture' "$run" --picture nonsense
# Every batch that some series has is named below the axis, and no rate is in thousandths.
python3 - "$run" sweep.json <<'PY' || fail "sweep.json"
import copy, json, sys
run = json.load(open(sys.argv[1]))
decode = [p for p in run["points"] if p["phase"] == "decode"]
run["points"] = []
for batch, factor in ((1, 1), (8, 2), (64, 3)):
    for point in copy.deepcopy([p for p in decode if p["batch"] == decode[0]["batch"]]):
        point.update(batch=batch, id=point["id"] + "x%d" % batch)
        for key in ("value", "best"):
            point["seconds"][key] *= 1e4 * factor
        point["seconds"]["ci95"] = [x * 1e4 * factor for x in point["seconds"]["ci95"]]
        point["disturbed"] = batch == 8
        if batch != 8:
            del point["disturbed"]
        run["points"].append(point)
run["steps"] = []
json.dump(run, open(sys.argv[2], "w"))
PY
[ -z "$pictures" ] || {
    "$LMROOF" report sweep.json --picture batch -o sweep.svg || fail "no picture of sweep.json"
    for tick in 1 8 64; do
        grep -q "> *$tick *</" sweep.svg || fail "the axis of batches does not name $tick"
    done
    grep -q '[0-9] m *</' sweep.svg && fail "thousandths of a token/s: $(grep -m1 '[0-9] m *</' sweep.svg)"
}
# Rows that other work disturbed carry a mark, and the mark is explained.
"$LMROOF" report sweep.json >sweep.txt || fail "no table of sweep.json"
[ "$(grep -c '^!' sweep.txt)" -ge 2 ] || fail "disturbed rows are not marked"
grep -q '! at the left' sweep.txt || fail "the mark is not explained"
refused 2 'found nothing to draw' "$run" --picture context -o none.svg
"$LMROOF" report "$TESTS/documents/machine.json" -o machine.txt || fail "no report of a machine document"
grep -q 'GFLOP/s' machine.txt || fail "the machine's ceilings are missing"
[ -z "$pictures" ] || {
    head -c 8 one.png | od -c | grep -q 'P   N   G' || fail "one.png is no PNG"
    head -c 5 one.pdf | grep -q '%PDF-' || fail "one.pdf is no PDF"
    python3 - one.svg <<'PY' || fail "one.svg"
import sys, xml.dom.minidom
svg = xml.dom.minidom.parse(sys.argv[1])
text = "".join(n.firstChild.data for n in svg.getElementsByTagName("tspan") if n.firstChild)
text += "".join(c.data for n in svg.getElementsByTagName("text") for c in n.childNodes if c.nodeType == c.TEXT_NODE)
for word in ("llama-3.2-1b", "DRAM 3", "GFLOP/s", "gate_up", "arithmetic intensity", "batch 1"):
    assert word in text, word
PY
}
python3 - "$run" one.csv two.csv <<'PY' || fail "csv"
import csv, json, math, sys
document = json.load(open(sys.argv[1]))
rows = list(csv.DictReader(open(sys.argv[2], newline="")))
points = document["points"]
assert [r["id"] for r in rows] == [p["id"] for p in points]
assert len({len(r) for r in rows}) == 1 and None not in rows[0]
assert len(list(csv.reader(open(sys.argv[3], newline="")))) > len(rows) + 1
def figures(value, name=""):
    for key, child in value.items():
        full = name + key
        if key in ("why_absent", "evidence"):
            continue
        if isinstance(child, dict) and "value" not in child:
            yield from figures(child, full + ".")
        else:
            yield full, child, value
# Every figure of every point, with origin, interval, samples, or the reason why it is absent.
for row, point in zip(rows, points):
    for name, value, parent in figures(point):
        assert name in row, name
        if isinstance(value, dict):
            assert math.isclose(float(row[name]), value["value"], rel_tol=1e-11), name
            assert math.isclose(float(row[name + "_ci95_low"]), value["ci95"][0], rel_tol=1e-11)
            assert row[name + "_origin"] in (value.get("origin"), *value.get("from", {}).values())
            if "samples" in value:
                assert row[name + "_samples"].count(";") == value["n"] - 1 == int(row[name + "_n"]) - 1
        elif value is None:
            assert row[name] == "", name
            if name + "_absent_state" in row:
                why = parent["why_absent"][name.split(".")[-1]]
                assert row[name + "_absent_state"] == why["state"], name
                assert row[name + "_absent_text"] == why["text"], name
        elif isinstance(value, bool):
            assert row[name] == str(value).lower(), name
        elif isinstance(value, (int, float)):
            assert math.isclose(float(row[name]), value, rel_tol=1e-11), name
        else:
            assert row[name] == value, name
    for e in point["evidence"]:
        assert row["evidence.%s.found" % e["test"]] == e["found"]
PY
awk 'length($0) > 140 { exit 1 }' one.txt || fail "lines of more than 140 columns"
awk '/^  operator/ && length($0) > 120 { exit 1 }' one.txt || fail "a table of more than 120 columns"
"$LMROOF" report "$run" >stdout.txt || fail "nothing on stdout"
grep -q 'gate_up' stdout.txt && grep -q 'DRAM load' stdout.txt || fail "no table on stdout"
grep -q "$(printf '\033')" stdout.txt && fail "escape sequences though stdout is no terminal"
for word in "not_saturated" "try: more cores" "transparent_huge_pages"; do
    grep -qF "$word" stdout.txt || fail "the text lacks '$word'"
done

# ---- a validate document shows its claim, its finding and the evidence
"$LMROOF" report "$TESTS/documents/validate.json" >claim.txt && "$LMROOF" report "$TESTS/documents/validate.json" -o claim.md
python3 - "$TESTS/documents/validate.json" claim.txt claim.md <<'PY' || fail "claim"
import json, sys
d = json.load(open(sys.argv[1]))
for path in sys.argv[2:]:
    text = open(path).read().replace("\\", "")
    for word in [d["verdict"], d["claim"], d["finding"]] + [e["found"] for e in d["evidence"]]:
        assert word in text, (path, word)
PY
sed 's/"verdict": "[a-z_]*",//' "$TESTS/documents/validate.json" >unjudged.json
refused 2 'unjudged.json: verdict: found nothing' unjudged.json

# ---- a run whose time was used up says so first and last, and has no rows of dashes
python3 "$TESTS/report/cut_run.py" "$run" 2 >part.json || fail "cut_run.py"
sh "$TESTS/schema.sh" part.json >schema 2>&1 || [ $? -eq 77 ] || fail "part.json: $(cat schema)"
said='INCOMPLETE: 2 of 6 points measured: the budget of 3 s was used up after 4.5 s'
"$LMROOF" report part.json >part.txt || fail "no text of a part"
[ "$(head -n 1 part.txt)" = "$said" ] || fail "the first line is '$(head -n 1 part.txt)'"
[ "$(tail -n 3 part.txt | head -n 1)" = "$said" ] || fail "the last lines are '$(tail -n 3 part.txt)'"
tail -n 1 part.txt | grep -q '^DISTURBED: 1 of 6 points' || fail "the last line is '$(tail -n 1 part.txt)'"
[ "$(grep -cE '^  (qkv|attention|attn_out|gate_up|down|head) ' part.txt)" -eq 2 ] || fail "rows of what was not measured"
grep -q '4 points, decode/.* to prefill/.*: not_scheduled$' part.txt || fail "no line on what was not measured"
[ "$(grep -c 'not_scheduled' part.txt)" -eq 1 ] || fail "a reason is told more than once"
awk 'length($0) > 140 { exit 1 }' part.txt || fail "lines of more than 140 columns"
"$LMROOF" report part.json -o part.md || fail "no md of a part"
[ "$(grep -cF "**$said**" part.md)" -eq 2 ] || fail "md: not first and last"
[ "$(grep -c '^| [a-z\\_]* | [0-9]' part.md)" -eq 2 ] || fail "md: rows of what was not measured"
sed 's/"complete": true/"complete": false/' part.json >ended.json
"$LMROOF" report ended.json | head -n 1 | grep -q '^INCOMPLETE: ended before the last point; 2 points' ||
    fail "an ended run does not say so first"
grep -qE 'INCOMPLETE|DISTURBED' stdout.txt && fail "a whole run is called incomplete"

# ---- texts of a file stay texts
python3 - "$run" evil.json <<'PY' || exit 1
import json, sys
document = json.load(open(sys.argv[1]))
evil = "\x1b]0;x\x07\x9b31m</script><img src=x>'`touch pwned`' \"$(touch pwned)\" | ,;\n# {}%s%n"
document["model"]["name"] = evil[:60]
document["host"]["name"] = evil
document["warnings"].append({"code": "evil", "text": evil, "try": evil})
for point in document["points"]:
    point["operator"] = evil[6:20]
    point["id"] += "</script>`x`"
    point["dtype"] = "b'`x`"
    point["roof"]["name"] = evil[:40]
for row in document["machine"]["compute"]:
    row["dtype"] = "b'`x`"
json.dump(document, open(sys.argv[2], "w"))
PY
for format in csv md txt html $pictures; do
    "$LMROOF" report evil.json -o "evil.$format" 2>err || grep -q 'Chart.js' err || fail "evil.$format: $(cat err)"
    [ ! -e pwned ] || fail "$format ran a command from a text"
done
if grep -q "$(printf '[\001-\010\033\177]')" evil.txt evil.md; then fail "control characters got through"; fi
if [ -e evil.html ]; then
    [ "$(grep -c '</script><img' evil.html)" -eq 0 ] || fail "markup got through"
    [ "$(grep -o '</script>' evil.html | wc -l)" -eq "$(grep -o '<script' evil.html | wc -l)" ] ||
        fail "script elements do not pair"
fi

# ---- bad input
refused 2 'found no file'
refused 2 'no-such.json: cannot open' no-such.json
refused 2 "accepted extensions: .html .svg .png .pdf .csv .md .txt" "$run" -o out.xyz
refused 2 'no extension' "$run" -o out
refused 2 "folder 'missing' does not exist" "$run" -o missing/out.md
refused 2 "'--nonsense'" --nonsense "$run"
mkdir folder.md
refused 2 'is a folder' "$run" -o folder.md
: >empty.json
refused 2 'empty.json: not a whole JSON document' empty.json
head -c 20000 "$run" >cut.json
refused 2 'cut.json: not a whole JSON document: line' cut.json
head -c 3000 /dev/urandom >noise.json
refused 2 'noise.json' noise.json
echo '{"schema": "lmroof.topology/1"}' >kind.json
refused 2 'schema: found "lmroof.topology/1", accepted "lmroof.run/1"' kind.json
sed 's/"flop": [0-9][0-9]*/"flop": "many"/' "$run" >word.json
refused 2 'points[0].flop: found "many", accepted a number or null' word.json
sed 's/"seconds": {/"sekonds": {/; s/"batch": 1,/"batch": -1,/' "$run" >negative.json
refused 2 'points[0].batch: found -1' negative.json
sed 's/"operator": "qkv",//' "$run" >lacking.json
refused 2 'points[0].operator: found nothing' lacking.json
refused 2 'none' "$TESTS/documents/machine.json" -o machine.csv
refused 2 'cannot read' "$work"

# ---- nothing is lost and nothing left behind
echo old >kept.md
refused 2 'cut.json' cut.json -o kept.md
[ "$(cat kept.md)" = old ] || fail "a failed report replaced the old file"
ln -s /dev/full full.md
refused 1 'full.md: cannot write' "$run" -o full.md
"$LMROOF" report "$run" >/dev/full 2>err
[ $? -eq 1 ] && [ "$(wc -l <err)" -eq 1 ] || fail "full stdout: $(cat err)"
"$LMROOF" report "$run" >&- 2>err
[ $? -eq 1 ] && [ "$(wc -l <err)" -eq 1 ] || fail "closed stdout: $(cat err)"
ls | grep -E '\.(md|svg|png|pdf|csv|txt|html)\.' && fail "temporary files stay"

# ---- without gnuplot: pictures say which package, the text has its tables all the same
mkdir nothing
for format in svg png pdf; do
    PATH="$work/nothing" "$LMROOF" report "$run" -o "none.$format" 2>err
    [ $? -eq 1 ] && grep -q 'gnuplot-nox' err || fail "without gnuplot: $(cat err)"
    [ ! -e "none.$format" ] || fail "without gnuplot: a file all the same"
done
PATH="$work/nothing" "$LMROOF" report "$run" >none.txt 2>err || fail "text without gnuplot: $(cat err)"
grep -q 'gnuplot-nox' none.txt && grep -q 'gate_up' none.txt || fail "text without gnuplot"
printf '#!/bin/sh\necho "line 3: undefined" >&2\nexit 1\n' >nothing/gnuplot
chmod +x nothing/gnuplot
PATH="$work/nothing:$PATH" "$LMROOF" report "$run" -o broken.svg 2>err
[ $? -eq 1 ] && grep -q 'gnuplot failed: line 3: undefined' err || fail "broken gnuplot: $(cat err)"

# ---- a signal ends it also while the document is still coming
mkfifo endless
sleep 100 >endless &
writer=$!
for number in 2 15; do
    # A shell's background process ignores SIGINT.
    python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' "$LMROOF" report endless -o late.html 2>err &
    pid=$!
    tries=0
    until ls -l "/proc/$pid/fd" 2>/dev/null | grep -q endless || [ "$tries" -gt 600 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    kill -s "$number" "$pid"
    (sleep 60; kill -s KILL "$pid") >/dev/null 2>&1 &
    guard=$!
    wait "$pid"
    got=$?
    kill "$guard" 2>/dev/null
    [ "$got" -eq "$((128 + number))" ] || fail "signal $number: exit $got: $(cat err)"
done
kill "$writer"
[ ! -e late.html ] || fail "a report of nothing"

[ "$failed" -eq 0 ] && echo "report: ok"
exit "$failed"
