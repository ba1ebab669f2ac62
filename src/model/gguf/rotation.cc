#include "model/gguf/rotation.h"

#include <algorithm>
#include <bit>
#include <memory>

#include "base/text/quoted.h"

namespace tern {
namespace {

constexpr std::string_view kPrefix = "prism.hadamard.";
constexpr std::string_view kKnown[] = {
    "version",      "block_size",           "transform",    "axis", "sign_mode", "sign_widths", "sign_values",
    "weight_names", "inverse_weight_names", "gdn_v_grouped"};

class RotationReader {
 public:
  explicit RotationReader(const GgufFile& file) : file_(file) {}

  Result<Rotation> read() {
    TRY_STATUS(check_keys());
    TRY_STATUS(check_text("transform", "normalized-sylvester-walsh-hadamard"));
    TRY_STATUS(check_text("axis", "input-last-dimension"));
    TRY(const auto version, integer("version"));
    if (version != 1) return unknown_value("version", std::to_string(version), "1");
    TRY(const auto block, integer("block_size"));
    if (block < 2 || block > 4096 || !std::has_single_bit(static_cast<uint64_t>(block))) {
      return unknown_value("block_size", std::to_string(block), "powers of two from 2 to 4096");
    }
    rotation_.block = static_cast<int>(block);
    TRY_STATUS(read_signs());
    TRY(rotation_.weights, names("weight_names"));
    TRY(rotation_.tables, names("inverse_weight_names"));
    TRY(const auto grouped, file_.get_bool(key("gdn_v_grouped")));
    rotation_.groups_heads = grouped.value_or(true);
    return std::move(rotation_);
  }

 private:
  static std::string key(std::string_view name) { return std::string(kPrefix) + std::string(name); }

  std::unexpected<Error> missing(std::string_view name) const {
    return fail(ErrorCode::kCorruption,
                "{}: metadata key {} is missing beside others of the rotation; convert the model "
                "again",
                file_.path(), key(name));
  }
  std::unexpected<Error> unknown_value(std::string_view name, const std::string& value, std::string_view known) const {
    return fail(ErrorCode::kNotSupported, "{}: {} is {}, a rotation that Tern does not compute (it knows {})",
                file_.path(), key(name), value, known);
  }

  Result<void> check_keys() const {
    for (const auto& [name, value] : file_.metadata()) {
      if (!name.starts_with(kPrefix) || std::ranges::contains(kKnown, name.substr(kPrefix.size()))) continue;
      return fail(ErrorCode::kNotSupported,
                  "{}: metadata {} is a part of the rotation that Tern does not know, so it would print garbage; get "
                  "another file of this model",
                  file_.path(), tern::quoted(name));
    }
    return {};
  }

  Result<void> check_text(std::string_view name, std::string_view known) const {
    TRY(const auto value, file_.get_string(key(name)));
    if (!value) return missing(name);
    if (*value == known) return {};
    return unknown_value(name, tern::quoted(*value), known);
  }

  Result<int64_t> integer(std::string_view name) const {
    TRY(const auto value, file_.get_int(key(name)));
    if (!value) return missing(name);
    return *value;
  }

  Result<std::vector<std::string>> names(std::string_view name) const {
    TRY(const auto texts, file_.get_strings(key(name)));
    std::vector<std::string> all;
    if (texts) all.assign(texts->begin(), texts->end());
    return all;
  }

  Result<void> read_signs() {
    TRY(const auto mode, file_.get_string(key("sign_mode")));
    if (!mode) return missing("sign_mode");
    if (*mode == "identity") return {};
    if (*mode != "explicit") return unknown_value("sign_mode", tern::quoted(*mode), "explicit and identity");
    TRY(const auto widths, file_.get_ints(key("sign_widths")));
    if (!widths) return missing("sign_widths");
    TRY(const auto values, file_.get_ints(key("sign_values")));
    if (!values) return missing("sign_values");
    size_t at = 0;
    for (const int64_t width : *widths) {
      if (width < 1 || static_cast<uint64_t>(width) > values->size() - at) break;
      const auto first = values->begin() + static_cast<ptrdiff_t>(at);
      std::vector<float> signs(first, first + width);
      if (std::ranges::any_of(signs, [](float sign) { return sign != 1 && sign != -1; })) {
        return fail(ErrorCode::kCorruption, "{}: {} has a value that is neither 1 nor -1; download the file again",
                    file_.path(), key("sign_values"));
      }
      rotation_.signs[static_cast<int>(width)] = std::move(signs);
      at += static_cast<size_t>(width);
    }
    if (at == values->size() && rotation_.signs.size() == widths->size()) return {};
    return fail(ErrorCode::kCorruption, "{}: {} has {} values, not as many as {} asks for; convert the model again",
                file_.path(), key("sign_values"), values->size(), key("sign_widths"));
  }

  const GgufFile& file_;
  Rotation rotation_;
};

// Marks one matrix after another.
class Marker {
 public:
  Marker(const Rotation& rotation, const std::string& path, Weights& weights)
      : rotation_(rotation), path_(path), weights_(weights) {}

  Result<void> mark(Tensor& w) {
    if (w.cols % rotation_.block != 0) {
      return fail(ErrorCode::kCorruption, "{}: rows of {} have {} values, which blocks of {} ({}block_size) do not fit",
                  path_, w.name, w.cols, rotation_.block, kPrefix);
    }
    TRY(w.rotation, signs_for(w.cols));
    return {};
  }

 private:
  Result<const Tensor*> signs_for(int width) {
    for (const auto& signs : weights_.signs) {
      if (signs->cols == width) return signs.get();
    }
    const auto n = static_cast<size_t>(width);
    auto values = std::make_unique<float[]>(n);
    if (rotation_.signs.empty()) {
      std::fill_n(values.get(), n, 1.0f);
    } else if (const auto found = rotation_.signs.find(width); found != rotation_.signs.end()) {
      std::ranges::copy(found->second, values.get());
    } else {
      return fail(ErrorCode::kCorruption,
                  "{}: {}sign_widths has no signs for inputs of {} values; convert the model "
                  "again",
                  path_, kPrefix, width);
    }
    weights_.signs.push_back(
        std::make_unique<Tensor>(Tensor{.name = "rotation." + std::to_string(width),
                                        .format = Format::kF32,
                                        .rows = 1,
                                        .cols = width,
                                        .data = std::as_bytes(std::span<const float>(values.get(), n))}));
    weights_.made.push_back(std::move(values));
    return weights_.signs.back().get();
  }

  const Rotation& rotation_;
  const std::string& path_;
  Weights& weights_;
};

}  // namespace

Result<std::optional<Rotation>> read_rotation(const GgufFile& file) {
  const auto is_of_rotation = [](const auto& entry) { return entry.first.starts_with(kPrefix); };
  if (std::ranges::none_of(file.metadata(), is_of_rotation)) return std::optional<Rotation>();
  return RotationReader(file).read().transform([](Rotation r) { return std::optional(std::move(r)); });
}

Result<void> apply_rotation(const Rotation& rotation, const std::string& path, Config& config, Weights& weights) {
  if (config.int8_activations) {
    return fail(ErrorCode::kNotSupported,
                "{}: the weights are rotated, and are multiplied with int8 rows, which Tern does not compute together",
                path);
  }
  config.rotation_block = rotation.block;
  config.delta.rotates_grouped = rotation.groups_heads && config.delta.is_tiled;
  std::map<std::string, Tensor*, std::less<>> matrices;
  for (Layer& layer : weights.layers) {
    for (Linear* linear : layer.linears()) {
      if (linear->is_present()) matrices[linear->name] = linear;
    }
  }
  const bool is_tied = weights.output.name == weights.token_embd.name;
  if (!is_tied) matrices[weights.output.name] = &weights.output;
  Marker marker(rotation, path, weights);
  for (const std::string& name : rotation.weights) {
    const auto found = matrices.find(name);
    if (found == matrices.end()) {
      return fail(ErrorCode::kCorruption, "{}: {}weight_names lists {}, which is no matrix of a layer or the head",
                  path, kPrefix, tern::quoted(name));
    }
    if (found->second->n_experts > 0) {
      return fail(ErrorCode::kNotSupported,
                  "{}: {}weight_names lists {}; Tern does not compute rotated experts of a mixture", path, kPrefix,
                  tern::quoted(name));
    }
    TRY_STATUS(marker.mark(*found->second));
  }
  for (const std::string& name : rotation.tables) {
    if (name != weights.token_embd.name || is_tied) {
      return fail(ErrorCode::kNotSupported,
                  "{}: {}inverse_weight_names lists {}; Tern knows only the embedding, and "
                  "only if it is not the head too",
                  path, kPrefix, tern::quoted(name));
    }
    TRY_STATUS(marker.mark(weights.token_embd));
  }
  return {};
}

}  // namespace tern
