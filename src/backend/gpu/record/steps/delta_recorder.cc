#include "backend/gpu/record/steps/delta_recorder.h"

#include "base/bytes.h"

namespace tern::gpu {

DeltaShape DeltaRecorder::shape(bool are_side_by_side) const {
  const DeltaConfig& d = r_.context().plan.config.delta;
  return {.n_k_heads = static_cast<uint32_t>(d.n_k_heads),
          .n_v_heads = static_cast<uint32_t>(d.n_v_heads),
          .head_dim = static_cast<uint32_t>(d.head_dim),
          .n_taps = static_cast<uint32_t>(d.conv_taps),
          .is_tiled = d.is_tiled,
          .are_side_by_side = are_side_by_side};
}

Result<void> DeltaRecorder::record(const step::SplitHeads& s) {
  return r_.dispatch(r_.traced(split_heads, {static_cast<uint32_t>(s.n_heads), static_cast<uint32_t>(s.head_dim)}),
                     r_.per_column(s.q), r_.work().floats(s.in), r_.work().floats(s.q), r_.work().floats(s.gate));
}

Result<void> DeltaRecorder::record(const step::SigmoidMul& s) {
  SigmoidMulConfig config{.width = r_.width(s.x)};
  const bool is_in_rows = s.rows != SlotId{};
  if (is_in_rows) config.stride = r_.width(s.rows), config.head_dim = static_cast<uint32_t>(s.head_dim);
  const View<wgsl::F32> gate = r_.work().floats(is_in_rows ? s.rows : s.gate), x = r_.work().floats(s.x);
  Extent extent = r_.per_column(s.x);
  std::optional<LeftInt8> left;
  if (config.width % kElementwiseWorkgroup == 0) {
    TRY(left, layers_.left_for_next(s.x, WorkBuffers::kMostLeftRows));
  }
  if (!left) return r_.dispatch(r_.traced(sigmoid_mul, config), extent, gate, x);
  r_.leave(*left);
  extent.when = left->leaving({});
  TRY_STATUS(r_.dispatch(r_.traced(sigmoid_mul_leaving, config, left->coding, r_.caps()), extent, gate, x, left->rows.x,
                         left->rows.runs));
  for (const When& when : left->others({})) {
    extent.when = when;
    TRY_STATUS(r_.dispatch(r_.traced(sigmoid_mul, config), extent, gate, x));
  }
  return {};
}

Result<void> DeltaRecorder::record(const step::CausalConv& s) { return conv(s, {.shape = shape(false), .conv = s.in}); }
Result<void> DeltaRecorder::record(const step::DeltaRule& s) {
  return rule(s, {.shape = shape(false), .alpha = s.alpha, .beta = s.beta});
}
Result<void> DeltaRecorder::record(const step::GatedNorm& s) {
  return normed(s, {.shape = shape(false), .gate = s.gate});
}

Result<void> DeltaRecorder::record(const step::GatedDelta& s) {
  Inputs in{.shape = shape(true), .conv = s.rows, .gate = s.rows, .alpha = s.rows, .beta = s.rows};
  TRY(const bool has_one_dispatch, at_once(s, in.shape));
  if (has_one_dispatch) in.when.moves_states = If::kNo;
  TRY_STATUS(conv(s.conv, in));
  TRY_STATUS(rule(s.rule, in));
  return normed(s.normed, in);
}

// The columns in the state are replaced only after all rows have been convolved.
Result<void> DeltaRecorder::conv(const step::CausalConv& s, const Inputs& in) {
  TRY(const BufferView taps, r_.weights().vector(*s.taps));
  Extent extent = r_.per_column(s.out);
  extent.when = in.when;
  TRY_STATUS(r_.dispatch(r_.traced(causal_conv, in.shape), extent, r_.work().floats(in.conv), View<wgsl::F32>{taps},
                         sequences(), state(s.layer), r_.work().floats(s.out)));
  extent.rows = Rows::kSequences;
  return r_.dispatch(r_.traced(keep_columns, in.shape), extent, r_.work().floats(in.conv), sequences(), state(s.layer));
}

Result<void> DeltaRecorder::rule(const step::DeltaRule& s, const Inputs& in) {
  TRY(const BufferView decay, r_.weights().vector(*s.decay));
  TRY(const BufferView dt_bias, r_.weights().vector(*s.dt_bias));
  const DeltaRuleConfig config{.shape = in.shape, .caps = r_.caps()};
  const Extent extent{.grid = {.x = config.shape.n_v_heads * config.parts_of_head()},
                      .axis = Axis::kY,
                      .rows = Rows::kSequences,
                      .when = in.when};
  return r_.dispatch(r_.traced(delta_rule, config), extent, r_.work().float_quads(s.in), r_.work().floats(in.alpha),
                     r_.work().floats(in.beta), View<wgsl::F32>{decay}, View<wgsl::F32>{dt_bias}, sequences(),
                     state(s.layer), r_.work().floats(s.out));
}

GatedNormConfig DeltaRecorder::norm_config(const step::GatedNorm& s, const DeltaShape& shape) const {
  return {.n_heads = static_cast<uint32_t>(s.n_heads),
          .head_dim = static_cast<uint32_t>(s.head_dim),
          .eps = s.eps,
          .caps = r_.caps(),
          .gate_stride = shape.gate_stride(),
          .gate_at = shape.gate_at()};
}

Result<void> DeltaRecorder::normed(const step::GatedNorm& s, const Inputs& in) {
  TRY(const BufferView gain, r_.weights().vector(*s.gain));
  const GatedNormConfig config = norm_config(s, in.shape);
  return r_.dispatch(r_.traced(gated_norm, config), {.grid = {.x = config.n_heads}, .axis = Axis::kY, .when = in.when},
                     r_.work().floats(s.in), r_.work().floats(in.gate), View<wgsl::F32>{gain}, r_.work().floats(s.out));
}

Result<bool> DeltaRecorder::at_once(const step::GatedDelta& s, const DeltaShape& shape) {
  GatedDeltaConfig config{
      .shape = shape, .norm = norm_config(s.normed, shape), .workgroup = DeltaRuleConfig::kParts * shape.head_dim};
  while (config.workgroup > r_.limits().invocations && config.workgroup % 2 == 0) config.workgroup /= 2;
  if (!has_gated_delta(config, r_.limits().invocations)) return false;
  TRY(const BufferView taps, r_.weights().vector(*s.conv.taps));
  TRY(const BufferView decay, r_.weights().vector(*s.rule.decay));
  TRY(const BufferView dt_bias, r_.weights().vector(*s.rule.dt_bias));
  TRY(const BufferView gain, r_.weights().vector(*s.normed.gain));
  Extent extent{
      .grid = {.x = shape.n_v_heads}, .axis = Axis::kY, .rows = Rows::kSequences, .when = {.moves_states = If::kYes}};
  const auto record = [&](const auto& kernel, const auto&... left) {
    return r_.dispatch(kernel, extent, r_.work().floats(s.rows), View<wgsl::F32>{taps}, View<wgsl::F32>{decay},
                       View<wgsl::F32>{dt_bias}, View<wgsl::F32>{gain}, sequences(), state(s.conv.layer),
                       r_.work().floats(s.normed.out), left...);
  };
  constexpr uint32_t kBuffers = 10;  // that the leaving kernel binds
  std::optional<LeftInt8> left;
  if (shape.head_dim % kRun == 0 && r_.limits().storage_buffers >= kBuffers) {
    TRY(left, layers_.left_for_next(s.normed.out, WorkBuffers::kMostLeftRows));
  }
  if (!left) {
    TRY_STATUS(record(r_.traced(gated_delta, config)));
    return true;
  }
  left->moves_states = If::kYes;
  r_.leave(*left);
  const When moving = extent.when;
  extent.when = left->leaving(moving);
  TRY_STATUS(record(r_.traced(gated_delta_leaving, config, left->coding), left->rows.x, left->rows.runs));
  for (const When& when : left->others(moving)) {
    extent.when = when;
    TRY_STATUS(record(r_.traced(gated_delta, config)));
  }
  return true;
}

// A norm reads the row whose logits are wanted in place, as NormRecorder's does.
Result<void> DeltaRecorder::record(const step::Rotate& s) {
  const auto in_place = s.norm.gain ? r_.in_place_of(s.in) : std::nullopt;
  if (!in_place) return rotate(s, s.in, {});
  TRY_STATUS(rotate(s, *in_place, kRunsOfOne));
  return rotate(s, s.in, kRunsOfSeveral);
}

Result<void> DeltaRecorder::rotate(const step::Rotate& s, SlotId in, const When& when) {
  TRY(const BufferView signs, r_.weights().vector(*s.signs));
  View<wgsl::F32> gain = r_.unused_gain();
  RotateConfig config{.width = r_.width(s.in),
                      .block = static_cast<uint32_t>(s.block),
                      .is_inverse = s.is_inverse,
                      .n_groups = static_cast<uint32_t>(s.n_groups),
                      .head_dim = static_cast<uint32_t>(s.head_dim)};
  if (s.norm.gain) {
    TRY(gain.view, r_.weights().vector(*s.norm.gain));
    config.normed = true;
    config.eps = s.norm.eps;
    config.caps = r_.caps();
  }
  Extent extent{.grid = {.x = config.width / config.block}, .axis = Axis::kY, .rows = r_.rows_of(s.out), .when = when};
  const View<wgsl::F32> x = r_.work().floats(in), y = r_.work().floats(s.out);
  std::optional<LeftInt8> left;
  if (!config.is_inverse && config.block % kRun == 0) {
    TRY(left, layers_.left_for_next(s.out, WorkBuffers::kMostLeftRows));
  }
  if (!left) return r_.dispatch(r_.traced(gpu::rotate, config), extent, x, gain, View<wgsl::F32>{signs}, y);
  r_.leave(*left);
  RotateConfig leaving = config;
  leaving.caps = r_.caps();
  extent.when = left->leaving(when);
  TRY_STATUS(r_.dispatch(r_.traced(gpu::rotate_leaving, leaving, left->coding), extent, x, gain, View<wgsl::F32>{signs},
                         y, left->rows.x, left->rows.runs));
  for (const When& other : left->others(when)) {
    extent.when = other;
    TRY_STATUS(r_.dispatch(r_.traced(gpu::rotate, config), extent, x, gain, View<wgsl::F32>{signs}, y));
  }
  return {};
}

}  // namespace tern::gpu
