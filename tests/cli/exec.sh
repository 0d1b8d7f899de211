#!/bin/sh
# lmroof exec and attach from outside: what the command gets, how it ends, what is seen of it.
set -u
command=exec
. "$TESTS/cli/common.sh"
# ends CODE COMMAND...: exit status.
ends() {
    code=$1
    shift
    timeout -k 5 300 "$@" >"$work/out" 2>"$work/err" </dev/null
    got=$?
    [ "$got" -eq "$code" ] || fail "$*: exit $got, want $code: $(head -c 400 "$work/err")"
}
one_line() { # PATTERN
    grep -qE -e "$1" "$work/err" || fail "stderr lacks '$1': $(cat "$work/err")"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "not one line on stderr: $(cat "$work/err")"
    [ -s "$work/out" ] && fail "figures after an error: $1"
}
# is FILE EXPRESSION: a condition on the document d.
is() {
    python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
sys.exit(0 if eval(sys.argv[2]) else 1)' "$1" "$2" || fail "$1: not $2"
}
exec="$LMROOF exec"

# --- like env(1)
ends 0 $exec --quiet -o "$work/sleep.json" -- sleep 1
[ -s "$work/out" ] || [ -s "$work/err" ] && fail "--quiet is not quiet: $(cat "$work/out" "$work/err")"
valid "$work/sleep.json"
is "$work/sleep.json" '1 <= d["seconds"] and d["complete"] and d["process"]["name"] == "sleep"'
is "$work/sleep.json" 'd["totals"]["user_seconds"] + d["totals"]["system_seconds"] < 0.5'
is "$work/sleep.json" 'len(d["series"]["seconds"]) >= 2 and d["window"] is None'
is "$work/sleep.json" 'd["process"]["end"]["exit_status"] == 0 and d["process"]["processes"] == 1'
ends 7 $exec -- sh -c 'echo out; echo err >&2; exit 7'
[ "$(cat "$work/out")" = out ] || fail "the command's output is not its own: $(cat "$work/out")"
grep -qx err "$work/err" && grep -q "status 7" "$work/err" || fail "stderr: $(cat "$work/err")"
grep -q '^stretches    seconds from the start$' "$work/err" || fail "stretches without a header"
grep -Eq '^ +0\.00 to +[0-9]+\.[0-9][0-9] s  [a-z]+$' "$work/err" || fail "no first stretch: $(cat "$work/err")"
ends 143 $exec --quiet -o "$work/term.json" -- sh -c 'kill -TERM $$'
is "$work/term.json" 'd["process"]["end"]["how"] == "signalled" and d["process"]["end"]["signal"] == 15'
valid "$work/term.json"
ends 137 $exec --quiet -- sh -c 'kill -KILL $$'
ends 127 $exec -- "$work/missing"
one_line "missing: No such file"
ends 127 $exec -- no-such-command-anywhere
one_line "no-such-command-anywhere: No such file"
echo text >"$work/text"
ends 126 $exec -- "$work/text"
one_line "text: Permission denied"
ends 126 $exec -- "$work"
one_line "Permission denied"
ends 125 $exec --frob -- true
one_line "frob.*--help"
ends 125 $exec
one_line "no command"
ends 125 $exec -m pythia-160m -- touch "$work/ran"
one_line "tokens"
ends 125 $exec -m nosuchmodel --tokens 5 -- touch "$work/ran"
one_line "nosuchmodel"
ends 125 $exec -o "$work/nowhere/x.json" -- touch "$work/ran"
one_line "nowhere"
ends 125 $exec --interval 0 -- touch "$work/ran"
one_line "interval.*0.*accepted"
ends 125 $exec --window 5:1 -- touch "$work/ran"
one_line "window.*5:1.*accepted"
[ -e "$work/ran" ] && fail "the command ran after bad usage"
ends 125 $exec --quiet --window 50:60 -- true
one_line "window 50:60.*watched for"
ends 0 $exec --help
grep -q "127" "$work/out" || fail "--help does not name the exit statuses"
# An option of the command is not ours, with and without the two dashes.
ends 3 $exec --quiet sh -c 'exit 3'
ends 0 $exec --quiet -- env --version
grep -q env "$work/out" || fail "the command's --version went elsewhere"

# --- --json: one document on stdout, the command's output on stderr
ends 0 $exec --json -- echo hello
[ "$(cat "$work/err")" = hello ] || fail "--json: stderr is $(cat "$work/err")"
valid "$work/out"

# --- the command's surroundings: input, environment, signals as they were
[ "$(echo input | $exec --quiet -- cat)" = input ] || fail "standard input does not reach the command"
[ "$(WORD=value $exec --quiet -- sh -c 'echo $WORD')" = value ] || fail "the environment is lost"
$exec --quiet -- sh -c 'grep -E "^Sig(Blk|Ign)" /proc/self/status' >"$work/inside"
sh -c 'grep -E "^Sig(Blk|Ign)" /proc/self/status' >"$work/outside"
cmp -s "$work/inside" "$work/outside" || fail "signals changed: $(cat "$work/inside" "$work/outside")"
sh -c "trap '' INT; $exec --quiet -- sh -c 'kill -INT \$\$; exit 5'"
[ $? -eq 5 ] || fail "a signal that was ignored is not ignored inside"

# --- trees: forks, pipelines, nested children that burn CPU
burn='import time
end = time.process_time() + 0.5
while time.process_time() < end: pass'
ends 0 $exec --quiet -o "$work/pipe.json" -- sh -c \
    "python3 -c '$burn' | (python3 -c '$burn'; python3 -c '$burn') | cat"
valid "$work/pipe.json"
is "$work/pipe.json" 'd["process"]["processes"] >= 4'
is "$work/pipe.json" '1.4 <= d["totals"]["user_seconds"] + d["totals"]["system_seconds"] < 6'
is "$work/pipe.json" 'd["totals"]["rss_peak_bytes"] > 4 << 20'
# A child that its parent does not wait for, and one that outlives it.
ends 0 $exec --quiet -o "$work/orphan.json" -- sh -c \
    "(python3 -c '$burn
open(\"$work/burnt\", \"w\")' &)
until [ -e '$work/burnt' ]; do sleep 0.1; done; sleep 0.5"
is "$work/orphan.json" '0.4 <= d["totals"]["user_seconds"] + d["totals"]["system_seconds"] < 5'
ends 4 $exec -o "$work/daemon.json" -- sh -c 'setsid sleep 6000 >/dev/null 2>&1 & exit 4'
is "$work/daemon.json" 'd["process"]["left_running"] == 1 and [w["code"] for w in d["warnings"]] == ["left_running"]'
grep -q "still run" "$work/err" || fail "nothing said of the daemon: $(cat "$work/err")"
daemon=$(ps -eo pid=,args= | sed -n 's/^ *\([0-9]*\) sleep 6000$/\1/p')
[ -n "$daemon" ] || fail "waited for a daemon, or ended it"
[ -z "$daemon" ] || kill $daemon
# Threads that begin and end.
ends 0 $exec --quiet -o "$work/threads.json" -- python3 -c 'import threading, time
for _ in range(3):
    threads = [threading.Thread(target=time.sleep, args=(0.8,)) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]'
# (Where python3 is a shim of scripts, more than five may have run before it.)
is "$work/threads.json" 'd["series"]["threads"].count(5) >= 3 and d["totals"]["voluntary_switches"] > 10'

# --- signals: passed on if sent to lmroof alone, not doubled if sent to the group
trapper='trap "echo got >>$0; exit 9" INT TERM; touch $0; while :; do sleep 0.05; done'
for signal in INT TERM; do
    # In the background sh ignores SIGINT, and what it starts would too.
    env --default-signal=INT $exec --quiet -o "$work/trap.json" -- sh -c "$trapper" "$work/caught" &
    pid=$!
    tries=0
    until [ -e "$work/caught" ] || [ "$tries" -gt 200 ]; do sleep 0.05; tries=$((tries + 1)); done
    sleep 0.3
    kill -s "$signal" "$pid"
    wait "$pid"
    [ $? -eq 9 ] || fail "SIG$signal: not the command's own status"
    [ "$(cat "$work/caught")" = got ] || fail "SIG$signal reached the command not once: $(cat "$work/caught")"
    is "$work/trap.json" 'd["process"]["end"]["exit_status"] == 9'
    rm -f "$work/caught"
done
$exec --quiet -- sleep 20 &
pid=$!
sleep 1
kill -s TERM "$pid"
wait "$pid"
[ $? -eq 143 ] || fail "SIGTERM to a plain command is not 143"
# Ctrl-C at a terminal: the group gets it from the kernel, the command once.
if command -v script >/dev/null 2>&1; then
    # The terminal's own shell gets it too and must outlive it, whichever shell that is.
    cat >"$work/session" <<SESSION
trap : INT
$exec --quiet -- sh -c 'trap "echo once >>$work/ctrl; exit 6" INT; echo ready >>$work/ctrl; sleep 20'
echo "status \$?" >>$work/ctrl
SESSION
    : >"$work/ctrl"
    wait_for() { # WORD: at most 20 s for it to stand in the log
        tries=0
        until grep -q "$1" "$work/ctrl" || [ "$tries" -gt 200 ]; do sleep 0.1; tries=$((tries + 1)); done
    }
    (wait_for ready; sleep 0.3; printf '\003'; wait_for status) |
        SHELL=/bin/sh script -qec "sh $work/session" /dev/null >/dev/null 2>&1
    grep -qx "status 6" "$work/ctrl" || fail "Ctrl-C: $(cat "$work/ctrl")"
    [ "$(grep -cx once "$work/ctrl")" -eq 1 ] || fail "Ctrl-C reached the command more than once"
else
    skipped="no script(1): Ctrl-C at a terminal"
fi

# --- attach
attach="$LMROOF attach"
ends 2 $attach
one_line "--pid"
ends 2 $attach --pid 0
one_line "pid.*0.*accepted"
ends 2 $attach --pid 999999999
one_line "999999999"
sh -c 'exit 0' &
ended=$!
wait "$ended"
ends 2 $attach --pid "$ended"
one_line "no such process"
python3 -c "import subprocess, time
time.sleep(1)
subprocess.run(['python3', '-c', '''$burn'''])
time.sleep(1)" &
pid=$!
ends 0 $attach --pid "$pid" --json
valid "$work/out"
mv "$work/out" "$work/attach.json"
is "$work/attach.json" 'd["mode"] == "attach" and d["complete"] and d["process"]["processes"] >= 2'
is "$work/attach.json" '0.4 <= d["totals"]["user_seconds"] + d["totals"]["system_seconds"] < 5'
is "$work/attach.json" 'd["process"]["end"]["how"] == "exited" and d["process"]["end"]["exit_status"] is None'
sleep 6000 &
pid=$!
ends 0 $attach --pid "$pid" --duration 0.5
grep -q "still runs" "$work/out" || fail "attach --duration: $(cat "$work/out")"
$attach --pid "$pid" -o "$work/stopped.json" >"$work/out" 2>"$work/err" &
watcher=$!
sleep 1
kill -INT "$watcher"
wait "$watcher"
[ $? -eq 130 ] || fail "attach, SIGINT: not exit 130: $(cat "$work/err")"
grep -q "still runs" "$work/out" || fail "attach, SIGINT: no summary"
is "$work/stopped.json" 'not d["complete"] and d["process"]["end"]["how"] == "interrupted"'
valid "$work/stopped.json"
kill -0 "$pid" || fail "attach has ended the process"
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    chmod 755 "$work"
    cp "$LMROOF" "$work/lmroof"
    ends 0 setpriv --reuid 65534 --regid 65534 --clear-groups "$work/lmroof" attach --pid "$pid" \
        --duration 0.5 --json
    valid "$work/out"
    is "$work/out" 'd["totals"]["why_absent"]["read_bytes"]["state"] == "not_permitted"'
    is "$work/out" 'd["totals"]["rss_peak_bytes"] > 0'
    ends 0 setpriv --reuid 65534 --regid 65534 --clear-groups "$work/lmroof" attach --pid "$pid" \
        --duration 0.2
    grep -q "^  storage    -: .*another user's" "$work/out" || fail "no reason for storage: $(cat "$work/out")"
else
    skipped="no setpriv, or not root: another user's process"
fi
kill "$pid"

# --- placing: roofs from a profile, so that nothing is measured here
steady='import time
end = time.monotonic() + 2
while time.monotonic() < end: pass'
ends 0 $exec --quiet --window 0.5:1.5 -m pythia-160m --dtype bf16 --tokens 10 \
    --machine "$TESTS/documents/machine.json" -o "$work/place.json" -- python3 -c "$steady"
valid "$work/place.json"
is "$work/place.json" 'abs(d["placement"]["tokens_per_s"]["value"] - 10) < 1e-9 and not d["placement"]["lower_bound"]'
is "$work/place.json" 'd["window"]["phase"] == "as_given" and d["placement"]["tokens_per_s"]["ci95"] is None'
"$LMROOF" model pythia-160m --phase decode --context 4 --dtype bf16 --json >"$work/model.json"
python3 - "$work/place.json" "$work/model.json" <<'PYTHON' || fail "the cost is not the model's"
import json, sys
place = json.load(open(sys.argv[1]))["placement"]
step = json.load(open(sys.argv[2]))["steps"][0]
# Contexts 0 to 9, a mean of 4.5: the cost grows by the same for each.
for key, of in (("flop_per_token", step["flop"]), ("bytes_per_token", step["bytes"]["dram_lower_bound"])):
    assert abs(place[key] / of - 1) < 1e-3, (key, place[key], of)
fraction = place["roof_fraction"]["value"]
assert abs(fraction - place["flop_per_s"]["value"] / place["roof"]["attainable_flop_per_s"]) < 1e-9
PYTHON
ends 125 $exec --quiet -m pythia-160m --tokens 10 --window 0: --machine "$work/text" -- sleep 0.3
one_line "text"
# Roofs that are measured here come with what costs this machine bandwidth, as probe's do.
ends 0 python3 -c 'import ctypes, os, sys
assert ctypes.CDLL(None).prctl(41, 1, 0, 0, 0) == 0  # PR_SET_THP_DISABLE
os.execv(sys.argv[1], sys.argv[1:])' $exec -m pythia-160m --dtype bf16 --tokens 10 --window 0:0.3 \
    -o "$work/roofs.json" -- sleep 0.4
valid "$work/roofs.json"
is "$work/roofs.json" '"thp_off" in [w["code"] for w in d["warnings"]]'
grep -q 'warning: transparent huge pages are off' "$work/err" || fail "no findings beside measured roofs"

# --- results that have nowhere to go are our own failure; the command's own status comes first
ends 125 sh -c '"$@" >&-' sh $exec --quiet -- sleep 0.1
ends 125 sh -c '"$@" >/dev/full' sh $exec --quiet --json -- true
ends 3 sh -c '"$@" >/dev/full' sh $exec --quiet --json -- sh -c 'exit 3'

[ -z "$skipped" ] || echo "SKIPPED IN PART: $skipped"
[ "$failed" -eq 0 ] && echo "exec: ok"
exit "$failed"
