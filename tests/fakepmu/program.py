"""The whole program on scripted machines: in `run`'s document every metric of every point, and the
intensity, equal what the script implies."""

import json
import sys

from checks import TINY, check, end, fed, machine_named
from rig import Run, invalid

LMROOF, SHIM = sys.argv[1:3]
CHOSEN = [word.split(":") for word in sys.argv[3:]]  # MACHINE:THREADS[:MODEL]


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
    flop, bytes_ = fed(machine, threads)
    intensity = point["flop_per_byte_counted"]
    want = flop / bytes_ if flop else point["flop"] / (bytes_ * unit)
    check(intensity is not None and close(intensity["value"], want), where, "intensity",
          intensity, "want", want)
    origin = {"flop": "counted" if flop else "modelled", "bytes": "counted"}
    check(intensity is not None and intensity["from"] == origin, where, intensity)
    check(point["counted"]["bytes_source"] == ("uncore" if machine.boxes else "core"), where,
          point["counted"])
    check_joules(machine, threads, where, point["counted"], point["layers"] * unit)
    rate = point["bytes_per_s_counted"]["value"] * point["seconds"]["value"]
    check(close(rate, bytes_ * unit), where, "bytes_per_s_counted", rate)


def check_joules(machine, threads, where, of, calls):
    """Joules per token of a batch of one: packages, and memory where it has its own counter."""
    want = machine.expected("package_joules", threads)
    if want is None:
        check(of["joules_per_token"] is None and "joules_per_token" in of["why_absent"], where, of)
        return
    want = (want + (machine.expected("dram_joules", threads) or 0)) * calls
    check(close(of["joules_per_token"] or 0, want), where, "J/token", of, "want", want)


def tiny(rig):
    path = rig.directory.name + "/config.json"
    with open(path, "w") as file:
        json.dump(TINY, file)
    return path


def check_step(machine, threads):
    """A whole step's energy: a whole number of steps was run for each time that it was read."""
    with Run(SHIM, machine) as rig:
        result = rig([LMROOF, "run", "-m", tiny(rig), "--phase", "decode", "--dtype", "f32", "--context",
                      "16", "--threads", str(threads), "--repeat", "3", "--no-twins", "--step",
                      "--quiet", "--json"], timeout=3000)
        check(result.returncode == 0, "--step", result.returncode, result.stderr)
        if result.returncode != 0:
            return
        check(invalid(result.stdout) == "", invalid(result.stdout))
        step = json.loads(result.stdout)["steps"][0]
        joules = machine.expected("package_joules", threads) + \
            machine.expected("dram_joules", threads)
        steps = joules / (step["joules_per_token"] or joules * 0.3)
        check(close(steps, round(steps)), "--step: not a whole number of steps:", steps, step)


def run(machine, threads, model=None):
    with Run(SHIM, machine) as rig:
        result = rig([LMROOF, "run", "-m", model or tiny(rig), "--phase", "decode", "--dtype",
                      "f32", "--context", "64", "--threads", str(threads), "--repeat", "3",
                      "--no-twins", "--quiet", "--json"], timeout=3000)
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


if "skx" in (words[0] for words in CHOSEN):
    check_step(machine_named("skx"), 2)
for name, threads, *model in CHOSEN:
    run(machine_named(name), int(threads), *model)
check(CHOSEN, "no machine is chosen")
end("program", " in %d runs" % len(CHOSEN))
