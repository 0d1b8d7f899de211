"""How long `lmroof model` takes, as a whole process: `python3 tests/peers/model_time.py PROGRAM
[RUNS]`. Every config of tests/models, a GGUF header of 1,000 tensors with a vocabulary of 128,256
tokens, and one of 1,000 tensors in ten shards; a line each, the configs' slowest apart. Milliseconds
of RUNS runs after one that is not counted; the budget is 20 ms for a config and 50 ms for the GGUF."""
import glob
import os
import statistics
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "gguf"))
sys.dont_write_bytecode = True

from gguf_file import U16, Value  # noqa: E402
from models import decoder  # noqa: E402


def milliseconds(program, path, runs):
    times = []
    sink = os.open(os.devnull, os.O_WRONLY)
    actions = [(os.POSIX_SPAWN_DUP2, sink, 1), (os.POSIX_SPAWN_DUP2, sink, 2)]
    for _ in range(runs + 1):
        start = time.perf_counter()
        child = os.posix_spawn(program, [program, "model", path, "--json"], os.environ,
                               file_actions=actions)
        status = os.waitpid(child, 0)[1]
        times.append(1e3 * (time.perf_counter() - start))
        if status != 0:
            sys.exit("%s: status %d" % (path, status))
    os.close(sink)
    return times[1:]


def show(name, times):
    print("%-24s median %6.2f  p95 %6.2f  max %6.2f ms  (n = %d)" % (
        name, statistics.median(times), sorted(times)[int(0.95 * (len(times) - 1))], max(times),
        len(times)))


def thousand(**options):
    """110 layers of 9 tensors, with the five outside them and five tables: 1,000."""
    tables = [("rope_freqs.weight", 64)]
    model = decoder("llama", 110, 4096, 32, 14336, 128256, kv=8, tables=tables,
                    matrix="Q4_K", special={"ffn_down": "Q6_K"}, **options)
    for i in range(1000 - len(model.file.tensors)):
        model.add("blk.%d.rope_freqs.weight" % i, 64)
    return model.file


def write_shards(folder, file, count):
    """The header's tensors over count files, as llama.cpp's gguf-split names them."""
    tensors, values = file.tensors, file.values
    each = len(tensors) // count
    for i in range(count):
        part = tensors[i * each:(i + 1) * each if i + 1 < count else None]
        base = part[0][3]
        file.tensors = [[t[0], t[1], t[2], t[3] - base] for t in part]
        file.values = list(values) if i == 0 else []
        file.set("split.no", Value(U16, i))
        file.set("split.count", Value(U16, count))
        path = os.path.join(folder, "split-%05d-of-%05d.gguf" % (i + 1, count))
        with open(path, "wb") as out:
            out.write(file.bytes())
    return os.path.join(folder, "split-%05d-of-%05d.gguf" % (1, count))


def main(program, runs):
    slowest, everything = ("", [0]), []
    for path in sorted(glob.glob(os.path.join(HERE, "..", "models", "*.json"))):
        times = milliseconds(program, path, runs)
        everything += times
        if statistics.median(times) > statistics.median(slowest[1]):
            slowest = (os.path.basename(path), times)
    show("all configs", everything)
    show(slowest[0], slowest[1])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "thousand.gguf")
        with open(path, "wb") as out:
            out.write(thousand(tokens=128256).bytes())
        show("GGUF of 1,000 tensors", milliseconds(program, path, runs))
        show("the same in 10 shards", milliseconds(
            program, write_shards(folder, thousand(tokens=128256), 10), runs))


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20)
