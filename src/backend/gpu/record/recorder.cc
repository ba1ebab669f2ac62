#include "backend/gpu/record/recorder.h"

#include <algorithm>

#include "backend/gpu/kernels/elementwise.h"
#include "base/bytes.h"
#include "base/check.h"

namespace tern::gpu {
namespace {

std::unexpected<Error> not_on_gpus() {
  return fail(ErrorCode::kNotSupported, "the webgpu backend has no such step; use the cpu backend");
}

}  // namespace

Recorder::Recorder(const RecorderContext& context, const GpuKvStore& store, Program& program)
    : c_(context), store_(store), program_(program), caps_(caps_of(context.device)) {
  most_few_ = most_in_columns();
}

Result<void> Recorder::record_all() {
  for (const Step& step : c_.plan.steps) {
    const bool is_covered = c_.layer_path.covers(step_, store_);
    path_ = is_covered ? DispatchPath::kSteps : DispatchPath::kAny;
    if (is_covered && step_ == c_.layer_path.first_step()) {
      TRY(const auto turns, angles(c_.layer_path.rope()));
      TRY_STATUS(c_.layer_path.record(turns.view, store_, program_));
    }
    auto recorded = std::visit([this](const auto& s) { return record(s); }, step.body);
    if (!recorded) {
      Error error = std::move(recorded).error();
      error.message = step.name + ": " + error.message;
      return std::unexpected(std::move(error));
    }
    ++step_;
  }
  return {};
}

uint32_t Recorder::workgroup(uint32_t wanted) const { return std::min(wanted, c_.device.limits().invocations); }

Extent Recorder::per_column(SlotId slot) const {
  return {.grid = {.x = ceil_div(width(slot), kElementwiseWorkgroup)}, .axis = Axis::kY, .rows = rows_of(slot)};
}

Result<void> Recorder::record(const step::SelectRows& s) {
  alias_ = s;
  Extent extent = per_column(s.out);
  extent.when = {.min_tokens = 2};
  return dispatch(traced(select_rows, {width(s.in)}), extent, c_.work.floats(s.in), params(), c_.work.floats(s.out));
}

RmsNormConfig Recorder::norm_config(SlotId x, float eps) const {
  return {.width = width(x),
          .eps = eps,
          .caps = caps_,
          .workgroup = workgroup(c_.layouts.norm_workgroup),
          .in_loops = c_.layouts.serial};
}

Result<void> Recorder::rms_norm(const step::RmsNorm& s, SlotId in, const When& when) {
  TRY(const BufferView gain, c_.weights.vector(*s.gain));
  return dispatch(traced(gpu::rms_norm, norm_config(in, s.eps)),
                  {.axis = Axis::kY, .rows = rows_of(s.out), .when = when}, c_.work.floats(in), View<wgsl::F32>{gain},
                  c_.work.floats(s.out));
}

Result<void> Recorder::record(const step::RmsNorm& s) {
  if (!alias_ || alias_->out != s.in) return rms_norm(s, s.in, {});
  TRY_STATUS(rms_norm(s, alias_->in, {.max_tokens = 1}));
  return rms_norm(s, s.in, {.min_tokens = 2});
}

Result<void> Recorder::record(const step::HeadNorm& s) {
  TRY(const BufferView gain, c_.weights.vector(*s.gain));
  const HeadNormConfig config{static_cast<uint32_t>(s.n_heads), static_cast<uint32_t>(s.head_dim), s.eps, caps_};
  return dispatch(traced(head_norm, config), {.grid = {.x = config.n_heads}, .axis = Axis::kY}, c_.work.floats(s.x),
                  View<wgsl::F32>{gain});
}

Result<void> Recorder::record(const step::Quantize& s) {
  return dispatch(traced(quantize, norm_config(s.in, 0)), {.axis = Axis::kY, .rows = rows_of(s.in)},
                  c_.work.float_quads(s.in), c_.work.int8_words(s.out));
}

Result<void> Recorder::norm_quantize(const step::RmsNormQuantize& s, const When& when) {
  TRY(const BufferView gain, c_.weights.vector(*s.gain));
  return dispatch(traced(rms_norm_quantize, norm_config(s.in, s.eps)),
                  {.axis = Axis::kY, .rows = rows_of(s.in), .when = when}, c_.work.float_quads(s.in),
                  View<wgsl::Vec4<wgsl::F32>>{gain}, c_.work.int8_words(s.out));
}

Result<void> Recorder::record(const step::RmsNormQuantize& s) { return norm_quantize(s, {}); }

// The kernels of recurrent layers are not written yet: the backend refuses such models (webgpu_backend.cc).
Result<void> Recorder::record(const step::SplitHeads&) { return not_on_gpus(); }
Result<void> Recorder::record(const step::SigmoidMul&) { return not_on_gpus(); }
Result<void> Recorder::record(const step::CausalConv&) { return not_on_gpus(); }
Result<void> Recorder::record(const step::DeltaRule&) { return not_on_gpus(); }
Result<void> Recorder::record(const step::GatedNorm&) { return not_on_gpus(); }

// Only plans for hosts have this step (Fusions::int8_blocks). On GPUs kernels quantize what they read, where they can.
Result<void> Recorder::record(const step::QuantizeBlocks&) {
  return fail(ErrorCode::kNotSupported, "the webgpu backend has no such step: its kernels quantize what they read");
}

Result<void> Recorder::record(const step::GluMul& s) {
  return dispatch(traced(glu_mul, {width(s.out)}, activation(s.act)), per_column(s.out), c_.work.floats(s.gate),
                  c_.work.floats(s.up), c_.work.floats(s.out));
}

Result<void> Recorder::record(const step::Add& s) {
  return dispatch(traced(add, {width(s.x)}), per_column(s.x), c_.work.floats(s.in), c_.work.floats(s.x));
}

Result<void> Recorder::record(const step::AddBias& s) {
  TRY(const BufferView bias, c_.weights.vector(*s.bias));
  return dispatch(traced(add_bias, {width(s.x)}), per_column(s.x), View<wgsl::F32>{bias}, c_.work.floats(s.x));
}

Result<void> Recorder::record(const step::Softcap& s) {
  return dispatch(traced(softcap, {width(s.x)}, s.cap), per_column(s.x), c_.work.floats(s.x));
}

}  // namespace tern::gpu
