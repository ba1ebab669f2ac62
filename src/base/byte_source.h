// Bytes that need not lie in memory: those of a file, or what is made from them, read piece by piece.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"

namespace tern {

class File;

// Used from one thread: in a browser, reading may have to wait for the page.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  virtual uint64_t size() const = 0;
  // Fills `into` with the bytes from `offset` on, all within size(). kIo; kCorruption where what they are made from is
  // not what it should be.
  virtual Result<void> read(uint64_t offset, MutableBytes into) const = 0;
  // All bytes where they lie in memory, else none.
  virtual Bytes resident() const { return {}; }
  // The file, where the bytes are its own as they are: they may then be taken from it in another way. Else null.
  virtual const File* file() const { return nullptr; }
};

// Memory for one piece at a time, kept for the next one.
class Scratch {
 public:
  // The first n bytes, of any content; those of earlier calls are gone. kOutOfMemory.
  Result<MutableBytes> take(uint64_t n);

  // The most that was ever taken at once.
  uint64_t bytes() const { return capacity_; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  uint64_t capacity_ = 0;
};

// A view of bytes that lie in memory or in a source, which outlives it. Where they lie in memory it is a contiguous
// range, so it stands wherever Bytes are wanted; elsewhere they are there only to be read.
class StoredBytes {
 public:
  StoredBytes() = default;
  StoredBytes(const std::byte* data, uint64_t size) : data_(data), size_(size) {}
  template <class T>
    requires(std::convertible_to<T, Bytes> && !std::same_as<std::remove_cvref_t<T>, StoredBytes>)
  StoredBytes(T&& bytes)  // NOLINT(google-explicit-constructor): a view of memory is one of these
      : StoredBytes(Bytes(bytes).data(), Bytes(bytes).size()) {}
  // [offset, offset + size) of a source.
  StoredBytes(const ByteSource& source, uint64_t offset, uint64_t size);

  uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool is_resident() const { return source_ == nullptr; }

  // Precondition of these: is_resident().
  const std::byte* data() const {
    CHECK(is_resident());
    return data_;
  }
  Bytes resident() const { return {data(), static_cast<size_t>(size_)}; }
  const std::byte* begin() const { return data(); }
  const std::byte* end() const { return data() + size_; }

  StoredBytes subspan(uint64_t offset, uint64_t n) const;
  StoredBytes subspan(uint64_t offset) const { return subspan(offset, size_ - offset); }
  StoredBytes first(uint64_t n) const { return subspan(0, n); }
  StoredBytes last(uint64_t n) const { return subspan(size_ - n, n); }

  // n bytes from `offset` on: where they lie in memory, or read into the scratch. Errors as ByteSource::read.
  Result<Bytes> read(uint64_t offset, uint64_t n, Scratch& scratch) const;
  // All of them, as read().
  Result<Bytes> read_all(Scratch& scratch) const { return read(0, size_, scratch); }

  // Where the bytes come from; null and 0 where they lie in memory.
  const ByteSource* source() const { return source_; }
  uint64_t offset() const { return offset_; }

  // The same for views that begin at the same byte.
  using Identity = std::pair<const void*, uint64_t>;
  Identity identity() const { return source_ ? Identity(source_, offset_) : Identity(data_, 0); }

 private:
  const std::byte* data_ = nullptr;
  const ByteSource* source_ = nullptr;
  uint64_t offset_ = 0;  // in the source
  uint64_t size_ = 0;
};

// Rows [first, first + count) of a matrix.
struct RowRange {
  int64_t first = 0;
  int64_t count = 0;
};

// Calls `use` with rows of `matrix`, whose rows have `row_bytes` each, in their order: all at once where they lie in
// memory, else as many as fit in 4 MiB, at least one. Errors: those of reading, and of `use`.
Result<void> read_rows(const StoredBytes& matrix, uint64_t row_bytes, RowRange rows,
                       const std::function<Result<void>(RowRange, Bytes)>& use);

// Rows that are made when they are read, and then forgotten.
class MadeRows final : public ByteSource {
 public:
  // Fills `out` with rows [first, first + n).
  using Make = std::function<Result<void>(uint64_t first, uint64_t n, MutableBytes out)>;

  // `tail` follows the last row.
  MadeRows(uint64_t row_bytes, uint64_t n_rows, Make make, std::vector<std::byte> tail = {})
      : row_bytes_(row_bytes), n_rows_(n_rows), make_(std::move(make)), tail_(std::move(tail)) {}

  uint64_t size() const override { return row_bytes_ * n_rows_ + tail_.size(); }
  Result<void> read(uint64_t offset, MutableBytes into) const override;

 private:
  uint64_t row_bytes_, n_rows_;
  Make make_;
  std::vector<std::byte> tail_;
};

}  // namespace tern
