// Reads the first 24 bytes of a GGUF file and recognizes other kinds of files.
#pragma once

#include "file/gguf/gguf_cursor.h"

namespace tern {

struct GgufHeader {
  uint32_t version = 0;
  uint64_t n_tensors = 0;
  uint64_t n_metadata = 0;
};

// Checks magic, version, and both counts against the number of bytes that follow.
Result<GgufHeader> read_gguf_header(GgufCursor& cursor);

}  // namespace tern
