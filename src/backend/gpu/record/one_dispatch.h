// All layers of a token as one dispatch (kernels/layers_shape.h): which plans and devices there is one for, what it
// needs beside what the steps need, and what is known of how it does.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backend/gpu/kernels/float_layers.h"
#include "backend/gpu/kernels/ternary_layers.h"
#include "backend/gpu/memory/gpu_kv_store.h"
#include "backend/gpu/record/kernel_library.h"
#include "backend/gpu/weights/weight_store.h"
#include "plan/plan.h"

namespace tern::gpu {

// The steps of a plan that one dispatch can compute, and the shape that they have in common.
struct LayersInOne {
  struct Layer {
    SlotId x;
    std::array<const Tensor*, 7> matrices;  // of queries, keys, values, output, gate, up, down
    std::vector<const Tensor*> gains;       // in the order in which the kernel has them
    HeadShape heads;
    int rope = 0;  // of Config::ropes
    RopePairs pairs = {};
    int window = 0;  // 0: all positions are seen
    GluAct act = {};
    float eps = 0;
    std::optional<float> head_eps = {};  // of the norms of queries' and keys' heads
    bool is_ternary = false;
  };
  std::vector<Layer> layers;
  int first_step = 0, end_step = 0;  // of the plan
  std::variant<TernaryLayersConfig, FloatLayersConfig> config;
  WeightStore::Together matrices;

  const LayersShape& shape() const {
    return std::visit([](const auto& c) -> const LayersShape& { return c; }, config);
  }
};
// kNotSupported, saying what the plan or the device has or lacks. int8_x: Layouts::int8_x.
Result<LayersInOne> layers_in_one(const Device& device, const Plan& plan, bool int8_x);

class OneDispatch {
 public:
  // After the weights have been uploaded, the layers' matrices together.
  static Result<std::unique_ptr<OneDispatch>> create(Device& device, KernelLibrary& kernels, WeightStore& weights,
                                                     LayersInOne layers);

  int first_step() const { return layers_.first_step; }
  int end_step() const { return layers_.end_step; }
  const LayersShape& shape() const { return layers_.shape(); }
  SlotId x() const { return layers_.layers.front().x; }
  int rope() const { return layers_.layers.front().rope; }

  // x: the slot's row. For stores whose layers are together, of keys and values as f16.
  Result<RecordedDispatch> record(const BufferView& x, const BufferView& angles, const BufferView& params,
                                  const GpuKvStore& store) const;

  // As if it had never run. Before each run with another number of workgroups than the last: the words of parts that
  // nobody wrote in the last token may have any tag. Every wait looks at a word at most so often. kForTrials: enough to
  // see whether workgroups run at the same time, without waiting long where they do not.
  enum class Patience { kUsual, kForTrials };
  Result<void> reset(Patience patience) const;

  // Two words: how many invocations have waited in vain since reset(), and what was copied to token_slot().
  BufferView outcome() const { return {words_.get(), 4 * LayersShape::kFailed, 8}; }
  static bool has_failed(Bytes outcome);
  BufferView token_slot() const { return {words_.get(), 4 * LayersShape::kToken, 4}; }

  // With how many workgroups it is used; 0: it is not.
  uint32_t workgroups() const { return workgroups_; }
  void use(uint32_t workgroups) { workgroups_ = workgroups; }

 private:
  OneDispatch(Device& device, KernelLibrary& kernels, LayersInOne layers)
      : device_(device), kernels_(kernels), layers_(std::move(layers)) {}
  Result<void> put_vectors();
  Result<void> check_places(WeightStore& weights) const;
  Result<void> check_places(const TernaryLayersConfig& c, WeightStore& weights) const;
  Result<void> check_places(const FloatLayersConfig& c, WeightStore& weights) const;

  Device& device_;
  KernelLibrary& kernels_;
  LayersInOne layers_;
  const Buffer *matrices_ = nullptr, *scales_ = nullptr;
  std::unique_ptr<Buffer> vectors_, words_;
  uint32_t workgroups_ = 0;
};

}  // namespace tern::gpu
