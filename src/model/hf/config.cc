#include "model/hf/config.h"

#include <algorithm>
#include <array>

#include "base/text/quoted.h"
#include "model/hf/json_config.h"

namespace tern {
namespace {

// 1bitLLM's models have the model_type "llama" and one of these classes.
constexpr std::array kBitnetClasses = {"BitNetForCausalLM", "BitnetForCausalLM"};

std::string known_model_types() {
  std::string names;
  for (const Family& family : families()) {
    for (const std::string_view type : {family.model_type, family.outer_model_type}) {
      if (!type.empty()) names += (names.empty() ? "" : ", ") + std::string(type);
    }
  }
  return names;
}

bool has_bitnet_class(const JsonConfig& config) {
  const auto classes = config.json().find("architectures");
  if (classes == config.json().end() || !classes->is_array()) return false;
  return std::ranges::any_of(*classes, [](const Json& name) {
    return name.is_string() && std::ranges::contains(kBitnetClasses, name.get_ref<const std::string&>());
  });
}

// The part of a configuration for text and images that describes the text's model. What the outer object says, it says
// of the whole model.
Result<Json> text_part(Json root, const std::string& path) {
  const JsonConfig outer(root, path);
  TRY(const auto type, outer.text("model_type"));
  if (!type || type->empty() || !std::ranges::contains(families(), *type, &Family::outer_model_type)) return root;
  TRY(const Json* inner, outer.object("text_config"));
  if (!inner) {
    return fail(ErrorCode::kCorruption, "{}: \"text_config\" is missing; download the file again", path);
  }
  Json text = *inner;
  for (const char* key : {"architectures", "quantization_config", "tie_word_embeddings"}) {
    if (root.contains(key) && !root[key].is_null()) text[key] = root[key];
  }
  return text;
}

Result<const Family*> read_family(const JsonConfig& config) {
  TRY(const auto type, config.text("model_type"));
  if (!type) {
    return fail(ErrorCode::kCorruption, "{}: \"model_type\" is missing, so this is not a model's configuration",
                config.path());
  }
  const auto found = std::ranges::find(families(), *type, &Family::model_type);
  if (type->empty() || found == families().end()) {
    return fail(ErrorCode::kNotSupported, "{}: model_type {} is not one that Tern runs ({})", config.path(),
                tern::quoted(*type), known_model_types());
  }
  return *type == "llama" && has_bitnet_class(config) ? find_family("bitnet-b1.58") : &*found;
}

// Tern makes all linear layers except the output head ternary, and no others.
Result<void> check_kept_modules(const JsonConfig& quantization) {
  const auto kept = quantization.json().find("modules_to_not_convert");
  if (kept == quantization.json().end() || kept->is_null()) return {};
  for (const Json& name : *kept) {
    if (name.is_string() && name.get_ref<const std::string&>().starts_with("lm_head")) continue;
    return fail(
        ErrorCode::kNotSupported,
        "{}: quantization_config.modules_to_not_convert names {}; Tern runs models whose layers are all ternary",
        quantization.path(), tern::quoted(name.dump(-1, ' ', true)));
  }
  return {};
}

// The norms that use_rms_norm puts before every linear layer must have the model's own epsilon.
Result<void> check_norm_eps(const JsonConfig& config, const JsonConfig& quantization) {
  constexpr double kUsualEps = 1e-6;
  TRY(const auto eps, quantization.number("rms_norm_eps"));
  TRY(const auto own, config.number("rms_norm_eps"));
  if (eps.value_or(kUsualEps) == own) return {};
  return fail(ErrorCode::kNotSupported,
              "{}: quantization_config.rms_norm_eps is {}, but rms_norm_eps {}; Tern computes all norms with one",
              config.path(), eps.value_or(kUsualEps), own.value_or(0));
}

Result<HfLinear> read_bitnet_quantization(const JsonConfig& quantization) {
  TRY(const auto linear_class, quantization.text("linear_class"));
  TRY(const auto mode, quantization.text("quantization_mode"));
  TRY_STATUS(check_kept_modules(quantization));
  const std::string kind = linear_class.value_or("bitlinear"), when = mode.value_or("offline");
  if (kind == "bitlinear") return HfLinear::kPackedDivide;
  if (kind == "autobitlinear" && when == "offline") return HfLinear::kPackedMultiply;
  if (kind == "autobitlinear" && when == "online") return HfLinear::kTernaryLatent;
  return fail(ErrorCode::kNotSupported,
              "{}: quantization_config has the linear_class {} with quantization_mode {}; Tern knows bitlinear, and "
              "autobitlinear with offline or online",
              quantization.path(), tern::quoted(kind), tern::quoted(when));
}

// True if every linear layer has its own norm before it.
Result<bool> read_input_norms(const JsonConfig& config) {
  TRY(const Json* object, config.object("quantization_config"));
  if (!object) return false;
  const JsonConfig quantization(*object, config.path());
  TRY(const auto has_norms, quantization.flag("use_rms_norm"));
  if (has_norms.value_or(false)) TRY_STATUS(check_norm_eps(config, quantization));
  return has_norms.value_or(false);
}

Result<HfLinear> read_linear(const JsonConfig& config, std::string_view architecture) {
  TRY(const Json* object, config.object("quantization_config"));
  if (!object) return architecture.starts_with("bitnet") ? HfLinear::kTernaryLatent : HfLinear::kFloat;
  const JsonConfig quantization(*object, config.path());
  TRY(const auto method, quantization.text("quant_method"));
  if (method == "bitnet") return read_bitnet_quantization(quantization);
  if (method == "mxfp4" && architecture == "gpt-oss") return HfLinear::kFloat;  // only the experts, as tensors tell
  return fail(ErrorCode::kNotSupported,
              "{}: the weights are quantized by {}, which Tern cannot read; get the original model, or a GGUF file of "
              "it",
              config.path(), tern::quoted(method.value_or("an unnamed method")));
}

}  // namespace

Result<HfConfig> parse_hf_config(std::string_view text, const std::string& path) {
  TRY(Json root, parse_json(text, path, {.max_bytes = size_t{1} << 20}));
  if (!root.is_object()) return fail(ErrorCode::kCorruption, "{}: the configuration is not a JSON object", path);
  TRY(const Json text_root, text_part(std::move(root), path));
  const JsonConfig config(text_root, path);
  TRY(const Family* family, read_family(config));
  HfConfig out{.family = family,
               .architecture = std::string(family->architecture),
               .linear = HfLinear::kFloat,
               .tied = {},
               .values = SourceValues(path)};
  TRY(out.linear, read_linear(config, out.architecture));
  TRY(out.has_input_norms, read_input_norms(config));
  TRY(out.tied, config.flag("tie_word_embeddings"));
  TRY(out.attention_bias, config.flag("attention_bias"));
  TRY(out.mlp_bias, config.flag("mlp_bias"));
  TRY_STATUS(set_transformer_values(config, out.architecture, out.values));
  return out;
}

}  // namespace tern
