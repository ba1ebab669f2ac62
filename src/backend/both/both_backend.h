// The model on two devices at once: each pass runs where it costs least, and keys and values follow.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "backend/backend.h"

namespace tern::both {

// What the slices of a pass cost on a device (0 or 1), in whatever unit, with what must be brought there first.
// Missing: on either device, of the keys and values before the slices, in positions of whole blocks.
using Missing = std::array<int64_t, 2>;
using PassCost = std::function<double(size_t device, Batch slices, const Missing& missing)>;

struct Device {
  std::string name;  // as DeviceShare has it
  std::unique_ptr<Executable> executable;
};

// Executables of the same model; their stores have the same blocks. A pass takes as many tokens as the device does that
// reads long prompts at the lesser cost; slices that read prompts and slices of a single token are placed apart, and
// run at the same time where they run on different devices. Every block is allocated on both devices. Numbers are those
// of whichever device computes them. When a device is lost, that pass fails; later ones run on the other, where that
// has what they need.
std::unique_ptr<Executable> combine(std::array<Device, 2> devices, PassCost cost);

}  // namespace tern::both
