// A place in the bytes of a GGUF file, with the file's name for messages. Used while a file is being opened.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"

namespace tern {

class GgufCursor {
 public:
  GgufCursor(Bytes bytes, std::string_view path) : bytes_(bytes), path_(path) {}

  std::string_view path() const { return path_; }
  Bytes bytes() const { return bytes_; }
  uint64_t position() const { return position_; }
  uint64_t remaining() const { return bytes_.size() - position_; }
  bool has(uint64_t n) const { return n <= remaining(); }

  // Precondition of both: has() of as many bytes.
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

  // A string as GGUF writes it, a u64 length and as many bytes. False, without moving, where it does not fit.
  bool take_string(std::string_view& text) {
    if (!has(sizeof(uint64_t))) return false;
    const auto length = load<uint64_t>(bytes_.data() + position_);
    if (length > remaining() - sizeof(uint64_t)) return false;
    position_ += sizeof(uint64_t);
    text = as_text(take_bytes(length));
    return true;
  }

  // "PATH: the file ends inside WHAT at byte N ...", for bytes that are not there.
  std::unexpected<Error> cut_short(std::string_view what, uint64_t needed) const;
  // The same for a string that take_string refused.
  std::unexpected<Error> string_cut_short(std::string_view what) const;

 private:
  Bytes bytes_;
  std::string_view path_;
  uint64_t position_ = 0;
};

}  // namespace tern
