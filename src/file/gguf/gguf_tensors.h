// The tensor section of a GGUF file: the list of tensors and the location of their data.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "file/gguf/gguf.h"
#include "file/gguf/gguf_cursor.h"

namespace tern {

struct GgufTensors {
  std::vector<GgufTensor> entries;                     // in file order
  std::unordered_map<std::string_view, size_t> index;  // into entries
};

// Reads the list of `count` tensors at the cursor and locates their data, which starts at the next multiple of
// `alignment` (a power of two) after the list. All tensors are checked to lie within the file without overlaps.
Result<GgufTensors> read_gguf_tensors(GgufCursor& cursor, uint64_t count, uint64_t alignment);

}  // namespace tern
