// The device interface's objects, wrapping Dawn's.
#pragma once

#include <webgpu/webgpu_cpp.h>

#include <utility>

#include "backend/gpu/device/device.h"

namespace tern::gpu {

class DawnBuffer final : public Buffer {
 public:
  // `allocated` is the device's count of bytes.
  DawnBuffer(wgpu::Buffer handle_in, uint64_t bytes, BufferUse use_in, uint64_t& allocated)
      : handle(std::move(handle_in)), use_(use_in), bytes_(bytes), allocated_(allocated) {
    allocated_ += handle.GetSize();
  }
  ~DawnBuffer() override {
    allocated_ -= handle.GetSize();
    handle.Destroy();  // otherwise existing bind groups would keep the memory
  }
  DawnBuffer(const DawnBuffer&) = delete;
  DawnBuffer& operator=(const DawnBuffer&) = delete;
  uint64_t bytes() const override { return bytes_; }
  BufferUse use() const override { return use_; }

  const wgpu::Buffer handle;

 private:
  BufferUse use_;
  uint64_t bytes_;
  uint64_t& allocated_;
};

class DawnPipeline final : public Pipeline {
 public:
  DawnPipeline(wgsl::Module module, wgpu::BindGroupLayout layout_in, wgpu::ComputePipeline handle_in)
      : layout(std::move(layout_in)), handle(std::move(handle_in)), module_(std::move(module)) {}
  const wgsl::Module& module() const override { return module_; }

  const wgpu::BindGroupLayout layout;
  // Null until DawnDevice::prepare() compiles it for the first commands that run it, and for kernels beyond the
  // validation device's limits.
  mutable wgpu::ComputePipeline handle;

 private:
  wgsl::Module module_;
};

class DawnBindGroup final : public BindGroup {
 public:
  explicit DawnBindGroup(wgpu::BindGroup handle_in) : handle(std::move(handle_in)) {}

  const wgpu::BindGroup handle;
};

// Objects of the interface always come from this implementation.
inline const DawnBuffer& dawn(const Buffer& buffer) { return static_cast<const DawnBuffer&>(buffer); }
inline const DawnPipeline& dawn(const Pipeline& pipeline) { return static_cast<const DawnPipeline&>(pipeline); }
inline const DawnBindGroup& dawn(const BindGroup& group) { return static_cast<const DawnBindGroup&>(group); }

}  // namespace tern::gpu
