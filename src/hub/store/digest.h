// Checksums of files, as hubs name them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"

namespace tern::hub {

// The name of the file at `path` as a blob like `etag`: for 64 digits, the SHA-256 of its bytes; for 40, git's SHA-1,
// which begins with "blob SIZE\0". `on_progress` gets the bytes read; false stops it (kInterrupted). kIo.
Result<std::string> digest_like(const std::string& etag, const std::string& path,
                                const std::function<bool(uint64_t done)>& on_progress);

}  // namespace tern::hub
