"""many_profiles.py PROFILE.json FOLDER COUNT: COUNT profiles like PROFILE, each rate and time its own:
profile i is (1 + i / COUNT) times as fast as the first. Names are p0000.json ..."""
import json
import os
import sys

RATES = ("bytes_per_s", "flop_per_s", "core_hz", "theoretical_flop_per_s")


def scale(node, factor):
    """A reading's figures by factor; what is no reading stays."""
    if isinstance(node, (int, float)):
        return node * factor
    if node is None:
        return None
    scaled = dict(node)
    for key in ("value", "best"):
        scaled[key] = node[key] * factor
    for key in ("ci95", "samples"):
        scaled[key] = None if node[key] is None else [x * factor for x in node[key]]
    return scaled


def walk(node, factor):
    if isinstance(node, list):
        return [walk(x, factor) for x in node]
    if not isinstance(node, dict):
        return node
    return {key: value if key == "why_absent" else
            scale(value, factor) if key in RATES else walk(value, factor)
            for key, value in node.items()}


def main(source, folder, count):
    with open(source, encoding="utf-8") as file:
        profile = json.load(file)
    for i in range(count):
        with open(os.path.join(folder, "p%04d.json" % i), "w", encoding="utf-8") as out:
            json.dump(walk(profile, 1 + i / count), out, indent=1)


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
