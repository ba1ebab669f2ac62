#include "backend/gpu/record/steps/native_batch_recorder.h"

#include "backend/gpu/record/kv_word.h"
#include "base/bytes.h"

namespace tern::gpu {

std::optional<TernaryBatchConfig> NativeBatchRecorder::batch_config(const Tensor& w, uint32_t side_rows,
                                                                    uint32_t subgroups, uint32_t tokens) const {
  const Features& f = r_.context().device.features();
  const Limits& limits = r_.limits();
  if (!f.subgroups || f.subgroup_min != f.subgroup_max || r_.layouts().serial) return std::nullopt;
  if (r_.context().device.adapter().type == AdapterType::kSoftware && !r_.layouts().software_matrices)
    return std::nullopt;
  for (const wgsl::MatrixShape& shape : f.matrices) {
    if (side_rows != 0 && shape.n != side_rows) continue;
    TernaryBatchConfig config{.cols = static_cast<uint32_t>(w.cols),
                              .caps = r_.caps(),
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

std::vector<NativeBatchRecorder::InBatches> NativeBatchRecorder::batches(const Tensor& w, uint32_t side_rows,
                                                                         uint32_t subgroups, uint32_t rows_of_workgroup,
                                                                         const TernaryPhases& phases) const {
  const auto few = batch_config(w, side_rows, subgroups, kMostBatchTokens / 2);
  const auto many = batch_config(w, side_rows, subgroups, kMostBatchTokens);
  if (!few || !many) return {};
  std::vector<InBatches> all;
  for (const auto& [name, when, tokens, index] : phases) {
    if (name != TernaryPhase::kBatch) continue;
    all.push_back({tokens == kMostBatchTokens ? *many : *few,
                   {.grid = {.x = ceil_div(static_cast<uint32_t>(w.rows), rows_of_workgroup)},
                    .axis = Axis::kY,
                    .rows_per_workgroup = tokens,
                    .when = when}});
  }
  return all;
}

std::vector<NativeBatchRecorder::InBatches> NativeBatchRecorder::batches_of(const step::TernaryLinearAdd& s,
                                                                            const TernaryPhases& phases) const {
  const uint32_t rows = layers_.linear_config(*s.w, Store::kAdd).rows_per_workgroup();
  return batches(*s.w, rows / 2, r_.layouts().batch_subgroups, rows, phases);
}

std::vector<NativeBatchRecorder::InBatches> NativeBatchRecorder::batches_of(const step::TernaryGlu& s,
                                                                            const TernaryPhases& phases) const {
  const uint32_t rows = layers_.glu_config(s).rows_per_workgroup();
  auto found = batches(*s.w_gate, rows, r_.layouts().batch_glu_subgroups, rows, phases);
  for (InBatches& batch : found) batch.config.act = activation(s.act);
  return found;
}

std::vector<NativeBatchRecorder::InBatches> NativeBatchRecorder::batches_of(const step::TernaryQkv& s,
                                                                            const TernaryPhases& phases) const {
  auto found = batches(*s.wq, 0, r_.layouts().batch_subgroups, 1, phases);
  for (InBatches& batch : found) {
    if (!fits_batch_qkv(batch.config, head_shape(s), r_.store().type() == KvType::kQ8_0)) return {};
    const uint32_t heads = static_cast<uint32_t>(s.n_heads + 2 * s.n_kv_heads);
    batch.extent.grid.x = heads * (static_cast<uint32_t>(s.head_dim) / 2 / batch.config.side_rows());
  }
  return found;
}

Result<View<QuantizedWords>> NativeBatchRecorder::stored_rows(SlotId quantized, const NormViews& norm,
                                                              const TernaryConfig& one, const TernaryPhases& phases) {
  TRY_STATUS(r_.dispatch(r_.traced(normed_quantize, one, norm.config), {.axis = Axis::kY, .when = all_batches(phases)},
                         norm.x, norm.gain, norm.parts, r_.work().int8_quads(quantized)));
  return r_.work().int8_quads(quantized);
}

Result<void> NativeBatchRecorder::record(const step::TernaryLinearAdd& s, const TernaryConfig& one,
                                         const NormViews& norm, const NextViews& next, const TernaryPhases& phases) {
  const auto batches = batches_of(s, phases);
  if (batches.empty()) return {};
  TRY(const auto rows, stored_rows(s.norm.quantized, norm, one, phases));
  TRY(const auto views, layers_.linear_views(*s.w));
  for (const InBatches& batch : batches) {
    TRY_STATUS(r_.dispatch(r_.traced(batch_matvec_add, batch.config, one.rows), batch.extent, views.w, rows,
                           views.scale, r_.params(), r_.work().floats(s.x), next.gain, next.parts));
  }
  return {};
}

Result<void> NativeBatchRecorder::record(const step::TernaryGlu& s, const TernaryConfig& one, const NormViews& norm,
                                         const NextViews& next, const TernaryPhases& phases) {
  const auto batches = batches_of(s, phases);
  if (batches.empty()) return {};
  TRY(const auto rows, stored_rows(s.norm.quantized, norm, one, phases));
  TRY(const auto views, layers_.glu_views(s));
  for (const InBatches& batch : batches) {
    TRY_STATUS(r_.dispatch(r_.traced(batch_glu, batch.config, one.rows), batch.extent, views.gate, views.up, rows,
                           views.scale, r_.params(), r_.work().floats(s.out), next.gain, next.parts));
  }
  return {};
}

Result<void> NativeBatchRecorder::record(const step::TernaryQkv& s, const TernaryConfig& one, const NormViews& norm,
                                         const TernaryPhases& phases) {
  const auto batches = batches_of(s, phases);
  if (batches.empty()) return {};
  TRY(const auto rows, stored_rows(s.norm.quantized, norm, one, phases));
  TRY(const auto views, layers_.qkv_views(s));
  const auto record_as = [&]<class KvWord>() -> Result<void> {
    for (const InBatches& batch : batches) {
      TRY_STATUS(
          r_.dispatch(r_.traced(batch_qkv<KvWord>, batch.config, head_shape(s), s.pairs == RopePairs::kInterleaved),
                      batch.extent, views.w, rows, views.scale, views.angles, r_.params(), r_.work().floats(s.q),
                      View<KvWord>{r_.store().layer(s.layer)}));
    }
    return {};
  };
  TRY_STATUS(with_kv_word(r_.store().type(), record_as));
  return {};
}

}  // namespace tern::gpu
