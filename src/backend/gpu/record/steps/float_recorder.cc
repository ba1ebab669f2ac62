#include "backend/gpu/record/steps/float_recorder.h"

#include "backend/gpu/kernels/float/float_linear.h"
#include "backend/gpu/kernels/float/float_matmul.h"
#include "backend/gpu/record/steps/native_parts.h"
#include "base/bytes.h"

namespace tern::gpu {

FloatRecorder::FloatRecorder(Recording& recording, NormRecorder& norms, HeadsRecorder& heads)
    : r_(recording),
      heads_(heads),
      layers_(recording),
      inputs_(recording, norms),
      logits_(native_parts().logits_recorder(recording, inputs_, layers_)) {}

Result<void> FloatRecorder::record(const step::FloatLinear& s) {
  const bool is_head = r_.rows_of(s.out) == Rows::kLogits;
  if (r_.context().head_copy && s.out == r_.context().plan.logits) {
    TRY_STATUS(logits_->best_logits(s));
    r_.limit_best(0, 0);  // the rest is for runs that want all logits
  }
  auto recorded =
      linear(std::span(&s.w, 1), s.in, s.norm, s.out, Store::kSet, is_head ? r_.layouts().head : layers_.layout(*s.w));
  r_.for_any_best();
  return recorded;
}

Result<void> FloatRecorder::record(const step::FloatLinearAdd& s) {
  return linear(std::span(&s.w, 1), s.in, {}, s.x, Store::kAdd, layers_.layout(*s.w));
}

Result<void> FloatRecorder::record(const step::FloatQkv& s) {
  const Tensor* const matrices[] = {s.wq, s.wk, s.wv};
  TRY_STATUS(linear(matrices, s.in, s.norm, s.heads.qkv, Store::kSet, r_.layouts().float_qkv));
  return s.leaves_heads ? Result<void>() : heads_.heads(s.heads, {});
}

Result<void> FloatRecorder::linear(std::span<const Tensor* const> matrices, SlotId in,
                                   const step::FloatNormOnRead& norm, SlotId out, Store store,
                                   const MatvecLayout& layout) {
  TRY(const FloatMatrix* w, r_.weights().matrix(matrices));
  const When many = layers_.in_tiles(*matrices.front(), w->parts.front().coding, layout);
  TRY(auto reads, inputs_.reads(in, norm, r_.before(many)));
  if (r_.rows_of(in) == Rows::kLogits && store == Store::kSet && matrices.size() == 1) {
    TRY(const bool is_multiplied, logits_->in_tiles(*w, *matrices.front(), in, norm, out));
    for (FloatRead& read : reads) {
      if (is_multiplied) read.when.max_rows = head_tiles_from(r_.layouts(), *matrices.front()) - 1;
    }
  }
  for (const FloatRead& read : reads) TRY_STATUS(linear_few(*w, *matrices.front(), read, out, store, layout));
  if (r_.rows_of(in) == Rows::kLogits || !r_.has_matmuls()) return {};
  return linear_many(*w, *matrices.front(), in, norm, out, store, many);
}

Result<void> FloatRecorder::linear_few(const FloatMatrix& matrix, const Tensor& w, const FloatRead& read, SlotId out,
                                       Store store, const MatvecLayout& layout) {
  TRY(const auto gain, inputs_.gain_view(read));
  for (const FloatMatrix::Part& part : matrix.parts) {
    TRY(const BufferView constant, r_.work().constant({part.first, part.count, 0, 0}));
    FloatLinearConfig config = layers_.float_config(w, part.coding, read.norm, layout);
    config.rows = r_.width(out);
    config.store = store;
    const uint32_t n = ceil_div(part.count, config.rows_per_workgroup());
    Extent extent{
        .grid = grid_of(n, r_.limits().workgroups), .axis = Axis::kZ, .rows = r_.rows_of(out), .when = read.when};
    const View<WeightUnits> units{part.units};
    const View<wgsl::U32> scales{part.scales};
    const auto x = r_.work().float_quads(read.slot);
    if (const auto several = layers_.in_columns(config, extent.rows); several.columns > 1 && read.when.max_tokens > 1) {
      Extent of_several = extent;
      of_several.rows_per_workgroup = several.columns;
      const bool is_slow_head = extent.rows == Rows::kLogits && part.coding.bits() > 4;
      of_several.when.min_rows = is_slow_head ? r_.layouts().head_columns_from : r_.layouts().columns_from;
      extent.when.max_rows = std::min(extent.when.max_rows, of_several.when.min_rows - 1);
      TRY_STATUS(r_.dispatch(r_.traced(float_linear_columns, several), of_several, units, scales, x, gain,
                             View<RowRange>{constant}, r_.params(), r_.work().floats(out)));
    }
    TRY_STATUS(r_.dispatch(r_.traced(float_linear, config), extent, units, scales, x, gain, View<RowRange>{constant},
                           r_.work().floats(out)));
  }
  return {};
}

Result<void> FloatRecorder::linear_many(const FloatMatrix& matrix, const Tensor& w, SlotId in,
                                        const step::FloatNormOnRead& norm, SlotId out, Store store, const When& when) {
  std::optional<HalvedTokens> x;
  std::optional<SlotId> normed;
  for (const FloatMatrix::Part& part : matrix.parts) {
    TRY(const BufferView constant, r_.work().constant({part.first, part.count, 0, 0}));
    auto all_tiles = layers_.matrix_configs(w, part.coding, 1, part.count, when);
    for (auto& [tiles, when_used] : all_tiles) {
      if (!x) {
        TRY(x, inputs_.halve_tokens(in, norm, when, Rows::kTokens));
      }
      tiles.rows = r_.width(out);
      tiles.store = store;
      TRY_STATUS(r_.dispatch(r_.traced(float_matmul_matrix, tiles), per_tile(tiles, part.count, when_used),
                             View<WeightUnits>{part.units}, View<wgsl::U32>{part.scales}, x->x, x->scales,
                             View<RowRange>{constant}, r_.params(), r_.work().floats(out)));
    }
    if (!all_tiles.empty()) continue;
    if (!normed) {
      TRY(normed, inputs_.normed(in, norm, when));
    }
    const FloatMatmulConfig config{
        .rows = r_.width(out), .cols = static_cast<uint32_t>(w.cols), .coding = part.coding, .store = store};
    TRY_STATUS(r_.dispatch(r_.traced(gpu::float_matmul, config), per_tile(config, part.count, when),
                           View<WeightUnits>{part.units}, View<wgsl::U32>{part.scales}, r_.work().float_quads(*normed),
                           View<RowRange>{constant}, r_.params(), r_.work().floats(out)));
  }
  return {};
}

Result<void> FloatRecorder::record(const step::FloatGlu& s) {
  TRY(const auto parts, r_.weights().glu(*s.w_gate, *s.w_up));
  const When many = layers_.in_tiles(*s.w_gate, parts.gate->coding, r_.layouts().float_glu);
  TRY(const auto reads, inputs_.reads(s.in, s.norm, r_.before(many)));
  for (const FloatRead& read : reads) {
    FloatLinearConfig config = layers_.float_config(*s.w_gate, parts.gate->coding, read.norm, r_.layouts().float_glu);
    config.up_coding = parts.up->coding;
    config.act = activation(s.act);
    Extent extent{.grid = grid_of(ceil_div(config.rows, config.rows_per_workgroup()), r_.limits().workgroups),
                  .axis = Axis::kZ,
                  .when = read.when};
    TRY(const auto gain, inputs_.gain_view(read));
    const View<WeightUnits> gate{parts.gate->units}, up{parts.up->units};
    const View<wgsl::U32> gate_scales{parts.gate->scales}, up_scales{parts.up->scales};
    const auto x = r_.work().float_quads(read.slot);
    if (const auto several = layers_.in_columns(config, extent.rows); several.columns > 1) {
      Extent of_several = extent;
      of_several.rows_per_workgroup = several.columns;
      of_several.when.min_rows = r_.layouts().columns_from;
      extent.when.max_rows = of_several.when.min_rows - 1;
      TRY_STATUS(r_.dispatch(r_.traced(float_glu_columns, several), of_several, gate, gate_scales, up, up_scales, x,
                             gain, r_.params(), r_.work().floats(s.out)));
    }
    TRY_STATUS(r_.dispatch(r_.traced(float_glu, config), extent, gate, gate_scales, up, up_scales, x, gain,
                           r_.work().floats(s.out)));
  }
  return r_.has_matmuls() ? glu_many(s, parts, many) : Result<void>();
}

Result<void> FloatRecorder::glu_many(const step::FloatGlu& s, const WeightStore::Glu& parts, const When& when) {
  auto all_tiles =
      layers_.matrix_configs(*s.w_gate, parts.gate->coding, 2, static_cast<uint32_t>(s.w_gate->rows), when);
  if (!all_tiles.empty()) {
    TRY(const HalvedTokens x, inputs_.halve_tokens(s.in, s.norm, when, Rows::kTokens));
    for (auto& [tiles, when_used] : all_tiles) {
      tiles.up_coding = parts.up->coding;
      tiles.act = activation(s.act);
      TRY_STATUS(r_.dispatch(r_.traced(float_glu_matmul_matrix, tiles), per_tile(tiles, tiles.rows, when_used),
                             View<WeightUnits>{parts.gate->units}, View<wgsl::U32>{parts.gate->scales},
                             View<WeightUnits>{parts.up->units}, View<wgsl::U32>{parts.up->scales}, x.x, x.scales,
                             r_.params(), r_.work().floats(s.out)));
    }
    return {};
  }
  TRY(const SlotId in, inputs_.normed(s.in, s.norm, when));
  const FloatMatmulConfig config{.rows = static_cast<uint32_t>(s.w_gate->rows),
                                 .cols = static_cast<uint32_t>(s.w_gate->cols),
                                 .coding = parts.gate->coding,
                                 .up_coding = parts.up->coding,
                                 .act = activation(s.act),
                                 .tile_rows = 32};
  return r_.dispatch(r_.traced(float_glu_matmul, config), per_tile(config, config.rows, when),
                     View<WeightUnits>{parts.gate->units}, View<wgsl::U32>{parts.gate->scales},
                     View<WeightUnits>{parts.up->units}, View<wgsl::U32>{parts.up->scales}, r_.work().float_quads(in),
                     r_.params(), r_.work().floats(s.out));
}

}  // namespace tern::gpu
