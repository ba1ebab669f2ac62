#include "model/source/rope_keys.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text/format_text.h"
#include "model/source/source_reader.h"

namespace tern {
namespace {

class RopeReader {
 public:
  RopeReader(ModelSource& source, const Config& c) : source_(source), meta_(source, c.architecture), c_(c) {}

  Result<RopeParams> read() {
    TRY(rope_.theta, meta_.positive("rope.freq_base", 10000.0));
    rope_.pairs = source_.rope_pairs(c_.architecture);
    TRY(rope_.attn_factor, meta_.positive("rope.scaling.attn_factor", 1.0));
    TRY(rope_.original_ctx, meta_.integer("rope.scaling.original_context_length", 1 << 24, c_.n_ctx));
    TRY(rope_.scaling, read_scaling());
    if (rope_.scaling == RopeScaling::kYarn) TRY_STATUS(read_yarn());
    TRY_STATUS(refuse_other_yarn());
    TRY_STATUS(read_divisors());
    return std::move(rope_);
  }

 private:
  std::string key(std::string_view name) const { return c_.architecture + "." + std::string(name); }

  Result<std::optional<double>> number(std::string_view name) const {
    TRY(const auto value, source_.get_float(key(name)));
    if (value && !std::isfinite(*value)) {
      return fail(ErrorCode::kCorruption, "{}: {} is not a finite number; convert the model again", source_.path(),
                  key(name));
    }
    return value;
  }

  // Type and factor are read independently. A factor without a type scales all frequencies. Linear scaling without a
  // factor, or with factor 1, is no scaling.
  Result<RopeScaling> read_scaling() {
    TRY(const auto name, source_.get_string(key("rope.scaling.type")));
    const auto named = find_rope_scaling(name.value_or("none"));
    if (!named) {
      return fail(ErrorCode::kNotSupported,
                  "{}: {} is \"{}\", a scaling of RoPE that Tern does not compute (it computes linear, yarn and "
                  "longrope)",
                  source_.path(), key("rope.scaling.type"), *name);
    }
    TRY(const auto factor, number("rope.scaling.factor"));
    TRY(const auto old_factor, number("rope.scale_linear"));
    const double scale = factor.value_or(0) != 0 ? *factor : old_factor.value_or(0) != 0 ? *old_factor : 1;
    if (scale < 1) {
      return fail(ErrorCode::kCorruption, "{}: the factor of RoPE's scaling is {}, below 1; convert the model again",
                  source_.path(), scale);
    }
    const bool has_factors = source_.has_tensor(kRopeFactorsShort) || source_.has_tensor(kRopeFactorsLong);
    // Phi-3 files made before 2025 have the tensors but no type.
    if (*named == RopeScaling::kLongrope || (!name && has_factors && c_.architecture == "phi3")) {
      if (scale == 1) return RopeScaling::kLongrope;
      return fail(ErrorCode::kNotSupported, "{}: {} is {} beside longrope, which Tern does not compute (it knows 1)",
                  source_.path(), key(factor ? "rope.scaling.factor" : "rope.scale_linear"), scale);
    }
    if (has_factors) {
      return fail(ErrorCode::kNotSupported, "{}: tensors rope_factors_* belong to {} longrope, but it is {}",
                  source_.path(), key("rope.scaling.type"), name ? "\"" + *name + "\"" : "absent");
    }
    if (name && *named == RopeScaling::kNone) return RopeScaling::kNone;
    rope_.factor = static_cast<float>(scale);
    if (*named == RopeScaling::kYarn) return RopeScaling::kYarn;
    return rope_.factor == 1 ? RopeScaling::kNone : RopeScaling::kLinear;
  }

  // llama.cpp's converter writes these keys for every architecture, but llama.cpp reads them only for two others. Tern
  // computes with them, as transformers does.
  Result<void> read_yarn() {
    TRY(rope_.beta_fast, meta_.positive("rope.scaling.yarn_beta_fast", 32.0));
    TRY(rope_.beta_slow, meta_.positive("rope.scaling.yarn_beta_slow", 1.0));
    if (rope_.theta > 1 && rope_.beta_fast >= rope_.beta_slow) return {};
    return fail(ErrorCode::kCorruption, "{}: YaRN needs {} above 1, and yarn_beta_fast not below yarn_beta_slow",
                source_.path(), key("rope.freq_base"));
  }

  Result<void> refuse_other_yarn() {
    struct Known {
      std::string_view name;
      double value;
    };
    for (const auto& [name, value] :
         {Known{"rope.scaling.yarn_log_multiplier", 0},
          Known{"rope.scaling.yarn_ext_factor", rope_.scaling == RopeScaling::kYarn ? 1.0 : 0.0},
          Known{"rope.scaling.yarn_attn_factor", 1}}) {
      TRY(const auto found, number(name));
      constexpr double kNotSet = -1;  // llama.cpp's marker
      if (!found || *found == value || *found == kNotSet) continue;
      return fail(ErrorCode::kNotSupported, "{}: {} is {}, which Tern does not compute (it knows {})", source_.path(),
                  key(name), *found, value);
    }
    return {};
  }

  Result<std::vector<float>> divisors(std::string_view name) {
    TRY(const Tensor tensor, TensorReader(source_).vector(std::string(name), c_.head_dim / 2));
    Scratch scratch;
    TRY(const Bytes bytes, tensor.data.read_all(scratch));
    std::vector<float> values(static_cast<size_t>(tensor.cols));
    format_info(Format::kF32).decode(bytes, values);
    if (std::ranges::all_of(values, [](float v) { return std::isfinite(v) && v > 0; })) return values;
    return fail(ErrorCode::kCorruption, "{}: tensor {} holds a value that is not a positive number; download it again",
                source_.path(), name);
  }

  Result<void> read_divisors() {
    const bool is_longrope = rope_.scaling == RopeScaling::kLongrope;
    if (is_longrope && source_.has_tensor(kRopeFreqs)) {
      return fail(ErrorCode::kNotSupported, "{}: tensor {} beside longrope, which Tern does not compute",
                  source_.path(), kRopeFreqs);
    }
    if (is_longrope) {
      TRY(rope_.divisors, divisors(kRopeFactorsShort));
      TRY(rope_.long_divisors, divisors(kRopeFactorsLong));
    } else if (source_.has_tensor(kRopeFreqs)) {
      TRY(rope_.divisors, divisors(kRopeFreqs));
    }
    return {};
  }

  ModelSource& source_;
  const MetadataReader meta_;
  const Config& c_;
  RopeParams rope_;
};

}  // namespace

Result<RopeParams> read_rope(ModelSource& source, const Config& c) { return RopeReader(source, c).read(); }

void write_rope(const RopeParams& rope, const std::string& architecture, GgufWriter& writer) {
  const std::string prefix = architecture + ".rope.";
  writer.add_f32(prefix + "freq_base", rope.theta);
  if (rope.attn_factor != 1) writer.add_f32(prefix + "scaling.attn_factor", rope.attn_factor);
  if (rope.scaling == RopeScaling::kNone) return;
  writer.add_string(prefix + "scaling.type", std::string(rope_scaling_name(rope.scaling)));
  if (rope.scaling != RopeScaling::kLongrope) writer.add_f32(prefix + "scaling.factor", rope.factor);
  if (rope.scaling == RopeScaling::kLinear) return;
  writer.add_u32(prefix + "scaling.original_context_length", static_cast<uint32_t>(rope.original_ctx));
  const RopeParams usual;
  if (rope.scaling == RopeScaling::kYarn && (rope.beta_fast != usual.beta_fast || rope.beta_slow != usual.beta_slow)) {
    writer.add_f32(prefix + "scaling.yarn_beta_fast", rope.beta_fast);
    writer.add_f32(prefix + "scaling.yarn_beta_slow", rope.beta_slow);
  }
}

}  // namespace tern
