// The model on two devices at once: each pass runs on the cheaper device, and its keys and values are copied there.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "backend/backend.h"

namespace tern::hybrid {

// The cost of running `slices` on a device (0 or 1), in any unit, including the copying of what is missing there.
// Missing: for each device, how many positions (of whole blocks) before the slices it lacks.
using Missing = std::array<int64_t, 2>;
using PassCost = std::function<double(size_t device, Batch slices, const Missing& missing)>;

struct Device {
  std::string name;  // for DeviceShare
  std::unique_ptr<Executable> executable;
};

// Combines two executables of the same model whose stores have the same blocks. The largest pass is that of the device
// with the lower cost for long prompts. Prompt slices and single-token slices are placed separately, and run at the
// same time if they are on different devices. Every block is allocated on both devices. Results are those of whichever
// device computes them. When a device is lost, that pass fails; later passes run on the other device if it has what
// they need.
std::unique_ptr<Executable> combine(std::array<Device, 2> devices, PassCost cost);

}  // namespace tern::hybrid
