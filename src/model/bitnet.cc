#include "model/bitnet.h"

#include <array>
#include <cmath>

#include "base/format_text.h"
#include "model/gguf_tensors.h"

namespace tern::bitnet {
namespace {

constexpr std::array kHeadFormats = {Format::kF16,  Format::kF32,  Format::kBF16,
                                     Format::kQ8_0, Format::kQ4_0, Format::kQ6_K};

// Reads `ARCH.key` values, with their bounds.
class MetadataReader {
 public:
  MetadataReader(const GgufFile& file, std::string prefix) : file_(file), prefix_(std::move(prefix) + ".") {}

  Result<int> integer(std::string_view key, int64_t most, std::optional<int64_t> fallback = {}) const {
    const std::string name = prefix_ + std::string(key);
    TRY(const auto found, file_.get_int(name));
    const auto value = found ? found : fallback;
    if (!value) return missing(name);
    if (*value < 1 || *value > most) {
      return fail(ErrorCode::kCorruption, "{}: {} is {}, outside 1 to {}", file_.path(), name, *value, most);
    }
    return static_cast<int>(*value);
  }

  Result<float> positive(std::string_view key, std::optional<double> fallback = {}) const {
    const std::string name = prefix_ + std::string(key);
    TRY(const auto found, file_.get_float(name));
    const auto value = found ? found : fallback;
    if (!value) return missing(name);
    const auto number = static_cast<float>(*value);
    if (!std::isfinite(number) || number <= 0) {
      return fail(ErrorCode::kCorruption, "{}: {} is {}, but must be a positive number", file_.path(), name, *value);
    }
    return number;
  }

 private:
  std::unexpected<Error> missing(const std::string& name) const {
    return fail(ErrorCode::kCorruption, "{}: metadata key {} is missing; convert the model again", file_.path(), name);
  }

  const GgufFile& file_;
  std::string prefix_;
};

// Every linear layer's input width must be whole I2_S blocks, and heads must divide evenly.
Result<void> check_shape(const GgufFile& file, const Config& c) {
  for (const auto& [what, width] : {std::pair{"embedding_length", c.d_model},
                                    {"feed_forward_length", c.d_ff},
                                    {"attention.head_count × head_dim", c.q_width()}}) {
    if (width % 128 != 0) {
      return fail(ErrorCode::kNotSupported,
                  "{}: {} is {}, not a multiple of 128, so its ternary rows are not whole blocks", file.path(), what,
                  width);
    }
  }
  if (c.n_heads % c.n_kv_heads != 0) {
    return fail(ErrorCode::kCorruption, "{}: attention.head_count {} is not a multiple of attention.head_count_kv {}",
                file.path(), c.n_heads, c.n_kv_heads);
  }
  if (c.head_dim % 2 != 0) {
    return fail(ErrorCode::kNotSupported, "{}: head_dim is {}, but RoPE needs an even number", file.path(), c.head_dim);
  }
  return {};
}

}  // namespace

Result<Config> read_config(const GgufFile& file, const std::string& architecture) {
  const MetadataReader meta(file, architecture);
  constexpr int kMostWidth = 1 << 20;
  Config c;
  c.architecture = architecture;
  TRY(c.n_layers, meta.integer("block_count", 1024));
  TRY(c.d_model, meta.integer("embedding_length", kMostWidth));
  TRY(c.d_ff, meta.integer("feed_forward_length", kMostWidth));
  TRY(c.n_heads, meta.integer("attention.head_count", 4096));
  TRY(c.n_kv_heads, meta.integer("attention.head_count_kv", 4096, c.n_heads));
  if (c.d_model % c.n_heads != 0) {
    return fail(ErrorCode::kCorruption, "{}: embedding_length {} is not a multiple of attention.head_count {}",
                file.path(), c.d_model, c.n_heads);
  }
  TRY(c.head_dim, meta.integer("attention.key_length", 4096, c.d_model / c.n_heads));
  TRY(const int rope_dims, meta.integer("rope.dimension_count", 4096, c.head_dim));
  if (rope_dims != c.head_dim) {
    return fail(ErrorCode::kNotSupported,
                "{}: rope.dimension_count {} differs from head_dim {}; partial RoPE is not part of BitNet", file.path(),
                rope_dims, c.head_dim);
  }
  TRY(c.n_ctx, meta.integer("context_length", 1 << 24));
  TRY(c.rms_eps, meta.positive("attention.layer_norm_rms_epsilon"));
  TRY(c.rope_theta, meta.positive("rope.freq_base", 10000.0));

  const GgufTensor* embedding = file.find_tensor("token_embd.weight");
  if (!embedding || embedding->shape.size() != 2 || embedding->shape[0] < 1 || embedding->shape[0] > (1 << 24)) {
    return fail(ErrorCode::kCorruption,
                "{}: tensor token_embd.weight is missing or not a matrix; the file is not a complete model",
                file.path());
  }
  c.n_vocab = static_cast<int>(embedding->shape[0]);
  TRY_STATUS(check_shape(file, c));
  return c;
}

Result<Weights> read_weights(const GgufFile& file, const Config& c) {
  const GgufTensors tensors(file);
  Weights w;
  TRY(w.token_embd, tensors.matrix("token_embd.weight", c.n_vocab, c.d_model, kHeadFormats));
  for (int i = 0; i < c.n_layers; ++i) {
    const std::string blk = format_text("blk.{}.", i);
    Layer l;
    TRY(l.attn_norm, tensors.vector(blk + "attn_norm.weight", c.d_model));
    TRY(l.attn_q, tensors.ternary(blk + "attn_q", c.q_width(), c.d_model));
    TRY(l.attn_k, tensors.ternary(blk + "attn_k", c.kv_width(), c.d_model));
    TRY(l.attn_v, tensors.ternary(blk + "attn_v", c.kv_width(), c.d_model));
    TRY(l.attn_sub_norm, tensors.vector(blk + "attn_sub_norm.weight", c.q_width()));
    TRY(l.attn_output, tensors.ternary(blk + "attn_output", c.d_model, c.q_width()));
    TRY(l.ffn_norm, tensors.vector(blk + "ffn_norm.weight", c.d_model));
    TRY(l.ffn_gate, tensors.ternary(blk + "ffn_gate", c.d_ff, c.d_model));
    TRY(l.ffn_up, tensors.ternary(blk + "ffn_up", c.d_ff, c.d_model));
    TRY(l.ffn_sub_norm, tensors.vector(blk + "ffn_sub_norm.weight", c.d_ff));
    TRY(l.ffn_down, tensors.ternary(blk + "ffn_down", c.d_model, c.d_ff));
    w.layers.push_back(std::move(l));
  }
  TRY(w.output_norm, tensors.vector("output_norm.weight", c.d_model));
  if (tensors.has("output.weight")) {
    TRY(w.output, tensors.matrix("output.weight", c.n_vocab, c.d_model, kHeadFormats));
  } else {
    w.output = w.token_embd;
  }
  return w;
}

}  // namespace tern::bitnet
