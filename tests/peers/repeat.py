"""Judges repeated probes: see repeat.sh. Documents as arguments; exit 1 if a ceiling fails."""

import json
import statistics
import sys

WITHIN = 0.05
SIGNS = ("steal", "switches", "throttled", "moved cpus", "slowed", "same core", "cpus apart", "one core", "stolen", "others use")
PLACE_RATIO = 1.6  # as witness_moved()


def rows(document):
    """Name, value and mark of each ceiling."""
    for row in document["bandwidth"]:
        name = f"{row['level']} {row['kernel']}, {row['threads']} threads"
        yield name, row["bytes_per_s"], row.get("unsteady", "")
    for row in document["compute"]:
        name = f"{row['dtype']} {row['kind']}, {row['threads']} threads"
        yield name, row["flop_per_s"], row.get("unsteady", "")
    for row in document["latency"]:
        name = f"{row['level']} latency, {row['page_bytes']} B pages"
        yield name, row["seconds"], row.get("unsteady", "")


def line_seconds(document):
    return float(document["conditions"].get("line_seconds", "nan"))


def collect(documents):
    """First row of each name in each document: the best class of a type comes first."""
    table = {}
    for index, document in enumerate(documents):
        seen = set()
        for name, reading, mark in rows(document):
            if reading is not None and name not in seen:
                seen.add(name)
                table.setdefault(name, {})[index] = (reading["value"], mark)
    return table


def named(mark):
    return any(sign in mark for sign in SIGNS)


def judge(name, values, lines, wanted):
    """One line of the report; true if the ceiling holds."""
    # Where the cpus lie matters to what several of them move, not to arithmetic.
    placed = name.split()[0] in ("L1", "L2", "L3", "DRAM") and "latency" not in name
    median = statistics.median(value for value, _ in values.values())
    usual = statistics.median(lines.values()) if lines else float("nan")
    inside = marked = 0
    unexplained = []
    shown = []
    unmarked = []
    for index, (value, mark) in values.items():
        off = value / median - 1
        inside += abs(off) <= WITHIN
        marked += bool(mark)
        line = lines.get(index, float("nan"))
        elsewhere = placed and max(line, usual) > PLACE_RATIO * min(line, usual)
        if abs(off) > WITHIN and not named(mark) and not elsewhere:
            unexplained.append(index)
        if not mark:
            unmarked.append(value)
        shown.append(f"{100 * off:+.0f}{'*' if mark else ''}{'~' if elsewhere else ''}")
    good = not unexplained or inside >= wanted * len(values)
    print(f"{'good' if good else 'FAILS':5} {name:34} {median:10.4g} {inside:2}/{len(values)}"
          f" {' '.join(shown)}")
    own = statistics.median(unmarked) if unmarked else float("nan")
    agree = sum(abs(value / own - 1) <= WITHIN for value in unmarked)
    return good, inside, marked, len(values), len(unexplained), agree


def main():
    documents = []
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            documents.append(json.load(file))
    lines = {i: line_seconds(d) for i, d in enumerate(documents)}
    lines = {i: s for i, s in lines.items() if s == s}
    totals = [0] * 6
    count = 0
    for name, values in collect(documents).items():
        result = judge(name, values, lines, 0.8)
        totals = [total + int(part) for total, part in zip(totals, result)]
        count += 1
    print(f"{totals[0]} of {count} ceilings hold; {totals[1]} of {totals[3]} figures within 5 %, "
          f"{totals[2]} marked (*), {totals[4]} outside without a named sign; {totals[5]} of "
          f"{totals[3] - totals[2]} unmarked ones within 5 % of their own median; ~ another placement "
          f"of the cpus than usual; lines {' '.join(f'{1e9 * s:.0f}' for s in lines.values())} ns")
    sys.exit(0 if totals[0] == count else 1)


if __name__ == "__main__":
    main()
