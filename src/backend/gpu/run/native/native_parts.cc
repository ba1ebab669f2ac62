// All parts that native builds have.
#include "backend/gpu/record/steps/native_parts.h"

#include "backend/gpu/record/kernel_folder.h"
#include "backend/gpu/record/megakernel/path.h"
#include "backend/gpu/record/steps/native_batch_recorder.h"
#include "backend/gpu/record/steps/native_logits_recorder.h"
#include "backend/gpu/record/tuned_layouts.h"
#include "backend/gpu/run/trust/check_best_logits.h"

namespace tern::gpu {
namespace {

class AllParts final : public NativeParts {
 public:
  Layouts layouts(const Device& device, const Plan& plan, const GpuOptions& options) const override {
    return tuned_layouts(device, plan, options);
  }
  std::unique_ptr<KernelFolder> kernel_folder(const std::string& path) const override { return edited_kernels(path); }
  Result<std::unique_ptr<LayerPath>> plan_layer_path(const LayerPathContext& context) const override {
    return gpu::plan_layer_path(context);
  }
  uint64_t head_copy_bytes(const Plan& plan, int max_logit_rows) const override {
    return gpu::head_copy_bytes(plan, max_logit_rows);
  }
  Result<void> begin_head_copy(const HeadCopyContext& context) const override { return gpu::begin_head_copy(context); }
  Result<std::unique_ptr<HeadCopy>> make_head_copy(const HeadCopyContext& context,
                                                   WeightStore& weights) const override {
    return gpu::make_head_copy(context, weights);
  }
  Result<void> check_best_logits(Device& device, const Plan& plan, const Program& program, const WorkBuffers& work,
                                 const DeviceSampler& sampler, int n_rows) const override {
    return gpu::check_best_logits(device, plan, program, work, sampler, n_rows);
  }
  std::unique_ptr<BatchRecorder> batch_recorder(Recording& recording, const TernaryLayers& layers) const override {
    return std::make_unique<NativeBatchRecorder>(recording, layers);
  }
  std::unique_ptr<LogitsRecorder> logits_recorder(Recording& recording, FloatInputs& inputs,
                                                  const FloatLayers& layers) const override {
    return std::make_unique<NativeLogitsRecorder>(recording, inputs, layers);
  }
};

constexpr AllParts kAll;

}  // namespace

const NativeParts& native_parts() { return kAll; }

}  // namespace tern::gpu
