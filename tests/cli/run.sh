#!/bin/sh
# lmroof run, validate and lmroof alone from outside: usage and input errors, documents on disk while
# they are measured, interruption, closed and full outputs, poor environments.
set -u
work=$(mktemp -d) || exit 1
mounted=
clean() {
    [ -z "$mounted" ] || umount "$mounted"
    rm -rf "$work"
}
trap clean EXIT
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}
# Small: about a second of measuring on two quiet cores.
model="-m pythia-160m"
decode="--phase decode --dtype bf16 --repeat 3 --no-twins --counters off"
small="$model $decode --quiet"

# ends CODE PATTERN COMMAND...: exit status and, with a pattern, one line on stderr that matches and
# nothing on stdout. In the background and bounded, so that nothing hangs this script.
ends() {
    code=$1
    pattern=$2
    shift 2
    timeout -k 5 "${limit:-120}" "$@" >"$work/out" 2>"$work/err" </dev/null
    got=$?
    [ "$got" -eq "$code" ] || fail "$*: exit $got, want $code: $(head -c 500 "$work/err")"
    if [ -n "$pattern" ]; then
        grep -qE -e "$pattern" "$work/err" || fail "$*: stderr lacks '$pattern': $(cat "$work/err")"
        [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$*: not one line on stderr: $(cat "$work/err")"
        [ -s "$work/out" ] && fail "$*: figures after an error"
    fi
}
valid() {
    sh "$TESTS/schema.sh" "$@" >"$work/schema" 2>&1
    code=$?
    [ "$code" -eq 77 ] && skipped="no python3-jsonschema: documents were not validated"
    [ "$code" -eq 0 ] || [ "$code" -eq 77 ] || fail "not valid: $(grep FAIL "$work/schema" | head -3)"
}
no_rest() { # FILE: no temporary beside it
    rest=$(find "$(dirname "$1")" -name "$(basename "$1").*")
    [ -z "$rest" ] || fail "left behind: $rest"
}
skipped=

# --- usage and input: before anything is measured
for command in run validate; do
    lmroof="$LMROOF $command"
    ends 2 "nosuchmodel" $lmroof -m nosuchmodel
    ends 2 "missing.json" $lmroof -m "$work/missing.json"
    head -c 200 "$SOURCE/workloads/models/pythia-160m.json" >"$work/cut.json"
    ends 2 "cut.json: line [0-9]+" $lmroof -m "$work/cut.json"
    sed 's/"num_hidden_layers": *[0-9]*/"num_hidden_layers": -3/' \
        "$SOURCE/workloads/models/pythia-160m.json" >"$work/negative.json"
    ends 2 "negative.json.*num_hidden_layers.*-3.*accepted" $lmroof -m "$work/negative.json"
    ends 2 "config.json" $lmroof -m "$work"
    sed 's/"num_hidden_layers": *[0-9]*/"num_hidden_layers": 1000/; s/"intermediate_size": *[0-9]*/"intermediate_size": 16000000/' \
        "$SOURCE/workloads/models/pythia-160m.json" >"$work/huge.json"
    ends 1 "huge.* needs [0-9.]+ [KMGTPE]iB .*[0-9.]+ [KMGT]iB are available" $lmroof -m "$work/huge.json"
    ends 2 "threads.*0.*accepted" $lmroof $model --threads 0
    ends 2 "4096.*accepted" $lmroof $model --threads 4096
    ends 2 "threads.*two.*accepted" $lmroof $model --threads two
    ends 2 "f7.*accepted" $lmroof $model --dtype f7
    ends 2 "frob" $lmroof $model --frob
    ends 2 "batch.*0.*accepted" $lmroof $model --batch 0
    ends 2 "context.*-1.*accepted" $lmroof $model --context -1
    ends 2 "second" $lmroof pythia-160m second
    ends 2 "nowhere" $lmroof $model -o "$work/nowhere/x.json"
    ends 2 "folder" $lmroof $model -o "$work"
    ends 2 "empty" $lmroof $model -o ""
    ends 0 "" $lmroof --help
    grep -q "model" "$work/out" || fail "$command --help says nothing"
done
# Sanitizers reserve terabytes of address space: no limit on that under them.
instrumented=
grep -qE '__[at]san_init' "$LMROOF" && instrumented=yes
[ -n "$instrumented" ] || ends 1 "mixtral-8x7b needs .*limited to 7\\.63 GiB: ulimit -v.* are available" \
    sh -c "ulimit -v 8000000; exec $LMROOF run -m mixtral-8x7b"
ends 2 "phase.*sleep.*accepted" "$LMROOF" run $model --phase sleep
ends 2 "kv-dtype.*f7.*accepted" "$LMROOF" run $model --kv-dtype f7
ends 2 "prompt.*0.*accepted" "$LMROOF" run $model --prompt 0
ends 2 "repeat.*2.*accepted" "$LMROOF" run $model --repeat 2
ends 2 "budget.*0.*accepted" "$LMROOF" run $model --budget 0
ends 2 "smt.*maybe.*accepted" "$LMROOF" run $model --smt maybe
ends 2 "pages.*1.*accepted" "$LMROOF" run $model --pages 1
ends 2 "numa.*x.*accepted" "$LMROOF" run $model --numa x
ends 2 "counters.*x.*accepted" "$LMROOF" run $model --counters x
ends 2 "event file: .*missing" "$LMROOF" run $model --events "$work/missing"
ends 2 "frob.*--help" "$LMROOF" frob
ends 2 "frob.*--help" "$LMROOF" --frob
ends 2 "'--step' of 'lmroof validate' is not an option of this command" "$LMROOF" validate $model --step
ends 2 "budget.*0.*accepted" "$LMROOF" validate $model --budget 0
ends 1 "budget of 0.001 s was used up by the preparation, which took [0-9.]+ s; try a larger --budget" \
    "$LMROOF" validate $model --budget 0.001
ends 2 "'--batch' of 'lmroof run' lacks its value" "$LMROOF" run $model --batch
ends 2 "'--json=1' of 'lmroof run' takes no value" "$LMROOF" run $model --json=1
ends 2 "'--b' of 'lmroof run' begins several options" "$LMROOF" run $model --b 1
ends 2 "'-Z' of 'lmroof run' is not an option" "$LMROOF" run $model -Z
ends 2 "'second' of 'lmroof run' is one argument too many" "$LMROOF" run pythia-160m second
ends 2 "'pythia160m'.*did you mean pythia-160m\\?" "$LMROOF" run pythia160m
ends 2 "one type" "$LMROOF" validate $model --dtype f32,bf16
ends 0 "" "$LMROOF" --version

# --- outputs that cannot be had, before anything is measured
"$LMROOF" run $small >&- 2>"$work/err"
[ $? -eq 1 ] || fail "closed stdout is not exit 1"
[ "$(wc -l <"$work/err")" -eq 1 ] || fail "closed stdout: not one line: $(cat "$work/err")"
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    mkdir "$work/locked"
    chmod 755 "$work"
    chmod 555 "$work/locked"
    # The program may be in a folder that only root enters.
    cp "$LMROOF" "$work/lmroof"
    user="setpriv --reuid 65534 --regid 65534 --clear-groups $work/lmroof"
elif [ "$(id -u)" -ne 0 ]; then
    mkdir "$work/locked"
    chmod 555 "$work/locked"
    user=$LMROOF
else
    skipped="no setpriv: folders without write permission"
    user=
fi
if [ -n "$user" ]; then
    ends 1 "locked.*[Pp]ermission" $user run $small -o "$work/locked/x.json"
    ends 1 "locked.*[Pp]ermission" $user validate $model -o "$work/locked/x.json"
    cd "$work/locked" || exit 1
    ends 1 "lmroof-report.html.*[Pp]ermission" $user
fi
cd "$work" || exit 1
mkdir lmroof-report.html
ends 2 "lmroof-report.html.*folder" "$LMROOF"
rmdir lmroof-report.html

# --- a budget that nothing fits into: one line that says so, and no table of dashes
ends 1 "budget of 0.001 s was used up by the preparation, which took [0-9.]+ s; try a larger --budget" \
    "$LMROOF" run $small --budget 0.001

# --- a run: one document, the same on disk, valid after every operator
echo '{"old": true}' >"$work/a.json"
"$LMROOF" run $small --json -o "$work/a.json" >"$work/out" 2>"$work/err" &
pid=$!
shots=0
while kill -0 "$pid" 2>/dev/null; do
    cp "$work/a.json" "$work/shot"
    if ! cmp -s "$work/shot" "$work/shot.$shots"; then
        shots=$((shots + 1))
        mv "$work/shot" "$work/shot.$shots"
    fi
    sleep 0.1
done
wait "$pid"
[ $? -eq 0 ] || fail "run --json -o: $(cat "$work/err")"
cmp -s "$work/out" "$work/a.json" || fail "--json and -o differ"
[ -s "$work/err" ] && fail "--quiet is not quiet: $(cat "$work/err")"
grep -qF '"complete": true' "$work/a.json" || fail "a whole run is not complete"
for operator in qkv attention attn_out gate_up down head; do
    grep -qF "\"operator\": \"$operator\"" "$work/a.json" || fail "no point of $operator"
done
grep -qF '"old"' "$work/shot.1" && rm "$work/shot.1"
[ "$shots" -ge 3 ] || fail "the document changed $shots times: not after every operator"
# The last may be the finished one.
for shot in "$work"/shot.*; do
    grep -qE '"complete": (false|true)' "$shot" || fail "$shot is no document"
done
grep -lF '"complete": false' "$work"/shot.* >"$work/list" || fail "no incomplete document was seen"
valid "$work/a.json" "$work"/shot.*
no_rest "$work/a.json"

# --- signals in the middle: a clean end soon, the document valid and marked
interrupt() { # SIGNAL CODE FILE PID
    sleep 0.5
    kill -s "$1" "$4"
    begin=$(date +%s)
    wait "$4"
    got=$?
    took=$(($(date +%s) - begin))
    [ "$got" -eq "$2" ] || fail "SIG$1: exit $got, want $2: $(cat "$work/err")"
    case $3 in
    */json) ;;
    *) grep -qF "$3 (\"complete\": false)" "$work/err" || fail "SIG$1: not told of $3: $(cat "$work/err")" ;;
    esac
    [ "$took" -le 10 ] || fail "SIG$1: $took s to end"
    grep -qF '"complete": false' "$3" || fail "SIG$1: the document is not marked"
    valid "$3"
    no_rest "$3"
}
for pair in INT:130 TERM:143; do
    "$LMROOF" run $model --quiet -o "$work/${pair%:*}.json" >"$work/out" 2>"$work/err" &
    pid=$!
    tries=0
    until [ -s "$work/${pair%:*}.json" ] || [ "$tries" -gt 300 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    interrupt "${pair%:*}" "${pair#*:}" "$work/${pair%:*}.json" "$pid"
    [ -s "$work/out" ] && fail "SIG${pair%:*}: figures of an interrupted run"
done
"$LMROOF" >"$work/out" 2>"$work/err" &
pid=$!
sleep 2
kill -s INT "$pid"
wait "$pid"
[ $? -eq 130 ] || fail "lmroof alone, SIGINT: not exit 130: $(cat "$work/err")"
[ -s "$work/out" ] && fail "lmroof alone, SIGINT: figures of an interrupted run"
[ -e lmroof-report.html ] && fail "lmroof alone, SIGINT: a report is left behind"
for command in run validate; do
    "$LMROOF" $command $model --quiet --json -o "$work/both.json" >"$work/json" 2>"$work/err" &
    pid=$!
    sleep 2
    interrupt INT 130 "$work/json" "$pid"
    grep -qF "what was measured is in $work/both.json" "$work/err" || fail "$command, SIGINT: $(cat "$work/err")"
    cmp -s "$work/json" "$work/both.json" || fail "$command, SIGINT: --json and -o differ"
    rm -f "$work/both.json"
done

# --- full disks
if [ -c /dev/full ]; then
    "$LMROOF" run $small >/dev/full 2>"$work/err"
    [ $? -eq 1 ] || fail "stdout on a full disk is not exit 1"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "full disk: not one line: $(cat "$work/err")"
fi
mkdir "$work/disk"
if mount -t tmpfs -o size=64k tmpfs "$work/disk" 2>/dev/null; then
    mounted="$work/disk"
    echo '{"old": true}' >"$work/disk/x.json"
    head -c 100000 /dev/zero >"$work/disk/ballast" 2>/dev/null
    ends 1 "x.json.*[Ss]pace" "$LMROOF" run $small -o "$work/disk/x.json"
    grep -qF '"old"' "$work/disk/x.json" || fail "a full disk: the old file is lost"
    no_rest "$work/disk/x.json"
    # Room for the first documents, not for the last.
    rm "$work/disk/ballast"
    ends 1 "x.json.*[Ss]pace" "$LMROOF" run $small --batch 1,2 -o "$work/disk/x.json"
    grep -qF '"complete": false' "$work/disk/x.json" || fail "a disk that fills up: no document is left"
    valid "$work/disk/x.json"
    no_rest "$work/disk/x.json"
    umount "$work/disk" && mounted=
else
    skipped="no right to mount: -o on a full disk"
fi

# --- poor environments
limit=60
[ -n "$instrumented" ] || ends 1 "memory|address space" sh -c "ulimit -v 200000; exec $LMROOF run $small"
[ -n "$instrumented" ] || ends 1 "address space is limited to 195 MiB .*--step.* are to be had" \
    sh -c "ulimit -v 200000; exec $LMROOF run -m pythia-160m --step --phase decode"
ends 0 "" sh -c "ulimit -n 6; exec $LMROOF run $small"
ends 1 "OMP_THREAD_LIMIT" env OMP_THREAD_LIMIT=1 "$LMROOF" run $small --threads "$(nproc)"
cpu=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
ends 2 "accepted are 1 to 1" taskset -c "$cpu" "$LMROOF" run $small --threads 2
unshared=
unshare -m true 2>/dev/null && unshared="unshare -m"
hide='if [ -n "$1" ]; then mount --bind /dev/null /proc/$$/smaps; fi; shift; exec "$@"'
ends 0 "" env -u HOME LC_ALL=xx_YY.UTF-8 OMP_NUM_THREADS=8 OMP_DYNAMIC=true OMP_PROC_BIND=spread \
    taskset -c "$cpu" $unshared sh -c "$hide" sh "$unshared" "$LMROOF" run $small --json
mv "$work/out" "$work/poor.json"
valid "$work/poor.json"
grep -qF '"threads": 1' "$work/poor.json" || fail "not one thread on one cpu"
grep -qF '"threads": 2' "$work/poor.json" && fail "two threads on one cpu"
[ -z "$unshared" ] || ! grep -qE '"page_bytes": [0-9]' "$work/poor.json" || fail "pages known without smaps"

[ -z "$skipped" ] || echo "SKIPPED IN PART: $skipped"
[ "$failed" -eq 0 ] && echo "run: ok"
exit "$failed"
