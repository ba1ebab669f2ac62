// Batches of ternary layers on devices with int8 matrices.
#pragma once

#include <optional>
#include <vector>

#include "backend/gpu/kernels/ternary/ternary_batch.h"
#include "backend/gpu/record/steps/batch_recorder.h"

namespace tern::gpu {

class NativeBatchRecorder final : public BatchRecorder {
 public:
  NativeBatchRecorder(Recording& recording, const TernaryLayers& layers) : r_(recording), layers_(layers) {}

  bool has(const step::TernaryLinearAdd& s, int most_few) const override { return has_all(s, most_few); }
  bool has(const step::TernaryGlu& s, int most_few) const override { return has_all(s, most_few); }
  bool has(const step::TernaryQkv& s, int most_few) const override { return has_all(s, most_few); }
  Result<void> record(const step::TernaryLinearAdd& s, const TernaryConfig& one, const NormViews& norm,
                      const NextViews& next, const TernaryPhases& phases) override;
  Result<void> record(const step::TernaryGlu& s, const TernaryConfig& one, const NormViews& norm, const NextViews& next,
                      const TernaryPhases& phases) override;
  Result<void> record(const step::TernaryQkv& s, const TernaryConfig& one, const NormViews& norm,
                      const TernaryPhases& phases) override;

 private:
  // A kernel's layout, and the runs it is for.
  struct InBatches {
    TernaryBatchConfig config;
    Extent extent;
  };
  // The layouts of a layer's kernels; none if the device has no suitable matrices for one of the phases.
  std::vector<InBatches> batches_of(const step::TernaryLinearAdd& s, const TernaryPhases& phases) const;
  std::vector<InBatches> batches_of(const step::TernaryGlu& s, const TernaryPhases& phases) const;
  std::vector<InBatches> batches_of(const step::TernaryQkv& s, const TernaryPhases& phases) const;
  bool has_all(const auto& s, int most_few) const {
    return !batches_of(s, batch_phases(r_.layouts(), most_few)).empty();
  }
  // `side_rows`: rows of weights for each side of a workgroup; 0: any.
  std::optional<TernaryBatchConfig> batch_config(const Tensor& w, uint32_t side_rows, uint32_t subgroups,
                                                 uint32_t tokens) const;
  std::vector<InBatches> batches(const Tensor& w, uint32_t side_rows, uint32_t subgroups, uint32_t rows_of_workgroup,
                                 const TernaryPhases& phases) const;
  // The int8 rows of several tokens; records the kernel that writes them for the batches.
  Result<View<QuantizedWords>> stored_rows(SlotId quantized, const NormViews& norm, const TernaryConfig& one,
                                           const TernaryPhases& phases);

  Recording& r_;
  const TernaryLayers& layers_;
};

}  // namespace tern::gpu
