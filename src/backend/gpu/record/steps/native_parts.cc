#include "backend/gpu/record/steps/native_parts.h"

namespace tern::gpu {

Layouts NativeParts::layouts(const Device& device, const Plan&, const GpuOptions& options) const {
  return layouts_for(device, options.without);
}

std::unique_ptr<KernelFolder> NativeParts::kernel_folder(const std::string& path) const {
  return std::make_unique<KernelFolder>(path);
}

Result<std::unique_ptr<LayerPath>> NativeParts::plan_layer_path(const LayerPathContext&) const {
  return std::make_unique<LayerPath>("pages compute the layers of a token step by step");
}

uint64_t NativeParts::head_copy_bytes(const Plan&, int) const { return 0; }

Result<void> NativeParts::begin_head_copy(const HeadCopyContext&) const { return {}; }

Result<std::unique_ptr<HeadCopy>> NativeParts::make_head_copy(const HeadCopyContext&, WeightStore&) const {
  return nullptr;
}

Result<void> NativeParts::check_best_logits(Device&, const Plan&, const Program&, const WorkBuffers&,
                                            const DeviceSampler&, int) const {
  return {};
}

std::unique_ptr<BatchRecorder> NativeParts::batch_recorder(Recording&, const TernaryLayers&) const {
  return std::make_unique<BatchRecorder>();
}

std::unique_ptr<LogitsRecorder> NativeParts::logits_recorder(Recording&, FloatInputs&, const FloatLayers&) const {
  return std::make_unique<LogitsRecorder>();
}

}  // namespace tern::gpu
