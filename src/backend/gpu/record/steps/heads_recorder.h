// The steps between the projections and attention: norms of heads, RoPE, the KV-cache write.
#pragma once

#include "backend/gpu/kernels/qkv_heads.h"
#include "backend/gpu/record/steps/recording.h"

namespace tern::gpu {

// What the kernels bind that make the heads of FloatHeads.
struct HeadViews {
  View<wgsl::F32> qkv, q_gain, k_gain;
  View<wgsl::Vec2<wgsl::F32>> angles;
};

class HeadsRecorder {
 public:
  explicit HeadsRecorder(Recording& recording) : r_(recording) {}

  Result<void> record(const step::Rope& s) { return rope(s, {}); }
  Result<void> record(const step::KvAppend& s) { return append(s, {}); }
  Result<void> rope(const step::Rope& s, const When& when);
  Result<void> append(const step::KvAppend& s, const When& when);

  // Queries, keys and values from the rows of one projection, all in one dispatch.
  Result<void> heads(const step::FloatHeads& s, const When& when);
  Result<HeadViews> head_views(const step::FloatHeads& s) const;
  HeadsConfig heads_config(const step::FloatHeads& s) const;

 private:
  template <class KvWord>
  Result<void> append_as(const step::KvAppend& s, const When& when);
  template <class KvWord>
  Result<void> heads_as(const step::FloatHeads& s, const When& when);

  Recording& r_;
};

}  // namespace tern::gpu
