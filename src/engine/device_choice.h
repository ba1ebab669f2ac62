// What `auto` computes on, where it has been measured what that costs.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "backend/backend.h"
#include "base/result.h"
#include "model/model.h"
#include "tern/options.h"
#include "tern/routing.h"

namespace tern {

// The devices and the model that a kept curve is of. A curve holds for no other.
std::string cpu_curve_device(int n_threads);
std::string gpu_curve_device(const std::string& name, const std::string& driver);
// `head`: Engine::load has replaced the model's head by then, where it does.
std::string curve_model(const Model& model, HeadKind head);

// Whether curves are of what these options ask for: not of a plan without fusions, nor of a GPU without its features.
bool has_curves_for(const LoadOptions& options);

// A page computes on one device.
#ifdef __EMSCRIPTEN__
inline constexpr bool kMayHaveTwoDevices = false;
#else
inline constexpr bool kMayHaveTwoDevices = true;
#endif

struct ChosenDevice {
  BackendKind backend = BackendKind::kCpu;
  std::string reason = {};                              // one line
  BackendKind alone = BackendKind::kCpu;                // the better one, where it is kBoth and only one can be had
  std::optional<std::array<CostCurve, 2>> curves = {};  // of the CPU and the GPU, where it is kBoth
};

// By the curves that are kept of the CPU with so many threads and of the GPU that these options lead to. None where one
// of them is not kept, which costs one look at a file, or where there is no such GPU.
std::optional<ChosenDevice> choose_by_curves(const Model& model, const LoadOptions& options, int n_threads);
// These curves, for LoadOptions that ask for both. kNotFound.
Result<ChosenDevice> both_by_curves(const Model& model, const LoadOptions& options, int n_threads);

// The two executables, the CPU's first, as one that runs each pass where that costs least.
std::unique_ptr<Executable> combine_by_curves(std::array<std::unique_ptr<Executable>, 2> devices,
                                              const std::array<CostCurve, 2>& curves, const LoadOptions& options);

}  // namespace tern
