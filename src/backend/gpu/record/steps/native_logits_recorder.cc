#include "backend/gpu/record/steps/native_logits_recorder.h"

#include "backend/gpu/kernels/head/logits_matrix.h"
#include "base/bytes.h"
#include "base/check.h"

namespace tern::gpu {

Result<bool> NativeLogitsRecorder::in_tiles(const FloatMatrix& matrix, const Tensor& w, SlotId in,
                                            const step::FloatNormOnRead& norm, SlotId out) {
  if (r_.layouts().serial || r_.context().max_batch < head_tiles_from(r_.layouts(), w.format == Format::kF16))
    return false;
  return w.format == Format::kF16 ? f16_in_tiles(matrix, w, in, norm, out) : packed_in_tiles(matrix, w, in, norm, out);
}

// One f16 part of the activations is more precise than the codes of packed weights; an F16 head needs the part of the
// rounding errors too.
Result<bool> NativeLogitsRecorder::packed_in_tiles(const FloatMatrix& matrix, const Tensor& w, SlotId in,
                                                   const step::FloatNormOnRead& norm, SlotId out) {
  const auto tiles_of = [&](const WeightCoding& coding) {
    return layers_.few_tiles(w, coding, 1, r_.layouts().head_tiles);
  };
  for (const FloatMatrix::Part& part : matrix.parts) {
    if (!part.coding.has_codes() || tiles_of(part.coding).configs.empty()) return false;
  }
  const When when = head_in_tiles(r_.layouts(), /*is_f16=*/false);
  TRY(const HalvedTokens x, inputs_.halve_tokens(in, norm, when, Rows::kLogits));
  for (const FloatMatrix::Part& part : matrix.parts) {
    TRY(const BufferView constant, r_.work().constant({part.first, part.count, 0, 0}));
    const FloatLayers::FewTiles all = tiles_of(part.coding);
    for (const auto& phase : packed_head_phases(r_.layouts(), all.tokens)) {
      FloatMatrixMatmulConfig tiles = all.configs[phase.index];
      tiles.rows = r_.width(out);
      tiles.of_logits = true;
      TRY_STATUS(r_.dispatch(r_.traced(float_matmul_matrix, tiles),
                             per_tile(tiles, part.count, phase.when, Rows::kLogits), View<WeightUnits>{part.units},
                             View<wgsl::U32>{part.scales}, x.x, x.scales, View<RowRange>{constant}, r_.params(),
                             r_.work().floats(out)));
    }
  }
  return true;
}

Result<bool> NativeLogitsRecorder::f16_in_tiles(const FloatMatrix& matrix, const Tensor& w, SlotId in,
                                                const step::FloatNormOnRead& norm, SlotId out) {
  const auto tiles = layers_.matrix_config(w, matrix.parts.front().coding, 1, {});
  if (!tiles) return false;
  LogitsMatrixConfig config{.rows = r_.width(out),
                            .cols = static_cast<uint32_t>(w.cols),
                            .shape = tiles->shape,
                            .subgroup = tiles->subgroup,
                            .rest_at = r_.work().halved_logit_rows()};
  const uint32_t most_bytes = r_.limits().workgroup_bytes;
  while (config.workgroup_bytes() > most_bytes && config.subgroups > 1) config.subgroups /= 2;
  if (config.workgroup_bytes() > most_bytes) return false;
  for (const FloatMatrix::Part& part : matrix.parts) {
    if (part.count < config.rows_of_subgroup()) return false;
  }
  const When when = head_in_tiles(r_.layouts(), /*is_f16=*/true);
  TRY(const HalvedTokens x, inputs_.halve_tokens(in, norm, when, Rows::kLogits, config.rest_at));
  for (const FloatMatrix::Part& part : matrix.parts) {
    TRY(const BufferView constant, r_.work().constant({part.first, part.count, 0, 0}));
    for (const auto& phase : f16_head_phases(r_.layouts())) {
      config.tokens = phase.at_once;
      const Extent extent{.grid = {.x = ceil_div(part.count, config.tile_rows())},
                          .axis = Axis::kY,
                          .rows = Rows::kLogits,
                          .rows_per_workgroup = phase.at_once,
                          .when = phase.when};
      TRY_STATUS(r_.dispatch(r_.traced(logits_matrix, config), extent, View<wgsl::Vec4<wgsl::F16>>{part.units}, x.x,
                             x.scales, View<RowRange>{constant}, r_.params(), r_.work().floats(out)));
    }
  }
  return true;
}

Result<void> NativeLogitsRecorder::best_logits(const step::FloatLinear& s) {
  r_.limit_best(1, INT_MAX);
  TRY(const auto reads, inputs_.reads(s.in, s.norm, {}));
  TRY_STATUS(estimates(*s.w, reads));
  for (const FloatRead& read : reads) TRY_STATUS(best_of_estimates(s, read));
  r_.for_any_best();
  return {};
}

Result<void> NativeLogitsRecorder::estimates(const Tensor& w, std::span<const FloatRead> reads) {
  const HeadCopy::Views copy = r_.context().head_copy->views();
  for (const FloatRead& read : reads) {
    TRY(const auto gain, inputs_.gain_view(read));
    const EstimatedInputConfig config{.cols = static_cast<uint32_t>(w.cols),
                                      .normed = read.norm != nullptr,
                                      .caps = r_.caps(),
                                      .workgroup = r_.workgroup(1024)};
    TRY_STATUS(r_.dispatch(r_.traced(estimated_input, config),
                           {.axis = Axis::kY, .rows = Rows::kLogits, .when = read.when},
                           r_.work().float_quads(read.slot), gain, View<wgsl::I8x4>{copy.parts.view}, copy.bounds,
                           View<wgsl::U32>{copy.greatest.view}));
  }
  for (const auto& phase : estimate_phases(r_.context().head_copy->most_rows())) {
    const EstimateConfig config = estimate_config(w, phase.at_once);
    const Extent extent{
        .grid = grid_of(config.n_workgroups(), r_.limits().workgroups), .rows = Rows::kLogits, .when = phase.when};
    TRY_STATUS(r_.dispatch(r_.traced(estimate_logits, config), extent, copy.codes, copy.errors, copy.parts, copy.bounds,
                           copy.upper, copy.greatest));
  }
  return {};
}

Result<void> NativeLogitsRecorder::best_of_estimates(const step::FloatLinear& s, const FloatRead& read) {
  const HeadCopy::Views copy = r_.context().head_copy->views();
  TRY(const FloatMatrix* matrix, r_.weights().matrix(*s.w));
  const FloatMatrix::Part& part = matrix->parts.front();
  TRY(const auto gain, inputs_.gain_view(read));
  FloatLinearConfig linear = layers_.float_config(*s.w, part.coding, read.norm, r_.layouts().head);
  linear.rows_per_group = 1;
  linear.workgroup = best_workgroup(r_.limits());
  linear.staged = linear.int8_x = false;
  Extent extent{.grid = {.x = ceil_div(linear.rows, linear.workgroup)},
                .axis = Axis::kY,
                .rows = Rows::kLogits,
                .when = read.when};
  const std::optional<DeviceSampler::Parts> parts = r_.context().sampler->parts_of_best();
  if (parts) {
    CHECK(parts->n == extent.grid.x);
    Extent of_one = extent;
    of_one.when.max_best = of_one.when.max_rows = 1;
    of_one.when.embeds_next = If::kYes;
    TRY_STATUS(r_.dispatch(r_.traced(greatest_logit, {.linear = linear, .n_best = 1}), of_one,
                           View<WeightUnits>{part.units}, View<wgsl::U32>{part.scales},
                           r_.work().float_quads(read.slot), gain, copy.upper, View<wgsl::U32>{copy.greatest.view},
                           parts->values, parts->indices));
  }
  extent.when.embeds_next = If::kNo;
  for (const int n_best : {1, kMostBestLogits}) {
    extent.when.min_best = n_best == 1 ? 1 : 2;
    extent.when.max_best = n_best;
    const BestLogitsConfig config{.linear = linear, .n_best = static_cast<uint32_t>(n_best)};
    TRY_STATUS(r_.dispatch(r_.traced(gpu::best_logits, config), extent, View<WeightUnits>{part.units},
                           View<wgsl::U32>{part.scales}, r_.work().float_quads(read.slot), gain, copy.upper,
                           View<wgsl::U32>{copy.greatest.view}, View<wgsl::U32>{r_.work().view(s.out)}));
  }
  return {};
}

EstimateConfig NativeLogitsRecorder::estimate_config(const Tensor& w, uint32_t columns) const {
  const MatvecLayout& layout = columns == 1 ? r_.layouts().estimates : r_.layouts().estimates_of_rows;
  // The number of rows per workgroup does not depend on the subgroup size: the n-th largest logit is searched for among
  // the workgroups' maxima.
  const uint32_t of_row = r_.lanes(layout.lanes), n_groups = layout.workgroup / layout.lanes;
  return fit(EstimateConfig{.rows = static_cast<uint32_t>(w.rows),
                            .cols = static_cast<uint32_t>(w.cols),
                            .caps = r_.caps(),
                            .lanes = of_row,
                            .rows_per_group = layout.rows_per_group,
                            .workgroup = r_.workgroup(of_row * n_groups),
                            .columns = columns});
}

}  // namespace tern::gpu
