// A position in the bytes of a GGUF file, with the file's name for messages. Used while a file is opened.
//
// If a file is read in pieces, only its beginning is available. Bytes after it look as if the file ended, but
// needs_more() is then true: ignore the error and retry with a longer beginning.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "base/files/byte_source.h"
#include "base/result.h"

namespace tern {

class GgufCursor {
 public:
  GgufCursor(Bytes bytes, std::string_view path) : bytes_(bytes), file_bytes_(bytes.size()), path_(path) {}
  // `beginning`: the first bytes of `file`.
  GgufCursor(Bytes beginning, const ByteSource& file, std::string_view path)
      : bytes_(beginning), file_(&file), file_bytes_(file.size()), path_(path) {}

  std::string_view path() const { return path_; }
  Bytes bytes() const { return bytes_; }  // all bytes in memory, from the first on
  uint64_t file_bytes() const { return file_bytes_; }
  uint64_t position() const { return position_; }
  uint64_t remaining() const { return file_bytes_ - position_; }
  bool has(uint64_t n) const {
    if (n <= bytes_.size() - position_) return true;
    needs_more_ = needs_more_ || n <= remaining();
    return false;
  }
  bool needs_more() const { return needs_more_; }

  // Returns any bytes of the file. Precondition: they are within it.
  StoredBytes stored(uint64_t offset, uint64_t n) const {
    return file_ ? StoredBytes(*file_, offset, n) : StoredBytes(bytes_.subspan(offset, n));
  }

  // Precondition of both: has() of that many bytes.
  template <class T>
  T take() {
    DCHECK(has(sizeof(T)));
    const T value = load<T>(bytes_.data() + position_);
    position_ += sizeof(T);
    return value;
  }
  Bytes take_bytes(uint64_t n) {
    DCHECK(has(n));
    const Bytes taken = bytes_.subspan(position_, n);
    position_ += n;
    return taken;
  }

  // Reads a GGUF string: a u64 length and its bytes. Returns false, without moving, if it does not fit.
  bool take_string(std::string_view& text) {
    if (!has(sizeof(uint64_t))) return false;
    const auto length = load<uint64_t>(bytes_.data() + position_);
    if (length > remaining() - sizeof(uint64_t) || !has(sizeof(uint64_t) + length)) return false;
    position_ += sizeof(uint64_t);
    text = as_text(take_bytes(length));
    return true;
  }

  // "PATH: the file ends inside WHAT at byte N ...", for missing bytes.
  std::unexpected<Error> cut_short(std::string_view what, uint64_t needed) const;
  // The same for a string that take_string refused.
  std::unexpected<Error> string_cut_short(std::string_view what) const;

 private:
  Bytes bytes_;
  const ByteSource* file_ = nullptr;
  uint64_t file_bytes_;
  std::string_view path_;
  mutable bool needs_more_ = false;
  uint64_t position_ = 0;
};

}  // namespace tern
