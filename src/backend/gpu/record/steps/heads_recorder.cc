#include "backend/gpu/record/steps/heads_recorder.h"

#include "backend/gpu/kernels/attention/serial_attention.h"
#include "backend/gpu/kernels/elementwise.h"
#include "backend/gpu/record/kv_word.h"
#include "base/bytes.h"

namespace tern::gpu {

Result<void> HeadsRecorder::rope(const step::Rope& s, const When& when) {
  TRY(const auto turns, r_.angles(s.rope));
  const RopeConfig config{static_cast<uint32_t>(s.n_heads), static_cast<uint32_t>(s.head_dim),
                          s.pairs == RopePairs::kInterleaved, static_cast<uint32_t>(s.n_dims)};
  return r_.dispatch(r_.traced(gpu::rope, config),
                     {.grid = {.x = ceil_div(config.n_heads * config.rotated() / 2, kElementwiseWorkgroup)},
                      .axis = Axis::kY,
                      .when = when},
                     r_.work().floats(s.x), turns, r_.params());
}

Result<void> HeadsRecorder::append(const step::KvAppend& s, const When& when) {
  return with_kv_word(r_.store().type(), [&]<class KvWord>() { return append_as<KvWord>(s, when); });
}

template <class KvWord>
Result<void> HeadsRecorder::append_as(const step::KvAppend& s, const When& when) {
  const HeadShape heads{.n_heads = 0,  // no queries
                        .n_kv_heads = static_cast<uint32_t>(s.n_kv_heads),
                        .head_dim = static_cast<uint32_t>(s.head_dim)};
  return r_.dispatch(r_.traced(kv_append<KvWord>, {.heads = heads}),
                     {.grid = {.x = 2 * heads.n_kv_heads}, .axis = Axis::kY, .when = when}, r_.work().floats(s.k),
                     r_.work().floats(s.v), r_.params(), View<KvWord>{r_.store().layer(s.layer)});
}

Result<void> HeadsRecorder::heads(const step::FloatHeads& s, const When& when) {
  return with_kv_word(r_.store().type(), [&]<class KvWord>() { return heads_as<KvWord>(s, when); });
}

template <class KvWord>
Result<void> HeadsRecorder::heads_as(const step::FloatHeads& s, const When& when) {
  const HeadsConfig config = heads_config(s);
  TRY(const auto in, head_views(s));
  // There is no serial kernel for gates, norms of values, or RoPE on a part of a head.
  if (r_.layouts().serial && !config.gated && !config.norms_values && config.n_dims == 0) {
    return r_.dispatch(r_.traced(serial_heads<KvWord>, config),
                       {.grid = {.x = config.rows()}, .axis = Axis::kY, .when = when}, in.qkv, in.q_gain, in.k_gain,
                       in.angles, r_.params(), r_.work().floats(s.q), View<KvWord>{r_.store().layer(s.layer)});
  }
  return r_.dispatch(r_.traced(qkv_heads<KvWord>, config),
                     {.grid = {.x = qkv_heads_workgroups(config)}, .axis = Axis::kY, .when = when}, in.qkv, in.q_gain,
                     in.k_gain, in.angles, r_.params(), r_.work().floats(s.q), View<KvWord>{r_.store().layer(s.layer)});
}

Result<HeadViews> HeadsRecorder::head_views(const step::FloatHeads& s) const {
  HeadViews views{.qkv = r_.work().floats(s.qkv), .q_gain = r_.unused_gain(), .k_gain = r_.unused_gain(), .angles = {}};
  TRY(views.angles, r_.angles(s.rope));
  if (s.q_gain) {
    TRY(views.q_gain.view, r_.weights().vector(*s.q_gain));
    TRY(views.k_gain.view, r_.weights().vector(*s.k_gain));
  }
  return views;
}

HeadsConfig HeadsRecorder::heads_config(const step::FloatHeads& s) const {
  return {.shape = head_shape(s),
          .interleaved = s.pairs == RopePairs::kInterleaved,
          .normed = s.q_gain != nullptr,
          .eps = s.eps,
          .caps = r_.caps(),
          .norms_values = s.v_gain != nullptr,
          .gated = s.is_gated(),
          .n_dims = static_cast<uint32_t>(s.n_dims)};
}

}  // namespace tern::gpu
