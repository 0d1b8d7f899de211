"""How far predictions are off: our own step (`run --step`) and llama.cpp's decode and prefill beside
what `predict` says from a probe of the same machine in the same minutes. Needs a quiet machine.

    prediction.py measure LMROOF OUT FILE.gguf [ENGINE_DIR]   one format; takes one to two minutes
    prediction.py table LMROOF OUT MODEL                      of all that OUT holds, as Markdown
    prediction.py steps LMROOF [MODEL [DTYPES]]               our step alone; 25 s a format

measure writes OUT/NAME.*: a probe before, one after, the step run, llama-bench's and
llama-batched-bench's output. NAME is the file's, without .gguf; its last part is the format.
Nothing is fitted: the rates are the probes', the shapes are the model's. A row's prediction is the
mean over both probes; `probes` says how far apart these two are, which no prediction can beat.

steps asks the same of a machine that does not hold still: `run --step` times the parts of which a
profile predicts between the samples of the step (`estimates`), so that both see the machine in the
same state; at batches that no part has. The ratio is estimated over measured, paired, with its
95 % interval."""
import glob
import json
import os
import subprocess
import sys

BATCHES = "1,4,16"
CONTEXTS = "4,1024,4096"
PROMPT = "512"
THREADS = str(os.cpu_count())


def save(path, command):
    print("+", " ".join(command), file=sys.stderr, flush=True)
    with open(path, "wb") as out:
        subprocess.run(command, stdout=out, stderr=subprocess.DEVNULL, check=False)


def probe(lmroof, path):
    save(path, [lmroof, "probe", "--levels", "DRAM", "--dtype", "f32,bf16,f16,int8", "--threads",
                THREADS, "--quiet", "--json"])


def measure(lmroof, out, gguf, engine=None):
    os.makedirs(out, exist_ok=True)
    base = os.path.join(out, os.path.basename(gguf).removesuffix(".gguf"))
    probe(lmroof, base + ".before")
    save(base + ".step", [lmroof, "run", "--step", "-m", gguf, "--phase", "decode,prefill",
                          "--batch", BATCHES, "--context", CONTEXTS, "--prompt", PROMPT,
                          "--threads", THREADS, "--no-twins", "--counters", "off", "--repeat", "5",
                          "--budget", "45", "--quiet", "--json"])
    if engine is not None:
        both = ["-m", gguf, "-t", THREADS]
        save(base + ".bench", [engine + "/llama-bench"] + both +
             ["-p", "0", "-n", "8", "-d", "0,1024", "-r", "2", "-o", "jsonl"])
        save(base + ".batched", [engine + "/llama-batched-bench"] + both +
             ["-tb", THREADS, "-c", "400", "-npp", "8", "-ntg", "8", "-npl", BATCHES,
              "--output-format", "jsonl"])
    probe(lmroof, base + ".after")


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def predicted(lmroof, profile, model, dtype):
    """Seconds by (phase, batch, context or prompt): estimate and bound."""
    done = subprocess.run([lmroof, "predict", "-m", model, "--dtype", dtype, "--batch", BATCHES,
                           "--context", CONTEXTS, "--prompt", PROMPT, "--machine", profile,
                           "--json", "--quiet"], stdout=subprocess.PIPE, check=True)
    out = {}
    for step in json.loads(done.stdout)["machines"][0]["steps"]:
        decode = step["phase"] == "decode"
        tokens = step["batch"] * (1 if decode else step["prompt"])
        out[step["phase"], step["batch"], step["context"] if decode else step["prompt"]] = (
            tokens / step["tokens_per_s"], tokens / step["tokens_per_s_bound"])
    return out


def own_rows(base, dtype, before, after):
    for step in load(base + ".step")["steps"]:
        decode = step["phase"] == "decode"
        time = step["tpot_seconds" if decode else "ttft_seconds"]
        key = step["phase"], step["batch"], step["context"] if decode else step["prompt"]
        if time is None or key not in before:
            continue
        estimate = (before[key][0] + after[key][0]) / 2
        yield (dtype, *key, time["value"], estimate, estimate / time["value"] - 1,
               after[key][0] / before[key][0] - 1)


def foreign_rows(lmroof, base, model, dtype):
    """llama-bench under the faster of both probes, as `place` puts it."""
    for tool, suffix in (("llama-bench", "bench"), ("llama-batched-bench", "batched")):
        if not os.path.exists(base + "." + suffix):
            continue
        places = []
        for profile in (".before", ".after"):
            done = subprocess.run([lmroof, "place", "--from", tool, base + "." + suffix, "-m", model,
                                   "--dtype", dtype, "--machine", base + profile, "--json",
                                   "--quiet"], stdout=subprocess.PIPE, check=True)
            places.append(json.loads(done.stdout)["points"])
        for a, b in zip(*places):
            fractions = [p["roof_fraction"] for p in (a, b)]
            rate = a["tokens_per_s"]
            yield (tool, dtype, a["phase"], a["batch"], a.get("depth", 0),
                   rate["value"] if isinstance(rate, dict) else rate, min(
                       f["value"] if isinstance(f, dict) else f for f in fractions))


def table(lmroof, out, model):
    own, foreign = [], []
    for path in sorted(glob.glob(os.path.join(out, "*.after"))):
        base = path.removesuffix(".after")
        dtype = base.rsplit("-", 1)[1]
        before, after = (predicted(lmroof, base + end, model, dtype) for end in (".before", ".after"))
        own += own_rows(base, dtype, before, after)
        foreign += foreign_rows(lmroof, base, model, dtype)
    print("| weights | phase | batch | tokens | measured | predicted | error | probes |")
    print("|---|---|---|---|---|---|---|---|")
    for dtype, phase, batch, tokens, seconds, estimate, error, apart in own:
        print("| %s | %s | %d | %d | %.4g ms | %.4g ms | %+.0f %% | %+.0f %% |" % (
            dtype, phase, batch, tokens, 1e3 * seconds, 1e3 * estimate, 100 * error, 100 * apart))
    errors = sorted(abs(row[6]) for row in own)
    if errors:
        print("\n%d rows; error at the median %.0f %%, within 10 %% in %d, worst %.0f %%\n" % (
            len(errors), 100 * errors[len(errors) // 2], sum(e <= 0.1 for e in errors),
            100 * errors[-1]))
    print("| tool | weights | phase | batch | depth | tokens/s | of the bound |")
    print("|---|---|---|---|---|---|---|")
    for row in foreign:
        print("| %s | %s | %s | %d | %d | %.4g | %.0f %% |" % (*row[:6], 100 * row[6]))


def steps(lmroof, model="tinyllama-1.1b", dtypes="f32,f16,bf16,q8_0,q4_0"):
    done = subprocess.run([lmroof, "run", "--step", "-m", model, "--dtype", dtypes, "--phase",
                           "decode,prefill", "--batch", "3,6,12", "--context", "4,1024", "--prompt",
                           PROMPT, "--threads", THREADS, "--no-twins", "--counters", "off",
                           "--repeat", "9", "--quiet", "--json"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False)
    print("| weights | phase | batch | tokens | measured | estimated / measured |")
    print("|---|---|---|---|---|---|")
    ratios = []
    for step in json.loads(done.stdout)["steps"]:
        decode = step["phase"] == "decode"
        time = step["tpot_seconds" if decode else "ttft_seconds"]
        if time is None or "estimates" not in step:
            continue
        ratio = step["estimates"][0]["ratio"]
        ratios.append(ratio["value"])
        print("| %s | %s | %d | %d | %.4g ms | %.2f [%.2f, %.2f] |" % (
            step["dtype"], step["phase"], step["batch"], step["context" if decode else "prompt"],
            1e3 * time["value"], ratio["value"], *ratio["ci95"]))
    errors = sorted(abs(ratio - 1) for ratio in ratios)
    if errors:
        print("\n%d rows; error at the median %.0f %%, within 10 %% in %d, worst %.0f %%" % (
            len(errors), 100 * errors[len(errors) // 2], sum(e <= 0.1 for e in errors),
            100 * errors[-1]))


if __name__ == "__main__":
    {"measure": measure, "table": table, "steps": steps}[sys.argv[1]](*sys.argv[2:])
