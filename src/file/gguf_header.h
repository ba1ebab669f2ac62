// The first 24 bytes of a GGUF file, and what other files look like that are taken for one.
#pragma once

#include "file/gguf_cursor.h"

namespace tern {

struct GgufHeader {
  uint32_t version = 0;
  uint64_t n_tensors = 0;
  uint64_t n_metadata = 0;
};

// Checks magic and version, and both counts against the bytes that follow.
Result<GgufHeader> read_gguf_header(GgufCursor& cursor);

}  // namespace tern
