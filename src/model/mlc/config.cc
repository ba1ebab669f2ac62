#include "model/mlc/config.h"

#include <algorithm>
#include <array>

#include "base/text/quoted.h"
#include "model/hf/json_config.h"

namespace tern {
namespace {

constexpr std::array<std::string_view, 3> kArchitectures = {"llama", "phi3", "qwen3"};  // same names in GGUF

struct Quantization {
  std::string_view name;
  std::string_view why_not;  // empty: Tern reads it
};
constexpr Quantization kQuantizations[] = {
    {"q4f16_1", ""},
    {"q4f32_1", ""},
    {"q0f16", ""},
    {"q0bf16", ""},
    {"q0f32", ""},
    {"q4f16_0", "its matrices lie transposed"},
    {"q4f16_2", "it leaves some matrices unquantized"},
    {"q3f16_0", "it packs 3-bit codes"},
    {"q3f16_1", "it packs 3-bit codes"},
    {"q4f16_awq", "it is AWQ"},
    {"q4f16_autoawq", "it is AWQ"},
    {"e4m3_e4m3_f16", "it is FP8"},
    {"e5m2_e5m2_f16", "it is FP8"},
};

Result<void> check_quantization(const JsonConfig& config) {
  TRY(const auto name, config.text("quantization"));
  if (!name)
    return fail(ErrorCode::kCorruption, "{}: \"quantization\" is missing; download the file again", config.path());
  const auto* found = std::ranges::find(kQuantizations, *name, &Quantization::name);
  const bool is_known = found != std::end(kQuantizations);
  if (is_known && found->why_not.empty()) return {};
  return fail(ErrorCode::kNotSupported,
              "{}: the weights are quantized as {}, which Tern cannot read ({}); get q4f16_1 or q4f32_1", config.path(),
              tern::quoted(*name), is_known ? found->why_not : "it is not known");
}

Result<void> set_parts(MlcConfig& config, const std::string& path) {
  const std::string prefix = config.architecture + ".";
  const auto value = [&](std::string_view key) { return config.values.get_int(prefix + std::string(key)); };
  TRY(const auto n_heads, value("attention.head_count"));
  TRY(const auto n_kv_heads, value("attention.head_count_kv"));
  TRY(const auto head_dim, value("attention.key_length"));
  TRY(const auto width, value("embedding_length"));
  constexpr int64_t kMost = 1 << 20;
  for (const int64_t n : {n_heads.value_or(0), n_kv_heads.value_or(1), head_dim.value_or(1), width.value_or(0)}) {
    if (n < 1 || n > kMost) {
      return fail(ErrorCode::kCorruption, "{}: a width or number of heads is {}, outside 1 to {}", path, n, kMost);
    }
  }
  const int64_t dim = head_dim.value_or(*width / *n_heads);
  config.q_rows = *n_heads * dim;
  config.kv_rows = n_kv_heads.value_or(*n_heads) * dim;
  return {};
}

}  // namespace

Result<MlcConfig> parse_mlc_config(std::string_view text, const std::string& path) {
  TRY(const Json root, parse_json(text, path, {.max_bytes = size_t{1} << 20}));
  if (!root.is_object()) return fail(ErrorCode::kCorruption, "{}: the configuration is not a JSON object", path);
  const JsonConfig config(root, path);
  TRY(const auto type, config.text("model_type"));
  if (!type || !std::ranges::contains(kArchitectures, *type)) {
    return fail(type ? ErrorCode::kNotSupported : ErrorCode::kCorruption,
                "{}: model_type {} is not one that Tern runs from an MLC directory (llama, phi3, qwen3)", path,
                tern::quoted(type.value_or("")));
  }
  TRY_STATUS(check_quantization(config));
  TRY(const Json* object, config.object("model_config"));
  if (!object) return fail(ErrorCode::kCorruption, "{}: \"model_config\" is missing; download the file again", path);
  MlcConfig out{.architecture = *type, .tied = {}, .values = SourceValues(path)};
  const JsonConfig model(*object, path);
  TRY(out.tied, model.flag("tie_word_embeddings"));
  TRY_STATUS(set_transformer_values(model, out.architecture, out.values));
  TRY_STATUS(set_parts(out, path));
  return out;
}

}  // namespace tern
