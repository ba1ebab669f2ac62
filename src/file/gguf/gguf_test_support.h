// Builds GGUF files byte by byte, for tests. It is independent of the writer, so that the two cannot share a mistake.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result_test_support.h"
#include "file/gguf/gguf.h"

namespace tern {

class GgufBytes {
 public:
  GgufBytes() = default;
  GgufBytes(uint64_t n_tensors, uint64_t n_metadata, uint32_t version = 3) {
    raw("GGUF").put<uint32_t>(version).put<uint64_t>(n_tensors).put<uint64_t>(n_metadata);
  }

  template <class T>
  GgufBytes& put(T value) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    out_.append(bytes, sizeof(T));
    return *this;
  }
  GgufBytes& raw(std::string_view bytes) {
    out_ += bytes;
    return *this;
  }
  GgufBytes& text(std::string_view value) { return put<uint64_t>(value.size()).raw(value); }

  GgufBytes& key(std::string_view name, uint32_t kind) { return text(name).put<uint32_t>(kind); }
  template <class T>
  GgufBytes& scalar(std::string_view name, uint32_t kind, T value) {
    return key(name, kind).put<T>(value);
  }
  GgufBytes& string(std::string_view name, std::string_view value) { return key(name, 8).text(value); }
  GgufBytes& array(std::string_view name, uint32_t element_kind, uint64_t count) {
    return key(name, 9).put<uint32_t>(element_kind).put<uint64_t>(count);
  }

  // `ne`: the shape as in the file, fastest dimension first.
  GgufBytes& tensor(std::string_view name, std::initializer_list<uint64_t> ne, uint32_t type, uint64_t offset) {
    text(name).put<uint32_t>(static_cast<uint32_t>(ne.size()));
    for (const uint64_t dim : ne) put<uint64_t>(dim);
    return put<uint32_t>(type).put<uint64_t>(offset);
  }
  GgufBytes& align(size_t to = 32) {
    while (out_.size() % to != 0) out_ += '\0';
    return *this;
  }
  GgufBytes& data(size_t n, char fill = '\x5A') {
    out_.append(n, fill);
    return *this;
  }

  const std::string& bytes() const { return out_; }
  Result<GgufFile> parse() const { return GgufFile::parse(as_bytes(out_), "t.gguf"); }

 private:
  std::string out_;
};

// Expects a one-line message that starts with the file's name and contains `part`, and this error code.
inline void expect_refused(const Result<GgufFile>& file, ErrorCode code, std::string_view part) {
  expect_failure(file, code, part, "t.gguf: ");
}

// Reads everything that a GgufFile exposes, so that a sanitizer checks every view. Returns a checksum.
inline uint64_t touch_everything(const GgufFile& file) {
  uint64_t sum = file.version() + file.file_bytes();
  for (const auto& [key, value] : file.metadata()) {
    if (const auto text = file.get_string(key); text && *text) sum += (*text)->empty() ? 0 : (*text)->back();
    if (const auto number = file.get_int(key); number && *number) sum += static_cast<uint64_t>(**number);
    if (const auto number = file.get_float(key); number && *number) sum += **number > 0;
    if (const auto flag = file.get_bool(key); flag && *flag) sum += **flag;
    if (const auto texts = file.get_strings(key); texts && *texts) {
      for (const std::string_view text : **texts) sum += text.empty() ? 1 : static_cast<unsigned char>(text.back());
    }
    if (const auto ints = file.get_ints(key); ints && *ints) {
      for (const int64_t number : **ints) sum += static_cast<uint64_t>(number);
    }
    if (const auto floats = file.get_floats(key); floats && *floats) sum += (*floats)->size();
    if (!value.data.empty()) sum += static_cast<uint64_t>(value.data.back());
  }
  for (const GgufTensor& tensor : file.tensors()) {
    sum += static_cast<uint64_t>(*tensor.data.begin()) + static_cast<uint64_t>(*tensor.data.last(1).begin());
    sum += tensor.span + static_cast<uint64_t>(tensor.n_elements()) + tensor.name.size();
  }
  return sum;
}

}  // namespace tern
