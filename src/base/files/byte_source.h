// Bytes that may be outside memory: those of a file, or generated ones, read piece by piece.
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

// Use it from one thread only: in a browser, reading may have to wait for the page.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  virtual uint64_t size() const = 0;
  // Fills `into` with the bytes from `offset` on, all within size(). kIo: reading failed; kCorruption: the data that
  // the bytes are generated from is invalid.
  virtual Result<void> read(uint64_t offset, MutableBytes into) const = 0;
  // All bytes if they are in memory, else empty.
  virtual Bytes resident() const { return {}; }
  // The file, if the bytes are exactly its bytes, so that a caller may read the file in another way. Else null.
  virtual const File* file() const { return nullptr; }
};

// A buffer for one piece at a time, reused for the next one.
class Scratch {
 public:
  // Returns n bytes with undefined content; earlier ones become invalid. kOutOfMemory: they cannot be allocated.
  Result<MutableBytes> take(uint64_t n);

  // The largest size that was ever taken.
  uint64_t bytes() const { return capacity_; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  uint64_t capacity_ = 0;
};

// A view of bytes in memory or in a source that outlives it. In memory it is a contiguous range, usable wherever Bytes
// are expected. Otherwise the bytes can only be read().
class StoredBytes {
 public:
  StoredBytes() = default;
  StoredBytes(const std::byte* data, uint64_t size) : data_(data), size_(size) {}
  template <class T>
    requires(std::convertible_to<T, Bytes> && !std::same_as<std::remove_cvref_t<T>, StoredBytes>)
  StoredBytes(T&& bytes)  // NOLINT(google-explicit-constructor): views of memory convert implicitly
      : StoredBytes(Bytes(bytes).data(), Bytes(bytes).size()) {}
  // Views [offset, offset + size) of a source.
  StoredBytes(const ByteSource& source, uint64_t offset, uint64_t size);

  uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool is_resident() const { return source_ == nullptr; }

  // Precondition of the next functions: is_resident().
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

  // Returns n bytes from `offset` on: in place, or read into the scratch. Errors: those of ByteSource::read.
  Result<Bytes> read(uint64_t offset, uint64_t n, Scratch& scratch) const;
  // Returns all bytes; see read().
  Result<Bytes> read_all(Scratch& scratch) const { return read(0, size_, scratch); }

  // The source of the bytes; null and 0 if they are in memory.
  const ByteSource* source() const { return source_; }
  uint64_t offset() const { return offset_; }

  // Equal for views that begin at the same byte.
  using Identity = std::pair<const void*, uint64_t>;
  Identity identity() const { return source_ ? Identity(source_, offset_) : Identity(data_, 0); }

 private:
  const std::byte* data_ = nullptr;
  const ByteSource* source_ = nullptr;
  uint64_t offset_ = 0;  // first byte in the source
  uint64_t size_ = 0;
};

// Rows [first, first + count) of a matrix.
struct RowRange {
  int64_t first = 0;
  int64_t count = 0;
};

// Calls `use` with rows of `matrix` (each of `row_bytes`) in order: all in one call if they are in memory, else as many
// as fit in 4 MiB, at least one. Errors: those of reading, and of `use`.
Result<void> read_rows(const StoredBytes& matrix, uint64_t row_bytes, RowRange rows,
                       const std::function<Result<void>(RowRange, Bytes)>& use);

// Rows that are generated on each read and not stored.
class MadeRows final : public ByteSource {
 public:
  // Fills `out` with rows [first, first + n).
  using Make = std::function<Result<void>(uint64_t first, uint64_t n, MutableBytes out)>;

  // `tail`: bytes after the last row.
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
