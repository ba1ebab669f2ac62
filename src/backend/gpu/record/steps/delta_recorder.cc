#include "backend/gpu/record/steps/delta_recorder.h"

#include "base/bytes.h"

namespace tern::gpu {

DeltaShape DeltaRecorder::shape() const {
  const DeltaConfig& d = r_.context().plan.config.delta;
  return {.n_k_heads = static_cast<uint32_t>(d.n_k_heads),
          .n_v_heads = static_cast<uint32_t>(d.n_v_heads),
          .head_dim = static_cast<uint32_t>(d.head_dim),
          .n_taps = static_cast<uint32_t>(d.conv_taps),
          .is_tiled = d.is_tiled};
}

Result<void> DeltaRecorder::record(const step::SplitHeads& s) {
  return r_.dispatch(r_.traced(split_heads, {static_cast<uint32_t>(s.n_heads), static_cast<uint32_t>(s.head_dim)}),
                     r_.per_column(s.q), r_.work().floats(s.in), r_.work().floats(s.q), r_.work().floats(s.gate));
}

Result<void> DeltaRecorder::record(const step::SigmoidMul& s) {
  return r_.dispatch(r_.traced(sigmoid_mul, {r_.width(s.x)}), r_.per_column(s.x), r_.work().floats(s.gate),
                     r_.work().floats(s.x));
}

// The columns in the state are replaced only after all rows have been convolved.
Result<void> DeltaRecorder::record(const step::CausalConv& s) {
  TRY(const BufferView taps, r_.weights().vector(*s.taps));
  TRY_STATUS(r_.dispatch(r_.traced(causal_conv, shape()), r_.per_column(s.out), r_.work().floats(s.in),
                         View<wgsl::F32>{taps}, sequences(), state(s.layer), r_.work().floats(s.out)));
  Extent extent = r_.per_column(s.out);
  extent.rows = Rows::kSequences;
  return r_.dispatch(r_.traced(keep_columns, shape()), extent, r_.work().floats(s.in), sequences(), state(s.layer));
}

Result<void> DeltaRecorder::record(const step::DeltaRule& s) {
  TRY(const BufferView decay, r_.weights().vector(*s.decay));
  TRY(const BufferView dt_bias, r_.weights().vector(*s.dt_bias));
  const DeltaRuleConfig config{.shape = shape(), .caps = r_.caps()};
  const Extent extent{
      .grid = {.x = config.shape.n_v_heads * config.parts_of_head()}, .axis = Axis::kY, .rows = Rows::kSequences};
  return r_.dispatch(r_.traced(delta_rule, config), extent, r_.work().floats(s.in), r_.work().floats(s.alpha),
                     r_.work().floats(s.beta), View<wgsl::F32>{decay}, View<wgsl::F32>{dt_bias}, sequences(),
                     state(s.layer), r_.work().floats(s.out));
}

Result<void> DeltaRecorder::record(const step::GatedNorm& s) {
  TRY(const BufferView gain, r_.weights().vector(*s.gain));
  const HeadNormConfig config{static_cast<uint32_t>(s.n_heads), static_cast<uint32_t>(s.head_dim), s.eps, r_.caps(),
                              /*workgroup=*/32};
  return r_.dispatch(r_.traced(gated_norm, config), {.grid = {.x = config.n_heads}, .axis = Axis::kY},
                     r_.work().floats(s.in), r_.work().floats(s.gate), View<wgsl::F32>{gain}, r_.work().floats(s.out));
}

Result<void> DeltaRecorder::record(const step::Rotate& s) {
  TRY(const BufferView signs, r_.weights().vector(*s.signs));
  const RotateConfig config{.width = r_.width(s.in),
                            .block = static_cast<uint32_t>(s.block),
                            .is_inverse = s.is_inverse,
                            .n_groups = static_cast<uint32_t>(s.n_groups),
                            .head_dim = static_cast<uint32_t>(s.head_dim)};
  return r_.dispatch(r_.traced(rotate, config),
                     {.grid = {.x = config.width / config.block}, .axis = Axis::kY, .rows = r_.rows_of(s.in)},
                     r_.work().floats(s.in), View<wgsl::F32>{signs}, r_.work().floats(s.out));
}

}  // namespace tern::gpu
