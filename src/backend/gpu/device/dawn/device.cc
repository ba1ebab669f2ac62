#include "backend/gpu/device/dawn/device.h"

#include <algorithm>
#include <limits>

#include "backend/gpu/device/dawn/compile_threads.h"
#include "backend/gpu/device/device_checks.h"
#include "base/thread_pool.h"

namespace tern::gpu {
namespace {

// Dawn first copies written bytes into staging memory. Writing in pieces, with an occasional wait, bounds that memory
// while a model loads.
constexpr uint64_t kWriteBytes = uint64_t{16} << 20;
constexpr uint64_t kUnflushedBytes = uint64_t{128} << 20;

// Smaller writes go through Dawn's own staging memory.
constexpr uint64_t kWorthStaging = uint64_t{1} << 18;

// memcpy, on several threads if the size is worth it. Pages of a mapped file are usually first touched here.
void copy(Bytes from, MutableBytes to, ThreadPool* pool) {
  constexpr size_t kWorthThreads = size_t{1} << 20, kShare = size_t{1} << 18;
  if (!pool || from.size() < kWorthThreads) return std::ranges::copy(from, to.begin()), void();
  pool->parallel_for(from.size(), kShare, [&](size_t begin, size_t n) {
    std::ranges::copy(from.subspan(begin, n), to.begin() + static_cast<ptrdiff_t>(begin));
  });
}

// Every buffer is a copy source and destination, so that debugging and tests can look into it.
wgpu::BufferUsage usage_of(BufferUse use) {
  constexpr wgpu::BufferUsage kCopies = wgpu::BufferUsage::CopySrc | wgpu::BufferUsage::CopyDst;
  return kCopies | (use == BufferUse::kUniform ? wgpu::BufferUsage::Uniform : wgpu::BufferUsage::Storage);
}

}  // namespace

DawnDevice::DawnDevice(DeviceSetup& setup)
    : instance_(std::move(setup.instance)),
      opened_{.info = setup.adapter.info},
      modes_{.only_validates = setup.only_validates,
             .compiles_when_run = !setup.only_validates && !setup.options.validation},
      staging_(device_),
      uploads_(instance_->api, device_) {}

DawnDevice::~DawnDevice() {
  if (device_ == nullptr) return;
  for (const Compiling& one : compiling_) wait_for(one);
  compiling_.clear();
  // Drivers' own blobs are stored only now, if anything is new.
  if (cache_ && cache_->misses() > 0) dawn::native::PerformIdleTasks(device_);
  staging_.clear();
  uploads_.clear();
  pipelines_.clear();
  device_.Destroy();  // waits for what is in flight
}

PipelineStats DawnDevice::pipeline_stats() const {
  PipelineStats stats = stats_;
  stats.disk_hits = cache_ ? cache_->hits() : 0;
#if TERN_SETS_COMPILE_THREADS
  stats.threads = compile_threads();
#endif
  return stats;
}

Result<std::unique_ptr<Buffer>> DawnDevice::new_buffer(std::string_view label, uint64_t bytes, BufferUse use) {
  TRY_STATUS(errors_.take());
  TRY_STATUS(check_new_buffer(label, bytes, *this));
  ErrorScopes scopes(instance_->api, device_);
  wgpu::BufferDescriptor descriptor;
  descriptor.label = wgpu::StringView(label);
  descriptor.usage = usage_of(use);
  descriptor.size = round_up(bytes, 16);  // for whole vectors, and copies of multiples of 4
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

Result<void> DawnDevice::write_from(const Buffer& buffer, uint64_t offset, const StoredBytes& bytes, Scratch& scratch,
                                    ThreadPool* pool) {
  if (!bytes.is_resident() || bytes.size() < kWorthStaging) {
    return Device::write_from(buffer, offset, bytes, scratch, pool);
  }
  TRY_STATUS(errors_.take());
  TRY_STATUS(check_write(buffer, offset, bytes.size()));
  for (Bytes rest = bytes.resident(); !rest.empty();) {
    const Bytes piece = rest.first(std::min<size_t>(rest.size(), UploadRing::kBytes));
    const std::span<std::byte> memory = uploads_.next();
    if (memory.empty()) {
      TRY_STATUS(errors_.take());
      return write(buffer, offset, rest);
    }
    copy(piece, memory.first(piece.size()), pool);
    uploads_.submit(piece.size(), dawn(buffer).handle, offset);
    offset += piece.size();
    rest = rest.subspan(piece.size());
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
  uploads_.clear();  // its memory is not needed until the next upload
  TRY_STATUS(errors_.take());
  if (!done) return fail(ErrorCode::kDeviceLost, "{} did not finish the submitted work", opened_.info.name);
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
