#!/bin/sh
# How long answers about much take, as whole processes of a release build, wall-clock: a thousand
# profiles compared (limit 1 s; with a model, and as a document), a report of ten thousand points
# (limit 2 s), and how its page does in a browser. Needs python3 and a quiet machine; Chromium for
# the page. Exit 1 if a limit is missed.
#   answers_speed.sh LMROOF [PROFILE.json [RUNS]]      PROFILE: of `lmroof probe -o`
set -u
lmroof=${1:?lmroof of a release build}
here=$(dirname "$0")/..
profile=${2:-$here/documents/machine.json}
runs=${3:-7}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
python3 "$here/cli/many_profiles.py" "$profile" "$work" 1000 || exit 1
python3 "$here/report/make_run.py" --points 10000 >"$work/run.json" || exit 1

# timed NAME LIMIT COMMAND...: minimum, median and maximum of RUNS runs after one not counted.
timed() {
    name=$1
    limit=$2
    shift 2
    python3 - "$name" "$limit" "$runs" "$@" <<'PY' || failed=1
import statistics, subprocess, sys, time
name, limit, runs, command = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
seconds = []
for _ in range(runs + 1):
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    seconds.append(time.perf_counter() - start)
seconds = seconds[1:]
median = statistics.median(seconds)
print(f"{name}: {min(seconds):.2f} {median:.2f} {max(seconds):.2f} s (min median max of {runs}), "
      f"limit {limit:g} s{'' if median < limit else ': MISSED'}")
sys.exit(median >= limit)
PY
}
echo "1,000 profiles of $(($(wc -c <"$work/p0000.json") / 1024)) KiB; load $(cut -d' ' -f1 /proc/loadavg)"
timed "1,000 profiles compared" 1 "$lmroof" compare "$work"/p*.json --quiet
timed "1,000 profiles compared, with a model" 1 "$lmroof" compare "$work"/p*.json -m llama-3.2-1b --quiet
timed "1,000 profiles compared, JSON" 1 "$lmroof" compare "$work"/p*.json --quiet --json
for format in html svg csv md txt; do
    timed "10,000 points, $format" 2 "$lmroof" report "$work/run.json" -o "$work/page.$format"
done
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "no Chromium: the page was not opened"
    exit $failed
}
python3 "$here/report/page_speed.py" "$browser" "$work/page.html" || failed=1
exit $failed
