// The device interface's objects: ids of objects in library_gpu.js.
#pragma once

#include <utility>

#include "backend/gpu/device/device.h"
#include "backend/gpu/device/web/library_gpu.h"

namespace tern::gpu {

class WebBuffer final : public Buffer {
 public:
  WebBuffer(int id_in, uint64_t bytes, uint64_t size, BufferUse use, uint64_t& allocated)
      : id(id_in), bytes_(bytes), size_(size), use_(use), allocated_(allocated) {
    allocated_ += size_;
  }
  ~WebBuffer() override {
    allocated_ -= size_;
    tern_gpu_free_buffer(id);
  }
  WebBuffer(const WebBuffer&) = delete;
  WebBuffer& operator=(const WebBuffer&) = delete;
  uint64_t bytes() const override { return bytes_; }
  BufferUse use() const override { return use_; }

  const int id;

 private:
  uint64_t bytes_, size_;
  BufferUse use_;
  uint64_t& allocated_;
};

class WebPipeline final : public Pipeline {
 public:
  WebPipeline(int id_in, wgsl::Module module) : id(id_in), module_(std::move(module)) {}
  const wgsl::Module& module() const override { return module_; }

  const int id;

 private:
  wgsl::Module module_;
};

class WebBindGroup final : public BindGroup {
 public:
  explicit WebBindGroup(int id_in) : id(id_in) {}
  ~WebBindGroup() override { tern_gpu_free(id); }
  WebBindGroup(const WebBindGroup&) = delete;
  WebBindGroup& operator=(const WebBindGroup&) = delete;

  const int id;
};

}  // namespace tern::gpu
