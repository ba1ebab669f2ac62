#include "tools/synth/synth_tensors.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/text/format_text.h"
#include "tools/random_values.h"
#include "tools/synth/synth_copier.h"

namespace tern {
namespace {

constexpr float kEmbeddingDeviation = 0.02f;
constexpr float kGainDeviation = 0.1f, kBiasDeviation = 0.1f;

// True for ternary formats, and for those with four evenly spaced values around 0, whose fourth no quantizer uses.
bool holds_ternary(Format format) {
  const Coding& coding = format_info(format).coding;
  return coding.zero == 1 && coding.n_codes <= 4;
}

// The variance of weights with scale 1.
double variance_of(Format format) { return holds_ternary(format) ? kTernaryVariance : 1; }

class TensorList {
 public:
  TensorList(const SynthShape& shape, const SynthFormats& formats, uint64_t seed)
      : shape_(shape), formats_(formats), seed_(mix64(seed)) {}

  void embedding(std::string name) {
    push({.name = std::move(name),
          .kind = SynthTensor::Kind::kEmbedding,
          .format = formats_.embedding,
          .rows = shape_.n_vocab,
          .cols = shape_.d_model,
          .scale = static_cast<float>(kEmbeddingDeviation / std::sqrt(variance_of(formats_.embedding)))});
  }

  void gain(std::string name, int width) { push({.name = std::move(name), .cols = width}); }

  void of_heads(std::string name, SynthTensor::Kind kind, int n_heads) {
    push({.name = std::move(name), .kind = kind, .cols = n_heads});
  }

  void taps(std::string name, int channels, int n) {
    push({.name = std::move(name), .kind = SynthTensor::Kind::kTaps, .rows = channels, .cols = n});
  }

  // `out_deviation`: standard deviation of the outputs for inputs of deviation 1.
  void linear(std::string name, int rows, int cols, double out_deviation = 1) {
    matrices(std::move(name), formats_.linear, 0, rows, cols, out_deviation);
  }

  void of_experts(std::string name, int rows, int cols, double out_deviation = 1) {
    matrices(std::move(name), formats_.experts, shape_.experts.n, rows, cols, out_deviation);
  }

  void router(std::string name, int rows, double out_deviation = 1) {
    matrices(std::move(name), Format::kF32, 0, rows, shape_.d_model, out_deviation);
  }

  void bias(std::string name, int width, int n = 1) {
    push({.name = std::move(name), .kind = SynthTensor::Kind::kBias, .rows = n, .cols = width});
  }

  std::vector<SynthTensor> take() { return std::move(tensors_); }

 private:
  void matrices(std::string name, Format format, int n, int rows, int cols, double out_deviation) {
    push({.name = std::move(name),
          .kind = SynthTensor::Kind::kLinear,
          .format = format,
          .rows = std::max(n, 1) * rows,
          .cols = cols,
          .n_experts = n});
    SynthTensor& tensor = tensors_.back();
    // Scales vary by up to a tenth, so that tensors have different ones and a kernel that uses a wrong scale is
    // noticed.
    const auto noise = static_cast<double>(mix64(tensor.key) >> 11) * 0x1p-52 - 1;  // [−1, 1)
    tensor.scale = static_cast<float>((1 + 0.1 * noise) * out_deviation / std::sqrt(variance_of(format) * cols));
  }

  void push(SynthTensor tensor) {
    tensor.key = mix64(seed_ + tensors_.size());
    tensors_.push_back(std::move(tensor));
  }

  const SynthShape& shape_;
  SynthFormats formats_;
  uint64_t seed_;
  std::vector<SynthTensor> tensors_;
};

void make_values(const SynthTensor& tensor, int row, std::span<float> values) {
  const CounterRandom random(tensor.key + static_cast<uint64_t>(row));
  if (tensor.part != SynthTensor::CopierPart::kNone) {
    make_copier_row(tensor, row, values);
    if (tensor.kind != SynthTensor::Kind::kLinear || tensor.format == Format::kI2_S) return;
    for (float& value : values) value *= tensor.scale;
    return;
  }
  if (tensor.kind == SynthTensor::Kind::kTaps) return fill_normal(random, 0, 0.5f, values);
  if (tensor.kind == SynthTensor::Kind::kStepBias) return fill_normal(random, -2, 1, values);
  if (tensor.kind == SynthTensor::Kind::kBias) return fill_normal(random, 0, kBiasDeviation, values);
  if (tensor.kind == SynthTensor::Kind::kDecay) {  // −exp(A_log)
    fill_normal(random, 0, 1, values);
    for (float& value : values) value = -std::exp(value);
    return;
  }
  if (tensor.kind == SynthTensor::Kind::kDivisors) {
    std::ranges::fill(values, 1e30f);
    std::ranges::fill(values.first(values.size() / 4), 1.0f);
    return;
  }
  if (tensor.kind == SynthTensor::Kind::kGain) return fill_normal(random, 1, kGainDeviation, values);
  if (!holds_ternary(tensor.format)) return fill_normal(random, 0, tensor.scale, values);
  fill_ternary(random, values);
  if (tensor.format == Format::kI2_S) return;  // bare codes: make_tail() writes the scale
  for (float& value : values) value *= tensor.scale;
}

void add_delta_layer(TensorList& list, const SynthShape& shape, const std::string& blk, double out_deviation) {
  const DeltaConfig& d = shape.delta;
  list.gain(blk + "attn_norm.weight", shape.d_model);
  list.linear(blk + "attn_qkv.weight", d.channels(), shape.d_model);
  list.linear(blk + "attn_gate.weight", d.value_width(), shape.d_model);
  list.linear(blk + "ssm_alpha.weight", d.n_v_heads, shape.d_model);
  list.linear(blk + "ssm_beta.weight", d.n_v_heads, shape.d_model);
  list.taps(blk + "ssm_conv1d.weight", d.channels(), d.conv_taps);
  list.of_heads(blk + "ssm_a", SynthTensor::Kind::kDecay, d.n_v_heads);
  list.of_heads(blk + "ssm_dt.bias", SynthTensor::Kind::kStepBias, d.n_v_heads);
  list.gain(blk + "ssm_norm.weight", d.head_dim);
  list.linear(blk + "ssm_out.weight", shape.d_model, d.value_width(), out_deviation);
}

void add_attention(TensorList& list, const SynthShape& shape, const std::string& blk, double out_deviation) {
  list.gain(blk + "attn_norm.weight", shape.d_model);
  if (shape.family == SynthFamily::kPhi3) {
    list.linear(blk + "attn_qkv.weight", shape.q_width() + 2 * shape.kv_width(), shape.d_model);
  } else {
    const int gates = shape.is_qwen35() ? 2 : 1;
    list.linear(blk + "attn_q.weight", gates * shape.q_width(), shape.d_model);
    list.linear(blk + "attn_k.weight", shape.kv_width(), shape.d_model);
    list.linear(blk + "attn_v.weight", shape.kv_width(), shape.d_model);
  }
  const bool is_olmoe = shape.family == SynthFamily::kOlmoe;
  if (shape.has_head_norms() || is_olmoe) {
    list.gain(blk + "attn_q_norm.weight", is_olmoe ? shape.q_width() : shape.head_dim());
    list.gain(blk + "attn_k_norm.weight", is_olmoe ? shape.kv_width() : shape.head_dim());
  }
  if (shape.family == SynthFamily::kGptOss) {
    list.bias(blk + "attn_q.bias", shape.q_width());
    list.bias(blk + "attn_k.bias", shape.kv_width());
    list.bias(blk + "attn_v.bias", shape.kv_width());
    list.bias(blk + "attn_output.bias", shape.d_model);
    list.bias(blk + "attn_sinks.weight", shape.n_heads);
  }
  if (shape.family == SynthFamily::kBitnet) list.gain(blk + "attn_sub_norm.weight", shape.q_width());
  list.linear(blk + "attn_output.weight", shape.d_model, shape.q_width(), out_deviation);
}

void add_experts(TensorList& list, const SynthShape& shape, const std::string& blk, double out_deviation) {
  const ExpertConfig& e = shape.experts;
  list.router(blk + "ffn_gate_inp.weight", e.n);
  list.of_experts(blk + "ffn_gate_exps.weight", e.d_ff, shape.d_model);
  list.of_experts(blk + "ffn_up_exps.weight", e.d_ff, shape.d_model);
  list.of_experts(blk + "ffn_down_exps.weight", shape.d_model, e.d_ff, out_deviation);
  if (shape.family == SynthFamily::kGptOss) {
    list.bias(blk + "ffn_gate_inp.bias", e.n);
    list.bias(blk + "ffn_gate_exps.bias", e.d_ff, e.n);
    list.bias(blk + "ffn_up_exps.bias", e.d_ff, e.n);
    list.bias(blk + "ffn_down_exps.bias", shape.d_model, e.n);
  }
  if (e.d_ff_shared == 0) return;
  list.router(blk + "ffn_gate_inp_shexp.weight", 1);
  list.linear(blk + "ffn_gate_shexp.weight", e.d_ff_shared, shape.d_model);
  list.linear(blk + "ffn_up_shexp.weight", e.d_ff_shared, shape.d_model);
  list.linear(blk + "ffn_down_shexp.weight", shape.d_model, e.d_ff_shared, out_deviation);
}

void add_feed_forward(TensorList& list, const SynthShape& shape, const std::string& blk, double out_deviation) {
  const bool is_post = shape.is_qwen35() || shape.family == SynthFamily::kGptOss;
  list.gain(blk + (is_post ? "post_attention_norm.weight" : "ffn_norm.weight"), shape.d_model);
  if (shape.experts.n > 0) return add_experts(list, shape, blk, out_deviation);
  if (shape.family == SynthFamily::kPhi3) {
    list.linear(blk + "ffn_up.weight", 2 * shape.d_ff, shape.d_model);
  } else {
    list.linear(blk + "ffn_gate.weight", shape.d_ff, shape.d_model);
    list.linear(blk + "ffn_up.weight", shape.d_ff, shape.d_model);
  }
  if (shape.family == SynthFamily::kBitnet) list.gain(blk + "ffn_sub_norm.weight", shape.d_ff);
  list.linear(blk + "ffn_down.weight", shape.d_model, shape.d_ff, out_deviation);
}

// The values of layers without a window are their keys.
void add_gemma4_attention(TensorList& list, const SynthShape& shape, int layer, const std::string& blk) {
  const bool is_whole = shape.is_whole(layer);
  const int head_dim = is_whole ? shape.whole_head_width : shape.head_dim();
  const int kv_width = is_whole ? shape.whole_kv_heads * head_dim : shape.kv_width();
  list.gain(blk + "attn_norm.weight", shape.d_model);
  list.linear(blk + "attn_q.weight", shape.n_heads * head_dim, shape.d_model);
  list.linear(blk + "attn_k.weight", kv_width, shape.d_model);
  if (!is_whole) list.linear(blk + "attn_v.weight", kv_width, shape.d_model);
  list.gain(blk + "attn_q_norm.weight", head_dim);
  list.gain(blk + "attn_k_norm.weight", head_dim);
  list.linear(blk + "attn_output.weight", shape.d_model, shape.n_heads * head_dim);
  list.gain(blk + "post_attention_norm.weight", shape.d_model);
}

void add_gemma4_layer(TensorList& list, const SynthShape& shape, int layer) {
  const std::string blk = format_text("blk.{}.", layer);
  const ExpertConfig& e = shape.experts;
  add_gemma4_attention(list, shape, layer, blk);
  for (const auto* norm : {"ffn_norm", "post_ffw_norm_1", "pre_ffw_norm_2", "post_ffw_norm_2", "post_ffw_norm"}) {
    list.gain(blk + norm + ".weight", shape.d_model);
  }
  list.linear(blk + "ffn_gate.weight", shape.d_ff, shape.d_model);
  list.linear(blk + "ffn_up.weight", shape.d_ff, shape.d_model);
  list.linear(blk + "ffn_down.weight", shape.d_model, shape.d_ff);
  list.gain(blk + "ffn_gate_inp.scale", shape.d_model);
  list.router(blk + "ffn_gate_inp.weight", e.n, std::sqrt(shape.d_model));  // the model divides its input by that
  list.of_experts(blk + "ffn_gate_up_exps.weight", 2 * e.d_ff, shape.d_model);
  list.of_experts(blk + "ffn_down_exps.weight", shape.d_model, e.d_ff);
  list.gain(blk + "ffn_down_exps.scale", e.n);
  list.gain(blk + "layer_output_scale.weight", 1);
}

}  // namespace

std::vector<SynthTensor> synth_tensors(const SynthShape& shape, const SynthFormats& formats, uint64_t seed) {
  TensorList list(shape, formats, seed);
  const double residual_deviation = 1 / std::sqrt(2.0 * shape.n_layers);
  list.embedding("token_embd.weight");
  if (shape.family == SynthFamily::kGemma4) {
    list.of_heads("rope_freqs.weight", SynthTensor::Kind::kDivisors, shape.whole_head_width / 2);
  }
  for (int i = 0; i < shape.n_layers; ++i) {
    if (shape.family == SynthFamily::kGemma4) {
      add_gemma4_layer(list, shape, i);
      continue;
    }
    const std::string blk = format_text("blk.{}.", i);
    const auto add_mixer = shape.is_recurrent(i) ? add_delta_layer : add_attention;
    add_mixer(list, shape, blk, residual_deviation);
    add_feed_forward(list, shape, blk, residual_deviation);
  }
  list.gain("output_norm.weight", shape.d_model);
  if (!shape.is_tied) list.embedding("output.weight");
  std::vector<SynthTensor> tensors = list.take();
  if (shape.copies) make_copier(shape, tensors);
  return tensors;
}

void make_rows(const SynthTensor& tensor, int first, int n, MutableBytes out) {
  const size_t one_row = row_bytes(tensor.format, tensor.cols);
  CHECK(out.size() == one_row * static_cast<size_t>(n));
  std::vector<float> values(static_cast<size_t>(tensor.cols));
  for (int i = 0; i < n; ++i) {
    make_values(tensor, first + i, values);
    format_info(tensor.format).encode(values, out.subspan(static_cast<size_t>(i) * one_row, one_row));
  }
}

std::vector<std::byte> make_tail(const SynthTensor& tensor) {
  std::vector<std::byte> tail(static_cast<size_t>(format_info(tensor.format).tail_bytes));
  if (!tail.empty()) store(tail.data(), tensor.scale);
  return tail;
}

}  // namespace tern
