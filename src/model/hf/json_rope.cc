#include "model/hf/json_rope.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text/quoted.h"
#include "model/families/family.h"
#include "model/source/rope_keys.h"

namespace tern {
namespace {

// The members that describe the scaling: transformers 5 writes rope_parameters, earlier versions rope_scaling with
// rope_theta beside it.
class RopeMembers {
 public:
  RopeMembers(const JsonConfig& config, const JsonConfig& rope, const std::string& prefix, SourceValues& values)
      : config_(config), rope_(rope), prefix_(prefix), values_(values) {}

  Result<void> set(const std::string& kind) {
    if (kind == "linear") return set_linear();
    if (kind == "yarn") return set_yarn();
    if (kind == "llama3") return set_llama3();
    if (kind == "longrope" || kind == "su") return set_longrope();
    if (kind == "proportional") return set_proportional();
    if (kind == "dynamic" && prefix_ == "hunyuan-dense.") return set_alpha();
    return fail(ErrorCode::kNotSupported,
                "{}: the rope_type is {}, a scaling of RoPE that Tern does not compute (it computes linear, yarn, "
                "llama3 and longrope)",
                config_.path(), tern::quoted(kind));
  }

 private:
  void set_value(std::string_view key, SourceValue value) { values_.set(prefix_ + std::string(key), std::move(value)); }

  Result<double> required(const char* key) const {
    TRY(const auto value, rope_.number(key));
    if (value && *value > 0) return *value;
    return fail(ErrorCode::kCorruption,
                "{}: \"{}\" of the RoPE scaling is missing or not positive; download the file again", config_.path(),
                key);
  }

  // The context length of the first training, and that of the model.
  Result<double> original_positions() const {
    for (const JsonConfig* object : {&rope_, &config_}) {
      TRY(const auto value, object->number("original_max_position_embeddings"));
      if (value && *value > 0) return *value;
    }
    return positions();
  }
  Result<double> positions() const {
    TRY(const auto value, config_.number("max_position_embeddings"));
    if (value && *value > 0) return *value;
    TRY(const auto window, config_.number("context_window_size"));  // MLC's name
    return window.value_or(0);
  }

  Result<void> set_linear() {
    TRY(const double factor, required("factor"));
    set_value("rope.scaling.type", std::string("linear"));
    set_value("rope.scaling.factor", factor);
    return {};
  }

  // `mscale` and `mscale_all_dim` are DeepSeek's names; "truncate" is gpt-oss's, whose ramp is never rounded here.
  Result<void> set_yarn() {
    TRY(const auto truncate, rope_.flag("truncate"));
    const bool rounds_ramp = prefix_ != "gpt-oss.";
    if (truncate.value_or(true) != rounds_ramp) {
      return fail(ErrorCode::kNotSupported,
                  "{}: \"truncate\" of the RoPE scaling is {}, which Tern does not compute in this model",
                  config_.path(), !rounds_ramp);
    }
    TRY(const double original, original_positions());
    TRY(auto factor, rope_.number("factor"));
    if (!factor) {
      TRY(const double most, positions());
      factor = most / original;
    }
    set_value("rope.scaling.type", std::string("yarn"));
    set_value("rope.scaling.factor", *factor);
    set_value("rope.scaling.original_context_length", static_cast<int64_t>(original));
    for (const auto& [key, gguf] : {std::pair{"beta_fast", "rope.scaling.yarn_beta_fast"},
                                    std::pair{"beta_slow", "rope.scaling.yarn_beta_slow"}}) {
      TRY(const auto beta, rope_.number(key));
      if (beta.value_or(0) != 0) set_value(gguf, *beta);
    }
    return set_attention_factor(*factor);
  }

  // transformers' attention_factor is the final factor, but GGUF's attn_factor is multiplied by YaRN's own.
  Result<void> set_attention_factor(double factor) {
    const auto magnitude = [&](double times) { return factor > 1 ? 1 + 0.1 * times * std::log(factor) : 1; };
    TRY(auto whole, rope_.number("attention_factor"));
    TRY(const auto mscale, rope_.number("mscale"));
    TRY(const auto all_dim, rope_.number("mscale_all_dim"));
    if (!whole && mscale.value_or(0) != 0 && all_dim.value_or(0) != 0) whole = magnitude(*mscale) / magnitude(*all_dim);
    if (whole) set_value("rope.scaling.attn_factor", *whole / magnitude(1));
    return {};
  }

  Result<void> set_llama3() {
    Llama3Rope rope;
    TRY(rope.factor, required("factor"));
    TRY(rope.low_freq_factor, required("low_freq_factor"));
    TRY(rope.high_freq_factor, required("high_freq_factor"));
    TRY(rope.original_ctx, original_positions());
    TRY(const auto theta, values_.get_float(prefix_ + "rope.freq_base"));
    TRY(const int head_dim, rotated_dims());
    if (rope.high_freq_factor <= rope.low_freq_factor) {
      return fail(ErrorCode::kCorruption, "{}: high_freq_factor is not above low_freq_factor; download the file again",
                  config_.path());
    }
    values_.set_vector(std::string(kRopeFreqs), llama3_divisors(rope, *theta, head_dim));
    return {};
  }

  // Hunyuan's models scale the base, whatever the length of the text.
  Result<void> set_alpha() {
    TRY(const double alpha, required("alpha"));
    TRY(const auto theta, values_.get_float(prefix_ + "rope.freq_base"));
    TRY(const double dims, rotated_dims());
    set_value("rope.freq_base", *theta * std::pow(alpha, dims / (dims - 2)));
    return {};
  }

  // The first pairs of a head rotate as if all did.
  Result<void> set_proportional() {
    TRY(const auto part, rope_.number("partial_rotary_factor"));
    TRY(const auto factor, rope_.number("factor"));
    TRY(const int head_dim, rotated_dims());
    if (part.value_or(1) < 0 || part.value_or(1) > 1 || factor.value_or(1) < 1) {
      return fail(ErrorCode::kCorruption,
                  "{}: \"partial_rotary_factor\" is {} and \"factor\" {}; download the file again", config_.path(),
                  part.value_or(1), factor.value_or(1));
    }
    constexpr float kNever = 1e30f;  // as in GGUF files
    std::vector<float> divisors(static_cast<size_t>(head_dim / 2), kNever);
    std::fill_n(divisors.begin(), static_cast<int>(part.value_or(1) * head_dim / 2),
                static_cast<float>(factor.value_or(1)));
    values_.set_vector(std::string(kRopeFreqs), std::move(divisors));
    return {};
  }

  Result<void> set_longrope() {
    TRY(const double original, original_positions());
    TRY(const double most, positions());
    TRY(auto short_factors, factors("short_factor"));
    TRY(auto long_factors, factors("long_factor"));
    TRY(auto magnitude, rope_.number("attention_factor"));
    if (!magnitude) {
      magnitude = most > original && original > 1 ? std::sqrt(1 + std::log(most / original) / std::log(original)) : 1.0;
    }
    set_value("rope.scaling.type", std::string("longrope"));
    set_value("rope.scaling.original_context_length", static_cast<int64_t>(original));
    set_value("rope.scaling.attn_factor", *magnitude);
    values_.set_vector(std::string(kRopeFactorsShort), std::move(short_factors));
    values_.set_vector(std::string(kRopeFactorsLong), std::move(long_factors));
    return {};
  }

  Result<std::vector<float>> factors(const char* key) const {
    const auto found = rope_.json().find(key);
    std::vector<float> values;
    const bool is_list = found != rope_.json().end() && found->is_array();
    if (is_list && std::ranges::all_of(*found, [](const Json& value) { return value.is_number(); })) {
      for (const Json& value : *found) values.push_back(value.get<float>());
      return values;
    }
    return fail(ErrorCode::kCorruption,
                "{}: \"{}\" of the RoPE scaling is not a list of numbers; download the file again", config_.path(),
                key);
  }

  // Dimensions of a head, within bounds; the family checks them again.
  Result<int> rotated_dims() const {
    TRY(const auto declared, values_.get_int(prefix_ + "attention.key_length"));
    TRY(const auto width, values_.get_int(prefix_ + "embedding_length"));
    TRY(const auto heads, values_.get_int(prefix_ + "attention.head_count"));
    const int64_t dims = declared.value_or(heads.value_or(0) > 0 ? *width / *heads : 0);
    constexpr int64_t kMost = 4096;
    if (dims >= 1 && dims <= kMost) return static_cast<int>(dims);
    return fail(ErrorCode::kCorruption, "{}: heads of {} dimensions; download the file again", config_.path(), dims);
  }

  const JsonConfig& config_;
  const JsonConfig& rope_;
  const std::string& prefix_;
  SourceValues& values_;
};

// For models with two kinds of rotation: transformers 5 has parameters for each kind of layer, earlier versions a
// second theta. Layers with a window rotate without scaling.
Result<void> set_local_rope(const JsonConfig& config, const Json* local, const std::string& prefix,
                            SourceValues& values) {
  TRY(auto theta, config.number("rope_local_base_freq"));
  if (local) {
    const JsonConfig rope(*local, config.path());
    TRY(const auto kind, rope.text("rope_type"));
    if (kind.value_or("default") != "default") {
      return fail(ErrorCode::kNotSupported,
                  "{}: the rope_type of sliding_attention is {}, which Tern does not compute there", config.path(),
                  tern::quoted(*kind));
    }
    TRY(theta, rope.number("rope_theta"));
  }
  if (theta) values.set(prefix + "rope.freq_base_swa", *theta);
  return {};
}

// The part of a head's dimensions that rotates.
Result<void> set_rotated_part(const JsonConfig& config, const std::string& prefix, SourceValues& values) {
  TRY(auto part, config.number("partial_rotary_factor"));
  TRY(const Json* parameters, config.object("rope_parameters"));
  if (parameters) {
    TRY(const auto inner, JsonConfig(*parameters, config.path()).number("partial_rotary_factor"));
    if (inner) part = inner;
  }
  const Family* family = find_family(std::string_view(prefix).substr(0, prefix.size() - 1));
  constexpr double kUsualPart = 0.25;  // default of transformers' configuration of Qwen3.5
  if (family && family->parts.partial_rope) {
    TRY(const auto head_dim, values.get_int(prefix + "attention.key_length"));
    const double dims = static_cast<double>(head_dim.value_or(0)) * part.value_or(kUsualPart);
    if (head_dim && dims >= 1 && dims <= static_cast<double>(*head_dim)) {
      values.set(prefix + "rope.dimension_count", static_cast<int64_t>(dims));
      return {};
    }
    return fail(ErrorCode::kCorruption,
                "{}: partial_rotary_factor {} of head_dim {} is no part of a head; download the file again",
                config.path(), part.value_or(kUsualPart), head_dim.value_or(0));
  }
  if (part && *part != 1.0) {
    return fail(ErrorCode::kNotSupported, "{}: partial_rotary_factor is {}; Tern has no partial RoPE", config.path(),
                *part);
  }
  return {};
}

}  // namespace

Result<void> set_rope(const JsonConfig& config, const std::string& prefix, SourceValues& values) {
  TRY_STATUS(set_rotated_part(config, prefix, values));
  TRY(auto theta, config.number("position_embedding_base"));
  if (theta.value_or(0) == 0) {
    TRY(theta, config.number("rope_theta"));
  }
  const Json *scaling = nullptr, *local = nullptr;
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    TRY(const Json* object, config.object(key));
    if (!object) continue;
    const JsonConfig by_layers(*object, config.path());
    TRY(const Json* whole, by_layers.object("full_attention"));
    if (whole) {
      TRY(local, by_layers.object("sliding_attention"));
      object = whole;
    }
    scaling = object;
    TRY(const auto inner_theta, JsonConfig(*object, config.path()).number("rope_theta"));
    if (inner_theta) theta = inner_theta;
  }
  TRY_STATUS(set_local_rope(config, local, prefix, values));
  constexpr double kBitnetTheta = 500000, kTheta = 10000;  // defaults of transformers' configurations
  values.set(prefix + "rope.freq_base", theta.value_or(prefix.starts_with("bitnet") ? kBitnetTheta : kTheta));
  if (!scaling) return {};
  const JsonConfig rope(*scaling, config.path());
  TRY(auto kind, rope.text("rope_type"));
  if (!kind) {
    TRY(kind, rope.text("type"));
  }
  if (!kind || *kind == "default") return {};
  return RopeMembers(config, rope, prefix, values).set(*kind);
}

}  // namespace tern
