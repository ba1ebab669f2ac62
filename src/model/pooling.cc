#include "model/pooling.h"

#include <algorithm>
#include <filesystem>

#include "base/files/mapped_file.h"
#include "base/json_reader.h"
#include "base/text/quoted.h"

namespace tern {
namespace {

// GGUF's numbers, from llama.cpp's enum llama_pooling_type.
Result<Pooling> of_type(const Model& model, int64_t type) {
  constexpr int64_t kNone = 0, kMean = 1, kLast = 3;
  if (type == kMean) return Pooling::kMean;
  if (type == kNone || type == kLast) return Pooling::kLast;
  return fail(ErrorCode::kNotSupported,
              "{}: {}.pooling_type is {}, which Tern does not compute (it knows 1, mean, and 3, last)", model.path,
              model.config.architecture, type);
}

struct PoolingMode {
  std::string_view name;  // sentence-transformers' name
  Pooling pooling;
};

Result<Pooling> of_directory(const std::string& path) {
  TRY(const auto text, read_text_file(path));
  TRY(const Json json, parse_json(text, path, {.max_bytes = size_t{1} << 16}));
  constexpr PoolingMode kKnown[] = {{"pooling_mode_mean_tokens", Pooling::kMean},
                                    {"pooling_mode_lasttoken", Pooling::kLast}};
  std::optional<Pooling> found;
  if (!json.is_object()) return fail(ErrorCode::kCorruption, "{}: this is not a JSON object; download it again", path);
  for (const auto& [key, value] : json.items()) {
    if (!key.starts_with("pooling_mode_") || value != true) continue;
    const auto* known = std::ranges::find(kKnown, key, &PoolingMode::name);
    if (known == std::end(kKnown) || found) {
      return fail(ErrorCode::kNotSupported,
                  "{}: {} is set{}; Tern computes pooling_mode_mean_tokens or pooling_mode_lasttoken", path,
                  tern::quoted(key), found ? " beside another" : "");
    }
    found = known->pooling;
  }
  return found.value_or(Pooling::kLast);
}

}  // namespace

Result<Pooling> read_pooling(const Model& model) {
  const bool is_bitnet_embedding =
      !model.weights.layers.empty() && model.weights.layers[0].attn_q.input_norm.is_present();
  if (is_bitnet_embedding) return Pooling::kLast;
  TRY(const auto type, model.source->get_int(model.config.architecture + ".pooling_type"));
  if (type) return of_type(model, *type);
  const std::filesystem::path beside = std::filesystem::path(model.path) / "1_Pooling" / "config.json";
  return is_file(beside.string()) ? of_directory(beside.string()) : Pooling::kLast;
}

}  // namespace tern
