// The WebGPU backend: the plan's steps as WGSL kernels.
#pragma once

#include <memory>

#include "backend/backend.h"
#include "backend/gpu/run/memory_need.h"
#include "backend/gpu/run/trust/self_test.h"

namespace tern::gpu {

// Opens the device that `options.gpu` asks for, tests it, and uploads the model. `plan` and its weights must outlive
// the executable. kNotFound: no adapter. kNotSupported: a matrix is larger than the device can bind, or the device
// computes wrong results. kOutOfMemory: if the device reports its memory, before anything is uploaded. If a device
// computes wrong results only with some feature, that feature is left out, with a warning.
Result<std::unique_ptr<Executable>> compile(const Plan& plan, const CompileOptions& options,
                                            const OpenDevice& open = open_device);
Result<std::unique_ptr<Executable>> compile(const Plan&& plan, const CompileOptions& options,
                                            const OpenDevice& open = open_device) = delete;

// The same on a device that is already open and tested.
Result<std::unique_ptr<Executable>> compile_on(std::unique_ptr<Device> device, const Plan& plan,
                                               const CompileOptions& options);

}  // namespace tern::gpu
