// How the kernels of float layers read their input.
#pragma once

#include <vector>

#include "backend/gpu/kernels/float/halve_tokens.h"
#include "backend/gpu/record/steps/norm_recorder.h"

namespace tern::gpu {

struct FloatRead {
  SlotId slot;
  const step::FloatNormOnRead* norm;  // null: none
  When when;
};

struct HalvedTokens {
  View<wgsl::Vec4<wgsl::F16>> x;
  View<wgsl::F32> scales;
};

class FloatInputs {
 public:
  FloatInputs(Recording& recording, NormRecorder& norms) : r_(recording), norms_(norms) {}

  // By kernels for few tokens, which norm it themselves. `few`: the runs that they are for.
  Result<std::vector<FloatRead>> reads(SlotId in, const step::FloatNormOnRead& norm, const When& few);
  // The gain of a norm inside the step, or an unused buffer.
  Result<View<wgsl::Vec4<wgsl::F32>>> gain_view(const FloatRead& read) const;
  // `in` as f16, normed if there is a norm: the batch's rows, or those whose logits are wanted. Unless rest_at is 0,
  // the rounding errors follow from row `rest_at` on.
  Result<HalvedTokens> halve_tokens(SlotId in, const step::FloatNormOnRead& norm, const When& when, Rows rows,
                                    uint32_t rest_at = 0);
  // The same by this config and extent, to these views.
  Result<void> halve(SlotId in, const step::FloatNormOnRead& norm, HalveTokensConfig config, const Extent& extent,
                     const HalvedTokens& to);
  // What `read` reads as int8 in the runs of `when`, for products with weights of `coding`: left by a step before, or
  // made by a dispatch.
  struct Int8Read {
    Int8Rows rows;
    When when;
  };
  Result<std::vector<Int8Read>> int8_reads(const FloatRead& read, const WeightCoding& coding, const When& when,
                                           Rows rows);
  // The input of matrix kernels without subgroup matrices, normed: none of their workgroups reads a whole row.
  Result<SlotId> normed(SlotId in, const step::FloatNormOnRead& norm, const When& when);

 private:
  Result<void> make_int8(const FloatRead& read, const WeightCoding& coding, const When& when, Rows rows,
                         const Int8Rows& made);

  Recording& r_;
  NormRecorder& norms_;
};

}  // namespace tern::gpu
