"""Our products of one row where their matrices have 64 MiB or more: of the read roof measured beside
them, against their larger twin, and what the point calls its bound. Needs a quiet machine.

    linears.py LMROOF [MODEL [ROUNDS [DTYPES]]]        a round takes about 20 s

Every round is a run of its own, so kernels and roofs are chosen anew; figures are medians over the
rounds, with the extremes of the read fraction. A row is missed if its fraction of the roof or
0.90 of its larger twin is not reached, unless a round calls it latency."""
import json
import os
import statistics
import subprocess
import sys

WANTED = {"f32": 0.95, "bf16": 0.92, "f16": 0.92, "q8_0": 0.92, "q4_0": 0.85}
LEAST_BYTES = 64 << 20
TWIN = 0.90


def run(lmroof, model, dtypes):
    done = subprocess.run(
        [lmroof, "run", "-m", model, "--phase", "decode", "--batch", "1", "--context", "16",
         "--dtype", dtypes, "--threads", str(os.cpu_count()), "--repeat", "9", "--counters", "off",
         "--quiet", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return json.loads(done.stdout)["points"]


def figures(point):
    seconds = point["seconds"]["value"]
    twins = [point["twins"][t]["value"] for t in ("memory_only_seconds", "compute_only_seconds")]
    read = point["bytes_modelled"] / seconds / point["roof"]["bytes_per_s"]["value"]
    return read, max(twins) / seconds, point["bytes_modelled"] / seconds, point["bound"]


def collect(lmroof, model, rounds, dtypes):
    found = {}
    for _ in range(rounds):
        for point in run(lmroof, model, dtypes):
            product = point["operator"] not in ("attention", "act_quant")
            measured = point["seconds"] and point["twins"]["memory_only_seconds"]
            if product and measured and point["bytes_modelled"] >= LEAST_BYTES:
                found.setdefault((point["dtype"], point["operator"]), []).append(figures(point))
    return found


def main(lmroof, model="llama-3.2-1b", rounds="3", dtypes=",".join(WANTED)):
    print("| weights | product | of the read roof | wanted | of the larger twin | GB/s | bounds | |")
    print("|---|---|---|---|---|---|---|---|")
    for (dtype, name), rows in collect(lmroof, model, int(rounds), dtypes).items():
        read, twin, rate = (statistics.median(r[i] for r in rows) for i in range(3))
        bounds = sorted({r[3] for r in rows})
        good = (read >= WANTED.get(dtype, 0.85) and twin >= TWIN) or "latency" in bounds
        print("| %s | %s | %.2f (%.2f to %.2f) | %.2f | %.2f | %.1f | %s | %s |" % (
            dtype, name, read, min(r[0] for r in rows), max(r[0] for r in rows),
            WANTED.get(dtype, 0.85), twin, rate / 1e9, ", ".join(bounds),
            "" if good else "missed"))


if __name__ == "__main__":
    main(*sys.argv[1:])
