"""guest_arm64.py COUNTING TOPOLOGY: what the program said on the emulated machines."""

import sys

from guest_log import Log
from checks import check, end

log = Log(sys.argv[1])
# QEMU counts instructions and cycles alone: other events open, read 0 and are refused (5).
document = log.answer("counters", (0, 5))
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

kernels = log.part("kernels")
check(kernels.count(" ok\n") >= 4, "kernels:", kernels)

document = log.answer("exec")
counter = document["counters"]["instructions"]
check(counter is not None and counter["value"] > 20000 * 10 and counter["source"] == "perf",
      "instructions of a foreign process:", counter, document["counters"]["why_absent"])
series = document["series"]["counters"].get("instructions", [])
check(len(series) >= 2 and abs(sum(series) - (counter or {"value": 0})["value"]) < 1, series)

document = Log(sys.argv[2]).answer("topology")
for key, want in (("packages", 2), ("numa_nodes", 2), ("cores", 4), ("pus", 4)):
    check(document[key] == want, key, document[key], "want", want)
check(len(document["memory"]) == 2, document["memory"])
end("guest")
