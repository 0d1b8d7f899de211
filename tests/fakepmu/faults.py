"""Every fault of the contract's table, injected below the real PAPI and below the direct source:
each ends in its state, no number is invented, and what is not concerned keeps its exact value."""

import sys

from checks import check, end, machine_named
from rig import IMC, Run

COUNT, SHIM = sys.argv[1:3]
SKX = machine_named("skx")
EMR = machine_named("emr")
ZEN3 = machine_named("zen3")
ICX = machine_named("icx")
SPR = machine_named("spr")
STALL = "4 0x140014a3 *"  # skylake: memory_stall_cycles
WALK = "4 0x1001008 *"    # page_walk_cycles
F512 = "4 0x80c7 *"       # part of flop_f32
INS = "4 0xc0 *"
FIXED = ["fixed 4 0x3c", "fixed 4 0x300", "fixed 4 0xc0"]
ALL = "all"      # every metric of the machine
THREAD = "thread" # every metric of a thread
KEPT = "kept"    # has its exact value


# What the boxes see if only one of two threads' sets works.
ONE_WORKS = {"dram_read_bytes": 12800, "dram_write_bytes": 1280, "package_joules": 2,
             "dram_joules": 0.5}


def OF_THREADS(fraction):
    return {metric: fraction for metric in SKX.events
            if not metric.startswith(("dram", "package"))}


def case(name, lines, want, machine=SKX, threads=2, policies=("auto", "perf", "papi"), limits=(),
         text=None, advice=None, running=None, passes=None, suspect=(), **more):
    return dict(name=name, lines=lines, want=want, machine=machine, threads=threads,
                policies=policies, limits=limits, text=text, advice=advice, running=running,
                passes=passes, suspect=suspect, more=more)


def channels(machine_read, lines):
    """Lines of 64 bytes that each memory controller sees of the known reads, 4 MiB in all."""
    return ["read %d 0x%x * step %d" % (IMC + i, machine_read, n) for i, n in enumerate(lines)]


CASES = [
    # open: errno -> state
    case("EACCES", ["* %s errno 13" % STALL], {"memory_stall_cycles": "not_permitted"}),
    case("EPERM", ["* %s errno 1" % STALL], {"memory_stall_cycles": "not_permitted"}),
    case("ENOENT", ["* %s errno 2" % STALL], {"memory_stall_cycles": "unsupported"}),
    case("ENODEV", ["* %s errno 19" % STALL], {"memory_stall_cycles": "unsupported"}),
    case("EOPNOTSUPP", ["* %s errno 95" % STALL], {"memory_stall_cycles": "unsupported"}),
    case("ENOSPC alone", ["* %s errno 28" % STALL], {"memory_stall_cycles": "not_scheduled"}),
    case("EINVAL alone", ["* %s errno 22" % STALL], {"memory_stall_cycles": "not_scheduled"}),
    case("EMFILE", ["* %s errno 24" % STALL], {"memory_stall_cycles": "failed"}),
    # PAPI 7.0 reports every other errno of an add as a system error.
    case("ENOMEM", ["* %s errno 12" % STALL], {"memory_stall_cycles": "failed"}),
    case("EBUSY", ["* %s errno 16" % STALL], {"memory_stall_cycles": "failed"}),
    case("EACCES everywhere", ["* * * * errno 13"], {ALL: "not_permitted"}, paranoid=4,
         advice="sysctl kernel.perf_event_paranoid=2"),
    case("sandbox", ["* * * * errno 1"], {ALL: "not_permitted"}, policies=("perf",),
         sandboxed=True, advice="--cap-add"),
    case("nothing there", ["* * * * errno 2"], {ALL: "unsupported"},
         text="this system offers no hardware counters"),
    # one of several events of a metric: the metric is not half counted
    case("half a sum", ["* %s errno 2" % F512], {"flop_f32": "unsupported"}),
    # sets
    case("four counters", [], {}, limits=["counters 4"] + FIXED, passes=4),
    case("watchdog takes one", [], {}, limits=["counters 4", "stolen 1"] + FIXED, passes=5),
    case("guard takes one of two", [], {}, limits=["counters 2"], machine=ZEN3, passes=7,
         policies=("auto", "perf")),
    case("no room beside the guard", [], {}, limits=["counters 1"], machine=ZEN3, passes=8),
    case("nothing fits", [], {ALL: "not_scheduled", "package_joules": 0}, machine=ZEN3,
         limits=["counters 1", "stolen 1"], watchdog=1, advice="nmi_watchdog=0"),
    # files: enough to plan, not enough for the second thread
    case("out of files", [], dict(ONE_WORKS, thread="failed"), policies=("perf",),
         limits=["files 24"], advice="ulimit -n"),
    # reading
    case("short read", ["* %s short 0" % INS], {"instructions": "failed"}, policies=("perf",)),
    case("short read in one thread", ["@1 %s short 0" % INS], dict(ONE_WORKS, thread="failed"),
         policies=("perf",)),
    case("end of file", ["* %s eof 0" % INS], {"instructions": "failed"}, policies=("perf",)),
    # PAPI meets the end of file when it adds the event: not scheduled.
    case("end of file in PAPI", ["* %s eof 0" % INS], {"instructions": "not_scheduled"},
         policies=("papi",)),
    case("end of file in one thread", ["@1 %s eof 0" % INS],
         dict(ONE_WORKS, thread="not_scheduled"), policies=("papi",)),
    # time: a set is scheduled as a whole
    case("never scheduled", ["* %s running 0" % STALL], {"memory_stall_cycles": "not_scheduled"},
         policies=("perf",)),
    # the certificate meets it: what was proved in that set is not used, the rest counts without it
    case("running 0.3", ["* %s running 0.3" % INS],
         {m: "not_scheduled" for m in ("instructions", "cycles", "flop_f64", "flop_f32",
                                       "l1_l2_bytes", "l2_l3_bytes")}, policies=("perf",)),
    case("running 0.8", ["* %s running 0.8" % INS], {}, policies=("perf",), running=OF_THREADS(0.8)),
    case("running 0.97", ["* %s running 0.97" % INS], {}, policies=("perf",),
         running=OF_THREADS(0.97)),
    case("running 1", [], {}, policies=("perf",), running=OF_THREADS(1)),
    # counts
    case("backwards", ["* %s back 5" % WALK], {"page_walk_cycles": "failed"}),
    case("wrap", ["* %s from 281474976709656" % F512, "* %s wrap 48" % F512], {},
         policies=("perf",)),
    case("wrap of the guard", ["* %s from 281474976000000" % INS, "* %s wrap 48" % INS], {},
         policies=("perf",)),
    # lies
    case("lying flop", ["f32-512 %s step 7" % F512, "* %s step 1000" % F512],
         {"flop_f32": "failed_certificate"}, text="known work was not counted"),
    case("lying zero", ["* %s step 0" % F512], {"flop_f32": "failed_certificate"}),
    case("lying instructions", ["* %s step 1000" % INS],
         {"instructions": "failed_certificate"}),
    case("counts other work", ["f64-512 %s step 320000" % F512, "f32-512 %s step 320000" % F512],
         {}, policies=()),  # only `counters --certify` runs every kernel under every event
    case("lying uncore", ["read %d 0x304 * step 9" % IMC], {"dram_read_bytes": 64 * 777 * 2},
         machine=SKX, policies=("auto", "perf"),
         extra_event="4 0x1b7 0x3f840005b3"),
    # channels of one memory against each other: what is in doubt is counted all the same
    case("an empty channel", channels(0xf04, [0, 21845, 21845, 21846]), {}, machine=ICX,
         policies=("auto",), suspect=["uncore_imc_0/", "on cpu 0 counted 0 ", "its 3 peers",
                                      "an empty channel"]),
    case("a loud channel", channels(0xf04, [16384, 16384, 40000, 16384]), {}, machine=ICX,
         policies=("perf",), suspect=["uncore_imc_2/", "another user"]),
    case("channels within their spread", channels(0xf04, [12000, 16384, 20768, 16384]), {},
         machine=ICX, policies=("perf",)),
    case("a channel is missing", [], {"dram_read_bytes": 7 * 6400 * 2, "dram_write_bytes": 7 * 640 * 2},
         machine=SPR, limits=["hide /sys/bus/event_source/devices/uncore_imc_7/type"],
         policies=("auto",), suspect=["7 channels (uncore_imc_6/", "missing?"]),
    case("half of the channels are missing", [],
         {"dram_read_bytes": "failed_certificate", "dram_write_bytes": "failed_certificate"},
         machine=SPR, limits=["hide /sys/bus/event_source/devices/uncore_imc_%d/type" % i
                              for i in (4, 5, 6, 7)], policies=("auto",)),
    case("a channel that wraps", ["* %d 0x304 * from 281474976700000" % IMC,
                                  "* %d 0x304 * wrap 48" % IMC], {"dram_read_bytes": "failed"},
         policies=("perf",)),
    # guards
    case("unequal guards", ["@1 %s step 400000" % INS], {THREAD: "failed"}),
    # a guard that stands still while the thread works: a hidden failed read
    case("stale guard", ["loop %s step 200000" % INS, "@1 %s step 0" % INS],
         {THREAD: "failed"}),
    # where the counters are not
    case("not asked", [], {ALL: "not_asked"}, policies=("off",)),
    case("paranoid 3 stops PAPI", [], {}, policies=("auto",), paranoid=3),
    case("paranoid 3 and only PAPI", [], {ALL: "not_permitted"}, policies=("papi",), paranoid=3,
         advice="kernel.perf_event_paranoid=2"),
    case("no /sys", [], dict.fromkeys(ONE_WORKS, "unsupported"),
         limits=["hide /sys/bus/event_source"], policies=("perf",), advice="mount"),
    case("uncore not permitted", ["* %d * * errno 13" % (IMC + i) for i in range(2)],
         {"dram_read_bytes": "not_permitted", "dram_write_bytes": "not_permitted"}, paranoid=2,
         advice="kernel.perf_event_paranoid=0"),
    case("PAPI knows no such part", [], {ALL: "unsupported"}, machine=EMR, policies=("papi",),
         text="PAPI: "),
]


def wanted(one, metric):
    if metric in one["want"]:
        return one["want"][metric]
    exact = one["machine"].expected(metric, one["threads"])
    if exact is None:
        return None
    if THREAD in one["want"] and not metric.startswith(("dram", "package")):
        return one["want"][THREAD]
    return one["want"].get(ALL, KEPT)


def check_metric(one, where, metric, words):
    want = wanted(one, metric)
    if want is None:
        return
    exact = one["machine"].expected(metric, one["threads"])
    if want == KEPT:
        fraction = (one["running"] or {}).get(metric, 1)
        want = one["machine"].expected(metric, one["threads"], fraction)
    if isinstance(want, str):
        check(words[:2] == ["absent", want], where, metric, "want", want, "got", " ".join(words))
        if words[0] == "absent" and (metric in one["want"] or metric == "cycles"):
            line = " ".join(words)
            check(one["text"] is None or one["text"] in line, where, metric, "text:", line)
            check(one["advice"] is None or one["advice"] in line, where, metric, "advice:", line)
    else:
        check(words[0] != "absent" and float(words[0]) == round(want), where, metric, "want", want,
              "got", " ".join(words))
    if metric in (one["running"] or {}):
        check(words[0] != "absent" and float(words[3]) == one["running"][metric], where, metric,
              "running", words)


def run(one, policy):
    where = "%s, %s:" % (one["name"], policy)
    more = dict(one["more"])
    lines = list(one["lines"])
    extra_event = more.pop("extra_event", None)
    if extra_event:
        lines += ["read %s step 65536" % extra_event, "* %s step 777" % extra_event]
    with Run(SHIM, one["machine"], lines, one["limits"], **more) as rig:
        m = one["machine"]
        result = rig([COUNT, m.vendor, str(m.family), str(m.model), str(m.stepping),
                      str(one["threads"]), policy, "2"])
        check(result.returncode == 0, where, "exit", result.returncode, result.stderr)
        values = {w[0]: w[1:] for w in (line.split() for line in result.stdout.splitlines())}
        for metric, words in values.items():
            if metric not in ("table", "passes", "intensity", "certificate"):
                check_metric(one, where, metric, words)
        doubts = [line for line in result.stdout.splitlines() if line.startswith("suspicion ")]
        check(bool(doubts) == bool(one["suspect"]), where, "suspicions:", doubts)
        for word in one["suspect"]:
            check(all(word in line for line in doubts), where, "want", word, "in", doubts)
        if one["passes"] is not None:
            check(values.get("passes") == [str(one["passes"])], where, "passes",
                  values.get("passes"), "want", one["passes"])


count = 0
only = sys.argv[3:] # names of cases; none: all
for one in CASES:
    if only and one["name"] not in only:
        continue
    for policy in one["policies"]:
        run(one, policy)
        count += 1
end("faults", " in %d runs" % count)
