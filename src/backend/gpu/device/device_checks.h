// What every implementation of the device looks at before it hands anything to WebGPU, so that mistakes have the same
// words everywhere.
#pragma once

#include <span>

#include "backend/gpu/device/device.h"

namespace tern::gpu {

// Bytes of a view whose `bytes` may be 0 for "up to the end".
inline uint64_t view_bytes(const BufferView& view) {
  return view.bytes == 0 && view.offset < view.buffer->bytes() ? view.buffer->bytes() - view.offset : view.bytes;
}

// The features that are left of those that an adapter offers.
Features restricted(Features features, const Restrictions& without);

// Whether kernels with these needs fit the sizes that a device allows.
bool fits(const wgsl::Requirements& needs, const Limits& limits, const Features& features);

// kNotSupported where the device lacks what a kernel needs. All messages name the device as its adapter is called.
// `sizes_too` false leaves out limits and matrix shapes, for a device that only checks texts.
Result<void> check_needs(const wgsl::Module& module, const Device& device, bool sizes_too = true);

// All kInvalidArgument: a view per binding, each within the device's limits, none that writes what another sees.
Result<void> check_views(const wgsl::Module& module, std::span<const BufferView> views, const Device& device);

// kInvalidArgument: grids beyond the limits, immediates of the wrong size, copies that do not fit.
Result<void> check_commands(std::span<const Command> commands, const Device& device);

// kOutOfMemory beyond what one buffer may have; kInvalidArgument where it is empty.
Result<void> check_new_buffer(std::string_view label, uint64_t bytes, const Device& device);

Result<void> check_write(const Buffer& buffer, uint64_t offset, uint64_t bytes);
Result<void> check_read(const BufferView& view);
Result<void> check_read_later(const BufferView& view);  // and not too much at once

}  // namespace tern::gpu
