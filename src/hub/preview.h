// Reads the beginning of a file by range requests, before the file is downloaded.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "hub/net/http.h"
#include "tern/file_preview.h"

namespace tern::hub {

class Beginning {
 public:
  // `size` is the whole file's. `path_here`: the complete file on this machine; empty: it must be fetched.
  Beginning(const HttpOptions& options, std::string url, uint64_t size, std::string path_here = "")
      : options_(options), url_(std::move(url)), size_(size), path_here_(std::move(path_here)) {}

  // Reads the first bytes of the file, which must have that many. Fetches missing bytes, and as many again ahead, so
  // that a reader that wants more and more needs few requests. kNotSupported: the host does not send the requested part
  // (which may be the whole file), or more than 64 MiB are requested. kIo: the network; there are no retries.
  // kInterrupted.
  Result<void> read(MutableBytes into);

  // True if read() ever failed: then results from the bytes mean nothing.
  bool failed() const { return failed_; }

 private:
  Result<void> get(MutableBytes into);
  Result<void> fetch_to(uint64_t end);

  const HttpOptions& options_;
  std::string url_;
  uint64_t size_;
  std::string path_here_;
  std::string bytes_;  // from the first byte on
  bool failed_ = false;
};

}  // namespace tern::hub
