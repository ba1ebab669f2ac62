#include "backend/gpu/device/web/device.h"

#include <algorithm>
#include <chrono>

#include "backend/gpu/device/device_checks.h"
#include "backend/gpu/device/web/library_gpu.h"
#include "base/check.h"
#include "base/files/file.h"
#include "base/web/take_text.h"

namespace tern::gpu {

namespace {

// Bytes that may be written before waiting for the queue: the browser keeps copies until then.
constexpr uint64_t kUnflushedBytes = uint64_t{64} << 20;
constexpr int kCommandWords = 6;  // library_gpu.js

// Objects of the interface always come from this implementation.
int id_of(const Buffer& buffer) { return static_cast<const WebBuffer&>(buffer).id; }
int id_of(const Pipeline& pipeline) { return static_cast<const WebPipeline&>(pipeline).id; }
int id_of(const BindGroup& group) { return static_cast<const WebBindGroup&>(group).id; }

// The first error since the last call that returned one. Once the device is lost, always returns that.
Result<void> take_error(const AdapterInfo& adapter) {
  constexpr int kOutOfMemory = 1, kLost = 3;
  char* text = nullptr;
  const int code = tern_gpu_take_error(&text);
  if (code == 0) return {};
  const std::string message = take_text(text);
  if (code == kLost) return fail(ErrorCode::kDeviceLost, "the GPU {} was lost: {}", adapter.name, message);
  return fail(code == kOutOfMemory ? ErrorCode::kOutOfMemory : ErrorCode::kNotSupported, "WebGPU: {}", message);
}

// Flags of WebGPU's GPUBufferUsage. Every buffer is a copy source and destination, so that debugging and tests can look
// into it.
int usage_of(BufferUse use) {
  constexpr int kCopySrc = 0x4, kCopyDst = 0x8, kUniform = 0x40, kStorage = 0x80;
  return kCopySrc | kCopyDst | (use == BufferUse::kUniform ? kUniform : kStorage);
}

char access_digit(wgsl::Access access) {
  switch (access) {
    case wgsl::Access::kRead:
      return '0';
    case wgsl::Access::kReadWrite:
      return '1';
    case wgsl::Access::kUniform:
      return '2';
  }
  CHECK(false);
}

class WebReadBack final : public ReadBack {
 public:
  WebReadBack(const AdapterInfo& adapter, int id, uint64_t bytes) : adapter_(adapter), id_(id), bytes_(bytes) {}
  ~WebReadBack() override { tern_gpu_end_read(id_); }
  WebReadBack(const WebReadBack&) = delete;
  WebReadBack& operator=(const WebReadBack&) = delete;

  Result<Bytes> wait() override {
    if (bytes_.empty()) return Bytes();
    if (!is_here_) {
      is_here_ = tern_gpu_finish_read(id_, bytes_.data()) != 0;
      TRY_STATUS(take_error(adapter_));
    }
    if (is_here_) return Bytes(bytes_);
    return fail(ErrorCode::kDeviceLost, "{} did not return {} bytes", adapter_.name, bytes_.size());
  }

 private:
  const AdapterInfo& adapter_;
  int id_;
  std::vector<std::byte> bytes_;
  bool is_here_ = false;
};

}  // namespace

WebDevice::~WebDevice() {
  pipelines_.clear();
  tern_gpu_close();
}

Result<std::unique_ptr<Buffer>> WebDevice::new_buffer(std::string_view label, uint64_t bytes, BufferUse use) {
  TRY_STATUS(take_error(info_));
  TRY_STATUS(check_new_buffer(label, bytes, *this));
  const uint64_t size = round_up(bytes, 16);  // for whole vectors, and copies of multiples of 4
  const int id = tern_gpu_new_buffer(std::string(label).c_str(), static_cast<double>(size), usage_of(use));
  auto buffer = std::make_unique<WebBuffer>(id, bytes, size, use, allocated_bytes_);
  TRY_STATUS(take_error(info_));
  return buffer;
}

Result<void> WebDevice::write(const Buffer& buffer, uint64_t offset, Bytes bytes) {
  TRY_STATUS(take_error(info_));
  TRY_STATUS(check_write(buffer, offset, bytes.size()));
  tern_gpu_write(id_of(buffer), static_cast<double>(offset), bytes.data(), bytes.size());
  return count_written(bytes.size());
}

Result<void> WebDevice::write_from(const Buffer& buffer, uint64_t offset, const StoredBytes& bytes, Scratch& scratch,
                                   ThreadPool* pool) {
  const File* file = bytes.source() ? bytes.source()->file() : nullptr;
  if (!file) return Device::write_from(buffer, offset, bytes, scratch, pool);
  TRY_STATUS(take_error(info_));
  TRY_STATUS(check_write(buffer, offset, bytes.size()));
  const std::string error =
      take_text(tern_gpu_write_file(id_of(buffer), static_cast<double>(offset), file->path().c_str(),
                                    static_cast<double>(bytes.offset()), static_cast<double>(bytes.size())));
  if (!error.empty()) return fail(ErrorCode::kIo, "{}", error);
  return count_written(bytes.size());
}

Result<void> WebDevice::count_written(uint64_t bytes) {
  unflushed_bytes_ += bytes;
  if (unflushed_bytes_ >= kUnflushedBytes) TRY_STATUS(wait());
  return take_error(info_);
}

Result<const Pipeline*> WebDevice::pipeline(const wgsl::Module& module) {
  TRY_STATUS(take_error(info_));
  if (const auto found = pipelines_.find(module.text); found != pipelines_.end()) {
    ++stats_.hits;
    return found->second.get();
  }
  TRY_STATUS(check_needs(module, *this));
  std::string access;
  for (const wgsl::BindingDecl& binding : module.bindings) access += access_digit(binding.access);
  const int id = tern_gpu_new_pipeline(module.name.c_str(), module.text.c_str(), access.c_str());
  is_compiling_ = true;
  auto pipeline = std::make_unique<WebPipeline>(id, module);
  ++stats_.compiled;
  const std::string_view text = pipeline->module().text;
  return pipelines_.emplace(text, std::move(pipeline)).first->second.get();
}

Result<std::unique_ptr<BindGroup>> WebDevice::bind(const Pipeline& pipeline, std::span<const BufferView> views) {
  TRY_STATUS(take_error(info_));
  const wgsl::Module& module = pipeline.module();
  TRY_STATUS(check_views(module, views, *this));
  std::vector<uint32_t> entries;
  for (const BufferView& view : views) {
    entries.insert(entries.end(), {static_cast<uint32_t>(id_of(*view.buffer)), static_cast<uint32_t>(view.offset),
                                   static_cast<uint32_t>(round_up(view_bytes(view), 4))});
  }
  const int id = tern_gpu_bind(id_of(pipeline), module.name.c_str(), entries.data(), static_cast<int>(views.size()));
  return std::make_unique<WebBindGroup>(id);
}

Result<void> WebDevice::prepare(std::span<const Command> commands) {
  TRY_STATUS(take_error(info_));
  if (is_compiling_) {
    const auto start = std::chrono::steady_clock::now();
    tern_gpu_settle();
    stats_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    is_compiling_ = false;
    TRY_STATUS(take_error(info_));
  }
  TRY_STATUS(check_commands(commands, *this));
  words_.clear();
  for (const Command& c : commands) {
    const auto word = [](auto value) { return static_cast<uint32_t>(value); };
    if (c.pipeline) {
      words_.insert(words_.end(),
                    {word(id_of(*c.pipeline)), word(id_of(*c.bindings)), c.grid.x, c.grid.y, c.grid.z, 0});
    } else {
      words_.insert(words_.end(), {0, word(id_of(*c.from.buffer)), word(c.from.offset), word(id_of(*c.to.buffer)),
                                   word(c.to.offset), word(round_up(view_bytes(c.from), 4))});
    }
  }
  return {};
}

Result<void> WebDevice::submit(std::span<const Command> commands) {
  TRY_STATUS(prepare(commands));
  tern_gpu_submit(words_.data(), static_cast<int>(words_.size()));
  return take_error(info_);
}

Result<std::unique_ptr<ReadBack>> WebDevice::read_later(BufferView view, std::span<const Command> commands) {
  TRY_STATUS(prepare(commands));
  TRY_STATUS(check_read_later(view));
  const uint64_t bytes = view_bytes(view);
  const int id = tern_gpu_read_later(words_.data(), static_cast<int>(words_.size()), id_of(*view.buffer),
                                     static_cast<double>(view.offset), static_cast<int>(bytes));
  return std::make_unique<WebReadBack>(info_, id, bytes);
}

Result<void> WebDevice::read(BufferView view, MutableBytes out) {
  TRY_STATUS(check_read(view));
  CHECK(out.size() == view_bytes(view));
  for (uint64_t at = 0; at < out.size(); at += kMaxReadBytes) {
    const uint64_t bytes = std::min<uint64_t>(kMaxReadBytes, out.size() - at);
    TRY(const auto back, read_later({view.buffer, view.offset + at, bytes}, {}));
    TRY(const Bytes here, back->wait());
    std::ranges::copy(here, out.begin() + static_cast<ptrdiff_t>(at));
  }
  return {};
}

Result<std::vector<double>> WebDevice::timed(std::span<const Command> commands, bool whole) {
  if (!features_.timestamps) return fail(ErrorCode::kNotSupported, "{} cannot measure times", info_.name);
  TRY_STATUS(prepare(commands));
  std::vector<double> seconds(whole ? 1 : words_.size() / kCommandWords);
  const int done = tern_gpu_time(words_.data(), static_cast<int>(words_.size()), whole ? 1 : 0, seconds.data());
  TRY_STATUS(take_error(info_));
  if (done == 0) return fail(ErrorCode::kDeviceLost, "{} did not hand over its times", info_.name);
  return seconds;
}

Result<std::vector<double>> WebDevice::time(std::span<const Command> commands) { return timed(commands, false); }

Result<double> WebDevice::time_whole(std::span<const Command> commands) {
  TRY(const auto seconds, timed(commands, true));
  return seconds.front();
}

Result<void> WebDevice::wait() {
  TRY_STATUS(prepare({}));
  tern_gpu_wait();
  unflushed_bytes_ = 0;
  return take_error(info_);
}

Result<void> WebDevice::check() { return take_error(info_); }

void WebDevice::lose() { tern_gpu_lose(); }

}  // namespace tern::gpu
