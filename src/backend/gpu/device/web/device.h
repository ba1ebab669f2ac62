// The device on top of a browser's WebGPU, or of the same interface under Node. All objects live in library_gpu.js; the
// C++ side has their ids.
//
// To wait, the C++ stack is suspended until the browser is done (WebAssembly JSPI). So functions that can wait must be
// called through a module export that may be suspended.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backend/gpu/device/device.h"
#include "backend/gpu/device/web/objects.h"

namespace tern::gpu {

class WebDevice final : public Device {
 public:
  static Result<std::unique_ptr<WebDevice>> open(const DeviceOptions& options);
  ~WebDevice() override;
  WebDevice(const WebDevice&) = delete;
  WebDevice& operator=(const WebDevice&) = delete;

  const AdapterInfo& adapter() const override { return info_; }
  const Limits& limits() const override { return info_.limits; }
  const Features& features() const override { return features_; }
  uint64_t allocated_bytes() const override { return allocated_bytes_; }
  PipelineStats pipeline_stats() const override { return stats_; }

  Result<std::unique_ptr<Buffer>> new_buffer(std::string_view label, uint64_t bytes, BufferUse use) override;
  Result<void> write(const Buffer& buffer, uint64_t offset, Bytes bytes) override;
  // A file's bytes go to the GPU without passing through the module's memory.
  Result<void> write_from(const Buffer& buffer, uint64_t offset, const StoredBytes& bytes, Scratch& scratch,
                          ThreadPool* pool) override;
  // The text is compiled in the background; its errors are returned by the first call that runs something.
  Result<const Pipeline*> pipeline(const wgsl::Module& module) override;
  Result<std::unique_ptr<BindGroup>> bind(const Pipeline& pipeline, std::span<const BufferView> views) override;
  Result<void> submit(std::span<const Command> commands) override;
  Result<std::unique_ptr<ReadBack>> read_later(BufferView view, std::span<const Command> commands) override;
  Result<void> read(BufferView view, MutableBytes out) override;
  Result<std::vector<double>> time(std::span<const Command> commands) override;
  Result<double> time_whole(std::span<const Command> commands) override;
  Result<void> wait() override;
  Result<void> check() override;
  void lose() override;

 private:
  WebDevice(AdapterInfo info, const Restrictions& without);

  Result<void> count_written(uint64_t bytes);
  // Waits for pipelines being compiled, checks the commands, and encodes them in words_.
  Result<void> prepare(std::span<const Command> commands) override;
  Result<std::vector<double>> timed(std::span<const Command> commands, bool whole);

  AdapterInfo info_;
  Features features_;
  uint64_t allocated_bytes_ = 0;
  uint64_t unflushed_bytes_ = 0;  // written since the queue was last waited for
  PipelineStats stats_;
  std::unordered_map<std::string_view, std::unique_ptr<WebPipeline>> pipelines_;  // key: the module's text
  bool is_compiling_ = false;
  std::vector<uint32_t> words_;  // the last command list; kept, so that the token loop allocates nothing
};

}  // namespace tern::gpu
