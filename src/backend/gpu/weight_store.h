// The model's weights on the device: uploaded once, when the plan is compiled, straight from the mapped file.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/gpu/device.h"
#include "model/weights.h"
#include "tern/options.h"

namespace tern::gpu {

// A float matrix, in as many bindings as the device's limit asks for.
struct FloatMatrix {
  struct Part {
    BufferView view;
    uint32_t first = 0, count = 0;  // rows
  };
  bool is_f16 = false;  // else f32
  std::vector<Part> parts;
};

class WeightStore {
 public:
  // `total_bytes` is what will be uploaded in all, for the progress.
  WeightStore(Device& device, uint64_t total_bytes, OnProgress on_progress)
      : device_(device), total_(total_bytes), on_progress_(std::move(on_progress)) {}

  // The I2_S matrices, rows after rows, as one. kNotSupported where that is greater than a binding may be.
  Result<BufferView> ternary(std::span<const Tensor* const> matrices);
  // A vector as f32.
  Result<BufferView> vector(const Tensor& tensor);
  // F16 as it is; every other format as the f32 values that it stands for.
  Result<const FloatMatrix*> matrix(const Tensor& tensor);

  uint64_t bytes() const { return done_; }
  double seconds() const { return seconds_; }

 private:
  Result<std::unique_ptr<Buffer>> upload(const std::string& label, std::span<const Bytes> pieces);
  Result<std::unique_ptr<Buffer>> upload_decoded(const Tensor& tensor, uint32_t first, uint32_t count);
  Result<void> write(const Buffer& buffer, uint64_t offset, Bytes bytes);

  Device& device_;
  uint64_t total_, done_ = 0, unsynced_ = 0;
  double seconds_ = 0;
  OnProgress on_progress_;
  std::map<std::string, BufferView> views_;  // by the tensors' names
  std::map<std::string, FloatMatrix> matrices_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

}  // namespace tern::gpu
