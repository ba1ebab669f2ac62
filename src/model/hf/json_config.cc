#include "model/hf/json_config.h"

#include <cmath>

#include "base/text/quoted.h"
#include "model/families/family.h"
#include "model/hf/json_gemma4.h"
#include "model/hf/json_gpt_oss.h"
#include "model/hf/json_rope.h"
#include "text/unicode/utf8.h"

namespace tern {
namespace {

const Json* present(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

struct IntegerKey {
  const char* name;
  const char* other_name;  // MLC's name if it differs; tried first
  std::string_view gguf;
  bool required;
};
constexpr IntegerKey kIntegers[] = {
    {"num_hidden_layers", nullptr, "block_count", true},
    {"hidden_size", nullptr, "embedding_length", true},
    {"intermediate_size", nullptr, "feed_forward_length", true},  // of mixtures, moe_intermediate_size counts
    {"num_attention_heads", nullptr, "attention.head_count", true},
    {"num_key_value_heads", nullptr, "attention.head_count_kv", false},
    {"head_dim", nullptr, "attention.key_length", false},
    {"max_position_embeddings", "context_window_size", "context_length", true},
    {"num_experts", nullptr, "expert_count", false},
    {"num_local_experts", nullptr, "expert_count", false},
    {"num_experts_per_tok", nullptr, "expert_used_count", false},
    {"moe_intermediate_size", nullptr, "expert_feed_forward_length", false},
    {"shared_expert_intermediate_size", nullptr, "expert_shared_feed_forward_length", false},
    {"linear_conv_kernel_dim", nullptr, "ssm.conv_kernel", false},  // of recurrent layers
    {"linear_key_head_dim", nullptr, "ssm.state_size", false},
    {"linear_num_key_heads", nullptr, "ssm.group_count", false},
    {"linear_num_value_heads", nullptr, "ssm.time_step_rank", false},
    {"full_attention_interval", nullptr, "full_attention_interval", false},
};

// MLC writes 0 for values that follow from others.
Result<std::optional<int64_t>> read_integer(const JsonConfig& config, const IntegerKey& key) {
  if (key.other_name) {
    TRY(const auto value, config.integer(key.other_name));
    if (value.value_or(0) != 0) return value;
  }
  TRY(const auto value, config.integer(key.name));
  return value.value_or(0) == 0 && !key.required ? std::nullopt : value;
}

std::unexpected<Error> missing(const JsonConfig& config, const char* key) {
  return fail(ErrorCode::kCorruption, "{}: \"{}\" is missing; download the file again", config.path(), key);
}

// Every n-th layer attends to everything. The others have a window, or they are all recurrent.
Result<void> set_layer_types(const JsonConfig& config, const std::string& prefix, SourceValues& values) {
  TRY(const auto pattern, config.integer("sliding_window_pattern"));
  if (pattern) values.set(prefix + "attention.sliding_window_pattern", *pattern);
  const Json* types = present(config.json(), "layer_types");
  if (!types) return {};
  if (!types->is_array()) {
    return fail(ErrorCode::kCorruption, "{}: \"layer_types\" is not a list; download the file again", config.path());
  }
  const auto period = std::ranges::find(*types, "full_attention") - types->begin() + 1;
  const bool is_recurrent = std::ranges::contains(*types, "linear_attention");
  const char* other = is_recurrent ? "linear_attention" : "sliding_attention";
  for (int64_t i = 0; i < std::ssize(*types); ++i) {
    const bool is_other = (i + 1) % period != 0;
    if (types->at(static_cast<size_t>(i)) == (is_other ? other : "full_attention")) continue;
    return fail(ErrorCode::kNotSupported,
                "{}: layer_types has {} for layer {}; Tern knows full_attention, and {} in all layers but every n-th",
                config.path(), tern::quoted(types->at(static_cast<size_t>(i)).dump(-1, ' ', true)), i, other);
  }
  if (is_recurrent) {
    values.set(prefix + "full_attention_interval", static_cast<int64_t>(period));
  } else if (period > 1) {
    values.set(prefix + "attention.sliding_window_pattern", static_cast<int64_t>(period));
  }
  return {};
}

// Attention to a window of the last positions. In Qwen's configurations the size counts only with use_sliding_window.
Result<void> set_window(const JsonConfig& config, const std::string& prefix, SourceValues& values) {
  TRY(const auto is_used, config.flag("use_sliding_window"));
  TRY(const auto window, config.integer("sliding_window"));
  if (window && is_used.value_or(true)) values.set(prefix + "attention.sliding_window", *window);
  if (window && is_used.value_or(false) && !prefix.starts_with("phi3")) {
    return fail(ErrorCode::kNotSupported, "{}: use_sliding_window is true, which Tern computes for Phi-3 only",
                config.path());
  }
  return prefix == "gemma4." || prefix == "gpt-oss." ? Result<void>() : set_layer_types(config, prefix, values);
}

Result<void> set_activation(const JsonConfig& config, const std::string& prefix, SourceValues& values) {
  if (prefix == "gpt-oss.") return {};  // whose silu is one of its own
  const char* key = config.json().contains("hidden_activation") ? "hidden_activation" : "hidden_act";  // Gemma has
                                                                                                       // both; the
                                                                                                       // first counts
  TRY(const auto act, config.text(key));
  if (!act) return {};
  const auto found = find_glu_act(*act);
  if (!found) {
    return fail(ErrorCode::kNotSupported, "{}: {} is {}; Tern computes silu, relu2 and gelu_pytorch_tanh",
                config.path(), key, tern::quoted(*act));
  }
  values.set(prefix + "feed_forward.activation", std::string(glu_act_name(*found)));
  return {};
}

// Numbers that affect the results, with the keys by which a family uses or refuses them.
struct NumberKey {
  const char* name;
  std::string_view gguf;
};
constexpr NumberKey kNumbers[] = {
    {"embedding_multiplier", "embedding_scale"},  // Granite's names
    {"residual_multiplier", "residual_scale"},
    {"attention_multiplier", "attention.scale"},
    {"logits_scaling", "logit_scale"},
    {"scale_emb", "embedding_scale"},  // MiniCPM's
    {"attn_logit_softcapping", "attn_logit_softcapping"},
    {"final_logit_softcapping", "final_logit_softcapping"},
};

// MiniCPM's factors are computed from its other numbers.
Result<void> set_minicpm_scales(const JsonConfig& config, const std::string& prefix, SourceValues& values) {
  TRY(const auto n_layers, config.number("num_hidden_layers"));
  TRY(const auto width, config.number("hidden_size"));
  TRY(const auto depth, config.number("scale_depth"));
  TRY(const auto base_width, config.number("dim_model_base"));
  if (depth && n_layers.value_or(0) > 0) values.set(prefix + "residual_scale", *depth / std::sqrt(*n_layers));
  if (base_width.value_or(0) > 0 && width) values.set(prefix + "logit_scale", *width / *base_width);
  return {};
}

// Gemma's configuration names the width that scales attention, and may ask for bidirectional attention.
Result<void> set_attention(const JsonConfig& config, const std::string& prefix, SourceValues& values) {
  TRY(const auto width, config.number("query_pre_attn_scalar"));
  if (width.value_or(0) > 0) values.set(prefix + "attention.scale", 1 / std::sqrt(*width));
  const Json* ahead = present(config.json(), "use_bidirectional_attention");
  if (ahead && ahead->is_string()) {  // Gemma 4 has names for it; "vision" is for images only
    if (*ahead != "vision") values.set(prefix + "attention.causal", false);
    return {};
  }
  TRY(const auto looks_ahead, config.flag("use_bidirectional_attention"));
  if (looks_ahead.value_or(false)) values.set(prefix + "attention.causal", false);
  return {};
}

// GGUF has one width for the keys and the values of recurrent layers.
Result<void> set_recurrent_width(const JsonConfig& config, const std::string& prefix, SourceValues& values) {
  TRY(const auto key_dim, config.integer("linear_key_head_dim"));
  TRY(const auto value_dim, config.integer("linear_value_head_dim"));
  TRY(const auto heads, config.integer("linear_num_value_heads"));
  if (!value_dim || !heads) return {};
  if (value_dim != key_dim) {
    return fail(ErrorCode::kNotSupported,
                "{}: linear_value_head_dim is {}, but Tern runs recurrent layers only if it is linear_key_head_dim",
                config.path(), *value_dim);
  }
  constexpr int64_t kMost = 1 << 20;  // the family has stricter bounds
  if (*value_dim > 0 && *value_dim <= kMost && *heads > 0 && *heads <= kMost) {
    values.set(prefix + "ssm.inner_size", *value_dim * *heads);
  }
  return {};
}

// Mixtures: every layer must be one. Without norm_topk_prob, weights of the first two do not sum to 1.
Result<void> set_experts(const JsonConfig& config, const std::string& prefix, SourceValues& values) {
  TRY(const auto is_normed, config.flag("norm_topk_prob"));
  if (is_normed || prefix == "qwen3moe." || prefix == "olmoe.") {
    values.set(prefix + "expert_weights_norm", is_normed.value_or(false));
  }
  TRY(const auto step, config.integer("decoder_sparse_step"));
  const Json* dense = present(config.json(), "mlp_only_layers");
  if (step.value_or(1) == 1 && (!dense || (dense->is_array() && dense->empty()))) return {};
  return fail(ErrorCode::kNotSupported,
              "{}: decoder_sparse_step or mlp_only_layers leave layers without experts; Tern runs mixtures in all "
              "layers or in none",
              config.path());
}

Result<void> set_numbers(const JsonConfig& config, const std::string& prefix, SourceValues& values) {
  for (const NumberKey& key : kNumbers) {
    TRY(const auto value, config.number(key.name));
    if (value) values.set(prefix + std::string(key.gguf), *value);
  }
  return set_minicpm_scales(config, prefix, values);
}

}  // namespace

std::unexpected<Error> JsonConfig::wrong_type(const char* key, std::string_view wanted) const {
  return fail(ErrorCode::kCorruption, "{}: \"{}\" is of type {}, not {}; download the file again", path_, key,
              object_.at(key).type_name(), wanted);
}

Result<std::optional<int64_t>> JsonConfig::integer(const char* key) const {
  const Json* value = present(object_, key);
  if (!value) return std::nullopt;
  const bool fits = value->is_number_unsigned() ? value->get<uint64_t>() <= INT64_MAX : value->is_number_integer();
  if (!fits) return wrong_type(key, "an integer");
  return value->get<int64_t>();
}

Result<std::optional<double>> JsonConfig::number(const char* key) const {
  const Json* value = present(object_, key);
  if (!value) return std::nullopt;
  if (!value->is_number() || !std::isfinite(value->get<double>())) return wrong_type(key, "a number");
  return value->get<double>();
}

Result<std::optional<std::string>> JsonConfig::text(const char* key) const {
  const Json* value = present(object_, key);
  if (!value) return std::nullopt;
  if (!value->is_string()) return wrong_type(key, "a text");
  return value->get<std::string>();
}

Result<std::optional<bool>> JsonConfig::flag(const char* key) const {
  const Json* value = present(object_, key);
  if (!value) return std::nullopt;
  if (!value->is_boolean()) return wrong_type(key, "true or false");
  return value->get<bool>();
}

Result<const Json*> JsonConfig::object(const char* key) const {
  const Json* value = present(object_, key);
  if (value && !value->is_object()) return wrong_type(key, "an object");
  return value;
}

Result<void> set_transformer_values(const JsonConfig& config, const std::string& architecture, SourceValues& values) {
  const std::string prefix = architecture + ".";
  values.set("general.architecture", architecture);
  const bool is_mixture = present(config.json(), "moe_intermediate_size") != nullptr;
  for (const IntegerKey& key : kIntegers) {
    TRY(const auto value, read_integer(config, key));
    if (value) {
      values.set(prefix + std::string(key.gguf), *value);
    } else if (key.required && !(is_mixture && key.gguf == "feed_forward_length")) {
      return missing(config, key.name);
    }
  }
  TRY(const auto eps, config.number("rms_norm_eps"));
  if (!eps) return missing(config, "rms_norm_eps");
  values.set(prefix + "attention.layer_norm_rms_epsilon", *eps);
  if (architecture == "gpt-oss") TRY_STATUS(check_gpt_oss_config(config));
  if (architecture == "gemma4") TRY_STATUS(set_gemma4_values(config, values));
  TRY_STATUS(set_rope(config, prefix, values));
  TRY_STATUS(set_window(config, prefix, values));
  TRY_STATUS(set_numbers(config, prefix, values));
  TRY_STATUS(set_experts(config, prefix, values));
  TRY_STATUS(set_recurrent_width(config, prefix, values));
  TRY_STATUS(set_attention(config, prefix, values));
  return set_activation(config, prefix, values);
}

}  // namespace tern
