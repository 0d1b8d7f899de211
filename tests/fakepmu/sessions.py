"""Counting sessions on every scripted machine: each metric and the intensity equal what the script
implies, to the last count."""

import sys

from checks import check, end, fed
from rig import MACHINES, Run

COUNT, SHIM = sys.argv[1:3]
SYSTEM = ("package_joules", "dram_joules")


def parse(text):
    lines = [line.split() for line in text.splitlines()]
    return {words[0]: words[1:] for words in lines if words[0] != "certificate"}, \
        [words[1:] for words in lines if words[0] == "certificate"]


def check_metric(machine, threads, policy, metric, words):
    want = machine.expected(metric, threads)
    where = "%s, %d threads, %s: %s:" % (machine.name, threads, policy, metric)
    if want is None:
        check(words[0] == "absent" and words[1] == "unsupported", where, "want absent, got", words)
        return
    check(words[0] != "absent", where, "absent:", " ".join(words))
    if words[0] == "absent":
        return
    check(float(words[0]) == round(want), where, "got", words[0], "want", want)
    system = metric in SYSTEM or (machine.boxes and metric.startswith("dram_"))
    check(words[1] == ("system" if system else "thread"), where, "scope", words[1])
    source = machine.uncore_source if system else machine.source
    if metric in SYSTEM:
        # libpfm4 4.13 has the energy of these parts, and not of the others.
        source = "papi" if machine.name in ("skx", "clx", "icx", "spr", "zen2", "zen3") else "perf"
    check(words[2] == ("perf" if policy == "perf" else source), where, "source", words[2])


def check_intensity(machine, threads, words):
    flop, bytes_ = fed(machine, threads)
    check(words[0] != "absent" and float(words[0]) == flop / bytes_,
          "%s: intensity" % machine.name, words, "want", flop / bytes_)
    check(words[1] == ("uncore" if machine.boxes else "core"), "%s: place" % machine.name, words)


def run(machine, threads, policy):
    with Run(SHIM, machine) as rig:
        result = rig([COUNT, machine.vendor, str(machine.family), str(machine.model),
                      str(machine.stepping), str(threads), policy, "3"])
        check(result.returncode == 0, machine.name, policy, result.stderr)
        values, certificate = parse(result.stdout)
        check(values["table"] == [machine.table], machine.name, values["table"])
        for metric in list(values):
            if metric not in ("table", "passes", "intensity"):
                check_metric(machine, threads, policy, metric, values[metric])
        check_intensity(machine, threads, values["intensity"])
        check(len(certificate) > 4, machine.name, "certificate too short:", certificate)
        check(all(words[-1] == "passed" for words in certificate), machine.name, certificate)


for machine in MACHINES:
    for threads in (1, 2):
        for policy in ("auto", "perf"):
            run(machine, threads, policy)
end("sessions", " on %d machines" % len(MACHINES))
