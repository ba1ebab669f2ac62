// The model's weights on the device. They are uploaded once, piece by piece, when the plan is compiled, so a model may
// be larger than host memory.
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
#include "model/source/weights.h"
#include "tern/options.h"

namespace tern::gpu {

// A float matrix, in as many bindings as the device's limits and the formats of its pieces require.
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
  // `total_bytes`: size of the whole upload, for progress reports. `pool` packs weights until close(); null: the
  // calling thread packs.
  WeightStore(Device& device, uint64_t total_bytes, OnProgress on_progress, ThreadPool* pool)
      : device_(device), total_(total_bytes), on_progress_(std::move(on_progress)), pool_(pool) {}

  // Keeps these matrices in one buffer of `bytes` bytes, in the order in which they are first requested, each aligned
  // to the device's offset_alignment. The scales of packed ones go into a second buffer in the same way.
  struct Together {
    uint64_t bytes = 0, scale_bytes = 0;
    std::vector<const Tensor*> matrices = {};
  };
  Result<void> keep_together(const Together& what);
  // The two buffers; null if not used.
  const Buffer* together() const { return together_.buffer; }
  const Buffer* scales_together() const { return scales_together_.buffer; }

  // The I2_S matrices as one, rows after rows. kNotSupported if that is larger than a binding may be.
  Result<BufferView> ternary(std::span<const Tensor* const> matrices);
  // A vector as f32. kCorruption if it has values that are not finite: gains multiply values that become int8, where a
  // NaN would not show.
  Result<BufferView> vector(const Tensor& tensor);
  // Several vectors, one after another.
  Result<BufferView> vectors(std::span<const Tensor* const> tensors);
  // The matrices, rows after rows, in the planes for their formats (pack.h). Adjacent ones of one format form one part
  // if they can be bound at once. Bytes uploaded before are not uploaded again.
  Result<const FloatMatrix*> matrix(std::span<const Tensor* const> matrices);
  Result<const FloatMatrix*> matrix(const Tensor& tensor);
  // The values as f32, whatever the format.
  Result<const FloatMatrix*> f32_matrix(const Tensor& tensor);

  // The two matrices of a gated layer, each as one part, in planes with units of one size. kNotSupported if one is
  // larger than a binding may be.
  struct Glu {
    const FloatMatrix::Part *gate, *up;
  };
  Result<Glu> glu(const Tensor& gate, const Tensor& up);

  // Ends the upload: progress is not reported any more, and requesting a weight that has not been uploaded is a bug.
  void close() { is_closed_ = true, on_progress_ = {}, pool_ = nullptr; }

  // Further weights may be requested until close(), without progress reports.
  void open_again() { is_closed_ = false; }

  uint64_t bytes() const { return done_; }
  double seconds() const { return seconds_; }
  // The peak host memory used for reading.
  uint64_t scratch_bytes() const { return scratch_.bytes(); }

 private:
  class ScalesWriter;
  struct RowSpan {
    const Tensor* tensor;
    uint64_t first, count;
  };
  // A buffer that is filled from the start.
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
  uint64_t most_bytes() const;  // limit of one binding

  Device& device_;
  uint64_t total_, done_ = 0;
  double seconds_ = 0;
  bool is_closed_ = false;
  OnProgress on_progress_;
  ThreadPool* pool_;
  std::map<std::string, BufferView> views_;  // by the tensors' names
  // Keyed by the identity of the bytes, since the head is often the embedding under another name, and by whether it is
  // f32.
  using MatrixKey = std::pair<std::vector<StoredBytes::Identity>, bool>;
  std::map<MatrixKey, FloatMatrix> matrices_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  const Buffer* no_scales_ = nullptr;
  Room together_, scales_together_;
  std::set<StoredBytes::Identity> in_layers_;
  Scratch scratch_;
};

}  // namespace tern::gpu
