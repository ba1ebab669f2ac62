// What all recorders of steps (this folder) share: where they record, and for which device, plan and store.
#pragma once

#include <algorithm>
#include <climits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "backend/gpu/device/device.h"
#include "backend/gpu/kernels/common.h"
#include "backend/gpu/kernels/packed_weights.h"
#include "backend/gpu/memory/gpu_kv_store.h"
#include "backend/gpu/memory/weights/weight_store.h"
#include "backend/gpu/memory/work_buffers.h"
#include "backend/gpu/record/device_sampler.h"
#include "backend/gpu/record/head_copy.h"
#include "backend/gpu/record/kernel_library.h"
#include "backend/gpu/record/layer_path.h"
#include "backend/gpu/record/layouts.h"
#include "backend/gpu/record/program.h"
#include "backend/gpu/record/steps/tiles.h"
#include "plan/plan.h"

namespace tern::gpu {

struct RecorderContext {
  Device& device;
  KernelLibrary& kernels;
  WeightStore& weights;
  WorkBuffers& work;
  const Plan& plan;
  int max_batch;
  Layouts layouts;
  const LayerPath& layer_path;
  const HeadCopy* head_copy = nullptr;     // null: all logits are always computed
  const DeviceSampler* sampler = nullptr;  // not null if there is a head_copy
};

// Rows of activations as int8 (kernels/float/int8_rows.h).
struct Int8Rows {
  View<wgsl::Vec4<wgsl::U32>> x;
  View<wgsl::Vec2<wgsl::F32>> runs;
};
// A slot's rows that a step leaves as int8 for a later one.
struct LeftInt8 {
  SlotId slot;
  int reader;  // the step that they are for
  Int8Rows rows;
  WeightCoding coding;     // of the reader's weights
  int min_rows, max_rows;  // of runs in which they are left
  If moves_states = If::kAny;
  // The runs within `when` in which they are left, and the others. By tokens: each has a row.
  When leaving(const When& when) const;
  std::vector<When> others(const When& when) const;
};

class Recording {
 public:
  Recording(const RecorderContext& context, const GpuKvStore& store, Program& program)
      : c_(context), store_(store), program_(program), caps_(caps_of(context.device)) {}

  const RecorderContext& context() const { return c_; }
  const Layouts& layouts() const { return c_.layouts; }
  const Limits& limits() const { return c_.device.limits(); }
  WeightStore& weights() const { return c_.weights; }
  WorkBuffers& work() const { return c_.work; }
  const GpuKvStore& store() const { return store_; }
  Program& program() const { return program_; }
  const Caps& caps() const { return caps_; }

  // What dispatch() records from now on is part of this step and path, and for runs with n_best in this range.
  void begin_step(int step, DispatchPath path) { step_ = step, path_ = path; }
  void limit_best(int fewest, int most) { fewest_best_ = fewest, most_best_ = most; }
  void for_any_best() { limit_best(0, INT_MAX); }

  // make(args...), traced once.
  template <class K, class... A>
  TracedKernel<K> traced(K (*make)(A...), const std::type_identity_t<std::remove_cvref_t<A>>&... args) {
    return c_.kernels.traced(make, args...);
  }

  template <class K, class... E>
  Result<void> dispatch(const K& kernel, const Extent& extent, const View<E>&... views) {
    TRY(auto recorded, c_.kernels.record(kernel, extent, views...));
    add(std::move(recorded));
    return {};
  }

  // With one token, the only row is the one whose logits are wanted, and this copy is skipped.
  void skip_for_one_token(const step::SelectRows& copy) { skipped_ = copy; }
  // The slot to read in place of `in`, the result of a copy, in runs of one token; none for other slots.
  std::optional<SlotId> in_place_of(SlotId in) const {
    return skipped_ && skipped_->out == in ? std::optional(skipped_->in) : std::nullopt;
  }

  Rows rows_of(SlotId id) const { return c_.plan.slot(id).rows == RowsOf::kBatch ? Rows::kTokens : Rows::kLogits; }
  uint32_t width(SlotId id) const { return static_cast<uint32_t>(c_.plan.slot(id).width); }
  uint32_t workgroup(uint32_t wanted) const { return std::min(wanted, limits().invocations); }
  uint32_t lanes(uint32_t wanted) const { return lanes_of(caps_, wanted); }
  Extent per_column(SlotId slot) const;  // one invocation per value of the slot's rows
  View<wgsl::U32> params() const { return {{&c_.work.params(), 0, 0}}; }
  Result<View<wgsl::Vec2<wgsl::F32>>> angles(int rope) const;  // the table of Config::ropes[rope]
  // A gain and statistics that no kernel reads, for bindings that must not be empty.
  View<wgsl::F32> unused_gain() const { return {{&c_.work.unused_gain(), 0, 0}}; }
  View<NormStats> unused_stats() const { return {{&c_.work.unused_stats(), 0, 0}}; }

  void leave(const LeftInt8& left) { left_ = left; }
  // What an earlier step has left of `slot` for the step that is being recorded; null if nothing.
  const LeftInt8* left_of(SlotId slot) const {
    return left_ && left_->slot == slot && left_->reader == step_ ? &*left_ : nullptr;
  }
  int step() const { return step_; }

  PhaseLimits phase_limits() const { return {c_.layouts, c_.max_batch}; }

 private:
  void add(RecordedDispatch recorded);

  RecorderContext c_;
  const GpuKvStore& store_;
  Program& program_;
  Caps caps_;
  int step_ = 0;
  DispatchPath path_ = DispatchPath::kAny;
  int fewest_best_ = 0, most_best_ = INT_MAX;
  std::optional<step::SelectRows> skipped_;
  std::optional<LeftInt8> left_;
};

}  // namespace tern::gpu
