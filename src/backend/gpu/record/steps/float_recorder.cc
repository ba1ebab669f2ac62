#include "backend/gpu/record/steps/float_recorder.h"

#include "backend/gpu/kernels/elementwise.h"
#include "backend/gpu/kernels/float/float_linear.h"
#include "backend/gpu/kernels/float/float_matmul.h"
#include "backend/gpu/kernels/float/int8_rows.h"
#include "backend/gpu/record/steps/native_parts.h"
#include "base/bytes.h"

namespace tern::gpu {
namespace {

// The runs within `few` of at least `from` rows: by tokens where each has a row, so that they can be compared with
// those in which rows are left.
When int8_runs(const When& few, int from, Rows rows) {
  if (rows == Rows::kLogits) return from_rows(few, from);
  When some = few;
  some.min_tokens = std::max(few.min_tokens, from);
  return some;
}

// What of `reads` a phase reads.
std::vector<FloatInputs::Int8Read> within(const std::vector<FloatInputs::Int8Read>& reads, const When& phase) {
  std::vector<FloatInputs::Int8Read> some;
  for (const auto& read : reads) {
    if (const auto when = both(phase, read.when)) some.push_back({read.rows, *when});
  }
  return some;
}

// The rest of `when`.
When after_few(const std::vector<Tiled<FloatMatmulFewConfig>>& few, const When& when) {
  When rest = when;
  if (!few.empty()) rest.min_tokens = few.back().when.max_tokens + 1;
  return rest;
}

// The side of float_matmul's tiles. Matrices of few rows, as those that choose experts, make few large ones.
uint32_t tile_side(uint32_t rows) { return rows <= 64 ? 16 : rows <= 256 ? 32 : 64; }

}  // namespace

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
  TRY(const auto bias, bias_view({&s.bias, 1}));
  auto recorded = linear(std::span(&s.w, 1), s.in, s.norm, {.slot = s.out, .bias = bias},
                         is_head ? r_.layouts().head : layers_.layout(*s.w));
  r_.for_any_best();
  return recorded;
}

Result<void> FloatRecorder::record(const step::FloatLinearAdd& s) {
  TRY(const auto bias, bias_view({&s.bias, 1}));
  return linear(std::span(&s.w, 1), s.in, {}, {s.x, 0, Store::kAdd, bias}, layers_.layout(*s.w));
}

Result<void> FloatRecorder::record(const step::FloatQkv& s) {
  const Tensor* const matrices[] = {s.wq, s.wk, s.wv};
  const Tensor* const biases[] = {s.q_bias, s.k_bias, s.v_bias};
  TRY(const auto bias, bias_view(biases));
  TRY_STATUS(linear(matrices, s.in, s.norm, {.slot = s.heads.qkv, .bias = bias}, r_.layouts().float_qkv));
  return s.leaves_heads ? Result<void>() : heads_.heads(s.heads, {});
}

Result<void> FloatRecorder::record(const step::FloatStack& s) {
  std::vector<const Tensor*> matrices;
  for (const auto& part : s.parts) matrices.push_back(part.w);
  return linear(matrices, s.in, s.norm, {s.out, static_cast<uint32_t>(s.first)}, r_.layouts().float_qkv);
}

// One vector for all, as they were uploaded.
Result<std::optional<View<wgsl::F32>>> FloatRecorder::bias_view(std::span<const Tensor* const> biases) {
  if (!biases.front()) return std::optional<View<wgsl::F32>>();
  TRY(const BufferView view, r_.weights().vectors(biases));
  return std::optional(View<wgsl::F32>{view});
}

Result<void> FloatRecorder::add_bias(uint32_t first, uint32_t count, const Out& out, const When& when) {
  if (!out.bias) return {};
  const AddBiasConfig config{r_.width(out.slot), out.first + first, count};
  const Extent extent{.grid = {.x = ceil_div(config.count, kElementwiseWorkgroup)},
                      .axis = Axis::kY,
                      .rows = r_.rows_of(out.slot),
                      .when = when};
  return r_.dispatch(r_.traced(gpu::add_bias, config), extent, *out.bias, r_.work().floats(out.slot));
}

Result<BufferView> FloatRecorder::range_of(const FloatMatrix::Part& part, const Out& out) {
  return r_.work().constant({out.first + part.first, part.count, 0, 0});
}

Result<void> FloatRecorder::linear(std::span<const Tensor* const> matrices, SlotId in,
                                   const step::FloatNormOnRead& norm, const Out& out, const MatvecLayout& layout) {
  TRY(const FloatMatrix* matrix, r_.weights().matrix(matrices));
  const Tensor& w = *matrices.front();
  const Rows rows = r_.rows_of(in);
  for (const auto& phase : layers_.phases(w, matrix->parts.front().coding, rows, layout)) {
    if (phase.name == FloatPhase::kTiles) {
      TRY_STATUS(linear_many(*matrix, w, in, norm, out, phase.when));
      TRY_STATUS(add_bias(0, matrix->parts.back().first + matrix->parts.back().count, out, phase.when));
      continue;
    }
    TRY(auto reads, inputs_.reads(in, norm, phase.when));
    if (rows == Rows::kLogits && out.store == Store::kSet && matrices.size() == 1) {
      TRY(const bool is_multiplied, logits_->in_tiles(*matrix, w, in, norm, out.slot));
      for (FloatRead& read : reads) {
        if (is_multiplied) read.when = before_head_tiles(read.when, r_.layouts(), w.format == Format::kF16);
      }
    }
    for (const FloatRead& read : reads) TRY_STATUS(linear_few(*matrix, w, read, out, layout));
  }
  return {};
}

Result<void> FloatRecorder::linear_few(const FloatMatrix& matrix, const Tensor& w, const FloatRead& read,
                                       const Out& out, const MatvecLayout& layout) {
  TRY(const auto gain, inputs_.gain_view(read));
  const Rows rows = r_.rows_of(out.slot);
  std::vector<FloatInputs::Int8Read> x8;  // for `made_for`
  std::pair<uint32_t, int> made_for;  // parts of another format read another order, or from another number of rows on
  for (const FloatMatrix::Part& part : matrix.parts) {
    TRY(const BufferView constant, range_of(part, out));
    FloatLinearConfig config = layers_.float_config(w, part.coding, read.norm, layout);
    const auto finish = [&](FloatLinearConfig& c) {
      c.rows = r_.width(out.slot);
      c.store = out.store;
    };
    finish(config);
    const View<WeightUnits> units{part.units};
    const View<wgsl::U32> scales{part.scales};
    const auto x = r_.work().float_quads(read.slot);
    const FloatLinearConfig several = layers_.in_columns(config, rows);
    const auto extent_for = [&](const FloatLinearConfig& c, const Phase<RowPhase>& phase) {
      return Extent{.grid = grid_of(ceil_div(part.count, c.rows_per_workgroup()), r_.limits().workgroups),
                    .axis = Axis::kZ,
                    .rows = rows,
                    .rows_per_workgroup = phase.at_once,
                    .when = phase.when};
    };
    const RowKernels kernels = row_kernels(w, part.coding, several.columns, rows);
    for (const auto& phase : row_phases(r_.layouts(), read.when, kernels)) {
      if (phase.name == RowPhase::kInt8) {
        const std::pair wanted(part.coding.values(), *kernels.int8_from);
        if (x8.empty() || made_for != wanted) {
          TRY(x8, inputs_.int8_reads(read, part.coding, int8_runs(read.when, wanted.second, rows), rows));
          made_for = wanted;
        }
        FloatLinearConfig int8 = layers_.int8_config(w, part.coding, phase.at_once, /*is_glu=*/false);
        finish(int8);
        int8.of_logits = rows == Rows::kLogits;
        for (const auto& in : within(x8, phase.when)) {
          Extent extent = extent_for(int8, phase);
          extent.when = in.when;
          TRY_STATUS(r_.dispatch(r_.traced(int8_linear, int8), extent, units, scales, in.rows.x, in.rows.runs,
                                 View<RowRange>{constant}, r_.params(), r_.work().floats(out.slot)));
          TRY_STATUS(add_bias(part.first, part.count, out, in.when));
        }
      } else if (phase.name == RowPhase::kColumns) {
        TRY_STATUS(r_.dispatch(r_.traced(float_linear_columns, several), extent_for(config, phase), units, scales, x,
                               gain, View<RowRange>{constant}, r_.params(), r_.work().floats(out.slot)));
        TRY_STATUS(add_bias(part.first, part.count, out, phase.when));
      } else if (out.bias) {
        TRY_STATUS(r_.dispatch(r_.traced(float_linear_bias, config), extent_for(config, phase), units, scales, x, gain,
                               *out.bias, View<RowRange>{constant}, r_.work().floats(out.slot)));
      } else {
        TRY_STATUS(r_.dispatch(r_.traced(float_linear, config), extent_for(config, phase), units, scales, x, gain,
                               View<RowRange>{constant}, r_.work().floats(out.slot)));
      }
    }
  }
  return {};
}

// Where a single row of int8 goes on to a product that takes it as int8, the kernel leaves it so.
Result<void> FloatRecorder::int8_glu_of(const step::FloatGlu& s, const FloatLinearConfig& config, const Extent& extent,
                                        const GluViews& w, const Int8Rows& x) {
  const View<wgsl::F32> y = r_.work().floats(s.out);
  constexpr uint32_t kBuffers = 10;  // that the kernel binds
  const bool can_leave = config.columns == 1 && config.rows % kRun == 0 && config.rows_per_workgroup() % kRun == 0 &&
                         r_.limits().storage_buffers >= kBuffers;
  std::optional<LeftInt8> left;
  const bool is_for_one_row = extent.when.max_rows == 1 && extent.when.moves_states == If::kAny;
  if (can_leave && is_for_one_row) {
    TRY(left, layers_.left_for_next(s.out, 1));
  }
  if (!left) {
    return r_.dispatch(r_.traced(int8_glu, config), extent, w.gate, w.gate_scales, w.up, w.up_scales, x.x, x.runs,
                       r_.params(), y);
  }
  r_.leave(*left);
  return r_.dispatch(r_.traced(int8_glu_leaving, config, left->coding), extent, w.gate, w.gate_scales, w.up,
                     w.up_scales, x.x, x.runs, r_.params(), y, left->rows.x, left->rows.runs);
}

RowKernels FloatRecorder::row_kernels(const Tensor& w, const WeightCoding& coding, uint32_t columns, Rows rows) const {
  return {.columns = columns,
          .slow_head = rows == Rows::kLogits && coding.bits() > 4,
          .int8_from = layers_.int8_from(w, coding)};
}

Result<void> FloatRecorder::linear_many(const FloatMatrix& matrix, const Tensor& w, SlotId in,
                                        const step::FloatNormOnRead& norm, const Out& out, const When& when) {
  std::optional<HalvedTokens> x;
  std::optional<SlotId> normed;
  for (const FloatMatrix::Part& part : matrix.parts) {
    TRY(const BufferView constant, range_of(part, out));
    TRY(const bool is_recorded, linear_on_matrices(part, w, in, norm, out, when, x));
    if (is_recorded) continue;
    if (!normed) {
      TRY(normed, inputs_.normed(in, norm, when));
    }
    const uint32_t side = tile_side(part.count);
    const FloatMatmulConfig config{.rows = r_.width(out.slot),
                                   .cols = static_cast<uint32_t>(w.cols),
                                   .coding = part.coding,
                                   .store = out.store,
                                   .tile_rows = side,
                                   .tile_tokens = side};
    TRY_STATUS(r_.dispatch(r_.traced(gpu::float_matmul, config), per_tile(config, part.count, when),
                           View<WeightUnits>{part.units}, View<wgsl::U32>{part.scales}, r_.work().float_quads(*normed),
                           View<RowRange>{constant}, r_.params(), r_.work().floats(out.slot)));
  }
  return {};
}

Result<bool> FloatRecorder::linear_on_matrices(const FloatMatrix::Part& part, const Tensor& w, SlotId in,
                                               const step::FloatNormOnRead& norm, const Out& out, const When& when,
                                               std::optional<HalvedTokens>& x) {
  if (!wgsl::kHasMatrixKernels) return false;
  auto few = layers_.few_tokens_configs(w, part.coding, 1, part.count, when);
  auto all_tiles = layers_.matrix_configs(w, part.coding, 1, part.count, after_few(few, when));
  if (few.empty() && all_tiles.empty()) return false;
  TRY(const BufferView constant, range_of(part, out));
  if (!x) {
    TRY(x, inputs_.halve_tokens(in, norm, when, Rows::kTokens));
  }
  for (auto& [tiles, when_used] : few) {
    tiles.rows = r_.width(out.slot);
    tiles.store = out.store;
    TRY_STATUS(r_.dispatch(r_.traced(float_matmul_few, tiles), per_tile(tiles, part.count, when_used),
                           View<WeightUnits>{part.units}, View<wgsl::U32>{part.scales}, View<wgsl::F16>{x->x.view},
                           x->scales, View<RowRange>{constant}, r_.params(), r_.work().floats(out.slot)));
  }
  for (auto& [tiles, when_used] : all_tiles) {
    tiles.rows = r_.width(out.slot);
    tiles.store = out.store;
    TRY_STATUS(r_.dispatch(r_.traced(float_matmul_matrix, tiles), per_tile(tiles, part.count, when_used),
                           View<WeightUnits>{part.units}, View<wgsl::U32>{part.scales}, x->x, x->scales,
                           View<RowRange>{constant}, r_.params(), r_.work().floats(out.slot)));
  }
  return true;
}

Result<void> FloatRecorder::record(const step::FloatGlu& s) {
  TRY(const auto parts, r_.weights().glu(*s.w_gate, *s.w_up));
  const MatvecLayout& layout = r_.layouts().float_glu;
  for (const auto& phase : layers_.phases(*s.w_gate, parts.gate->coding, Rows::kTokens, layout)) {
    if (phase.name == FloatPhase::kTiles) {
      TRY_STATUS(glu_many(s, parts, phase.when));
      continue;
    }
    TRY(const auto reads, inputs_.reads(s.in, s.norm, phase.when));
    for (const FloatRead& read : reads) TRY_STATUS(glu_few(s, parts, read));
  }
  return {};
}

Result<void> FloatRecorder::glu_few(const step::FloatGlu& s, const WeightStore::Glu& parts, const FloatRead& read) {
  FloatLinearConfig config = layers_.float_config(*s.w_gate, parts.gate->coding, read.norm, r_.layouts().float_glu);
  const auto finish = [&](FloatLinearConfig& c) {
    c.up_coding = parts.up->coding;
    c.act = activation(s.act);
  };
  finish(config);
  TRY(const auto gain, inputs_.gain_view(read));
  const View<WeightUnits> gate{parts.gate->units}, up{parts.up->units};
  const View<wgsl::U32> gate_scales{parts.gate->scales}, up_scales{parts.up->scales};
  const auto x = r_.work().float_quads(read.slot);
  const FloatLinearConfig several = layers_.in_columns(config, Rows::kTokens);
  const auto extent_for = [&](const FloatLinearConfig& c, const Phase<RowPhase>& phase) {
    return Extent{.grid = grid_of(ceil_div(c.rows, c.rows_per_workgroup()), r_.limits().workgroups),
                  .axis = Axis::kZ,
                  .rows_per_workgroup = phase.at_once,
                  .when = phase.when};
  };
  std::vector<FloatInputs::Int8Read> x8;
  const RowKernels kernels = row_kernels(*s.w_gate, parts.gate->coding, several.columns, Rows::kTokens);
  for (const auto& phase : row_phases(r_.layouts(), read.when, kernels)) {
    if (phase.name == RowPhase::kInt8) {
      if (x8.empty()) {
        const When when = int8_runs(read.when, *kernels.int8_from, Rows::kTokens);
        TRY(x8, inputs_.int8_reads(read, parts.gate->coding, when, Rows::kTokens));
      }
      FloatLinearConfig int8 = layers_.int8_config(*s.w_gate, parts.gate->coding, phase.at_once, /*is_glu=*/true);
      finish(int8);
      for (const auto& in : within(x8, phase.when)) {
        Extent extent = extent_for(int8, phase);
        extent.when = in.when;
        TRY_STATUS(int8_glu_of(s, int8, extent, {gate, gate_scales, up, up_scales}, in.rows));
      }
    } else if (phase.name == RowPhase::kColumns) {
      TRY_STATUS(r_.dispatch(r_.traced(float_glu_columns, several), extent_for(config, phase), gate, gate_scales, up,
                             up_scales, x, gain, r_.params(), r_.work().floats(s.out)));
    } else {
      TRY_STATUS(r_.dispatch(r_.traced(float_glu, config), extent_for(config, phase), gate, gate_scales, up, up_scales,
                             x, gain, r_.work().floats(s.out)));
    }
  }
  return {};
}

Result<bool> FloatRecorder::glu_on_matrices(const step::FloatGlu& s, const WeightStore::Glu& parts, const When& when) {
  if (!wgsl::kHasMatrixKernels) return false;
  const auto rows = static_cast<uint32_t>(s.w_gate->rows);
  std::vector<Tiled<FloatMatmulFewConfig>> few;
  if (parts.up->coding == parts.gate->coding)
    few = layers_.few_tokens_configs(*s.w_gate, parts.gate->coding, 2, rows, when);
  auto all_tiles = layers_.matrix_configs(*s.w_gate, parts.gate->coding, 2, rows, after_few(few, when));
  if (few.empty() && all_tiles.empty()) return false;
  TRY(const HalvedTokens x, inputs_.halve_tokens(s.in, s.norm, when, Rows::kTokens));
  for (auto& [tiles, when_used] : few) {
    tiles.act = activation(s.act);
    TRY_STATUS(r_.dispatch(r_.traced(float_glu_matmul_few, tiles), per_tile(tiles, tiles.rows, when_used),
                           View<WeightUnits>{parts.gate->units}, View<wgsl::U32>{parts.gate->scales},
                           View<WeightUnits>{parts.up->units}, View<wgsl::U32>{parts.up->scales},
                           View<wgsl::F16>{x.x.view}, x.scales, r_.params(), r_.work().floats(s.out)));
  }
  for (auto& [tiles, when_used] : all_tiles) {
    tiles.up_coding = parts.up->coding;
    tiles.act = activation(s.act);
    TRY_STATUS(r_.dispatch(r_.traced(float_glu_matmul_matrix, tiles), per_tile(tiles, tiles.rows, when_used),
                           View<WeightUnits>{parts.gate->units}, View<wgsl::U32>{parts.gate->scales},
                           View<WeightUnits>{parts.up->units}, View<wgsl::U32>{parts.up->scales}, x.x, x.scales,
                           r_.params(), r_.work().floats(s.out)));
  }
  return true;
}

Result<void> FloatRecorder::glu_many(const step::FloatGlu& s, const WeightStore::Glu& parts, const When& when) {
  TRY(const bool is_recorded, glu_on_matrices(s, parts, when));
  if (is_recorded) return {};
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
