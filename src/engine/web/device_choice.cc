// A web page names its backend and keeps no curves.
#include "engine/load/device_choice.h"

#include "engine/load/layer_split.h"

namespace tern {

std::optional<ChosenDevice> choose_by_curves(const Model& /*model*/, const LoadOptions& /*options*/,
                                             int /*n_threads*/) {
  return std::nullopt;
}

Result<ChosenDevice> both_by_curves(const Model& /*model*/, const LoadOptions& /*options*/, int /*n_threads*/) {
  return fail(ErrorCode::kNotSupported, "a page computes on one device");
}

std::unique_ptr<Executable> combine_by_curves(std::array<std::unique_ptr<Executable>, 2> /*devices*/,
                                              const std::array<CostCurve, 2>& /*curves*/,
                                              const LoadOptions& /*options*/) {
  return nullptr;
}

Result<LayerSplit> split_with(const Config& /*config*/, int /*n_on_gpu*/) {
  return fail(ErrorCode::kNotSupported, "a page computes on one device");
}

Result<LayerSplit> split_by_memory(const Model& /*model*/, const CompileOptions& /*compile*/) {
  return fail(ErrorCode::kNotSupported, "a page computes on one device");
}

std::unique_ptr<Executable> join_split(std::array<std::unique_ptr<Executable>, 2> /*parts*/) { return nullptr; }

}  // namespace tern
