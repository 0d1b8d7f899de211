#ifndef WORKLOADS_FAMILY_ADAPT_H
#define WORKLOADS_FAMILY_ADAPT_H

/** What single families have beyond a row of the table (families.c), one function each. Called
 *  after the common keys were read into shape. */

#include "workloads/families.h"

/** All layers see a window: the value of sliding_window, default_window where absent, none where
 *  null. layer_types, where given, says which. */
CHECKED struct status adapt_window_all(struct shape *shape, struct config *config,
                                       uint64_t default_window);

/** Window in every layer but each period-th ("sliding_window_pattern" where the config has it). */
CHECKED struct status adapt_window_pattern(struct shape *shape, struct config *config,
                                           uint64_t default_window, uint64_t default_period);

/** Which layers have a window by layer_types; *present is false if there is no such list. */
CHECKED struct status adapt_layer_types(bool *present, struct shape *shape, struct config *config);

/** Which layers have experts by mlp_layer_types, where there is such a list. */
CHECKED struct status adapt_mlp_types(struct shape *shape, struct config *config);

/** experts of width expert_width in every layer. */
void adapt_route_all(struct shape *shape);

struct status adapt_gpt2(struct shape *shape, struct config *config);
struct status adapt_gptj(struct shape *shape, struct config *config);
struct status adapt_phi_msft(struct shape *shape, struct config *config);
struct status adapt_gpt_bigcode(struct shape *shape, struct config *config);
struct status adapt_gpt_neo(struct shape *shape, struct config *config);
struct status adapt_gpt_neox(struct shape *shape, struct config *config);
struct status adapt_opt(struct shape *shape, struct config *config);
struct status adapt_bloom(struct shape *shape, struct config *config);
struct status adapt_mpt(struct shape *shape, struct config *config);
struct status adapt_hf_olmo(struct shape *shape, struct config *config);
struct status adapt_exaone(struct shape *shape, struct config *config);
struct status adapt_falcon(struct shape *shape, struct config *config);
struct status adapt_phi(struct shape *shape, struct config *config);
struct status adapt_stablelm(struct shape *shape, struct config *config);
struct status adapt_mistral(struct shape *shape, struct config *config);
struct status adapt_phimoe(struct shape *shape, struct config *config);
struct status adapt_phi3(struct shape *shape, struct config *config);
struct status adapt_starcoder2(struct shape *shape, struct config *config);
struct status adapt_mixtral(struct shape *shape, struct config *config);
struct status adapt_qwen(struct shape *shape, struct config *config);
struct status adapt_qwen2(struct shape *shape, struct config *config);
struct status adapt_qwen3(struct shape *shape, struct config *config);
struct status adapt_qwen2_moe(struct shape *shape, struct config *config);
struct status adapt_qwen3_moe(struct shape *shape, struct config *config);
struct status adapt_gemma2(struct shape *shape, struct config *config);
struct status adapt_gemma3(struct shape *shape, struct config *config);
struct status adapt_olmo2(struct shape *shape, struct config *config);
struct status adapt_olmo3(struct shape *shape, struct config *config);
struct status adapt_olmoe(struct shape *shape, struct config *config);
struct status adapt_deepseek(struct shape *shape, struct config *config);
struct status adapt_deepseek_v2(struct shape *shape, struct config *config);
struct status adapt_deepseek_v3(struct shape *shape, struct config *config);
struct status adapt_minicpm(struct shape *shape, struct config *config);
struct status adapt_minicpm3(struct shape *shape, struct config *config);
struct status adapt_gpt_oss(struct shape *shape, struct config *config);
struct status adapt_cohere(struct shape *shape, struct config *config);
struct status adapt_cohere2(struct shape *shape, struct config *config);
struct status adapt_granitemoe(struct shape *shape, struct config *config);
struct status adapt_chatglm(struct shape *shape, struct config *config);
struct status adapt_llama4(struct shape *shape, struct config *config);
struct status adapt_smollm3(struct shape *shape, struct config *config);

#endif
