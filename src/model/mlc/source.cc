#include "model/mlc/source.h"

#include <algorithm>

#include "base/text/format_text.h"
#include "base/text/quoted.h"
#include "model/hf/names.h"
#include "model/mlc/q4.h"
#include "model/source/ignored_keys.h"
#include "quant/formats/q4_0.h"

namespace tern {
namespace {

// Which rows of MLC's tensor form the requested one.
enum class Part { kAll, kQ, kK, kV, kGate, kUp };

struct MlcName {
  std::string_view gguf;
  std::string_view mlc;
  Part part = Part::kAll;
};

// An architecture's names; `layers` precedes a layer's number.
struct Names {
  std::string_view architecture;
  std::string_view layers;
  std::vector<MlcName> outer;
  std::vector<MlcName> in_layer;
};

// Sources: mlc-llm, python/mlc_llm/model/{llama,phi3,qwen3}/*_loader.py. The Phi-3 family takes fused matrices whole.
std::vector<MlcName> llama_layer(std::string_view fused) {
  return {{"attn_norm", "input_layernorm"},
          {"attn_q", fused, Part::kQ},
          {"attn_k", fused, Part::kK},
          {"attn_v", fused, Part::kV},
          {"attn_q_norm", "self_attn.q_norm"},
          {"attn_k_norm", "self_attn.k_norm"},
          {"attn_output", "self_attn.o_proj"},
          {"ffn_norm", "post_attention_layernorm"},
          {"ffn_gate", "mlp.gate_up_proj", Part::kGate},
          {"ffn_up", "mlp.gate_up_proj", Part::kUp},
          {"ffn_down", "mlp.down_proj"}};
}

const Names& names_of(std::string_view architecture) {
  static const std::vector<MlcName> kOuter = {
      {"token_embd", "model.embed_tokens"}, {"output_norm", "model.norm"}, {"output", "lm_head"}};
  static const std::vector<Names> kNames = {
      {"llama", "model.layers.", kOuter, llama_layer("self_attn.qkv_proj")},
      {"qwen3", "model.layers.", kOuter, llama_layer("self_attn.c_attn")},
      {"phi3",
       "transformer.h.",
       {{"token_embd", "transformer.embd"}, {"output_norm", "transformer.norm"}, {"output", "lm_head"}},
       {{"attn_norm", "ln"},
        {"attn_qkv", "mixer.qkv_proj"},
        {"attn_output", "mixer.out_proj"},
        {"ffn_norm", "post_attention_layernorm"},
        {"ffn_up", "mlp.gate_up_proj"},
        {"ffn_down", "mlp.down_proj"}}},
  };
  return *std::ranges::find(kNames, architecture, &Names::architecture);
}

struct Wanted {
  std::string mlc;  // without ".weight" and other endings
  Part part = Part::kAll;
};

std::optional<Wanted> wanted(const Names& names, std::string_view gguf_name) {
  constexpr std::string_view kWeight = ".weight";
  const auto layer = parse_layer_name(gguf_name);
  if (!layer && !gguf_name.ends_with(kWeight)) return std::nullopt;
  const std::string_view rest = layer ? layer->rest : gguf_name.substr(0, gguf_name.size() - kWeight.size());
  const auto& table = layer ? names.in_layer : names.outer;
  const auto found = std::ranges::find(table, rest, &MlcName::gguf);
  if (found == table.end()) return std::nullopt;
  std::string name = layer ? format_text("{}{}.{}", names.layers, layer->number, found->mlc) : std::string(found->mlc);
  return Wanted{std::move(name), found->part};
}

// The GGUF names of everything that the tensor holds; empty: an unknown tensor.
std::vector<std::string> gguf_names(const Names& names, std::string_view mlc_name) {
  std::vector<std::string> found;
  for (const std::string_view end : {".q_weight", ".q_scale", ".weight"}) {
    if (!mlc_name.ends_with(end)) continue;
    std::string_view rest = mlc_name.substr(0, mlc_name.size() - end.size());
    std::string prefix;
    if (rest.starts_with(names.layers)) {
      const size_t dot = std::min(rest.size(), rest.find('.', names.layers.size()));
      prefix = format_text("blk.{}.", rest.substr(names.layers.size(), dot - names.layers.size()));
      rest.remove_prefix(std::min(rest.size(), dot + 1));
    }
    for (const MlcName& name : prefix.empty() ? names.outer : names.in_layer) {
      if (name.mlc == rest) found.push_back(prefix + std::string(name.gguf) + ".weight");
    }
    break;
  }
  return found;
}

std::optional<Format> format_of(const MlcTensor& tensor) {
  if (tensor.dtype == "float32") return tensor.format == "f32-to-bf16" ? Format::kBF16 : Format::kF32;
  if (tensor.dtype == "float16") return Format::kF16;
  if (tensor.dtype == "bfloat16") return Format::kBF16;
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<MlcSource>> MlcSource::open(std::shared_ptr<const Folder> folder, const MlcCheck& check,
                                                   Access access) {
  TRY(const auto text, folder->open("mlc-chat-config.json"));
  TRY(MlcConfig config, parse_mlc_config(as_text(text->resident()), text->path()));
  TRY(MlcDirectory files, MlcDirectory::open(*folder, check, access));
  std::unique_ptr<MlcSource> source(new MlcSource(std::move(folder), std::move(config), std::move(files), access));
  TRY_STATUS(source->check_tensors());
  return source;
}

// Refuses unknown tensors, which would otherwise be ignored silently.
Result<void> MlcSource::check_tensors() const {
  const Names& names = names_of(config_.architecture);
  for (const MlcTensor& tensor : files_.tensors()) {
    if (!gguf_names(names, tensor.name).empty()) continue;
    return unknown_tensor(path(), tensor.name, config_.architecture);
  }
  if (config_.tied == false && !has_tensor("output.weight")) {
    return fail(ErrorCode::kCorruption,
                "{}: tensor lm_head is missing, but mlc-chat-config.json has tie_word_embeddings false; download all "
                "files again",
                path());
  }
  return {};
}

std::vector<NamedTensor> MlcSource::tensor_names() const {
  const Names& names = names_of(config_.architecture);
  std::vector<NamedTensor> all;
  for (const MlcTensor& tensor : files_.tensors()) all.push_back({tensor.name, gguf_names(names, tensor.name)});
  return all;
}

bool MlcSource::has_in_files(std::string_view name) const {
  const auto found = wanted(names_of(config_.architecture), name);
  return found && (files_.find(found->mlc + ".q_weight") || files_.find(found->mlc + ".weight"));
}

Result<std::optional<SourceTensor>> MlcSource::find_in_files(std::string_view name) {
  const auto found = wanted(names_of(config_.architecture), name);
  if (!found) return std::nullopt;
  TRY(auto whole, find_whole(found->mlc));
  if (!whole) return std::nullopt;
  whole->name = std::string(name);
  if (found->part == Part::kAll || !whole->format || whole->shape.size() != 2) return whole;
  const int64_t q = config_.q_rows, kv = config_.kv_rows, half = whole->shape[0] / 2;
  const bool is_qkv = found->part == Part::kQ || found->part == Part::kK || found->part == Part::kV;
  if (whole->shape[0] != (is_qkv ? q + 2 * kv : 2 * half)) {
    return fail(ErrorCode::kCorruption, "{}: tensor {} has {} rows, which are not those of its parts", path(),
                found->mlc, whole->shape[0]);
  }
  const auto rows = [&](int64_t first, int64_t n) {
    const uint64_t bytes = row_bytes(*whole->format, whole->shape[1]);
    whole->data = whole->data.subspan(static_cast<uint64_t>(first) * bytes, static_cast<uint64_t>(n) * bytes);
    whole->shape[0] = n;
    return whole;
  };
  switch (found->part) {
    case Part::kQ:
      return rows(0, q);
    case Part::kK:
      return rows(q, kv);
    case Part::kV:
      return rows(q + kv, kv);
    case Part::kGate:
      return rows(0, half);
    default:
      return rows(half, half);
  }
}

// MLC's tensor `name`, cached under that name.
Result<std::optional<SourceTensor>> MlcSource::find_whole(const std::string& name) {
  if (const SourceTensor* made = made_.find(name)) return *made;
  if (const MlcTensor* codes = files_.find(name + ".q_weight")) {
    TRY(SourceTensor tensor, repack(name, *codes));
    return made_.add(std::move(tensor));
  }
  if (const MlcTensor* in_file = files_.find(name + ".weight")) {
    TRY(SourceTensor tensor, view(name, *in_file));
    return made_.add(std::move(tensor));
  }
  return std::nullopt;
}

Result<SourceTensor> MlcSource::repack(const std::string& name, const MlcTensor& codes) {
  const MlcTensor* scales = files_.find(name + ".q_scale");
  if (!scales)
    return fail(ErrorCode::kCorruption, "{}: tensor {}.q_scale is missing; download all files again", path(), name);
  const bool is_bf16 = scales->dtype == "float32" && scales->format == "f32-to-bf16";
  const bool fits = codes.dtype == "uint32" && (scales->dtype == "float16" || is_bf16) && codes.shape.size() == 2 &&
                    scales->shape.size() == 2 && codes.shape[0] == scales->shape[0] && codes.shape[0] > 0 &&
                    codes.shape[1] > 0 && codes.shape[1] == 4 * scales->shape[1];
  if (!fits) {
    return fail(ErrorCode::kNotSupported,
                "{}: tensors {}.q_weight and .q_scale are not those of q4f16_1 or q4f32_1 (uint32 [rows, width/8], and "
                "[rows, width/32] of float16, or of float32 stored as bfloat16); get the model as q4f16_1",
                path(), name);
  }
  const int64_t rows = codes.shape[0], cols = 8 * codes.shape[1];
  const MlcScales kind = is_bf16 ? MlcScales::kBF16 : MlcScales::kF16;
  const auto make = [name, cols, kind, in_codes = codes.data, in_scales = scales->data, this](
                        uint64_t first, uint64_t n, MutableBytes out) -> Result<void> {
    const auto n_cols = static_cast<uint64_t>(cols);
    const uint64_t code_row = n_cols / 2, scale_row = n_cols / kQ4_0Block * sizeof(uint16_t);
    Scratch code_scratch, scale_scratch;
    TRY(const Bytes code_bytes, in_codes.read(first * code_row, n * code_row, code_scratch));
    TRY(const Bytes scale_bytes, in_scales.read(first * scale_row, n * scale_row, scale_scratch));
    if (repack_mlc_q4(code_bytes, scale_bytes, kind, static_cast<int64_t>(n), cols, out, made_.pool())) return {};
    return fail(ErrorCode::kCorruption,
                "{}: tensor {} holds codes or scales that {} never has; the file is damaged, or quantized in "
                "another way",
                path(), name, kind == MlcScales::kBF16 ? "q4f32_1" : "q4f16_1");
  };
  auto q4_0_rows =
      std::make_unique<MadeRows>(row_bytes(Format::kQ4_0, cols), static_cast<uint64_t>(rows), std::move(make));
  TRY(const StoredBytes q4_0, made_.make(std::move(q4_0_rows), path()));
  return SourceTensor{.name = name,
                      .format = Format::kQ4_0,
                      .type_name = is_bf16 ? "q4f32_1" : "q4f16_1",
                      .shape = {rows, cols},
                      .data = q4_0};
}

Result<SourceTensor> MlcSource::view(const std::string& name, const MlcTensor& in_file) {
  if (in_file.bytes == 0) return fail(ErrorCode::kCorruption, "{}: tensor {} is empty", path(), name);
  SourceTensor tensor{.name = name,
                      .format = format_of(in_file),
                      .type_name = tern::quoted(in_file.dtype),
                      .shape = in_file.shape,
                      .data = in_file.data};
  if (tensor.format && tensor.shape.size() == 1) return make_f32_vector(std::move(tensor), made_, path());
  return make_aligned(std::move(tensor), made_, path());
}

}  // namespace tern
