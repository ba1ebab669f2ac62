// The WebGPU backend: the plan's steps as WGSL kernels.
#pragma once

#include <string>

#include "backend/backend.h"
#include "backend/gpu/trust/self_test.h"

namespace tern {
struct TuneOptions;
struct TuneResult;
}  // namespace tern

namespace tern::gpu {

// Opens the device that `options.gpu` asks for, tests it, and puts the model on it. `plan` and its weights must outlive
// the executable. kNotFound without an adapter; kNotSupported where a matrix is greater than the device can bind, or
// where the device computes wrongly; kOutOfMemory, before anything is uploaded where the device tells how much it has.
// A device that computes wrongly only with some feature is used without it, with a warning.
Result<std::unique_ptr<Executable>> compile(const Plan& plan, const CompileOptions& options,
                                            const OpenDevice& open = open_device);

// The same on a device that is open already, and trusted.
Result<std::unique_ptr<Executable>> compile_on(std::unique_ptr<Device> device, const Plan& plan,
                                               const CompileOptions& options);

// Bytes that the plan takes on a device: weights, activations of a batch, KV cache of `n_ctx` tokens.
struct MemoryNeed {
  uint64_t weights = 0, activations = 0, kv_cache = 0;
  uint64_t total() const { return weights + activations + kv_cache; }
};
MemoryNeed memory_need(const Plan& plan, const CompileOptions& options, int n_ctx, KvType type);

// Of an executable of this backend, natively: include/tern/tools.h. The tuned layouts are for stores of keys and values
// made from then on.
Result<TuneResult> tune(Executable& executable, const TuneOptions& options);
void forget_tuning(Executable& executable);

// Where its tuning is kept, and as what (record/tuned_layouts.h); no file: nowhere.
struct KeptTuning {
  std::string file, key;
};
KeptTuning kept_tuning(const Executable& executable);

}  // namespace tern::gpu
