#include "backend/gpu/record/steps/expert_recorder.h"

#include <algorithm>
#include <array>

#include "backend/gpu/kernels/experts.h"

namespace tern::gpu {
namespace {

Tensor one_expert(const Tensor& w) {
  Tensor one = w;
  one.rows = w.expert_rows();
  return one;
}

template <class Linear>
Extent per_expert_tile(const Linear& linear, const ExpertConfig& experts, const When& when) {
  Extent extent = per_tile(linear, linear.rows, when);
  extent.parts = static_cast<uint32_t>(experts.n_used);
  extent.more = more_expert_tiles(static_cast<uint32_t>(experts.n));
  return extent;
}

}  // namespace

std::vector<Layouts::FewTile> ExpertRecorder::tiles() const {
  std::vector<Layouts::FewTile> fit = r_.layouts().expert_tiles;
  std::erase_if(fit, [&](const Layouts::FewTile& tile) {
    const FloatMatmulConfig floats{.rows = 0, .cols = 0, .coding = {}, .tile_tokens = tile.tokens};
    return floats.workgroup_bytes(1) > r_.limits().workgroup_bytes;
  });
  return fit;
}

std::vector<Phase<ExpertPhase>> ExpertRecorder::phases(const ExpertConfig& experts) const {
  const auto fit = tiles();
  const Device& device = r_.context().device;
  const bool on_matrices = has_f16_matrices(device, r_.layouts()) &&
                           std::ranges::any_of(device.features().matrices, has_float_matrix_matmul);
  return expert_phases(r_.phase_limits(),
                       {.n_experts = experts.n, .n_used = experts.n_used, .tiles = fit, .on_matrices = on_matrices});
}

Result<View<wgsl::U32>> ExpertRecorder::tile_list() const {
  TRY(const Buffer* buffer, r_.work().expert_tiles());
  return View<wgsl::U32>{{buffer, 0, 0}};
}

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
  TRY_STATUS(r_.dispatch(r_.traced(route, config), {.axis = Axis::kY}, r_.work().floats(s.in), scale,
                         r_.work().floats(s.out)));
  for (const auto& phase : phases(s.experts)) {
    if (phase.name == ExpertPhase::kTiles) TRY_STATUS(list_tiles(s, phase));
  }
  return {};
}

Result<void> ExpertRecorder::list_tiles(const step::Route& s, const TilesPhase& phase) {
  const ExpertTilesConfig config{.n_experts = static_cast<uint32_t>(s.experts.n),
                                 .n_used = static_cast<uint32_t>(s.experts.n_used),
                                 .tokens = phase.at_once,
                                 .factors_at = r_.work().expert_factors_at(),
                                 .caps = r_.caps(),
                                 .workgroup = r_.workgroup(1024)};
  TRY(const auto list, tile_list());
  return r_.dispatch(r_.traced(expert_tiles, config), {.grid = {.x = config.n_experts}, .when = phase.when},
                     r_.work().floats(s.out), r_.params(), list);
}

Result<View<wgsl::Vec4<wgsl::F16>>> ExpertRecorder::halves(SlotId in, const step::FloatNormOnRead& norm,
                                                           uint32_t per_token, const When& when) {
  TRY(const Buffer* buffer, r_.work().halves());
  TRY(const Buffer* list, r_.work().expert_tiles());
  const View<wgsl::Vec4<wgsl::F16>> halved{{buffer, 0, 0}};
  const uint64_t at = uint64_t{4} * r_.work().expert_factors_at();
  const HalveTokensConfig config{.width = r_.width(in) / per_token, .caps = r_.caps(), .per_token = per_token};
  const Extent extent{.grid = {.x = per_token}, .axis = Axis::kY, .when = when};
  TRY_STATUS(inputs_.halve(in, norm, config, extent, {halved, {{list, at, list->bytes() - at}}}));
  return halved;
}

std::optional<FloatMatrixMatmulConfig> ExpertRecorder::on_matrices(const Tensor& w, const WeightCoding& coding,
                                                                   uint32_t n_matrices, const TilesPhase& phase) const {
  if (!wgsl::kHasMatrixKernels) return std::nullopt;
  const auto fit = tiles();
  const auto found = layers_.few_tiles(w, coding, n_matrices, std::span(&fit[phase.index], 1));
  return found.configs.empty() ? std::nullopt : std::optional(found.configs.front());
}

Extent ExpertRecorder::few_extent(const ExpertLinearConfig& c, const When& when) const {
  return {.grid = grid_of(c.n_used * workgroups_per_expert(c), r_.limits().workgroups), .axis = Axis::kZ, .when = when};
}

template <class Linear>
OfExperts<Linear> ExpertRecorder::of_experts(const Linear& linear, const step::ExpertGlu& s) const {
  OfExperts<Linear> c{.linear = linear,
                      .n_used = static_cast<uint32_t>(s.experts.n_used),
                      .has_bias = s.gate_bias != nullptr,
                      .limit = s.experts.limit};
  c.linear.act = activation(s.act);
  return c;
}

template <class Linear>
OfExperts<Linear> ExpertRecorder::of_experts(const Linear& linear, const step::ExpertLinear& s) const {
  return {.linear = linear,
          .n_used = static_cast<uint32_t>(s.experts.n_used),
          .has_bias = s.bias != nullptr,
          .own_input = true};
}

Result<void> ExpertRecorder::record(const step::ExpertGlu& s) {
  TRY(const auto parts, r_.weights().glu(*s.w_gate, *s.w_up));
  View<wgsl::F32> bias = r_.unused_gain();
  if (s.gate_bias) {
    TRY(const BufferView both, r_.weights().vectors(std::array{s.gate_bias, s.up_bias}));
    bias = {both};
  }
  for (const auto& phase : phases(s.experts)) {
    TRY_STATUS(phase.name == ExpertPhase::kTiles ? glu_in_tiles(s, parts, bias, phase)
                                                 : glu_few(s, parts, bias, phase.when));
  }
  return {};
}

Result<void> ExpertRecorder::glu_few(const step::ExpertGlu& s, const WeightStore::Glu& parts, View<wgsl::F32> bias,
                                     const When& when) {
  const bool norms_on_read =
      s.norm.gain && !r_.layouts().serial && r_.limits().storage_buffers >= kExpertNormGluBuffers;
  SlotId in = s.in;
  if (!norms_on_read) {
    TRY(in, inputs_.normed(s.in, s.norm, when));
  }
  auto c = of_experts(layers_.float_config(one_expert(*s.w_gate), parts.gate->coding, norms_on_read ? &s.norm : nullptr,
                                           r_.layouts().float_glu),
                      s);
  c.linear.up_coding = parts.up->coding;
  const auto n_experts = static_cast<uint32_t>(s.experts.n);
  const View<WeightUnits> gate{parts.gate->units}, up{parts.up->units};
  const View<wgsl::U32> gate_scales{parts.gate->scales}, up_scales{parts.up->scales};
  const auto x = r_.work().float_quads(in);
  const auto chosen = r_.work().floats(s.chosen), y = r_.work().floats(s.out);
  if (!norms_on_read) {
    return r_.dispatch(r_.traced(expert_glu, c, n_experts), few_extent(c, when), gate, gate_scales, up, up_scales, x,
                       chosen, bias, y);
  }
  TRY(const BufferView gain, r_.weights().vector(*s.norm.gain));
  return r_.dispatch(r_.traced(expert_norm_glu, c, n_experts), few_extent(c, when), gate, gate_scales, up, up_scales, x,
                     View<wgsl::Vec4<wgsl::F32>>{gain}, chosen, bias, y);
}

Result<void> ExpertRecorder::glu_in_tiles(const step::ExpertGlu& s, const WeightStore::Glu& parts, View<wgsl::F32> bias,
                                          const TilesPhase& phase) {
  const Tensor one = one_expert(*s.w_gate);
  const auto n_experts = static_cast<uint32_t>(s.experts.n);
  const View<WeightUnits> gate{parts.gate->units}, up{parts.up->units};
  const View<wgsl::U32> gate_scales{parts.gate->scales}, up_scales{parts.up->scales};
  const auto y = r_.work().floats(s.out);
  TRY(const auto list, tile_list());
  if (const auto tile = on_matrices(one, parts.gate->coding, 2, phase); wgsl::kHasMatrixKernels && tile) {
    TRY(const auto x, halves(s.in, s.norm, 1, phase.when));
    auto c = of_experts(*tile, s);
    c.linear.up_coding = parts.up->coding;
    return r_.dispatch(r_.traced(expert_glu_matmul_matrix, c, n_experts),
                       per_expert_tile(c.linear, s.experts, phase.when), gate, gate_scales, up, up_scales, x, list,
                       bias, y);
  }
  const auto c = of_experts(FloatMatmulConfig{.rows = static_cast<uint32_t>(one.rows),
                                              .cols = static_cast<uint32_t>(one.cols),
                                              .coding = parts.gate->coding,
                                              .up_coding = parts.up->coding,
                                              .tile_rows = 32,
                                              .tile_tokens = phase.at_once},
                            s);
  TRY(const SlotId in, inputs_.normed(s.in, s.norm, phase.when));
  return r_.dispatch(r_.traced(expert_glu_matmul, c, n_experts), per_expert_tile(c.linear, s.experts, phase.when), gate,
                     gate_scales, up, up_scales, r_.work().float_quads(in), list, bias, y);
}

Result<void> ExpertRecorder::record(const step::ExpertLinear& s) {
  TRY(const FloatMatrix* matrix, r_.weights().matrix(*s.w));
  if (matrix->parts.size() != 1) {
    return fail(ErrorCode::kNotSupported,
                "a layer's experts are larger than this GPU binds at once ({} MB); use the cpu backend",
                r_.limits().binding_bytes >> 20);
  }
  const FloatMatrix::Part& part = matrix->parts.front();
  View<wgsl::F32> bias = r_.unused_gain();
  if (s.bias) {
    TRY(const BufferView all, r_.weights().vector(*s.bias));
    bias = {all};
  }
  for (const auto& phase : phases(s.experts)) {
    TRY_STATUS(phase.name == ExpertPhase::kTiles ? linear_in_tiles(s, part, bias, phase)
                                                 : linear_few(s, part, bias, phase.when));
  }
  return {};
}

Result<void> ExpertRecorder::linear_few(const step::ExpertLinear& s, const FloatMatrix::Part& part,
                                        View<wgsl::F32> bias, const When& when) {
  const auto c = of_experts(layers_.float_config(one_expert(*s.w), part.coding, nullptr, r_.layouts().float_square), s);
  return r_.dispatch(r_.traced(expert_linear, c), few_extent(c, when), View<WeightUnits>{part.units},
                     View<wgsl::U32>{part.scales}, r_.work().float_quads(s.in), r_.work().floats(s.chosen), bias,
                     r_.work().floats(s.out));
}

Result<void> ExpertRecorder::linear_in_tiles(const step::ExpertLinear& s, const FloatMatrix::Part& part,
                                             View<wgsl::F32> bias, const TilesPhase& phase) {
  const Tensor one = one_expert(*s.w);
  const View<WeightUnits> units{part.units};
  const View<wgsl::U32> scales{part.scales};
  TRY(const auto list, tile_list());
  if (const auto tile = on_matrices(one, part.coding, 1, phase); wgsl::kHasMatrixKernels && tile) {
    TRY(const auto x, halves(s.in, {}, static_cast<uint32_t>(s.experts.n_used), phase.when));
    const auto c = of_experts(*tile, s);
    return r_.dispatch(r_.traced(expert_matmul_matrix, c), per_expert_tile(c.linear, s.experts, phase.when), units,
                       scales, x, list, bias, r_.work().floats(s.out));
  }
  const auto c = of_experts(FloatMatmulConfig{.rows = static_cast<uint32_t>(one.rows),
                                              .cols = static_cast<uint32_t>(one.cols),
                                              .coding = part.coding,
                                              .tile_tokens = phase.at_once},
                            s);
  return r_.dispatch(r_.traced(expert_matmul, c), per_expert_tile(c.linear, s.experts, phase.when), units, scales,
                     r_.work().float_quads(s.in), list, bias, r_.work().floats(s.out));
}

Result<void> ExpertRecorder::mix(const step::MixExperts& s, SlotId out, Store store) {
  const MixConfig config{
      .width = r_.width(out), .n_used = r_.width(s.chosen) / 2, .has_shared = s.has_shared(), .store = store};
  const SlotId shared = s.has_shared() ? s.shared : s.in, gate = s.has_shared() ? s.gate : s.chosen;
  return r_.dispatch(r_.traced(mix_experts, config), r_.per_column(out), r_.work().floats(s.in),
                     r_.work().floats(s.chosen), r_.work().floats(shared), r_.work().floats(gate),
                     r_.work().floats(out));
}

}  // namespace tern::gpu
