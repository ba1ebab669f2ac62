// What a repository holds at one commit, from the hub's answer or from the cache.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tern::hub {

// Of one file, in bytes: 140 TB. As many files as a listing may have do not add up to more than 64 bits hold.
inline constexpr uint64_t kMaxFileSize = uint64_t{1} << 47;

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
// that is no such answer, a file name that would leave the folder it is put into, and a size of check_size().
Result<Listing> parse_listing(std::string_view json, std::string_view source);

// kCorruption for a size that no file has.
Result<void> check_size(uint64_t size, const std::string& path, std::string_view source);

}  // namespace tern::hub
