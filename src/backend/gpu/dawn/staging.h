// Buffers that the host can map, for bytes on their way back. They are used again and again.
#pragma once

#include <webgpu/webgpu_cpp.h>

#include <array>
#include <cstdint>
#include <vector>

namespace tern::gpu {

class StagingPool {
 public:
  explicit StagingPool(const wgpu::Device& device) : device_(device) {}

  // At least `bytes`, at most kMaxReadBytes. Null where the device fails.
  wgpu::Buffer take(uint64_t bytes);

  // Not mapped. Copies into it that still run come before those of its next user.
  void give_back(wgpu::Buffer buffer);

  void clear();

 private:
  static constexpr uint64_t kMinBytes = 256;
  static constexpr size_t kSizes = 13;  // 256 B … 1 MiB, in powers of two

  const wgpu::Device& device_;
  std::array<std::vector<wgpu::Buffer>, kSizes> free_;
};

}  // namespace tern::gpu
