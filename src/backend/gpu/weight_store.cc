#include "backend/gpu/weight_store.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "backend/gpu/pack.h"
#include "base/check.h"

namespace tern::gpu {
namespace {

constexpr uint64_t kPieceBytes = 8u << 20;  // packed or written between two signs of progress

// pack_rows, on as many threads as it is worth.
void pack_in_parallel(const Tensor& tensor, const WeightCoding& coding, uint64_t first, uint64_t count,
                      std::span<uint32_t> units, std::span<float> scales) {
  constexpr uint64_t kMostThreads = 8;
  const size_t row_units = units.size() / count, row_scales = scales.size() / count;
  const uint64_t n = units.size_bytes() < (kPieceBytes >> 3)
                         ? 1
                         : std::min({kMostThreads, uint64_t{std::max(1u, std::thread::hardware_concurrency())}, count});
  std::vector<std::jthread> threads;
  for (uint64_t t = 0; t < n; ++t) {
    const uint64_t begin = count * t / n, end = count * (t + 1) / n;
    const auto pack = [=, &tensor] {
      pack_rows(tensor, coding, first + begin, end - begin, units.subspan(begin * row_units, (end - begin) * row_units),
                scales.subspan(begin * row_scales, (end - begin) * row_scales));
    };
    if (t + 1 == n) {
      pack();
    } else {
      threads.emplace_back(pack);
    }
  }
}

}  // namespace

Result<void> WeightStore::write(const Buffer& buffer, uint64_t offset, Bytes bytes) {
  CHECK(!is_closed_);
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t at = 0; at < bytes.size(); at += kPieceBytes) {
    const Bytes piece = bytes.subspan(at, std::min(kPieceBytes, bytes.size() - at));
    TRY_STATUS(device_.write(buffer, offset + at, piece));
    done_ += piece.size();
    if (on_progress_) on_progress_({.what = "uploading to the GPU", .done = done_, .total = total_, .unit = "B"});
  }
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {};
}

Result<std::unique_ptr<Buffer>> WeightStore::upload(const std::string& label, std::span<const Bytes> pieces) {
  uint64_t total = 0;
  for (const Bytes piece : pieces) total += piece.size();
  TRY(auto buffer, device_.new_buffer(label, total, BufferUse::kWeights));
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

Result<BufferView> WeightStore::vector(const Tensor& tensor) {
  if (const auto found = views_.find(tensor.name); found != views_.end()) return found->second;
  std::vector<float> values(static_cast<size_t>(tensor.rows) * static_cast<size_t>(tensor.cols));
  format_info(tensor.format).decode(tensor.data.first(row_bytes(tensor.format, tensor.cols)), values);
  for (float& value : values) value *= tensor.scale;
  const Bytes bytes = std::as_bytes(std::span(values));
  TRY(auto buffer, upload(tensor.name, std::span(&bytes, 1)));
  const BufferView view{buffer.get(), 0, 0};
  buffers_.push_back(std::move(buffer));
  views_.emplace(tensor.name, view);
  return view;
}

Result<BufferView> WeightStore::scales_view(const WeightCoding& coding, std::span<const float> scales) {
  if (coding.group == 0 && no_scales_) return BufferView{no_scales_, 0, 0};
  const auto words = pack_scales(coding, scales);
  const Bytes bytes = std::as_bytes(std::span(words));
  TRY(auto buffer, upload("scales", std::span(&bytes, 1)));
  if (coding.group == 0) no_scales_ = buffer.get();
  buffers_.push_back(std::move(buffer));
  return BufferView{buffers_.back().get(), 0, 0};
}

Result<FloatMatrix::Part> WeightStore::upload_packed(const WeightCoding& coding, std::span<const RowSpan> rows) {
  const int cols = rows.front().tensor->cols;
  const uint64_t row_bytes = unit_row_bytes(coding, cols);
  const size_t row_scales = coding.group == 0 ? 0 : static_cast<size_t>(cols) / coding.group;
  uint64_t n_rows = 0;
  for (const RowSpan& span : rows) n_rows += span.count;
  TRY(auto buffer, device_.new_buffer(rows.front().tensor->name, n_rows * row_bytes, BufferUse::kWeights));
  const uint64_t rows_at_once = std::max<uint64_t>(1, kPieceBytes / row_bytes);
  std::vector<uint32_t> units;
  std::vector<float> scales(n_rows * row_scales);
  uint64_t at = 0;  // row of the part
  for (const RowSpan& span : rows) {
    for (uint64_t row = 0; row < span.count; row += rows_at_once) {
      const uint64_t n = std::min(rows_at_once, span.count - row);
      units.resize(n * row_bytes / 4);
      pack_in_parallel(*span.tensor, coding, span.first + row, n, units,
                       std::span(scales).subspan(at * row_scales, n * row_scales));
      TRY_STATUS(write(*buffer, at * row_bytes, std::as_bytes(std::span(units))));
      at += n;
    }
  }
  FloatMatrix::Part part{
      .coding = coding, .units = {buffer.get(), 0, 0}, .scales = {}, .count = static_cast<uint32_t>(n_rows)};
  buffers_.push_back(std::move(buffer));
  TRY(part.scales, scales_view(coding, scales));
  return part;
}

uint64_t WeightStore::most_bytes() const {
  return std::min(device_.limits().binding_bytes, device_.limits().buffer_bytes);
}

Result<void> WeightStore::add_parts(const Tensor& tensor, const WeightCoding& coding, uint32_t first_row,
                                    FloatMatrix& matrix) {
  const auto rows = static_cast<uint64_t>(tensor.rows);
  const uint64_t rows_per_part = std::min(rows, most_bytes() / unit_row_bytes(coding, tensor.cols));
  CHECK(rows_per_part > 0);
  for (uint64_t first = 0; first < rows; first += rows_per_part) {
    const RowSpan span{&tensor, first, std::min(rows_per_part, rows - first)};
    TRY(auto part, upload_packed(coding, std::span(&span, 1)));
    part.first = first_row + static_cast<uint32_t>(first);
    matrix.parts.push_back(part);
  }
  return {};
}

Result<const FloatMatrix*> WeightStore::matrix(std::span<const Tensor* const> matrices) {
  MatrixKey key;
  for (const Tensor* tensor : matrices) key.first.push_back(tensor->data.data());
  if (const auto found = matrices_.find(key); found != matrices_.end()) return &found->second;
  FloatMatrix matrix;
  const WeightCoding coding = coding_of(*matrices.front());
  std::vector<RowSpan> spans;
  uint64_t bytes = 0;
  bool is_one = true;
  for (const Tensor* tensor : matrices) {
    spans.push_back({tensor, 0, static_cast<uint64_t>(tensor->rows)});
    bytes += spans.back().count * unit_row_bytes(coding, tensor->cols);
    is_one = is_one && coding_of(*tensor) == coding && tensor->cols == matrices.front()->cols;
  }
  if (is_one && bytes <= most_bytes()) {
    TRY(auto part, upload_packed(coding, spans));
    matrix.parts.push_back(part);
  } else {
    uint32_t first = 0;
    for (const Tensor* tensor : matrices) {
      TRY_STATUS(add_parts(*tensor, coding_of(*tensor), first, matrix));
      first += static_cast<uint32_t>(tensor->rows);
    }
  }
  return &matrices_.emplace(std::move(key), std::move(matrix)).first->second;
}

Result<const FloatMatrix*> WeightStore::matrix(const Tensor& tensor) {
  const Tensor* const one = &tensor;
  return matrix(std::span(&one, 1));
}

Result<const FloatMatrix*> WeightStore::f32_matrix(const Tensor& tensor) {
  MatrixKey key{{tensor.data.data()}, true};
  if (const auto found = matrices_.find(key); found != matrices_.end()) return &found->second;
  FloatMatrix matrix;
  TRY_STATUS(add_parts(tensor, {}, 0, matrix));
  return &matrices_.emplace(std::move(key), std::move(matrix)).first->second;
}

}  // namespace tern::gpu
