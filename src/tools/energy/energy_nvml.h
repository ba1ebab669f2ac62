// Reads an NVIDIA GPU's energy from its driver's management library (NVML).
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "tern/energy.h"

namespace tern {

#ifdef _WIN32
inline constexpr const char* kNvmlFile = "nvml.dll";
#else
inline constexpr const char* kNvmlFile = "libnvidia-ml.so.1";
#endif

// The NVML functions that Tern calls, with plain C types: a device is an opaque pointer, and status 0 is success. Tests
// replace them.
struct Nvml {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned* n) = nullptr;
  int (*device)(unsigned index, void** device) = nullptr;
  int (*name)(void* device, char* name, unsigned size) = nullptr;
  int (*energy)(void* device, unsigned long long* millijoules) = nullptr;
  const char* (*error)(int status) = nullptr;
};

// Loads the library, which comes with the driver and is never linked. It stays loaded. kNotFound: not installed.
Result<Nvml> load_nvml(const std::string& library = kNvmlFile);

// Opens the counter of the only GPU with this name. kNotFound: there is none; kNotSupported: several share it, so the
// one in use is unknown, or it has no counter; kIo: it cannot be read.
Result<std::unique_ptr<EnergyReader>> open_nvml(const Nvml& nvml, const std::string& gpu);

// A reader that returns the sum of both.
std::unique_ptr<EnergyReader> add_readers(std::unique_ptr<EnergyReader> a, std::unique_ptr<EnergyReader> b);

}  // namespace tern
