"""What scripts share that check a program's answers: the failures, the machines by name, the small
model that is run, and the end."""

import sys

from rig import ARM_MACHINES, MACHINES

FLOP = ("flop_f64", "flop_f32", "flop_f16", "flop_bf16")
TINY = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu",
        "hidden_size": 256, "intermediate_size": 512, "num_attention_heads": 4,
        "num_key_value_heads": 2, "num_hidden_layers": 2, "vocab_size": 1024,
        "max_position_embeddings": 256, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
        "tie_word_embeddings": True, "torch_dtype": "float32"}
failures = []


def check(condition, *words):
    if not condition:
        failures.append(words)
        print("FAIL:", *words)


def machine_named(name):
    return next(m for m in MACHINES + ARM_MACHINES if m.name == name)


def fed(machine, threads):
    """Operations and bytes from memory that a call of the scripted work counts."""
    flop = sum(machine.expected(metric, threads) or 0 for metric in FLOP)
    return flop, machine.expected("dram_read_bytes", threads) + \
        (machine.expected("dram_write_bytes", threads) or 0)


def end(title, where=""):
    print("%s: %d failures%s" % (title, len(failures), where))
    sys.exit(1 if failures else 0)
