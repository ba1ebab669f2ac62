// Finds the file for a URL in a folder: media types, index pages of folders, and files compressed beforehand.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/platform/disk_file.h"
#include "tern/error.h"

namespace tern::server {

// A regular file, open for reading. If it is replaced while it is sent, the old content is sent to its end.
class OpenFile {
 public:
  // Empty if there is no regular file at `path`, or it may not be read.
  static std::optional<OpenFile> open(const std::string& path);

  uint64_t bytes() const { return info_.size; }
  int64_t modified_seconds() const { return info_.written_ns / 1'000'000'000; }  // since 1970, UTC
  int64_t modified_ns() const { return info_.written_ns; }

  // Changes whenever the size, the modification time or the inode changes. Quoted, as HTTP requires.
  std::string etag() const;

  // Reads up to `into.size()` bytes at `offset`; 0 at the end, or if reading failed.
  size_t read_at(uint64_t offset, std::span<char> into) const;

 private:
  OpenFile(platform::DiskFile file, platform::FileInfo info) : file_(std::move(file)), info_(info) {}

  platform::DiskFile file_;
  platform::FileInfo info_;
};

struct FoundFile {
  OpenFile file;
  std::string media_type;  // of the file itself, compressed or not
  bool has_gzip = false;   // a gzip form exists: caches must know that the answer depends on Accept-Encoding
  bool is_gzip = false;    // `file` is the gzip form
};

// Why there is no file: the status to answer with, and the new location for 301.
struct NotFound {
  int status = 404;           // or 301
  std::string location = {};  // for 301, encoded
};

// A folder whose regular files any client may read by their names. Nothing outside it can be read: neither through ".."
// nor through symbolic links. Names that begin with a dot do not exist.
class StaticFiles {
 public:
  // kNotFound: `folder` is not a folder.
  static Result<StaticFiles> open(const std::string& folder);

  // `path` is the decoded path of a URL. A folder means its index.html; without a slash at the end the answer is 301,
  // so that relative links work. `gzip`: the client accepts gzip; NAME.gz is then returned for NAME, unless it is
  // older.
  std::expected<FoundFile, NotFound> find(std::string_view path, bool gzip) const;

 private:
  explicit StaticFiles(std::string root) : root_(std::move(root)) {}

  std::string root_;  // canonical
};

// "text/html; charset=utf-8" for "a/index.html"; "application/octet-stream" for unknown types, including models.
std::string_view media_type(std::string_view path);

// True if an Accept-Encoding header accepts gzip.
bool accepts_gzip(std::string_view header);

// True if an If-None-Match or If-Range header names this tag. Weak tags count as equal.
bool names_tag(std::string_view header, std::string_view etag);

// "Sun, 06 Nov 1994 08:49:37 GMT"
std::string http_date(int64_t seconds);

// What a Range header asks for: -1 is a number that is not given. Empty if it asks for several ranges, for other units
// than bytes, or for nothing that makes sense; the answer is then the whole file, as without the header (RFC
// 9110, 14.2).
struct WantedRange {
  int64_t first, last;
};
std::optional<WantedRange> read_range(std::string_view header);

// The bytes of a range `first` to `last` (-1: not given) in a file of `bytes`. Empty if the file has none of them.
struct ByteRange {
  uint64_t offset;
  uint64_t length;
};
std::optional<ByteRange> clip_range(int64_t first, int64_t last, uint64_t bytes);

}  // namespace tern::server
