// Copies from the device to the host, through staging buffers.
#include <algorithm>
#include <cstring>
#include <limits>

#include "backend/gpu/device/dawn/device.h"
#include "backend/gpu/device/device_checks.h"
#include "base/check.h"

namespace tern::gpu {
namespace {

class DawnReadBack final : public ReadBack {
 public:
  // The copy into `staging` must have been submitted.
  DawnReadBack(DawnDevice& device, wgpu::Buffer staging, uint64_t bytes)
      : device_(device), staging_(std::move(staging)), bytes_(bytes) {
    future_ = staging_.MapAsync(
        wgpu::MapMode::Read, 0, round_up(bytes, 4), wgpu::CallbackMode::WaitAnyOnly,
        [](wgpu::MapAsyncStatus status, wgpu::StringView, wgpu::MapAsyncStatus* out) { *out = status; }, &status_);
  }

  ~DawnReadBack() override {
    staging_.Unmap();                                 // ends a mapping that was never waited for,
    if (!waited_) device_.api().WaitAny(future_, 0);  // so that its callback runs while this object exists
    device_.staging().give_back(std::move(staging_));
  }
  DawnReadBack(const DawnReadBack&) = delete;
  DawnReadBack& operator=(const DawnReadBack&) = delete;

  Result<Bytes> wait() override {
    if (!waited_) device_.api().WaitAny(future_, std::numeric_limits<uint64_t>::max());
    waited_ = true;
    TRY_STATUS(device_.errors().take());
    const void* data =
        status_ == wgpu::MapAsyncStatus::Success ? staging_.GetConstMappedRange(0, round_up(bytes_, 4)) : nullptr;
    if (data == nullptr)
      return fail(ErrorCode::kDeviceLost, "{} did not return {} bytes", device_.adapter().name, bytes_);
    return Bytes(static_cast<const std::byte*>(data), bytes_);
  }

 private:
  DawnDevice& device_;
  wgpu::Buffer staging_;
  uint64_t bytes_;
  wgpu::Future future_;
  wgpu::MapAsyncStatus status_ = wgpu::MapAsyncStatus::Error;
  bool waited_ = false;
};

}  // namespace

Result<std::unique_ptr<ReadBack>> DawnDevice::copy_back(const wgpu::CommandEncoder& encoder, const wgpu::Buffer& buffer,
                                                        uint64_t offset, uint64_t bytes) {
  wgpu::Buffer staging = staging_.take(bytes);
  encoder.CopyBufferToBuffer(buffer, offset, staging, 0, round_up(bytes, 4));
  TRY_STATUS(finish(encoder));
  return std::make_unique<DawnReadBack>(*this, std::move(staging), bytes);
}

Result<std::unique_ptr<ReadBack>> DawnDevice::read_later(BufferView view, std::span<const Command> commands) {
  TRY_STATUS(errors_.take());
  TRY_STATUS(check_commands(commands, *this));
  TRY_STATUS(prepare(commands));
  TRY_STATUS(check_read_later(view));
  const wgpu::CommandEncoder encoder = device_.CreateCommandEncoder();
  encode(encoder, commands);
  return copy_back(encoder, dawn(*view.buffer).handle, view.offset, view_bytes(view));
}

Result<void> DawnDevice::read(BufferView view, MutableBytes out) {
  TRY_STATUS(errors_.take());
  TRY_STATUS(check_read(view));
  CHECK(out.size() == view_bytes(view));
  return read_all(dawn(*view.buffer).handle, view.offset, out);
}

Result<void> DawnDevice::read_all(const wgpu::Buffer& buffer, uint64_t offset, MutableBytes out) {
  while (!out.empty()) {
    const uint64_t bytes = std::min<uint64_t>(out.size(), kMaxReadBytes);
    TRY(const auto piece, copy_back(device_.CreateCommandEncoder(), buffer, offset, bytes));
    TRY(const Bytes mapped, piece->wait());
    std::memcpy(out.data(), mapped.data(), bytes);
    out = out.subspan(bytes);
    offset += bytes;
  }
  return {};
}

}  // namespace tern::gpu
