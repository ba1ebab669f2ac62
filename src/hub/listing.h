// What a repository holds at one commit, from the hub's answer or from the cache.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tern::hub {

struct RemoteFile {
  std::string path;  // safe, see is_safe_path
  std::optional<uint64_t> size = {};
  // What the file is called among the cache's blobs, and what it must hash to: 64 digits are the SHA-256 of the bytes
  // (files in large file storage), 40 the SHA-1 of git (all others). Empty: the listing does not tell.
  std::string etag = {};
};

struct Listing {
  std::string commit;  // 40 hexadecimal digits
  std::vector<RemoteFile> files = {};
};

// Reads the answer of GET /api/models/REPO/revision/REV?blobs=true. `source` names it in errors. kCorruption: anything
// that is no such answer, and a file name that would leave the folder it is put into.
Result<Listing> parse_listing(std::string_view json, std::string_view source);

}  // namespace tern::hub
