// The three projections of a ternary layer, with RoPE and the KV-cache write.
#pragma once

#include <functional>

#include "backend/gpu/record/steps/heads_recorder.h"
#include "backend/gpu/record/steps/norm_recorder.h"
#include "backend/gpu/record/steps/ternary_recorder.h"

namespace tern::gpu {

class QkvRecorder {
 public:
  QkvRecorder(Recording& recording, NormRecorder& norms, HeadsRecorder& heads, TernaryRecorder& ternary)
      : r_(recording), norms_(norms), heads_(heads), ternary_(ternary) {}

  Result<void> record(const step::TernaryQkv& s);

 private:
  // `in` is an int8 slot.
  Result<void> few(SlotId in, const step::TernaryQkv& s, const When& when);
  Result<void> many(SlotId in, const step::TernaryQkv& s, const When& when);
  template <class KvWord>
  Result<void> normed_qkv_as(SlotId in, const step::TernaryQkv& s);
  // The three projections one by one, then RoPE and the KV-cache write.
  using LinearRecorder = std::function<Result<void>(SlotId in, const Tensor& w, SlotId out)>;
  Result<void> in_steps(SlotId in, const step::TernaryQkv& s, const LinearRecorder& linear, const When& when);
  // The three projections as one on subgroup matrices, then their heads; false if the device has no suitable matrices.
  Result<bool> on_matrices(SlotId in, const step::TernaryQkv& s, const When& when);

  Recording& r_;
  NormRecorder& norms_;
  HeadsRecorder& heads_;
  TernaryRecorder& ternary_;
};

}  // namespace tern::gpu
