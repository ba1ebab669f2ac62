#include "backend/gpu/dawn/staging.h"

#include <algorithm>
#include <bit>
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

}  // namespace tern::gpu
