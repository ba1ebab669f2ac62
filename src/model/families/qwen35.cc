// Qwen3.5 and later: most layers are recurrent (Gated DeltaNet), the others have attention with a gate on its output.
#include <array>

#include "base/text/format_text.h"
#include "model/families/family.h"
#include "model/source/source_reader.h"

namespace tern {
namespace {

constexpr int kMostDeltaHeads = 1024, kMostStateSize = 256, kMostTaps = 16;

Result<void> read_delta_shape(ModelSource& source, Config& c) {
  const MetadataReader meta(source, c.architecture);
  DeltaConfig& d = c.delta;
  TRY(d.conv_taps, meta.integer("ssm.conv_kernel", kMostTaps));
  TRY(d.head_dim, meta.integer("ssm.state_size", kMostStateSize));
  TRY(d.n_k_heads, meta.integer("ssm.group_count", kMostDeltaHeads));
  TRY(d.n_v_heads, meta.integer("ssm.time_step_rank", kMostDeltaHeads));
  TRY(const int inner, meta.integer("ssm.inner_size", int64_t{kMostDeltaHeads} * kMostStateSize));
  d.is_tiled = source.gguf() != nullptr;  // converters to GGUF reorder the heads
  if (d.n_v_heads % d.n_k_heads != 0) {
    return fail(ErrorCode::kCorruption,
                "{}: ssm.time_step_rank {} is not a multiple of ssm.group_count {}; convert the model again",
                source.path(), d.n_v_heads, d.n_k_heads);
  }
  if (d.head_dim % 16 != 0 || d.conv_taps < 2) {
    return fail(ErrorCode::kNotSupported,
                "{}: ssm.state_size is {} and ssm.conv_kernel {}; Tern runs states of a multiple of 16, and "
                "convolutions of 2 to {} tokens",
                source.path(), d.head_dim, d.conv_taps, kMostTaps);
  }
  if (inner != d.value_width()) {
    return fail(ErrorCode::kCorruption,
                "{}: ssm.inner_size is {}, but ssm.time_step_rank · ssm.state_size is {}; convert the model again",
                source.path(), inner, d.value_width());
  }
  return {};
}

// Two keys may say which layers are recurrent. They must agree.
Result<void> set_recurrent_layers(ModelSource& source, Config& c) {
  const MetadataReader meta(source, c.architecture);
  const std::string list_key = c.architecture + ".attention.recurrent_layers";
  TRY(const auto list, source.get_ints(list_key));
  const std::string interval_key = c.architecture + ".full_attention_interval";
  TRY(const auto declared, source.get_int(interval_key));
  TRY(const int interval, meta.integer("full_attention_interval", 1024, list ? 1 : 4));
  if (list && static_cast<int>(list->size()) != c.n_layers + c.n_prediction_layers &&
      static_cast<int>(list->size()) != c.n_layers) {
    return fail(ErrorCode::kCorruption, "{}: {} has {} values, but the model has {} layers; convert the model again",
                source.path(), list_key, list->size(), c.n_layers);
  }
  for (int i = 0; i < c.n_layers; ++i) {
    const bool by_interval = (i + 1) % interval != 0;
    const bool is_recurrent = list ? (*list)[static_cast<size_t>(i)] != 0 : by_interval;
    if (list && declared && is_recurrent != by_interval) {
      return fail(ErrorCode::kCorruption, "{}: {} and {} disagree about layer {}; convert the model again",
                  source.path(), interval_key, list_key, i);
    }
    c.each_layer()[static_cast<size_t>(i)].is_recurrent = is_recurrent;
  }
  return {};
}

}  // namespace

Result<void> finish_qwen35(ModelSource& source, Config& c) {
  c.has_gated_attention = true;
  TRY_STATUS(read_delta_shape(source, c));
  return set_recurrent_layers(source, c);
}

Result<void> read_delta_layer(const TensorReader& tensors, int layer, const Config& c, Layer& l) {
  const std::string blk = format_text("blk.{}.", layer);
  const DeltaConfig& d = c.delta;
  TRY(l.delta_qkv, tensors.linear(blk + "attn_qkv", d.channels(), c.d_model, false));
  TRY(l.delta_gate, tensors.linear(blk + "attn_gate", d.value_width(), c.d_model, false));
  TRY(l.delta_alpha, tensors.linear(blk + "ssm_alpha", d.n_v_heads, c.d_model, false));
  TRY(l.delta_beta, tensors.linear(blk + "ssm_beta", d.n_v_heads, c.d_model, false));
  constexpr std::array kFloat = {Format::kF32};
  TRY(l.delta_conv, tensors.matrix(blk + "ssm_conv1d.weight", d.channels(), d.conv_taps, kFloat));
  TRY(l.delta_decay, tensors.vector(blk + "ssm_a", d.n_v_heads));
  TRY(l.delta_dt_bias, tensors.vector(blk + "ssm_dt.bias", d.n_v_heads));
  TRY(l.delta_norm, tensors.vector(blk + "ssm_norm.weight", d.head_dim));
  TRY(l.delta_output, tensors.linear(blk + "ssm_out", c.d_model, d.value_width(), false));
  return {};
}

}  // namespace tern
