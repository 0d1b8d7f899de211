"""guest_x86.py files FOLDER: what the guest needs beside the program: its rules, a program that is
told what it counts, a model. guest_x86.py check FOLDER: what the program said on the machines."""

import json
import sys

from guest_log import Log
from checks import TINY, check, end, fed, machine_named
from rig import IMC, POWER, RAW, SHORT, UMC

ROUNDS = 10  # of told.sh: a process and a child of it, each time
TOLD = """#!/bin/sh
i=0
while [ $i -lt %d ]; do
    echo 'add 0 20c7 1000' >/dev/scripted_pmu
    (echo 'add 0 20c7 100' >/dev/scripted_pmu)
    echo 'add 1 304 70' >/dev/scripted_pmu
    echo 'add 2 304 70' >/dev/scripted_pmu
    sleep 0.1
    i=$((i + 1))
done
""" % ROUNDS


def pmu_of(machine, kind):
    """The module's number of a PMU: the core, then the boxes, then energy."""
    if kind == RAW:
        return 0
    if kind == POWER:
        return 1 + machine.boxes[1]
    return 1 + kind - (UMC if kind >= UMC else IMC)


def rules(machine):
    for rows in machine.events.values():
        for event, _ in rows:
            # The program tries a set before its work: that is nobody's work.
            for line in ["arm %d 0x%x 0 step 0" % (event.kind, event.config), *event.lines(SHORT)]:
                name, kind, config, _, _, count = line.split()
                yield "rule %s %d %x %s" % (name, pmu_of(machine, int(kind)), int(config, 0),
                                            count)


def put(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def files(folder):
    for name in ("skx", "zen4-umc"):
        put(folder + "/rules." + name, "\n".join(rules(machine_named(name))) + "\n")
    put(folder + "/told.sh", TOLD)
    put(folder + "/tiny/config.json", json.dumps(TINY))


def close(got, want):
    # Counts are divided by the calls of a sample: exact but for one rounding each way.
    return abs(got - want) <= 1e-15 * 4 * abs(want)


def check_run(machine, log, name, threads, source):
    document = log.answer(name)
    check(document["conditions"]["event_table"] == machine.table, name, document["conditions"])
    wrong = [e for e in document["certificate"] if not e["passed"]]
    check(document["certificate"] and not wrong, name, "certificate:", wrong)
    check(len(document["points"]) >= 5, name, "points", len(document["points"]))
    flop, bytes_ = fed(machine, threads)
    for point in document["points"]:
        where = "%s, %s:" % (name, point["id"])
        intensity, counters = point["flop_per_byte_counted"], point["counters"]
        check(intensity is not None and close(intensity["value"], flop / bytes_), where,
              "intensity", intensity, "fed", flop / bytes_, counters["why_absent"])
        if counters["instructions"] is None:
            continue
        calls = machine.expected("instructions", threads) / counters["instructions"]["value"]
        check(close(calls, round(calls)), where, "calls", calls)
        check(counters["instructions"]["source"] == source, where, counters["instructions"])
        for metric in machine.events:
            want = machine.expected(metric, threads)
            got = counters[metric] or {"value": -1}
            check(close(got["value"] * round(calls), want), where, metric, got["value"], "fed", want,
                  "in", round(calls), "calls", counters["why_absent"].get(metric))
    if document["points"]:
        print("%-12s fed %d FLOP / %d bytes = %.17g, found %.17g in %d points" % (
            name, flop, bytes_, flop / bytes_,
            document["points"][0]["flop_per_byte_counted"]["value"], len(document["points"])))


def check_exec(log):
    counters = log.answer("exec")["counters"]
    for metric, want in (("flop_f32", ROUNDS * 1100 * 8), ("dram_read_bytes", ROUNDS * 140 * 64)):
        got = counters[metric] or {}
        check(got.get("value") == want, "exec:", metric, got, "fed", want,
              counters["why_absent"].get(metric))


def check_absent(log, name, metric, state, word):
    document = log.answer(name)
    why = document["metrics"]["why_absent"].get(metric)
    check(why is not None and why["state"] == state and word in why.get("try", "") + why["text"],
          name, metric, "want", state, "and", word, "found", why or document["metrics"][metric])


def check_rights(log):
    """What may be counted, and what is said of the rest."""
    for level in (4, 3, 2, 1, 0):
        name = "user-%d" % level
        if level > 0:
            check_absent(log, name, "dram_read_bytes", "not_permitted", "perf_event_paranoid=0")
        else:
            check(log.answer(name)["metrics"]["dram_read_bytes"] is not None, name, "traffic")
        if level > 2:
            check_absent(log, name, "instructions", "not_permitted", "perf_event_paranoid=2")
        else:
            check(log.answer(name)["metrics"]["instructions"] is not None, name, "instructions")
    check_absent(log, "root-without-rights", "dram_read_bytes", "not_permitted", "cap_perfmon")
    root = log.answer("root-3")["metrics"]
    check(root["instructions"] is not None and root["instructions"]["source"] == "perf", "root-3:",
          root["instructions"], root["why_absent"])
    check_absent(log, "sandboxed", "instructions", "not_permitted", "seccomp")
    check_absent(log, "without", "instructions", "unsupported", "PMU")
    blocked = [[w["code"] for w in log.answer("doctor-%d" % level)["warnings"]].count(
        "counters_blocked") for level in (2, 4)]
    check(blocked == [0, 1], "doctor: counters_blocked at levels 2 and 4:", blocked)


def check_topology(log):
    document = log.answer("topology")
    for key, want in (("packages", 2), ("numa_nodes", 2), ("cores", 4), ("pus", 4),
                      ("usable_cpus", 4)):
        check(document[key] == want, "topology:", key, document[key], "want", want)
    check([m["node"] for m in document["memory"]] == [0, 1], "topology:", document["memory"])
    for memory in document["memory"]:
        check(0.7 < memory["bytes"] / (768 << 20) < 1, "topology: 768 MiB a node:", memory)
    codes = {w["code"] for w in document["warnings"]}
    # Debian's kernel balances nodes; the emulator has no AVX-512, which the processor's model has.
    check({"numa_balancing", "isa_hidden"} <= codes, "topology: the doctor found", codes)


def check_nodes(log):
    document = log.answer("nodes")
    check(document["nodes"] == 3, "nodes:", document)
    pairs = [(row["from"], row["to"]) for row in document["numa"]]
    check(sorted(pairs) == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)],
          "matrix of two nodes and one of memory alone:", pairs)
    for row in document["numa"]:
        check(row["threads"] == 2 and row["bytes_per_s"] > 0, "matrix:", row)


def check_placed(log, numa):
    """One thread a node, the data where it was asked: a run that finds it elsewhere is refused."""
    name = "run-" + numa
    document = log.answer(name)
    rows = document["points"] + document["machine"]["bandwidth"]
    check(document["points"] and {row["placement"] for row in rows} == {numa}, name, "placements:",
          {row["placement"] for row in rows})
    check(document["conditions"]["cpus"] == "0,2", name, "cpus", document["conditions"]["cpus"])
    check(document["host"]["numa_nodes"] == "3", name, document["host"]["numa_nodes"])
    codes = {w["code"] for w in document["warnings"]}
    check("one_node" not in codes, name, codes)


if sys.argv[1] == "files":
    files(sys.argv[2])
    sys.exit(0)
logs = {scene: Log("%s/%s.text" % (sys.argv[2], scene)) for scene in ("papi", "perf", "umc")}
for log in logs.values():
    check("=== refused" not in log.text, log.path, "a rule was refused")
for count in (1, 4):
    for word in ("papi", "perf"):
        check_run(machine_named("skx"), logs[word], "run-%s-%d" % (word, count), count, word)
check_run(machine_named("zen4-umc"), logs["umc"], "run-auto-1", 1, "papi")
check_topology(logs["papi"])
check_nodes(logs["umc"])
check_placed(logs["umc"], "interleave")
check_placed(logs["umc"], "replicate")
check_exec(logs["perf"])
check_rights(logs["perf"])
end("guest")
