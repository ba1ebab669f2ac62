#include "backend/gpu/record/megakernel/layers.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "backend/gpu/memory/weights/pack.h"
#include "backend/gpu/record/layouts.h"

namespace tern::gpu {
namespace {

template <class S>
const S* step_at(const Plan& plan, size_t i) {
  return i < plan.steps.size() ? std::get_if<S>(&plan.steps[i].body) : nullptr;
}

std::unexpected<Error> no(std::string_view why) {
  return fail(ErrorCode::kNotSupported, "the layers of a token cannot be one dispatch here: {}", why);
}

constexpr std::string_view kTooLarge = "its layers are more than the GPU binds at once";

enum Matrix { kQuery, kKey, kValue, kOutput, kGate, kUp, kDown };

// Equal but for the codings of the matrices.
bool are_alike(const MegakernelLayers::Layer& a, const MegakernelLayers::Layer& b) {
  const auto same = [](const Tensor* v, const Tensor* w) { return v->rows == w->rows && v->cols == w->cols; };
  const auto same_row = [](const Tensor* v, const Tensor* w) { return v->cols == w->cols; };
  return std::ranges::equal(a.matrices, b.matrices, same) && std::ranges::equal(a.gains, b.gains, same_row) &&
         a.heads == b.heads && a.rope == b.rope && a.pairs == b.pairs && a.window == b.window && a.act == b.act &&
         a.x == b.x && a.eps == b.eps && a.head_eps == b.head_eps && a.is_ternary == b.is_ternary;
}

// True if layer number `nth`'s five steps form a chain: each reads what the previous one writes.
bool are_chained(SlotId x, SlotId q, int qkv_layer, const step::Attention& attention, const auto& output,
                 const auto& glu, const auto& down, int nth) {
  return output.x == x && glu.in == x && down.x == x && attention.q == q && output.in == attention.out &&
         down.in == glu.out && qkv_layer == nth && attention.layer == nth;
}

// The layer that starts at steps[i], if its five steps are there.
Result<MegakernelLayers::Layer> ternary_layer_at(const Plan& plan, size_t i, const step::Attention& attention,
                                                 int nth) {
  const auto* qkv = step_at<step::TernaryQkv>(plan, i);
  const auto* output = step_at<step::TernaryLinearAdd>(plan, i + 2);
  const auto* glu = step_at<step::TernaryGlu>(plan, i + 3);
  const auto* down = step_at<step::TernaryLinearAdd>(plan, i + 4);
  if (!qkv || !output || !glu || !down) return no("layers of another kind");
  MegakernelLayers::Layer layer{
      .x = qkv->in,
      .matrices = {qkv->wq, qkv->wk, qkv->wv, output->w, glu->w_gate, glu->w_up, down->w},
      .gains = {qkv->norm.gain, output->norm.gain, glu->norm.gain, down->norm.gain},
      .heads = head_shape(*qkv),
      .rope = qkv->rope,
      .pairs = qkv->pairs,
      .act = glu->act,
      .eps = qkv->norm.eps,
      .is_ternary = true,
  };
  // Before the first layer, the norm is a step of its own.
  const auto* norm = i > 0 ? step_at<step::RmsNormQuantize>(plan, i - 1) : nullptr;
  if (norm && norm->out == qkv->in) layer.x = norm->in, layer.gains[0] = norm->gain, layer.eps = norm->eps;
  for (const float eps : {output->norm.eps, glu->norm.eps, down->norm.eps}) {
    if (eps != layer.eps) return no("norms that differ");
  }
  if (!are_chained(layer.x, qkv->q, qkv->layer, attention, *output, *glu, *down, nth))
    return no("layers of another kind");
  return layer;
}

Result<MegakernelLayers::Layer> float_layer_at(const Plan& plan, size_t i, const step::Attention& attention, int nth) {
  const auto* qkv = step_at<step::FloatQkv>(plan, i);
  const auto* output = step_at<step::FloatLinearAdd>(plan, i + 2);
  const auto* glu = step_at<step::FloatGlu>(plan, i + 3);
  const auto* down = step_at<step::FloatLinearAdd>(plan, i + 4);
  if (!qkv || !output || !glu || !down) return no("layers of another kind");
  const step::FloatHeads& heads = qkv->heads;
  if (qkv->q_bias || output->bias || down->bias) return no("biases");
  if (heads.v_gain) return no("norms of values");
  if (heads.is_gated() || heads.n_dims > 0) return no("gates of attention, or RoPE on a part of each head");
  MegakernelLayers::Layer layer{
      .x = qkv->in,
      .matrices = {qkv->wq, qkv->wk, qkv->wv, output->w, glu->w_gate, glu->w_up, down->w},
      .gains = {qkv->norm.gain, glu->norm.gain},
      .heads = head_shape(heads),
      .rope = heads.rope,
      .pairs = heads.pairs,
      .act = glu->act,
      .eps = qkv->norm.eps,
  };
  if (heads.q_gain || heads.k_gain) {
    layer.gains.insert(layer.gains.end(), {heads.q_gain, heads.k_gain});
    layer.head_eps = heads.eps;
  }
  if (glu->norm.eps != layer.eps) return no("norms that differ");
  if (!are_chained(layer.x, heads.q, heads.layer, attention, *output, *glu, *down, nth))
    return no("layers of another kind");
  return layer;
}

// Checks the shapes that the kernels derive from other shapes.
bool have_shapes(const MegakernelLayers::Layer& l) {
  const HeadShape& h = l.heads;
  const auto q = static_cast<int>(h.n_heads * h.head_dim), kv = static_cast<int>(h.n_kv_heads * h.head_dim);
  const int d_model = l.matrices[kQuery]->cols, d_ff = l.matrices[kGate]->rows;
  const auto has = [&](Matrix which, int rows, int cols) {
    return l.matrices[which]->rows == rows && l.matrices[which]->cols == cols;
  };
  const int head = static_cast<int>(h.head_dim);
  const std::vector<int> widths = l.is_ternary ? std::vector<int>{d_model, q, d_model, d_ff}
                                  : l.head_eps ? std::vector<int>{d_model, d_model, head, head}
                                               : std::vector<int>{d_model, d_model};
  const auto width = [](const Tensor* gain) { return gain->cols; };
  return has(kQuery, q, d_model) && has(kKey, kv, d_model) && has(kValue, kv, d_model) && has(kOutput, d_model, q) &&
         has(kGate, d_ff, d_model) && has(kUp, d_ff, d_model) && has(kDown, d_model, d_ff) &&
         std::ranges::equal(l.gains, widths, {}, width);
}

Result<MegakernelLayers::Layer> layer_at(const Plan& plan, size_t i, int nth) {
  const auto* attention = step_at<step::Attention>(plan, i + 1);
  if (!attention) return no("layers of another kind");
  if (attention->softcap != 0) return no("attention with a bound of its scores");
  TRY(auto layer, step_at<step::TernaryQkv>(plan, i) ? ternary_layer_at(plan, i, *attention, nth)
                                                     : float_layer_at(plan, i, *attention, nth));
  layer.window = attention->window;
  if (std::ranges::contains(layer.gains, nullptr)) return no("norms that are steps of their own");
  if (!have_shapes(layer)) return no("the model's shape");
  return layer;
}

bool begins_layer(const Plan& plan, size_t i) {
  return step_at<step::TernaryQkv>(plan, i) || step_at<step::FloatQkv>(plan, i);
}

// Finds the first and last layer, and checks that all layers are alike.
Result<MegakernelLayers> find_layers(const Plan& plan) {
  MegakernelLayers found;
  size_t i = 0;
  while (i < plan.steps.size() && !begins_layer(plan, i)) ++i;
  found.first_step = static_cast<int>(i);
  if (i > 0 && step_at<step::RmsNormQuantize>(plan, i - 1)) --found.first_step;
  for (; begins_layer(plan, i); i += 5) {
    TRY(const auto layer, layer_at(plan, i, static_cast<int>(found.layers.size())));
    if (!found.layers.empty() && !are_alike(found.layers.front(), layer)) return no("layers that differ");
    found.layers.push_back(layer);
  }
  found.end_step = static_cast<int>(i);
  if (found.layers.empty() || std::ssize(found.layers) != plan.config.n_layers) return no("its steps are not fused");
  const auto* last = step_at<step::TernaryLinearAdd>(plan, i - 1);
  if (last && last->next.gain) return no("the last layer leaves statistics");
  std::set<StoredBytes::Identity> of_matrices;
  for (const auto& layer : found.layers) {
    for (const Tensor* w : layer.matrices) {
      found.matrices.matrices.push_back(w);
      of_matrices.insert(w->data.identity());
    }
  }
  if (of_matrices.size() != found.matrices.matrices.size()) return no("layers that share matrices");
  return found;
}

// Invocations per workgroup: 16 subgroups, but at most as many as a subgroup has lanes, since one subgroup adds up
// their sums.
uint32_t workgroup_for(const Limits& limits, uint32_t subgroup) {
  return std::min({limits.invocations, 512u, subgroup * subgroup});
}

// The distinct kinds of layers.
Result<std::vector<FloatLayersConfig::Kind>> find_kinds(std::span<const MegakernelLayers::Layer> layers) {
  std::vector<FloatLayersConfig::Kind> kinds;
  for (size_t l = 0; l < layers.size(); ++l) {
    const auto coding = [&](Matrix which) { return coding_of(*layers[l].matrices[which]); };
    if (coding(kKey) != coding(kQuery)) return no("queries and keys in different formats");
    FloatLayersConfig::Kind kind;
    kind.qk.coding = coding(kQuery);
    kind.v.coding = coding(kValue);
    kind.output.coding = coding(kOutput);
    kind.gate.coding = coding(kGate);
    kind.up.coding = coding(kUp);
    kind.down.coding = coding(kDown);
    const auto same = [&](FloatLayersConfig::Kind other) { return other.layers = {}, other == kind; };
    auto found = std::ranges::find_if(kinds, same);
    if (found == kinds.end()) {
      if (kinds.size() == FloatLayersConfig::kMostKinds) return no("formats that differ from layer to layer");
      found = kinds.insert(kinds.end(), kind);
    }
    if (l < FloatLayersConfig::kMostLayersOfKinds) found->layers[l / 32] |= 1u << l % 32;
  }
  if (kinds.size() > 1 && layers.size() > FloatLayersConfig::kMostLayersOfKinds)
    return no("so many layers in different formats");
  return kinds;
}

Result<FloatLayersConfig> float_config(const Device& device, std::span<const MegakernelLayers::Layer> layers,
                                       const LayersShape& shape) {
  FloatLayersConfig c{shape};
  c.words_in_quads = true;
  TRY(c.kinds, find_kinds(layers));
  c.heads_normed = layers.front().head_eps.has_value();
  c.head_eps = layers.front().head_eps.value_or(0);
  if (!fits(c)) return no("the model's shape, or the format of its weights");
  // If workgroup memory is small, attention processes fewer heads at a time.
  while (c.heads_at_once > 1 && float_layers_workgroup_bytes(c) > device.limits().workgroup_bytes) c.heads_at_once /= 2;
  if (!c.place_matrices(device.limits().offset_alignment)) return no(kTooLarge);
  return c;
}

}  // namespace

Result<MegakernelLayers> megakernel_layers(const Device& device, const Plan& plan, bool int8_x) {
  const Features& f = device.features();
  if (!f.subgroups || f.subgroup_min != f.subgroup_max || f.subgroup_min < 8)
    return no("the GPU has no subgroups of one size");
  TRY(MegakernelLayers found, find_layers(plan));
  const MegakernelLayers::Layer& l = found.layers.front();
  LayersShape shape;
  shape.n_layers = static_cast<uint32_t>(found.layers.size());
  shape.d_model = static_cast<uint32_t>(l.matrices[kQuery]->cols);
  shape.d_ff = static_cast<uint32_t>(l.matrices[kGate]->rows);
  shape.heads = l.heads;
  shape.interleaved = l.pairs == RopePairs::kInterleaved;
  shape.window = static_cast<uint32_t>(l.window);
  shape.eps = l.eps;
  shape.act = activation(l.act);
  shape.caps = caps_of(device);
  shape.caps.subgroup = f.subgroup_min;
  shape.workgroup = workgroup_for(device.limits(), shape.caps.subgroup);
  if (device.adapter().type == AdapterType::kSoftware) {  // as many workgroups run as it has threads, maybe two
    shape.serial_subgroups = true;
    shape.most_splits = 4;
    shape.lanes_of_result = 2;
    shape.most_rows = ceil_div(shape.d_model, 2u);
    shape.kv_heads_of_workgroup = ceil_div(l.heads.n_kv_heads, 2u);
  }
  // Place the layer's matrices, each aligned as offsets must be.
  const uint32_t alignment = device.limits().offset_alignment;
  uint32_t room = 0, n_buffers = 7;
  if (l.is_ternary) {
    TernaryLayersConfig c{shape};
    if (!fits(c)) return no("the model's shape");
    if (!c.place_matrices(std::max(alignment / 16, 1u))) return no(kTooLarge);
    found.matrices.bytes = uint64_t{16} * c.layer_vectors * c.n_layers;
    room = ternary_layers_workgroup_bytes(c);
    found.config = c;
  } else {
    if (!plan.int8_on_read || !int8_x) return no("activations that stay f32");
    TRY(const FloatLayersConfig c, float_config(device, found.layers, shape));
    found.matrices.bytes = 16 * c.of_all_layers(&FloatLayersConfig::Kind::units);
    found.matrices.scale_bytes = 4 * c.of_all_layers(&FloatLayersConfig::Kind::scales);
    room = float_layers_workgroup_bytes(c);
    n_buffers = 8;
    found.config = c;
  }
  if (room > device.limits().workgroup_bytes) return no("the GPU has too little workgroup memory");
  if (device.limits().storage_buffers < n_buffers) return no("the GPU binds too few buffers");
  if (std::max(found.matrices.bytes, found.matrices.scale_bytes) >
      std::min(device.limits().binding_bytes, device.limits().buffer_bytes))
    return no(kTooLarge);
  return found;
}

Result<TernaryRowsConfig> megakernel_rows(const Device& device, const MegakernelLayers& layers, uint32_t rows) {
  const auto* of_one = std::get_if<TernaryLayersConfig>(&layers.config);
  if (!of_one) return no("several rows of float activations");
  TernaryRowsConfig c = rows_config(*of_one, rows);
  if (device.adapter().type != AdapterType::kSoftware) c.most_rows = std::min(c.most_rows, 64u);
  if (!fits(c)) return no("the model's shape, for several rows");
  // If workgroup memory is small, attention processes fewer heads at a time, and rows are staged in pieces.
  while (ternary_rows(c).module.needs.workgroup_bytes > device.limits().workgroup_bytes) {
    if (c.heads_at_once > 1) {
      c.heads_at_once /= 2;
    } else {
      c.staged_bytes /= 2;
    }
    if (!fits(c)) return no("the GPU has too little workgroup memory for several rows");
  }
  return c;
}

std::array<std::span<const Tensor* const>, 5> bound_matrices(const MegakernelLayers::Layer& layer) {
  const std::span<const Tensor* const> all = layer.matrices;
  return {all.first(kOutput), all.subspan(kOutput, 1), all.subspan(kGate, 1), all.subspan(kUp, 1),
          all.subspan(kDown, 1)};
}

}  // namespace tern::gpu
