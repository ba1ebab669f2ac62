// The checks that every device implementation makes before it calls WebGPU, so that error messages are the same
// everywhere.
#pragma once

#include <span>

#include "backend/gpu/device/device.h"

namespace tern::gpu {

// Bytes of a view whose `bytes` may be 0 for "up to the end".
inline uint64_t view_bytes(const BufferView& view) {
  return view.bytes == 0 && view.offset < view.buffer->bytes() ? view.buffer->bytes() - view.offset : view.bytes;
}

// `features` without those that `without` excludes.
Features restricted(Features features, const Restrictions& without);

// True if the device's limits and features allow a kernel with these needs.
bool fits(const wgsl::Requirements& needs, const Limits& limits, const Features& features);

// kNotSupported if the device lacks what a kernel needs. Messages contain the adapter's name. `sizes_too` = false skips
// limits and matrix shapes, for a device that only checks texts.
Result<void> check_needs(const wgsl::Module& module, const Device& device, bool sizes_too = true);

// kInvalidArgument unless there is one view per binding, each within the device's limits, and none is written that
// overlaps another.
Result<void> check_views(const wgsl::Module& module, std::span<const BufferView> views, const Device& device);

// kInvalidArgument: grids beyond the limits, immediates of the wrong size, copies that do not fit.
Result<void> check_commands(std::span<const Command> commands, const Device& device);

// kOutOfMemory if larger than one buffer may be; kInvalidArgument if empty.
Result<void> check_new_buffer(std::string_view label, uint64_t bytes, const Device& device);

Result<void> check_write(const Buffer& buffer, uint64_t offset, uint64_t bytes);
Result<void> check_read(const BufferView& view);
Result<void> check_read_later(const BufferView& view);  // … and its size against kMaxReadBytes

}  // namespace tern::gpu
