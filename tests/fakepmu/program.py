"""The whole program on scripted machines: in `run`'s document every metric of every point, and the
intensity, equal what the script implies."""

import json
import sys

from rig import ARM_MACHINES, MACHINES, Run, invalid

LMROOF, SHIM = sys.argv[1:3]
CHOSEN = [word.split(":") for word in sys.argv[3:]]  # MACHINE:THREADS
FLOP = ("flop_f64", "flop_f32", "flop_f16", "flop_bf16")
MODEL = "pythia-160m"
failures = 0


def check(condition, *words):
    global failures
    if not condition:
        failures += 1
        print("FAIL:", *words)


def close(got, want):
    # Counts are divided by the calls of a sample: exact but for one rounding each way.
    return abs(got - want) <= 1e-11 * abs(want)


def check_point(machine, threads, point):
    where = "%s, %d threads, %s:" % (machine.name, threads, point["id"])
    counters = point["counters"]
    unit = counters["instructions"]["value"] / machine.expected("instructions", threads)
    check(close(1 / unit, round(1 / unit)), where, "not a whole number of calls:", 1 / unit)
    for metric in machine.events:
        counter = counters.get(metric)
        check(counter is not None, where, metric, counters["why_absent"].get(metric))
        if counter is not None:
            check(close(counter["value"], machine.expected(metric, threads) * unit), where, metric,
                  counter["value"], "want", machine.expected(metric, threads) * unit)
            check(counter["origin"] == "counted", where, metric, counter["origin"])
    for metric in counters:
        absent = metric not in machine.events and metric != "why_absent"
        check(not absent or (counters[metric] is None and
                             counters["why_absent"][metric]["state"] == "unsupported"),
              where, metric, "must be absent")
    flop = sum(machine.expected(m, threads) or 0 for m in FLOP)
    bytes_ = machine.expected("dram_read_bytes", threads) + \
        (machine.expected("dram_write_bytes", threads) or 0)
    intensity = point["flop_per_byte_counted"]
    want = flop / bytes_ if flop else point["flop"] / (bytes_ * unit)
    check(intensity is not None and close(intensity["value"], want), where, "intensity",
          intensity, "want", want)
    origin = {"flop": "counted" if flop else "modelled", "bytes": "counted"}
    check(intensity is not None and intensity["from"] == origin, where, intensity)
    check(point["counted"]["bytes_source"] == ("uncore" if machine.boxes else "core"), where,
          point["counted"])
    rate = point["bytes_per_s_counted"]["value"] * point["seconds"]["value"]
    check(close(rate, bytes_ * unit), where, "bytes_per_s_counted", rate)


def run(machine, threads):
    with Run(SHIM, machine) as rig:
        result = rig([LMROOF, "run", "-m", MODEL, "--phase", "decode", "--dtype", "f32",
                      "--threads", str(threads), "--repeat", "3", "--no-twins", "--quiet",
                      "--json"], timeout=3000)
        check(result.returncode == 0, machine.name, threads, "exit", result.returncode,
              result.stderr)
        if result.returncode != 0:
            return
        document = json.loads(result.stdout)
        check(invalid(result.stdout) == "", machine.name, invalid(result.stdout))
        check(document["conditions"]["event_table"] == machine.table, machine.name,
              document["conditions"]["event_table"])
        check(document["certificate"] and all(e["passed"] for e in document["certificate"]),
              machine.name, "certificate", document["certificate"])
        check(len(document["points"]) >= 5, machine.name, "points", len(document["points"]))
        for point in document["points"]:
            check_point(machine, threads, point)


for name, threads in CHOSEN:
    run(next(m for m in MACHINES + ARM_MACHINES if m.name == name), int(threads))
print("program: %d failures in %d runs" % (failures, len(CHOSEN)))
sys.exit(1 if failures or not CHOSEN else 0)
