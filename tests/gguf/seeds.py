"""Writes the seed corpus of tests/fuzz/fuzz_gguf.c: `python3 tests/gguf/seeds.py FOLDER`."""
import os
import sys

from damage import small, small_latent
from gguf_file import U16, Value
from models import LN, QKV, decoder, nemotron_51b_like


def tiny(arch, **options):
    return decoder(arch, 2, 64, 4, 96, 40, **options).file


def split():
    file = small()
    file.set("split.no", Value(U16, 0))
    file.set("split.count", Value(U16, 2))
    return file


def vocabulary():
    file = small(tokens=40)
    file.tensors = []
    return file


SEEDS = {
    "llama": small,
    "llama-big-endian": lambda: small(big_endian=True, alignment=64),
    "llama-v2": lambda: small(version=2),
    "llama-q8_0": lambda: small(matrix="Q8_0"),
    "mixtral": lambda: small(experts=4, used=2),
    "mixtral-single": lambda: small(experts=4, used=2, single_experts=True),
    "deepseek2": small_latent,
    "deci": lambda: nemotron_51b_like()[0].file,
    "gpt-oss": lambda: tiny("gpt-oss", kv=2, experts=4, used=2, f_e=96, window=16, sinks=True,
                            bias=QKV + ("attn_output", "exps"), router_bias=True),
    "gemma3": lambda: tiny("gemma3", kv=1, tied=True, window=16, qk_norm="head",
                           pattern=[True, False]),
    "phi3": lambda: tiny("phi3", fused_qkv=True, fused_gate=True,
                         tables=(("rope_factors_long.weight", 8),)),
    "gpt2": lambda: tiny("gpt2", fused_qkv=True, positions=16, tied=True,
                         bias=("attn_qkv", "attn_output", "ffn_up", "ffn_down"), **LN),
    "qwen2moe": lambda: tiny("qwen2moe", experts=4, used=2, f_e=32, shared=64, shared_gate=True,
                             bias=QKV),
    "split": split,
    "vocabulary": vocabulary,
}

if __name__ == "__main__":
    for name, make in SEEDS.items():
        with open(os.path.join(sys.argv[1], name + ".gguf"), "wb") as out:
            out.write(make().bytes())
