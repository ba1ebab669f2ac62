// Attention and the steps before it: projections, RoPE, the KV-cache write.
#include "backend/gpu/kernels/attention/grouped_attention.h"
#include "backend/gpu/kernels/attention/serial_attention.h"
#include "backend/gpu/kernels/elementwise.h"
#include "backend/gpu/kernels/qkv_heads.h"
#include "backend/gpu/kernels/ternary/ternary_qkv.h"
#include "backend/gpu/record/kv_word.h"
#include "backend/gpu/record/recorder.h"
#include "base/bytes.h"
#include "base/check.h"

namespace tern::gpu {
Result<View<wgsl::Vec2<wgsl::F32>>> Recorder::angles(int rope) {
  TRY(const Buffer* table, c_.work.ropes().table(rope));
  return View<wgsl::Vec2<wgsl::F32>>{{table, 0, 0}};
}

Result<void> Recorder::rope(SlotId x, int n_heads, int head_dim, int rope, RopePairs pairs, const When& when) {
  TRY(const auto turns, angles(rope));
  const RopeConfig config{static_cast<uint32_t>(n_heads), static_cast<uint32_t>(head_dim),
                          pairs == RopePairs::kInterleaved};
  return dispatch(traced(gpu::rope, config),
                  {.grid = {.x = ceil_div(config.n_heads * config.head_dim / 2, kElementwiseWorkgroup)},
                   .axis = Axis::kY,
                   .when = when},
                  c_.work.floats(x), turns, params());
}

Result<void> Recorder::record(const step::Rope& s) { return rope(s.x, s.n_heads, s.head_dim, s.rope, s.pairs, {}); }

Result<void> Recorder::append(const step::KvAppend& s, const When& when) {
  return with_kv_word(store_.type(), [&]<class KvWord>() { return append_as<KvWord>(s, when); });
}

template <class KvWord>
Result<void> Recorder::append_as(const step::KvAppend& s, const When& when) {
  const HeadShape heads{.n_heads = 0,  // no queries
                        .n_kv_heads = static_cast<uint32_t>(s.n_kv_heads),
                        .head_dim = static_cast<uint32_t>(s.head_dim)};
  return dispatch(traced(kv_append<KvWord>, {.heads = heads}),
                  {.grid = {.x = 2 * heads.n_kv_heads}, .axis = Axis::kY, .when = when}, c_.work.floats(s.k),
                  c_.work.floats(s.v), params(), View<KvWord>{store_.layer(s.layer)});
}

Result<void> Recorder::record(const step::KvAppend& s) { return append(s, {}); }

Result<void> Recorder::heads(const step::FloatHeads& s, const When& when) {
  return with_kv_word(store_.type(), [&]<class KvWord>() { return heads_as<KvWord>(s, when); });
}

Result<Recorder::HeadViews> Recorder::head_views(const step::FloatHeads& s) {
  HeadViews views{.qkv = c_.work.floats(s.qkv),
                  .q_gain = {{&c_.work.unused_gain(), 0, 0}},
                  .k_gain = {{&c_.work.unused_gain(), 0, 0}},
                  .angles = {}};
  TRY(views.angles, angles(s.rope));
  if (s.q_gain) {
    TRY(views.q_gain.view, c_.weights.vector(*s.q_gain));
    TRY(views.k_gain.view, c_.weights.vector(*s.k_gain));
  }
  return views;
}

HeadsConfig Recorder::heads_config(const step::FloatHeads& s) const {
  return {.shape = head_shape(s),
          .interleaved = s.pairs == RopePairs::kInterleaved,
          .normed = s.q_gain != nullptr,
          .eps = s.eps,
          .caps = caps_};
}

template <class KvWord>
Result<void> Recorder::heads_as(const step::FloatHeads& s, const When& when) {
  const HeadsConfig config = heads_config(s);
  TRY(const auto in, head_views(s));
  if (c_.layouts.serial) {
    return dispatch(traced(serial_heads<KvWord>, config),
                    {.grid = {.x = config.rows()}, .axis = Axis::kY, .when = when}, in.qkv, in.q_gain, in.k_gain,
                    in.angles, params(), c_.work.floats(s.q), View<KvWord>{store_.layer(s.layer)});
  }
  return dispatch(traced(qkv_heads<KvWord>, config),
                  {.grid = {.x = qkv_heads_workgroups(config)}, .axis = Axis::kY, .when = when}, in.qkv, in.q_gain,
                  in.k_gain, in.angles, params(), c_.work.floats(s.q), View<KvWord>{store_.layer(s.layer)});
}

Result<void> Recorder::record(const step::Attention& s) {
  if (s.heads) TRY_STATUS(heads(*s.heads, makes_heads(s) ? When{.slices = Slices::kLonger} : When{}));
  return with_kv_word(store_.type(), [&]<class KvWord>() { return attention_as<KvWord>(s); });
}

AttentionConfig Recorder::attention_config(const step::Attention& s, uint32_t wanted_workgroup) const {
  AttentionConfig config{.heads = head_shape(s), .caps = caps_};
  config.window = static_cast<uint32_t>(s.window);
  config.softcap = s.softcap;
  const bool has_codes = store_.type() == KvType::kQ8_0;
  config.workgroup = attention_workgroup(c_.device, wanted_workgroup, has_codes ? config.heads.head_dim : 0);
  return fit(config);
}

bool Recorder::makes_heads(const step::Attention& s) const {
  if (!s.heads || !c_.layouts.heads_in_attention || c_.layouts.serial) return false;
  const auto has_room = [&]<class KvWord>(uint32_t workgroup) {
    return has_heads_attention<KvWord>(attention_config(s, workgroup), heads_config(*s.heads),
                                       c_.device.limits().workgroup_bytes);
  };
  return with_kv_word(store_.type(), [&]<class KvWord>() {
    return has_room.template operator()<KvWord>(c_.layouts.attention_workgroup) &&
           has_room.template operator()<KvWord>(c_.layouts.split_workgroup);
  });
}

template <class KvWord>
Result<void> Recorder::serial_attention_as(const step::Attention& s) {
  SerialAttentionConfig config{.heads = head_shape(s), .caps = caps_};
  config.window = static_cast<uint32_t>(s.window);
  config.softcap = s.softcap;
  return dispatch(traced(serial_attention<KvWord>, config), {.grid = {.x = config.heads.n_heads}, .axis = Axis::kY},
                  c_.work.float_quads(s.q), View<KvQuad<KvWord>>{store_.layer(s.layer)}, params(),
                  c_.work.float_quads(s.out));
}

template <class KvWord>
Result<void> Recorder::attention_as(const step::Attention& s) {
  if (c_.layouts.serial) return serial_attention_as<KvWord>(s);
  TRY(const auto next, next_views(s.next, static_cast<uint32_t>(s.n_heads)));
  const int split_from = c_.layouts.split_attention_from;
  const bool splits = c_.plan.config.n_ctx >= split_from && (s.window == 0 || s.window >= split_from);
  const AttentionOut out{c_.work.floats(s.out), next};
  int last_slice = INT_MAX;  // of the runs that are left to the other kernels
  if constexpr (!std::same_as<KvWord, wgsl::F32>) {
    if (const auto matrices = matrix_attention_config(c_.device, c_.layouts, c_.max_batch, s)) {
      const When when{.slices = Slices::kLonger,
                      .min_slice = std::max(c_.layouts.attention_on_matrices_from, kMatmulTokens)};
      TRY_STATUS(dispatch(traced(matrix_attention<KvWord>, *matrices),
                          {.grid = {.x = matrices->heads.n_heads},
                           .axis = Axis::kY,
                           .rows_per_workgroup = matrices->tokens(),
                           .when = when},
                          c_.work.float_quads(s.q), View<MatrixKvQuad<KvWord>>{store_.layer(s.layer)}, params(), out.y,
                          out.next.gain, out.next.parts));
      last_slice = when.min_slice - 1;
    }
  }
  // Records for first to last tokens, by number of positions.
  const auto attention_for = [&](int first, int last, const auto& record) -> Result<void> {
    if (first > last) return {};
    if (!splits) return record(When{.min_tokens = first, .max_tokens = last, .max_slice = last_slice});
    const int last_few = std::min(last, kMatmulTokens - 1);
    if (first <= last_few) {
      TRY_STATUS(record(
          When{.min_tokens = first, .max_tokens = last_few, .max_pos = split_from - 1, .max_slice = last_slice}));
    }
    // Many tokens fill the GPU without splits.
    const int first_many = std::max(first, kMatmulTokens);
    return first_many <= last ? record(When{.min_tokens = first_many, .max_tokens = last, .max_slice = last_slice})
                              : Result<void>{};
  };
  const bool may_group = c_.layouts.group_heads != Layouts::Group::kUnlessHeadsAreMade || !makes_heads(s);
  const auto groups = may_group ? grouped_config<KvWord>(s, c_.layouts.groups_workgroup, 0) : std::nullopt;
  const int last_alone = groups ? c_.layouts.groups_from - 1 : INT_MAX;
  const auto sizes = attention_workgroups(s);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int last = i + 1 < sizes.size() ? sizes[i + 1].from_tokens - 1 : INT_MAX;
    TRY_STATUS(attention_for(sizes[i].from_tokens, std::min(last, last_alone), [&](const When& when) {
      return attention_of<KvWord>(s, attention_config(s, sizes[i].workgroup),
                                  {.grid = {.x = static_cast<uint32_t>(s.n_heads)}, .axis = Axis::kY, .when = when},
                                  out);
    }));
  }
  if (groups) {
    TRY_STATUS(attention_for(c_.layouts.groups_from, INT_MAX, [&](const When& when) {
      return attention_of_groups<KvWord>(s, *groups, {.axis = Axis::kY, .when = when}, out);
    }));
  }
  return splits ? attention_in_splits<KvWord>(s, next) : Result<void>{};
}

// None if this device does not group heads.
template <class KvWord>
std::optional<AttentionConfig> Recorder::grouped_config(const step::Attention& s, uint32_t wanted_workgroup,
                                                        uint32_t max_splits) const {
  const Layouts& l = c_.layouts;
  if (l.group_heads == Layouts::Group::kNever) return std::nullopt;
  AttentionConfig config = attention_config(s, wanted_workgroup);
  config.max_splits = max_splits;
  if (max_splits == 0) config.rounds = l.groups_rounds;
  config = fit(config);
  if (!has_grouped_attention<KvWord>(config, c_.device.limits().workgroup_bytes)) return std::nullopt;
  return config;
}

std::optional<MatrixAttentionConfig> matrix_attention_config(const Device& device, const Layouts& layouts,
                                                             int max_batch, const step::Attention& s) {
  if (layouts.attention_on_matrices_from > max_batch || !has_f16_matrices(device, layouts)) return std::nullopt;
  using Config = std::optional<MatrixAttentionConfig>;
  return with_largest_matrices(device.features(), [&](const wgsl::MatrixShape& shape) -> Config {
    const MatrixAttentionConfig config{.heads = head_shape(s),
                                       .shape = shape,
                                       .subgroup = device.features().subgroup_min,
                                       .subgroups = layouts.matrix_attention_subgroups,
                                       .chunk = layouts.matrix_attention_chunk,
                                       .window = static_cast<uint32_t>(s.window),
                                       .softcap = s.softcap};
    const Limits& limits = device.limits();
    return has_matrix_attention(config, limits.invocations, limits.workgroup_bytes) ? Config(config) : std::nullopt;
  });
}

template <class KvWord>
Result<void> Recorder::attention_of_groups(const step::Attention& s, const AttentionConfig& config, Extent extent,
                                           const AttentionOut& out) {
  if (makes_heads(s)) {
    When decode_batch = extent.when;
    decode_batch.slices = Slices::kDecodeBatch;
    TRY_STATUS(heads(*s.heads, decode_batch));
  }
  extent.grid.x = config.heads.n_heads / heads_together(config.heads);
  return dispatch(traced(grouped_attention<KvWord>, config), extent, c_.work.float_quads(s.q),
                  View<KvQuad<KvWord>>{store_.layer(s.layer)}, params(), out.y, out.next.gain, out.next.parts);
}

std::vector<Layouts::AttentionSize> Recorder::attention_workgroups(const step::Attention& s) const {
  std::vector<Layouts::AttentionSize> sizes = {{1, c_.layouts.attention_workgroup}};
  const bool makes = makes_heads(s);
  for (const auto& size : c_.layouts.attention_of_batches) {
    const uint32_t workgroup = std::min(size.workgroup, c_.layouts.attention_workgroup);
    const auto has_room = [&]<class KvWord>() {
      return has_heads_attention<KvWord>(attention_config(s, workgroup), heads_config(*s.heads),
                                         c_.device.limits().workgroup_bytes);
    };
    if (makes && !with_kv_word(store_.type(), has_room)) break;
    if (workgroup < sizes.back().workgroup) sizes.push_back({size.from_tokens, workgroup});
  }
  return sizes;
}

// Where attention makes the heads, runs with one token per sequence use another kernel.
template <class KvWord>
Result<void> Recorder::attention_of(const step::Attention& s, const AttentionConfig& config, Extent extent,
                                    const AttentionOut& out) {
  const View<KvQuad<KvWord>> kv{store_.layer(s.layer)};
  if (makes_heads(s)) {
    TRY(const auto in, head_views(*s.heads));
    Extent one = extent;
    one.when.slices = Slices::kDecodeBatch;
    TRY_STATUS(dispatch(traced(heads_attention<KvWord>, config, heads_config(*s.heads)), one, in.qkv, in.q_gain,
                        in.k_gain, in.angles, params(), kv, out.y));
    extent.when.slices = Slices::kLonger;
  }
  return dispatch(traced(attention<KvWord>, config), extent, c_.work.float_quads(s.q), kv, params(), out.y,
                  out.next.gain, out.next.parts);
}

template <class KvWord>
Result<void> Recorder::attention_in_splits(const step::Attention& s, const NextViews& next) {
  const Layouts& l = c_.layouts;
  const auto groups = grouped_config<KvWord>(s, l.group_workgroup, l.most_splits_of_groups);
  const auto record = [&](AttentionConfig config, bool in_groups, int from, int last) -> Result<void> {
    const When when{.max_tokens = kMatmulTokens - 1, .min_pos = from, .max_pos = last};
    const Extent split{.grid = {.x = config.heads.n_heads},
                       .axis = Axis::kY,
                       .positions_per_split = config.chunk,
                       .max_splits = config.max_splits,
                       .when = when};
    TRY(const Buffer* parts, c_.work.attention_parts(kMatmulTokens - 1, config.max_splits));
    const View<wgsl::F32> parts_view{{parts, 0, 0}};
    const NextViews unused{.gain = {{&c_.work.unused_gain(), 0, 0}}, .parts = {{&c_.work.unused_stats(), 0, 0}}};
    TRY_STATUS(in_groups ? attention_of_groups<KvWord>(s, config, split, {parts_view, unused})
                         : attention_of<KvWord>(s, config, split, {parts_view, unused}));
    return dispatch(traced(attention_merge, config),
                    {.grid = {.x = config.heads.n_heads}, .axis = Axis::kY, .when = when}, parts_view, params(),
                    c_.work.floats(s.out), next.gain, next.parts);
  };
  int groups_from = groups ? l.split_attention_from : INT_MAX;
  if (groups && l.group_heads == Layouts::Group::kUnlessHeadsAreMade && makes_heads(s)) {
    const int n_spared = static_cast<int>(heads_together(head_shape(s))) - 1;  // reads of each key
    groups_from = std::max(groups_from, l.made_heads_together_from / std::max(n_spared, 1));
    if (c_.plan.config.n_ctx < groups_from || (s.window > 0 && s.window < groups_from)) groups_from = INT_MAX;
  }
  if (groups_from > l.split_attention_from) {
    AttentionConfig config = attention_config(s, l.split_workgroup);
    config.max_splits = l.most_splits;
    TRY_STATUS(record(config, false, l.split_attention_from, groups_from == INT_MAX ? INT_MAX : groups_from - 1));
  }
  return groups_from == INT_MAX ? Result<void>() : record(*groups, true, groups_from, INT_MAX);
}

Result<void> Recorder::qkv_in_steps(SlotId in, const step::TernaryQkv& s, const LinearRecorder& linear,
                                    const When& when) {
  TRY_STATUS(linear(in, *s.wq, s.q));
  TRY_STATUS(linear(in, *s.wk, s.k));
  TRY_STATUS(linear(in, *s.wv, s.v));
  TRY_STATUS(rope(s.q, s.n_heads, s.head_dim, s.rope, s.pairs, when));
  TRY_STATUS(rope(s.k, s.n_kv_heads, s.head_dim, s.rope, s.pairs, when));
  return append({s.k, s.v, s.layer, s.n_kv_heads, s.head_dim}, when);
}

Result<bool> Recorder::qkv_on_matrices(SlotId in, const step::TernaryQkv& s, const When& when) {
  const HeadsConfig config{.shape = head_shape(s), .interleaved = s.pairs == RopePairs::kInterleaved, .caps = caps_};
  const uint32_t dim = config.shape.head_dim;
  auto on_matrices = matrix_configs(*s.wq, config.rows() * dim, 1, when);
  if (on_matrices.empty()) return false;
  TRY(const auto views, qkv_views(s));
  TRY(const Buffer* buffer, c_.work.qkv_rows());
  const View<wgsl::F32> rows{{buffer, 0, 0}}, unused{{&c_.work.unused_gain(), 0, 0}};
  for (auto& [tiles, when_used] : on_matrices) {
    tiles.rows_of_a = config.shape.n_heads * dim, tiles.rows_of_b = config.shape.n_kv_heads * dim;
    TRY_STATUS(dispatch(traced(ternary_matmul_matrix, tiles), per_tile(tiles, tiles.rows, when_used), views.w,
                        c_.work.int8_quads(in), views.scale, params(), rows));
  }
  TRY_STATUS(with_kv_word(store_.type(), [&]<class KvWord>() {
    return dispatch(traced(qkv_heads<KvWord>, config),
                    {.grid = {.x = qkv_heads_workgroups(config)}, .axis = Axis::kY, .when = when}, rows, unused, unused,
                    views.angles, params(), c_.work.floats(s.q), View<KvWord>{store_.layer(s.layer)});
  }));
  return true;
}

Result<void> Recorder::record(const step::TernaryQkv& s) {
  if (c_.layouts.serial) {
    TRY(const SlotId in, int8_input(s.in, s.norm));
    return qkv_in_steps(in, s,
                        [&](SlotId x, const Tensor& w, SlotId out) { return linear_few(x, w, out, Store::kSet); }, {});
  }
  TRY(const SlotId in, int8_input(s.in, s.norm));
  TRY_STATUS(with_kv_word(store_.type(), [&]<class KvWord>() { return qkv_as<KvWord>(in, s); }));
  if (!has_matmuls()) return {};
  const When many = norms_on_read(s.in, s.norm) ? many_normed() : kManyTokens;
  TRY(const bool is_recorded, qkv_on_matrices(in, s, many));
  if (is_recorded) return {};
  return qkv_in_steps(
      in, s, [&](SlotId x, const Tensor& w, SlotId out) { return linear_many(x, w, out, Store::kSet, many); }, many);
}

TernaryQkvConfig Recorder::qkv_config(const step::TernaryQkv& s) const {
  const TernaryQkvConfig config{.cols = static_cast<uint32_t>(s.wq->cols),
                                .heads = head_shape(s),
                                .interleaved = s.pairs == RopePairs::kInterleaved,
                                .caps = caps_,
                                .lanes = lanes(c_.layouts.qkv.lanes),
                                .workgroup = workgroup(c_.layouts.qkv.workgroup)};
  return store_.type() == KvType::kQ8_0 ? fit_to_codes(config, c_.device.limits().invocations) : fit(config);
}

Result<Recorder::QkvViews> Recorder::qkv_views(const step::TernaryQkv& s) {
  const Tensor* const matrices[] = {s.wq, s.wk, s.wv};
  TRY(const BufferView w, c_.weights.ternary(matrices));
  TRY(const auto scale, scales(s.wq->scale, s.wk->scale, s.wv->scale));
  TRY(const auto turns, angles(s.rope));
  return QkvViews{{w}, scale, turns};
}

template <class KvWord>
Result<void> Recorder::qkv_as(SlotId in, const step::TernaryQkv& s) {
  TRY(const auto views, qkv_views(s));
  const auto& [w, scale, turns] = views;
  const TernaryQkvConfig config = qkv_config(s);
  Extent extent{.grid = {.x = config.workgroups()}, .axis = Axis::kY, .when = kFewTokens};
  const View<KvWord> kv{store_.layer(s.layer)};
  if (!norms_on_read(s.in, s.norm)) {
    return dispatch(traced(ternary_qkv<KvWord>, config), extent, w, c_.work.int8_quads(in), scale, turns, params(),
                    c_.work.floats(s.q), kv);
  }
  TRY(const auto norm, norm_views(s.in, s.norm));
  TRY(const int last, in_batches(s, ternary_tiling(config), norm));
  extent.when.max_tokens = std::min(extent.when.max_tokens, last);
  for (const InColumns& several : in_columns(ternary_tiling(config), last)) {
    Extent of_several = several.extent;
    of_several.grid = extent.grid;
    TRY_STATUS(dispatch(traced(normed_qkv_columns<KvWord>, config, norm.config, several.columns), of_several, w, norm.x,
                        norm.gain, norm.parts, scale, turns, params(), c_.work.floats(s.q), kv));
    extent.when.max_tokens = 1;
  }
  return dispatch(traced(normed_qkv<KvWord>, config, norm.config), extent, w, norm.x, norm.gain, norm.parts, scale,
                  turns, params(), c_.work.floats(s.q), kv);
}

}  // namespace tern::gpu
