#include "model/hf/json_gemma4.h"

#include <algorithm>

#include "base/text/quoted.h"

namespace tern {
namespace {

using List = std::vector<int64_t>;

// For each layer 1 if it has a window.
Result<List> read_pattern(const JsonConfig& config) {
  const auto types = config.json().find("layer_types");
  List pattern;
  const bool is_list = types != config.json().end() && types->is_array();
  for (const Json& type : is_list ? *types : Json::array()) {
    if (type != "sliding_attention" && type != "full_attention") {
      return fail(ErrorCode::kNotSupported, "{}: layer_types has {}; Tern knows sliding_attention and full_attention",
                  config.path(), tern::quoted(type.dump(-1, ' ', true)));
    }
    pattern.push_back(type == "sliding_attention" ? 1 : 0);
  }
  if (!pattern.empty()) return pattern;
  return fail(ErrorCode::kCorruption, "{}: \"layer_types\" is missing or no list; download the file again",
              config.path());
}

Result<int64_t> required(const JsonConfig& config, const char* name) {
  TRY(const auto value, config.integer(name));
  if (value) return *value;
  return fail(ErrorCode::kCorruption, "{}: \"{}\" is missing; download the file again", config.path(), name);
}

}  // namespace

Result<void> set_gemma4_values(const JsonConfig& config, SourceValues& values) {
  const std::string prefix = "gemma4.";
  TRY(const List pattern, read_pattern(config));
  values.set(prefix + "attention.sliding_window_pattern", pattern);
  TRY(const int64_t local_dim, required(config, "head_dim"));
  TRY(const auto whole_dim, config.integer("global_head_dim"));
  values.set(prefix + "attention.key_length_swa", local_dim);
  values.set(prefix + "attention.key_length", whole_dim.value_or(local_dim));
  TRY(const auto n_shared, config.integer("num_kv_shared_layers"));
  values.set(prefix + "attention.shared_kv_layers", n_shared.value_or(0));
  TRY(const auto input_width, config.integer("hidden_size_per_layer_input"));
  values.set(prefix + "embedding_length_per_layer_input", input_width.value_or(0));

  TRY(const auto keys_are_values, config.flag("attention_k_eq_v"));
  TRY(const auto whole_heads, config.integer("num_global_key_value_heads"));
  TRY(const int64_t local_heads, required(config, "num_key_value_heads"));
  if (keys_are_values.value_or(false) && whole_heads) {
    List heads;
    for (const int64_t is_local : pattern) heads.push_back(is_local != 0 ? local_heads : *whole_heads);
    values.set(prefix + "attention.head_count_kv", heads);
  }
  TRY(const auto is_double, config.flag("use_double_wide_mlp"));
  TRY(const int64_t d_ff, required(config, "intermediate_size"));
  if (is_double.value_or(false)) {
    const auto first_shared = std::ssize(pattern) - n_shared.value_or(0);
    List widths;
    for (int64_t i = 0; i < std::ssize(pattern); ++i) {
      widths.push_back(i >= first_shared && first_shared > 0 && d_ff < (1 << 20) ? 2 * d_ff : d_ff);
    }
    values.set(prefix + "feed_forward_length", widths);
  }
  TRY(const auto has_experts, config.flag("enable_moe_block"));
  values.set(prefix + "expert_count", int64_t{0});  // whatever num_experts is
  if (!has_experts.value_or(false)) return {};
  TRY(const int64_t n, required(config, "num_experts"));
  TRY(const int64_t n_used, required(config, "top_k_experts"));
  TRY(const int64_t width, required(config, "moe_intermediate_size"));
  values.set(prefix + "expert_count", n);
  values.set(prefix + "expert_feed_forward_length", width);
  values.set(prefix + "expert_used_count", n_used);
  return {};
}

}  // namespace tern
