"""guest_arm64.py COUNTING TOPOLOGY: what the program said on the emulated machines."""

import json
import re
import sys

failures = 0


def check(condition, *words):
    global failures
    if not condition:
        failures += 1
        print("FAIL:", *words)


def part(path, name):
    """Output, exit status and errors of one command of the guest's log."""
    text = open(path, encoding="utf-8", errors="replace").read()
    found = re.search(r"^=== begin %s\n(.*?)^=== end %s (\d+) ?([^\n]*)" % (name, name), text,
                      re.M | re.S)
    if not found:
        sys.exit("FAIL: %s: no output of %s" % (path, name))
    return found.group(1), int(found.group(2)), found.group(3)


output, status, errors = part(sys.argv[1], "counters")
# QEMU counts instructions and cycles alone: other events open, read 0 and are refused (5).
check(status in (0, 5), "counters: exit", status, errors)
document = json.loads(output)
check(document["event_table"]["name"] == "neoverse_n1", document["event_table"])
check(document["rights"]["core_pmu_in_sysfs"], document["rights"])
instructions = [e for e in document["certificate"] if e["metric"] == "instructions"]
check(len(instructions) >= 2, "certificate of instructions", len(instructions))
for entry in instructions:
    print("%-12s expected %-12.0f counted %-12.0f ratio %.7f" % (
        entry["kernel"], entry["expected"], entry["counted"] or -1, entry["ratio"] or -1))
    check(entry["passed"], entry)
loop = [e for e in instructions if e["kernel"] == "loop"]
# Starting and stopping cost some hundred instructions: nothing else is between.
check(loop and 0 <= loop[0]["counted"] - loop[0]["expected"] < 5000, loop)
check(document["metrics"]["instructions"] is not None, document["metrics"].get("why_absent"))
zero = [e for e in document["certificate"] if e["metric"] == "dram_read_bytes"]
check(all(not e["passed"] for e in zero), "an event that reads 0 passes:", zero)
check(document["metrics"]["dram_read_bytes"] is None, document["metrics"]["dram_read_bytes"])

output, status, errors = part(sys.argv[1], "kernels")
check(status == 0 and output.count(" ok\n") >= 4, "kernels:", status, output, errors)

output, status, errors = part(sys.argv[1], "exec")
check(status == 0, "exec:", status, errors)
document = json.loads(output)
counter = document["counters"]["instructions"]
check(counter is not None and counter["value"] > 20000 * 10 and counter["source"] == "perf",
      "instructions of a foreign process:", counter, document["counters"]["why_absent"])
series = document["series"]["counters"].get("instructions", [])
check(len(series) >= 2 and abs(sum(series) - (counter or {"value": 0})["value"]) < 1, series)

output, status, errors = part(sys.argv[2], "topology")
check(status == 0, "topo:", status, errors)
document = json.loads(output)
for key, want in (("packages", 2), ("numa_nodes", 2), ("cores", 4), ("pus", 4)):
    check(document[key] == want, key, document[key], "want", want)
check(len(document["memory"]) == 2, document["memory"])
print("guest: %d failures" % failures)
sys.exit(1 if failures else 0)
