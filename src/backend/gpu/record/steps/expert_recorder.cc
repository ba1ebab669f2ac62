#include "backend/gpu/record/steps/expert_recorder.h"

#include <array>

#include "backend/gpu/kernels/experts.h"

namespace tern::gpu {

Result<void> ExpertRecorder::record(const step::Route& s) {
  const RouteConfig config{.n_experts = static_cast<uint32_t>(s.experts.n),
                           .n_used = static_cast<uint32_t>(s.experts.n_used),
                           .weighs_chosen = s.experts.weighs_chosen,
                           .workgroup = r_.workgroup(256),
                           .has_scale = s.expert_scale != nullptr};
  if (config.n_used > config.workgroup) {
    return fail(ErrorCode::kNotSupported,
                "{} experts for each token are more than this GPU chooses at once; use the "
                "cpu backend",
                config.n_used);
  }
  View<wgsl::F32> scale = r_.unused_gain();
  if (config.has_scale) {
    TRY(const BufferView all, r_.weights().vector(*s.expert_scale));
    scale = {all};
  }
  return r_.dispatch(r_.traced(route, config), {.axis = Axis::kY}, r_.work().floats(s.in), scale,
                     r_.work().floats(s.out));
}

ExpertLinearConfig ExpertRecorder::config(const Tensor& w, const WeightCoding& coding, const ExpertConfig& experts,
                                          const MatvecLayout& layout) const {
  Tensor one = w;
  one.rows = w.expert_rows();
  return {.linear = layers_.float_config(one, coding, nullptr, layout),
          .n_used = static_cast<uint32_t>(experts.n_used)};
}

Extent ExpertRecorder::extent(const ExpertLinearConfig& c) const {
  return {.grid = grid_of(c.n_used * c.workgroups_per_expert(), r_.limits().workgroups), .axis = Axis::kZ};
}

Result<void> ExpertRecorder::record(const step::ExpertGlu& s) {
  TRY(const auto parts, r_.weights().glu(*s.w_gate, *s.w_up));
  ExpertLinearConfig c = config(*s.w_gate, parts.gate->coding, s.experts, r_.layouts().float_glu);
  c.linear.up_coding = parts.up->coding;
  c.linear.act = activation(s.act);
  c.has_bias = s.gate_bias != nullptr;
  c.limit = s.experts.limit;
  View<wgsl::F32> bias = r_.unused_gain();
  if (c.has_bias) {
    TRY(const BufferView both, r_.weights().vectors(std::array{s.gate_bias, s.up_bias}));
    bias = {both};
  }
  return r_.dispatch(r_.traced(expert_glu, c, static_cast<uint32_t>(s.experts.n)), extent(c),
                     View<WeightUnits>{parts.gate->units}, View<wgsl::U32>{parts.gate->scales},
                     View<WeightUnits>{parts.up->units}, View<wgsl::U32>{parts.up->scales}, r_.work().float_quads(s.in),
                     r_.work().floats(s.chosen), bias, r_.work().floats(s.out));
}

Result<void> ExpertRecorder::record(const step::ExpertLinear& s) {
  TRY(const FloatMatrix* matrix, r_.weights().matrix(*s.w));
  if (matrix->parts.size() != 1) {
    return fail(ErrorCode::kNotSupported,
                "a layer's experts are larger than this GPU binds at once ({} MB); use the cpu backend",
                r_.limits().binding_bytes >> 20);
  }
  const FloatMatrix::Part& part = matrix->parts.front();
  ExpertLinearConfig c = config(*s.w, part.coding, s.experts, r_.layouts().float_square);
  c.own_input = true;
  c.has_bias = s.bias != nullptr;
  View<wgsl::F32> bias = r_.unused_gain();
  if (c.has_bias) {
    TRY(const BufferView all, r_.weights().vector(*s.bias));
    bias = {all};
  }
  return r_.dispatch(r_.traced(expert_linear, c), extent(c), View<WeightUnits>{part.units},
                     View<wgsl::U32>{part.scales}, r_.work().float_quads(s.in), r_.work().floats(s.chosen), bias,
                     r_.work().floats(s.out));
}

Result<void> ExpertRecorder::record(const step::MixExperts& s) {
  const MixConfig config{.width = r_.width(s.out), .n_used = r_.width(s.chosen) / 2, .has_shared = s.has_shared()};
  const SlotId shared = s.has_shared() ? s.shared : s.in, gate = s.has_shared() ? s.gate : s.chosen;
  return r_.dispatch(r_.traced(mix_experts, config), r_.per_column(s.out), r_.work().floats(s.in),
                     r_.work().floats(s.chosen), r_.work().floats(shared), r_.work().floats(gate),
                     r_.work().floats(s.out));
}

}  // namespace tern::gpu
