#include "backend/gpu/record/one_dispatch.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <string_view>

#include "backend/gpu/record/layouts.h"
#include "base/bytes.h"
#include "base/check.h"
#include "plan/step_weights.h"

namespace tern::gpu {
namespace {

template <class S>
const S* step_at(const Plan& plan, size_t i) {
  return i < plan.steps.size() ? std::get_if<S>(&plan.steps[i].body) : nullptr;
}

std::unexpected<Error> no(std::string_view why) {
  return fail(ErrorCode::kNotSupported, "the layers of a token cannot be one dispatch here: {}", why);
}

std::array<const Tensor*, 6> matrices_of(const LayersInOne::Layer& l) {
  return {l.qkv->wq, l.qkv->wk, l.qkv->wv, l.output->w, l.glu->w_gate, l.glu->w_up};
}

bool are_alike(const LayersInOne::Layer& a, const LayersInOne::Layer& b) {
  const auto same_shape = [](const Tensor* v, const Tensor* w) { return v->rows == w->rows && v->cols == w->cols; };
  return std::ranges::equal(matrices_of(a), matrices_of(b), same_shape) && same_shape(a.down->w, b.down->w) &&
         a.qkv->n_heads == b.qkv->n_heads && a.qkv->n_kv_heads == b.qkv->n_kv_heads && a.qkv->rope == b.qkv->rope &&
         a.qkv->pairs == b.qkv->pairs && a.glu->act == b.glu->act && a.x == b.x && a.eps == b.eps &&
         a.output->norm.eps == b.eps && a.glu->norm.eps == b.eps && a.down->norm.eps == b.eps;
}

// Of different names.
size_t n_ternary_matrices(const Plan& plan) {
  std::set<std::string_view> names;
  for (const Step& step : plan.steps) {
    for_each_weight(step.body, [&](const Tensor* w, WeightRole role) {
      if (role == WeightRole::kTernary) names.insert(w->name);
    });
  }
  return names.size();
}

// The five steps of a layer from steps[i] on, where that is what is there.
Result<LayersInOne::Layer> layer_at(const Plan& plan, size_t i) {
  LayersInOne::Layer layer{.qkv = step_at<step::TernaryQkv>(plan, i),
                           .output = step_at<step::TernaryLinearAdd>(plan, i + 2),
                           .down = step_at<step::TernaryLinearAdd>(plan, i + 4),
                           .glu = step_at<step::TernaryGlu>(plan, i + 3),
                           .x = {},
                           .gain = nullptr,
                           .eps = 0};
  const auto* attention = step_at<step::Attention>(plan, i + 1);
  if (!layer.qkv || !attention || !layer.output || !layer.glu || !layer.down) return no("layers of another kind");
  if (attention->window != 0 || attention->softcap != 0) return no("attention with a window or a bound of its scores");
  layer.x = layer.qkv->in, layer.gain = layer.qkv->norm.gain, layer.eps = layer.qkv->norm.eps;
  const auto* norm = i > 0 ? step_at<step::RmsNormQuantize>(plan, i - 1) : nullptr;
  if (norm && norm->out == layer.qkv->in) layer.x = norm->in, layer.gain = norm->gain, layer.eps = norm->eps;
  if (!layer.gain || !layer.output->norm.gain || !layer.glu->norm.gain || !layer.down->norm.gain)
    return no("norms that are steps of their own");
  if (layer.output->x != layer.x || layer.glu->in != layer.x || layer.down->x != layer.x)
    return no("layers of another kind");
  return layer;
}

// The invocations of a workgroup: 16 subgroups, or as many as a subgroup has lanes, for their sums are added up by one.
uint32_t workgroup_for(const Limits& limits, uint32_t subgroup) {
  return std::min({limits.invocations, 512u, subgroup * subgroup});
}

}  // namespace

Result<LayersInOne> layers_in_one(const Device& device, const Plan& plan) {
  const Features& f = device.features();
  const bool is_software = device.adapter().type == AdapterType::kSoftware;
  if (!f.subgroups || f.subgroup_min != f.subgroup_max || f.subgroup_min < 8)
    return no("the GPU has no subgroups of one size");
  LayersInOne found;
  size_t i = 0;
  while (i < plan.steps.size() && !std::get_if<step::TernaryQkv>(&plan.steps[i].body)) ++i;
  found.first_step = static_cast<int>(i);
  if (i > 0 && step_at<step::RmsNormQuantize>(plan, i - 1)) --found.first_step;
  for (; step_at<step::TernaryQkv>(plan, i); i += 5) {
    TRY(const auto layer, layer_at(plan, i));
    if (!found.layers.empty() && !are_alike(found.layers.front(), layer)) return no("layers that differ");
    found.layers.push_back(layer);
  }
  found.end_step = static_cast<int>(i);
  if (found.layers.empty() || std::ssize(found.layers) != plan.config.n_layers)
    return no("its layers are not ternary, or not fused");
  if (!are_alike(found.layers.front(), found.layers.front())) return no("norms that differ");
  if (n_ternary_matrices(plan) != 7 * found.layers.size()) return no("ternary matrices outside of the layers");
  if (found.layers.back().down->next.gain) return no("the last layer leaves statistics");
  const LayersInOne::Layer& l = found.layers.front();
  TernaryLayersConfig& c = found.config;
  c.n_layers = static_cast<uint32_t>(found.layers.size());
  c.d_model = static_cast<uint32_t>(l.qkv->wq->cols);
  c.d_ff = static_cast<uint32_t>(l.glu->w_gate->rows);
  c.heads = {static_cast<uint32_t>(l.qkv->n_heads), static_cast<uint32_t>(l.qkv->n_kv_heads),
             static_cast<uint32_t>(l.qkv->head_dim)};
  c.interleaved = l.qkv->pairs == RopePairs::kInterleaved;
  c.eps = l.eps;
  c.act = activation(l.glu->act);
  c.caps = caps_of(device);
  c.caps.subgroup = f.subgroup_min;
  c.workgroup = workgroup_for(device.limits(), c.caps.subgroup);
  c.most_splits = std::min(c.most_splits, c.caps.subgroup);
  if (is_software) {  // as many workgroups as it has threads, which may be two
    c.in_turns = true;
    c.most_rows = ceil_div(c.d_model, 2u);
    c.kv_heads_of_workgroup = ceil_div(c.heads.n_kv_heads, 2u);
  }
  if (!fits(c)) return no("the model's shape");
  if (ternary_layers_workgroup_bytes(c) > device.limits().workgroup_bytes)
    return no("the GPU has too little workgroup memory");
  if (device.limits().storage_buffers < 7) return no("the GPU binds too few buffers");
  // Where a layer's matrices are, each from a multiple of what offsets have to be on.
  c.place_matrices(std::max(device.limits().offset_alignment / 16, 1u));
  found.matrix_bytes = uint64_t{16} * c.layer_vectors * c.n_layers;
  if (found.matrix_bytes > std::min(device.limits().binding_bytes, device.limits().buffer_bytes))
    return no("its layers are more than the GPU binds at once");
  return found;
}

Result<std::unique_ptr<OneDispatch>> OneDispatch::create(Device& device, KernelLibrary& kernels, WeightStore& weights,
                                                         LayersInOne layers) {
  std::unique_ptr<OneDispatch> one(new OneDispatch(device, kernels, std::move(layers)));
  const TernaryLayersConfig& c = one->config();
  one->matrices_ = weights.together();
  CHECK(one->matrices_ && one->matrices_->bytes() == one->layers_.matrix_bytes);
  for (size_t l = 0; l < one->layers_.layers.size(); ++l) {  // where the kernel takes them to be
    const auto& layer = one->layers_.layers[l];
    const auto is_at = [&](std::initializer_list<const Tensor*> matrices, uint32_t at) -> Result<void> {
      const std::vector<const Tensor*> all(matrices);
      TRY(const BufferView view, weights.ternary(all));
      CHECK(view.buffer == one->matrices_ && view.offset == (l * c.layer_vectors + at) * uint64_t{16});
      return {};
    };
    TRY_STATUS(is_at({layer.qkv->wq, layer.qkv->wk, layer.qkv->wv}, c.qkv_at));
    TRY_STATUS(is_at({layer.output->w}, c.output_at));
    TRY_STATUS(is_at({layer.glu->w_gate}, c.gate_at));
    TRY_STATUS(is_at({layer.glu->w_up}, c.up_at));
    TRY_STATUS(is_at({layer.down->w}, c.down_at));
  }
  TRY_STATUS(one->put_vectors());
  TRY(one->words_, device.new_buffer("words between workgroups", uint64_t{4} * c.n_words(), BufferUse::kWork));
  TRY_STATUS(one->reset(Patience::kUsual));
  return one;
}

// The norms' gains and the matrices' scales of each layer, side by side.
Result<void> OneDispatch::put_vectors() {
  const TernaryLayersConfig& c = config();
  std::vector<float> values(size_t{c.n_layers} * c.layer_values());
  Scratch scratch;
  for (size_t l = 0; l < layers_.layers.size(); ++l) {
    const auto& layer = layers_.layers[l];
    const auto of_layer = std::span(values).subspan(l * c.layer_values(), c.layer_values());
    const auto put = [&](const Tensor& gain, uint32_t at, uint32_t n) -> Result<void> {
      CHECK(static_cast<uint32_t>(gain.cols) == n);
      TRY(const Bytes row, gain.data.read(0, row_bytes(gain.format, gain.cols), scratch));
      format_info(gain.format).decode(row, of_layer.subspan(at, n));
      for (float& value : of_layer.subspan(at, n)) value *= gain.scale;
      return {};
    };
    TRY_STATUS(put(*layer.gain, c.qkv_gain(), c.d_model));
    TRY_STATUS(put(*layer.output->norm.gain, c.output_gain(), c.q_width()));
    TRY_STATUS(put(*layer.glu->norm.gain, c.glu_gain(), c.d_model));
    TRY_STATUS(put(*layer.down->norm.gain, c.down_gain(), c.d_ff));
    size_t i = c.scales();
    for (const Tensor* w : matrices_of(layer)) of_layer[i++] = w->scale;
    of_layer[i] = layer.down->w->scale;
  }
  const Bytes bytes = std::as_bytes(std::span(values));
  TRY(vectors_, device_.new_buffer("the layers' vectors", bytes.size(), BufferUse::kWeights));
  return device_.write(*vectors_, 0, bytes);
}

Result<RecordedDispatch> OneDispatch::record(const BufferView& x, const BufferView& angles, const BufferView& params,
                                             const GpuKvStore& store) const {
  CHECK(store.all_layers().buffer && store.type() == KvType::kF16);
  return kernels_.record(kernels_.traced(ternary_layers, config()), Extent{}, View<TernaryWeights>{{matrices_, 0, 0}},
                         View<wgsl::F32>{{vectors_.get(), 0, 0}}, View<wgsl::F32>{x},
                         View<wgsl::Vec2<wgsl::F32>>{angles}, View<wgsl::U32>{params},
                         View<wgsl::Vec4<wgsl::F16x2>>{store.all_layers()},
                         View<wgsl::Atomic<wgsl::U32>>{{words_.get(), 0, 0}});
}

bool OneDispatch::has_failed(Bytes outcome) {
  uint32_t n_failed = 0;
  std::memcpy(&n_failed, outcome.data(), sizeof(n_failed));
  return n_failed > 0;
}

Result<void> OneDispatch::reset(Patience patience) const {
  // A look takes about a microsecond; of a software device much less than what it waits for.
  const uint32_t unit = device_.adapter().type == AdapterType::kSoftware ? 1'000'000 : 1'000;
  std::vector<uint32_t> words(config().n_words());
  words[TernaryLayersConfig::kPatience] = patience == Patience::kUsual ? 50 * unit : unit;
  return device_.write(*words_, 0, std::as_bytes(std::span(words)));
}

}  // namespace tern::gpu
