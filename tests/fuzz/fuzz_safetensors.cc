// Any bytes as a safetensors file, or as the index of several if they begin with a brace: refused with a message, or
// every tensor can be read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "file/safetensors/safetensors_directory.h"

namespace tern {
namespace {

volatile uint64_t sink;  // keeps the optimizer from removing the reads

void require(bool condition) {
  if (!condition) std::abort();
}

void require_message(const Error& error) {
  require(error.message.starts_with("fuzz: "));
  require(error.message.find_first_of("\n\r\x1b") == std::string::npos);
  require(error.message.size() < 1000);
}

void one_index(std::string_view text) {
  const auto shards = parse_safetensors_index(text, "fuzz");
  if (!shards) return require_message(shards.error());
  for (const auto& [file, tensors] : *shards) {
    require(!file.empty() && file.find('/') == std::string::npos && !tensors.empty());
  }
}

void one_file(Bytes bytes) {
  const auto file = SafetensorsFile::parse(bytes, "fuzz");
  if (!file) return require_message(file.error());
  uint64_t end = 0;
  for (const SafetensorsTensor& tensor : file->tensors()) {
    require(file->find(tensor.name) == &tensor);
    require(end == 0 || tensor.offset == end);
    end = tensor.offset + tensor.data.size();
    require(end <= bytes.size());
    const int64_t n = tensor.n_elements();
    const uint32_t bits = safetensors_bits(tensor.dtype);
    require(n >= 0 && (bits == 0 || static_cast<uint64_t>(n) * bits == tensor.data.size() * 8));
    for (const std::byte byte : tensor.data) sink = static_cast<uint64_t>(byte);
  }
  require(end == 0 || end == bytes.size());
}

}  // namespace
}  // namespace tern

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const tern::Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  if (size > 0 && data[0] == '{') {
    tern::one_index(tern::as_text(bytes));
  } else {
    tern::one_file(bytes);
  }
  return 0;
}
