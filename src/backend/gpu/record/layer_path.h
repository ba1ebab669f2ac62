// How a plan's layers are computed: LayerPath itself stands for a dispatch per step. megakernel/path.h overrides it
// with one dispatch for all layers of a token.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "backend/backend.h"
#include "backend/gpu/device/device.h"
#include "backend/gpu/memory/batch/run_shape.h"
#include "backend/gpu/memory/gpu_kv_store.h"
#include "backend/gpu/memory/weights/weight_store.h"
#include "backend/gpu/memory/work_buffers.h"
#include "backend/gpu/record/kernel_library.h"
#include "backend/gpu/record/layouts.h"
#include "backend/gpu/record/prepared_store.h"
#include "base/bytes.h"
#include "base/check.h"

namespace tern::gpu {

// What a path is made from.
struct LayerPathContext {
  Device& device;
  KernelLibrary& kernels;
  WeightStore& weights;
  const Plan& plan;
  const CompileOptions& options;  // with the final batch sizes
  const Layouts& layouts;
  // A new store whose program records all paths.
  std::function<std::unique_ptr<PreparedStore>(KvType type, bool together)> make_store;
};

class LayerPath {
 public:
  // `refusal`: why there is no megakernel; empty if none was requested.
  explicit LayerPath(std::string refusal = "") : refusal_(std::move(refusal)) {}
  LayerPath(const LayerPath&) = delete;
  LayerPath& operator=(const LayerPath&) = delete;
  virtual ~LayerPath() = default;

  // The life of a path, in order. Errors are the device's; anything else that is wrong becomes a refusal, and the steps
  // are used.
  virtual void begin_compiling() {}                                            // before the weights are uploaded
  virtual Result<void> prepare(WorkBuffers& /*work*/) { return {}; }           // after the weights have been uploaded
  virtual Result<void> try_out(const PreparedStore& /*store*/) { return {}; }  // runs tokens on both paths
  // Prepares and tries out what a batch of one token each of n_sequences sequences needs. Returns true if anything ran.
  virtual Result<bool> expect(int /*n_sequences*/) { return false; }

  // Blocks and positions that try_out() needs.
  virtual int trial_blocks() const { return 1; }
  virtual int trial_positions() const { return 0; }
  // True if a store must keep its layers together for try_out(), or for later runs.
  virtual bool wants_trial() const { return false; }
  virtual bool is_used() const { return false; }

  // True if this path computes this step of the plan in a program with this store.
  virtual bool covers(int /*step*/, const GpuKvStore& /*store*/) const { return false; }
  virtual int first_step() const { return 0; }
  virtual int end_step() const { return 0; }  // of the steps that it computes
  // Adds its dispatches. `angles`: the tables of the layers' RoPE (rope()).
  virtual Result<void> record(const BufferView& /*angles*/, const GpuKvStore& /*store*/, Program& /*program*/) const {
    return {};
  }
  virtual int rope() const { return 0; }  // of Config::ropes

  // Workgroups for one token each of n_rows sequences; 0: use the steps.
  virtual uint32_t workgroups(int /*n_rows*/) const { return 0; }
  // For runs with the megakernel (workgroups() > 0). ready(): call before the run. outcome(): the buffer to read after
  // it: a word for has_failed(), then what was copied to token_slot(), a word per row.
  virtual Result<void> ready(const RunShape& /*shape*/) { return {}; }
  virtual BufferView outcome(int /*run_rows*/, size_t /*n_words*/) const { CHECK(false); }
  virtual BufferView token_slot(int /*run_rows*/, size_t /*n_words*/) const { CHECK(false); }
  virtual bool has_failed(Bytes /*outcome*/) const { return false; }
  // Stops using the kernel of such runs, after one in which workgroups waited too long.
  virtual void disable(int /*n_rows*/) {}

  // Switches the megakernel off.
  void force_stepwise() { is_stepwise_ = true; }
  // Why the layers of one token, and those of several sequences' tokens after expect(), are computed in steps; empty if
  // they are not, or if the megakernel was not requested.
  const std::string& refusal() const { return refusal_; }
  const std::string& row_refusal() const { return row_refusal_; }
  // Counts changes that make recorded programs outdated.
  uint64_t version() const { return version_; }

 protected:
  std::string refusal_, row_refusal_;
  uint64_t version_ = 0;
  bool is_stepwise_ = false;
};

}  // namespace tern::gpu
