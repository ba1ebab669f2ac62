// The key-value section of a GGUF file.
#pragma once

#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "file/gguf/gguf.h"
#include "file/gguf/gguf_cursor.h"

namespace tern {

struct GgufMetadata {
  std::vector<std::pair<std::string_view, GgufValue>> entries;  // in file order
  std::unordered_map<std::string_view, size_t> index;           // into entries
};

// Reads `count` entries. Every value, and every string of an array, is checked to lie within the file.
Result<GgufMetadata> read_gguf_metadata(GgufCursor& cursor, uint64_t count);

}  // namespace tern
