#include "backend/gpu/weight_store.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"

namespace tern::gpu {
namespace {

// Written at a time; and how much may be under way before the host waits, for every byte under way is host memory.
constexpr uint64_t kPieceBytes = 8u << 20;
constexpr uint64_t kMostUnsynced = 64u << 20;

uint64_t rounded_up(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

Result<void> WeightStore::write(const Buffer& buffer, uint64_t offset, Bytes bytes) {
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t at = 0; at < bytes.size(); at += kPieceBytes) {
    const Bytes piece = bytes.subspan(at, std::min(kPieceBytes, bytes.size() - at));
    const uint64_t whole = piece.size() / 4 * 4;
    TRY_STATUS(device_.write(buffer, offset + at, piece.first(whole)));
    if (whole < piece.size()) {  // the last bytes, filled up to a word
      std::byte word[4] = {};
      std::ranges::copy(piece.subspan(whole), word);
      TRY_STATUS(device_.write(buffer, offset + at + whole, word));
    }
    done_ += piece.size();
    unsynced_ += piece.size();
    if (unsynced_ >= kMostUnsynced) {
      TRY_STATUS(device_.wait());
      unsynced_ = 0;
    }
    if (on_progress_) on_progress_({.what = "uploading to the GPU", .done = done_, .total = total_, .unit = "B"});
  }
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {};
}

Result<std::unique_ptr<Buffer>> WeightStore::upload(const std::string& label, std::span<const Bytes> pieces) {
  uint64_t total = 0;
  for (const Bytes piece : pieces) total += piece.size();
  TRY(auto buffer, device_.new_buffer(label, rounded_up(total, 16), BufferUse::kWeights));
  uint64_t offset = 0;
  for (const Bytes piece : pieces) {
    TRY_STATUS(write(*buffer, offset, piece));
    offset += piece.size();
  }
  return buffer;
}

Result<BufferView> WeightStore::ternary(std::span<const Tensor* const> matrices) {
  std::string key;
  std::vector<Bytes> pieces;
  uint64_t total = 0;
  for (const Tensor* w : matrices) {
    CHECK(w->format == Format::kI2_S);
    key += (key.empty() ? "" : "+") + w->name;
    const uint64_t bytes = static_cast<uint64_t>(w->rows) * row_bytes(Format::kI2_S, w->cols);  // without the scale
    pieces.push_back(w->data.first(bytes));
    total += bytes;
  }
  if (const auto found = views_.find(key); found != views_.end()) return found->second;
  if (total > device_.limits().binding_bytes) {
    return fail(ErrorCode::kNotSupported, "{}: {} MB, but this GPU binds at most {} MB at once; use -b cpu", key,
                total >> 20, device_.limits().binding_bytes >> 20);
  }
  TRY(auto buffer, upload(key, pieces));
  const BufferView view{buffer.get(), 0, 0};
  // Its parts need no copies of their own, where they start at an offset that can be bound.
  uint64_t offset = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces.size() > 1 && offset % device_.limits().offset_alignment == 0) {
      views_.emplace(matrices[i]->name, BufferView{buffer.get(), offset, pieces[i].size()});
    }
    offset += pieces[i].size();
  }
  buffers_.push_back(std::move(buffer));
  views_.emplace(key, view);
  return view;
}

Result<std::unique_ptr<Buffer>> WeightStore::upload_decoded(const Tensor& tensor, uint32_t first, uint32_t count) {
  const auto cols = static_cast<uint64_t>(tensor.cols);
  const uint64_t in_bytes = row_bytes(tensor.format, tensor.cols);
  TRY(auto buffer, device_.new_buffer(tensor.name, rounded_up(count * cols * 4, 16), BufferUse::kWeights));
  const uint64_t rows_at_once = std::max<uint64_t>(1, kPieceBytes / (cols * 4));
  std::vector<float> values;
  for (uint64_t row = 0; row < count; row += rows_at_once) {
    const uint64_t n = std::min<uint64_t>(rows_at_once, count - row);
    values.resize(n * cols);
    for (uint64_t r = 0; r < n; ++r) {
      const Bytes in = tensor.data.subspan((first + row + r) * in_bytes, in_bytes);
      format_info(tensor.format).decode(in, std::span(values).subspan(r * cols, cols));
    }
    if (tensor.scale != 1.0f) {
      for (float& value : values) value *= tensor.scale;
    }
    TRY_STATUS(write(*buffer, row * cols * 4, std::as_bytes(std::span(values))));
  }
  return buffer;
}

Result<BufferView> WeightStore::vector(const Tensor& tensor) {
  if (const auto found = views_.find(tensor.name); found != views_.end()) return found->second;
  TRY(auto buffer, upload_decoded(tensor, 0, static_cast<uint32_t>(tensor.rows)));
  const BufferView view{buffer.get(), 0, 0};
  buffers_.push_back(std::move(buffer));
  views_.emplace(tensor.name, view);
  return view;
}

Result<const FloatMatrix*> WeightStore::matrix(const Tensor& tensor) {
  if (const auto found = matrices_.find(tensor.name); found != matrices_.end()) return &found->second;
  FloatMatrix matrix;
  matrix.is_f16 = tensor.format == Format::kF16 && tensor.scale == 1.0f;
  const uint64_t out_bytes = static_cast<uint64_t>(tensor.cols) * (matrix.is_f16 ? 2 : 4);
  const uint64_t most_rows = std::min(device_.limits().binding_bytes, device_.limits().buffer_bytes) / out_bytes;
  const auto rows = static_cast<uint32_t>(tensor.rows);
  const auto rows_per_part = static_cast<uint32_t>(std::min<uint64_t>(rows, most_rows));
  CHECK(rows_per_part > 0);
  for (uint32_t first = 0; first < rows; first += rows_per_part) {
    const uint32_t count = std::min(rows_per_part, rows - first);
    std::unique_ptr<Buffer> buffer;
    if (matrix.is_f16) {
      const Bytes bytes = tensor.data.subspan(first * out_bytes, count * out_bytes);
      TRY(buffer, upload(tensor.name, std::span(&bytes, 1)));
    } else {
      TRY(buffer, upload_decoded(tensor, first, count));
    }
    matrix.parts.push_back({.view = {buffer.get(), 0, 0}, .first = first, .count = count});
    buffers_.push_back(std::move(buffer));
  }
  return &matrices_.emplace(tensor.name, std::move(matrix)).first->second;
}

}  // namespace tern::gpu
