"""GGUF headers of public models, tensor by tensor as llama.cpp's converter writes them, with
totals that come from elsewhere (model cards, the safetensors index, hand counts of the config)."""
from gguf_file import BOOL, File, I32, TYPES, U32, U64, Value


class Model:
    """Collects tensors; chooses their types by a recipe."""

    def __init__(self, arch, matrix="F16", big_endian=False, version=3, alignment=32, norms="F32",
                 special=None, tokens=0):
        self.file = File(big_endian, version, alignment)
        self.arch, self.matrix, self.norms = arch, matrix, norms
        self.special = special or {}
        self.nbytes = 0
        if tokens:
            self.file.set("tokenizer.ggml.tokens", ["t%d" % i for i in range(tokens)])
        self.file.set("general.architecture", arch)
        self.file.set("general.type", "model")

    def keys(self, **keys):
        for key, value in keys.items():
            if value is not None:
                self.file.set("%s.%s" % (self.arch, key.replace("__", ".")), value)

    def kind(self, name, dims):
        for part, kind in self.special.items():
            if part in name:
                return kind
        if len(dims) == 1:
            return self.norms
        block = TYPES[self.matrix][1]
        if dims[0] % block:
            return "Q8_0" if dims[0] % 32 == 0 else "F16"
        return self.matrix

    def add(self, name, *dims):
        self.nbytes += self.file.add(name, dims, self.kind(name, dims))

    def linear(self, name, n, k, bias=False):
        self.add(name + ".weight", k, n)
        if bias:
            self.add(name + ".bias", n)

    def norm(self, name, d, bias=False):
        self.add(name + ".weight", d)
        if bias:
            self.add(name + ".bias", d)


def decoder(arch, layers, d, heads, f, vocab, kv=None, k=None, v=None, tied=False, bias=(),
            norm_bias=False, rms=True, gated=True, fused_gate=False, fused_qkv=False,
            norms=("attn_norm", "ffn_norm"), qk_norm=None, positions=0, head_bias=False,
            experts=0, used=0, f_e=None, shared=0, shared_gate=False, dense=0, single_experts=False,
            window=None, pattern=None, context=4096, embed_norm=False, router_bias=False,
            sinks=False, tables=(), final_norm=True, extra=None, f_key="same", **options):
    """One of the regular families. bias: names of the matrices that have one."""
    m = Model(arch, **options)
    kv = heads if kv is None else kv
    k_told, k = k, d // heads if k is None else k
    v = k if v is None else v
    m.keys(block_count=layers, embedding_length=d, context_length=context,
           attention__head_count=heads, attention__head_count_kv=kv,
           feed_forward_length=f if f_key == "same" else f_key,
           attention__key_length=k_told, attention__value_length=k_told and v,
           expert_count=experts or None, expert_used_count=used or None,
           expert_feed_forward_length=f_e, expert_shared_feed_forward_length=shared or None,
           leading_dense_block_count=dense or None, attention__sliding_window=window,
           attention__sliding_window_pattern=pattern)
    m.keys(**{"attention__layer_norm_rms_epsilon" if rms else "attention__layer_norm_epsilon": 1e-5})
    m.keys(**(extra or {}))
    m.add("token_embd.weight", d, vocab)
    if embed_norm:
        m.norm("token_embd_norm", d, norm_bias)
    if positions:
        m.add("position_embd.weight", d, positions)
    for name, size in tables:
        m.add(name, size)
    for i in range(layers):
        blk = "blk.%d." % i
        for name in norms:
            m.norm(blk + name, d, norm_bias)
        if fused_qkv:
            m.linear(blk + "attn_qkv", heads * k + kv * (k + v), d, "attn_qkv" in bias)
        else:
            m.linear(blk + "attn_q", heads * k, d, "attn_q" in bias)
            m.linear(blk + "attn_k", kv * k, d, "attn_k" in bias)
            m.linear(blk + "attn_v", kv * v, d, "attn_v" in bias)
        m.linear(blk + "attn_output", d, heads * v, "attn_output" in bias)
        if qk_norm == "head":
            m.norm(blk + "attn_q_norm", k)
            m.norm(blk + "attn_k_norm", k)
        elif qk_norm == "each":
            m.add(blk + "attn_q_norm.weight", k, heads)
            m.add(blk + "attn_k_norm.weight", k, kv)
        elif qk_norm == "full":
            m.norm(blk + "attn_q_norm", heads * k)
            m.norm(blk + "attn_k_norm", kv * k)
        if sinks:
            m.add(blk + "attn_sinks.weight", heads)
        if experts and i >= dense:
            mixture(m, blk, d, f_e or f, experts, gated, single_experts, bias, router_bias)
            if shared:
                for name in ("gate", "up"):
                    m.linear(blk + "ffn_%s_shexp" % name, shared, d)
                m.linear(blk + "ffn_down_shexp", d, shared)
                if shared_gate:
                    m.add(blk + "ffn_gate_inp_shexp.weight", d)
            continue
        if gated and not fused_gate:
            m.linear(blk + "ffn_gate", f, d, "ffn_gate" in bias)
        m.linear(blk + "ffn_up", 2 * f if fused_gate else f, d, "ffn_up" in bias)
        m.linear(blk + "ffn_down", d, f, "ffn_down" in bias)
    if final_norm:
        m.norm("output_norm", d, norm_bias)
    if not tied:
        m.linear("output", vocab, d, head_bias)
    return m


def mixture(m, blk, d, f, experts, gated, single, bias, router_bias):
    m.linear(blk + "ffn_gate_inp", experts, d, router_bias)
    for name, n, k in (("gate", f, d), ("up", f, d), ("down", d, f)):
        if name == "gate" and not gated:
            continue
        if single:
            for e in range(experts):
                m.add(blk + "ffn_%s.%d.weight" % (name, e), k, n)
        else:
            m.add(blk + "ffn_%s_exps.weight" % name, k, n, experts)
            if "exps" in bias:
                m.add(blk + "ffn_%s_exps.bias" % name, n, experts)


def latent(layers, d, heads, f, vocab, q_rank, kv_rank, k_n, k_r, k_v, experts, used, f_e, shared,
           dense, mtp=0, absorbed=True, arch="deepseek2", tied=False, **options):
    """DeepSeek-V2 and V3. absorbed: K and V parts of kv_b apart, with the *_mla keys."""
    m = Model(arch, **options)
    m.keys(block_count=layers + mtp, embedding_length=d, context_length=163840,
           feed_forward_length=f, attention__head_count=heads,
           attention__head_count_kv=1 if absorbed else heads,
           attention__key_length=kv_rank + k_r if absorbed else k_n + k_r,
           attention__value_length=kv_rank if absorbed else k_v,
           attention__key_length_mla=k_n + k_r if absorbed else None,
           attention__value_length_mla=k_v if absorbed else None,
           attention__q_lora_rank=q_rank, attention__kv_lora_rank=kv_rank,
           rope__dimension_count=k_r, expert_count=experts, expert_used_count=used,
           expert_feed_forward_length=f_e, expert_shared_count=shared,
           leading_dense_block_count=dense, nextn_predict_layers=mtp or None,
           attention__layer_norm_rms_epsilon=1e-6)
    m.add("token_embd.weight", d, vocab)
    for i in range(layers + mtp):
        blk = "blk.%d." % i
        m.norm(blk + "attn_norm", d)
        if q_rank:
            m.linear(blk + "attn_q_a", q_rank, d)
            m.norm(blk + "attn_q_a_norm", q_rank)
            m.linear(blk + "attn_q_b", heads * (k_n + k_r), q_rank)
        else:
            m.linear(blk + "attn_q", heads * (k_n + k_r), d)
        m.linear(blk + "attn_kv_a_mqa", kv_rank + k_r, d)
        m.norm(blk + "attn_kv_a_norm", kv_rank)
        if absorbed:
            m.add(blk + "attn_k_b.weight", k_n, kv_rank, heads)
            m.add(blk + "attn_v_b.weight", kv_rank, k_v, heads)
        else:
            m.linear(blk + "attn_kv_b", heads * (k_n + k_v), kv_rank)
        m.linear(blk + "attn_output", d, heads * k_v)
        m.norm(blk + "ffn_norm", d)
        if i < dense:
            for name in ("gate", "up"):
                m.linear(blk + "ffn_" + name, f, d)
            m.linear(blk + "ffn_down", d, f)
            continue
        mixture(m, blk, d, f_e, experts, True, False, (), False)
        if q_rank and kv_rank == 512 and experts == 256:
            m.add(blk + "exp_probs_b.bias", experts)
        for name in ("gate", "up"):
            m.linear(blk + "ffn_%s_shexp" % name, shared * f_e, d)
        m.linear(blk + "ffn_down_shexp", d, shared * f_e)
        if i >= layers:
            m.linear(blk + "nextn.eh_proj", d, 2 * d)
            m.norm(blk + "nextn.enorm", d)
            m.norm(blk + "nextn.hnorm", d)
            m.norm(blk + "nextn.shared_head_norm", d)
    m.norm("output_norm", d)
    if not tied:
        m.linear("output", vocab, d)
    return m


QKV = ("attn_q", "attn_k", "attn_v")
ALL = ("attn_qkv", "attn_output", "ffn_up", "ffn_down")
LN = {"norm_bias": True, "rms": False, "gated": False}


def llama_1b(**options):
    return decoder("llama", 16, 2048, 32, 8192, 128256, kv=8, k=64, tied=True,
                   tables=(("rope_freqs.weight", 32),), context=131072, **options)


# name: (how to make it, parameters.total, kv values a token over all layers)
MODELS = {
    "llama-3.2-1b": (lambda: llama_1b(), 1235814400, 16384),
    "llama-3.2-1b-big-endian": (lambda: llama_1b(big_endian=True), 1235814400, 16384),
    "llama-3.2-1b-v2": (lambda: llama_1b(version=2), 1235814400, 16384),
    "llama-3.2-1b-q4_k": (lambda: llama_1b(
        matrix="Q4_K", alignment=64, special={"ffn_down": "Q6_K", "token_embd": "Q6_K"}),
        1235814400, 16384),
    "llama-3.2-1b-tokens": (lambda: llama_1b(tokens=128256), 1235814400, 16384),
    "llama-2-7b": (lambda: decoder("llama", 32, 4096, 32, 11008, 32000, matrix="Q4_0",
                                   special={"output.weight": "Q6_K"}), 6738415616, 262144),
    "llama-3-8b": (lambda: decoder("llama", 32, 4096, 32, 14336, 128256, kv=8), 8030261248, 65536),
    "tinyllama-1.1b": (lambda: decoder("llama", 22, 2048, 32, 5632, 32000, kv=4), 1100048384,
                       11264),
    "mistral-7b": (lambda: decoder("llama", 32, 4096, 32, 14336, 32000, kv=8, window=4096),
                   7241732096, 65536),
    "mixtral-8x7b": (lambda: decoder("llama", 32, 4096, 32, 14336, 32000, kv=8, experts=8, used=2),
                     46702792704, 65536),
    "mixtral-8x7b-single": (lambda: decoder(
        "llama", 32, 4096, 32, 14336, 32000, kv=8, experts=8, used=2, single_experts=True,
        matrix="Q4_K"), 46702792704, 65536),
    "qwen2.5-0.5b": (lambda: decoder("qwen2", 24, 896, 14, 4864, 151936, kv=2, tied=True, bias=QKV),
                     494032768, 6144),
    "qwen3-0.6b": (lambda: decoder("qwen3", 28, 1024, 16, 3072, 151936, kv=8, k=128, tied=True,
                                   qk_norm="head"), 596049920, 57344),
    "qwen3-30b-a3b": (lambda: decoder("qwen3moe", 48, 2048, 32, 6144, 151936, kv=4, k=128,
                                      qk_norm="head", experts=128, used=8, f_e=768, matrix="Q4_K"),
                      30532122624, 49152),
    "qwen1.5-moe-a2.7b": (lambda: decoder(
        "qwen2moe", 24, 2048, 16, 5632, 151936, bias=QKV, experts=60, used=4, f_e=1408,
        shared=5632, shared_gate=True), 14315784192, 98304),
    "gemma-2b": (lambda: decoder("gemma", 18, 2048, 8, 16384, 256000, kv=1, k=256, tied=True),
                 2506172416, 9216),
    "gemma-2-2b": (lambda: decoder(
        "gemma2", 26, 2304, 8, 9216, 256000, kv=4, k=256, tied=True, window=4096,
        norms=("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm")), 2614341888,
        53248),
    "gemma-3-1b": (lambda: decoder(
        "gemma3", 26, 1152, 4, 6912, 262144, kv=1, k=256, tied=True, window=512, qk_norm="head",
        norms=("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm")), 999885952,
        13312),
    "phi-2": (lambda: decoder(
        "phi2", 32, 2560, 32, 10240, 51200, fused_qkv=True, bias=ALL, norms=("attn_norm",),
        head_bias=True, extra={"rope__dimension_count": 32}, **LN), 2779683840, 163840),
    "phi-3-mini": (lambda: decoder(
        "phi3", 32, 3072, 32, 8192, 32064, fused_qkv=True, fused_gate=True, window=2047,
        tables=(("rope_factors_long.weight", 48), ("rope_factors_short.weight", 48))), 3821079552,
        196608),
    "gpt2": (lambda: decoder("gpt2", 12, 768, 12, 3072, 50257, tied=True, fused_qkv=True, bias=ALL,
                             positions=1024, **LN), 124439808, 18432),
    "gptj-6b": (lambda: decoder(
        "gptj", 28, 4096, 16, 16384, 50400, bias=("ffn_up", "ffn_down"), norms=("attn_norm",),
        head_bias=True, extra={"rope__dimension_count": 64}, **LN), 6050882784, 229376),
    "pythia-160m": (lambda: decoder(
        "gptneox", 12, 768, 12, 3072, 50304, fused_qkv=True, bias=ALL,
        extra={"rope__dimension_count": 16}, **LN), 162322944, 18432),
    "bloom-560m": (lambda: decoder("bloom", 24, 1024, 16, 4096, 250880, tied=True, fused_qkv=True,
                                   bias=ALL, embed_norm=True, **LN), 559214592, 49152),
    "falcon-7b": (lambda: decoder(
        "falcon", 32, 4544, 71, 18176, 65024, kv=1, tied=True, fused_qkv=True,
        norms=("attn_norm",), **LN), 6921720704, 4096),
    "mpt-7b": (lambda: decoder("mpt", 32, 4096, 32, 16384, 50432, tied=True, fused_qkv=True,
                               rms=False, gated=False), 6649286656, 262144),
    "starcoder2-3b": (lambda: decoder(
        "starcoder2", 30, 3072, 24, 12288, 49152, kv=2, tied=True, bias=QKV + ALL, window=4096,
        **LN), 3030371328, 15360),
    "olmo-1b": (lambda: decoder("olmo", 16, 2048, 16, 8192, 50304, tied=True, norms=(),
                                final_norm=False, rms=False), 1176764416, 65536),
    "olmo2-7b": (lambda: decoder(
        "olmo2", 32, 4096, 32, 11008, 100352, qk_norm="full",
        norms=("post_attention_norm", "post_ffw_norm")), 7298617344, 262144),
    "deepseek-v2-lite": (lambda: latent(27, 2048, 16, 10944, 102400, None, 512, 128, 64, 128, 64, 6,
                                        1408, 2, 1, absorbed=False), 15706484224, 15552),
    "deepseek-v3": (lambda: latent(61, 7168, 128, 18432, 129280, 1536, 512, 128, 64, 128, 256, 8,
                                   2048, 1, 3, mtp=1, matrix="Q4_K"), 671026419200, 35136),
    "command-r": (lambda: decoder("command-r", 40, 8192, 64, 22528, 256000, tied=True,
                                  norms=("attn_norm",), rms=False), 34980831232, 655360),
    "stablelm-3b": (lambda: decoder("stablelm", 32, 2560, 32, 6912, 50304, norm_bias=True,
                                    rms=False, extra={"rope__dimension_count": 20}), 2795443200,
                    163840),
    "granite-3.1-2b": (lambda: decoder("granite", 40, 2048, 32, 8192, 49155, kv=8, tied=True),
                       2533531648, 40960),
    "gpt-oss-20b": (lambda: decoder(
        "gpt-oss", 24, 2880, 64, 2880, 201088, kv=8, k=64, experts=32, used=4, f_e=2880,
        window=128, sinks=True, bias=QKV + ("attn_output", "exps"), router_bias=True,
        norms=("attn_norm", "post_attention_norm"), special={"exps.weight": "MXFP4"}),
        20914757184, 24576),
    "command-r7b": (lambda: decoder(
        "cohere2", 32, 4096, 32, 14336, 256000, kv=8, k=128, tied=True, norms=("attn_norm",),
        rms=False, window=4096), 8028033024, 65536),
    "command-r-plus": (lambda: decoder(
        "command-r", 64, 12288, 96, 33792, 256000, kv=8, tied=True, norms=("attn_norm",),
        rms=False, qk_norm="each"), 103810674688, 131072),
    "chatglm3-6b": (lambda: decoder(
        "chatglm", 28, 4096, 32, 13696, 65024, kv=2, fused_qkv=True, fused_gate=True,
        bias=("attn_qkv",), extra={"rope__dimension_count": 64}), 6243584000, 14336),
    "minicpm3-4b": (lambda: latent(62, 2560, 40, 6400, 73448, 768, 256, 64, 32, 64, 0, 0, 0, 0, 62,
                                   absorbed=False, arch="minicpm3", tied=True), 4073875968, 17856),
    "nemotron-mini-4b": (lambda: decoder(
        "nemotron", 32, 3072, 24, 9216, 256000, kv=8, k=128,
        extra={"rope__dimension_count": 64}, **LN), 4190509056, 65536),
    "olmoe-1b-7b": (lambda: decoder("olmoe", 16, 2048, 16, 1024, 50304, qk_norm="full", experts=64,
                                    used=8), 6919161856, 65536),
    "falcon-40b": (lambda: decoder(
        "falcon", 60, 8192, 128, 32768, 65024, kv=8, tied=True, fused_qkv=True,
        norms=("attn_norm", "attn_norm_2"), **LN), 41303293952, 61440),
    "llama-4-scout": (lambda: decoder(
        "llama4", 48, 5120, 40, 16384, 202048, kv=8, k=128, experts=16, used=1, f_e=8192,
        shared=8192, extra={"interleave_moe_layer_step": 1}), 107769861120, 98304),
    "baichuan-13b": (lambda: decoder("baichuan", 40, 5120, 40, 13696, 64000), 13264901120, 409600),
    "starcoder": (lambda: decoder(
        "starcoder", 40, 6144, 48, 24576, 49152, kv=1, tied=True, fused_qkv=True, bias=ALL,
        positions=8192, **LN), 15517456384, 10240),
    "deepseek-moe-16b": (lambda: decoder(
        "deepseek", 28, 2048, 16, 10944, 102400, experts=64, used=6, f_e=1408, shared=2816,
        dense=1), 16375728128, 114688),
    "qwen2-57b-a14b": (lambda: decoder(
        "qwen2moe", 28, 3584, 28, 18944, 151936, kv=4, bias=QKV, experts=64, used=8, f_e=2560,
        shared=20480, shared_gate=True), 57408658944, 28672),
    "stablelm-2-12b": (lambda: decoder(
        "stablelm", 40, 5120, 32, 13824, 100352, kv=8, norms=("attn_norm",),
        norm_bias=True, rms=False, qk_norm="each", extra={"rope__dimension_count": 40}),
        12143185920, 102400),
    "deepseek-v2": (lambda: latent(60, 5120, 128, 12288, 102400, 1536, 512, 128, 64, 128, 160, 6,
                                   1536, 2, 1), 235741434880, 34560),
    "phi-4": (lambda: decoder("phi3", 40, 5120, 40, 17920, 100352, kv=10, fused_qkv=True,
                              fused_gate=True), 14659507200, 102400),
    "internlm2-7b": (lambda: decoder("internlm2", 32, 4096, 32, 14336, 92544, kv=8), 7737708544,
                     65536),
}


def nemotron_51b_like(layers=4):
    """Per-layer arrays: other KV heads and widths in each layer, one without attention."""
    m = Model("deci")
    heads, kv, ff = [8, 8, 0, 8], [4, 2, 0, 0], [512, 1024, 1024, 0]
    d, k, vocab = 512, 64, 1000
    m.keys(block_count=layers, embedding_length=d, attention__head_count=heads,
           attention__head_count_kv=Value(9, kv, U32), feed_forward_length=Value(9, ff, U64),
           attention__key_length=k, attention__value_length=k,
           attention__layer_norm_rms_epsilon=1e-5)
    m.add("token_embd.weight", d, vocab)
    total = 2 * d * vocab + d
    for i in range(layers):
        blk = "blk.%d." % i
        if heads[i] and kv[i]:
            m.norm(blk + "attn_norm", d)
            m.linear(blk + "attn_q", heads[i] * k, d)
            m.linear(blk + "attn_k", kv[i] * k, d)
            m.linear(blk + "attn_v", kv[i] * k, d)
            total += d + d * k * (heads[i] + 2 * kv[i])
        if heads[i]:
            m.linear(blk + "attn_output", d, d if kv[i] == 0 else heads[i] * k)
            total += d * d
        if kv[i] == 0 and heads[i]:
            m.norm(blk + "attn_norm", d)
            total += d
        if ff[i]:
            m.norm(blk + "ffn_norm", d)
            m.linear(blk + "ffn_gate", ff[i], d)
            m.linear(blk + "ffn_up", ff[i], d)
            m.linear(blk + "ffn_down", d, ff[i])
            total += d + 3 * d * ff[i]
    m.norm("output_norm", d)
    m.linear("output", vocab, d)
    return m, total, (4 + 2) * 2 * k
