// What an NVIDIA GPU has used, from its driver's management library.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "tern/energy.h"

namespace tern {

// The functions of NVIDIA's management library (NVML) that are called, with C's types in place of its own: a device is
// an opaque pointer, and a status of 0 is success. Tests have functions of their own.
struct Nvml {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned* n) = nullptr;
  int (*device)(unsigned index, void** device) = nullptr;
  int (*name)(void* device, char* name, unsigned size) = nullptr;
  int (*energy)(void* device, unsigned long long* millijoules) = nullptr;
  const char* (*error)(int status) = nullptr;
};

// Loads the library, which comes with the driver and is never linked. It stays loaded. kNotFound.
Result<Nvml> load_nvml(const std::string& library = "libnvidia-ml.so.1");

// The counter of the only GPU that is called so. kNotFound: none is; kNotSupported: several are, and which of them
// computes is not known, or it has no counter; kIo.
Result<std::unique_ptr<EnergyReader>> open_nvml(const Nvml& nvml, const std::string& gpu);

// Both together.
std::unique_ptr<EnergyReader> add_readers(std::unique_ptr<EnergyReader> a, std::unique_ptr<EnergyReader> b);

}  // namespace tern
