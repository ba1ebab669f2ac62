// Tests whether a device computes correctly. The only sign of a faulty shader compiler or driver would be nonsense in a
// model's text. So before a device is trusted with a model, it runs tiny kernels with known answers: one for what every
// kernel needs, and one per feature that kernels may use.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/gpu/device/device.h"

namespace tern::gpu {

struct SelfTest {
  Restrictions broken;                // features that compute wrongly
  std::vector<std::string> findings;  // one line per feature: "dot4: dot4I8Packed gives 0x2, not 0xFFFFF7E3"
};

// kNotSupported, with the wrong result, if the device fails at what every kernel needs.
Result<SelfTest> self_test(Device& device);

// Opens a device; usually open_device().
using OpenDevice = std::function<Result<std::unique_ptr<Device>>(const DeviceOptions&)>;

struct TrustedDevice {
  std::unique_ptr<Device> device;
  std::vector<std::string> findings;  // about the features that were left out
};

// Opens a device that passes the self-test; features that fail are left out. Errors of self_test() and of opening.
Result<TrustedDevice> open_trusted(const DeviceOptions& options, const OpenDevice& open);

}  // namespace tern::gpu
