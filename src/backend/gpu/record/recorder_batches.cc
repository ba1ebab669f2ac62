// Several rows on subgroup matrices: the ternary layers of a batch, and the head. The web build has its own version
// (web/).
#include "backend/gpu/kernels/head/logits_matrix.h"
#include "backend/gpu/kernels/ternary/ternary_batch.h"
#include "backend/gpu/record/kv_word.h"
#include "backend/gpu/record/recorder.h"
#include "base/bytes.h"

namespace tern::gpu {

std::optional<TernaryBatchConfig> Recorder::batch_config(const Tensor& w, uint32_t side_rows, uint32_t subgroups,
                                                         uint32_t tokens) const {
  const Features& f = c_.device.features();
  const Limits& limits = c_.device.limits();
  if (!f.subgroups || f.subgroup_min != f.subgroup_max || c_.layouts.serial) return std::nullopt;
  if (c_.device.adapter().type == AdapterType::kSoftware && !c_.layouts.software_matrices) return std::nullopt;
  for (const wgsl::MatrixShape& shape : f.matrices) {
    if (side_rows != 0 && shape.n != side_rows) continue;
    TernaryBatchConfig config{.cols = static_cast<uint32_t>(w.cols),
                              .caps = caps_,
                              .shape = shape,
                              .subgroup = f.subgroup_min,
                              .subgroups = subgroups,
                              .tokens = tokens};
    const auto has_room = [&] {
      return config.workgroup() <= limits.invocations && config.workgroup_bytes() <= limits.workgroup_bytes;
    };
    while (config.subgroups > 1 && !has_room()) config.subgroups /= 2;
    if (has_room() && has_ternary_batch(config)) return config;
  }
  return std::nullopt;
}

std::vector<Recorder::InBatches> Recorder::batches(const Tensor& w, uint32_t side_rows, uint32_t subgroups,
                                                   uint32_t rows_of_workgroup) const {
  const auto few = batch_config(w, side_rows, subgroups, kMostBatchTokens / 2);
  const auto many = batch_config(w, side_rows, subgroups, kMostBatchTokens);
  if (!few || !many) return {};
  const int most = std::min(c_.layouts.most_in_batches, most_few_);
  const int from = std::max(2, c_.layouts.batches_from), half = kMostBatchTokens / 2;
  std::vector<InBatches> all;
  const auto add = [&](const TernaryBatchConfig& config, int first, int last) {
    if (first > last) return;
    all.push_back({config,
                   {.grid = {.x = ceil_div(static_cast<uint32_t>(w.rows), rows_of_workgroup)},
                    .axis = Axis::kY,
                    .rows_per_workgroup = config.tokens,
                    .when = {.min_tokens = first, .max_tokens = last}}});
  };
  add(*few, from, std::min(half, most));
  add(*many, std::max(from, half + 1), most);
  return all;
}

std::vector<Recorder::InBatches> Recorder::batches_of(const step::TernaryLinearAdd& s) const {
  const uint32_t rows = linear_config(*s.w, Store::kAdd).rows_per_workgroup();
  return batches(*s.w, rows / 2, c_.layouts.batch_subgroups, rows);
}

std::vector<Recorder::InBatches> Recorder::batches_of(const step::TernaryGlu& s) const {
  const uint32_t rows = ternary_config(*s.w_gate, c_.layouts.glu).rows_per_workgroup();
  auto found = batches(*s.w_gate, rows, c_.layouts.batch_glu_subgroups, rows);
  for (InBatches& batch : found) batch.config.act = activation(s.act);
  return found;
}

std::vector<Recorder::InBatches> Recorder::batches_of(const step::TernaryQkv& s) const {
  auto found = batches(*s.wq, 0, c_.layouts.batch_subgroups, 1);
  for (InBatches& batch : found) {
    if (!fits_batch_qkv(batch.config, head_shape(s), store_.type() == KvType::kQ8_0)) return {};
    const uint32_t heads = static_cast<uint32_t>(s.n_heads + 2 * s.n_kv_heads);
    batch.extent.grid.x = heads * (static_cast<uint32_t>(s.head_dim) / 2 / batch.config.side_rows());
  }
  return found;
}

Result<View<QuantizedWords>> Recorder::stored_rows(SlotId quantized, const NormViews& norm, const TernaryConfig& one,
                                                   std::span<const InBatches> batches) {
  if (!batches.empty()) {
    const When when{.min_tokens = batches.front().extent.when.min_tokens,
                    .max_tokens = batches.back().extent.when.max_tokens};
    TRY_STATUS(dispatch(traced(normed_quantize, one, norm.config), {.axis = Axis::kY, .when = when}, norm.x, norm.gain,
                        norm.parts, c_.work.int8_quads(quantized)));
  }
  return c_.work.int8_quads(quantized);
}

bool Recorder::has_batches(const step::TernaryLinearAdd& s) const { return !batches_of(s).empty(); }
bool Recorder::has_batches(const step::TernaryGlu& s) const { return !batches_of(s).empty(); }
bool Recorder::has_batches(const step::TernaryQkv& s) const { return !batches_of(s).empty(); }

int Recorder::last_before(std::span<const InBatches> batches) const {
  return batches.empty() ? most_few_ : batches.front().extent.when.min_tokens - 1;
}

Result<int> Recorder::in_batches(const step::TernaryLinearAdd& s, const TernaryConfig& one, const NormViews& norm,
                                 const NextViews& next) {
  const auto batches = batches_of(s);
  TRY(const auto rows, stored_rows(s.norm.quantized, norm, one, batches));
  TRY(const auto views, linear_views(*s.w));
  for (const InBatches& batch : batches) {
    TRY_STATUS(dispatch(traced(batch_matvec_add, batch.config, one.rows), batch.extent, views.w, rows, views.scale,
                        params(), c_.work.floats(s.x), next.gain, next.parts));
  }
  return last_before(batches);
}

Result<int> Recorder::in_batches(const step::TernaryGlu& s, const TernaryConfig& one, const NormViews& norm,
                                 const NextViews& next) {
  const auto batches = batches_of(s);
  TRY(const auto rows, stored_rows(s.norm.quantized, norm, one, batches));
  TRY(const auto views, glu_views(s));
  for (const InBatches& batch : batches) {
    TRY_STATUS(dispatch(traced(batch_glu, batch.config, one.rows), batch.extent, views.gate, views.up, rows,
                        views.scale, params(), c_.work.floats(s.out), next.gain, next.parts));
  }
  return last_before(batches);
}

Result<int> Recorder::in_batches(const step::TernaryQkv& s, const TernaryConfig& one, const NormViews& norm) {
  const auto batches = batches_of(s);
  TRY(const auto rows, stored_rows(s.norm.quantized, norm, one, batches));
  TRY(const auto views, qkv_views(s));
  const auto record_as = [&]<class KvWord>() -> Result<void> {
    for (const InBatches& batch : batches) {
      TRY_STATUS(dispatch(traced(batch_qkv<KvWord>, batch.config, head_shape(s), s.pairs == RopePairs::kInterleaved),
                          batch.extent, views.w, rows, views.scale, views.angles, params(), c_.work.floats(s.q),
                          View<KvWord>{store_.layer(s.layer)}));
    }
    return {};
  };
  TRY_STATUS(with_kv_word(store_.type(), record_as));
  return last_before(batches);
}

Result<bool> Recorder::head_matmul(const FloatMatrix& matrix, const Tensor& w, SlotId in,
                                   const step::FloatNormOnRead& norm, SlotId out) {
  if (c_.layouts.serial || c_.max_batch < head_products_from(w)) return false;
  return w.format == Format::kF16 ? f16_head_matmul(matrix, w, in, norm, out)
                                  : packed_head_matmul(matrix, w, in, norm, out);
}

// One f16 part of the activations is more precise than the codes of packed weights; an F16 head needs the part of the
// rounding errors too.
Result<bool> Recorder::packed_head_matmul(const FloatMatrix& matrix, const Tensor& w, SlotId in,
                                          const step::FloatNormOnRead& norm, SlotId out) {
  const auto tiles_of = [&](const WeightCoding& coding) {
    return few_tokens_configs(w, coding, 1, c_.layouts.head_tiles, head_products_from(w), INT_MAX);
  };
  for (const FloatMatrix::Part& part : matrix.parts) {
    if (!part.coding.has_codes() || tiles_of(part.coding).empty()) return false;
  }
  const When when{.min_tokens = 2, .min_rows = head_products_from(w)};
  TRY(const HalvedTokens x, halve_tokens(in, norm, when, Rows::kLogits));
  for (const FloatMatrix::Part& part : matrix.parts) {
    TRY(const BufferView constant, c_.work.constant({part.first, part.count, 0, 0}));
    for (auto& [tiles, fewest, most] : tiles_of(part.coding)) {
      tiles.rows = width(out);
      tiles.of_logits = true;
      const When some{.min_tokens = 2, .min_rows = fewest, .max_rows = most};
      TRY_STATUS(dispatch(traced(float_matmul_matrix, tiles), per_tile(tiles, part.count, some, Rows::kLogits),
                          View<WeightUnits>{part.units}, View<wgsl::U32>{part.scales}, x.x, x.scales,
                          View<RowRange>{constant}, params(), c_.work.floats(out)));
    }
  }
  return true;
}

Result<bool> Recorder::f16_head_matmul(const FloatMatrix& matrix, const Tensor& w, SlotId in,
                                       const step::FloatNormOnRead& norm, SlotId out) {
  const auto tiles = float_matrix_config(w, matrix.parts.front().coding, 1, {});
  if (!tiles) return false;
  LogitsMatrixConfig config{.rows = width(out),
                            .cols = static_cast<uint32_t>(w.cols),
                            .shape = tiles->shape,
                            .subgroup = tiles->subgroup,
                            .rest_at = c_.work.halved_logit_rows()};
  const uint32_t most_bytes = c_.device.limits().workgroup_bytes;
  while (config.workgroup_bytes() > most_bytes && config.subgroups > 1) config.subgroups /= 2;
  if (config.workgroup_bytes() > most_bytes) return false;
  for (const FloatMatrix::Part& part : matrix.parts) {
    if (part.count < config.rows_of_subgroup()) return false;
  }
  const When when{.min_tokens = 2, .min_rows = head_products_from(w)};
  TRY(const HalvedTokens x, halve_tokens(in, norm, when, Rows::kLogits, config.rest_at));
  for (const FloatMatrix::Part& part : matrix.parts) {
    TRY(const BufferView constant, c_.work.constant({part.first, part.count, 0, 0}));
    for (const uint32_t tokens : {16u, 32u}) {
      config.tokens = tokens;
      Extent extent{.grid = {.x = ceil_div(part.count, config.tile_rows())},
                    .axis = Axis::kY,
                    .rows = Rows::kLogits,
                    .rows_per_workgroup = tokens,
                    .when = when};
      if (tokens == 16) extent.when.max_rows = 16;
      if (tokens == 32) extent.when.min_rows = std::max(when.min_rows, 17);
      TRY_STATUS(dispatch(traced(logits_matrix, config), extent, View<wgsl::Vec4<wgsl::F16>>{part.units}, x.x, x.scales,
                          View<RowRange>{constant}, params(), c_.work.floats(out)));
    }
  }
  return true;
}

}  // namespace tern::gpu
