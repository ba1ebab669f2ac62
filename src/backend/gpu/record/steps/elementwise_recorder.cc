#include "backend/gpu/record/steps/elementwise_recorder.h"

#include "backend/gpu/kernels/elementwise.h"
#include "backend/gpu/kernels/embed.h"

namespace tern::gpu {

Result<void> ElementwiseRecorder::record(const step::Embed& s) {
  if (s.on_host) return {};  // GpuExecutable::put writes the rows
  TRY(const FloatMatrix* table, r_.weights().matrix(*s.table));
  for (const FloatMatrix::Part& part : table->parts) {
    TRY(const BufferView constant, r_.work().constant({part.first, part.count, 0, 0}));
    TRY_STATUS(r_.dispatch(r_.traced(embed, {.width = r_.width(s.out), .coding = part.coding, .scale = s.scale}),
                           {.axis = Axis::kY, .when = {.is_embedded = If::kNo}},
                           View<wgsl::U32>{{&r_.work().tokens(), 0, 0}}, View<WeightUnits>{part.units},
                           View<wgsl::U32>{part.scales}, View<RowRange>{constant}, r_.work().float_quads(s.out)));
  }
  return {};
}

// The host writes the rows before the run.
Result<void> ElementwiseRecorder::record(const step::Hidden&) { return {}; }

Result<void> ElementwiseRecorder::record(const step::SelectRows& s) {
  r_.skip_for_one_token(s);
  Extent extent = r_.per_column(s.out);
  extent.when = kRunsOfSeveral;
  return r_.dispatch(r_.traced(select_rows, {r_.width(s.in)}), extent, r_.work().floats(s.in), r_.params(),
                     r_.work().floats(s.out));
}

// Only plans for hosts have this step (Fusions::int8_blocks). On GPUs kernels quantize what they read, where they can.
Result<void> ElementwiseRecorder::record(const step::QuantizeBlocks&) {
  return fail(ErrorCode::kNotSupported, "the webgpu backend has no such step: its kernels quantize what they read");
}

Result<void> ElementwiseRecorder::record(const step::GluMul& s) {
  GluMulConfig config{r_.width(s.out)};
  if (r_.width(s.up) != config.width)
    config.up_width = r_.width(s.up), config.first = static_cast<uint32_t>(s.first_up);
  return r_.dispatch(r_.traced(glu_mul, config, activation(s.act)), r_.per_column(s.out), r_.work().floats(s.gate),
                     r_.work().floats(s.up), r_.work().floats(s.out));
}

Result<void> ElementwiseRecorder::record(const step::Add& s) {
  return r_.dispatch(r_.traced(add, {r_.width(s.x)}, s.scale), r_.per_column(s.x), r_.work().floats(s.in),
                     r_.work().floats(s.x));
}

Result<void> ElementwiseRecorder::record(const step::AddBias& s) {
  TRY(const BufferView bias, r_.weights().vector(*s.bias));
  return r_.dispatch(r_.traced(add_bias, {r_.width(s.x), 0, r_.width(s.x)}), r_.per_column(s.x), View<wgsl::F32>{bias},
                     r_.work().floats(s.x));
}

Result<void> ElementwiseRecorder::record(const step::Softcap& s) {
  return r_.dispatch(r_.traced(softcap, {r_.width(s.x)}, s.cap), r_.per_column(s.x), r_.work().floats(s.x));
}

}  // namespace tern::gpu
