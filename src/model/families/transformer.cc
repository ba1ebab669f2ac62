// The part that families share: the shape of a decoder-only transformer, and its weights.
#include <algorithm>

#include "base/text/format_text.h"
#include "base/text/quoted.h"
#include "model/families/bitlinear.h"
#include "model/families/family.h"
#include "model/source/rope_keys.h"
#include "model/source/source_reader.h"

namespace tern {
namespace {

constexpr int kMostWidth = 1 << 20;

Result<void> check_shape(const ModelSource& source, const Config& c) {
  for (int i = 0; i < c.n_layers; ++i) {
    const LayerConfig l = c.layer(i);
    if (l.n_heads % l.n_kv_heads == 0) continue;
    return fail(ErrorCode::kCorruption,
                "{}: attention.head_count {} is not a multiple of attention.head_count_kv {} in layer {}; convert the "
                "model again",
                source.path(), l.n_heads, l.n_kv_heads, i);
  }
  // Rows of packed formats are blocks of 32, kernels read rows in 16-byte words, and attention reads a head in vectors
  // of four.
  struct Width {
    const char* what;
    int width, unit;
  };
  std::vector<Width> widths = {{"embedding_length", c.d_model, 32},
                               {"head_dim", c.head_dim, 4},
                               {"expert_feed_forward_length", c.experts.d_ff, 32},
                               {"expert_shared_feed_forward_length", c.experts.d_ff_shared, 32}};
  for (int i = 0; i < c.n_layers; ++i) widths.push_back({"feed_forward_length", c.layer(i).d_ff, 32});
  for (const auto& [what, width, unit] : widths) {
    if (width % unit == 0) continue;
    return fail(ErrorCode::kNotSupported, "{}: {} is {}, not a multiple of {}, as Tern's kernels need it",
                source.path(), what, width, unit);
  }
  return {};
}

// Reads values that may be one number for all layers or a list. Config gets the maximum and, if layers differ, each
// layer its own value.
Result<void> read_layers(const MetadataReader& meta, const LayerParts& parts, Config& c) {
  constexpr int kMostHeads = 4096;
  const auto set = [&](int Config::* most, int LayerConfig::* own, const std::vector<int>& values) {
    c.*most = std::ranges::max(values);
    if (std::ranges::min(values) == c.*most) return;
    for (size_t i = 0; i < values.size(); ++i) c.each_layer()[i].*own = values[i];
  };
  std::vector<int> usual_d_ff;  // files of mixtures need not have the width of layers without them
  if (c.experts.n > 0 && !parts.dense_beside_experts)
    usual_d_ff.assign(static_cast<size_t>(c.n_layers), c.experts.d_ff);
  TRY(const auto d_ff, meta.of_layers("feed_forward_length", kMostWidth, c.n_layers, usual_d_ff));
  TRY(const auto heads, meta.of_layers("attention.head_count", kMostHeads, c.n_layers));
  TRY(const auto kv_heads, meta.of_layers("attention.head_count_kv", kMostHeads, c.n_layers, heads));
  set(&Config::d_ff, &LayerConfig::d_ff, d_ff);
  set(&Config::n_heads, &LayerConfig::n_heads, heads);
  set(&Config::n_kv_heads, &LayerConfig::n_kv_heads, kv_heads);
  return {};
}

// If a file does not give the head width, the heads divide the embedding's width among them.
Result<int> read_head_dim(const ModelSource& source, const MetadataReader& meta, const Config& c) {
  TRY(const auto declared, source.get_int(c.architecture + ".attention.key_length"));
  if (!declared && c.layers_differ(&LayerConfig::n_heads)) {
    return fail(ErrorCode::kCorruption,
                "{}: attention.head_count differs from layer to layer, so the width of a head cannot follow from it; "
                "convert the model again, with the key attention.key_length",
                source.path());
  }
  if (!declared && c.d_model % c.n_heads != 0) {
    return fail(ErrorCode::kCorruption, "{}: embedding_length {} is not a multiple of attention.head_count {}",
                source.path(), c.d_model, c.n_heads);
  }
  return meta.integer("attention.key_length", 4096, c.d_model / c.n_heads);
}

// 0 means "not set".
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
  TRY(c.attention_softcap, read_scale(meta, "attn_logit_softcapping", 0));
  TRY(c.logit_softcap, read_scale(meta, "final_logit_softcapping", 0));
  return {};
}

struct ActivationName {
  std::string_view name;
  GluAct act;
};
// Tern's own name of each comes first. "gelu" without the tanh is a different function.
constexpr ActivationName kActivations[] = {
    {"relu2", GluAct::kRelu2},
    {"silu", GluAct::kSilu},
    {"gelu_tanh", GluAct::kGeluTanh},
    {"swiglu_oai", GluAct::kSwigluOai},
    {"relu_squared", GluAct::kRelu2},
    {"swish", GluAct::kSilu},
    {"gelu_pytorch_tanh", GluAct::kGeluTanh},
    {"gelu_new", GluAct::kGeluTanh},
};

Result<GluAct> read_glu_act(const ModelSource& source, const Config& c, GluAct usual) {
  const std::string key = c.architecture + ".feed_forward.activation";
  TRY(const auto declared, source.get_string(key));
  if (!declared) return usual;
  if (const auto act = find_glu_act(*declared)) return *act;
  return fail(ErrorCode::kNotSupported, "{}: {} is \"{}\"; Tern knows relu2, silu and gelu_tanh", source.path(), key,
              *declared);
}

// Checks other programs' names for the activation, which the family or feed_forward.activation decides.
Result<void> check_hidden_act(const ModelSource& source, const Config& c) {
  for (const char* name : {"hidden_activation", "hidden_act"}) {
    const std::string key = format_text("{}.{}", c.architecture, name);
    TRY(const auto declared, source.get_string(key));
    if (!declared || find_glu_act(*declared) == c.glu_act) continue;
    return fail(ErrorCode::kNotSupported, "{}: {} is {}, but Tern computes {} in this model", source.path(), key,
                tern::quoted(*declared), glu_act_name(c.glu_act));
  }
  return {};
}

// block_count includes the layers that only propose draft tokens.
Result<void> leave_out_prediction_layers(const ModelSource& source, Config& c) {
  const std::string key = c.architecture + ".nextn_predict_layers";
  TRY(const auto declared, source.get_int(key));
  if (!declared || *declared == 0) return {};
  if (*declared < 0 || *declared >= c.n_layers) {
    return fail(ErrorCode::kCorruption,
                "{}: {} is {}, but block_count is {} and includes them; convert the model again", source.path(), key,
                *declared, c.n_layers);
  }
  c.n_prediction_layers = static_cast<int>(*declared);
  c.n_layers -= c.n_prediction_layers;
  return {};
}

// How many dimensions of a head rotate.
Result<int> read_rotated_dims(const ModelSource& source, const MetadataReader& meta, const Family& family,
                              const Config& c) {
  TRY(const int dims, meta.integer("rope.dimension_count", 4096, c.head_dim));
  if (dims == c.head_dim) return dims;
  if (!family.parts.partial_rope) {
    return fail(ErrorCode::kNotSupported,
                "{}: rope.dimension_count {} differs from head_dim {}; Tern has no partial RoPE in models of this kind",
                source.path(), dims, c.head_dim);
  }
  if (dims > c.head_dim) {
    return fail(ErrorCode::kCorruption,
                "{}: rope.dimension_count is {}, but a head has {} dimensions; convert the model again", source.path(),
                dims, c.head_dim);
  }
  constexpr int kUnit = 8;  // on GPUs four pairs rotate at once
  if (dims % kUnit == 0) return dims;
  return fail(ErrorCode::kNotSupported,
              "{}: rope.dimension_count is {}, not a multiple of {}, as Tern's kernels need it", source.path(), dims,
              kUnit);
}

Result<Config> read_shape(ModelSource& source, const Family& family) {
  const std::string architecture(family.architecture);
  const MetadataReader meta(source, architecture);
  Config c;
  c.architecture = architecture;
  TRY(c.n_layers, meta.integer("block_count", 1024));
  if (family.parts.delta) TRY_STATUS(leave_out_prediction_layers(source, c));
  TRY(c.d_model, meta.integer("embedding_length", kMostWidth));
  TRY_STATUS(read_expert_shape(source, family, c));
  TRY_STATUS(read_layers(meta, family.parts, c));
  TRY(c.head_dim, read_head_dim(source, meta, c));
  TRY(const int value_dim, meta.integer("attention.value_length", 4096, c.head_dim));
  if (value_dim != c.head_dim) {
    return fail(ErrorCode::kNotSupported, "{}: attention.value_length {} differs from attention.key_length {}",
                source.path(), value_dim, c.head_dim);
  }
  TRY(const int rope_dims, read_rotated_dims(source, meta, family, c));
  TRY(c.n_ctx, meta.integer("context_length", 1 << 24));
  TRY(c.rms_eps, meta.positive("attention.layer_norm_rms_epsilon"));
  TRY(c.ropes[0], read_rope(source, c));
  if (rope_dims < c.head_dim) c.ropes[0].n_dims = rope_dims;
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

// Splits off rows of a joined matrix, as if they were a matrix of their own.
Linear part_of(const Linear& joined, std::string name, int first, int n) {
  Linear part = rows_of(joined, std::move(name), first, n);
  part.input_norm = joined.input_norm;
  if (!joined.bias.is_present()) return part;
  part.bias = joined.bias;
  part.bias.cols = n;
  part.bias.data =
      joined.bias.data.subspan(static_cast<uint64_t>(first) * sizeof(float), static_cast<uint64_t>(n) * sizeof(float));
  return part;
}

std::string layer_prefix(int layer) { return format_text("blk.{}.", layer); }

Result<void> read_projections(const TensorReader& tensors, int layer, const Config& c, Layer& l) {
  const std::string blk = layer_prefix(layer);
  const int q = c.q_width(layer), kv = c.kv_width(layer);
  TRY(l.attn_q, tensors.linear(blk + "attn_q", c.has_gated_attention ? 2 * q : q, c.d_model, c.int8_activations));
  TRY(l.attn_k, tensors.linear(blk + "attn_k", kv, c.d_model, c.int8_activations));
  TRY(l.attn_v, tensors.linear(blk + "attn_v", kv, c.d_model, c.int8_activations));
  return {};
}

Result<void> read_gate_and_up(const TensorReader& tensors, int layer, const Config& c, Layer& l) {
  const std::string blk = layer_prefix(layer);
  const int d_ff = c.layer(layer).d_ff;
  TRY(l.ffn_gate, tensors.linear(blk + "ffn_gate", d_ff, c.d_model, c.int8_activations));
  TRY(l.ffn_up, tensors.linear(blk + "ffn_up", d_ff, c.d_model, c.int8_activations));
  return {};
}

Result<void> read_joined_projections(const TensorReader& tensors, int layer, const Config& c, Layer& l) {
  const std::string blk = layer_prefix(layer);
  const int q = c.q_width(layer), kv = c.kv_width(layer), d_ff = c.layer(layer).d_ff;
  TRY(const Linear qkv, tensors.linear(blk + "attn_qkv", q + 2 * kv, c.d_model, c.int8_activations));
  l.attn_q = part_of(qkv, blk + "attn_q.weight", 0, q);
  l.attn_k = part_of(qkv, blk + "attn_k.weight", q, kv);
  l.attn_v = part_of(qkv, blk + "attn_v.weight", q + kv, kv);
  TRY(const Linear gate_up, tensors.linear(blk + "ffn_up", 2 * d_ff, c.d_model, c.int8_activations));
  l.ffn_gate = part_of(gate_up, blk + "ffn_gate.weight", 0, d_ff);
  l.ffn_up = part_of(gate_up, blk + "ffn_up.weight", d_ff, d_ff);
  return {};
}

}  // namespace

Result<Layer> read_layer(const TensorReader& tensors, int layer, const Family& family, const Config& c) {
  const std::string blk = layer_prefix(layer);
  const int q = c.q_width(layer), d_ff = c.layer(layer).d_ff;
  const LayerParts& parts = family.parts;
  Layer l;
  TRY(l.attn_norm, tensors.vector(blk + "attn_norm.weight", c.d_model));
  if (c.layer(layer).is_recurrent) {
    TRY_STATUS(read_delta_layer(tensors, layer, c, l));
  } else if (parts.layer_inputs) {
    TRY_STATUS(read_gemma4_layer(tensors, layer, c, l));
  } else {
    TRY_STATUS(parts.joined ? read_joined_projections(tensors, layer, c, l) : read_projections(tensors, layer, c, l));
    if (parts.sinks) {
      TRY(l.attn_sinks, tensors.vector(blk + "attn_sinks.weight", c.layer(layer).n_heads));
    }
    if (parts.head_norms || parts.whole_norms) {
      TRY(l.attn_q_norm, tensors.vector(blk + "attn_q_norm.weight", parts.whole_norms ? q : c.head_dim));
      TRY(l.attn_k_norm,
          tensors.vector(blk + "attn_k_norm.weight", parts.whole_norms ? c.kv_width(layer) : c.head_dim));
    }
    TRY(l.attn_output, tensors.linear(blk + "attn_output", c.d_model, q, c.int8_activations));
  }
  TRY(l.ffn_norm, tensors.vector(blk + std::string(parts.ffn_norm) + ".weight", c.d_model));
  if (c.experts.n > 0) TRY_STATUS(read_expert_layer(tensors, layer, family, c, l));
  if (c.experts.n == 0 || parts.dense_beside_experts) {
    if (!parts.joined) TRY_STATUS(read_gate_and_up(tensors, layer, c, l));
    TRY(l.ffn_down, tensors.linear(blk + "ffn_down", c.d_model, d_ff, c.int8_activations));
  }
  if (parts.sub_norms) {
    TRY(l.attn_sub_norm, tensors.vector(blk + "attn_sub_norm.weight", q));
    TRY(l.ffn_sub_norm, tensors.vector(blk + "ffn_sub_norm.weight", d_ff));
  }
  if (parts.post_norms) {
    TRY(l.attn_post_norm, tensors.vector(blk + "post_attention_norm.weight", c.d_model));
    TRY(l.ffn_post_norm, tensors.vector(blk + "post_ffw_norm.weight", c.d_model));
  }
  return l;
}

Result<Config> read_config(ModelSource& source, const Family& family) {
  TRY(Config c, read_shape(source, family));
  TRY(c.glu_act, read_glu_act(source, c, family.glu_act));
  TRY(c.int8_activations, has_bitlinear_layers(source, family.bitlinear));
  if (family.finish) TRY_STATUS(family.finish(source, c));
  TRY_STATUS(check_hidden_act(source, c));
  return c;
}

std::optional<GluAct> find_glu_act(std::string_view name) {
  const auto* found = std::ranges::find(kActivations, name, &ActivationName::name);
  return found == std::end(kActivations) ? std::nullopt : std::optional(found->act);
}

std::string_view glu_act_name(GluAct act) { return std::ranges::find(kActivations, act, &ActivationName::act)->name; }

Result<Weights> read_weights(ModelSource& source, const Family& family, const Config& c) {
  const TensorReader tensors(source);
  Weights w;
  TRY(w.token_embd, tensors.matrix("token_embd.weight", c.n_vocab, c.d_model, float_formats()));
  TRY(w.output_norm, tensors.vector("output_norm.weight", c.d_model));
  if (tensors.has("output.weight")) {
    TRY(w.output, tensors.matrix("output.weight", c.n_vocab, c.d_model, float_formats()));
  } else {
    w.output = w.token_embd;
  }
  if (family.parts.layer_inputs) TRY_STATUS(read_gemma4_inputs(tensors, c, w));
  for (int i = 0; i < c.n_layers; ++i) {
    TRY(Layer layer, read_layer(tensors, i, family, c));
    w.layers.push_back(std::move(layer));
  }
  if (family.parts.layer_inputs) add_value_norms(c, w);
  return w;
}

}  // namespace tern
