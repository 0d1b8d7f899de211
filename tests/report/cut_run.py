#!/usr/bin/env python3
"""cut_run.py RUN.json MEASURED: the same run, had its time been used up after so many points."""
import json
import sys

document = json.load(open(sys.argv[1]))
measured = int(sys.argv[2])
why = {"state": "not_scheduled", "text": "the budget of 3 s was used up after 4.5 s",
       "try": "a larger --budget, or a quiet machine"}


def cut(parent, key):
    parent[key] = None
    parent.setdefault("why_absent", {})[key] = why


for point in document["points"][measured:]:
    for key in ("seconds", "flop_per_s", "bytes_per_s_modelled", "roof_fraction", "time_share_fraction"):
        cut(point, key)
    for group in ("twins", "roof"):
        for key, value in list(point[group].items()):
            if isinstance(value, dict) and "value" in value:
                cut(point[group], key)
    point["bound"] = "unknown"
    point["evidence"] = []
left = len(document["points"]) - measured
document["warnings"].append({"code": "budget", "text": "the budget of 3 s was used up: %d of %d points were "
                             "not measured" % (left, len(document["points"])), "try": why["try"]})
document["warnings"].append({"code": "disturbed", "text": "1 of %d points have too few rounds without other "
                             "work on the CPUs" % len(document["points"]), "try": "measure on a quiet machine"})
json.dump(document, sys.stdout)
