// What the families share: the shape of a decoder-only transformer, and its weights outside the layers.
#include "model/families/families.h"
#include "model/rope_keys.h"
#include "model/source_reader.h"

namespace tern {
namespace {

Result<void> check_shape(const ModelSource& source, const Config& c) {
  if (c.n_heads % c.n_kv_heads != 0) {
    return fail(ErrorCode::kCorruption, "{}: attention.head_count {} is not a multiple of attention.head_count_kv {}",
                source.path(), c.n_heads, c.n_kv_heads);
  }
  // Every packed format's rows are blocks of 32, kernels read rows in words of 16 bytes, and attention reads a head in
  // vectors of four.
  for (const auto& [what, width, unit] : {std::tuple{"embedding_length", c.d_model, 32},
                                          {"feed_forward_length", c.d_ff, 32},
                                          {"head_dim", c.head_dim, 4}}) {
    if (width % unit == 0) continue;
    return fail(ErrorCode::kNotSupported, "{}: {} is {}, not a multiple of {}, as Tern's kernels need it",
                source.path(), what, width, unit);
  }
  return {};
}

// 0 stands for "not set".
Result<float> read_scale(const MetadataReader& meta, std::string_view key, float usual) {
  TRY(const auto value, meta.number(key));
  if (!value || *value == 0) return usual;
  return meta.positive(key);
}

Result<void> read_scales(const MetadataReader& meta, Config& c) {
  TRY(c.embedding_scale, read_scale(meta, "embedding_scale", c.embedding_scale));
  TRY(c.residual_scale, read_scale(meta, "residual_scale", c.residual_scale));
  TRY(c.attention_scale, read_scale(meta, "attention.scale", c.attention_scale));
  TRY(c.logit_scale, read_scale(meta, "logit_scale", c.logit_scale));
  return {};
}

}  // namespace

Result<Config> read_transformer_config(ModelSource& source, const std::string& architecture) {
  const MetadataReader meta(source, architecture);
  constexpr int kMostWidth = 1 << 20;
  Config c;
  c.architecture = architecture;
  TRY(c.n_layers, meta.integer("block_count", 1024));
  TRY(c.d_model, meta.integer("embedding_length", kMostWidth));
  TRY(c.d_ff, meta.integer("feed_forward_length", kMostWidth));
  TRY(c.n_heads, meta.integer("attention.head_count", 4096));
  TRY(c.n_kv_heads, meta.integer("attention.head_count_kv", 4096, c.n_heads));
  TRY(const auto declared_head_dim, source.get_int(architecture + ".attention.key_length"));
  if (!declared_head_dim && c.d_model % c.n_heads != 0) {
    return fail(ErrorCode::kCorruption, "{}: embedding_length {} is not a multiple of attention.head_count {}",
                source.path(), c.d_model, c.n_heads);
  }
  TRY(c.head_dim, meta.integer("attention.key_length", 4096, c.d_model / c.n_heads));
  TRY(const int value_dim, meta.integer("attention.value_length", 4096, c.head_dim));
  if (value_dim != c.head_dim) {
    return fail(ErrorCode::kNotSupported, "{}: attention.value_length {} differs from attention.key_length {}",
                source.path(), value_dim, c.head_dim);
  }
  TRY(const int rope_dims, meta.integer("rope.dimension_count", 4096, c.head_dim));
  if (rope_dims != c.head_dim) {
    return fail(ErrorCode::kNotSupported,
                "{}: rope.dimension_count {} differs from head_dim {}; Tern has no partial RoPE", source.path(),
                rope_dims, c.head_dim);
  }
  TRY(c.n_ctx, meta.integer("context_length", 1 << 24));
  TRY(c.rms_eps, meta.positive("attention.layer_norm_rms_epsilon"));
  TRY(c.ropes[0], read_rope(source, c));
  TRY_STATUS(read_scales(meta, c));

  TRY(const auto embedding, source.find_tensor("token_embd.weight"));
  if (!embedding || embedding->shape.size() != 2 || embedding->shape[0] < 1 || embedding->shape[0] > (1 << 24)) {
    return fail(ErrorCode::kCorruption,
                "{}: tensor token_embd.weight is missing or not a matrix; the file is not a complete model",
                source.path());
  }
  c.n_vocab = static_cast<int>(embedding->shape[0]);
  TRY_STATUS(check_shape(source, c));
  return c;
}

Result<GluAct> read_glu_act(const ModelSource& source, const Config& c, GluAct usual) {
  const std::string key = c.architecture + ".feed_forward.activation";
  TRY(const auto declared, source.get_string(key));
  if (!declared) return usual;
  if (*declared == "relu2") return GluAct::kRelu2;
  if (*declared == "silu") return GluAct::kSilu;
  return fail(ErrorCode::kNotSupported, "{}: {} is \"{}\"; Tern knows relu2 and silu", source.path(), key, *declared);
}

Result<Weights> read_outer_weights(ModelSource& source, const Config& c) {
  const TensorReader tensors(source);
  Weights w;
  TRY(w.token_embd, tensors.matrix("token_embd.weight", c.n_vocab, c.d_model, float_formats()));
  TRY(w.output_norm, tensors.vector("output_norm.weight", c.d_model));
  if (tensors.has("output.weight")) {
    TRY(w.output, tensors.matrix("output.weight", c.n_vocab, c.d_model, float_formats()));
  } else {
    w.output = w.token_embd;
  }
  return w;
}

}  // namespace tern
