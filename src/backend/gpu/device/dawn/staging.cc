#include "backend/gpu/device/dawn/staging.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "backend/gpu/device/device.h"
#include "base/check.h"

namespace tern::gpu {
namespace {

size_t size_class(uint64_t bytes, uint64_t min_bytes) {
  return std::countr_zero(std::bit_ceil(std::max(bytes, min_bytes))) - std::countr_zero(min_bytes);
}

}  // namespace

wgpu::Buffer StagingPool::take(uint64_t bytes) {
  CHECK(bytes <= kMaxReadBytes);
  const size_t index = size_class(bytes, kMinBytes);
  auto& free = free_[index];
  if (!free.empty()) {
    wgpu::Buffer buffer = std::move(free.back());
    free.pop_back();
    return buffer;
  }
  wgpu::BufferDescriptor descriptor;
  descriptor.label = "staging";
  descriptor.usage = wgpu::BufferUsage::MapRead | wgpu::BufferUsage::CopyDst;
  descriptor.size = kMinBytes << index;
  return device_.CreateBuffer(&descriptor);
}

void StagingPool::give_back(wgpu::Buffer buffer) {
  auto& free = free_[size_class(buffer.GetSize(), kMinBytes)];
  free.push_back(std::move(buffer));
}

void StagingPool::clear() {
  for (auto& free : free_) free.clear();
}

std::span<std::byte> UploadRing::next() {
  Slot& slot = slots_[current_];
  if (slot.buffer == nullptr) {
    wgpu::BufferDescriptor descriptor;
    descriptor.label = "upload";
    descriptor.usage = wgpu::BufferUsage::MapWrite | wgpu::BufferUsage::CopySrc;
    descriptor.size = kBytes;
    descriptor.mappedAtCreation = true;
    slot.buffer = device_.CreateBuffer(&descriptor);
    if (slot.buffer == nullptr) return {};
  } else if (!slot.is_waited_for) {
    instance_.WaitAny(slot.mapped, std::numeric_limits<uint64_t>::max());
    slot.is_waited_for = true;
  }
  if (slot.status != wgpu::MapAsyncStatus::Success) return {};
  auto* const memory = static_cast<std::byte*>(slot.buffer.GetMappedRange());
  return memory ? std::span(memory, kBytes) : std::span<std::byte>();
}

void UploadRing::submit(uint64_t bytes, const wgpu::Buffer& to, uint64_t offset) {
  Slot& slot = slots_[current_];
  current_ = (current_ + 1) % kSlots;
  slot.buffer.Unmap();
  const wgpu::CommandEncoder encoder = device_.CreateCommandEncoder();
  encoder.CopyBufferToBuffer(slot.buffer, 0, to, offset, bytes);
  const wgpu::CommandBuffer commands = encoder.Finish();
  device_.GetQueue().Submit(1, &commands);
  slot.is_waited_for = false;
  slot.mapped = slot.buffer.MapAsync(
      wgpu::MapMode::Write, 0, kBytes, wgpu::CallbackMode::WaitAnyOnly,
      [](wgpu::MapAsyncStatus status, wgpu::StringView, wgpu::MapAsyncStatus* out) { *out = status; }, &slot.status);
}

void UploadRing::clear() {
  for (Slot& slot : slots_) {
    if (slot.buffer == nullptr) continue;
    slot.buffer.Unmap();                                         // ends a mapping that was never waited for,
    if (!slot.is_waited_for) instance_.WaitAny(slot.mapped, 0);  // so that its callback runs while this object exists
    slot = {};
  }
}

}  // namespace tern::gpu
