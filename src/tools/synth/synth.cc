// Streams a random model of a preset's shape to a file.
#include <algorithm>
#include <array>
#include <vector>

#include "base/text/format_text.h"
#include "file/gguf/gguf_writer.h"
#include "model/source/source_reader.h"
#include "tern/tools.h"
#include "tools/row_stream.h"
#include "tools/synth/synth_presets.h"
#include "tools/synth/synth_tensors.h"
#include "tools/synth/synth_tokenizer.h"
#include "tools/type_names.h"

namespace tern {
namespace {

// Formats for arbitrary values, not only ternary ones.
std::vector<Format> head_formats() {
  std::vector<Format> formats;
  for (const Format format : float_row_formats()) {
    if (!format_info(format).is_ternary) formats.push_back(format);
  }
  return formats;
}

// Formats that a family supports: BitNet's layers are ternary, Llama's and Maple's may be.
std::vector<Format> linear_formats(SynthFamily family) {
  std::vector<Format> formats;
  if (family == SynthFamily::kBitnet || family == SynthFamily::kLlama) {
    formats.assign(ternary_formats().begin(), ternary_formats().end());
  }
  if (family == SynthFamily::kBitnet) return formats;
  if (family == SynthFamily::kMaple) return {float_row_formats().begin(), float_row_formats().end()};
  const std::vector<Format> floats = head_formats();
  formats.insert(formats.end(), floats.begin(), floats.end());
  return formats;
}

// Mixed formats as made by llama.cpp's quantize under these names. `more` is for value and down projections of some
// layers. If queries, keys and values are one matrix, `qkv` is for it in all layers.
struct Mixture {
  std::string_view name;
  Format most, more, qkv;
};
constexpr Mixture kMixtures[] = {{"q4_k_m", Format::kQ4_K, Format::kQ6_K, Format::kQ5_K},
                                 {"q5_k_m", Format::kQ5_K, Format::kQ6_K, Format::kQ6_K}};

void mix(const Mixture& mixture, int n_layers, std::span<SynthTensor> tensors) {
  const auto set = [&](int layer, std::string_view part, Format format) {
    const auto tensor = std::ranges::find(tensors, format_text("blk.{}.{}.weight", layer, part), &SynthTensor::name);
    if (tensor != tensors.end()) tensor->format = format;
  };
  for (int layer = 0; layer < n_layers; ++layer) {
    set(layer, "attn_qkv", mixture.qkv);
    if (!has_more_bits(layer, n_layers)) continue;
    set(layer, "attn_v", mixture.more);
    set(layer, "ffn_down", mixture.more);
    set(layer, "ffn_down_exps", mixture.more);
  }
}

Result<const SynthShape*> choose_shape(const std::string& preset) {
  if (const SynthShape* shape = find_synth_shape(preset)) return shape;
  std::string names;
  for (const SynthShape& shape : synth_shapes()) names += (names.empty() ? "" : ", ") + std::string(shape.name);
  return fail(ErrorCode::kInvalidArgument, "synth: no preset is named \"{}\"; choose one of {}", preset, names);
}

Result<void> check_blocks(const SynthShape& shape, std::span<const SynthTensor> tensors) {
  for (const SynthTensor& tensor : tensors) {
    const FormatInfo& format = format_info(tensor.format);
    if (tensor.in_file().bytes() != 0) continue;
    return fail(ErrorCode::kInvalidArgument,
                "synth: {} packs {} values, but rows of {} have {} in preset {}; choose another type or preset",
                format.name, format.block, tensor.name, tensor.cols, shape.name);
  }
  return {};
}

void add_experts(GgufWriter& writer, const SynthShape& shape, const std::string& prefix) {
  const ExpertConfig& e = shape.experts;
  writer.add_u32(prefix + "expert_count", static_cast<uint32_t>(e.n));
  writer.add_u32(prefix + "expert_used_count", static_cast<uint32_t>(e.n_used));
  writer.add_u32(prefix + "expert_feed_forward_length", static_cast<uint32_t>(e.d_ff));
  if (e.d_ff_shared > 0) {
    writer.add_u32(prefix + "expert_shared_feed_forward_length", static_cast<uint32_t>(e.d_ff_shared));
  }
  if (e.limit > 0) {
    writer.add_f32s(prefix + "swiglu_clamp_exp", std::vector(static_cast<size_t>(shape.n_layers), e.limit));
  }
  if (shape.family != SynthFamily::kGptOss) return;
  writer.add_string(prefix + "rope.scaling.type", "yarn");
  writer.add_f32(prefix + "rope.scaling.factor", 32);
  writer.add_u32(prefix + "rope.scaling.original_context_length", static_cast<uint32_t>(shape.n_ctx) / 32);
}

void add_gemma4_keys(GgufWriter& writer, const SynthShape& shape, const std::string& prefix) {
  constexpr float kCap = 30, kLocalTheta = 10000;
  for (const char* name : {"attention.key_length", "attention.value_length", "rope.dimension_count"}) {
    writer.add_u32(prefix + name, static_cast<uint32_t>(shape.whole_head_width));
    writer.add_u32(prefix + name + "_swa", static_cast<uint32_t>(shape.head_dim()));
  }
  std::vector<int32_t> have_windows, kv_heads;
  for (int i = 0; i < shape.n_layers; ++i) {
    have_windows.push_back(shape.is_whole(i) ? 0 : 1);
    kv_heads.push_back(shape.is_whole(i) ? shape.whole_kv_heads : shape.n_kv_heads);
  }
  writer.add_i32s(prefix + "attention.sliding_window_pattern", have_windows);
  writer.add_i32s(prefix + "attention.head_count_kv", kv_heads);
  writer.add_u32(prefix + "attention.shared_kv_layers", 0);
  writer.add_u32(prefix + "embedding_length_per_layer_input", 0);
  writer.add_f32(prefix + "final_logit_softcapping", kCap);
  writer.add_f32(prefix + "rope.freq_base_swa", kLocalTheta);
}

void add_metadata(GgufWriter& writer, const SynthShape& shape, uint64_t seed, bool has_tokenizer) {
  const std::string architecture(architecture_of(shape.family));
  const std::string prefix = architecture + ".";
  const auto add_u32 = [&](std::string_view key, int value) {
    writer.add_u32(prefix + std::string(key), static_cast<uint32_t>(value));
  };
  writer.add_string("general.architecture", architecture);
  writer.add_string("general.name", format_text("{}, {}", shape.name, shape.copies ? "a copier" : "random weights"));
  writer.add_string("general.description", format_text("Made by `tern synth --preset {} --seed {}`", shape.name, seed));
  add_u32("vocab_size", shape.n_vocab);
  add_u32("context_length", shape.n_ctx);
  add_u32("embedding_length", shape.d_model);
  add_u32("block_count", shape.n_layers);
  if (shape.d_ff > 0) add_u32("feed_forward_length", shape.d_ff);
  add_u32("attention.head_count", shape.n_heads);
  if (shape.family == SynthFamily::kGemma4) {
    add_gemma4_keys(writer, shape, prefix);
  } else {
    add_u32("rope.dimension_count", shape.rope_dims > 0 ? shape.rope_dims : shape.head_dim());
    add_u32("attention.head_count_kv", shape.n_kv_heads);
  }
  if (shape.head_width > 0 && shape.family != SynthFamily::kGemma4) {
    add_u32("attention.key_length", shape.head_width);
    add_u32("attention.value_length", shape.head_width);
  }
  if (const DeltaConfig& d = shape.delta; d.n_v_heads > 0) {
    add_u32("ssm.conv_kernel", d.conv_taps);
    add_u32("ssm.state_size", d.head_dim);
    add_u32("ssm.group_count", d.n_k_heads);
    add_u32("ssm.time_step_rank", d.n_v_heads);
    add_u32("ssm.inner_size", d.value_width());
    add_u32("full_attention_interval", 4);
    const int pairs = shape.rope_dims / 2, third = (pairs + 2) / 3;
    writer.add_i32s(prefix + "rope.dimension_sections", std::array{third, third, pairs - 2 * third, 0});
  }
  if (shape.window > 0) add_u32("attention.sliding_window", shape.window);
  if (shape.experts.n > 0) add_experts(writer, shape, prefix);
  if (has_tokenizer) {
    add_byte_tokenizer(writer, shape.n_vocab);
  } else if (shape.family != SynthFamily::kBitnet) {
    writer.add_string("tokenizer.ggml.model", "no_vocab");  // needed by llama.cpp
  }
  writer.add_f32(prefix + "attention.layer_norm_rms_epsilon", shape.rms_eps);
  writer.add_f32(prefix + "rope.freq_base", shape.rope_theta);
}

std::vector<int64_t> dims_of(const SynthTensor& tensor) {
  if (tensor.is_vector()) return {tensor.cols};
  if (tensor.n_experts == 0) return {tensor.rows, tensor.cols};
  return {tensor.n_experts, tensor.rows / tensor.n_experts, tensor.cols};
}

Result<void> append(const SynthTensor& tensor, RowStream& stream) {
  TRY_STATUS(stream.append_matrix(tensor.in_file(),
                                  [&](int first, int n, MutableBytes out) { make_rows(tensor, first, n, out); }));
  return stream.append(make_tail(tensor));
}

Result<std::vector<SynthTensor>> choose_tensors(const SynthOptions& options, const SynthShape& shape) {
  const std::string type = options.type.empty() ? std::string(shape.type) : options.type;
  const std::string head_type = options.head.empty() ? std::string(shape.head) : options.head;
  const std::vector<Format> formats = linear_formats(shape.family);
  const Mixture* mixture = nullptr;
  std::vector<std::string_view> mixtures;
  for (const Mixture& one : kMixtures) {
    if (!std::ranges::contains(formats, one.most)) continue;
    mixtures.push_back(one.name);
    if (equal_ignoring_case(one.name, type)) mixture = &one;
  }
  TRY(const Format linear,
      choose_type("synth: the type of the linear layers", mixture ? std::string(format_info(mixture->most).name) : type,
                  formats, mixtures));
  TRY(const Format head, choose_type("synth: the type of the head", head_type, head_formats()));
  Format experts = linear;
  if (options.type.empty() && !shape.expert_type.empty()) experts = find_format(shape.expert_type)->format;
  std::vector<SynthTensor> tensors =
      synth_tensors(shape, {.linear = linear, .experts = experts, .embedding = head}, options.seed);
  if (mixture) mix(*mixture, shape.n_layers, tensors);
  TRY_STATUS(check_blocks(shape, tensors));
  return tensors;
}

}  // namespace

Result<void> synth(const SynthOptions& options) {
  TRY(const SynthShape* shape, choose_shape(options.preset));
  TRY(const std::vector<SynthTensor> tensors, choose_tensors(options, *shape));
  if (!options.tokenizer.empty() && options.tokenizer != "bytes") {
    return fail(ErrorCode::kInvalidArgument, "synth: no tokenizer is named \"{}\"; there is bytes", options.tokenizer);
  }
  if (!options.tokenizer.empty() && shape->n_vocab < kFewestTokensOfBytes) {
    return fail(ErrorCode::kInvalidArgument, "synth: a tokenizer of bytes has {} tokens at least, preset {} has {}",
                kFewestTokensOfBytes, shape->name, shape->n_vocab);
  }
  if (options.out_path.empty()) return fail(ErrorCode::kInvalidArgument, "synth: name the file to write");
  uint64_t total = 0;
  for (const SynthTensor& tensor : tensors) total += tensor.in_file().bytes();
  TRY_STATUS(check_free_space(options.out_path, total));

  GgufWriter writer(options.out_path);
  add_metadata(writer, *shape, options.seed, !options.tokenizer.empty());
  for (const SynthTensor& tensor : tensors) {
    TRY_STATUS(writer.add_tensor(tensor.name, ggml_type_of(tensor.format), dims_of(tensor)));
  }
  TRY_STATUS(writer.begin());
  RowStream stream(writer, total, options.on_progress, options.stop);
  for (const SynthTensor& tensor : tensors) TRY_STATUS(append(tensor, stream));
  return writer.finish();
}

}  // namespace tern
