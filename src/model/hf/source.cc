#include "model/hf/source.h"

#include <algorithm>
#include <cmath>

#include "base/text/quoted.h"
#include "model/hf/gpt_oss_experts.h"
#include "model/hf/names.h"
#include "model/hf/ternary.h"
#include "model/source/expert_tensors.h"
#include "model/source/ignored_keys.h"
#include "quant/formats/i2_s.h"

namespace tern {
namespace {

constexpr std::string_view kConfigFile = "config.json";
constexpr std::string_view kHead = "output.weight";

std::optional<Format> format_of(std::string_view dtype) {
  if (dtype == "F32") return Format::kF32;
  if (dtype == "F16") return Format::kF16;
  if (dtype == "BF16") return Format::kBF16;
  return std::nullopt;
}

}  // namespace

bool is_hf_directory(const Folder& folder) { return folder.has(kConfigFile); }

Result<std::unique_ptr<HfSource>> HfSource::open(std::shared_ptr<const Folder> folder, Access access) {
  TRY(const auto text, folder->open(kConfigFile));
  TRY(HfConfig config, parse_hf_config(as_text(text->resident()), text->path()));
  TRY(SafetensorsDirectory files, SafetensorsDirectory::open(*folder, access));
  std::unique_ptr<HfSource> source(new HfSource(std::move(folder), std::move(config), std::move(files), access));
  TRY_STATUS(source->check_tensors());
  TRY_STATUS(source->find_prediction());
  return source;
}

// Refuses unknown tensors, which would otherwise be ignored silently.
Result<void> HfSource::check_tensors() const {
  for (const SafetensorsTensor* tensor : files_.tensors()) {
    if (is_known_hf_name(family(), tensor->name)) continue;
    return unknown_tensor(path(), tensor->name, config_.architecture);
  }
  TRY(const auto n_layers, get_int(config_.architecture + ".block_count"));
  const std::string beyond = format_text("blk.{}.", n_layers.value_or(0));
  if (std::ranges::any_of(files_.tensors(), [&](const auto* tensor) {
        return gguf_name_of(family(), tensor->name).value_or("").starts_with(beyond);
      })) {
    return fail(
        ErrorCode::kCorruption,
        "{}: config.json has {} layers, but there are tensors of more layers; the files belong to different models",
        path(), n_layers.value_or(0));
  }
  TRY_STATUS(check_claims());
  if (config_.tied == false && !has_tensor(kHead)) {
    return fail(ErrorCode::kCorruption,
                "{}: tensor lm_head.weight is missing, but config.json has tie_word_embeddings false; download all "
                "files again",
                path());
  }
  return {};
}

// Offers the layer that proposes draft tokens as GGUF files do, behind the last one. In any other form it is left out,
// with which the model computes the same.
Result<void> HfSource::find_prediction() {
  if (!family().parts.delta) return {};
  const std::string prefix = config_.architecture + ".";
  TRY(const auto n_layers, get_int(prefix + "block_count"));
  const int64_t number = n_layers.value_or(0);
  bool is_there = false;
  for (const SafetensorsTensor* tensor : files_.tensors()) {
    if (!is_prediction_name(tensor->name)) continue;
    if (!gguf_prediction_name(family(), tensor->name, number)) return {};
    is_there = true;
  }
  if (!is_there) return {};
  config_.values.set(prefix + "block_count", number + 1);
  config_.values.set(prefix + "nextn_predict_layers", int64_t{1});
  n_layers_ = number;
  prediction_ = format_text("blk.{}.", number);
  return {};
}

std::optional<std::string> HfSource::gguf_name(const SafetensorsTensor& tensor) const {
  if (!is_prediction_name(tensor.name)) return gguf_name_of(family(), tensor.name);
  if (prediction_.empty()) return std::nullopt;
  return gguf_prediction_name(family(), tensor.name, n_layers_);
}

// Checks what the configuration says about optional tensors, because transformers relies on that alone.
Result<void> HfSource::check_claims() const {
  struct Claim {
    std::string_view key;
    std::optional<bool> says;
    std::string_view tensor;
  };
  for (const Claim& claim :
       {Claim{"quantization_config.use_rms_norm", config_.has_input_norms, "blk.0.attn_q_norm_in.weight"},
        {"attention_bias", config_.attention_bias, "blk.0.attn_q.bias"},
        {"mlp_bias", config_.mlp_bias, "blk.0.ffn_up.bias"}}) {
    const bool is_there = has_tensor(claim.tensor);
    if (claim.says.value_or(is_there) == is_there) continue;
    return fail(ErrorCode::kCorruption,
                "{}: config.json has {} {}, but tensor {} is {}; the files belong to different models", path(),
                claim.key, *claim.says, hf_names(family(), claim.tensor).front(), is_there ? "there" : "missing");
  }
  return {};
}

const SafetensorsTensor* HfSource::find_file_tensor(std::string_view gguf_name) const {
  if (gguf_name == kHead && config_.tied.value_or(false)) return nullptr;
  const bool predicts = !prediction_.empty() && gguf_name.starts_with(prediction_);
  for (const std::string& name : predicts ? hf_prediction_names(family(), gguf_name) : hf_names(family(), gguf_name)) {
    if (const SafetensorsTensor* tensor = files_.find(name)) return tensor;
  }
  return nullptr;
}

std::vector<NamedTensor> HfSource::tensor_names() const {
  std::vector<NamedTensor> names;
  for (const SafetensorsTensor* tensor : files_.tensors()) {
    const auto name = gguf_name(*tensor);
    if (!name || (*name == kHead && config_.tied.value_or(false))) continue;
    names.push_back({tensor->name, {*name}});
  }
  return names;
}

bool HfSource::has_in_files(std::string_view name) const { return find_file_tensor(name) != nullptr; }

Result<std::optional<SourceTensor>> HfSource::find_in_files(std::string_view name) {
  if (const SourceTensor* made = made_.find(name)) return *made;
  const SafetensorsTensor* in_file = find_file_tensor(name);
  if (!in_file) return std::nullopt;
  if (in_file->n_elements() == 0) {
    return fail(ErrorCode::kCorruption, "{}: tensor {} is empty", path(), tern::quoted(in_file->name));
  }
  SourceTensor tensor{.name = std::string(name),
                      .format = format_of(in_file->dtype),
                      .type_name = tern::quoted(in_file->dtype),
                      .shape = in_file->shape,
                      .data = in_file->data};
  const HfChange change = change_of(name, *in_file);
  if (config_.linear != HfLinear::kFloat && is_linear_name(family(), name)) {
    TRY(tensor, make_ternary(std::move(tensor), *in_file));
  } else if (change == HfChange::kSqueeze) {
    TRY(tensor, squeeze(std::move(tensor)));
  } else if (change == HfChange::kStack) {
    TRY(tensor, stack(std::move(tensor), *in_file));
  } else if (change == HfChange::kEvenRows || change == HfChange::kOddRows || change == HfChange::kAllRows) {
    TRY(tensor, take_turns(change, std::move(tensor), *in_file));
  } else if (change == HfChange::kFirstHalf || change == HfChange::kLastHalf) {
    tensor = half_of_experts(std::move(tensor), change == HfChange::kFirstHalf, made_);
  } else if (tensor.format && tensor.shape.size() == 1) {
    TRY(tensor, make_f32_vector(std::move(tensor), made_, path(), value_change(name, change)));
  } else {
    TRY(tensor, make_aligned(std::move(tensor), made_, path()));
  }
  return made_.add(std::move(tensor));
}

HfChange HfSource::change_of(std::string_view gguf_name, const SafetensorsTensor& in_file) const {
  const TensorName* known = find_tensor_name(family(), gguf_name, in_file.name);
  return known ? known->change : HfChange::kUsual;
}

// For vectors.
std::function<void(std::span<float>)> HfSource::value_change(std::string_view gguf_name, HfChange change) const {
  if (change == HfChange::kNegatedExp) {
    return [](std::span<float> values) {
      for (float& value : values) value = -std::exp(value);
    };
  }
  const float offset = change == HfChange::kUsual && gguf_name.ends_with(".weight") ? family().hf_norm_offset : 0;
  return [offset](std::span<float> values) {
    for (float& value : values) value += offset;
  };
}

Result<SourceTensor> HfSource::squeeze(SourceTensor tensor) {
  const bool is_squeezable = tensor.format && tensor.shape.size() == 3 && tensor.shape[1] == 1;
  if (!is_squeezable) return tensor;  // the family refuses it
  const int64_t rows = tensor.shape[0], cols = tensor.shape[2];
  tensor.shape = {rows * cols};
  TRY(tensor, make_f32_vector(std::move(tensor), made_, path()));
  tensor.shape = {rows, cols};
  return tensor;
}

// The matrices of all experts, of which `first` is number 0.
Result<SourceTensor> HfSource::stack(SourceTensor tensor, const SafetensorsTensor& first) {
  constexpr std::string_view kFirst = ".experts.0.";
  TRY(const auto n, get_int(config_.architecture + ".expert_count"));
  const size_t at = first.name.find(kFirst);
  if (at == std::string::npos) return tensor;
  const auto of_expert = [&](int64_t number) {
    const std::string_view before = std::string_view(first.name).substr(0, at);
    return format_text("{}.experts.{}.{}", before, number, std::string_view(first.name).substr(at + kFirst.size()));
  };
  std::vector<SourceTensor> others;
  for (int64_t number = 1; number < n.value_or(1); ++number) {
    const SafetensorsTensor* found = files_.find(of_expert(number));
    if (!found) {
      return fail(ErrorCode::kCorruption, "{}: tensor {} is missing; download all files again", path(),
                  of_expert(number));
    }
    others.push_back({.name = found->name,
                      .format = format_of(found->dtype),
                      .type_name = tern::quoted(found->dtype),
                      .shape = found->shape,
                      .data = found->data});
  }
  if (files_.find(of_expert(n.value_or(1)))) {
    return fail(ErrorCode::kCorruption,
                "{}: config.json has {} experts, but there are tensors of more; the files belong to different models",
                path(), n.value_or(1));
  }
  return stack_experts(std::move(tensor), others, made_, path());
}

// Experts of gpt-oss: blocks and their scales are two tensors.
Result<SourceTensor> HfSource::take_turns(HfChange change, SourceTensor tensor, const SafetensorsTensor& in_file) {
  constexpr std::string_view kBlocks = "_blocks", kScales = "_scales";
  const auto missing = [&](const std::string& name) {
    return fail(ErrorCode::kCorruption, "{}: tensor {} is missing, which belongs to {}; download all files again",
                path(), name, in_file.name);
  };
  if (in_file.name.ends_with(kScales)) {
    return missing(in_file.name.substr(0, in_file.name.size() - kScales.size()) + std::string(kBlocks));
  }
  if (!in_file.name.ends_with(kBlocks)) {
    if (!files_.find(in_file.name + std::string(kBlocks))) {
      return make_gpt_oss_experts(change, std::move(tensor), nullptr, made_, path());
    }
    return fail(ErrorCode::kCorruption,
                "{}: tensor {} is there as floats and as blocks; the files belong to different "
                "models",
                path(), in_file.name);
  }
  const std::string name = in_file.name.substr(0, in_file.name.size() - kBlocks.size()) + std::string(kScales);
  const SafetensorsTensor* found = files_.find(name);
  if (!found) return missing(name);
  const SourceTensor scales{.name = found->name,
                            .format = {},
                            .type_name = tern::quoted(found->dtype),
                            .shape = found->shape,
                            .data = found->data};
  return make_gpt_oss_experts(change, std::move(tensor), &scales, made_, path());
}

Result<SourceTensor> HfSource::make_ternary(SourceTensor tensor, const SafetensorsTensor& in_file) {
  if (tensor.shape.size() != 2) return tensor;  // the family refuses it
  if (!is_i2_s_row(tensor.shape[1])) {
    return fail(ErrorCode::kNotSupported,
                "{}: tensor {} has rows of {} values; Tern takes ternary rows of {} or more, a multiple of {}", path(),
                in_file.name, tensor.shape[1], kI2sLeastRow, kI2sRowUnit);
  }
  if (config_.linear != HfLinear::kTernaryLatent) return unpack(std::move(tensor), in_file);
  if (!tensor.format) return tensor;
  const int64_t rows = tensor.shape[0], cols = tensor.shape[1];
  const HfLatent latent{.weights = tensor.data, .format = *tensor.format, .rows = rows, .cols = cols};
  HfTernaryScale scale{.scale = 1, .inverse = 1};
  if (folder()->has_weights()) {
    TRY(scale, hf_ternary_scale(latent, made_.pool()));
  }
  tensor.scale = scale.scale;
  if (!std::isfinite(tensor.scale)) {
    return fail(ErrorCode::kCorruption, "{}: tensor {} has values that are not numbers; download the file again",
                path(), in_file.name);
  }
  tensor.format = Format::kI2_S;
  tensor.type_name = "I2_S";
  const auto make = [latent, scale, this](uint64_t first, uint64_t n, MutableBytes out) {
    return quantize_hf_ternary(latent, scale, {static_cast<int64_t>(first), static_cast<int64_t>(n)}, out,
                               made_.pool());
  };
  TRY(tensor.data, made_.make(i2_s_rows(rows, cols, tensor.scale, make), path()));
  return tensor;
}

Result<SourceTensor> HfSource::unpack(SourceTensor tensor, const SafetensorsTensor& in_file) {
  if (in_file.dtype != "U8") {
    return fail(
        ErrorCode::kNotSupported,
        "{}: tensor {} is {}, but config.json says that it is packed in U8 (quantization_mode offline); files of "
        "different models cannot be used together",
        path(), in_file.name, tensor.type_name);
  }
  TRY(const float weight_scale, read_weight_scale(in_file));
  tensor.scale = config_.linear == HfLinear::kPackedMultiply ? weight_scale : 1.0f / weight_scale;
  const int64_t rows = 4 * tensor.shape[0], cols = tensor.shape[1];
  tensor.format = Format::kI2_S;
  tensor.type_name = "I2_S";
  tensor.shape = {rows, cols};
  const HfPacked packed{.bytes = in_file.data, .rows = rows, .cols = cols};
  const auto make = [packed, &in_file, this](uint64_t first, uint64_t n, MutableBytes out) -> Result<void> {
    TRY(const bool is_good,
        repack_hf_ternary(packed, {static_cast<int64_t>(first), static_cast<int64_t>(n)}, out, made_.pool()));
    if (is_good) return {};
    return fail(
        ErrorCode::kCorruption,
        "{}: tensor {} holds two-bit codes that no ternary weight has; the file is damaged, or packed in another "
        "way; download it again",
        path(), in_file.name);
  };
  TRY(tensor.data, made_.make(i2_s_rows(rows, cols, tensor.scale, make), path()));
  return tensor;
}

// NAME.weight_scale, one float beside NAME.weight.
Result<float> HfSource::read_weight_scale(const SafetensorsTensor& weight) const {
  const std::string name = weight.name + "_scale";
  const SafetensorsTensor* found = files_.find(name);
  if (!found) {
    return fail(ErrorCode::kCorruption,
                "{}: tensor {} is missing, but {} is packed and needs it; download all files again", path(), name,
                weight.name);
  }
  const auto format = format_of(found->dtype);
  float value = 0;
  if (format && found->n_elements() == 1) {
    Scratch scratch;
    TRY(const Bytes bytes, found->data.read_all(scratch));
    format_info(*format).decode(bytes, std::span(&value, 1));
  }
  if (!std::isfinite(value) || value <= 0 || !std::isfinite(1.0f / value)) {
    return fail(ErrorCode::kCorruption, "{}: tensor {} is not one positive float; download the file again", path(),
                name);
  }
  return value;
}

}  // namespace tern
