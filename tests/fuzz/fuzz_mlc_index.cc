// Any text as the index of an MLC directory: refused with a message, or every tensor is inside its shard.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "file/mlc/mlc.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto index = tern::parse_mlc_index({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!index) {
    const std::string& message = index.error().message;
    require(message.starts_with("fuzz: ") && message.size() < 1000);
    require(message.find_first_of("\n\r\x1b") == std::string::npos);
    return 0;
  }
  require(!index->shards.empty());
  for (const tern::MlcShard& shard : index->shards) {
    require(shard.md5.size() == 32 && !shard.file.empty() && shard.file.find('/') == std::string::npos);
  }
  for (size_t i = 0; i < index->tensors.size(); ++i) {
    const tern::MlcTensor& tensor = index->tensors[i];
    require(tensor.shard < index->shards.size());
    require(tensor.offset + tensor.bytes <= index->shards[tensor.shard].bytes);
    if (i == 0 || index->tensors[i - 1].shard != tensor.shard) continue;
    require(index->tensors[i - 1].offset + index->tensors[i - 1].bytes <= tensor.offset);
  }
  return 0;
}
