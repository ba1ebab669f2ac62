// Whether a device computes what its kernels say. A shader compiler or a driver that is wrong leaves no trace in a
// model's text but nonsense, so before a model is trusted to a device, tiny kernels with known answers run on it: one
// of what every kernel needs, and one of each feature that kernels may use.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/gpu/device/device.h"

namespace tern::gpu {

struct SelfTest {
  Restrictions broken;                // features that compute wrongly
  std::vector<std::string> findings;  // a line for each of them: "dot4: dot4I8Packed gives 0x2, not 0xFFFFF7E3"
};

// kNotSupported, saying what came out, where the device fails at what every kernel needs.
Result<SelfTest> self_test(Device& device);

// Opens a device, open_device() as a rule.
using OpenDevice = std::function<Result<std::unique_ptr<Device>>(const DeviceOptions&)>;

struct TrustedDevice {
  std::unique_ptr<Device> device;
  std::vector<std::string> findings;  // about the features that it is opened without
};

// A device that has passed its test. One that fails at a feature is opened again without it. Errors as self_test() and
// those of opening.
Result<TrustedDevice> open_trusted(const DeviceOptions& options, const OpenDevice& open);

}  // namespace tern::gpu
