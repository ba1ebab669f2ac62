#include "backend/gpu/dawn/device.h"

#include <algorithm>
#include <limits>

#include "backend/gpu/device/device_checks.h"

namespace tern::gpu {
namespace {

// Dawn copies what is written into staging memory first. Pieces, and a wait now and then, bound that memory while a
// model loads.
constexpr uint64_t kWriteBytes = uint64_t{16} << 20;
constexpr uint64_t kUnflushedBytes = uint64_t{128} << 20;

// Every buffer may be copied from and to: debugging and tests look into all of them.
wgpu::BufferUsage usage_of(BufferUse use) {
  constexpr wgpu::BufferUsage kCopies = wgpu::BufferUsage::CopySrc | wgpu::BufferUsage::CopyDst;
  return kCopies | (use == BufferUse::kUniform ? wgpu::BufferUsage::Uniform : wgpu::BufferUsage::Storage);
}

}  // namespace

DawnDevice::DawnDevice(DeviceSetup& setup)
    : instance_(std::move(setup.instance)),
      info_(setup.adapter.info),
      only_validates_(setup.only_validates),
      compiles_when_run_(!setup.only_validates && !setup.options.validation),
      staging_(device_) {}

DawnDevice::~DawnDevice() {
  if (device_ == nullptr) return;
  if (cache_) dawn::native::PerformIdleTasks(device_);  // drivers' own caches are stored only now
  staging_.clear();
  pipelines_.clear();
  device_.Destroy();  // waits for what is in flight
}

PipelineStats DawnDevice::pipeline_stats() const {
  PipelineStats stats = stats_;
  stats.disk_hits = cache_ ? cache_->hits() : 0;
  return stats;
}

Result<std::unique_ptr<Buffer>> DawnDevice::new_buffer(std::string_view label, uint64_t bytes, BufferUse use) {
  TRY_STATUS(errors_.take());
  TRY_STATUS(check_new_buffer(label, bytes, *this));
  ErrorScopes scopes(instance_->api, device_);
  wgpu::BufferDescriptor descriptor;
  descriptor.label = wgpu::StringView(label);
  descriptor.usage = usage_of(use);
  descriptor.size = round_up(bytes, 16);  // whole vectors, and copies of multiples of 4
  wgpu::Buffer handle = device_.CreateBuffer(&descriptor);
  if (const auto error = scopes.take()) {
    return fail(error->code, "GPU buffer {} of {} bytes, with {} bytes allocated before it: {}", label, bytes,
                allocated_bytes_, error->message);
  }
  TRY_STATUS(errors_.take());
  return std::make_unique<DawnBuffer>(std::move(handle), bytes, use, allocated_bytes_);
}

Result<void> DawnDevice::write(const Buffer& buffer, uint64_t offset, Bytes bytes) {
  TRY_STATUS(errors_.take());
  TRY_STATUS(check_write(buffer, offset, bytes.size()));
  while (!bytes.empty()) {
    const Bytes piece = bytes.first(std::min<uint64_t>(bytes.size(), kWriteBytes));
    queue_.WriteBuffer(dawn(buffer).handle, offset, piece.data(), piece.size());
    offset += piece.size();
    bytes = bytes.subspan(piece.size());
    unflushed_bytes_ += piece.size();
    if (unflushed_bytes_ >= kUnflushedBytes) TRY_STATUS(wait());
  }
  return errors_.take();
}

Result<void> DawnDevice::wait() {
  TRY_STATUS(errors_.take());
  bool done = false;
  const wgpu::Future future = queue_.OnSubmittedWorkDone(
      wgpu::CallbackMode::WaitAnyOnly,
      [](wgpu::QueueWorkDoneStatus status, wgpu::StringView, bool* out) {
        *out = status == wgpu::QueueWorkDoneStatus::Success;
      },
      &done);
  instance_->api.WaitAny(future, std::numeric_limits<uint64_t>::max());
  unflushed_bytes_ = 0;
  TRY_STATUS(errors_.take());
  if (!done) return fail(ErrorCode::kDeviceLost, "{} did not finish the submitted work", info_.name);
  return {};
}

Result<void> DawnDevice::check() {
  instance_->api.ProcessEvents();
  return errors_.take();
}

void DawnDevice::lose() {
  device_.ForceLoss(wgpu::DeviceLostReason::Unknown, "lost on request");
  instance_->api.ProcessEvents();
}

}  // namespace tern::gpu
