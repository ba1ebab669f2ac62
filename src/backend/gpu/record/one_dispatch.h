// All layers of a token as one dispatch (kernels/layers_shape.h): what it needs beside what the steps need, and what is
// known of how it does.
#pragma once

#include <memory>
#include <optional>

#include "backend/gpu/memory/gpu_kv_store.h"
#include "backend/gpu/record/kernel_library.h"
#include "backend/gpu/record/layers_in_one.h"
#include "backend/gpu/weights/weight_store.h"

namespace tern::gpu {

class OneDispatch {
 public:
  // After the weights have been uploaded, the layers' matrices together.
  static Result<std::unique_ptr<OneDispatch>> create(Device& device, KernelLibrary& kernels, WeightStore& weights,
                                                     LayersInOne layers);
  // Its pipeline, which needs no weights.
  static Result<const Pipeline*> pipeline(KernelLibrary& kernels, const LayersInOne& layers);
  // Of the same layers, for a token of each of `fewest` to `most` sequences. kNotSupported, saying why.
  Result<std::unique_ptr<OneDispatch>> for_rows(int fewest, int most) const;

  int first_step() const { return layers_.first_step; }
  int end_step() const { return layers_.end_step; }
  const LayersShape& shape() const { return layers_.shape(); }
  SlotId x() const { return layers_.layers.front().x; }
  int rope() const { return layers_.layers.front().rope; }

  // x: the slot's rows. For stores whose layers are together, of keys and values as f16. `when`: for which runs.
  Result<RecordedDispatch> record(const BufferView& x, const BufferView& angles, const BufferView& params,
                                  const GpuKvStore& store, const When& when) const;

  // As if it had never run. Before each run with another number of workgroups, or rows, than the last, or with a
  // history that is not short after one that was (LayersShape): the words of parts that nobody wrote in the last token
  // may have any tag. Every wait looks at a word at most so often. kForTrials: enough to see whether workgroups run at
  // the same time, without waiting long where they do not.
  enum class Patience { kUsual, kForTrials };
  Result<void> reset(Patience patience);
  // Before a run with so many workgroups and rows, of the longest history n_pos: resets it where that is needed.
  Result<void> ready(uint32_t workgroups, int n_rows, int n_pos);

  // How many invocations have waited in vain since reset(), then what was copied to token_slot(), for each row a word.
  BufferView outcome(size_t n_rows = 1) const { return {words_.get(), 4 * LayersShape::kFailed, 4 + 4 * n_rows}; }
  static bool has_failed(Bytes outcome);
  BufferView token_slot(size_t n_rows = 1) const { return {words_.get(), 4 * LayersShape::kToken, 4 * n_rows}; }

  int fewest_rows() const { return fewest_rows_; }
  int most_rows() const { return static_cast<int>(shape().tokens); }

  // With how many workgroups it is used for so many rows; 0: it is not.
  uint32_t workgroups(int n_rows) const { return n_rows >= used_from_ ? workgroups_ : 0; }
  void use(uint32_t workgroups, int from_rows) { workgroups_ = workgroups, used_from_ = from_rows; }
  void leave() { workgroups_ = 0; }
  bool is_used() const { return workgroups_ > 0; }

 private:
  OneDispatch(Device& device, KernelLibrary& kernels, LayersInOne layers)
      : device_(device), kernels_(kernels), layers_(std::move(layers)) {}
  Result<void> make_words();
  Result<void> put_vectors();
  Result<void> check_places(WeightStore& weights) const;
  Result<void> check_places(const TernaryLayersConfig& c, WeightStore& weights) const;
  Result<void> check_places(const FloatLayersConfig& c, WeightStore& weights) const;

  Device& device_;
  KernelLibrary& kernels_;
  LayersInOne layers_;
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
