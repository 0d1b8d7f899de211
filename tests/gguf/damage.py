"""Damaged GGUF headers: each is one valid small file with one thing wrong. The second item of each
pair is what the one line of the error must name."""
import struct

from gguf_file import (ARRAY, BOOL, F32, F64, I8, I16, I32, I64, STRING, U8, U16, U32, U64, File,
                       Value)
from models import MODELS, decoder, latent


def small(**options):
    return decoder("llama", 2, 64, 4, 96, 40, kv=2, context=512, **options).file


def mixture(**options):
    return small(experts=4, used=2, **options)


def splice(file, change):
    change(file)
    return file.bytes()


def tensor(file, name):
    return next(t for t in file.tensors if t[0] == name)


def relay(file):
    """Lays the tensors back to back again after their sizes changed."""
    sizes = {0: (1, 4), 1: (1, 2), 8: (32, 34), 12: (256, 144)}
    end = 0
    for t in file.tensors:
        elements = 1
        for d in t[1]:
            elements *= d
        block, nbytes = sizes[t[2]]
        t[3] = end
        end += (elements // block * nbytes + file.alignment - 1) // file.alignment * file.alignment


def edit(**changes):
    """Changes keys of the small llama: None drops one."""
    def change(file):
        for key, value in changes.items():
            key = key.replace("__", ".")
            if value is None:
                file.drop(key)
            else:
                file.replace(key, value)
    return change


def set_tensor(name, index, value, again=False):
    def change(file):
        tensor(file, name)[index] = value
        if again:
            relay(file)
    return change


def swap_offsets(first, second):
    def change(file):
        a, b = tensor(file, first), tensor(file, second)
        a[3], b[3] = b[3], a[3]
    return change


def drop_tensor(name):
    def change(file):
        file.tensors.remove(tensor(file, name))
        relay(file)
    return change


def add_tensor(name, dims, kind="F32"):
    return lambda file: file.add(name, dims, kind)


def set_field(name, value):
    return lambda file: setattr(file, name, value)


Q = "blk.0.attn_q.weight"
BIG = 2**63


def metadata_cases():
    arch = "general__architecture"
    yield "no-architecture", edit(general__architecture=None), "general.architecture"
    yield "architecture-unknown", edit(general__architecture="mamba"), "'mamba'"
    yield "architecture-int", edit(**{arch: 7}), "general.architecture"
    yield "architecture-array", edit(**{arch: ["llama"]}), "general.architecture"
    yield "architecture-escape", edit(**{arch: "lla\x1b[31mma"}), "lla?[31mma"
    yield "architecture-nul", edit(**{arch: "llama\0x"}), "general.architecture"
    yield "architecture-bad-utf8", edit(**{arch: b"\xff\xfe\xc0\x80"}), "general.architecture"
    yield "architecture-long", edit(**{arch: "llama" * 400}), "general.architecture"
    yield "architecture-empty", edit(**{arch: ""}), "general.architecture"
    yield "adapter", edit(general__type="adapter"), "'adapter'"
    yield "mmproj", edit(general__type="mmproj"), "'mmproj'"
    yield "imatrix", edit(general__type="imatrix"), "'imatrix'"
    yield "type-int", edit(general__type=1), "general.type"
    yield "name-int", edit(general__name=5), "general.name"
    for key in ("block_count", "embedding_length", "attention.head_count"):
        name = "llama." + key
        dashed = key.replace(".", "-")
        yield "no-" + dashed, edit(**{name: None}), name
        yield dashed + "-string", edit(**{name: "2"}), name
        yield dashed + "-float", edit(**{name: 2.0}), name
        yield dashed + "-bool", edit(**{name: True}), name
        yield dashed + "-negative", edit(**{name: Value(I32, -2)}), name
        yield dashed + "-huge", edit(**{name: Value(U64, 2**64 - 1)}), name
        yield dashed + "-nested", edit(**{name: Value(ARRAY, [Value(ARRAY, [1], I32)], ARRAY)}), \
            name
    yield "block-count-zero", edit(llama__block_count=0), "llama.block_count"
    yield "block-count-2-32", edit(llama__block_count=Value(U64, 2**32)), "llama.block_count"
    yield "block-count-more", edit(llama__block_count=3), "blk.2."
    yield "block-count-fewer", edit(llama__block_count=1), "blk.1."
    yield "embedding-length-other", edit(llama__embedding_length=128), "token_embd.weight"
    yield "heads-zero", edit(**{"llama.attention.head_count": 0}), "head"
    yield "heads-other", edit(**{"llama.attention.head_count": 8}), "blk.0."
    yield "heads-no-divisor", edit(**{"llama.attention.head_count": 5}), "head"
    yield "kv-heads-zero", edit(**{"llama.attention.head_count_kv": 0}), "KV heads"
    yield "kv-heads-other", edit(**{"llama.attention.head_count_kv": 1}), "attn_k.weight"
    yield "kv-heads-no-divisor", edit(**{"llama.attention.head_count_kv": 3}), "KV heads"
    yield "kv-heads-array-short", edit(**{"llama.attention.head_count_kv": [2]}), "head_count_kv"
    yield "kv-heads-array-long", edit(**{"llama.attention.head_count_kv": [2, 2, 2]}), \
        "head_count_kv"
    yield "kv-heads-array-empty", edit(**{
        "llama.attention.head_count_kv": Value(ARRAY, [], I32)}), "head_count_kv"
    yield "kv-heads-array-float", edit(**{"llama.attention.head_count_kv": [2.0, 2.0]}), \
        "head_count_kv"
    yield "kv-heads-array-string", edit(**{"llama.attention.head_count_kv": ["2", "2"]}), \
        "head_count_kv"
    yield "kv-heads-array-negative", edit(**{"llama.attention.head_count_kv": [2, -2]}), \
        "head_count_kv"
    yield "kv-heads-array-differs", edit(**{"llama.attention.head_count_kv": [2, 4]}), "blk.1."
    yield "ff-other", edit(llama__feed_forward_length=95), "ffn_"
    yield "ff-array-long", edit(llama__feed_forward_length=[96, 96, 96]), "feed_forward_length"
    yield "key-length-other", edit(**{"llama.attention.key_length": 32}), "attn_q"
    yield "key-length-zero", edit(**{"llama.attention.key_length": 0}), "key_length"
    yield "key-length-2-63", edit(**{"llama.attention.key_length": Value(U64, BIG)}), "key_length"
    yield "window-string", edit(**{"llama.attention.sliding_window": "x"}), "sliding_window"
    yield "window-pattern-short", edit(**{
        "llama.attention.sliding_window": 64,
        "llama.attention.sliding_window_pattern": [True]}), "sliding_window_pattern"
    yield "rope-wider", edit(**{"llama.rope.dimension_count": 17}), "rope.dimension_count"
    yield "epsilon-string", edit(**{"llama.attention.layer_norm_rms_epsilon": "1e-5"}), \
        "layer_norm_rms_epsilon"
    yield "split-tensors-other", edit(split__count=Value(U16, 1), split__tensors__count=5), \
        "split.tensors.count"
    yield "nextn-all", edit(llama__nextn_predict_layers=2), "nextn_predict_layers"
    yield "experts-without-tensors", edit(llama__expert_count=4, llama__expert_used_count=2), \
        "llama.expert_count"
    yield "tokens-int", edit(tokenizer__ggml__tokens=[1, 2]), "tokenizer.ggml.tokens"
    yield "tokens-string", edit(tokenizer__ggml__tokens="abc"), "tokenizer.ggml.tokens"
    for alignment in (0, 1, 3, 7, 12, 24, 33, 2**31 + 1):
        yield "alignment-%d" % alignment, edit(general__alignment=alignment), "general.alignment"
    yield "alignment-string", edit(general__alignment="32"), "general.alignment"
    yield "alignment-negative", edit(general__alignment=Value(I32, -32)), "general.alignment"
    yield "alignment-2-63", edit(general__alignment=Value(U64, BIG)), "general.alignment"
    yield "shard-later", edit(split__no=Value(U16, 1), split__count=Value(U16, 3)), "shard 2 of 3"
    yield "shard-name", edit(split__no=Value(U16, 0), split__count=Value(U16, 3)), "00001-of-00003"
    yield "shard-string", edit(split__count="3"), "split.count"


def tensor_cases():
    yield "no-embedding", drop_tensor("token_embd.weight"), "token_embd.weight"
    yield "no-final-norm", drop_tensor("output_norm.weight"), "output_norm.weight"
    yield "no-attn-norm", drop_tensor("blk.1.attn_norm.weight"), "blk.1.attn_norm.weight"
    yield "no-ffn-norm", drop_tensor("blk.0.ffn_norm.weight"), "blk.0.ffn_norm.weight"
    yield "no-attn-k", drop_tensor("blk.0.attn_k.weight"), "blk.0.attn_k.weight"
    yield "no-attn-output", drop_tensor("blk.1.attn_output.weight"), "blk.1.attn_output.weight"
    yield "no-ffn-down", drop_tensor("blk.1.ffn_down.weight"), "blk.1.ffn_down.weight"
    yield "no-ffn-gate", drop_tensor("blk.1.ffn_gate.weight"), "blk.1.ffn_gate.weight"
    yield "tensor-unknown", add_tensor("blk.0.ssm_conv1d.weight", [4, 64]), "ssm_conv1d"
    yield "tensor-outside-unknown", add_tensor("v.patch_embd.weight", [4, 64]), "v.patch_embd"
    yield "tensor-layer-beyond", add_tensor("blk.7.attn_norm.weight", [64]), "blk.7."
    yield "tensor-layer-huge", add_tensor("blk.99999999999.attn_norm.weight", [64]), \
        "blk.99999999999"
    yield "tensor-layer-negative", add_tensor("blk.-1.attn_norm.weight", [64]), "blk.-1"
    yield "tensor-layer-zeros", add_tensor("blk.00.attn_norm.weight", [64]), "blk.00"
    yield "tensor-escape", set_tensor(Q, 0, "blk.0.\x1b[2Jattn_q.weight"), "blk.0.?[2Jattn_q"
    yield "tensor-bad-utf8", set_tensor(Q, 0, b"blk.0.\xff\xfe.weight"), "blk.0.??"
    yield "tensor-name-empty", set_tensor(Q, 0, ""), "name"
    yield "tensor-name-nul", set_tensor(Q, 0, "blk.0.attn_q.weight\0"), "blk.0.attn_q.weight?"
    yield "tensor-name-long", set_tensor(Q, 0, "x" * 65), "65 bytes"
    yield "tensor-twice", add_tensor("output_norm.weight", [64]), "output_norm.weight"
    yield "tensor-bias-alone", add_tensor("blk.0.attn_qkv.bias", [128]), "attn_qkv.bias"
    for kind in (4, 5, 31, 32, 33, 36, 37, 38, 43, 1000, 2**32 - 1):
        yield "type-%d" % kind, set_tensor(Q, 2, kind), str(kind)
        yield "type-%d-name" % kind, set_tensor(Q, 2, kind), Q
    yield "dims-none", set_tensor(Q, 1, []), Q
    yield "dims-five", set_tensor(Q, 1, [64, 64, 1, 1, 1]), Q
    yield "dims-zero", set_tensor(Q, 1, [64, 0]), Q
    yield "dims-zero-first", set_tensor(Q, 1, [0, 64]), Q
    yield "dims-wrap-to-zero", set_tensor(Q, 1, [2**32, 2**32]), Q
    yield "dims-wrap-to-one", set_tensor(Q, 1, [2**63 + 1, 3, 1]), Q
    yield "dims-wrap-small", set_tensor(Q, 1, [2**32 + 1, 2**32]), Q
    yield "dims-huge", set_tensor(Q, 1, [2**64 - 1, 2**64 - 1, 2**64 - 1, 2**64 - 1]), Q
    yield "dims-2-63", set_tensor(Q, 1, [BIG, 1]), Q
    yield "dims-bytes-wrap", set_tensor(Q, 1, [2**62, 1]), Q
    yield "dims-large", set_tensor(Q, 1, [2**30, 2**29], False), "blk.0."
    yield "dims-swapped", set_tensor("blk.0.ffn_up.weight", 1, [96, 64]), "blk.0.ffn_up.weight"
    yield "dims-three", set_tensor(Q, 1, [64, 32, 2]), Q
    yield "dims-ragged-block", set_tensor(Q, 2, 12), Q
    yield "vocab-differs", set_tensor("output.weight", 1, [64, 41], True), "output.weight"
    yield "norm-short", set_tensor("blk.0.attn_norm.weight", 1, [63], True), "attn_norm"
    yield "offset-misaligned", set_tensor(Q, 3, 5121), Q
    yield "offset-overlap", set_tensor("output.weight", 3, 0), "offset"
    yield "offset-swapped", swap_offsets("blk.0.ffn_gate.weight", "blk.0.ffn_up.weight"), "ffn_gate"
    yield "offset-gap", set_tensor("output.weight", 3, 2**20), "output.weight"
    yield "offset-outside", set_tensor("output.weight", 3, 2**40), "output.weight"
    yield "offset-2-63", set_tensor("output.weight", 3, BIG), "output.weight"
    yield "offset-max", set_tensor("output.weight", 3, 2**64 - 32), "output.weight"


def file_cases():
    yield "magic", set_field("magic", b"GGUE"), "47 47 55 46"
    yield "magic-lower", set_field("magic", b"gguf"), "47 47 55 46"
    yield "magic-reversed", set_field("magic", b"FUGG"), "47 47 55 46"
    for version in (0, 1, 4, 2**31, 0x00030003, 0x02000000 | 1):
        yield "version-%d" % version, set_field("version", version), "version"
    for count in (10**4, 2**20, 2**31, 2**32 - 1, 2**40, BIG, 2**64 - 1):
        yield "tensor-count-%d" % count, set_field("tensor_count", count), "tensor"
        yield "kv-count-%d" % count, set_field("value_count", count), ""
    yield "kv-count-fewer", set_field("value_count", 3), ""
    yield "tensor-count-fewer", set_field("tensor_count", 5), "tensor_count"
    yield "key-twice", lambda f: f.set("llama.block_count", 2), "llama.block_count"
    yield "key-twice-other-type", lambda f: f.set("general.type", 1), "general.type"
    yield "key-empty", lambda f: f.set("", 1), "key"
    yield "key-long", lambda f: f.set("k" * 65536, 1), "65536"
    yield "key-escape", lambda f: f.set("a\x1b]0;x\x07b", 1), "a?]0;x?b"
    yield "key-newline", lambda f: f.set("a\nlmroof: all is well", 1), "a?lmroof"
    yield "key-bad-utf8", lambda f: f.set(b"\xc3\x28", 1), "?("
    yield "array-of-arrays", lambda f: f.set("x.y", Value(
        ARRAY, [Value(ARRAY, [1, 2], I32)], ARRAY)), "x.y"
    yield "array-deep", lambda f: f.set("x.y", nested(10000)), "x.y"
    yield "bool-2", lambda f: f.values.append(("x.y", Raw(BOOL, b"\x02"))), "x.y"
    yield "bool-array-7", lambda f: f.values.append(
        ("x.y", Raw(ARRAY, struct.pack("<IQ", BOOL, 2) + b"\x01\x07"))), "x.y"
    for kind in (13, 255, 2**32 - 1):
        yield "value-type-%d" % kind, lambda f, k=kind: f.values.append(("x.y", Raw(k, b""))), "x.y"
        yield "element-type-%d" % kind, lambda f, k=kind: f.values.append(
            ("x.y", Raw(ARRAY, struct.pack("<IQ", k, 1) + b"\0"))), "x.y"
    for count in (10**6, 2**30 + 1, 2**32, 2**61, BIG, 2**64 - 1):
        yield "string-of-%d" % count, lambda f, c=count: f.values.append(
            ("x.y", Raw(STRING, struct.pack("<Q", c)))), "x.y"
        for kind in (U8, U64, STRING, BOOL):
            yield "array-%d-of-%d" % (kind, count), lambda f, c=count, k=kind: f.values.append(
                ("x.y", Raw(ARRAY, struct.pack("<IQ", k, c)))), "x.y"
    yield "key-length-2-64", lambda f: f.values.append((RawKey(2**64 - 1), Value(U8, 1))), "key"


class Raw(Value):
    """A value whose bytes are given."""

    def __init__(self, kind, data):
        super().__init__(kind, data)
        self.data = data


class RawKey:
    """A key that claims a length."""

    def __init__(self, length):
        self.length = length


def nested(depth):
    value = Value(ARRAY, [1], I32)
    for _ in range(depth):
        value = Raw(ARRAY, struct.pack("<IQ", ARRAY, 1) + (
            value.data if isinstance(value, Raw) else struct.pack("<IQI", I32, 1, 1)))
    return value


class DamagedFile(File):
    pass


def patch_file_class():
    contents, string = File.contents, File.string

    def contents_or_raw(self, value):
        return value.data if isinstance(value, Raw) else contents(self, value)

    def string_or_raw(self, text):
        if isinstance(text, RawKey):
            return struct.pack("<Q", text.length)
        return string(self, text)

    File.contents, File.string = contents_or_raw, string_or_raw


patch_file_class()


def expert_cases():
    yield "no-expert-used", edit(llama__expert_used_count=None), "expert_used_count"
    yield "expert-used-more", edit(llama__expert_used_count=5), "expert_used_count"
    yield "no-expert-count", edit(llama__expert_count=None), "ffn_gate_inp.weight"
    yield "expert-count-other", edit(llama__expert_count=8), "blk.0."
    yield "expert-width-other", edit(llama__expert_feed_forward_length=64), "_exps.weight"
    yield "no-router", drop_tensor("blk.1.ffn_gate_inp.weight"), "ffn_gate_inp"
    yield "no-experts-down", drop_tensor("blk.0.ffn_down_exps.weight"), "ffn_down_exps"


def single_cases():
    yield "single-lost", drop_tensor("blk.0.ffn_up.2.weight"), "ffn_up_exps"
    yield "single-beyond", set_tensor("blk.0.ffn_up.2.weight", 0, "blk.0.ffn_up.9.weight"), \
        "ffn_up.9"
    yield "single-and-stacked", add_tensor("blk.0.ffn_up_exps.weight", [64, 96, 4], "F16"), "ffn_up"


def latent_cases():
    yield "mla-no-rope", edit(**{"deepseek2.rope.dimension_count": None}), "rope.dimension_count"
    yield "mla-rope-wide", edit(**{"deepseek2.rope.dimension_count": 24}), "rope.dimension_count"
    yield "mla-rank-other", edit(**{"deepseek2.attention.kv_lora_rank": 16}), "attn_kv_a_mqa"
    yield "mla-no-rank", edit(**{"deepseek2.attention.kv_lora_rank": None}), "blk.0."
    yield "mla-no-v-b", drop_tensor("blk.0.attn_v_b.weight"), "attn_v_b"
    yield "mla-no-q", drop_tensor("blk.0.attn_q_b.weight"), "attn_q_b"


def small_latent():
    return latent(2, 64, 4, 96, 40, 32, 32, 16, 8, 16, 4, 2, 32, 1, 1).file


def big_endian(file):
    """A little-endian header with the rest big-endian, and the other way round."""
    return file.header()


def cases():
    """(name, bytes, word that the error must hold)"""
    groups = ((small, metadata_cases), (small, tensor_cases), (small, file_cases),
              (mixture, expert_cases), (lambda: mixture(single_experts=True), single_cases),
              (small_latent, latent_cases))
    for make, group in groups:
        for name, change, word in group():
            yield name, splice(make(), change), word
    little, big = small(), small(big_endian=True)
    yield "order-mixed", little.header() + big.bytes()[24:], ""
    yield "order-mixed-tensors", (little.header() + little.write_values()
                                  + b"".join(big.write_tensor(t) for t in big.tensors)), ""
    yield "order-counts", little.bytes()[:8] + big.bytes()[8:24] + little.bytes()[24:], "count"
    whole = little.bytes()
    fewer = small()
    fewer.tensor_count = len(fewer.tensors) - 1  # loses output.weight: not a tied model
    yield "tensor-count-one-fewer", fewer.bytes(), "tensor_count"
    yield "padding", whole + b"\x01" * 32, "zeros"
    for length in sorted({0, 1, 3, 4, 7, 8, 15, 16, 23, 24, 31, 40, len(whole) // 4,
                          len(whole) // 2, len(whole) - 40, len(whole) - 8, len(whole) - 1}):
        yield "truncated-%d" % length, whole[:length], ""
    yield "empty-values", File().bytes(), "general.architecture"
    yield "zeros", b"GGUF" + struct.pack("<I", 3) + bytes(4096), "general.architecture"
    yield "noise", b"GGUF" + struct.pack("<I", 3) + bytes(range(256)) * 16, ""
