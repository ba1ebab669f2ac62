// The beginning of a file, read by ranges before the file is downloaded.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "hub/http.h"
#include "tern/file_preview.h"

namespace tern::hub {

class Beginning {
 public:
  // `size` is the file's. `path_here`: where all of it is on this machine already; empty: it has to be fetched.
  Beginning(const HttpOptions& options, std::string url, uint64_t size, std::string path_here = "")
      : options_(options), url_(std::move(url)), size_(size), path_here_(std::move(path_here)) {}

  // The first bytes of the file, which has at least so many. Fetches what is not there yet, and ahead of it as much
  // again, so that a reader who wants more and more of it needs few requests. kNotSupported: the host does not send the
  // part that is asked for (which may be all of the file), or more than 64 MiB are wanted. kIo: the network; nothing is
  // tried again. kInterrupted.
  Result<void> read(MutableBytes into);

  // Whether read() ever failed: then what was made of the bytes means nothing.
  bool failed() const { return failed_; }

 private:
  Result<void> get(MutableBytes into);
  Result<void> fetch_to(uint64_t end);

  const HttpOptions& options_;
  std::string url_;
  uint64_t size_;
  std::string path_here_;
  std::string bytes_;  // from the first on
  bool failed_ = false;
};

}  // namespace tern::hub
