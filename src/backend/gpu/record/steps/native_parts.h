// What native builds have and a browser tab does without, so that its code is not part of the download.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "backend/gpu/record/head_copy.h"
#include "backend/gpu/record/kernel_library.h"
#include "backend/gpu/record/layer_path.h"
#include "backend/gpu/record/layouts.h"
#include "backend/gpu/record/steps/batch_recorder.h"
#include "backend/gpu/record/steps/float_layers.h"
#include "backend/gpu/record/steps/logits_recorder.h"
#include "tern/options.h"

namespace tern::gpu {

// The base class does without all of it.
class NativeParts {
 public:
  virtual ~NativeParts() = default;

  // The layouts for a model (layouts.h), with those kept by `tern tune` (tuned_layouts.h). A tab has no folder for
  // them.
  virtual Layouts layouts(const Device& device, const Plan& plan, const GpuOptions& options) const;
  virtual std::unique_ptr<KernelFolder> kernel_folder(const std::string& path) const;

  // Decides before the upload whether the layers can be one dispatch; if not, returns a path of steps. Errors: the
  // device's. Browsers do not say how many workgroups run at the same time, so they have no megakernel.
  virtual Result<std::unique_ptr<LayerPath>> plan_layer_path(const LayerPathContext& context) const;

  // The head's int8 copy, for which a tab has no memory. Device memory for a copy of the plan's head; 0 if it cannot
  // have one.
  virtual uint64_t head_copy_bytes(const Plan& plan, int max_logit_rows) const;
  // Starts compiling the kernel that makes the copy, if there will be one. Called before weights are uploaded.
  virtual Result<void> begin_head_copy(const HeadCopyContext& context) const;
  // Allocates the copy; null: none is wanted. Takes the head from `weights`. kNotSupported, kOutOfMemory.
  virtual Result<std::unique_ptr<HeadCopy>> make_head_copy(const HeadCopyContext& context, WeightStore& weights) const;
  // Compares its best logits with all logits (run/trust/check_best_logits.h), before a device is trusted with the copy.
  virtual Result<void> check_best_logits(Device& device, const Plan& plan, const Program& program,
                                         const WorkBuffers& work, const DeviceSampler& sampler, int n_rows) const;

  virtual std::unique_ptr<BatchRecorder> batch_recorder(Recording& recording, const TernaryLayers& layers) const;
  virtual std::unique_ptr<LogitsRecorder> logits_recorder(Recording& recording, FloatInputs& inputs,
                                                          const FloatLayers& layers) const;
};

// Those of this build (run/native, run/web).
const NativeParts& native_parts();

}  // namespace tern::gpu
