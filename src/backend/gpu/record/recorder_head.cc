// The head with its int8 copy: computes only the best logits of a few rows.
#include "backend/gpu/kernels/head/best_logits.h"
#include "backend/gpu/record/recorder.h"

namespace tern::gpu {

EstimateConfig Recorder::estimate_config(const Tensor& w, uint32_t columns) const {
  const MatvecLayout& layout = columns == 1 ? c_.layouts.estimates : c_.layouts.estimates_of_rows;
  // The number of rows per workgroup does not depend on the subgroup size: the n-th largest logit is searched for among
  // the workgroups' maxima.
  const uint32_t of_row = lanes(layout.lanes), n_groups = layout.workgroup / layout.lanes;
  return fit(EstimateConfig{.rows = static_cast<uint32_t>(w.rows),
                            .cols = static_cast<uint32_t>(w.cols),
                            .caps = caps_,
                            .lanes = of_row,
                            .rows_per_group = layout.rows_per_group,
                            .workgroup = workgroup(of_row * n_groups),
                            .columns = columns});
}

Result<void> Recorder::best_logits(const step::FloatLinear& s) {
  fewest_best_ = 1;
  TRY(const auto reads, float_reads(s.in, s.norm, {}));
  TRY_STATUS(estimates(*s.w, reads));
  for (const FloatRead& read : reads) TRY_STATUS(best_of_estimates(s, read));
  fewest_best_ = 0;
  return {};
}

Result<void> Recorder::estimates(const Tensor& w, std::span<const FloatRead> reads) {
  const HeadCopy& copy = *c_.head_copy;
  for (const FloatRead& read : reads) {
    TRY(const auto gain, gain_view(read));
    const EstimatedInputConfig config{.cols = static_cast<uint32_t>(w.cols),
                                      .normed = read.norm != nullptr,
                                      .caps = caps_,
                                      .workgroup = workgroup(1024)};
    TRY_STATUS(dispatch(traced(estimated_input, config), {.axis = Axis::kY, .rows = Rows::kLogits, .when = read.when},
                        c_.work.float_quads(read.slot), gain, View<wgsl::I8x4>{copy.parts().view}, copy.bounds(),
                        View<wgsl::U32>{copy.greatest().view}));
  }
  for (int columns = 1; columns / 2 < copy.most_rows(); columns *= 2) {
    const EstimateConfig config = estimate_config(w, static_cast<uint32_t>(columns));
    const Extent extent{.grid = grid_of(config.n_workgroups(), c_.device.limits().workgroups),
                        .rows = Rows::kLogits,
                        .when = {.min_rows = columns / 2 + 1, .max_rows = columns}};
    TRY_STATUS(dispatch(traced(estimate_logits, config), extent, copy.codes(), copy.errors(), copy.parts(),
                        copy.bounds(), copy.upper(), copy.greatest()));
  }
  return {};
}

Result<void> Recorder::best_of_estimates(const step::FloatLinear& s, const FloatRead& read) {
  const HeadCopy& copy = *c_.head_copy;
  TRY(const FloatMatrix* matrix, c_.weights.matrix(*s.w));
  const FloatMatrix::Part& part = matrix->parts.front();
  TRY(const auto gain, gain_view(read));
  FloatLinearConfig linear = float_config(*s.w, part.coding, read, c_.layouts.head);
  linear.rows_per_group = 1;
  linear.workgroup = best_workgroup(c_.device.limits());
  linear.staged = linear.int8_x = false;
  Extent extent{.grid = {.x = ceil_div(linear.rows, linear.workgroup)},
                .axis = Axis::kY,
                .rows = Rows::kLogits,
                .when = read.when};
  const std::optional<DeviceSampler::Parts> parts = c_.sampler->parts_of_best();
  if (parts) {
    CHECK(parts->n == extent.grid.x);
    Extent of_one = extent;
    of_one.when.max_best = of_one.when.max_rows = 1;
    of_one.when.embeds_next = If::kYes;
    TRY_STATUS(dispatch(traced(greatest_logit, {.linear = linear, .n_best = 1}), of_one, View<WeightUnits>{part.units},
                        View<wgsl::U32>{part.scales}, c_.work.float_quads(read.slot), gain, copy.upper(),
                        View<wgsl::U32>{copy.greatest().view}, parts->values, parts->indices));
  }
  extent.when.embeds_next = If::kNo;
  for (const int n_best : {1, kMostBestLogits}) {
    extent.when.min_best = n_best == 1 ? 1 : 2;
    extent.when.max_best = n_best;
    const BestLogitsConfig config{.linear = linear, .n_best = static_cast<uint32_t>(n_best)};
    TRY_STATUS(dispatch(traced(gpu::best_logits, config), extent, View<WeightUnits>{part.units},
                        View<wgsl::U32>{part.scales}, c_.work.float_quads(read.slot), gain, copy.upper(),
                        View<wgsl::U32>{copy.greatest().view}, View<wgsl::U32>{c_.work.view(s.out)}));
  }
  return {};
}

}  // namespace tern::gpu
