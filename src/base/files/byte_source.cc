#include "base/files/byte_source.h"

#include <new>

namespace tern {

Result<MutableBytes> Scratch::take(uint64_t n) {
  if (n > capacity_) {
    memory_.reset();  // first, so that both never exist together
    capacity_ = 0;
    memory_.reset(n > SIZE_MAX / 2 ? nullptr : new (std::nothrow) std::byte[static_cast<size_t>(n)]);
    if (!memory_) return fail(ErrorCode::kOutOfMemory, "no memory for {} bytes to read into; close other programs", n);
    capacity_ = n;
  }
  return MutableBytes(memory_.get(), static_cast<size_t>(n));
}

StoredBytes::StoredBytes(const ByteSource& source, uint64_t offset, uint64_t size) : size_(size) {
  CHECK(offset <= source.size() && size <= source.size() - offset);
  if (const Bytes all = source.resident(); all.empty()) {
    source_ = &source;
    offset_ = offset;
  } else {
    data_ = all.data() + offset;
  }
}

StoredBytes StoredBytes::subspan(uint64_t offset, uint64_t n) const {
  DCHECK(offset <= size_ && n <= size_ - offset);
  StoredBytes part = *this;
  if (source_) {
    part.offset_ += offset;
  } else {
    part.data_ += offset;
  }
  part.size_ = n;
  return part;
}

Result<Bytes> StoredBytes::read(uint64_t offset, uint64_t n, Scratch& scratch) const {
  CHECK(offset <= size_ && n <= size_ - offset);
  if (!source_) return Bytes(data_ + offset, static_cast<size_t>(n));
  TRY(const MutableBytes into, scratch.take(n));
  TRY_STATUS(source_->read(offset_ + offset, into));
  return into;
}

Result<void> read_rows(const StoredBytes& matrix, uint64_t row_bytes, RowRange rows,
                       const std::function<Result<void>(RowRange, Bytes)>& use) {
  constexpr uint64_t kPiece = 4 << 20;
  const auto most = static_cast<int64_t>(std::max<uint64_t>(1, kPiece / row_bytes));
  const int64_t at_once = matrix.is_resident() ? rows.count : most;
  Scratch scratch;
  for (int64_t done = 0; done < rows.count; done += at_once) {
    const RowRange part{rows.first + done, std::min(at_once, rows.count - done)};
    TRY(const Bytes bytes, matrix.read(static_cast<uint64_t>(part.first) * row_bytes,
                                       static_cast<uint64_t>(part.count) * row_bytes, scratch));
    TRY_STATUS(use(part, bytes));
  }
  return {};
}

Result<void> MadeRows::read(uint64_t offset, MutableBytes into) const {
  CHECK(offset <= size() && into.size() <= size() - offset);
  std::vector<std::byte> row;
  while (!into.empty()) {
    const uint64_t number = offset / row_bytes_, inside = offset % row_bytes_;
    uint64_t n = 0;
    if (number >= n_rows_) {
      n = into.size();
      std::ranges::copy(std::span(tail_).subspan(offset - row_bytes_ * n_rows_, n), into.begin());
    } else if (const uint64_t whole = std::min(into.size() / row_bytes_, n_rows_ - number); inside == 0 && whole > 0) {
      n = whole * row_bytes_;
      TRY_STATUS(make_(number, whole, into.first(n)));
    } else {
      n = std::min<uint64_t>(row_bytes_ - inside, into.size());
      row.resize(row_bytes_);
      TRY_STATUS(make_(number, 1, row));
      std::ranges::copy(std::span(row).subspan(inside, n), into.begin());
    }
    offset += n;
    into = into.subspan(n);
  }
  return {};
}

}  // namespace tern
