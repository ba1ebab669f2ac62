#include "backend/gpu/record/steps/attention_recorder.h"

#include "backend/gpu/kernels/attention/grouped_attention.h"
#include "backend/gpu/kernels/attention/serial_attention.h"
#include "backend/gpu/record/kv_word.h"
#include "base/bytes.h"

namespace tern::gpu {
namespace {

// True if there is attention on subgroup matrices for such keys and values.
template <class KvWord>
constexpr bool has_matrices = wgsl::kHasMatrixKernels && !std::same_as<KvWord, wgsl::F32>;

Extent on_matrices(const MatrixAttentionConfig& config, const When& when) {
  return {.grid = {.x = config.heads.n_heads}, .axis = Axis::kY, .rows_per_workgroup = config.tokens(), .when = when};
}

}  // namespace

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

template <class KvWord>
std::optional<AttentionConfig> AttentionRecorder::grouped_config(const step::Attention& s) const {
  const Layouts& l = r_.layouts();
  if (l.group_heads == Layouts::Group::kNever) return std::nullopt;
  AttentionConfig config = attention_config(s, l.groups_workgroup);
  config.rounds = l.groups_rounds;
  config = fit(config);
  if (!has_grouped_attention<KvWord>(config, r_.limits().workgroup_bytes)) return std::nullopt;
  return config;
}

template <class KvWord>
std::optional<AttentionConfig> AttentionRecorder::split_groups_config(const step::Attention& s) const {
  const Layouts& l = r_.layouts();
  if (l.group_heads == Layouts::Group::kNever) return std::nullopt;
  const Layouts::SplitGroups& wanted = s.head_dim > 128 ? l.split_groups_of_large_heads : l.split_groups;
  AttentionConfig config = attention_config(s, wanted.workgroup);
  config.max_splits = l.most_splits_of_groups;
  config.per_pos = wanted.lanes;
  // Reductions take less workgroup memory with fewer rounds.
  for (config.rounds = wanted.rounds; config.rounds > 0; config.rounds /= 2) {
    const AttentionConfig fitted = fit(config);
    if (has_grouped_attention<KvWord>(fitted, r_.limits().workgroup_bytes)) return fitted;
  }
  return std::nullopt;
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
Result<void> AttentionRecorder::in_splits(const step::Attention& s, const AttentionConfig& config,
                                          const Phase<AttentionPhase>& phase, const NextViews& next) {
  const Extent split{.grid = {.x = config.heads.n_heads},
                     .axis = Axis::kY,
                     .positions_per_split = config.chunk,
                     .max_splits = config.max_splits,
                     .when = phase.when};
  const int most_tokens = std::min(phase.when.max_tokens, r_.context().max_batch);
  TRY(const Buffer* parts, r_.work().attention_parts(most_tokens, config.max_splits));
  const View<wgsl::F32> parts_view{{parts, 0, 0}};
  const Out out{parts_view, {.gain = r_.unused_gain(), .parts = r_.unused_stats()}};
  TRY_STATUS(phase.name == AttentionPhase::kSplitGroups ? attention_of_groups<KvWord>(s, config, split, out)
                                                        : attention_of<KvWord>(s, config, split, out));
  const Extent merged{.grid = {.x = config.heads.n_heads}, .axis = Axis::kY, .when = phase.when};
  if (s.sinks) {
    TRY(const BufferView sinks, r_.weights().vector(*s.sinks));
    return r_.dispatch(r_.traced(attention_merge_sinks, config), merged, parts_view, r_.params(),
                       View<wgsl::F32>{sinks}, r_.work().floats(s.out));
  }
  return r_.dispatch(r_.traced(attention_merge, config), merged, parts_view, r_.params(), r_.work().floats(s.out),
                     next.gain, next.parts);
}

template <class KvWord>
Result<void> AttentionRecorder::with_sinks(const step::Attention& s) {
  constexpr int kFewTokens = 16;  // with more of them there are enough workgroups
  if (s.next.gain) return fail(ErrorCode::kNotSupported, "no kernel leaves statistics of attention with sinks");
  When rest;
  if constexpr (has_matrices<KvWord>) {
    if (const auto config = matrix_attention_config(r_.context().device, r_.layouts(), r_.context().max_batch, s)) {
      const When long_slices = attention_on_matrices(r_.layouts());
      TRY(const BufferView sinks, r_.weights().vector(*s.sinks));
      TRY_STATUS(r_.dispatch(r_.traced(matrix_attention_sinks<KvWord>, *config), on_matrices(*config, long_slices),
                             r_.work().float_quads(s.q), View<MatrixKvQuad<KvWord>>{r_.store().layer(s.layer)},
                             r_.params(), View<wgsl::F32>{sinks}, r_.work().floats(s.out)));
      rest.max_slice = long_slices.min_slice - 1;
    }
  }
  auto sizes = workgroups(s);
  sizes.front().workgroup = r_.layouts().split_workgroup;
  const auto many = std::ranges::find_if(sizes, [](const auto& size) { return size.from_tokens > kFewTokens; });
  if (many == sizes.end() || many->from_tokens > kFewTokens + 1)
    sizes.insert(many, {kFewTokens + 1, std::prev(many)->workgroup});
  for (size_t i = 0; i < sizes.size(); ++i) {
    When when = rest;
    when.min_tokens = sizes[i].from_tokens;
    if (i + 1 < sizes.size()) when.max_tokens = sizes[i + 1].from_tokens - 1;
    if (when.min_tokens > r_.context().max_batch) break;
    AttentionConfig config = attention_config(s, sizes[i].workgroup);
    config.max_splits = when.min_tokens <= kFewTokens ? r_.layouts().most_splits : 1;
    TRY_STATUS(in_splits<KvWord>(s, config, {.name = AttentionPhase::kSplits, .when = when}, {}));
  }
  return {};
}

template <class KvWord>
AttentionRecorder::Kernels AttentionRecorder::kernels_of(const step::Attention& s) const {
  const Layouts& l = r_.layouts();
  Kernels kernels{.which = {.n_ctx = r_.context().plan.config.n_ctx, .window = s.window}};
  if constexpr (has_matrices<KvWord>) {
    kernels.matrices = matrix_attention_config(r_.context().device, l, r_.context().max_batch, s);
  }
  const bool makes = makes_heads(s);
  const bool may_group = l.group_heads != Layouts::Group::kUnlessHeadsAreMade || !makes;
  if (may_group) kernels.groups = grouped_config<KvWord>(s);
  kernels.split_groups = split_groups_config<KvWord>(s);
  kernels.sizes = workgroups(s);
  kernels.which.on_matrices = kernels.matrices.has_value();
  kernels.which.groups = kernels.groups.has_value();
  if (kernels.split_groups) {
    kernels.which.split_groups_from = split_groups_from(l, makes, heads_together(head_shape(s)));
  }
  kernels.which.sizes_from.clear();
  for (const auto& size : kernels.sizes) kernels.which.sizes_from.push_back(size.from_tokens);
  return kernels;
}

template <class KvWord>
Result<void> AttentionRecorder::attention_as(const step::Attention& s) {
  const Layouts& l = r_.layouts();
  if (s.sinks) return with_sinks<KvWord>(s);
  if (l.serial) return serial_attention_as<KvWord>(s);
  TRY(const auto next, norms_.next_views(s.next, static_cast<uint32_t>(s.n_heads)));
  const Out out{r_.work().floats(s.out), next};
  const Kernels kernels = kernels_of<KvWord>(s);
  for (const auto& phase : attention_phases(l, kernels.which)) {
    switch (phase.name) {
      case AttentionPhase::kOnMatrices:
        if constexpr (has_matrices<KvWord>) {
          const MatrixAttentionConfig& config = *kernels.matrices;
          TRY_STATUS(r_.dispatch(r_.traced(matrix_attention<KvWord>, config), on_matrices(config, phase.when),
                                 r_.work().float_quads(s.q), View<MatrixKvQuad<KvWord>>{r_.store().layer(s.layer)},
                                 r_.params(), out.y, out.next.gain, out.next.parts));
        }
        break;
      case AttentionPhase::kAlone:
        TRY_STATUS(attention_of<KvWord>(
            s, attention_config(s, kernels.sizes[phase.index].workgroup),
            {.grid = {.x = static_cast<uint32_t>(s.n_heads)}, .axis = Axis::kY, .when = phase.when}, out));
        break;
      case AttentionPhase::kGroups:
        TRY_STATUS(attention_of_groups<KvWord>(s, *kernels.groups, {.axis = Axis::kY, .when = phase.when}, out));
        break;
      case AttentionPhase::kSplits: {
        AttentionConfig config = attention_config(s, l.split_workgroup);
        config.max_splits = l.most_splits;
        TRY_STATUS(in_splits<KvWord>(s, config, phase, next));
        break;
      }
      case AttentionPhase::kSplitGroups:
        TRY_STATUS(in_splits<KvWord>(s, *kernels.split_groups, phase, next));
        break;
    }
  }
  return {};
}

std::optional<MatrixAttentionConfig> matrix_attention_config(const Device& device, const Layouts& layouts,
                                                             int max_batch, const step::Attention& s) {
  if (!wgsl::kHasMatrixKernels) return std::nullopt;
  if (layouts.attention_on_matrices_from > max_batch || !has_f16_matrices(device, layouts)) return std::nullopt;
  using Config = std::optional<MatrixAttentionConfig>;
  return with_largest_matrices(device.features(), [&](const wgsl::MatrixShape& shape) -> Config {
    MatrixAttentionConfig config{.heads = head_shape(s),
                                 .shape = shape,
                                 .subgroup = device.features().subgroup_min,
                                 .subgroups = layouts.matrix_attention_subgroups,
                                 .chunk = layouts.matrix_attention_chunk,
                                 .window = static_cast<uint32_t>(s.window),
                                 .softcap = s.softcap};
    const Limits& limits = device.limits();
    const auto fits = [&] { return has_matrix_attention(config, limits.invocations, limits.workgroup_bytes); };
    while (!fits() && config.workgroup_bytes() > limits.workgroup_bytes && config.chunk > shape.k) config.chunk /= 2;
    return fits() ? Config(config) : std::nullopt;
  });
}

}  // namespace tern::gpu
