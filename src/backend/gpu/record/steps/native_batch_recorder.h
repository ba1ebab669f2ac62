// Batches of ternary layers on devices with int8 matrices.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "backend/gpu/kernels/ternary/ternary_batch.h"
#include "backend/gpu/record/steps/batch_recorder.h"

namespace tern::gpu {

class NativeBatchRecorder final : public BatchRecorder {
 public:
  NativeBatchRecorder(Recording& recording, const TernaryLayers& layers) : r_(recording), layers_(layers) {}

  bool has(const step::TernaryLinearAdd& s) const override { return !batches_of(s).empty(); }
  bool has(const step::TernaryGlu& s) const override { return !batches_of(s).empty(); }
  bool has(const step::TernaryQkv& s) const override { return !batches_of(s).empty(); }
  Result<int> record(const step::TernaryLinearAdd& s, const TernaryConfig& one, const NormViews& norm,
                     const NextViews& next) override;
  Result<int> record(const step::TernaryGlu& s, const TernaryConfig& one, const NormViews& norm,
                     const NextViews& next) override;
  Result<int> record(const step::TernaryQkv& s, const TernaryConfig& one, const NormViews& norm) override;

 private:
  // A kernel's layout, and the runs it is for.
  struct InBatches {
    TernaryBatchConfig config;
    Extent extent;
  };
  // `side_rows`: rows of weights for each side of a workgroup; 0: any.
  std::optional<TernaryBatchConfig> batch_config(const Tensor& w, uint32_t side_rows, uint32_t subgroups,
                                                 uint32_t tokens) const;
  std::vector<InBatches> batches(const Tensor& w, uint32_t side_rows, uint32_t subgroups,
                                 uint32_t rows_of_workgroup) const;
  std::vector<InBatches> batches_of(const step::TernaryLinearAdd& s) const;
  std::vector<InBatches> batches_of(const step::TernaryGlu& s) const;
  std::vector<InBatches> batches_of(const step::TernaryQkv& s) const;
  static int last_before(std::span<const InBatches> batches);
  // The int8 rows of several tokens; records the kernel that writes them for `batches`.
  Result<View<QuantizedWords>> stored_rows(SlotId quantized, const NormViews& norm, const TernaryConfig& one,
                                           std::span<const InBatches> batches);

  Recording& r_;
  const TernaryLayers& layers_;
};

}  // namespace tern::gpu
