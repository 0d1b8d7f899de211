"""Regions that a program marks with lmroof.h, on a scripted machine: operations, bytes and intensity
of each are exactly what the script implies, with one and four threads; off, a mark does nothing."""

import json
import subprocess
import sys

from checks import check, end, machine_named
from rig import Run, invalid

LMROOF, SHIM, MARKED, EXAMPLE, PROFILE = sys.argv[1:6]


def regions(rig, *command):
    result = rig([LMROOF, "exec", "--markers", "--machine", PROFILE, "--json", "--", *command])
    check(result.returncode == 0, command, result.returncode, result.stderr)
    check(invalid(result.stdout) == "", invalid(result.stdout))
    document = json.loads(result.stdout)
    why = document["counters"]["why_absent"]["instructions"]
    check(why["state"] == "not_asked" and "markers" in why["try"], why)
    return {region["name"]: region for region in document["regions"]}, result.stderr


def check_kernel(machine, kernel, threads, calls):
    where = "%s, %d threads:" % (machine.name, threads)
    n = threads * calls
    check(kernel["calls"] == n and 1 <= kernel["threads"] <= threads, where, kernel)
    check(kernel["flop"] == 100 * n and kernel["bytes"] == 25 * n, where, kernel)
    check(kernel["flop_per_byte_predicted"] == 4, where, kernel)
    for metric in ("instructions", "flop_f32", "dram_read_bytes"):
        want = machine.expected(metric, n)
        check(kernel["counts"].get(metric) == want, where, metric, kernel["counts"], "want", want)
    want = machine.expected("flop_f32", 1) / machine.expected("dram_read_bytes", 1)
    check(abs(kernel["flop_per_byte_counted"] - want) < 1e-12, where, kernel)
    check(kernel["running_fraction"] == 1 and kernel["roof_fraction"] > 0, where, kernel)
    check_roof(kernel, "DRAM load", where)


def check_roof(region, name, where):
    """Which roof a region is judged by, from which profile, and that its share is of that one."""
    roof, intensity = region["roof"], region["flop_per_byte_predicted"]
    check(roof["name"] == name and roof["from"] == PROFILE and roof["threads"] == 2, where, roof)
    height = roof["bytes_per_s"] * intensity if name == "DRAM load" else roof["flop_per_s"]
    check(abs(roof["attainable_flop_per_s"] / height - 1) < 1e-12, where, roof)
    share = region["flop_per_s"] / roof["attainable_flop_per_s"]
    check(abs(region["roof_fraction"] / share - 1) < 1e-12, where, region)


# This core counts the fills from memory itself: operations and bytes of a thread.
ZEN3 = machine_named("zen3")
for threads in (1, 4):
    with Run(SHIM, ZEN3) as rig:
        found, output = regions(rig, MARKED, str(threads), "50")
        check("on" in output, output)
        check(set(found) == {"kernel", "outer", "inner"}, sorted(found))
        check_kernel(ZEN3, found["kernel"], threads, 50)
        for name in ("outer", "inner"):
            check(found[name]["calls"] == threads, found[name])
            check(found[name]["seconds"] >= 0.02, found[name])
            check(found[name]["why_absent"]["flop"]["state"] == "not_asked", found[name])
            check(found[name]["roof"]["name"] is None, "work untold, yet a roof:", found[name])
        check(found["inner"]["seconds"] <= found["outer"]["seconds"], found)

# A thread that may not count: no region has half of the counts.
with Run(SHIM, ZEN3, ["marked * * * errno 13"]) as rig:
    found, _ = regions(rig, MARKED, "2", "5")
    check(found["kernel"]["calls"] == 10 and found["kernel"]["counts"] == {}, found["kernel"])
    check(found["kernel"]["flop_per_byte_counted"] is None, found["kernel"])

# Without counters, and without lmroof.
plain = subprocess.run([LMROOF, "exec", "--markers", "--machine", PROFILE, "--counters", "off",
                        "--json", "--", EXAMPLE, "256", "3"], capture_output=True, text=True)
check(plain.returncode == 0 and invalid(plain.stdout) == "", plain.stderr)
gemv = json.loads(plain.stdout)["regions"][0]
check(gemv["name"] == "gemv" and gemv["calls"] == 3, gemv)
check(gemv["flop"] == 3 * 2 * 256 * 256 and gemv["flop_per_byte_predicted"] == 0.5, gemv)
check_roof(gemv, "DRAM load", "example")
said = subprocess.run([LMROOF, "exec", "--markers", "--machine", PROFILE, "--counters", "off", "--",
                       EXAMPLE, "256", "3"], capture_output=True, text=True).stderr
check("of the roof: DRAM load " in said and "by 2 threads (%s)" % PROFILE in said, said)
off = subprocess.run([MARKED, "2", "5"], capture_output=True, text=True)
check(off.returncode == 0 and off.stdout == "off\n", off)

end("markers")
