#include "backend/gpu/memory/weights/weight_store.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "backend/gpu/memory/weights/pack.h"
#include "base/bytes.h"
#include "base/check.h"

namespace tern::gpu {
namespace {

// The piece that is read, packed or written at once, and after which progress is reported. Up to three times as much
// memory is in use: the bytes read, the words, the scales.
constexpr uint64_t kPieceBytes = 4u << 20;
// The amount that a thread packs before it asks for more.
constexpr uint64_t kShareBytes = 1u << 17;

bool all_finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

std::unexpected<Error> not_finite(const Tensor& tensor) {
  return fail(ErrorCode::kCorruption,
              "tensor {} has values that are not finite numbers; the model's file is damaged or was converted wrongly; "
              "download or convert it again",
              tensor.name);
}

}  // namespace

// pack_rows on several threads if the size is worth it.
void WeightStore::pack_rows_on_pool(const Tensor& tensor, const WeightCoding& coding, Bytes rows,
                                    std::span<uint32_t> units, std::span<float> scales) {
  constexpr uint64_t kWorthThreads = 1u << 20;
  if (!pool_ || units.size_bytes() < kWorthThreads) return pack_rows(tensor, coding, rows, units, scales);
  const uint64_t in_bytes = row_bytes(tensor.format, tensor.cols), count = rows.size() / in_bytes;
  const size_t row_units = units.size() / count, row_scales = scales.size() / count;
  const uint64_t at_once = std::max<uint64_t>(1, kShareBytes / (row_units * sizeof(uint32_t)));
  pool_->parallel_for(count, at_once, [&](uint64_t begin, uint64_t n) {
    pack_rows(tensor, coding, rows.subspan(begin * in_bytes, n * in_bytes),
              units.subspan(begin * row_units, n * row_units), scales.subspan(begin * row_scales, n * row_scales));
  });
}

Result<void> WeightStore::write(const Buffer& buffer, uint64_t offset, const StoredBytes& bytes) {
  CHECK(!is_closed_);
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t at = 0; at < bytes.size(); at += kPieceBytes) {
    const StoredBytes piece = bytes.subspan(at, std::min(kPieceBytes, bytes.size() - at));
    TRY_STATUS(device_.write_from(buffer, offset + at, piece, scratch_, pool_));
    done_ += piece.size();
    if (on_progress_) on_progress_({.what = "uploading to the GPU", .done = done_, .total = total_, .unit = "B"});
  }
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {};
}

Result<std::unique_ptr<Buffer>> WeightStore::upload(const std::string& label, std::span<const StoredBytes> parts) {
  uint64_t total = 0;
  for (const StoredBytes& part : parts) total += part.size();
  TRY(auto buffer, device_.new_buffer(label, total, BufferUse::kWeights));
  uint64_t offset = 0;
  for (const StoredBytes& part : parts) {
    TRY_STATUS(write(*buffer, offset, part));
    offset += part.size();
  }
  return buffer;
}

// Writes the plane of scales in order. Two f16 scales share a word, so one may have to wait for the next.
class WeightStore::ScalesWriter {
 public:
  ScalesWriter(WeightStore& store, const WeightCoding& coding, const BufferView& to)
      : store_(store), coding_(coding), buffer_(*to.buffer), at_(to.offset) {}

  // Space for n more scales, valid until flush().
  std::span<float> next(uint64_t n) {
    waiting_.resize(n_left_ + n);
    return std::span(waiting_).subspan(n_left_);
  }

  Result<void> flush(bool is_last) {
    const size_t n = is_last || coding_.has_scale_words() ? waiting_.size() : waiting_.size() & ~size_t{1};
    if (n > 0) {
      words_.resize(words_of_scales(coding_, n));
      pack(std::span(waiting_).first(n));
      TRY_STATUS(store_.write(buffer_, at_, std::as_bytes(std::span(words_))));
      at_ += words_.size() * sizeof(uint32_t);
    }
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<ptrdiff_t>(n));
    n_left_ = waiting_.size();
    return {};
  }

 private:
  // Packs on several threads if the size is worth it.
  void pack(std::span<const float> scales) {
    constexpr size_t kWorthThreads = 1u << 15;
    if (!store_.pool_ || scales.size() < kWorthThreads) return pack_scales(coding_, scales, words_);
    constexpr size_t kAtOnce = 1u << 14;  // whole words
    store_.pool_->parallel_for(scales.size(), kAtOnce, [&](size_t first, size_t n) {
      const std::span words = std::span(words_).subspan(words_of_scales(coding_, first));
      pack_scales(coding_, scales.subspan(first, n), words.first(words_of_scales(coding_, n)));
    });
  }

  WeightStore& store_;
  const WeightCoding& coding_;
  const Buffer& buffer_;
  std::vector<float> waiting_;
  std::vector<uint32_t> words_;
  size_t n_left_ = 0;
  uint64_t at_;  // byte in the buffer
};

Result<void> WeightStore::keep_together(const Together& what) {
  TRY(auto matrices, device_.new_buffer("the layers' matrices", what.bytes, BufferUse::kWeights));
  std::unique_ptr<Buffer> scales;
  if (what.scale_bytes > 0) {
    TRY(scales, device_.new_buffer("the layers' scales", what.scale_bytes, BufferUse::kWeights));
    scales_together_.buffer = buffers_.emplace_back(std::move(scales)).get();
  }
  together_.buffer = buffers_.emplace_back(std::move(matrices)).get();
  for (const Tensor* tensor : what.matrices) in_layers_.insert(tensor->data.identity());
  return {};
}

Result<BufferView> WeightStore::new_view(const std::string& label, uint64_t bytes) {
  TRY(auto buffer, device_.new_buffer(label, bytes, BufferUse::kWeights));
  return BufferView{buffers_.emplace_back(std::move(buffer)).get(), 0, 0};
}

BufferView WeightStore::take(Room& room, uint64_t bytes) const {
  CHECK(room.used + bytes <= room.buffer->bytes());
  const BufferView view{room.buffer, room.used, bytes};
  room.used = round_up(room.used + bytes, uint64_t{device_.limits().offset_alignment});
  return view;
}

Result<BufferView> WeightStore::upload_together(std::span<const StoredBytes> parts) {
  uint64_t bytes = 0;
  for (const StoredBytes& part : parts) bytes += part.size();
  const BufferView view = take(together_, bytes);
  uint64_t at = view.offset;
  for (const StoredBytes& part : parts) {
    TRY_STATUS(write(*view.buffer, at, part));
    at += part.size();
  }
  return view;
}

Result<BufferView> WeightStore::ternary(std::span<const Tensor* const> matrices) {
  std::string key;
  std::vector<StoredBytes> pieces;
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
    return fail(ErrorCode::kNotSupported, "{}: {} MB, but this GPU binds at most {} MB at once; use the cpu backend",
                key, total >> 20, device_.limits().binding_bytes >> 20);
  }
  BufferView view;
  if (is_together(*matrices.front())) {
    TRY(view, upload_together(pieces));
  } else {
    TRY(auto buffer, upload(key, pieces));
    view = {buffers_.emplace_back(std::move(buffer)).get(), 0, 0};
  }
  // The single matrices need no copies if they start at an offset that can be bound.
  uint64_t offset = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces.size() > 1 && offset % device_.limits().offset_alignment == 0) {
      views_.emplace(matrices[i]->name, BufferView{view.buffer, view.offset + offset, pieces[i].size()});
    }
    offset += pieces[i].size();
  }
  views_.emplace(key, view);
  return view;
}

Result<BufferView> WeightStore::vector(const Tensor& tensor) { return vectors(std::array{&tensor}); }

Result<BufferView> WeightStore::vectors(std::span<const Tensor* const> tensors) {
  std::string key;
  for (const Tensor* tensor : tensors) key += (key.empty() ? "" : "+") + tensor->name;
  if (const auto found = views_.find(key); found != views_.end()) return found->second;
  std::vector<float> all;
  for (const Tensor* tensor : tensors) {
    std::vector<float> values(static_cast<size_t>(tensor->rows) * static_cast<size_t>(tensor->cols));
    TRY(const Bytes row, tensor->data.read(0, tensor_bytes(tensor->format, tensor->rows, tensor->cols), scratch_));
    format_info(tensor->format).decode(row, values);
    for (float& value : values) value *= tensor->scale;
    if (!all_finite(values)) return not_finite(*tensor);
    all.insert(all.end(), values.begin(), values.end());
  }
  const StoredBytes bytes = std::as_bytes(std::span(all));
  TRY(auto buffer, upload(key, std::span(&bytes, 1)));
  const BufferView view{buffer.get(), 0, 0};
  buffers_.push_back(std::move(buffer));
  views_.emplace(std::move(key), view);
  return view;
}

// Bound as the scales of formats without scales.
Result<BufferView> WeightStore::no_scales() {
  if (!no_scales_) {
    const uint32_t zero = 0;
    const StoredBytes bytes = std::as_bytes(std::span(&zero, 1));
    TRY(auto buffer, upload("scales", std::span(&bytes, 1)));
    no_scales_ = buffers_.emplace_back(std::move(buffer)).get();
  }
  return BufferView{no_scales_, 0, 0};
}

// Packs rows of one tensor into the plane of units from byte `at` on, and appends their scales.
Result<void> WeightStore::pack(const WeightCoding& coding, const RowSpan& rows, const Buffer& units, uint64_t at,
                               ScalesWriter& scales) {
  const Tensor& tensor = *rows.tensor;
  const uint64_t in_bytes = row_bytes(tensor.format, tensor.cols), out_bytes = unit_row_bytes(coding, tensor.cols);
  const StoredBytes data = tensor.data.subspan(rows.first * in_bytes, rows.count * in_bytes);
  if (is_plain_copy(tensor, coding)) return write(units, at, data);
  const uint64_t row_scales = coding.scales_of_row(static_cast<uint32_t>(tensor.cols));
  const uint64_t rows_at_once = std::max<uint64_t>(1, kPieceBytes / std::max(in_bytes, out_bytes));
  std::vector<uint32_t> words;
  for (uint64_t row = 0; row < rows.count; row += rows_at_once) {
    const uint64_t n = std::min(rows_at_once, rows.count - row);
    TRY(const Bytes in, data.read(row * in_bytes, n * in_bytes, scratch_));
    words.resize(n * out_bytes / sizeof(uint32_t));
    const std::span<float> of_rows = scales.next(n * row_scales);
    pack_rows_on_pool(tensor, coding, in, words, of_rows);
    // The results would not show it, because a GPU's min() of NaN and an expert's limit is the limit.
    if (tensor.n_experts > 0 && !coding.has_mins() && !all_finite(of_rows)) return not_finite(tensor);
    TRY_STATUS(write(units, at + row * out_bytes, std::as_bytes(std::span(words))));
    TRY_STATUS(scales.flush(false));
  }
  return {};
}

Result<FloatMatrix::Part> WeightStore::upload_packed(const WeightCoding& coding, std::span<const RowSpan> rows) {
  const Tensor& first = *rows.front().tensor;
  const uint64_t row_bytes = unit_row_bytes(coding, first.cols);
  uint64_t n_rows = 0;
  for (const RowSpan& span : rows) n_rows += span.count;
  FloatMatrix::Part part{.coding = coding, .units = {}, .scales = {}, .count = static_cast<uint32_t>(n_rows)};
  if (is_together(first)) {
    part.units = take(together_, n_rows * row_bytes);
  } else {
    TRY(part.units, new_view(first.name, n_rows * row_bytes));
  }
  const uint64_t of_scales = coding.group == 0 ? 0 : scale_bytes(coding, n_rows, first.cols);
  if (of_scales == 0) {
    TRY(part.scales, no_scales());
  } else if (is_together(first)) {
    part.scales = take(scales_together_, of_scales);
  } else {
    TRY(part.scales, new_view("scales", of_scales));
  }
  ScalesWriter scales(*this, coding, part.scales);
  uint64_t at = 0;  // offset within the part
  for (const RowSpan& span : rows) {
    TRY_STATUS(pack(coding, span, *part.units.buffer, part.units.offset + at, scales));
    at += span.count * row_bytes;
  }
  TRY_STATUS(scales.flush(true));
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
  for (const Tensor* tensor : matrices) key.first.push_back(tensor->data.identity());
  if (const auto found = matrices_.find(key); found != matrices_.end()) return &found->second;
  FloatMatrix matrix;
  uint32_t first = 0;
  while (!matrices.empty()) {
    // Matrices of one coding and width form one part.
    const WeightCoding coding = coding_of(*matrices.front());
    std::vector<RowSpan> spans;
    uint64_t n_rows = 0;
    for (const Tensor* tensor : matrices) {
      const bool is_like_them = coding_of(*tensor) == coding && tensor->cols == matrices.front()->cols;
      const auto rows = static_cast<uint64_t>(tensor->rows);
      if (!is_like_them || (n_rows + rows) * unit_row_bytes(coding, tensor->cols) > most_bytes()) break;
      spans.push_back({tensor, 0, rows});
      n_rows += rows;
    }
    if (spans.empty()) {  // too large for one binding
      TRY_STATUS(add_parts(*matrices.front(), coding, first, matrix));
      n_rows = static_cast<uint64_t>(matrices.front()->rows);
    } else {
      TRY(auto part, upload_packed(coding, spans));
      part.first = first;
      matrix.parts.push_back(part);
    }
    first += static_cast<uint32_t>(n_rows);
    matrices = matrices.subspan(std::max(spans.size(), size_t{1}));
  }
  return &matrices_.emplace(std::move(key), std::move(matrix)).first->second;
}

Result<const FloatMatrix*> WeightStore::matrix(const Tensor& tensor) {
  const Tensor* const one = &tensor;
  return matrix(std::span(&one, 1));
}

Result<const FloatMatrix*> WeightStore::f32_matrix(const Tensor& tensor) {
  MatrixKey key{{tensor.data.identity()}, true};
  if (const auto found = matrices_.find(key); found != matrices_.end()) return &found->second;
  FloatMatrix matrix;
  TRY_STATUS(add_parts(tensor, {}, 0, matrix));
  return &matrices_.emplace(std::move(key), std::move(matrix)).first->second;
}

Result<WeightStore::Glu> WeightStore::glu(const Tensor& gate, const Tensor& up) {
  const bool alike = coding_of(gate).words == coding_of(up).words;
  TRY(const FloatMatrix* a, alike ? matrix(gate) : f32_matrix(gate));
  TRY(const FloatMatrix* b, alike ? matrix(up) : f32_matrix(up));
  if (a->parts.size() == 1 && b->parts.size() == 1) return Glu{&a->parts[0], &b->parts[0]};
  return fail(ErrorCode::kNotSupported, "{}: more than the {} MB that this GPU binds at once; use the cpu backend",
              gate.name, device_.limits().binding_bytes >> 20);
}

}  // namespace tern::gpu
