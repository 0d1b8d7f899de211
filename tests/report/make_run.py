#!/usr/bin/env python3
"""Writes a run document as `lmroof run` would: a two-core AVX-512 server and a 1B model.

    make_run.py [--points N] [--slow FACTOR] [--small] [--kind run|machine|validate]

Figures are formulas with a fixed pseudo-noise: the same arguments give the same bytes.
--points repeats the operators over more contexts until there are N; --slow scales all times, for
a second run to lay over the first; --small keeps six points that show every kind of absence.
The examples in tests/documents/ began as `--small` of each kind.
"""
import argparse
import json
import sys

LAYERS, HIDDEN, FFN, KV, VOCAB = 16, 2048, 8192, 512, 128256
ELEMENT = {"f32": 4, "bf16": 2}
READ = 30.9e9
PEAK = {"f32": 331e9, "bf16": 331e9}
GEMM = 301e9
noise_state = 12345


def noise():
    """-1..1 from a linear congruential generator (Numerical Recipes, 7.1)."""
    global noise_state
    noise_state = (1664525 * noise_state + 1013904223) % 2**32
    return noise_state / 2**31 - 1


def measured(value, n=9, spread=0.01, better=max, origin="timed"):
    samples = sorted(value * (1 + spread * noise()) for _ in range(n))
    low, high = (samples[1], samples[-2]) if n >= 9 else (samples[0], samples[-1])
    shown = samples[::2] + samples[1::2]
    return {"value": samples[n // 2], "ci95": [low, high], "n": n, "best": better(samples),
            "samples": shown, "origin": origin}


def derived(value, like, parts, invert=False):
    low, high = (x / like["value"] for x in like["ci95"])
    if invert:
        low, high = 1 / high, 1 / low
    return {"value": value, "ci95": [value * low, value * high], "from": parts}


def absent(out, key, state, text, try_=None):
    out[key] = None
    out.setdefault("why_absent", {})[key] = {"state": state, "text": text, "try": try_}


def bandwidth(level, kernel, rate, set_bytes):
    return {"level": level, "kernel": kernel, "variant": "4s-pf2048-512", "threads": 2,
            "cpus": "0-1", "placement": "local", "working_set_bytes": set_bytes,
            "page_bytes": 2 << 20, "bytes_per_s": measured(rate)}


def compute(dtype, kind, name, rate, shape=None, backend="lmroof"):
    out = {"dtype": dtype, "kind": kind, "class": name, "backend": backend, "threads": 2,
           "op_kind": "int" if dtype == "int8" else "float", "verified": True}
    if shape:
        out["shape"] = shape
    else:
        absent(out, "shape", "not_asked", "registers only: the kernel has no shape")
    out["flop_per_s"] = measured(rate)
    out["core_hz"] = measured(2.6e9)
    absent(out, "theoretical_flop_per_s", "unsupported", "no sourced table for this core")
    return out


def machine():
    out = {}
    absent(out, "profile_id", "not_asked", "measured for this run, not stored")
    out["bandwidth"] = [
        bandwidth("L1", "load", 612e9, 64 << 10), bandwidth("L2", "load", 251e9, 2 << 20),
        bandwidth("L3", "load", 96e9, 16 << 20), bandwidth("DRAM", "load", READ, 1 << 30),
        bandwidth("DRAM", "store_nt", 24.6e9, 1 << 30), bandwidth("DRAM", "triad", 21.9e9, 1 << 30)]
    out["write_allocate_factor"] = measured(1.47)
    out["latency"] = [{"level": "DRAM", "working_set_bytes": 1 << 30, "page_bytes": 2 << 20,
                       "seconds": measured(113e-9, better=min)}]
    out["loaded_latency"] = []
    out["numa"] = [{"kernel": "load", "threads": 2, "from": 0, "to": 0,
                    "bytes_per_s": measured(READ)}]
    out["scaling"] = [{"level": "DRAM", "kernel": "load", "threads": t,
                       "bytes_per_s": measured(READ * (0.52 if t == 1 else 1))} for t in (1, 2)]
    absent(out, "saturating_threads", "failed", "two threads still gain 1.9x on one: no knee")
    out["compute"] = [
        compute("f32", "fma", "avx512/vfmadd231ps/f32", PEAK["f32"]),
        compute("f64", "fma", "avx512/vfmadd231pd/f64", PEAK["f32"] / 2),
        compute("bf16", "fma", "avx512_bf16/vdpbf16ps/f32", 318e9),
        compute("int8", "fma", "avx512_vnni/vpdpbusd/i32", 1210e9),
        compute("f32", "gemm", "avx512/vfmadd231ps/f32", GEMM, "4096 x 4096 x 4096",
                "openblas 0.3.21 SkylakeX")]
    return out


SHAPES = {"qkv": (HIDDEN + 2 * KV, HIDDEN), "attn_out": (HIDDEN, HIDDEN),
          "gate_up": (2 * FFN, HIDDEN), "down": (HIDDEN, FFN), "head": (VOCAB, HIDDEN)}


def cost(operator, phase, batch, tokens, dtype):
    """rows, n, k, flop and DRAM bytes of one call."""
    rows = batch if phase == "decode" or operator == "head" else batch * tokens
    if operator == "attention":
        seen = tokens + 1 if phase == "decode" else (tokens + 1) / 2
        flop = 4 * rows * seen * HIDDEN
        return rows, tokens, HIDDEN, flop, 2 * 2 * KV * batch * (tokens + 1)
    n, k = SHAPES[operator]
    return rows, n, k, 2 * rows * n * k, n * k * ELEMENT[dtype] + rows * 2 * ELEMENT[dtype] * 0


def twins(out, memory, work, library):
    pair = {}
    if library:
        for key in ("memory_only_seconds", "compute_only_seconds"):
            absent(pair, key, "unsupported", "a library's kernel has no twin")
    else:
        pair["memory_only_seconds"] = measured(memory, better=min)
        pair["compute_only_seconds"] = measured(work, better=min)
    out["twins"] = pair


def evidence(intensity, ridge, fraction, memory, work, library):
    rows = [{"test": "intensity", "expected": "below the ridge at %.3g FLOP/byte" % ridge,
             "found": "%.3g FLOP/byte" % intensity, "passed": intensity < ridge},
            {"test": "achieved_bandwidth", "expected": "at least 70 % of the read roof",
             "found": "%.0f %%" % (100 * fraction), "passed": fraction >= 0.7}]
    if not library:
        rows.append({"test": "twins", "expected": "the larger of m, k within 10 % of t",
                     "found": "m %.3g s, k %.3g s" % (memory, work), "passed": True})
    return rows


def point(operator, phase, batch, tokens, dtype, slow, hollow):
    rows, n, k, flop, size = cost(operator, phase, batch, tokens, dtype)
    library = phase == "prefill" and operator not in ("attention", "head")
    peak = GEMM if library else PEAK[dtype]
    memory, work = size / (READ * 0.985), flop / (peak * 0.93)
    seconds = measured(slow * max(memory, work, 0.85 * (memory + work)) * (1.02 + 0.02 * noise()),
                       spread=0.015, better=min)
    t, intensity = seconds["value"], flop / size
    roof, ridge = min(peak, READ * intensity), peak / READ
    place = "c%d" % tokens if phase == "decode" else "p%d" % tokens
    out = {"id": "%s/%s/%s/b%d/%s" % (phase, operator, dtype, batch, place),
           "operator": operator, "phase": phase, "batch": batch,
           "context": tokens if phase == "decode" else 0}
    if phase == "prefill":
        out["prompt"] = tokens
    out.update(layers=1 if operator == "head" else LAYERS, dtype=dtype)
    if operator == "attention":
        out["kv_dtype"] = "f16"
    else:
        absent(out, "kv_dtype", "not_asked", "this operator reads no KV cache")
    out.update(isa="avx512", backend="openblas" if library else "lmroof", threads=2,
               placement="local", page_bytes=2 << 20, shape={"m": rows, "n": n, "k": k},
               resident_level="DRAM", working_set_bytes=max(4 * (32 << 20), size),
               op_kind="float", seconds=seconds, time_share_fraction=None, flop=flop,
               flop_executed=flop, bytes_modelled=size, flop_per_byte_predicted=intensity)
    modelled = {"flop": "modelled", "seconds": "timed"}
    by_bytes = {"bytes": "modelled", "seconds": "timed"}
    out["flop_per_s"] = derived(flop / t, seconds, modelled, True)
    out["bytes_per_s_modelled"] = derived(size / t, seconds, by_bytes, True)
    out["counted"], out["counters"] = {}, {}
    if hollow:
        counted = 1.04 * size
        out["counted"].update(flop_source="modelled", bytes_source="uncore",
                              bytes_residual_fraction=0.04)
        out["flop_per_byte_counted"] = derived(
            flop / counted, seconds, {"flop": "modelled", "bytes": "counted"})
        out["bytes_per_s_counted"] = derived(
            counted / t, seconds, {"bytes": "counted", "seconds": "timed"}, True)
        out["counters"]["dram_read_bytes"] = dict(
            measured(counted, origin="counted"), scope="system", source="perf",
            events="unc_m_cas_count.rd", running_fraction=0.81,
            background_fraction=0.02)
        absent(out["counters"], "package_joules", "not_permitted", "perf_event_open: EACCES",
               "sysctl kernel.perf_event_paranoid=0")
    else:
        for key in ("flop_source", "bytes_source"):
            absent(out["counted"], key, "not_asked", "no intensity was counted")
        absent(out["counted"], "bytes_residual_fraction", "not_asked", "no bytes were counted")
        for key in ("flop_per_byte_counted", "bytes_per_s_counted"):
            absent(out, key, "unsupported", "no hardware counters in this virtual machine",
                   "bare metal or an instance with a PMU")
    out["roof"] = {"name": "DRAM load" if intensity < ridge else
                   ("GEMM" if library else "FMA") + " " + dtype,
                   "level": "DRAM", "class": "avx512/vfmadd231ps/f32",
                   "bytes_per_s": measured(READ), "flop_per_s": measured(peak),
                   "attainable_flop_per_s": roof}
    fraction = flop / t / roof
    out["roof_fraction"] = derived(fraction, seconds, dict(modelled, bytes="modelled"), True)
    absent(out, "roof_fraction_counted", "unsupported",
           "no hardware counters in this virtual machine")
    out["bound"] = ("memory_core_limited" if memory > 1.5 * work else
                    "compute" if work > 1.5 * memory else "latency" if fraction < 0.8 else "unknown")
    out["evidence"] = evidence(intensity, ridge, size / t / READ, memory, work, library)
    twins(out, memory, work, library)
    out["result_check"] = {"max_relative_error": 3.1e-6 if dtype == "f32" else 4.2e-3,
                           "tolerance": 1e-4 if dtype == "f32" else 2e-2}
    out["verified"] = True
    return out


def places(wanted):
    """(operator, phase, batch, tokens, dtype), at least `wanted` of them."""
    operators = list(SHAPES) + ["attention"]
    count, contexts = 0, [512]
    while True:
        for tokens in contexts:
            for dtype in ("bf16", "f32"):
                for operator in operators:
                    for batch in (1, 4, 16, 64):
                        yield operator, "decode", batch, tokens, dtype
                        count += 1
                    yield operator, "prefill", 1, tokens, dtype
                    count += 1
        if count >= wanted:
            return
        contexts = [contexts[-1] + 8]


def shares(points):
    """time_share_fraction: layers x seconds over the sum of the same step."""
    totals = {}
    step = lambda p: (p["phase"], p["batch"], p["context"], p.get("prompt"), p["dtype"])
    for p in points:
        totals[step(p)] = totals.get(step(p), 0) + p["layers"] * p["seconds"]["value"]
    for p in points:
        p["time_share_fraction"] = p["layers"] * p["seconds"]["value"] / totals[step(p)]
    return totals


def step_operators(points, place, whole):
    """Operators within a step, as long as apart."""
    out = []
    for p in points:
        if (p["phase"], p["batch"], p["context"], p.get("prompt"), p["dtype"]) == place:
            seconds = p["layers"] * p["seconds"]["value"]
            out.append({"name": p["operator"], "seconds": measured(seconds, better=min),
                        "time_share_fraction": seconds / whole, "estimated_seconds": 0.95 * seconds})
    return out


def steps(totals, points):
    out = []
    for (phase, batch, context, prompt, dtype), seconds in totals.items():
        step = {"phase": phase, "batch": batch, "context": context}
        if prompt:
            step["prompt"] = prompt
        step["dtype"] = dtype
        time = measured(1.03 * seconds, better=min)
        tokens = batch * (prompt or 1)
        step["tokens_per_s"] = derived(tokens / time["value"], time, {"seconds": "timed"}, True)
        here, other = (("tpot_seconds", "ttft_seconds") if phase == "decode" else
                       ("ttft_seconds", "tpot_seconds"))
        step[here] = time
        absent(step, other, "not_asked", "not a figure of this phase")
        step["predicted_tokens_per_s"] = tokens / (0.93 * seconds)
        step["predicted_seconds"] = 0.93 * seconds
        step["estimated_seconds"] = 0.97 * seconds
        step["remainder_seconds"] = derived(0.03 * seconds, time, {"seconds": "timed"})
        step["layers"] = step["layers_measured"] = LAYERS
        step["operators"] = step_operators(points, (phase, batch, context, prompt, dtype),
                                           time["value"])
        step["result_check"] = {"max_relative_error": 2e-7, "tolerance": 8e-6}
        step["verified"] = True
        out.append(step)
    return out


def crossover(dtype):
    out = {"dtype": dtype, "predicted_linears": 5.35 * ELEMENT[dtype],
           "predicted_step": 6.1 * ELEMENT[dtype]}
    time = measured(5.9 * ELEMENT[dtype])
    out["measured"] = derived(time["value"], time, {"seconds": "timed"})
    return out


def document(arguments):
    chosen = list(places(arguments.points))[:arguments.points]
    if arguments.small:
        chosen = [("qkv", "decode", 1, 512, "bf16"), ("gate_up", "decode", 1, 512, "bf16"),
                  ("gate_up", "decode", 64, 512, "bf16"), ("attention", "decode", 1, 512, "f32"),
                  ("head", "decode", 1, 512, "f32"), ("gate_up", "prefill", 1, 512, "f32")]
    points = [point(*place, arguments.slow, i % 7 == 4) for i, place in enumerate(chosen)]
    totals = shares(points)
    out = {"schema": "lmroof.run/1", "tool": {"name": "lmroof", "version": "0.1.0"},
           "started_at": "2026-11-29T22:45:00Z",
           "argv": ["lmroof", "run", "-m", "llama-3.2-1b", "--batch", "1,4,16,64"],
           "warnings": [
               {"code": "turbo_unknown", "text": "no cpufreq here: the clock is measured inside "
                "the kernels, not controlled", "try": None},
               {"code": "not_saturated", "text": "two threads do not saturate the memory: store_nt "
                "and load still grow with threads", "try": "more cores, if the machine has them"}],
           "complete": True,
           "host": {"name": "AMD EPYC 9R14 96-Core Processor", "architecture": "x86_64",
                    "cores": "2", "l3": "32 MiB x 1", "memory_available": "24 GiB",
                    "kernel": "Linux 6.1.0", "virtualized": "kvm"},
           "conditions": {"threads": "2", "cpus": "0-1", "binding": "one thread per cpu, bound",
                          "transparent_huge_pages": "madvise", "blas_core": "SkylakeX",
                          "compiler": "12.2.0"},
           "model": {"name": "llama-3.2-1b"}, "machine": machine(), "points": points,
           "certificate": [
               {"event": "unc_m_cas_count.rd", "metric": "dram_read_bytes", "source": "perf",
                "kernel": "read", "expected": 1 << 30, "counted": 1093874483, "ratio": 1.01875,
                "accepted_low": 1052266987, "accepted_high": 1181116006, "passed": True}]}
    all_steps = steps(totals, points)
    out["step"], out["steps"] = all_steps[0], all_steps
    out["crossover_batches"] = [crossover(d) for d in ("bf16", "f32")]
    out["crossover_batch"] = out["crossover_batches"][0]
    return out


def as_machine(run):
    """The machine document of the same session."""
    out = {key: run[key] for key in ("tool", "started_at", "argv", "warnings", "complete", "host",
                                     "conditions")}
    return dict(out, schema="lmroof.machine/1", **run["machine"])


def as_validate(run):
    points = [p for p in run["points"] if p["phase"] == "decode"]
    operators = [{"name": p["operator"], "bound": p["bound"], "evidence": p["evidence"],
                  "time_share_fraction": p["time_share_fraction"], "resident_level": "DRAM"}
                 for p in points]
    memory = [o for o in operators if o["bound"].startswith("memory")]
    share = sum(o["time_share_fraction"] for o in memory) / sum(
        o["time_share_fraction"] for o in operators)
    return dict(run, schema="lmroof.validate/1", points=points, operators=operators,
                verdict="confirmed" if share >= 0.9 else "refuted" if share < 0.5 else "cannot_tell",
                claim="decode of llama-3.2-1b at batch 1 is bound by memory on cpus 0-1",
                finding="two cores do not saturate the memory: their misses in flight are the limit",
                memory_bound_fraction=share, unknown_fraction=0, evidence=points[0]["evidence"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=60)
    parser.add_argument("--slow", type=float, default=1.0)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--kind", choices=("run", "machine", "validate"), default="run")
    arguments = parser.parse_args()
    out = document(arguments)
    if arguments.kind == "machine":
        out = as_machine(out)
    elif arguments.kind == "validate":
        out = as_validate(out)
    json.dump(out, sys.stdout, indent=1)
    print()


main()
