"""`lmroof counters` on scripted machines: what is available, the full certificate, its exit
status, and a description of a new CPU from a file."""

import json
import sys

from checks import check, end, machine_named
from rig import FULL, IMC, MACHINES, Run, invalid

LMROOF, SHIM = sys.argv[1:3]


def answer(rig, *words, status=0):
    result = rig([LMROOF, "counters", "--json", *words])
    check(result.returncode == status, words, "exit", result.returncode, "want", status,
          result.stderr)
    check(invalid(result.stdout) == "", words, invalid(result.stdout))
    return json.loads(result.stdout) if result.stdout else {}


def check_available(m, document):
    check(document["event_table"]["name"] == m.table, m.name, document["event_table"])
    for metric, value in document["metrics"].items():
        if metric != "why_absent":
            check((value is not None) == (metric in m.events), m.name, metric, value,
                  document["metrics"].get("why_absent", {}).get(metric))
    check(document["overhead"]["start_stop_seconds"] is not None, m.name, document["overhead"])


for m in MACHINES:
    with Run(SHIM, m) as rig:
        check_available(m, answer(rig, "--threads", "2"))

# A memory channel that counts nothing while its peers do is named in text and document.
EMPTY = ["read %d 0xf04 * step %d" % (IMC + i, n) for i, n in enumerate((0, 21845, 21845, 21846))]
with Run(SHIM, machine_named("icx"), EMPTY) as rig:
    document = answer(rig, "--threads", "1")
    warnings = [w["text"] for w in document["warnings"] if w["code"] == "channels"]
    check(len(warnings) == 1 and warnings[0].startswith("uncore_imc_0/"), warnings)
    check(document["metrics"]["dram_read_bytes"] is not None, "dram_read_bytes")
    check(warnings[0] in rig([LMROOF, "counters", "--threads", "1"]).stdout, "not in the text")

# The full certificate: everything right, then one event that counts the work of others.
with Run(SHIM, machine_named("skx"), work=FULL) as rig:
    document = answer(rig, "--certify")
    check(len(document["certificate"]) > 60, "certificate", len(document["certificate"]))
    check(all(e["passed"] for e in document["certificate"]), "certificate",
          [e for e in document["certificate"] if not e["passed"]])
    text = rig([LMROOF, "counters", "--certify"])
    check("1.0000" in text.stdout and "FAILED" not in text.stdout, text.stdout)
with Run(SHIM, machine_named("skx"), ["f64-512 4 0x80c7 * step 32000000"], work=FULL) as rig:
    document = answer(rig, "--certify", status=5)
    wrong = [e for e in document["certificate"] if not e["passed"]]
    check([(e["kernel"], e["metric"]) for e in wrong] == [("f64-512", "flop_f32")], wrong)
    check(document["metrics"]["flop_f32"] is None, document["metrics"]["flop_f32"])
    check(document["metrics"]["why_absent"]["flop_f32"]["state"] == "failed_certificate",
          document["metrics"]["why_absent"])
    check(document["metrics"]["flop_f64"] is not None, document["metrics"]["why_absent"])

# A CPU that no table is for: nothing but generic events; with a file, all that it says.
with Run(SHIM, machine_named("emr")) as rig:
    with open(rig.root + "/proc/cpuinfo") as file:
        text = file.read().replace("model\t\t: 207", "model\t\t: 250")
    with open(rig.root + "/proc/cpuinfo", "w") as file:
        file.write(text)
    document = answer(rig)
    check(document["event_table"]["name"] == "generic", document["event_table"])
    check(document["metrics"]["flop_f32"] is None, "a generic table cannot count flop_f32 here")
    check("--events" in document["metrics"]["why_absent"]["flop_f32"]["try"],
          document["metrics"]["why_absent"]["flop_f32"])
    path = rig.directory.name + "/new.json"
    with open(path, "w") as file:
        json.dump({"schema": "lmroof.events/1", "name": "new", "pmus": "new", "events": [
            {"metric": "instructions", "event": "INST", "config": "0xc0", "weight": 1},
            {"metric": "flop_f32", "config": "0x80c7", "weight": 16, "counts": ["f32-512"]},
            {"metric": "dram_read_bytes", "type": "sysfs", "pmu": "uncore_imc_*",
             "config": "0xcf05", "weight": 64, "counts": ["read"]}]}, file)
    document = answer(rig, "--events", path)
    check(document["event_table"]["name"] == "new", document["event_table"])
    for metric in ("instructions", "flop_f32", "dram_read_bytes"):
        check(document["metrics"][metric] is not None, metric, document["metrics"]["why_absent"])
    check(document["metrics"]["cycles"] is None, "cycles are not in the file")

end("command")
