// Chooses the device for kAuto by measured costs.
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

// The names of the devices and the model of a kept curve; it is valid only for these.
std::string cpu_curve_device(int n_threads);
std::string gpu_curve_device(const std::string& name, const std::string& driver);
// `head`: as in LoadOptions. The model must have the head that it asks for (Head::replace_in).
std::string curve_model(const Model& model, HeadKind head);

// True if cost curves apply to these options. They do not with fusions or GPU features turned off, for example.
bool has_curves_for(const LoadOptions& options);

// A web page computes on one device.
#ifdef __EMSCRIPTEN__
inline constexpr bool kMayHaveTwoDevices = false;
#else
inline constexpr bool kMayHaveTwoDevices = true;
#endif

struct ChosenDevice {
  BackendKind backend = BackendKind::kCpu;
  std::string reason = {};                // one line
  BackendKind alone = BackendKind::kCpu;  // kBoth: the better single device, in case only one is available
  std::optional<std::array<CostCurve, 2>> curves = {};  // kBoth: the curves of the CPU and the GPU
};

// Chooses by the kept curves of the CPU with n_threads and of the GPU that the options select. None if a curve is not
// kept (the check costs one file access) or there is no such GPU.
std::optional<ChosenDevice> choose_by_curves(const Model& model, const LoadOptions& options, int n_threads);
// The same curves for LoadOptions that ask for kBoth. kNotFound.
Result<ChosenDevice> both_by_curves(const Model& model, const LoadOptions& options, int n_threads);

// Combines the two executables, the CPU's first, into one that runs each pass where it costs least.
std::unique_ptr<Executable> combine_by_curves(std::array<std::unique_ptr<Executable>, 2> devices,
                                              const std::array<CostCurve, 2>& curves, const LoadOptions& options);

}  // namespace tern
