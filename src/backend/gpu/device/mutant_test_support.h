// The mutation gate (tests/mutation) breaks kernels before they reach the device, and expects the tests to fail.
//
//   TERN_MUTANT_KERNEL   the kernels to change: a regular expression that matches the whole name
//   TERN_MUTANT_FIND     the WGSL text to replace: a regular expression
//   TERN_MUTANT_REPLACE  the replacement ($1: the first group)
//
// Without these variables nothing is changed.
#pragma once

#include <cstdlib>
#include <functional>
#include <iostream>
#include <regex>

#include "backend/gpu/device/device.h"

namespace tern::gpu {

inline wgsl::Module mutated(const wgsl::Module& module) {
  const char* kernel = std::getenv("TERN_MUTANT_KERNEL");
  const char* find = std::getenv("TERN_MUTANT_FIND");
  const char* replace = std::getenv("TERN_MUTANT_REPLACE");
  if (!kernel || !find || !replace || !std::regex_match(module.name, std::regex(kernel))) return module;
  wgsl::Module mutant = module;
  mutant.text = std::regex_replace(module.text, std::regex(find), replace);
  if (mutant.text != module.text) std::cerr << "mutant applied to " << module.name << "\n";
  return mutant;
}

// A device that compiles the result of `rewrite` instead of the kernels it is given.
class RewritingDevice : public Device {
 public:
  using Rewrite = std::function<wgsl::Module(const wgsl::Module&)>;
  RewritingDevice(std::unique_ptr<Device> device, Rewrite rewrite)
      : device_(std::move(device)), rewrite_(std::move(rewrite)) {}

  Result<const Pipeline*> pipeline(const wgsl::Module& module) override { return device_->pipeline(rewrite_(module)); }

  const AdapterInfo& adapter() const override { return device_->adapter(); }
  const Limits& limits() const override { return device_->limits(); }
  const Features& features() const override { return device_->features(); }
  uint64_t allocated_bytes() const override { return device_->allocated_bytes(); }
  PipelineStats pipeline_stats() const override { return device_->pipeline_stats(); }
  Result<std::unique_ptr<Buffer>> new_buffer(std::string_view label, uint64_t bytes, BufferUse use) override {
    return device_->new_buffer(label, bytes, use);
  }
  Result<void> write(const Buffer& buffer, uint64_t offset, Bytes bytes) override {
    return device_->write(buffer, offset, bytes);
  }
  Result<std::unique_ptr<BindGroup>> bind(const Pipeline& pipeline, std::span<const BufferView> views) override {
    return device_->bind(pipeline, views);
  }
  Result<void> prepare(std::span<const Command> commands) override { return device_->prepare(commands); }
  Result<void> begin(const Pipeline& pipeline) override { return device_->begin(pipeline); }
  Result<void> submit(std::span<const Command> commands) override { return device_->submit(commands); }
  Result<std::unique_ptr<ReadBack>> read_later(BufferView view, std::span<const Command> commands) override {
    return device_->read_later(view, commands);
  }
  Result<void> read(BufferView view, MutableBytes out) override { return device_->read(view, out); }
  Result<std::vector<double>> time(std::span<const Command> commands) override { return device_->time(commands); }
  Result<double> time_whole(std::span<const Command> commands) override { return device_->time_whole(commands); }
  Result<void> wait() override { return device_->wait(); }
  Result<void> check() override { return device_->check(); }
  void lose() override { device_->lose(); }

 private:
  std::unique_ptr<Device> device_;
  Rewrite rewrite_;
};

// A device that compiles mutants of the kernels that the environment selects.
class MutatingDevice : public RewritingDevice {
 public:
  explicit MutatingDevice(std::unique_ptr<Device> device) : RewritingDevice(std::move(device), mutated) {}
};

}  // namespace tern::gpu
