// What a folder has for a URL: files, their media types, the index pages of folders, and files compressed beforehand.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tern/error.h"

namespace tern::server {

// A regular file, open for reading. A file that is replaced while it is sent stays what it was.
class OpenFile {
 public:
  // Nothing where there is no regular file at `path`, or it may not be read.
  static std::optional<OpenFile> open(const std::string& path);

  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) noexcept;
  ~OpenFile();

  uint64_t bytes() const { return bytes_; }
  int64_t modified_seconds() const { return modified_ns_ / 1'000'000'000; }  // since 1970, UTC
  int64_t modified_ns() const { return modified_ns_; }

  // Changes whenever the size, the time of the last change or the file behind the name does. Quoted, as HTTP wants it.
  std::string etag() const;

  // Reads up to `into.size()` bytes at `offset`; 0 at the end, or where reading failed.
  size_t read_at(uint64_t offset, std::span<char> into) const;

 private:
  OpenFile() = default;

  int fd_ = -1;
  uint64_t bytes_ = 0;
  int64_t modified_ns_ = 0;
  uint64_t inode_ = 0;
};

struct FoundFile {
  OpenFile file;
  std::string media_type;  // of the file itself, compressed or not
  bool has_gzip =
      false;             // there is a gzip form beside it: caches must know that the answer depends on what is accepted
  bool is_gzip = false;  // `file` is that form
};

// Why there is no file: the status to answer with, and where to look instead.
struct NotFound {
  int status = 404;           // or 301
  std::string location = {};  // for 301, encoded
};

// A folder whose regular files may be read by anybody who knows their names. Nothing outside it: neither through "..",
// nor through symbolic links. Names that begin with a dot do not exist.
class StaticFiles {
 public:
  // kNotFound where `folder` is none.
  static Result<StaticFiles> open(const std::string& folder);

  // `path` is the decoded path of a URL. A folder means its index.html, and without the slash at the end is answered
  // with 301, so that relative links work. `gzip`: the client takes gzip; NAME.gz is then given for NAME, unless it is
  // older.
  std::expected<FoundFile, NotFound> find(std::string_view path, bool gzip) const;

 private:
  explicit StaticFiles(std::string root) : root_(std::move(root)) {}

  std::string root_;  // canonical
};

// "text/html; charset=utf-8" for "a/index.html"; "application/octet-stream" for what is not known, models among it.
std::string_view media_type(std::string_view path);

// Whether an Accept-Encoding header takes gzip.
bool accepts_gzip(std::string_view header);

// Whether an If-None-Match or If-Range header names this tag. Weak tags are the same file here.
bool names_tag(std::string_view header, std::string_view etag);

// "Sun, 06 Nov 1994 08:49:37 GMT"
std::string http_date(int64_t seconds);

// The bytes that a range asks for: `first` to `last`, where -1 means not given, of a file of `bytes`. Nothing where the
// file has none of them.
struct ByteRange {
  uint64_t offset;
  uint64_t length;
};
std::optional<ByteRange> clip_range(int64_t first, int64_t last, uint64_t bytes);

}  // namespace tern::server
