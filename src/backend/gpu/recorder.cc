#include "backend/gpu/recorder.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "backend/gpu/kernels/attention.h"
#include "backend/gpu/kernels/elementwise.h"
#include "backend/gpu/kernels/embed.h"
#include "backend/gpu/kernels/float_linear.h"
#include "backend/gpu/kernels/rms_norm.h"
#include "backend/gpu/kernels/ternary_matmul.h"
#include "backend/gpu/kernels/ternary_qkv.h"
#include "base/check.h"
#include "base/format_text.h"

namespace tern::gpu {
namespace {

constexpr When kFewTokens{.max_tokens = kMatmulTokens - 1};
constexpr When kManyTokens{.min_tokens = kMatmulTokens};

uint32_t ceil_div(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

HeadShape head_shape(const Config& c, int n_ctx) {
  return {static_cast<uint32_t>(c.n_heads), static_cast<uint32_t>(c.n_kv_heads), static_cast<uint32_t>(c.head_dim),
          static_cast<uint32_t>(n_ctx)};
}

}  // namespace

Caps caps_of(const Device& device) {
  const Features& f = device.features();
  Caps caps{.f16 = f.f16, .packed_dot = f.packed_dot, .subgroup = f.subgroups ? f.subgroup_min : 0};
  if (caps.subgroup < 4) caps.subgroup = 0;  // too small to be worth it
  return caps;
}

uint32_t attention_workgroup(const Device& device, const Layouts& layouts) {
  const Limits& limits = device.limits();
  const uint32_t bytes_each = sizeof(float) * (caps_of(device).subgroup > 0 ? 6 : 16);  // reductions take the rest
  return std::min(
      {layouts.attention_workgroup, limits.invocations, std::bit_floor(limits.workgroup_bytes / bytes_each)});
}

Recorder::Recorder(const RecorderContext& context, GpuKvCache* cache, Program& program)
    : c_(context), cache_(cache), program_(program), caps_(caps_of(context.device)) {}

Result<void> Recorder::record_all() {
  for (const Step& step : c_.plan.steps) {
    auto recorded = std::visit([this](const auto& s) { return record(s); }, step.body);
    if (!recorded) {
      Error error = std::move(recorded).error();
      error.message = step.name + ": " + error.message;
      return std::unexpected(std::move(error));
    }
    ++step_;
  }
  return {};
}

template <class... P, class... V>
Result<void> Recorder::dispatch(const wgsl::Kernel<P...>& kernel, const Extent& extent, const V&... views) {
  using List = typename wgsl::Kernel<P...>::Bindings;
  const auto packed = ViewsOf<List>::pack(views...);
  TRY(const Pipeline* pipeline, c_.kernels.pipeline(kernel.module));
  TRY(auto bindings, c_.device.bind(*pipeline, packed));
  program_.add({.pipeline = pipeline,
                .bindings = std::move(bindings),
                .grid = extent.grid,
                .axis = extent.axis,
                .rows = extent.rows,
                .rows_per_workgroup = extent.rows_per_workgroup,
                .positions_per_split = extent.positions_per_split,
                .max_splits = extent.max_splits,
                .when = extent.when,
                .step = step_});
  return {};
}

uint32_t Recorder::workgroup(uint32_t wanted) const { return std::min(wanted, c_.device.limits().invocations); }

// Lanes reduce fastest inside a subgroup.
uint32_t Recorder::lanes(uint32_t wanted) const { return std::min(wanted, caps_.subgroup == 0 ? 8 : caps_.subgroup); }

Result<View<WeightScales>> Recorder::scales(float a, float b, float c) {
  const auto bits = [](float x) { return std::bit_cast<uint32_t>(x); };
  TRY(const BufferView view, c_.work.constant({bits(a), bits(b), bits(c), 0}));
  return View<WeightScales>{view};
}

Result<void> Recorder::record(const step::Embed& s) {
  TRY(const FloatMatrix* table, c_.weights.matrix(*s.table));
  for (const FloatMatrix::Part& part : table->parts) {
    TRY(const BufferView constant, c_.work.constant({part.first, part.count, 0, 0}));
    const Extent per_token{.grid = {}, .axis = Axis::kY};
    const View<wgsl::U32> tokens{{&c_.work.tokens(), 0, 0}};
    const EmbedConfig config{width(s.out)};
    if (table->is_f16) {
      TRY_STATUS(dispatch(embed<wgsl::F16x2>(config), per_token, tokens, View<wgsl::F16x2>{part.view},
                          View<RowRange>{constant}, c_.work.float_pairs(s.out)));
    } else {
      TRY_STATUS(dispatch(embed<wgsl::Vec2<wgsl::F32>>(config), per_token, tokens,
                          View<wgsl::Vec2<wgsl::F32>>{part.view}, View<RowRange>{constant},
                          c_.work.float_pairs(s.out)));
    }
  }
  return {};
}

Result<void> Recorder::record(const step::SelectRows& s) {
  alias_ = s;
  return dispatch(select_rows({width(s.in)}),
                  {.grid = {.x = ceil_div(width(s.in), kElementwiseWorkgroup)},
                   .axis = Axis::kY,
                   .rows = Rows::kLogits,
                   .when = {.min_tokens = 2}},
                  c_.work.floats(s.in), params(), c_.work.floats(s.out));
}

Result<void> Recorder::rms_norm(const step::RmsNorm& s, SlotId in, const When& when) {
  TRY(const BufferView gain, c_.weights.vector(*s.gain));
  const RmsNormConfig config{
      .width = width(s.in), .eps = s.eps, .caps = caps_, .workgroup = workgroup(c_.layouts.norm_workgroup)};
  return dispatch(gpu::rms_norm(config), {.grid = {}, .axis = Axis::kY, .rows = rows_of(s.out), .when = when},
                  c_.work.floats(in), View<wgsl::F32>{gain}, c_.work.floats(s.out));
}

Result<void> Recorder::record(const step::RmsNorm& s) {
  if (!alias_ || alias_->out != s.in) return rms_norm(s, s.in, {});
  TRY_STATUS(rms_norm(s, alias_->in, {.max_tokens = 1}));
  return rms_norm(s, s.in, {.min_tokens = 2});
}

Result<void> Recorder::record(const step::Quantize& s) {
  const RmsNormConfig config{
      .width = width(s.in), .eps = 0, .caps = caps_, .workgroup = workgroup(c_.layouts.norm_workgroup)};
  return dispatch(quantize(config), {.grid = {}, .axis = Axis::kY, .rows = rows_of(s.in)}, c_.work.float_quads(s.in),
                  c_.work.int8_words(s.out));
}

Result<void> Recorder::record(const step::RmsNormQuantize& s) {
  TRY(const BufferView gain, c_.weights.vector(*s.gain));
  const RmsNormConfig config{
      .width = width(s.in), .eps = s.eps, .caps = caps_, .workgroup = workgroup(c_.layouts.norm_workgroup)};
  return dispatch(rms_norm_quantize(config), {.grid = {}, .axis = Axis::kY, .rows = rows_of(s.in)},
                  c_.work.float_quads(s.in), View<wgsl::Vec4<wgsl::F32>>{gain}, c_.work.int8_words(s.out));
}

TernaryConfig Recorder::ternary_config(uint32_t rows, uint32_t cols, const MatvecLayout& layout) const {
  return {.rows = rows,
          .cols = cols,
          .caps = caps_,
          .lanes = lanes(layout.lanes),
          .rows_per_group = layout.rows_per_group,
          .workgroup = workgroup(layout.workgroup)};
}

Result<void> Recorder::linear_few(SlotId in, const Tensor& w, SlotId out, TernaryStore store, const When& when) {
  const Tensor* const matrix = &w;
  TRY(const BufferView weights, c_.weights.ternary(std::span(&matrix, 1)));
  TRY(const auto scale, scales(w.scale));
  const auto rows = static_cast<uint32_t>(w.rows), cols = static_cast<uint32_t>(w.cols);
  TernaryConfig config = ternary_config(rows, cols, cols > rows ? c_.layouts.wide : c_.layouts.square);
  config.store = store;
  return dispatch(ternary_matvec(config),
                  {.grid = {.x = ceil_div(rows, config.rows_per_workgroup())}, .axis = Axis::kY, .when = when},
                  View<TernaryWeights>{weights}, c_.work.int8_quads(in), scale, c_.work.floats(out));
}

std::optional<TernaryMatrixMatmulConfig> Recorder::matrix_config(const Tensor& w, uint32_t n_matrices) const {
  const Features& f = c_.device.features();
  const Limits& limits = c_.device.limits();
  if (!f.subgroups || f.subgroup_min != f.subgroup_max) return std::nullopt;  // a subgroup's part of a tile is fixed
  if (c_.device.adapter().type == AdapterType::kSoftware && !c_.layouts.software_matrices) return std::nullopt;
  std::optional<TernaryMatrixMatmulConfig> best;
  for (const wgsl::MatrixShape& shape : f.matrices) {
    if (!has_matrix_matmul(shape)) continue;
    const auto config = fit(TernaryMatrixMatmulConfig{.rows = static_cast<uint32_t>(w.rows),
                                                      .cols = static_cast<uint32_t>(w.cols),
                                                      .shape = shape,
                                                      .subgroup = f.subgroup_min});
    if (config.workgroup() > limits.invocations || config.workgroup_bytes(n_matrices) > limits.workgroup_bytes)
      continue;
    if (!best || shape.m * shape.n * shape.k > best->shape.m * best->shape.n * best->shape.k) best = config;
  }
  return best;
}

Result<void> Recorder::linear_many(SlotId in, const Tensor& w, SlotId out, TernaryStore store) {
  if (c_.max_batch < kMatmulTokens) return {};
  const Tensor* const matrix = &w;
  TRY(const BufferView weights, c_.weights.ternary(std::span(&matrix, 1)));
  TRY(const auto scale, scales(w.scale));
  const auto use = [&](const TernaryMatmulKernel& kernel, const auto& tiles) {
    return dispatch(kernel, per_tile(tiles), View<TernaryWeights>{weights}, c_.work.int8_quads(in), scale, params(),
                    c_.work.floats(out));
  };
  if (auto tiles = matrix_config(w, 1)) {
    tiles->store = store;
    return use(ternary_matmul_matrix(*tiles), *tiles);
  }
  const TernaryMatmulConfig tiles{
      .rows = static_cast<uint32_t>(w.rows), .cols = static_cast<uint32_t>(w.cols), .store = store, .caps = caps_};
  return use(ternary_matmul(tiles), tiles);
}

Result<void> Recorder::record(const step::TernaryLinear& s) {
  TRY_STATUS(linear_few(s.in, *s.w, s.out, TernaryStore::kSet, kFewTokens));
  return linear_many(s.in, *s.w, s.out, TernaryStore::kSet);
}

Result<void> Recorder::record(const step::TernaryLinearAdd& s) {
  SlotId in = s.in;
  if (s.norm.gain) {
    in = s.norm.quantized;
    const bool on_read = norms_on_read(s.norm, static_cast<uint32_t>(s.w->cols));
    if (on_read) TRY_STATUS(normed_linear(s));
    TRY_STATUS(norm_rows(s.in, s.norm, on_read ? kManyTokens : When{}));
    if (on_read) return linear_many(in, *s.w, s.x, TernaryStore::kAdd);
  }
  TRY_STATUS(linear_few(in, *s.w, s.x, TernaryStore::kAdd, kFewTokens));
  return linear_many(in, *s.w, s.x, TernaryStore::kAdd);
}

// A norm can be done by its reader where the step before has left the statistics, and the row fits workgroup memory.
bool Recorder::norms_on_read(const step::NormOnRead& norm, uint32_t cols) const {
  constexpr uint32_t kForReductions = 6144;
  return norm.gain && n_parts_.contains(norm.stats.index) &&
         cols + kForReductions <= c_.device.limits().workgroup_bytes;
}

Result<Recorder::NormViews> Recorder::norm_views(SlotId x, const step::NormOnRead& norm) {
  TRY(const BufferView gain, c_.weights.vector(*norm.gain));
  const auto n_parts = n_parts_.find(norm.stats.index);
  CHECK(n_parts != n_parts_.end());
  return NormViews{.x = c_.work.float_quads(x),
                   .gain = {gain},
                   .parts = c_.work.stats(norm.stats),
                   .config = {.eps = norm.eps, .n_parts = n_parts->second}};
}

// Without a norm to follow, the statistics go where nobody looks.
Result<Recorder::NextViews> Recorder::next_views(const step::StatsOnWrite& next, uint32_t n_parts) {
  if (!next.gain)
    return NextViews{.gain = {{&c_.work.unused_gain(), 0, 0}}, .parts = {{&c_.work.unused_stats(), 0, 0}}};
  TRY(const BufferView gain, c_.weights.vector(*next.gain));
  CHECK(n_parts <= most_stats_parts(width(next.stats)));
  n_parts_[next.stats.index] = n_parts;
  return NextViews{.gain = {gain}, .parts = c_.work.stats(next.stats)};
}

// By a kernel of its own: for many tokens, since no workgroup of a matrix kernel reads a whole row.
Result<void> Recorder::norm_rows(SlotId x, const step::NormOnRead& norm, const When& when) {
  TRY(const BufferView gain, c_.weights.vector(*norm.gain));
  const RmsNormConfig config{
      .width = width(x), .eps = norm.eps, .caps = caps_, .workgroup = workgroup(c_.layouts.norm_workgroup)};
  return dispatch(rms_norm_quantize(config), {.grid = {}, .axis = Axis::kY, .when = when}, c_.work.float_quads(x),
                  View<wgsl::Vec4<wgsl::F32>>{gain}, c_.work.int8_words(norm.quantized));
}

Result<void> Recorder::normed_linear(const step::TernaryLinearAdd& s) {
  const Tensor* const matrix = s.w;
  TRY(const BufferView weights, c_.weights.ternary(std::span(&matrix, 1)));
  TRY(const auto scale, scales(s.w->scale));
  const auto rows = static_cast<uint32_t>(s.w->rows), cols = static_cast<uint32_t>(s.w->cols);
  TernaryConfig config = ternary_config(rows, cols, cols > rows ? c_.layouts.wide : c_.layouts.square);
  config.store = TernaryStore::kAdd;
  const uint32_t n_workgroups = ceil_div(rows, config.rows_per_workgroup());
  TRY(const auto norm, norm_views(s.in, s.norm));
  TRY(const auto next, next_views(s.next, n_workgroups));
  return dispatch(normed_matvec_add(config, norm.config),
                  {.grid = {.x = n_workgroups}, .axis = Axis::kY, .when = kFewTokens}, View<TernaryWeights>{weights},
                  norm.x, norm.gain, norm.parts, scale, c_.work.floats(s.x), next.gain, next.parts);
}

Result<void> Recorder::glu_many(SlotId in, const step::TernaryGlu& s) {
  if (c_.max_batch < kMatmulTokens) return {};
  const Tensor* const gate = s.w_gate;
  const Tensor* const up = s.w_up;
  TRY(const BufferView w_gate, c_.weights.ternary(std::span(&gate, 1)));
  TRY(const BufferView w_up, c_.weights.ternary(std::span(&up, 1)));
  TRY(const auto scale, scales(gate->scale, up->scale));
  const auto use = [&](const TernaryGluMatmulKernel& kernel, const auto& tiles) {
    return dispatch(kernel, per_tile(tiles), View<TernaryWeights>{w_gate}, View<TernaryWeights>{w_up},
                    c_.work.int8_quads(in), scale, params(), c_.work.floats(s.out));
  };
  if (const auto tiles = matrix_config(*gate, 2)) return use(ternary_glu_matmul_matrix(*tiles), *tiles);
  const TernaryMatmulConfig tiles{.rows = static_cast<uint32_t>(gate->rows),
                                  .cols = static_cast<uint32_t>(gate->cols),
                                  .caps = caps_,
                                  .tile_tokens = 32};
  return use(ternary_glu_matmul(tiles), tiles);
}

Result<void> Recorder::record(const step::TernaryGlu& s) {
  const Tensor* const gate = s.w_gate;
  const Tensor* const up = s.w_up;
  TRY(const BufferView w_gate, c_.weights.ternary(std::span(&gate, 1)));
  TRY(const BufferView w_up, c_.weights.ternary(std::span(&up, 1)));
  TRY(const auto scale, scales(gate->scale, up->scale));
  const TernaryConfig config =
      ternary_config(static_cast<uint32_t>(gate->rows), static_cast<uint32_t>(gate->cols), c_.layouts.glu);
  const uint32_t n_workgroups = ceil_div(config.rows, config.rows_per_workgroup());
  const Extent extent{.grid = {.x = n_workgroups}, .axis = Axis::kY, .when = kFewTokens};
  if (!norms_on_read(s.norm, config.cols)) {
    const SlotId in = s.norm.gain ? s.norm.quantized : s.in;
    if (s.norm.gain) TRY_STATUS(norm_rows(s.in, s.norm, {}));
    TRY_STATUS(dispatch(ternary_glu(config), extent, View<TernaryWeights>{w_gate}, View<TernaryWeights>{w_up},
                        c_.work.int8_quads(in), scale, c_.work.floats(s.out)));
    return glu_many(in, s);
  }
  TRY(const auto norm, norm_views(s.in, s.norm));
  TRY(const auto next, next_views(s.next, n_workgroups));
  TRY_STATUS(dispatch(normed_glu(config, norm.config), extent, View<TernaryWeights>{w_gate}, View<TernaryWeights>{w_up},
                      norm.x, norm.gain, norm.parts, scale, c_.work.floats(s.out), next.gain, next.parts));
  TRY_STATUS(norm_rows(s.in, s.norm, kManyTokens));
  return glu_many(s.norm.quantized, s);
}

Result<void> Recorder::record(const step::FloatLinear& s) {
  TRY(const FloatMatrix* w, c_.weights.matrix(*s.w));
  FloatLinearConfig config{.rows = static_cast<uint32_t>(s.w->rows),
                           .cols = static_cast<uint32_t>(s.w->cols),
                           .caps = caps_,
                           .lanes = lanes(c_.layouts.head.lanes),
                           .rows_per_group = c_.layouts.head.rows_per_group,
                           .workgroup = workgroup(c_.layouts.head.workgroup)};
  for (const FloatMatrix::Part& part : w->parts) {
    TRY(const BufferView constant, c_.work.constant({part.first, part.count, 0, 0}));
    const uint32_t n = ceil_div(part.count, config.rows_per_workgroup());
    Extent extent{.grid = {.x = n}, .axis = Axis::kZ, .rows = rows_of(s.out)};
    if (n > c_.device.limits().workgroups) {
      extent.grid.x = static_cast<uint32_t>(std::ceil(std::sqrt(static_cast<double>(n))));
      extent.grid.y = ceil_div(n, extent.grid.x);
    }
    if (w->is_f16) {
      using Quad = wgsl::Vec4<wgsl::F16x2>;
      TRY_STATUS(dispatch(float_linear<Quad>(config), extent, View<Quad>{part.view}, c_.work.float_quads(s.in),
                          View<RowRange>{constant}, c_.work.floats(s.out)));
    } else {
      using Quad = wgsl::Vec4<wgsl::F32>;
      TRY_STATUS(dispatch(float_linear<Quad>(config), extent, View<Quad>{part.view}, c_.work.float_quads(s.in),
                          View<RowRange>{constant}, c_.work.floats(s.out)));
    }
  }
  return {};
}

Result<void> Recorder::rope(SlotId x, int n_heads, int head_dim, RopePairs pairs, const When& when) {
  const RopeConfig config{static_cast<uint32_t>(n_heads), static_cast<uint32_t>(head_dim),
                          pairs == RopePairs::kInterleaved};
  return dispatch(gpu::rope(config),
                  {.grid = {.x = ceil_div(config.n_heads * config.head_dim / 2, kElementwiseWorkgroup)},
                   .axis = Axis::kY,
                   .when = when},
                  c_.work.floats(x), View<wgsl::Vec2<wgsl::F32>>{{&c_.work.rope(), 0, 0}}, params());
}

Result<void> Recorder::record(const step::Rope& s) { return rope(s.x, s.n_heads, s.head_dim, s.pairs, {}); }

Result<void> Recorder::append(SlotId k, SlotId v, int layer, const When& when) {
  if (!cache_) return {};
  return cache_->type() == KvType::kF16 ? append_as<wgsl::F16x2>(k, v, layer, when)
                                        : append_as<wgsl::F32>(k, v, layer, when);
}

template <class KvWord>
Result<void> Recorder::append_as(SlotId k, SlotId v, int layer, const When& when) {
  const HeadShape heads = head_shape(c_.plan.config, cache_->n_ctx());
  return dispatch(kv_append<KvWord>({.heads = heads}),
                  {.grid = {.x = 2 * heads.n_kv_heads}, .axis = Axis::kY, .when = when}, c_.work.floats(k),
                  c_.work.floats(v), params(), View<KvWord>{cache_->layer(layer)});
}

Result<void> Recorder::record(const step::KvAppend& s) { return append(s.k, s.v, s.layer, {}); }

Result<void> Recorder::record(const step::Attention& s) {
  if (!cache_) {
    TRY_STATUS(next_views(s.next, static_cast<uint32_t>(s.n_heads)));  // for the steps that read them
    return {};
  }
  return cache_->type() == KvType::kF16 ? attention_as<wgsl::F16x2>(s) : attention_as<wgsl::F32>(s);
}

AttentionConfig Recorder::attention_config() const {
  AttentionConfig config{.heads = head_shape(c_.plan.config, cache_->n_ctx()), .caps = caps_};
  config.workgroup = attention_workgroup(c_.device, c_.layouts);
  return fit(config);
}

template <class KvWord>
Result<void> Recorder::attention_as(const step::Attention& s) {
  const AttentionConfig config = attention_config();
  TRY(const auto next, next_views(s.next, config.heads.n_heads));
  const int split_from = c_.layouts.split_attention_from;
  const bool splits = cache_->n_ctx() >= split_from;
  Extent extent{.grid = {.x = config.heads.n_heads}, .axis = Axis::kY};
  extent.when = splits ? When{.max_tokens = kMatmulTokens - 1, .max_pos = split_from - 1} : When{};
  const auto unsplit = [&] {
    return dispatch(attention<KvWord>(config), extent, c_.work.float_quads(s.q),
                    View<KvQuad<KvWord>>{cache_->layer(s.layer)}, params(), c_.work.floats(s.out), next.gain,
                    next.parts);
  };
  TRY_STATUS(unsplit());
  if (!splits) return {};
  extent.when = kManyTokens;  // which fill the GPU without splitting
  TRY_STATUS(unsplit());
  return attention_in_splits<KvWord>(s, next);
}

template <class KvWord>
Result<void> Recorder::attention_in_splits(const step::Attention& s, const NextViews& next) {
  AttentionConfig config = attention_config();
  config.max_splits = WorkBuffers::kMostSplits;
  const When when{.max_tokens = kMatmulTokens - 1, .min_pos = c_.layouts.split_attention_from};
  const Extent split{.grid = {.x = config.heads.n_heads},
                     .axis = Axis::kY,
                     .positions_per_split = config.chunk,
                     .max_splits = config.max_splits,
                     .when = when};
  TRY(const Buffer* parts, c_.work.attention_parts(kMatmulTokens - 1));
  const View<wgsl::F32> parts_view{{parts, 0, 0}};
  TRY_STATUS(dispatch(attention<KvWord>(config), split, c_.work.float_quads(s.q),
                      View<KvQuad<KvWord>>{cache_->layer(s.layer)}, params(), parts_view,
                      View<wgsl::F32>{{&c_.work.unused_gain(), 0, 0}},
                      View<NormStats>{{&c_.work.unused_stats(), 0, 0}}));
  return dispatch(attention_merge(config), {.grid = {.x = config.heads.n_heads}, .axis = Axis::kY, .when = when},
                  parts_view, params(), c_.work.floats(s.out), next.gain, next.parts);
}

Result<void> Recorder::record(const step::TernaryQkv& s) {
  if (!cache_) {
    const Tensor* const matrices[] = {s.wq, s.wk, s.wv};
    TRY_STATUS(c_.weights.ternary(matrices));
    return {};
  }
  SlotId in = s.in;
  if (s.norm.gain) {
    in = s.norm.quantized;
    const bool on_read = norms_on_read(s.norm, static_cast<uint32_t>(s.wq->cols));
    TRY_STATUS(norm_rows(s.in, s.norm, on_read ? kManyTokens : When{}));
  }
  TRY_STATUS(cache_->type() == KvType::kF16 ? qkv_as<wgsl::F16x2>(s) : qkv_as<wgsl::F32>(s));
  if (c_.max_batch < kMatmulTokens) return {};
  TRY_STATUS(linear_many(in, *s.wq, s.q, TernaryStore::kSet));
  TRY_STATUS(linear_many(in, *s.wk, s.k, TernaryStore::kSet));
  TRY_STATUS(linear_many(in, *s.wv, s.v, TernaryStore::kSet));
  TRY_STATUS(rope(s.q, s.n_heads, s.head_dim, s.pairs, kManyTokens));
  TRY_STATUS(rope(s.k, s.n_kv_heads, s.head_dim, s.pairs, kManyTokens));
  return append(s.k, s.v, s.layer, kManyTokens);
}

template <class KvWord>
Result<void> Recorder::qkv_as(const step::TernaryQkv& s) {
  const Tensor* const matrices[] = {s.wq, s.wk, s.wv};
  TRY(const BufferView w, c_.weights.ternary(matrices));
  TRY(const auto scale, scales(s.wq->scale, s.wk->scale, s.wv->scale));
  const TernaryQkvConfig config = fit(TernaryQkvConfig{.cols = static_cast<uint32_t>(s.wq->cols),
                                                       .heads = head_shape(c_.plan.config, cache_->n_ctx()),
                                                       .interleaved = s.pairs == RopePairs::kInterleaved,
                                                       .caps = caps_,
                                                       .lanes = lanes(c_.layouts.qkv.lanes),
                                                       .workgroup = workgroup(c_.layouts.qkv.workgroup)});
  const Extent extent{.grid = {.x = config.workgroups()}, .axis = Axis::kY, .when = kFewTokens};
  const View<wgsl::Vec2<wgsl::F32>> angles{{&c_.work.rope(), 0, 0}};
  const View<KvWord> kv{cache_->layer(s.layer)};
  if (!norms_on_read(s.norm, config.cols)) {
    const SlotId in = s.norm.gain ? s.norm.quantized : s.in;
    return dispatch(ternary_qkv<KvWord>(config), extent, View<TernaryWeights>{w}, c_.work.int8_quads(in), scale, angles,
                    params(), c_.work.floats(s.q), kv);
  }
  TRY(const auto norm, norm_views(s.in, s.norm));
  return dispatch(normed_qkv<KvWord>(config, norm.config), extent, View<TernaryWeights>{w}, norm.x, norm.gain,
                  norm.parts, scale, angles, params(), c_.work.floats(s.q), kv);
}

Result<void> Recorder::record(const step::Relu2Mul& s) {
  return dispatch(
      relu2_mul({width(s.out)}),
      {.grid = {.x = ceil_div(width(s.out), kElementwiseWorkgroup)}, .axis = Axis::kY, .rows = rows_of(s.out)},
      c_.work.floats(s.gate), c_.work.floats(s.up), c_.work.floats(s.out));
}

Result<void> Recorder::record(const step::Add& s) {
  return dispatch(add({width(s.x)}),
                  {.grid = {.x = ceil_div(width(s.x), kElementwiseWorkgroup)}, .axis = Axis::kY, .rows = rows_of(s.x)},
                  c_.work.floats(s.in), c_.work.floats(s.x));
}

}  // namespace tern::gpu
