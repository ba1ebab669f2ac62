#include <algorithm>

#include "model/families/family.h"

namespace tern {
namespace {

constexpr TensorName kOuterNames[] = {{"token_embd", "model.embed_tokens"},
                                      {"output_norm", "model.norm"},
                                      {"output", "lm_head"},
                                      {"per_layer_token_embd", "model.embed_tokens_per_layer"},
                                      {"per_layer_model_proj", "model.per_layer_model_projection"},
                                      {"per_layer_proj_norm", "model.per_layer_projection_norm"}};

// inner_attn_ln and ffn_layernorm are 1bitLLM's spellings. In Phi-3, ffn_up holds both gate and up.
constexpr TensorName kUsualNames[] = {
    {"attn_norm", "input_layernorm"},
    {"attn_q", "self_attn.q_proj", true},
    {"attn_k", "self_attn.k_proj", true},
    {"attn_v", "self_attn.v_proj", true},
    {"attn_qkv", "self_attn.qkv_proj", true},
    {"attn_q_norm", "self_attn.q_norm"},
    {"attn_k_norm", "self_attn.k_norm"},
    {"attn_sub_norm", "self_attn.attn_sub_norm"},
    {"attn_sub_norm", "self_attn.inner_attn_ln"},
    {"attn_output", "self_attn.o_proj", true},
    {"ffn_norm", "post_attention_layernorm"},
    {"ffn_gate", "mlp.gate_proj", true},
    {"ffn_up", "mlp.up_proj", true},
    {"ffn_up", "mlp.gate_up_proj", true},
    {"ffn_sub_norm", "mlp.ffn_sub_norm"},
    {"ffn_sub_norm", "mlp.ffn_layernorm"},
    {"ffn_down", "mlp.down_proj", true},
};

constexpr TensorName kGemmaNames[] = {
    {"attn_norm", "input_layernorm"},
    {"attn_q", "self_attn.q_proj", true},
    {"attn_k", "self_attn.k_proj", true},
    {"attn_v", "self_attn.v_proj", true},
    {"attn_q_norm", "self_attn.q_norm"},
    {"attn_k_norm", "self_attn.k_norm"},
    {"attn_output", "self_attn.o_proj", true},
    {"post_attention_norm", "post_attention_layernorm"},
    {"ffn_norm", "pre_feedforward_layernorm"},
    {"ffn_gate", "mlp.gate_proj", true},
    {"ffn_up", "mlp.up_proj", true},
    {"ffn_down", "mlp.down_proj", true},
    {"post_ffw_norm", "post_feedforward_layernorm"},
};

// The tensors of mixtures as transformers keeps them in memory.
#define TERN_JOINED_EXPERT_NAMES(BEFORE)    \
  {.gguf = "ffn_gate_exps.weight",          \
   .hf = BEFORE "experts.gate_up_proj",     \
   .is_whole = true,                        \
   .change = HfChange::kFirstHalf},         \
      {.gguf = "ffn_up_exps.weight",        \
       .hf = BEFORE "experts.gate_up_proj", \
       .is_whole = true,                    \
       .change = HfChange::kLastHalf},      \
      {.gguf = "ffn_down_exps.weight", .hf = BEFORE "experts.down_proj", .is_whole = true, .change = HfChange::kNone},

// These, and those that are published: one matrix for each expert.
#define TERN_EXPERT_NAMES                                                                                           \
  {"ffn_gate_inp", "mlp.gate", true},                                                                               \
      {.gguf = "ffn_gate_exps", .hf = "mlp.experts.*.gate_proj", .change = HfChange::kStack},                       \
      {.gguf = "ffn_up_exps", .hf = "mlp.experts.*.up_proj", .change = HfChange::kStack},                           \
      {.gguf = "ffn_down_exps", .hf = "mlp.experts.*.down_proj", .change = HfChange::kStack},                       \
      TERN_JOINED_EXPERT_NAMES("mlp."){"ffn_gate_shexp", "mlp.shared_expert.gate_proj", true},                      \
      {"ffn_up_shexp", "mlp.shared_expert.up_proj", true}, {"ffn_down_shexp", "mlp.shared_expert.down_proj", true}, \
      {"ffn_gate_inp_shexp", "mlp.shared_expert_gate", true},

constexpr TensorName kExpertNames[] = {{"attn_norm", "input_layernorm"},
                                       {"attn_q", "self_attn.q_proj", true},
                                       {"attn_k", "self_attn.k_proj", true},
                                       {"attn_v", "self_attn.v_proj", true},
                                       {"attn_q_norm", "self_attn.q_norm"},
                                       {"attn_k_norm", "self_attn.k_norm"},
                                       {"attn_output", "self_attn.o_proj", true},
                                       {"ffn_norm", "post_attention_layernorm"},
                                       TERN_EXPERT_NAMES};

constexpr TensorName kGemma4Names[] = {
    {"attn_norm", "input_layernorm"},
    {"attn_q", "self_attn.q_proj", true},
    {"attn_k", "self_attn.k_proj", true},
    {"attn_v", "self_attn.v_proj", true},
    {"attn_q_norm", "self_attn.q_norm"},
    {"attn_k_norm", "self_attn.k_norm"},
    {"attn_output", "self_attn.o_proj", true},
    {"post_attention_norm", "post_attention_layernorm"},
    {"ffn_norm", "pre_feedforward_layernorm"},
    {"ffn_gate", "mlp.gate_proj", true},
    {"ffn_up", "mlp.up_proj", true},
    {"ffn_down", "mlp.down_proj", true},
    {"post_ffw_norm", "post_feedforward_layernorm"},
    {"inp_gate", "per_layer_input_gate", true},
    {"proj", "per_layer_projection", true},
    {"post_norm", "post_per_layer_input_norm"},
    {.gguf = "layer_output_scale.weight", .hf = "layer_scalar", .is_whole = true},
    {"ffn_gate_inp", "router.proj", true},
    {.gguf = "ffn_gate_inp.scale", .hf = "router.scale", .is_whole = true},
    {.gguf = "ffn_down_exps.scale", .hf = "router.per_expert_scale", .is_whole = true},
    {"pre_ffw_norm_2", "pre_feedforward_layernorm_2"},
    {"post_ffw_norm_1", "post_feedforward_layernorm_1"},
    {"post_ffw_norm_2", "post_feedforward_layernorm_2"},
    TERN_JOINED_EXPERT_NAMES("")};

// In recurrent layers converters also reorder the heads of values, which DeltaConfig::is_tiled describes.
constexpr TensorName kQwen35Names[] = {
    {"attn_norm", "input_layernorm"},
    {"attn_q", "self_attn.q_proj", true},
    {"attn_k", "self_attn.k_proj", true},
    {"attn_v", "self_attn.v_proj", true},
    {"attn_q_norm", "self_attn.q_norm"},
    {"attn_k_norm", "self_attn.k_norm"},
    {"attn_output", "self_attn.o_proj", true},
    {"attn_qkv", "linear_attn.in_proj_qkv", true},
    {"attn_gate", "linear_attn.in_proj_z", true},
    {"ssm_alpha", "linear_attn.in_proj_a", true},
    {"ssm_beta", "linear_attn.in_proj_b", true},
    {"ssm_out", "linear_attn.out_proj", true},
    {.gguf = "ssm_conv1d", .hf = "linear_attn.conv1d", .change = HfChange::kSqueeze},
    {.gguf = "ssm_norm", .hf = "linear_attn.norm", .change = HfChange::kNone},
    {.gguf = "ssm_a", .hf = "linear_attn.A_log", .is_whole = true, .change = HfChange::kNegatedExp},
    {.gguf = "ssm_dt.bias", .hf = "linear_attn.dt_bias", .is_whole = true},
    {"post_attention_norm", "post_attention_layernorm"},
    {"ffn_gate", "mlp.gate_proj", true},
    {"ffn_up", "mlp.up_proj", true},
    {"ffn_down", "mlp.down_proj", true},
    TERN_EXPERT_NAMES};
#undef TERN_EXPERT_NAMES
#undef TERN_JOINED_EXPERT_NAMES

// A tensor of gpt-oss's experts, in MXFP4 or in floats, and their biases.
#define TERN_GPT_OSS_EXPERTS(GGUF, HF, CHANGE)                                                                   \
  {.gguf = GGUF ".weight", .hf = "mlp.experts." HF, .is_whole = true, .change = HfChange::CHANGE},               \
      {.gguf = GGUF ".weight", .hf = "mlp.experts." HF "_blocks", .is_whole = true, .change = HfChange::CHANGE}, \
      {.gguf = GGUF ".weight", .hf = "mlp.experts." HF "_scales", .is_whole = true, .change = HfChange::CHANGE}, \
      {.gguf = GGUF ".bias", .hf = "mlp.experts." HF "_bias", .is_whole = true, .change = HfChange::CHANGE},

constexpr TensorName kGptOssNames[] = {{"attn_norm", "input_layernorm"},
                                       {"attn_q", "self_attn.q_proj", true},
                                       {"attn_k", "self_attn.k_proj", true},
                                       {"attn_v", "self_attn.v_proj", true},
                                       {.gguf = "attn_sinks.weight", .hf = "self_attn.sinks", .is_whole = true},
                                       {"attn_output", "self_attn.o_proj", true},
                                       {"post_attention_norm", "post_attention_layernorm"},
                                       {"ffn_gate_inp", "mlp.router", true},
                                       TERN_GPT_OSS_EXPERTS("ffn_gate_exps", "gate_up_proj", kEvenRows)
                                           TERN_GPT_OSS_EXPERTS("ffn_up_exps", "gate_up_proj", kOddRows)
                                               TERN_GPT_OSS_EXPERTS("ffn_down_exps", "down_proj", kAllRows)};
#undef TERN_GPT_OSS_EXPERTS

constexpr TensorName kHunyuanNames[] = {
    {"attn_norm", "input_layernorm"},
    {"attn_q", "self_attn.q_proj", true},
    {"attn_k", "self_attn.k_proj", true},
    {"attn_v", "self_attn.v_proj", true},
    {"attn_q_norm", "self_attn.query_layernorm"},
    {"attn_k_norm", "self_attn.key_layernorm"},
    {"attn_output", "self_attn.o_proj", true},
    {"ffn_norm", "post_attention_layernorm"},
    {"ffn_gate", "mlp.gate_proj", true},
    {"ffn_up", "mlp.up_proj", true},
    {"ffn_down", "mlp.down_proj", true},
};

constexpr Family bitnet(std::string_view architecture, std::string_view model_type) {
  return {.architecture = architecture,
          .model_type = model_type,
          .parts = {.sub_norms = true},
          .glu_act = GluAct::kRelu2,
          .bitlinear = BitLinear::kAlways,
          .finish = finish_bitnet};
}

// Llama, and models that compute like it with other factors.
constexpr Family llama(std::string_view name) {
  return {.architecture = name,
          .model_type = name,
          .bitlinear = BitLinear::kOneScale,
          .gguf_pairs = RopePairs::kInterleaved};
}

constexpr Family gemma(std::string_view architecture, std::string_view model_type, bool head_norms,
                       decltype(Family::finish) finish) {
  return {.architecture = architecture,
          .model_type = model_type,
          .parts = {.head_norms = head_norms, .post_norms = true},
          .glu_act = GluAct::kGeluTanh,
          .hf_in_layer = kGemmaNames,
          .hf_norm_offset = 1,
          .needs_window = true,
          .finish = finish};
}

constexpr Family kFamilies[] = {
    bitnet("bitnet-b1.58", "bitnet"),
    bitnet("bitnet-25", ""),
    bitnet("bitnet", ""),
    gemma("gemma2", "gemma2", false, finish_gemma2),
    gemma("gemma3", "gemma3_text", true, finish_gemma3),
    Family{.architecture = "gemma4",
           .model_type = "gemma4_text",
           .outer_model_type = "gemma4",
           .parts = {.head_norms = true,
                     .post_norms = true,
                     .layer_inputs = true,
                     .experts = Experts::kSoftmaxOfChosen,
                     .dense_beside_experts = true},
           .glu_act = GluAct::kGeluTanh,
           .hf_in_layer = kGemma4Names,
           .needs_window = true,
           .finish = finish_gemma4},
    Family{.architecture = "gpt-oss",
           .model_type = "gpt_oss",
           .parts = {.sinks = true, .experts = Experts::kSoftmaxOfChosen, .ffn_norm = "post_attention_norm"},
           .glu_act = GluAct::kSwigluOai,
           .hf_in_layer = kGptOssNames,
           .needs_window = true,
           .finish = finish_gpt_oss},
    llama("granite"),
    Family{.architecture = "hunyuan-dense",
           .model_type = "hunyuan_v1_dense",
           .parts = {.head_norms = true},
           .hf_in_layer = kHunyuanNames,
           .finish = finish_hunyuan},
    llama("llama"),
    Family{.architecture = "granitemoe",
           .model_type = "",
           .parts = {.experts = Experts::kSoftmaxOfChosen},
           .gguf_pairs = RopePairs::kInterleaved},
    Family{.architecture = "maple",
           .model_type = "",
           .parts = {.head_norms = true, .partial_rope = true, .experts = Experts::kSoftmaxOfChosen},
           .needs_window = true,
           .finish = finish_maple},
    llama("minicpm"),
    Family{.architecture = "olmoe",
           .model_type = "olmoe",
           .parts = {.whole_norms = true, .experts = Experts::kSoftmaxOfAll},
           .hf_in_layer = kExpertNames},
    Family{.architecture = "phi3", .model_type = "phi3", .parts = {.joined = true}, .finish = finish_phi3},
    Family{.architecture = "qwen2", .model_type = "qwen2"},
    Family{.architecture = "qwen35",
           .model_type = "qwen3_5_text",
           .outer_model_type = "qwen3_5",
           .parts = {.head_norms = true, .partial_rope = true, .delta = true, .ffn_norm = "post_attention_norm"},
           .hf_in_layer = kQwen35Names,
           .hf_norm_offset = 1,
           .finish = finish_qwen35},
    Family{.architecture = "qwen35moe",
           .model_type = "qwen3_5_moe_text",
           .outer_model_type = "qwen3_5_moe",
           .parts = {.head_norms = true,
                     .partial_rope = true,
                     .delta = true,
                     .experts = Experts::kSoftmaxOfChosen,
                     .ffn_norm = "post_attention_norm"},
           .hf_in_layer = kQwen35Names,
           .hf_norm_offset = 1,
           .finish = finish_qwen35},
    Family{.architecture = "qwen3", .model_type = "qwen3", .parts = {.head_norms = true}, .bitlinear = BitLinear::kI2s},
    Family{.architecture = "qwen3moe",
           .model_type = "qwen3_moe",
           .parts = {.head_norms = true, .experts = Experts::kSoftmaxOfChosen},
           .hf_in_layer = kExpertNames},
};

}  // namespace

std::span<const Family> families() { return kFamilies; }

const Family* find_family(std::string_view architecture) {
  const auto* found = std::ranges::find(kFamilies, architecture, &Family::architecture);
  return found == std::end(kFamilies) ? nullptr : found;
}

std::span<const TensorName> outer_names() { return kOuterNames; }

std::span<const TensorName> layer_names(const Family& family) {
  return family.hf_in_layer.empty() ? std::span<const TensorName>(kUsualNames) : family.hf_in_layer;
}

}  // namespace tern
