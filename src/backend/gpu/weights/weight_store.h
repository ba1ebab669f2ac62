// The model's weights on the device: uploaded once, when the plan is compiled, piece by piece, so that a model that is
// not in memory need not fit in it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "backend/gpu/device/device.h"
#include "backend/gpu/kernels/packed_weights.h"
#include "base/thread_pool.h"
#include "model/weights.h"
#include "tern/options.h"

namespace tern::gpu {

// A float matrix, in as many bindings as the device's limits and the formats of its pieces ask for.
struct FloatMatrix {
  struct Part {
    WeightCoding coding;
    BufferView units, scales;
    uint32_t first = 0, count = 0;  // rows
  };
  std::vector<Part> parts;
};

class WeightStore {
 public:
  // `total_bytes` is what will be uploaded in all, for the progress. `pool` packs, until close(); null: the caller
  // does.
  WeightStore(Device& device, uint64_t total_bytes, OnProgress on_progress, ThreadPool* pool)
      : device_(device), total_(total_bytes), on_progress_(std::move(on_progress)), pool_(pool) {}

  // These matrices lie in one buffer of so many bytes, one behind the other in the order in which they are first asked
  // for, each from a multiple of the device's offset_alignment on; and in the same way the scales of packed ones in
  // another.
  struct Together {
    uint64_t bytes = 0, scale_bytes = 0;
    std::vector<const Tensor*> matrices = {};
  };
  Result<void> keep_together(const Together& what);
  // Those buffers; null without.
  const Buffer* together() const { return together_.buffer; }
  const Buffer* scales_together() const { return scales_together_.buffer; }

  // The I2_S matrices, rows after rows, as one. kNotSupported where that is greater than a binding may be.
  Result<BufferView> ternary(std::span<const Tensor* const> matrices);
  // A vector as f32. kCorruption where it has values that are not finite: gains are multiplied with what is made int8,
  // where no NaN shows.
  Result<BufferView> vector(const Tensor& tensor);
  // The matrices, rows after rows, in the planes that hold their formats (pack.h): neighbours of one format that may be
  // bound at once are one part. Bytes that were uploaded before are not uploaded again.
  Result<const FloatMatrix*> matrix(std::span<const Tensor* const> matrices);
  Result<const FloatMatrix*> matrix(const Tensor& tensor);
  // The values as f32, whatever the format.
  Result<const FloatMatrix*> f32_matrix(const Tensor& tensor);

  // The two matrices of a gated layer, each as one part, in planes whose units are of one size. kNotSupported where one
  // is greater than a binding may be.
  struct Glu {
    const FloatMatrix::Part *gate, *up;
  };
  Result<Glu> glu(const Tensor& gate, const Tensor& up);

  // All is uploaded: nobody who watched may be called any more. A weight that was left out until now would be a
  // mistake.
  void close() { is_closed_ = true, on_progress_ = {}, pool_ = nullptr; }

  uint64_t bytes() const { return done_; }
  double seconds() const { return seconds_; }
  // The most host memory that reading took.
  uint64_t scratch_bytes() const { return scratch_.bytes(); }

 private:
  class ScalesWriter;
  struct RowSpan {
    const Tensor* tensor;
    uint64_t first, count;
  };
  // A buffer that is filled from its start on.
  struct Room {
    const Buffer* buffer = nullptr;
    uint64_t used = 0;
  };
  bool is_together(const Tensor& tensor) const { return in_layers_.contains(tensor.data.identity()); }
  BufferView take(Room& room, uint64_t bytes) const;
  Result<BufferView> new_view(const std::string& label, uint64_t bytes);
  Result<BufferView> upload_together(std::span<const StoredBytes> parts);
  Result<std::unique_ptr<Buffer>> upload(const std::string& label, std::span<const StoredBytes> parts);
  Result<FloatMatrix::Part> upload_packed(const WeightCoding& coding, std::span<const RowSpan> rows);
  Result<void> add_parts(const Tensor& tensor, const WeightCoding& coding, uint32_t first_row, FloatMatrix& matrix);
  Result<void> pack(const WeightCoding& coding, const RowSpan& rows, const Buffer& units, uint64_t at,
                    ScalesWriter& scales);
  void pack_rows_on_pool(const Tensor& tensor, const WeightCoding& coding, Bytes rows, std::span<uint32_t> units,
                         std::span<float> scales);
  Result<BufferView> no_scales();
  Result<void> write(const Buffer& buffer, uint64_t offset, const StoredBytes& bytes);
  uint64_t most_bytes() const;  // that can be bound at once

  Device& device_;
  uint64_t total_, done_ = 0;
  double seconds_ = 0;
  bool is_closed_ = false;
  OnProgress on_progress_;
  ThreadPool* pool_;
  std::map<std::string, BufferView> views_;  // by the tensors' names
  // By what their bytes are, for the head is often the embedding under another name; and whether as f32.
  using MatrixKey = std::pair<std::vector<StoredBytes::Identity>, bool>;
  std::map<MatrixKey, FloatMatrix> matrices_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  const Buffer* no_scales_ = nullptr;
  Room together_, scales_together_;
  std::set<StoredBytes::Identity> in_layers_;
  Scratch scratch_;
};

}  // namespace tern::gpu
