#include "backend/gpu/record/steps/float_inputs.h"

#include "backend/gpu/kernels/float/float_matmul_matrix.h"
#include "backend/gpu/kernels/float/int8_rows.h"

namespace tern::gpu {

// How a step's input is read. Kernels for few tokens norm it themselves; for many tokens a separate kernel norms it
// first. With a single token, the row whose logits are wanted is read in place, without a copy.
Result<std::vector<FloatRead>> FloatInputs::reads(SlotId in, const step::FloatNormOnRead& norm, const When& few) {
  if (norm.gain && r_.layouts().serial) {
    TRY_STATUS(norms_.record(step::RmsNorm{in, norm.gain, norm.eps, norm.normed}));
    return std::vector<FloatRead>{{norm.normed, nullptr, {}}};
  }
  const auto* on_read = norm.gain ? &norm : nullptr;
  if (const auto in_place = r_.in_place_of(in)) {
    return std::vector<FloatRead>{{*in_place, on_read, kRunsOfOne}, {in, on_read, kRunsOfSeveral}};
  }
  return std::vector<FloatRead>{{in, on_read, few}};
}

// The gain of a norm inside the step, or an unused buffer.
Result<View<wgsl::Vec4<wgsl::F32>>> FloatInputs::gain_view(const FloatRead& read) const {
  if (!read.norm) return View<wgsl::Vec4<wgsl::F32>>{{&r_.work().unused_gain(), 0, 0}};
  TRY(const BufferView gain, r_.weights().vector(*read.norm->gain));
  return View<wgsl::Vec4<wgsl::F32>>{gain};
}

Result<HalvedTokens> FloatInputs::halve_tokens(SlotId in, const step::FloatNormOnRead& norm, const When& when,
                                               Rows rows, uint32_t rest_at) {
  const bool of_logits = rows == Rows::kLogits;
  TRY(const Buffer* buffer, of_logits ? r_.work().logit_halves(r_.width(in)) : r_.work().halves());
  const HalvedTokens halved{{{buffer, 0, 0}}, {{&r_.work().token_scales(), 0, 0}}};
  const HalveTokensConfig config{.width = r_.width(in), .caps = r_.caps(), .rest_at = rest_at};
  TRY_STATUS(halve(in, norm, config, {.axis = Axis::kY, .rows = rows, .when = when}, halved));
  return halved;
}

Result<void> FloatInputs::halve(SlotId in, const step::FloatNormOnRead& norm, HalveTokensConfig config,
                                const Extent& extent, const HalvedTokens& to) {
  const auto x = r_.work().float_quads(in);
  if (!norm.gain) return r_.dispatch(r_.traced(gpu::halve_tokens, config), extent, x, to.x, to.scales);
  CHECK(config.per_token == 1);  // no kernel norms the rows of a token one by one
  config.eps = norm.eps;
  TRY(const BufferView gain, r_.weights().vector(*norm.gain));
  return r_.dispatch(r_.traced(gpu::norm_halves, config), extent, x, View<wgsl::Vec4<wgsl::F32>>{gain}, to.x,
                     to.scales);
}

Result<std::vector<FloatInputs::Int8Read>> FloatInputs::int8_reads(const FloatRead& read, const WeightCoding& coding,
                                                                   const When& when, Rows rows) {
  std::vector<Int8Read> reads;
  std::vector<When> rest = {when};
  const LeftInt8* left = rows == Rows::kTokens && !read.norm ? r_.left_of(read.slot) : nullptr;
  if (left && left->coding.values() == coding.values()) {
    reads.push_back({left->rows, left->leaving(when)});
    rest = left->others(when);
  }
  if (rest.empty()) return reads;
  const bool of_logits = rows == Rows::kLogits;
  TRY(const Buffer* buffer, of_logits ? r_.work().logit_halves(r_.width(read.slot)) : r_.work().halves());
  TRY(const Buffer* runs, r_.work().int8_runs());
  const Int8Rows made{{{buffer, 0, 0}}, {{runs, 0, 0}}};
  for (const When& some : rest) {
    TRY_STATUS(make_int8(read, coding, some, rows, made));
    reads.push_back({made, some});
  }
  return reads;
}

Result<void> FloatInputs::make_int8(const FloatRead& read, const WeightCoding& coding, const When& when, Rows rows,
                                    const Int8Rows& made) {
  Int8RowsConfig config{
      .width = r_.width(read.slot), .coding = coding, .caps = r_.caps(), .workgroup = r_.workgroup(256)};
  config.normed = read.norm != nullptr;
  if (read.norm) config.eps = read.norm->eps;
  if (config.normed) config.workgroup = r_.workgroup(512);  // all of a row
  const Extent extent{.grid = {.x = config.workgroups()}, .axis = Axis::kY, .rows = rows, .when = when};
  TRY(const auto gain, gain_view(read));
  return r_.dispatch(r_.traced(gpu::int8_rows, config), extent, r_.work().float_quads(read.slot), gain, made.x,
                     made.runs);
}

// The input of matrix kernels without subgroup matrices, normed: none of their workgroups reads a whole row.
Result<SlotId> FloatInputs::normed(SlotId in, const step::FloatNormOnRead& norm, const When& when) {
  if (!norm.gain) return in;
  TRY_STATUS(norms_.rms_norm({in, norm.gain, norm.eps, norm.normed}, in, when));
  return norm.normed;
}

}  // namespace tern::gpu
