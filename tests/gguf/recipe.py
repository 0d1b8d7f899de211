"""Headers of llama models in the mixture Q4_K_M, type by type as llama.cpp quantises them
(src/llama-quant.cpp: use_more_bits(), LLAMA_FTYPE_MOSTLY_Q4_K_M): attn_v and ffn_down in Q6_K in
half of the layers, the output matrix in Q6_K, the rest in Q4_K. Prints what the tensor table says:
layers and bytes by operator and type. `python3 recipe.py FILE tiny|tinyllama`."""
import json
import sys

import models
from gguf_file import TYPES

SHAPES = {"tiny": dict(layers=4, d=256, heads=4, kv=1, f=512, vocab=1001),
          "tinyllama": dict(layers=22, d=2048, heads=32, kv=4, f=5632, vocab=32000)}
OPERATORS = {"attn_q": "qkv", "attn_k": "qkv", "attn_v": "qkv", "attn_output": "attn_out",
             "ffn_gate": "gate_up", "ffn_up": "gate_up", "ffn_down": "down", "output": "head"}


def use_more_bits(layer, layers):
    return layer < layers // 8 or layer >= 7 * layers // 8 or (layer - layers // 8) % 3 == 2


def build(shape):
    special = {"blk.%d.%s" % (i, name): "Q6_K" for i in range(shape["layers"])
               for name in ("attn_v", "ffn_down") if use_more_bits(i, shape["layers"])}
    special["attn_output.weight"] = "Q4_K"
    special["output.weight"] = "Q6_K"
    return models.decoder("llama", shape["layers"], shape["d"], shape["heads"], shape["f"],
                          shape["vocab"], kv=shape["kv"], matrix="Q4_K", special=special)


def table(file):
    """{operator: {type: bytes}} of the matrices, and the bytes of all tensors."""
    kinds = {row[0]: (name, row) for name, row in TYPES.items()}
    operators, whole = {}, 0
    for name, dims, kind, _ in file.tensors:
        kind_name, (_, block, size) = kinds[kind]
        elements = 1
        for dim in dims:
            elements *= dim
        nbytes = elements // block * size
        whole += nbytes
        operator = OPERATORS.get(name.split(".")[-2])
        if operator and len(dims) > 1:
            by_type = operators.setdefault(operator, {})
            by_type[kind_name.lower()] = by_type.get(kind_name.lower(), 0) + nbytes
    return {"operators": operators, "bytes": whole}


if __name__ == "__main__":
    model = build(SHAPES[sys.argv[2]])
    with open(sys.argv[1], "wb") as out:
        out.write(model.file.bytes())
    print(json.dumps(table(model.file)))
