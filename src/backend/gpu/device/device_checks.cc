#include "backend/gpu/device/device_checks.h"

#include <algorithm>

#include "base/check.h"

namespace tern::gpu {
namespace {

bool overlap(const BufferView& a, const BufferView& b) {
  return a.offset < b.offset + view_bytes(b) && b.offset < a.offset + view_bytes(a);
}

// WebGPU lets a kernel write a part of a buffer only if no other binding covers that part, and never lets it read the
// same buffer through another binding, even another part.
Result<void> check_aliases(const wgsl::Module& module, std::span<const BufferView> views) {
  for (size_t i = 0; i < views.size(); ++i) {
    if (module.bindings[i].access != wgsl::Access::kReadWrite) continue;
    for (size_t j = 0; j < views.size(); ++j) {
      if (i == j || views[i].buffer != views[j].buffer) continue;
      const bool both_write = module.bindings[j].access == wgsl::Access::kReadWrite;
      if (both_write && !overlap(views[i], views[j])) continue;
      return fail(ErrorCode::kInvalidArgument, "kernel {}: {} writes to the buffer that {} {}", module.name,
                  module.bindings[i].name, module.bindings[j].name, both_write ? "writes to" : "reads");
    }
  }
  return {};
}

Result<void> check_view(const wgsl::Module& module, size_t index, const BufferView& view, const Limits& limits) {
  const wgsl::BindingDecl& binding = module.bindings[index];
  const auto broken = [&](std::string_view what, uint64_t limit) {
    return fail(ErrorCode::kInvalidArgument, "kernel {}, binding {}: {} bytes at {}: {} {}", module.name, binding.name,
                view_bytes(view), view.offset, what, limit);
  };
  CHECK(view.buffer != nullptr);
  const bool uniform = binding.access == wgsl::Access::kUniform;
  const uint64_t bytes = view_bytes(view), end = round_up(view.buffer->bytes(), 4);
  if ((view.buffer->use() == BufferUse::kUniform) != uniform) {
    return fail(ErrorCode::kInvalidArgument, "kernel {}, binding {} is {}, the buffer is not", module.name,
                binding.name, uniform ? "uniform" : "storage");
  }
  if (view.offset % limits.offset_alignment != 0)
    return broken("offsets must be a multiple of", limits.offset_alignment);
  if (view.offset >= end || bytes > end - view.offset) return broken("the buffer's bytes are", view.buffer->bytes());
  const uint64_t limit = uniform ? limits.uniform_bytes : limits.binding_bytes;
  if (bytes > limit) return broken("one binding may have at most", limit);
  if (bytes < binding.element_bytes) return broken("one element has bytes:", binding.element_bytes);
  return {};
}

Result<void> check_copy(const Command& command) {
  const uint64_t bytes = round_up(view_bytes(command.from), 4);
  const auto inside = [&](const BufferView& view) {
    const uint64_t end = round_up(view.buffer->bytes(), 4);
    return view.offset % 4 == 0 && view.offset <= end && bytes <= end - view.offset;
  };
  if (inside(command.from) && inside(command.to) && command.from.buffer != command.to.buffer) return {};
  return fail(ErrorCode::kInvalidArgument,
              "copy of {} bytes from {} of a GPU buffer of {} bytes to {} of one of {} bytes: both must lie inside, "
              "start at multiples of 4 and be two buffers",
              bytes, command.from.offset, command.from.buffer->bytes(), command.to.offset, command.to.buffer->bytes());
}

}  // namespace

Features restricted(Features features, const Restrictions& without) {
  if (without.f16) features.f16 = false;
  // Only kernels that declare it are refused: WebGPU always has this feature.
  if (without.packed_dot) features.packed_dot = false;
  if (without.timestamps) features.timestamps = false;
  if (without.subgroups) {
    features.subgroups = false;
    features.subgroup_min = features.subgroup_max = 0;
  }
  if (without.subgroup_matrix || without.subgroups) features.matrices.clear();
  // Matrices need their element type.
  if (!features.f16) {
    std::erase_if(features.matrices, [](const wgsl::MatrixShape& shape) {
      return shape.types == wgsl::MatrixTypes::kF16ToF32 || shape.types == wgsl::MatrixTypes::kF16ToF16;
    });
  }
  return features;
}

bool fits(const wgsl::Requirements& needs, const Limits& limits, const Features& features) {
  return needs.workgroup_bytes <= limits.workgroup_bytes && needs.invocations <= limits.invocations &&
         needs.storage_buffers <= limits.storage_buffers && needs.immediate_bytes <= limits.immediate_bytes &&
         std::ranges::all_of(needs.matrices, [&](const wgsl::MatrixShape& shape) {
           return std::ranges::contains(features.matrices, shape);
         });
}

Result<void> check_needs(const wgsl::Module& module, const Device& device, bool sizes_too) {
  const Limits& limits = device.limits();
  const Features& features = device.features();
  const std::string& name = device.adapter().name;
  const wgsl::Requirements& needs = module.needs;
  const auto missing = [&](std::string_view what) {
    return fail(ErrorCode::kNotSupported, "kernel {}: {} has no {}", module.name, name, what);
  };
  if (needs.f16 && !features.f16) return missing("f16 arithmetic (shader-f16)");
  if (needs.subgroups && !features.subgroups) return missing("subgroups");
  if (needs.packed_dot && !features.packed_dot) return missing("packed 8-bit dot products");
  if (!sizes_too) return {};
  if (needs.subgroup_matrix && features.matrices.empty()) return missing("subgroup matrices");
  if (!fits(needs, limits, features)) {
    return fail(ErrorCode::kNotSupported,
                "kernel {} needs {} invocations, {} bytes of workgroup memory, {} storage buffers, {} immediate bytes "
                "and {} subgroup-matrix shapes; {} offers {}, {}, {}, {}, or not those shapes",
                module.name, needs.invocations, needs.workgroup_bytes, needs.storage_buffers, needs.immediate_bytes,
                needs.matrices.size(), name, limits.invocations, limits.workgroup_bytes, limits.storage_buffers,
                limits.immediate_bytes);
  }
  return {};
}

Result<void> check_views(const wgsl::Module& module, std::span<const BufferView> views, const Device& device) {
  if (views.size() != module.bindings.size()) {
    return fail(ErrorCode::kInvalidArgument, "kernel {} has {} bindings, not {}", module.name, module.bindings.size(),
                views.size());
  }
  for (size_t i = 0; i < views.size(); ++i) TRY_STATUS(check_view(module, i, views[i], device.limits()));
  return check_aliases(module, views);
}

Result<void> check_commands(std::span<const Command> commands, const Device& device) {
  for (const Command& command : commands) {
    if (command.pipeline == nullptr) {
      CHECK(command.from.buffer != nullptr && command.to.buffer != nullptr);
      TRY_STATUS(check_copy(command));
      continue;
    }
    CHECK(command.bindings != nullptr);
    const wgsl::Module& module = command.pipeline->module();
    if (command.immediates.size() != module.needs.immediate_bytes) {
      return fail(ErrorCode::kInvalidArgument, "kernel {}: {} bytes of immediates; it takes {}", module.name,
                  command.immediates.size(), module.needs.immediate_bytes);
    }
    const Grid grid = command.grid;
    if (std::max({grid.x, grid.y, grid.z}) > device.limits().workgroups) {
      return fail(ErrorCode::kInvalidArgument, "kernel {}: a grid of {} x {} x {} workgroups; {} allows {} in each",
                  module.name, grid.x, grid.y, grid.z, device.adapter().name, device.limits().workgroups);
    }
  }
  return {};
}

Result<void> check_new_buffer(std::string_view label, uint64_t bytes, const Device& device) {
  if (bytes == 0) return fail(ErrorCode::kInvalidArgument, "GPU buffer {} is empty", label);
  if (bytes <= device.limits().buffer_bytes) return {};
  return fail(ErrorCode::kOutOfMemory, "GPU buffer {} of {} bytes: {} allows {} bytes in one buffer", label, bytes,
              device.adapter().name, device.limits().buffer_bytes);
}

Result<void> check_write(const Buffer& buffer, uint64_t offset, uint64_t bytes) {
  if (offset % 4 != 0 || bytes % 4 != 0) {
    return fail(ErrorCode::kInvalidArgument, "writing {} bytes at {} of a GPU buffer: both must be multiples of 4",
                bytes, offset);
  }
  const uint64_t end = round_up(buffer.bytes(), 4);
  if (offset > end || bytes > end - offset) {
    return fail(ErrorCode::kInvalidArgument, "writing {} bytes at {} of a GPU buffer of {} bytes", bytes, offset,
                buffer.bytes());
  }
  return {};
}

Result<void> check_read(const BufferView& view) {
  CHECK(view.buffer != nullptr);
  const uint64_t size = view.buffer->bytes(), bytes = view_bytes(view);
  if (view.offset % 4 == 0 && view.offset < size && bytes <= size - view.offset) return {};
  return fail(ErrorCode::kInvalidArgument,
              "reading {} bytes at {} of a GPU buffer of {} bytes: they must lie inside and start at a multiple of 4",
              bytes, view.offset, size);
}

Result<void> check_read_later(const BufferView& view) {
  TRY_STATUS(check_read(view));
  if (view_bytes(view) <= kMaxReadBytes) return {};
  return fail(ErrorCode::kInvalidArgument, "reading {} bytes at once from the GPU: at most {}", view_bytes(view),
              kMaxReadBytes);
}

}  // namespace tern::gpu
