// The megakernel that computes all layers of a token in one dispatch (kernels/megakernel/layers_shape.h): its resources
// beyond those of the steps, and its state.
#pragma once

#include <memory>
#include <optional>

#include "backend/gpu/memory/gpu_kv_store.h"
#include "backend/gpu/memory/weights/weight_store.h"
#include "backend/gpu/record/kernel_library.h"
#include "backend/gpu/record/megakernel/layers.h"

namespace tern::gpu {

class Megakernel {
 public:
  // Call after the weights have been uploaded, with the layers' matrices together.
  static Result<std::unique_ptr<Megakernel>> create(Device& device, KernelLibrary& kernels, WeightStore& weights,
                                                    MegakernelLayers layers);
  // The megakernel's pipeline, which needs no weights.
  static Result<const Pipeline*> pipeline(KernelLibrary& kernels, const MegakernelLayers& layers);
  // A megakernel for the same layers, for one token each of `fewest` to `most` sequences. kNotSupported, with the
  // reason.
  Result<std::unique_ptr<Megakernel>> for_rows(int fewest, int most) const;

  int first_step() const { return layers_.first_step; }
  int end_step() const { return layers_.end_step; }
  const LayersShape& shape() const { return layers_.shape(); }
  SlotId x() const { return layers_.layers.front().x; }
  int rope() const { return layers_.layers.front().rope; }

  // x: the slot's rows. `store` must keep its layers together, with f16 keys and values. `when`: the runs it is for.
  Result<RecordedDispatch> record(const BufferView& x, const BufferView& angles, const BufferView& params,
                                  const GpuKvStore& store, const When& when) const;

  // Resets the words to their state before the first run. Required before a run whose number of workgroups or rows
  // differs from the last run's, or whose history is long when the last run's was short (LayersShape): words of parts
  // that the last token did not write may have any tag. `limit` limits how often a wait reads a word. kForTrials is
  // enough to see whether workgroups run at the same time, without waiting long if they do not.
  enum class SpinLimit { kDefault, kForTrials };
  Result<void> reset(SpinLimit limit);
  // Call before a run with this many workgroups and rows and a longest history of n_pos: resets if needed.
  Result<void> ready(uint32_t workgroups, int n_rows, int n_pos);

  // The number of invocations whose wait failed since reset(), then what was copied to token_slot(): one word per row.
  BufferView outcome(size_t n_rows = 1) const { return {words_.get(), 4 * LayersShape::kFailed, 4 + 4 * n_rows}; }
  static bool has_failed(Bytes outcome);
  BufferView token_slot(size_t n_rows = 1) const { return {words_.get(), 4 * LayersShape::kToken, 4 * n_rows}; }

  // The numbers of rows (tokens of different sequences) that it can compute.
  int fewest_rows() const { return fewest_rows_; }
  int most_rows() const { return static_cast<int>(shape().tokens); }

  // The workgroups to use for this many rows; 0: use the steps.
  uint32_t workgroups(int n_rows) const { return n_rows >= used_from_ ? workgroups_ : 0; }
  void use(uint32_t workgroups, int from_rows) { workgroups_ = workgroups, used_from_ = from_rows; }
  void leave() { workgroups_ = 0; }
  bool is_used() const { return workgroups_ > 0; }

 private:
  Megakernel(Device& device, KernelLibrary& kernels, MegakernelLayers layers)
      : device_(device), kernels_(kernels), layers_(std::move(layers)) {}
  Result<void> make_words();
  Result<void> put_vectors();
  Result<void> check_places(WeightStore& weights) const;
  Result<void> check_places(const TernaryLayersConfig& c, WeightStore& weights) const;
  Result<void> check_places(const FloatLayersConfig& c, WeightStore& weights) const;

  Device& device_;
  KernelLibrary& kernels_;
  MegakernelLayers layers_;
  const Buffer *matrices_ = nullptr, *scales_ = nullptr;
  std::shared_ptr<Buffer> vectors_;
  std::unique_ptr<Buffer> words_;
  uint32_t workgroups_ = 0;
  int fewest_rows_ = 1, used_from_ = 1;
  struct Run {
    uint32_t workgroups;
    int n_rows;
    bool is_short;
  };
  std::optional<Run> last_;  // since reset()
};

}  // namespace tern::gpu
