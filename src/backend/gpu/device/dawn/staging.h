// Host-mappable buffers for reading back, and for large uploads. They are reused: creating a new one costs more than
// the copy.
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

  // A buffer of at least `bytes` (at most kMaxReadBytes). Null if the device fails.
  wgpu::Buffer take(uint64_t bytes);

  // The buffer must not be mapped. Copies into it that are still pending run before those of its next use.
  void give_back(wgpu::Buffer buffer);

  void clear();

 private:
  static constexpr uint64_t kMinBytes = 256;
  static constexpr size_t kSizes = 13;  // 256 B … 1 MiB, in powers of two

  const wgpu::Device& device_;
  std::array<std::vector<wgpu::Buffer>, kSizes> free_;
};

// Buffers used in turn: one is filled while others are copied.
class UploadRing {
 public:
  static constexpr size_t kBytes = size_t{4} << 20;  // of each

  UploadRing(const wgpu::Instance& instance, const wgpu::Device& device) : instance_(instance), device_(device) {}
  ~UploadRing() { clear(); }
  UploadRing(const UploadRing&) = delete;
  UploadRing& operator=(const UploadRing&) = delete;

  // Mapped memory of kBytes; empty if the device fails. Must be filled and submitted before the next call.
  std::span<std::byte> next();

  // Submits a copy of its first `bytes`.
  void submit(uint64_t bytes, const wgpu::Buffer& to, uint64_t offset);

  // Frees all memory.
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
