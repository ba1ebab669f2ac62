#include "backend/gpu/record/steps/attention_recorder.h"

#include "backend/gpu/kernels/attention/grouped_attention.h"
#include "backend/gpu/kernels/attention/serial_attention.h"
#include "backend/gpu/record/kv_word.h"
#include "base/bytes.h"

namespace tern::gpu {

Result<void> AttentionRecorder::record(const step::Attention& s) {
  if (s.heads) TRY_STATUS(heads_.heads(*s.heads, makes_heads(s) ? When{.slices = Slices::kLonger} : When{}));
  return with_kv_word(r_.store().type(), [&]<class KvWord>() { return attention_as<KvWord>(s); });
}

AttentionConfig AttentionRecorder::attention_config(const step::Attention& s, uint32_t wanted_workgroup) const {
  AttentionConfig config{.heads = head_shape(s), .caps = r_.caps()};
  config.window = static_cast<uint32_t>(s.window);
  config.softcap = s.softcap;
  const bool has_codes = r_.store().type() == KvType::kQ8_0;
  config.workgroup = attention_workgroup(r_.context().device, wanted_workgroup, has_codes ? config.heads.head_dim : 0);
  return fit(config);
}

bool AttentionRecorder::makes_heads(const step::Attention& s) const {
  if (!s.heads || !r_.layouts().heads_in_attention || r_.layouts().serial) return false;
  const auto has_room = [&]<class KvWord>(uint32_t workgroup) {
    return has_heads_attention<KvWord>(attention_config(s, workgroup), heads_.heads_config(*s.heads),
                                       r_.limits().workgroup_bytes);
  };
  return with_kv_word(r_.store().type(), [&]<class KvWord>() {
    return has_room.template operator()<KvWord>(r_.layouts().attention_workgroup) &&
           has_room.template operator()<KvWord>(r_.layouts().split_workgroup);
  });
}

template <class KvWord>
Result<void> AttentionRecorder::serial_attention_as(const step::Attention& s) {
  SerialAttentionConfig config{.heads = head_shape(s), .caps = r_.caps()};
  config.window = static_cast<uint32_t>(s.window);
  config.softcap = s.softcap;
  return r_.dispatch(r_.traced(serial_attention<KvWord>, config),
                     {.grid = {.x = config.heads.n_heads}, .axis = Axis::kY}, r_.work().float_quads(s.q),
                     View<KvQuad<KvWord>>{r_.store().layer(s.layer)}, r_.params(), r_.work().float_quads(s.out));
}

// Where attention makes the heads, runs with one token per sequence use another kernel.
template <class KvWord>
Result<void> AttentionRecorder::attention_of(const step::Attention& s, const AttentionConfig& config, Extent extent,
                                             const Out& out) {
  const View<KvQuad<KvWord>> kv{r_.store().layer(s.layer)};
  if (makes_heads(s)) {
    TRY(const auto in, heads_.head_views(*s.heads));
    Extent one = extent;
    one.when.slices = Slices::kDecodeBatch;
    TRY_STATUS(r_.dispatch(r_.traced(heads_attention<KvWord>, config, heads_.heads_config(*s.heads)), one, in.qkv,
                           in.q_gain, in.k_gain, in.angles, r_.params(), kv, out.y));
    extent.when.slices = Slices::kLonger;
  }
  return r_.dispatch(r_.traced(attention<KvWord>, config), extent, r_.work().float_quads(s.q), kv, r_.params(), out.y,
                     out.next.gain, out.next.parts);
}

template <class KvWord>
Result<void> AttentionRecorder::attention_of_groups(const step::Attention& s, const AttentionConfig& config,
                                                    Extent extent, const Out& out) {
  if (makes_heads(s)) {
    When decode_batch = extent.when;
    decode_batch.slices = Slices::kDecodeBatch;
    TRY_STATUS(heads_.heads(*s.heads, decode_batch));
  }
  extent.grid.x = config.heads.n_heads / heads_together(config.heads);
  return r_.dispatch(r_.traced(grouped_attention<KvWord>, config), extent, r_.work().float_quads(s.q),
                     View<KvQuad<KvWord>>{r_.store().layer(s.layer)}, r_.params(), out.y, out.next.gain,
                     out.next.parts);
}

// None if this device does not group heads.
template <class KvWord>
std::optional<AttentionConfig> AttentionRecorder::grouped_config(const step::Attention& s, uint32_t wanted_workgroup,
                                                                 uint32_t max_splits) const {
  const Layouts& l = r_.layouts();
  if (l.group_heads == Layouts::Group::kNever) return std::nullopt;
  AttentionConfig config = attention_config(s, wanted_workgroup);
  config.max_splits = max_splits;
  if (max_splits == 0) config.rounds = l.groups_rounds;
  config = fit(config);
  if (!has_grouped_attention<KvWord>(config, r_.limits().workgroup_bytes)) return std::nullopt;
  return config;
}

std::vector<Layouts::AttentionSize> AttentionRecorder::workgroups(const step::Attention& s) const {
  std::vector<Layouts::AttentionSize> sizes = {{1, r_.layouts().attention_workgroup}};
  const bool makes = makes_heads(s);
  for (const auto& size : r_.layouts().attention_of_batches) {
    const uint32_t workgroup = std::min(size.workgroup, r_.layouts().attention_workgroup);
    const auto has_room = [&]<class KvWord>() {
      return has_heads_attention<KvWord>(attention_config(s, workgroup), heads_.heads_config(*s.heads),
                                         r_.limits().workgroup_bytes);
    };
    if (makes && !with_kv_word(r_.store().type(), has_room)) break;
    if (workgroup < sizes.back().workgroup) sizes.push_back({size.from_tokens, workgroup});
  }
  return sizes;
}

template <class KvWord>
Result<void> AttentionRecorder::attention_in_splits(const step::Attention& s, const NextViews& next) {
  const Layouts& l = r_.layouts();
  const auto groups = grouped_config<KvWord>(s, l.group_workgroup, l.most_splits_of_groups);
  const auto record = [&](AttentionConfig config, bool in_groups, int from, int last) -> Result<void> {
    const When when{.max_tokens = kMatmulTokens - 1, .min_pos = from, .max_pos = last};
    const Extent split{.grid = {.x = config.heads.n_heads},
                       .axis = Axis::kY,
                       .positions_per_split = config.chunk,
                       .max_splits = config.max_splits,
                       .when = when};
    TRY(const Buffer* parts, r_.work().attention_parts(kMatmulTokens - 1, config.max_splits));
    const View<wgsl::F32> parts_view{{parts, 0, 0}};
    const NextViews unused{.gain = r_.unused_gain(), .parts = r_.unused_stats()};
    TRY_STATUS(in_groups ? attention_of_groups<KvWord>(s, config, split, {parts_view, unused})
                         : attention_of<KvWord>(s, config, split, {parts_view, unused}));
    return r_.dispatch(r_.traced(attention_merge, config),
                       {.grid = {.x = config.heads.n_heads}, .axis = Axis::kY, .when = when}, parts_view, r_.params(),
                       r_.work().floats(s.out), next.gain, next.parts);
  };
  int groups_from = groups ? l.split_attention_from : INT_MAX;
  if (groups && l.group_heads == Layouts::Group::kUnlessHeadsAreMade && makes_heads(s)) {
    const int n_spared = static_cast<int>(heads_together(head_shape(s))) - 1;  // reads of each key
    groups_from = std::max(groups_from, l.made_heads_together_from / std::max(n_spared, 1));
    if (r_.context().plan.config.n_ctx < groups_from || (s.window > 0 && s.window < groups_from)) groups_from = INT_MAX;
  }
  if (groups_from > l.split_attention_from) {
    AttentionConfig config = attention_config(s, l.split_workgroup);
    config.max_splits = l.most_splits;
    TRY_STATUS(record(config, false, l.split_attention_from, groups_from == INT_MAX ? INT_MAX : groups_from - 1));
  }
  return groups_from == INT_MAX ? Result<void>() : record(*groups, true, groups_from, INT_MAX);
}

template <class KvWord>
Result<void> AttentionRecorder::attention_as(const step::Attention& s) {
  if (r_.layouts().serial) return serial_attention_as<KvWord>(s);
  TRY(const auto next, norms_.next_views(s.next, static_cast<uint32_t>(s.n_heads)));
  const int split_from = r_.layouts().split_attention_from;
  const bool splits = r_.context().plan.config.n_ctx >= split_from && (s.window == 0 || s.window >= split_from);
  const Out out{r_.work().floats(s.out), next};
  int last_slice = INT_MAX;  // of the runs that are left to the other kernels
  if constexpr (!std::same_as<KvWord, wgsl::F32>) {
    if (const auto matrices = matrix_attention_config(r_.context().device, r_.layouts(), r_.context().max_batch, s)) {
      const When when{.slices = Slices::kLonger,
                      .min_slice = std::max(r_.layouts().attention_on_matrices_from, kMatmulTokens)};
      TRY_STATUS(r_.dispatch(r_.traced(matrix_attention<KvWord>, *matrices),
                             {.grid = {.x = matrices->heads.n_heads},
                              .axis = Axis::kY,
                              .rows_per_workgroup = matrices->tokens(),
                              .when = when},
                             r_.work().float_quads(s.q), View<MatrixKvQuad<KvWord>>{r_.store().layer(s.layer)},
                             r_.params(), out.y, out.next.gain, out.next.parts));
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
  const bool may_group = r_.layouts().group_heads != Layouts::Group::kUnlessHeadsAreMade || !makes_heads(s);
  const auto groups = may_group ? grouped_config<KvWord>(s, r_.layouts().groups_workgroup, 0) : std::nullopt;
  const int last_alone = groups ? r_.layouts().groups_from - 1 : INT_MAX;
  const auto sizes = workgroups(s);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int last = i + 1 < sizes.size() ? sizes[i + 1].from_tokens - 1 : INT_MAX;
    TRY_STATUS(attention_for(sizes[i].from_tokens, std::min(last, last_alone), [&](const When& when) {
      return attention_of<KvWord>(s, attention_config(s, sizes[i].workgroup),
                                  {.grid = {.x = static_cast<uint32_t>(s.n_heads)}, .axis = Axis::kY, .when = when},
                                  out);
    }));
  }
  if (groups) {
    TRY_STATUS(attention_for(r_.layouts().groups_from, INT_MAX, [&](const When& when) {
      return attention_of_groups<KvWord>(s, *groups, {.axis = Axis::kY, .when = when}, out);
    }));
  }
  return splits ? attention_in_splits<KvWord>(s, next) : Result<void>{};
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

}  // namespace tern::gpu
