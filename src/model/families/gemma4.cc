// Gemma 4: layers with a window have narrower heads, the last layers read the keys and values of earlier ones, and the
// token itself has an input for each layer.
#include <algorithm>
#include <cmath>
#include <span>

#include "base/text/format_text.h"
#include "model/families/family.h"
#include "model/source/rope_keys.h"
#include "model/source/source_reader.h"

namespace tern {
namespace {

// Reads and checks the keys of one model.
class Gemma4Reader {
 public:
  Gemma4Reader(ModelSource& source, Config& c) : source_(source), meta_(source, c.architecture), c_(c) {}

  Result<void> read() {
    c_.embedding_scale = std::sqrt(static_cast<float>(c_.d_model));
    c_.attention_scale = 1;
    TRY_STATUS(read_kinds());
    TRY_STATUS(share_keys());
    TRY(const auto width, source_.get_int(key("embedding_length_per_layer_input")));
    if (width.value_or(0) != 0) {
      TRY(c_.per_layer_width, meta_.integer("embedding_length_per_layer_input", 1 << 16));
    }
    if (c_.per_layer_width % 32 == 0) return {};
    return fail(ErrorCode::kNotSupported, "{}: {} is {}, not a multiple of 32, as Tern's kernels need it",
                source_.path(), key("embedding_length_per_layer_input"), c_.per_layer_width);
  }

 private:
  std::string key(std::string_view name) const { return c_.architecture + "." + std::string(name); }

  // The width of a head, which nothing else tells.
  Result<int> head_width(std::string_view ending) const {
    TRY(const int keys, meta_.integer("attention.key_length" + std::string(ending), 4096));
    TRY(const int values, meta_.integer("attention.value_length" + std::string(ending), 4096, keys));
    TRY(const int rotated, meta_.integer("rope.dimension_count" + std::string(ending), 4096, keys));
    constexpr int kUnit = 8;  // on GPUs four pairs rotate at once
    if (values == keys && rotated == keys && keys % kUnit == 0) return keys;
    return fail(ErrorCode::kNotSupported,
                "{}: attention.key_length{} is {}, but values have {} dimensions and {} rotate; Tern needs the same "
                "multiple of {}",
                source_.path(), ending, keys, values, rotated, kUnit);
  }

  // Which layers have a window: those rotate by ropes[1].
  Result<void> read_kinds() {
    const std::string pattern_key = key("attention.sliding_window_pattern");
    TRY(const auto pattern, source_.get_ints(pattern_key));
    if (!pattern || static_cast<int>(pattern->size()) != c_.n_layers) {
      return fail(ErrorCode::kCorruption,
                  "{}: {} must be a list with a value for each of the {} layers, but {}; "
                  "convert the model again",
                  source_.path(), pattern_key, c_.n_layers,
                  pattern ? format_text("has {} values", pattern->size()) : "is missing or no list");
    }
    TRY(const int window, meta_.integer("attention.sliding_window", 1 << 24));
    TRY(const int whole_dim, head_width(""));
    TRY(const int local_dim, head_width("_swa"));
    if (source_.gguf() && !source_.has_tensor(kRopeFreqs)) {
      return fail(ErrorCode::kCorruption,
                  "{}: tensor {} is missing, which says how much of a head rotates; the file is not a complete model",
                  source_.path(), kRopeFreqs);
    }
    RopeParams local;
    TRY(local.theta, meta_.positive("rope.freq_base_swa", 10000.0));
    local.n_dims = local_dim;
    c_.ropes[0].n_dims = whole_dim;
    c_.ropes.push_back(std::move(local));
    c_.head_dim = std::max(whole_dim, local_dim);
    for (int i = 0; i < c_.n_layers; ++i) {
      LayerConfig& layer = c_.each_layer()[static_cast<size_t>(i)];
      const bool is_local = (*pattern)[static_cast<size_t>(i)] != 0;
      layer.window = is_local ? window : 0;
      layer.rope = is_local ? 1 : 0;
      layer.head_dim = is_local ? local_dim : whole_dim;
    }
    return {};
  }

  // Each of the last layers reads the keys and values of the last layer of its kind before them.
  Result<void> share_keys() {
    const std::string shared_key = key("attention.shared_kv_layers");
    TRY(const auto declared, source_.get_int(shared_key));
    const int64_t n = declared.value_or(0);
    if (n < 0 || n >= c_.n_layers) {
      return fail(ErrorCode::kCorruption, "{}: {} is {}, but the model has {} layers; convert the model again",
                  source_.path(), shared_key, n, c_.n_layers);
    }
    const int first_shared = c_.n_layers - static_cast<int>(n);
    for (int i = first_shared; i < c_.n_layers; ++i) {
      int from = first_shared - 1;
      while (from >= 0 && c_.layer(from).rope != c_.layer(i).rope) --from;
      if (from < 0 || c_.layer(from).n_kv_heads != c_.layer(i).n_kv_heads) {
        return fail(ErrorCode::kCorruption,
                    "{}: {} is {}, so layer {} has no layer of its kind whose keys and values it could read; convert "
                    "the model again",
                    source_.path(), shared_key, n, i);
      }
      c_.each_layer()[static_cast<size_t>(i)].kv_layer = from;
    }
    return {};
  }

  ModelSource& source_;
  const MetadataReader meta_;
  Config& c_;
};

// In some models, layers without a window have no matrix for values: those are the keys, before norm and rotation.
Result<Linear> read_values(const TensorReader& tensors, int layer, const Config& c, const Linear& keys) {
  const auto is_whole = [&](int i) { return c.layer(i).window == 0 && c.has_own_kv(i); };
  const auto name = [](int i) { return format_text("blk.{}.attn_v", i); };
  bool has_any = !is_whole(layer);
  for (int i = 0; i < c.n_layers && !has_any; ++i) has_any = is_whole(i) && tensors.has(name(i) + ".weight");
  if (!has_any) return keys;
  return tensors.linear(name(layer), c.kv_width(layer), c.d_model, false);
}

}  // namespace

Result<void> finish_gemma4(ModelSource& source, Config& c) { return Gemma4Reader(source, c).read(); }

Result<void> read_gemma4_layer(const TensorReader& tensors, int layer, const Config& c, Layer& l) {
  const std::string blk = format_text("blk.{}.", layer);
  const int head_dim = c.layer(layer).head_dim;
  TRY(l.attn_q, tensors.linear(blk + "attn_q", c.q_width(layer), c.d_model, false));
  TRY(l.attn_q_norm, tensors.vector(blk + "attn_q_norm.weight", head_dim));
  TRY(l.attn_output, tensors.linear(blk + "attn_output", c.d_model, c.q_width(layer), false));
  if (c.has_own_kv(layer)) {
    TRY(l.attn_k, tensors.linear(blk + "attn_k", c.kv_width(layer), c.d_model, false));
    TRY(l.attn_v, read_values(tensors, layer, c, l.attn_k));
    TRY(l.attn_k_norm, tensors.vector(blk + "attn_k_norm.weight", head_dim));
  }
  if (c.per_layer_width > 0) {
    TRY(l.input_gate, tensors.linear(blk + "inp_gate", c.per_layer_width, c.d_model, false));
    TRY(l.input_proj, tensors.linear(blk + "proj", c.d_model, c.per_layer_width, false));
    TRY(l.input_post_norm, tensors.vector(blk + "post_norm.weight", c.d_model));
  }
  TRY(const Tensor scale, tensors.vector(blk + "layer_output_scale.weight", 1));
  Scratch scratch;
  TRY(const Bytes value, scale.data.read(0, sizeof(float), scratch));
  l.output_scale = load<float>(value.data());
  if (std::isfinite(l.output_scale)) return {};
  return fail(ErrorCode::kCorruption, "tensor {} is not a finite number; download the file again", scale.name);
}

Result<void> read_gemma4_inputs(const TensorReader& tensors, const Config& c, Weights& w) {
  if (c.per_layer_width == 0) return {};
  const int width = c.n_layers * c.per_layer_width;
  TRY(w.per_layer_embd, tensors.matrix("per_layer_token_embd.weight", c.n_vocab, width, float_formats()));
  TRY(w.per_layer_proj, tensors.linear("per_layer_model_proj", width, c.d_model, false));
  TRY(w.per_layer_norm, tensors.vector("per_layer_proj_norm.weight", c.per_layer_width));
  return {};
}

void add_value_norms(const Config& c, Weights& w) {
  const auto most = static_cast<size_t>(c.head_dim);
  auto ones = std::make_unique<float[]>(most);
  std::ranges::fill(std::span(ones.get(), most), 1.0f);
  for (int i = 0; i < c.n_layers; ++i) {
    if (!c.has_own_kv(i)) continue;
    const int head_dim = c.layer(i).head_dim;
    w.layers[static_cast<size_t>(i)].attn_v_norm = {
        .name = format_text("blk.{}.attn_v_norm", i),
        .format = Format::kF32,
        .rows = 1,
        .cols = head_dim,
        .data = std::as_bytes(std::span<const float>(ones.get(), static_cast<size_t>(head_dim)))};
  }
  w.made.push_back(std::move(ones));
}

}  // namespace tern
