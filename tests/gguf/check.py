"""The reader through the program: public models give their published totals, damaged files one
line that names what is wrong and exit code 2. `python3 tests/gguf/check.py PROGRAM`."""
import json
import os
import subprocess
import sys
import tempfile

import damage
import models


# LeakSanitizer stops its own process at exit and now and then never wakes it in a virtual machine;
# the unit tests and the fuzzer look for leaks in one process each.
ENVIRONMENT = {"ASAN_OPTIONS": "detect_leaks=0", **os.environ}


def run(program, path, *options):
    done = subprocess.run([program, "model", path, *(options or ("--json",))],
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                          env=ENVIRONMENT)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def wrong_model(program, path, total, values, nbytes):
    code, out, err = run(program, path)
    if code != 0:
        return "exit %d: %s" % (code, err.strip())
    document = json.loads(out)
    found = (document["parameters"]["total"], document["kv_values_per_token"],
             document["weight_bytes"], sum(document["stored_bytes_by_dtype"].values()))
    wanted = (total, values, nbytes, nbytes)
    if found != wanted:
        return "found %s, want %s" % (found, wanted)
    return wrong_texts(program, path, "--phase", "decode,prefill,train", "--tokens", "1e9",
                       "--ridge", "20", "--ubatch", "100")


def wrong_texts(program, path, *options):
    """The table and the hand count of what --json could tell."""
    for extra in ((), ("--explain",)):
        code, out, err = run(program, path, "--batch", "1,3", *extra, *options)
        if code != 0 or not out or b"nan" in out.lower() or b"inf " in out.lower():
            return "%s: exit %d, %d bytes: %s" % (extra, code, len(out), err.strip()[:200])
    return None


def wrong_vocabulary(program, path):
    """A file without tensors has a shape and a cache, no parameters and no steps."""
    code, out, err = run(program, path)
    document = json.loads(out) if code == 0 else {}
    if code != 0 or document["parameters"]["total"] is not None or document["steps"] or \
            document["kv_values_per_token"] != 128:
        return "exit %d: %s %s" % (code, err.strip(), document.get("parameters"))
    return wrong_texts(program, path)


def wrong_damage(program, path, word):
    code, out, err = run(program, path)
    message = err.split("': ", 1)[-1]
    if code != 2 or out:
        return "exit %d, %d bytes of output: %s" % (code, len(out), err.strip()[:200])
    if err.count("\n") != 1 or any(ord(c) < 32 for c in err[:-1]):
        return "not one printable line: %r" % err[:300]
    return None if word in message else "no %r in %r" % (word, message)


def check(program, folder):
    failures = count = 0
    cases = [(name, make(), total, values)
             for name, (make, total, values) in models.MODELS.items()]
    deci, total, values = models.nemotron_51b_like()
    cases.append(("deci", deci, total, values))
    jobs = [(name, model.file.bytes(), wrong_model, (total, values, model.nbytes))
            for name, model, total, values in cases]
    vocabulary = damage.small(tokens=40)
    vocabulary.tensors = []
    jobs.append(("vocabulary", vocabulary.bytes(), wrong_vocabulary, ()))
    jobs += [(name, data, wrong_damage, (word,)) for name, data, word in damage.cases()]
    for name, data, wrong, expected in jobs:
        path = os.path.join(folder, name + ".gguf")
        with open(path, "wb") as file:
            file.write(data)
        problem = wrong(program, path, *expected)
        os.unlink(path)
        count += 1
        if problem:
            failures += 1
            print("FAIL: %s: %s" % (name, problem))
    print("%d files, %d failures" % (count, failures))
    return failures


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        sys.exit(1 if check(sys.argv[1], scratch) else 0)
