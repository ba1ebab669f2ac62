#include "model/json_config.h"

#include <cmath>

#include "base/quoted.h"
#include "text/utf8.h"

namespace tern {
namespace {

const Json* present(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

struct IntegerKey {
  const char* name;
  const char* other_name;  // MLC's, where it differs; it comes first
  std::string_view gguf;
  bool required;
};
constexpr IntegerKey kIntegers[] = {
    {"num_hidden_layers", nullptr, "block_count", true},
    {"hidden_size", nullptr, "embedding_length", true},
    {"intermediate_size", nullptr, "feed_forward_length", true},
    {"num_attention_heads", nullptr, "attention.head_count", true},
    {"num_key_value_heads", nullptr, "attention.head_count_kv", false},
    {"head_dim", nullptr, "attention.key_length", false},
    {"max_position_embeddings", "context_window_size", "context_length", true},
};

// MLC writes 0 for what is to be derived.
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

// transformers 5 writes rope_parameters, earlier versions rope_theta and rope_scaling beside it.
Result<void> set_rope(const JsonConfig& config, const std::string& prefix, SourceValues& values) {
  TRY(auto theta, config.number("position_embedding_base"));
  if (theta.value_or(0) == 0) {
    TRY(theta, config.number("rope_theta"));
  }
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    TRY(const Json* object, config.object(key));
    if (!object) continue;
    const JsonConfig rope(*object, config.path());
    TRY(auto kind, rope.text("rope_type"));
    if (!kind) {
      TRY(kind, rope.text("type"));
    }
    if (kind && *kind != "default") values.set(prefix + "rope.scaling.type", printable(*kind, 40));
    TRY(const auto inner_theta, rope.number("rope_theta"));
    if (inner_theta) theta = inner_theta;
  }
  constexpr double kBitnetTheta = 500000, kTheta = 10000;  // what transformers' configurations begin with
  values.set(prefix + "rope.freq_base", theta.value_or(prefix.starts_with("bitnet") ? kBitnetTheta : kTheta));

  TRY(const auto rotated, config.number("partial_rotary_factor"));
  if (rotated && *rotated != 1.0) {
    return fail(ErrorCode::kNotSupported, "{}: partial_rotary_factor is {}; Tern has no partial RoPE", config.path(),
                *rotated);
  }
  return {};
}

// Attention to a window of the last positions. Qwen3's configurations name a size that only use_sliding_window turns
// on.
Result<void> set_window(const JsonConfig& config, const std::string& prefix, SourceValues& values) {
  TRY(const auto is_used, config.flag("use_sliding_window"));
  TRY(const auto window, config.integer("sliding_window"));
  if (window && is_used.value_or(true)) values.set(prefix + "attention.sliding_window", *window);
  if (window && is_used.value_or(false) && !prefix.starts_with("phi3")) {
    return fail(ErrorCode::kNotSupported, "{}: use_sliding_window is true, which Tern computes for Phi-3 only",
                config.path());
  }
  return {};
}

Result<void> set_activation(const JsonConfig& config, const std::string& prefix, SourceValues& values) {
  TRY(const auto act, config.text("hidden_act"));
  if (!act) return {};
  const bool is_silu = *act == "silu" || *act == "swish";
  const bool is_bitnet = prefix.starts_with("bitnet");
  if (!is_silu && !(is_bitnet && *act == "relu2")) {
    return fail(ErrorCode::kNotSupported, "{}: hidden_act is {}; Tern computes {} for this architecture", config.path(),
                tern::quoted(*act), is_bitnet ? "relu2 and silu" : "silu");
  }
  values.set(prefix + "feed_forward.activation", std::string(is_silu ? "silu" : "relu2"));
  return {};
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
  for (const IntegerKey& key : kIntegers) {
    TRY(const auto value, read_integer(config, key));
    if (value) {
      values.set(prefix + std::string(key.gguf), *value);
    } else if (key.required) {
      return missing(config, key.name);
    }
  }
  TRY(const auto eps, config.number("rms_norm_eps"));
  if (!eps) return missing(config, "rms_norm_eps");
  values.set(prefix + "attention.layer_norm_rms_epsilon", *eps);
  TRY_STATUS(set_rope(config, prefix, values));
  TRY_STATUS(set_window(config, prefix, values));
  return set_activation(config, prefix, values);
}

}  // namespace tern
