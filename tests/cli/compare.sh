#!/bin/sh
# lmroof compare: ratios, marks, documents, pictures, messages and exit codes.
set -u
command=compare
. "$TESTS/cli/common.sh"
machine="$TESTS/documents/machine.json"

refuses 'two or more'
refuses 'found 1 machine,' "$machine"
refuses 'no-such' "$machine" no-such
refuses 'is not an option' "$machine" epyc-9654 --frob
refuses '--price' "$machine" epyc-9654 --price epyc-9654=1
refuses 'accepted extensions: .json .html .svg' "$machine" epyc-9654 -o "$work/x.gif"
refuses 'no-model' "$machine" epyc-9654 -m no-model
refuses 'missing' "$machine" epyc-9654 -o "$work/missing/x.svg"
sed 's/"bandwidth": \[{.*/"bandwidth": [],/; /"placement"/d; /"bytes_per_s": {/d; /"samples": \[999/d' \
    "$TESTS/documents/machine_slow.json" >"$work/empty.json"
refuses 'no ceiling' "$machine" "$work/empty.json"

# Half the bandwidth, other pages, another version, siblings in use.
python3 - "$machine" "$work/half.json" <<'EOF'
import json, sys
document = json.load(open(sys.argv[1]))
for row in document["bandwidth"]:
    rate = row["bytes_per_s"]
    for key in ("value", "best"):
        rate[key] /= 2
    rate["ci95"] = [x / 2 for x in rate["ci95"]]
    rate["samples"] = [x / 2 for x in rate["samples"]]
    row["page_bytes"] = 4096
    row["threads"] = 4
document["tool"]["version"] = "0.0.9"
document["warnings"].append({"code": "unsteady", "text": "unsteady", "try": None})
document["complete"] = False
json.dump(document, open(sys.argv[2], "w"))
EOF
"$LMROOF" compare "$machine" "$work/half.json" epyc-9654 -m llama-3.2-1b --batch 1,64 \
    --price epyc-9654=3 -o "$work/saved.json" >"$work/text" 2>"$work/err" ||
    fail "compare: $(cat "$work/err")"
grep -q '0.5x  differs !threads_per_core !pages !unsteady' "$work/text" || fail "no marks in the table"
grep -q 'per price' "$work/text" || fail "no prices in the table"
[ "$(grep -c warning "$work/err")" -ge 6 ] || fail "too few warnings: $(cat "$work/err")"
"$LMROOF" compare "$machine" epyc-9654 --verbose >/dev/null 2>"$work/err" || fail "--verbose"
grep -q 'warning: machine.json: turbo_unknown' "$work/err" && grep -q 'not_saturated' "$work/err" ||
    fail "--verbose does not tell the profiles' warnings: $(cat "$work/err")"
"$LMROOF" compare "$machine" epyc-9654 2>&1 >/dev/null | grep -q turbo_unknown && fail "told without --verbose"
"$LMROOF" compare "$machine" "$machine" -m llama-3.2-1b --quiet >"$work/text" || fail "itself"
grep -q 'decodes 1.00 times as fast as .*, but their ranges overlap: cannot tell' "$work/text" ||
    fail "a machine beside itself: $(head -3 "$work/text")"
mkdir -p "$work/a" "$work/b" && cp "$machine" "$work/a/here.json" && cp "$work/half.json" "$work/b/here.json"
(cd "$work" && "$LMROOF" compare a/here.json b/here.json -m llama-3.2-1b --quiet) >"$work/text" || fail "two of one name"
grep -q '^a/here.json decodes .* times as fast as b/here.json$' "$work/text" ||
    fail "two of one name: $(head -3 "$work/text")"
"$LMROOF" compare "$machine" "$work/half.json" -m llama-3.2-1b --quiet >"$work/text" || fail "half"
grep -q 'times as fast as half.json$' "$work/text" || fail "half: $(head -3 "$work/text")"
"$LMROOF" compare "$machine" "$machine" --json --quiet >"$work/document.json" 2>"$work/err" ||
    fail "--json"
[ -s "$work/err" ] && fail "--quiet wrote $(cat "$work/err")"
python3 "$TESTS/schema.py" "$SOURCE/profiler/schemas" "$work/saved.json" "$work/document.json"
code=$?
[ "$code" -eq 77 ] && echo "SKIP: no validator" && exit 77
[ "$code" -eq 0 ] || fail "the documents are not valid"
python3 - "$work/saved.json" "$work/document.json" <<'EOF' || failed=1
import json, sys
saved, same = (json.load(open(path)) for path in sys.argv[1:])
rows = {row["name"]: row["machines"] for row in saved["ceilings"]}
first, half, sheet = rows["DRAM load"]
assert first["ratio"] == 1 and first["differs"] is False and first["marks"] == []
assert abs(half["ratio"] - 0.5) < 1e-12 and half["differs"] is True
assert half["marks"] == ["threads_per_core", "pages", "unsteady"], half
assert sheet["marks"] == ["origin", "unsteady"][:1] and sheet["differs"] is None, sheet
assert "class" in rows["f32 fma"][-1]["marks"]
codes = {w["code"] for w in saved["warnings"]}
assert codes >= {"unlike_" + c for c in ("threads_per_core", "pages", "version", "origin",
                                         "unsteady", "incomplete")}, codes
assert [m["name"] for m in saved["prediction"]["machines"]] == ["epyc-9654", "machine.json", "half.json"]
for row in same["ceilings"]:
    assert all(m["ratio"] == 1 and m["marks"] == [] for m in row["machines"])
assert same["prediction"] is None and same["warnings"] == []
EOF
# A median thirty times as high whose interval still meets the other is not "the same".
python3 - "$machine" "$work/wide.json" <<'EOF'
import json, sys
document = json.load(open(sys.argv[1]))
for row in document["bandwidth"]:
    rate = row["bytes_per_s"]
    rate["ci95"] = [rate["value"], 40 * rate["value"]]
    rate["value"] *= 30
json.dump(document, open(sys.argv[2], "w"))
EOF
"$LMROOF" compare "$machine" "$work/wide.json" -o "$work/wide_answer.json" --quiet >"$work/text" || fail "wide"
grep -q ' 30x  cannot tell !unsteady' "$work/text" || fail "30x is not 'cannot tell': $(cat "$work/text")"
valid "$work/wide_answer.json"
grep -q 'too wide to tell: they allow ratios of 0.99' "$work/wide_answer.json" || fail "no reason in the document"
if command -v gnuplot >/dev/null 2>&1; then
    "$LMROOF" compare "$machine" epyc-9654 -o "$work/both.svg" --quiet >/dev/null || fail "svg"
    grep -q 'epyc-9654' "$work/both.svg" && grep -q 'machine.json' "$work/both.svg" ||
        fail "the picture does not name both machines"
fi
[ "$failed" -eq 0 ] && echo "compare: ok"
exit "$failed"
