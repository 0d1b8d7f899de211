#!/bin/sh
# What must survive: inputs named as the output, an older result when nothing was measured, and
# everything when a file grows beyond its limit; a wait for a pipe ends by its signal.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}
ends() { # CODE COMMAND...: exit status and one line on stderr.
    code=$1
    shift
    timeout -k 5 120 "$@" >out 2>err </dev/null
    got=$?
    [ "$got" -eq "$code" ] || fail "$*: exit $got, want $code: $(head -c 300 err)"
}
lost() { # COMMAND...: refused, naming both; the file is as it was.
    cp "$kept" before
    ends "$@"
    grep -q 'would be lost' err && [ "$(wc -l <err)" -eq 1 ] || fail "$*: $(cat err)"
    cmp -s before "$kept" || fail "$*: the input was replaced"
}
mkdir model
cat >model/config.json <<'JSON'
{"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 2,
 "num_key_value_heads": 2, "num_hidden_layers": 1, "vocab_size": 256, "torch_dtype": "bfloat16",
 "rms_norm_eps": 1e-5, "hidden_act": "silu", "tie_word_embeddings": true}
JSON
cp "$TESTS/documents/machine.json" machine.json
cp "$TESTS/place/llama-bench.json" bench.json
ln -s model/config.json link.json
ln model/config.json hard.json

kept=model/config.json
lost 2 "$LMROOF" model model/config.json -o model/config.json
lost 2 "$LMROOF" model model -o model/config.json
lost 2 "$LMROOF" model link.json -o model/config.json
lost 2 "$LMROOF" model -mhard.json --output=model/config.json
lost 2 "$LMROOF" run -m model --phase decode --out model/config.json
lost 125 "$LMROOF" exec -m model/config.json --tokens 5 -omodel/config.json -- true
kept=machine.json
lost 2 "$LMROOF" predict -m model --machine machine.json -o machine.json
lost 2 "$LMROOF" predict -m model --machine=machine.json -o ./machine.json
echo older >result.json # the argument of a command is its own affair
ends 0 "$LMROOF" exec --quiet -o result.json -- cat result.json
ends 0 "$LMROOF" model model --json -o fresh.json
ends 0 "$LMROOF" model model --json -o fresh.json # an output alone may be replaced

# An older result, when nothing was measured.
echo older >old.json
ends 1 "$LMROOF" run -m model --phase decode --context 8 --budget 0.001 --quiet -o old.json
[ "$(cat old.json)" = older ] || fail "a run that measured nothing replaced the older result"

ends 1 "$LMROOF" validate -m model --context 8 --budget 0.001 --quiet -o old.json
[ "$(cat old.json)" = older ] || fail "a validate that measured nothing replaced the older result"
# Where there is none, the document says how far it came: as run's does, so validate's and probe's.
partial() { # COMMAND...
    ends 1 "$@" -o "partial.json"
    grep -q '"complete": false' partial.json || fail "$*: no partial document"
    sh "$TESTS/schema.sh" partial.json >out 2>&1
    case $? in 0 | 77) ;; *) fail "$*: $(cat out)" ;; esac
    rm -f partial.json
}
partial "$LMROOF" run -m model --phase decode --context 8 --budget 0.001 --quiet
partial "$LMROOF" validate -m model --context 8 --budget 0.001 --quiet
if [ "$(nproc)" -gt 1 ]; then
    partial env OMP_THREAD_LIMIT=1 "$LMROOF" probe --quick --quiet --threads "$(nproc)"
    ends 1 env OMP_THREAD_LIMIT=1 "$LMROOF" probe --quick --quiet --threads "$(nproc)" -o old.json
    [ "$(cat old.json)" = older ] || fail "a probe that measured nothing replaced the older profile"
fi

for json in '' --json; do
    timeout -s TERM 0.3 "$LMROOF" run -m pythia-160m --phase decode --quiet $json -o old.json >out 2>err
    [ "$(cat old.json)" = older ] && grep -q 'what was measured is in' err &&
        fail "$json: an older result is called what was measured"
done

# A limit on file size is a message, not a signal; nothing is left beside the file.
echo older >old.json
(ulimit -f 1 && ends 1 "$LMROOF" model model --json -o old.json && exit "$failed") || failed=1
grep -qi 'too large' err || fail "no word of the limit: $(cat err)"
[ "$(cat old.json)" = older ] && [ "$(ls -d old.json* | wc -l)" -eq 1 ] || fail "left: $(ls)"

# Nobody writes into the pipe.
mkfifo pipe
for command in "report pipe -o x.svg" "predict -m model --machine pipe" "place --from llama-bench pipe" \
    "counters --events pipe"; do
    # In the background sh ignores SIGINT, and what it starts would too.
    env --default-signal=INT "$LMROOF" $command >out 2>err </dev/null &
    pid=$!
    sleep 0.5 # an earlier signal finds it at its start, with the same end
    kill -TERM "$pid"
    wait "$pid"
    got=$?
    [ "$got" -eq 143 ] || fail "$command: exit $got at SIGTERM: $(cat err)"
    sleep 30 >pipe & # a writer that says nothing
    writer=$!
    env --default-signal=INT "$LMROOF" $command >out 2>err </dev/null &
    pid=$!
    sleep 0.5
    kill -INT "$pid"
    wait "$pid"
    got=$?
    kill "$writer"
    [ "$got" -eq 130 ] || fail "$command: exit $got at SIGINT: $(cat err)"
done
# Where results cannot go is said before anything is measured: nobody reads the pipe, the name has no
# room for a temporary, root may write in /proc and yet cannot.
ln -s pipe pipe.svg
long=$(printf '%0252d' 1)
nowhere() { # WORDS OUTPUT COMMAND...
    words=$1
    output=$2
    shift 2
    timeout -k 5 120 "$LMROOF" "$@" -o "$output" >out 2>err </dev/null
    got=$?
    { [ "$got" -eq 2 ] || [ "$got" -eq 1 ]; } && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] &&
        grep -q "$words" err || fail "$* -o $output: exit $got: $(cat out err)"
}
for command in 'model model' topo counters 'probe --quick' 'run -m model' 'validate -m model' \
    'predict -m model --machine machine.json' 'compare machine.json epyc-9654' \
    'place --from llama-bench bench.json' 'report machine.json' 'attach --duration 0.1 --pid 1'; do
    ending=.json
    case $command in compare* | report*) ending=.svg ;; esac
    nowhere 'pipe or socket; a file name' pipe$([ $ending = .svg ] && echo .svg) $command
    nowhere 'too long' "${long%$ending}$ending" $command
    [ "$(id -u)" -eq 0 ] && nowhere 'cannot create a file' /proc/lmroof$ending $command
done
ends 125 "$LMROOF" exec -o pipe -- touch ran
[ -e ran ] && fail "exec -o pipe: the command was run"
"$LMROOF" model model --quiet -o /dev/stdout | grep -q '"lmroof.model/1"' || fail "a pipe that is open already"
[ "$failed" -eq 0 ] && echo "spares: ok"
exit "$failed"
