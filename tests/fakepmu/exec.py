"""`lmroof exec` and `attach` on a scripted machine: every count of the foreign process is what the
script's rates imply, traffic of the memory controllers is that of the process alone, the steady
window is found, and its intensity is the rates' quotient."""

import json
import subprocess
import sys
import time

from checks import check, end, machine_named
from rig import Run, invalid

LMROOF, SHIM = sys.argv[1:3]
# Counts a nanosecond of the foreign process. 512-bit FMAs of 16 operations; 2 of 8 bytes would do.
RATES = {"instructions": (0xc0, 3, 1), "cycles": (0x3c, 2, 1), "flop_f32": (0x80c7, 0.25, 16)}
EXTRA = ["* 4 0x%x * rate %g" % (config, rate) for config, rate, _ in RATES.values()]
EXTRA += ["* 4 0x%x * rate 0" % config for config in (0x2c7, 0x8c7, 0x20c7)]


def near(got, want, tolerance):
    return abs(got - want) <= tolerance * abs(want)


# Keeps one CPU busy for a time that is long against lmroof's interval.
BUSY = ["python3", "-c", "import time\nend = time.monotonic() + 2\nwhile time.monotonic() < end: pass"]


def check_document(machine, name, text):
    check(invalid(text) == "", name, invalid(text))
    document = json.loads(text)
    counters, seconds = document["counters"], document["seconds"]
    for metric, (_, rate, weight) in RATES.items():
        counter = counters[metric]
        check(counter is not None, name, metric, counters.get("why_absent", {}).get(metric))
        if counter is None:
            continue
        per_s = counter["value"] / seconds
        check(near(per_s, rate * weight * 1e9, 0.05), name, metric, per_s, "a second, want",
              rate * weight * 1e9)
        check(counter["source"] == "perf" and counter["scope"] == "thread", name, counter)
        check(near(sum(document["series"]["counters"][metric]), counter["value"], 1e-9), name,
              metric, "the series does not add up")
    for metric in ("dram_read_bytes", "dram_write_bytes"):
        counter = counters[metric]
        # Every controller counts its step for each millisecond of the process.
        want = machine.expected(metric, 1) * 1e3
        check(counter is not None and near(counter["value"] / seconds, want, 0.05), name, metric,
              counter and counter["value"] / seconds, "a second, want", want)
        check(counter is not None and counter["scope"] == "system", name, counter)
        background = None if name == "attach" else 0  # it ran before it was looked at
        check(counter is not None and counter["background_fraction"] == background, name, counter)
    left_out = counters["why_absent"].get("l1_l2_bytes", {"state": "counted"})["state"]
    check(left_out == "not_scheduled", name, "more events than counters:", left_out)
    joules = counters["package_joules"]
    check(joules is not None and near(joules["value"] / seconds,
                                      machine.expected("package_joules", 1) * 1e3, 0.05), name,
          "package_joules", joules)
    return document


def check_placement(machine, document):
    window, place = document["window"], document["placement"]
    check(window is not None and window["found"] == "automatic", window)
    check(place is not None, document["why_absent"] if place is None else "")
    if place is None:
        return
    bytes_per_s = 1e3 * sum(machine.expected(m, 1) for m in ("dram_read_bytes", "dram_write_bytes"))
    flop_per_s = RATES["flop_f32"][1] * RATES["flop_f32"][2] * 1e9
    counted = place["flop_per_byte_counted"]
    check(counted is not None and near(counted["value"], flop_per_s / bytes_per_s, 0.02),
          "intensity", counted, "want", flop_per_s / bytes_per_s)
    check(counted is not None and counted["from"] == {"flop": "counted", "bytes": "counted"},
          counted)
    check(near(place["bytes_per_s_counted"]["value"], bytes_per_s, 0.05), place)
    seconds = window["end_seconds"] - window["begin_seconds"]
    check(near(place["tokens_per_s"]["value"], 100 / seconds, 1e-6), place["tokens_per_s"])
    check(place["joules_per_token"] is not None and near(
        place["joules_per_token"] * 100 / seconds,
        (machine.expected("package_joules", 1) + machine.expected("dram_joules", 1)) * 1e3, 0.05),
          place["joules_per_token"])
    # One steady stretch: whether it is decode cannot be told.
    check(place["lower_bound"] is True and window["phase"] == "cannot_tell", window)


SPR = machine_named("spr")
with Run(SHIM, SPR, EXTRA, ["counters 8", "fixed 4 0x3c", "fixed 4 0xc0"]) as rig:
    result = rig([LMROOF, "exec", "--json", "--interval", "0.05", "--"] + BUSY)
    check(result.returncode == 0, "exec", result.returncode, result.stderr)
    check_document(SPR, "exec", result.stdout)

    # A profile for the roofs: nothing is measured here.
    profile = rig.directory.name + "/profile.json"
    with open(profile, "w") as file:
        json.dump(json.load(open(sys.argv[3])), file)
    result = rig([LMROOF, "exec", "--json", "--interval", "0.05", "-m", "pythia-160m", "--dtype",
                  "f32", "--tokens", "100", "--machine", profile, "--"] + BUSY)
    check(result.returncode == 0, "exec -m", result.returncode, result.stderr)
    check_placement(SPR, check_document(SPR, "exec -m", result.stdout))

    process = subprocess.Popen(["sleep", "60"])
    time.sleep(0.2)
    result = rig([LMROOF, "attach", "--json", "--duration", "1", "--pid", str(process.pid)])
    process.kill()
    process.wait()
    check(result.returncode == 0, "attach", result.returncode, result.stderr)
    document = check_document(SPR, "attach", result.stdout)
    check(document["process"]["end"]["how"] == "time", document["process"])

# Rights that are missing on the foreign process are named; the rest is there.
with Run(SHIM, SPR, ["* * * * errno 13"]) as rig:
    result = rig([LMROOF, "exec", "--json", "--", "true"])
    check(result.returncode == 0, "no rights", result.returncode, result.stderr)
    document = json.loads(result.stdout)
    states = {why["state"] for why in document["counters"]["why_absent"].values()}
    check("not_permitted" in states, states)
    result = rig([LMROOF, "exec", "--counters", "require", "--", "true"])
    check(result.returncode == 125, "require", result.returncode, result.stderr)

end("exec")
