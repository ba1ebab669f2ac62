// The contents of a repository at one commit, from the hub's answer or from the cache.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tern::hub {

// Limit for one file, in bytes: 140 TB. The sizes of all files in a listing then add up to less than 2^64.
inline constexpr uint64_t kMaxFileSize = uint64_t{1} << 47;

struct RemoteFile {
  std::string path;  // safe, see is_safe_path
  std::optional<uint64_t> size = {};
  // The file's name among the cache's blobs, and its checksum: 64 digits are the SHA-256 of the bytes (files in large
  // file storage), 40 are git's SHA-1 (all others). Empty: not in the listing.
  std::string etag = {};
};

struct Listing {
  std::string commit;  // 40 hexadecimal digits
  std::vector<RemoteFile> files = {};
};

// Parses the answer of GET /api/models/REPO/revision/REV?blobs=true. `source` names it in errors. kCorruption: it is
// not such an answer, a file name would leave its folder, or check_size() refuses a size.
Result<Listing> parse_listing(std::string_view json, std::string_view source);

// kCorruption: `size` is larger than kMaxFileSize.
Result<void> check_size(uint64_t size, const std::string& path, std::string_view source);

}  // namespace tern::hub
