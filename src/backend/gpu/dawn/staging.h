// Buffers that the host can map, for bytes on their way back, and for many on their way to the device. They are used
// again and again: new ones cost more than what is copied into them.
#pragma once

#include <webgpu/webgpu_cpp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
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

// Buffers in turn: one is filled while others are copied.
class UploadRing {
 public:
  static constexpr size_t kBytes = size_t{4} << 20;  // of each

  UploadRing(const wgpu::Instance& instance, const wgpu::Device& device) : instance_(instance), device_(device) {}
  ~UploadRing() { clear(); }
  UploadRing(const UploadRing&) = delete;
  UploadRing& operator=(const UploadRing&) = delete;

  // Mapped memory of kBytes; none where the device fails. To be filled and submitted before the next is asked for.
  std::span<std::byte> next();

  // The copy of the first `bytes` of it.
  void submit(uint64_t bytes, const wgpu::Buffer& to, uint64_t offset);

  // Gives all memory back.
  void clear();

 private:
  struct Slot {
    wgpu::Buffer buffer;
    wgpu::Future mapped = {};
    bool is_waited_for = true;
    wgpu::MapAsyncStatus status = wgpu::MapAsyncStatus::Success;
  };
  static constexpr size_t kSlots = 4;

  const wgpu::Instance& instance_;
  const wgpu::Device& device_;
  std::array<Slot, kSlots> slots_;
  size_t current_ = 0;
};

}  // namespace tern::gpu
