#!/usr/bin/env python3
"""schema_refuses.py SCHEMA.py SCHEMAS EXAMPLES: broken copies of every example are refused.

For each example and each rule: change one value, and the schema must say no.
"""
import copy
import glob
import json
import os
import subprocess
import sys
import tempfile

schema, schemas, examples = sys.argv[1:]


def paths(value, at=()):
    """Every (path, value) below value; of each list only the first element."""
    yield at, value
    children = value.items() if isinstance(value, dict) else enumerate(value[:1]) \
        if isinstance(value, list) else ()
    for key, child in children:
        yield from paths(child, at + (key,))


def parent_of(document, path):
    for key in path[:-1]:
        document = document[key]
    return document


def trimmed(value):
    """The same with one element in each list of objects: the one that has the most to break."""
    if isinstance(value, dict):
        return {key: trimmed(child) for key, child in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [trimmed(max(value, key=lambda e: len(json.dumps(e))))]
    return value


def breakages(document):
    """(what, path, change): change(parent, key) breaks one rule."""
    for path, value in paths(document):
        if not path or "host" in path[:1] or "conditions" in path[:1] or path[-1] == "try":
            continue
        key = path[-1]
        if isinstance(key, str) and "why_absent" not in path:
            if value is None and key not in ("ci95",):
                yield "null without a reason", path, lambda p, k: p["why_absent"].pop(k)
            elif isinstance(value, (int, float)) and not isinstance(value, bool) \
                    and key not in ("n",):
                yield "text for a number", path, lambda p, k: p.__setitem__(k, "1")
                yield "NaN", path, lambda p, k: p.__setitem__(k, float("nan"))
                yield "a null that nothing explains", path, lambda p, k: p.__setitem__(k, None)
            if isinstance(value, dict) and "value" in value:
                yield "zero or no origin", path, lambda p, k: p[k].pop(
                    "origin" if "origin" in p[k] else "from")
        if key in ("schema", "level", "kernel", "phase", "operator", "bound", "state", "origin",
                   "verdict", "op_kind", "type", "kind") and isinstance(value, str):
            yield "a word that is none of the set", path, lambda p, k: p.__setitem__(k, "nonsense")
    yield "an unknown key", ("zzz",), lambda p, k: p.__setitem__(k, 1)
    envelope = ("schema", "tool", "started_at", "argv", "warnings")  # a data sheet has only the first
    for required in envelope if "tool" in document else envelope[:1]:
        yield "a missing key", (required,), lambda p, k: p.pop(k)


def main():
    tried = 0
    with tempfile.TemporaryDirectory() as work:
        for example in sorted(glob.glob(os.path.join(examples, "*.json"))):
            original = trimmed(json.load(open(example, encoding="utf-8")))
            files, names = [], []
            seen = set()
            for i, (what, path, change) in enumerate(breakages(original)):
                rule = (what,) + tuple(k for k in path[-3:] if isinstance(k, str))[-2:]
                if rule in seen:  # the same key of the same kind of object, elsewhere
                    continue
                seen.add(rule)
                document = copy.deepcopy(original)
                change(parent_of(document, path), path[-1])
                files.append(os.path.join(work, "%s-%d.json" % (os.path.basename(example), i)))
                names.append("%s: %s at %s" % (os.path.basename(example), what, path))
                with open(files[-1], "w", encoding="utf-8") as out:
                    json.dump(document, out)
            result = subprocess.run([sys.executable, schema, schemas] + files,
                                    capture_output=True, text=True)
            refused = {line.split(": ")[1] for line in result.stdout.splitlines()
                       if line.startswith("FAIL: ")}
            wrong = [name for file, name in zip(files, names) if file not in refused]
            if wrong:
                sys.exit("FAIL: accepted %d of %d broken documents:\n%s\n%s" % (
                    len(wrong), len(files), "\n".join(wrong[:20]), result.stderr[-500:]))
            tried += len(files)
    print("schemas: %d broken documents refused" % tried)


main()
