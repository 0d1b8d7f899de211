#!/usr/bin/env python3
"""make.py FOLDER NODES REPEATS SEED FAULTS LOSS: a made-up fleet: an index and its profiles.

Rates with 2 % Gaussian noise; FAULTS nodes (7, 107, 207, ...) read memory slower by LOSS. Node 3
has another architecture where there are at least ten nodes.
"""
import json
import os
import random
import sys

folder, nodes, repeats, seed, faults, loss = sys.argv[1], *map(int, sys.argv[2:6]), float(sys.argv[6])
rng = random.Random(seed)


def measured(rate):
    samples = [rate * f for f in (0.999, 1, 1.001)]
    return {"value": rate, "ci95": [samples[0], samples[2]], "n": 3, "best": samples[2],
            "samples": samples, "origin": "timed"}


def profile(node):
    arm = node == 3 and nodes >= 10
    slow = 1 - loss if node % 100 == 7 and node // 100 < faults else 1
    noise = lambda: 1 + 0.02 * rng.gauss(0, 1)
    levels = [("L1", 5e12), ("L3", 1e12), ("DRAM", 2e11 * slow)]
    return {
        "schema": "lmroof.machine/1", "tool": {"name": "lmroof", "version": "0.1.0"},
        "started_at": "2026-11-30T00:00:00Z", "argv": ["lmroof", "probe"], "warnings": [],
        "complete": True,
        "host": {"name": "Made Up", "architecture": "aarch64" if arm else "x86_64", "cores": "48",
                 "pus": "48", "usable_cpus": "48"},
        "conditions": {"governor": "powersave" if node == 107 else "performance"},
        "profile_id": "made-up-48cpu", "write_allocate_factor": None, "saturating_threads": None,
        "why_absent": {key: {"state": "not_asked", "text": "made up", "try": None}
                       for key in ("write_allocate_factor", "saturating_threads")},
        "bandwidth": [{"level": level, "kernel": "load", "variant": "4s-pf0-512", "threads": 48,
                       "cpus": "0-47", "placement": "local", "working_set_bytes": 1 << 30,
                       "page_bytes": 2097152, "bytes_per_s": measured(rate * noise())}
                      for level, rate in levels],
        "latency": [], "loaded_latency": [], "numa": [], "scaling": [], "compute": []}


os.makedirs(folder)
rows = []
for node in range(nodes):
    names = ["node%d-cpu0-47.r%d.json" % (node, r) for r in range(repeats)]
    for name in names:
        with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
            json.dump(profile(node), out)
    rows.append({"rank": node, "host": "node%d" % node, "cpus": "0-47", "cpu_count": 48,
                 "state": "done", "profiles": names})
with open(os.path.join(folder, "index.json"), "w", encoding="utf-8") as out:
    json.dump({"schema": "lmroof.fleet/1", "tool": {"name": "lmroof", "version": "0.1.0"},
               "started_at": "2026-11-30T00:00:00Z", "argv": ["lmroof-fleet", "probe"],
               "warnings": [], "complete": True, "per": "node", "solo": False, "repeat": repeats,
               "mpi": "none", "ranks": rows}, out)
