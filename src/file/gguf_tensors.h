// The tensor section of a GGUF file: its list of tensors, and where their data lies.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "file/gguf.h"
#include "file/gguf_cursor.h"

namespace tern {

struct GgufTensors {
  std::vector<GgufTensor> entries;                     // in file order
  std::unordered_map<std::string_view, size_t> index;  // into entries
};

// Reads the list of `count` tensors at the cursor and places their data, which starts at the next multiple of
// `alignment` (a power of two) behind the list. All tensors lie within the file and none overlaps another.
Result<GgufTensors> read_gguf_tensors(GgufCursor& cursor, uint64_t count, uint64_t alignment);

}  // namespace tern
