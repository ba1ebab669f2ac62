#include "model/hf/json_gpt_oss.h"

#include <algorithm>
#include <span>

#include "base/text/quoted.h"

namespace tern {
namespace {

// Keys that are read, here or elsewhere, and keys that change nothing.
constexpr std::string_view kKnownKeys[] = {
    "architectures",       "attention_bias",       "experts_per_token",   "head_dim",
    "hidden_act",          "hidden_size",          "intermediate_size",   "layer_types",
    "model_type",          "num_attention_heads",  "num_experts_per_tok", "num_hidden_layers",
    "num_key_value_heads", "num_local_experts",    "quantization_config", "max_position_embeddings",
    "rms_norm_eps",        "rope_parameters",      "rope_scaling",        "rope_theta",
    "sliding_window",      "swiglu_limit",         "tie_word_embeddings", "vocab_size",
    "_name_or_path",       "attention_dropout",    "bos_token_id",        "dtype",
    "eos_token_id",        "initializer_range",    "pad_token_id",        "initial_context_length",
    "torch_dtype",         "transformers_version", "use_cache",           "output_router_logits",
    "router_aux_loss_coef"};
constexpr std::string_view kKnownRopeKeys[] = {"attention_factor",
                                               "beta_fast",
                                               "beta_slow",
                                               "factor",
                                               "mscale",
                                               "mscale_all_dim",
                                               "original_max_position_embeddings",
                                               "partial_rotary_factor",
                                               "rope_theta",
                                               "rope_type",
                                               "truncate",
                                               "type"};

Result<void> check_known(const JsonConfig& config, std::span<const std::string_view> known) {
  for (const auto& [key, value] : config.json().items()) {
    if (std::ranges::contains(known, key) || value.is_null()) continue;
    return fail(
        ErrorCode::kNotSupported,
        "{}: key {} is not one that Tern knows in gpt-oss, so the results might be wrong; remove it if you know "
        "that it changes nothing",
        config.path(), tern::quoted(key));
  }
  return {};
}

// Without parameters of RoPE, transformers uses those of the published models, which no converter leaves out.
Result<void> check_rope(const JsonConfig& config) {
  for (const char* name : {"rope_parameters", "rope_scaling"}) {
    TRY(const Json* object, config.object(name));
    if (!object) continue;
    const JsonConfig rope(*object, config.path());
    TRY_STATUS(check_known(rope, kKnownRopeKeys));
    TRY(const auto theta, rope.number("rope_theta"));
    if (theta || config.json().contains("rope_theta")) return {};
    return fail(ErrorCode::kCorruption, "{}: \"rope_theta\" is missing; download the file again", config.path());
  }
  return fail(ErrorCode::kCorruption, "{}: \"rope_scaling\" is missing; download the file again", config.path());
}

Result<void> check_layers(const JsonConfig& config) {
  const auto types = config.json().find("layer_types");
  if (types == config.json().end() || types->is_null()) return {};
  for (size_t i = 0; types->is_array() && i < types->size(); ++i) {
    const char* usual = i % 2 == 0 ? "sliding_attention" : "full_attention";
    if ((*types)[i] == usual) continue;
    return fail(ErrorCode::kNotSupported, "{}: layer_types has {} for layer {}; Tern knows {} there in gpt-oss",
                config.path(), tern::quoted((*types)[i].dump(-1, ' ', true)), i, usual);
  }
  TRY(const auto n_layers, config.integer("num_hidden_layers"));
  if (types->is_array() && static_cast<int64_t>(types->size()) == n_layers) return {};
  return fail(ErrorCode::kCorruption,
              "{}: \"layer_types\" is no list with a type for each layer; download the file again", config.path());
}

}  // namespace

Result<void> check_gpt_oss_config(const JsonConfig& config) {
  TRY_STATUS(check_known(config, kKnownKeys));
  TRY_STATUS(check_rope(config));
  TRY_STATUS(check_layers(config));
  constexpr double kLimit = 7;
  TRY(const auto limit, config.number("swiglu_limit"));
  if (limit.value_or(kLimit) != kLimit) {
    return fail(ErrorCode::kNotSupported, "{}: swiglu_limit is {}, but Tern computes {}", config.path(), *limit,
                kLimit);
  }
  TRY(const auto act, config.text("hidden_act"));
  if (act.value_or("silu") != "silu") {
    return fail(ErrorCode::kNotSupported, "{}: hidden_act is {}, but Tern computes silu in gpt-oss", config.path(),
                tern::quoted(*act));
  }
  TRY(const auto n_used, config.integer("num_experts_per_tok"));
  TRY(const auto other, config.integer("experts_per_token"));
  if (!n_used || other.value_or(*n_used) == *n_used) return {};
  return fail(ErrorCode::kCorruption,
              "{}: num_experts_per_tok is {}, but experts_per_token {}; download the file again", config.path(),
              *n_used, *other);
}

}  // namespace tern
