// The device on top of Dawn. device.cc: buffers; pipelines.cc: kernels and bindings; commands.cc: running commands;
// read_back.cc: reading back; open.cc: opening a device.
#pragma once

#include <webgpu/webgpu_cpp.h>

#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backend/gpu/device/dawn/blob_cache.h"
#include "backend/gpu/device/dawn/errors.h"
#include "backend/gpu/device/dawn/instance.h"
#include "backend/gpu/device/dawn/objects.h"
#include "backend/gpu/device/dawn/staging.h"
#include "backend/gpu/device/device.h"

namespace tern::gpu {

class TimestampQueries;

struct DeviceSetup {
  std::shared_ptr<const Instance> instance;
  Adapter adapter;
  DeviceOptions options;
  bool only_validates = false;  // Dawn's Null backend
};

class DawnDevice final : public Device {
 public:
  static Result<std::unique_ptr<DawnDevice>> open(DeviceSetup setup);
  ~DawnDevice() override;
  DawnDevice(const DawnDevice&) = delete;
  DawnDevice& operator=(const DawnDevice&) = delete;

  const AdapterInfo& adapter() const override { return opened_.info; }
  const Limits& limits() const override { return opened_.limits; }
  const Features& features() const override { return opened_.features; }
  uint64_t allocated_bytes() const override { return allocated_bytes_; }
  PipelineStats pipeline_stats() const override;

  Result<std::unique_ptr<Buffer>> new_buffer(std::string_view label, uint64_t bytes, BufferUse use) override;
  Result<void> write(const Buffer& buffer, uint64_t offset, Bytes bytes) override;
  Result<void> write_from(const Buffer& buffer, uint64_t offset, const StoredBytes& bytes, Scratch& scratch,
                          ThreadPool* pool) override;
  Result<const Pipeline*> pipeline(const wgsl::Module& module) override;
  Result<std::unique_ptr<BindGroup>> bind(const Pipeline& pipeline, std::span<const BufferView> views) override;
  Result<void> prepare(std::span<const Command> commands) override;
  Result<void> begin(const Pipeline& pipeline) override;
  Result<void> submit(std::span<const Command> commands) override;
  Result<std::unique_ptr<ReadBack>> read_later(BufferView view, std::span<const Command> commands) override;
  Result<void> read(BufferView view, MutableBytes out) override;
  Result<std::vector<double>> time(std::span<const Command> commands) override;
  Result<double> time_whole(std::span<const Command> commands) override;
  Result<void> wait() override;
  Result<void> check() override;
  void lose() override;

  // Used by DawnReadBack.
  const wgpu::Instance& api() const { return instance_->api; }
  ErrorState& errors() { return errors_; }
  StagingPool& staging() { return staging_; }

 private:
  explicit DawnDevice(DeviceSetup& setup);

  // open.cc
  Result<void> create(const DeviceSetup& setup);
  void choose_features(const DeviceSetup& setup);
  std::vector<wgpu::FeatureName> wanted_features(const DeviceSetup& setup) const;

  // pipelines.cc
  Result<wgpu::ShaderModule> compile(const wgsl::Module& module);
  Result<std::unique_ptr<DawnPipeline>> make_pipeline(const wgsl::Module& module);
  // A pipeline that one of Dawn's threads is compiling; wait_for() ends it.
  struct Compiling {
    const DawnPipeline* pipeline = nullptr;
    wgpu::Future future = {};
    wgpu::ComputePipeline handle = {};
    std::string error = {};
  };
  bool is_compiling(const DawnPipeline& pipeline) const;
  Result<void> start(const DawnPipeline& pipeline);
  void wait_for(const Compiling& one) const;

  // commands.cc
  void encode(const wgpu::CommandEncoder& encoder, std::span<const Command> commands) const;
  void encode_timed(const wgpu::CommandEncoder& encoder, std::span<const Command> commands,
                    const TimestampQueries& queries) const;
  Result<void> finish(const wgpu::CommandEncoder& encoder);

  // read_back.cc
  Result<std::unique_ptr<ReadBack>> copy_back(const wgpu::CommandEncoder& encoder, const wgpu::Buffer& buffer,
                                              uint64_t offset, uint64_t bytes);
  Result<void> read_all(const wgpu::Buffer& buffer, uint64_t offset, MutableBytes out);

  struct Opened {
    AdapterInfo info;
    Limits limits = {};
    Features features = {};
  };
  struct Modes {
    bool only_validates;
    bool compiles_when_run;  // otherwise pipelines are compiled when they are requested, so that errors appear then
    bool timestamps_inside_passes = false;
  };

  // Callbacks use these until the instance is destroyed, so they must be declared before it.
  ErrorState errors_;
  std::optional<BlobCache> cache_;
  std::list<Compiling> compiling_;

  std::shared_ptr<const Instance> instance_;
  wgpu::Device device_;
  wgpu::Queue queue_;
  Opened opened_;
  Modes modes_;
  uint64_t allocated_bytes_ = 0;
  uint64_t unflushed_bytes_ = 0;  // written since the queue was last waited for
  PipelineStats stats_;
  std::unordered_map<std::string_view, std::unique_ptr<DawnPipeline>> pipelines_;  // key: the module's text
  StagingPool staging_;
  UploadRing uploads_;
};

}  // namespace tern::gpu
