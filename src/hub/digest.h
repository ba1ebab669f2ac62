// Checksums of files, as hubs name them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"

namespace tern::hub {

// What the file at `path` would be called as a blob like `etag`: of 64 digits, the SHA-256 of its bytes; of 40, the
// SHA-1 of git, which starts with "blob SIZE\0". Tells how far it is. False stops it (kInterrupted). kIo.
Result<std::string> digest_like(const std::string& etag, const std::string& path,
                                const std::function<bool(uint64_t done)>& on_progress);

}  // namespace tern::hub
