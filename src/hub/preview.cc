#include "hub/preview.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/files/file.h"

namespace tern::hub {
namespace {

constexpr uint64_t kLeastFetched = uint64_t{1} << 20;
constexpr uint64_t kMostKept = uint64_t{64} << 20;

// One request for a part of a file.
struct PartRequest {
  CURL* curl = nullptr;
  std::string& bytes;  // where the part is put
  uint64_t most;       // bytes of the part
  bool is_all;         // the part is the whole file
  const HttpOptions& options;

  static size_t receive(const char* data, size_t, size_t size, void* user) {
    auto& request = *static_cast<PartRequest*>(user);
    long status = 0;
    curl_easy_getinfo(request.curl, CURLINFO_RESPONSE_CODE, &status);
    // A host without support for ranges begins to send everything, which may be what is wanted.
    const bool is_right = status == 206 || (status == 200 && request.is_all);
    if (!is_right || request.bytes.size() + size > request.most) return CURL_WRITEFUNC_ERROR;
    request.bytes.append(data, size);
    return size;
  }
  static int stop_if_told(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<PartRequest*>(user)->options.stop.stop_requested() ? 1 : 0;
  }
};

}  // namespace

Result<void> Beginning::read(MutableBytes into) {
  CHECK(into.size() <= size_);
  const Result<void> got = get(into);
  failed_ = failed_ || !got;
  return got;
}

Result<void> Beginning::get(MutableBytes into) {
  if (!path_here_.empty()) {
    TRY(const auto file, open_file(path_here_, Access::kPieces));
    if (file->size() == size_) return file->read(0, into);
    return fail(ErrorCode::kIo, "{}: the file has changed", path_here_);
  }
  if (into.size() > bytes_.size()) {
    TRY_STATUS(
        fetch_to(std::min(size_, std::max({uint64_t{into.size()}, 2 * uint64_t{bytes_.size()}, kLeastFetched}))));
  }
  std::memcpy(into.data(), bytes_.data(), into.size());
  return {};
}

Result<void> Beginning::fetch_to(uint64_t end) {
  if (end > kMostKept) return fail(ErrorCode::kNotSupported, "{}: its header has more than {} bytes", url_, kMostKept);
  std::string part;
  CurlList headers(nullptr, curl_slist_free_all);
  const CurlHandle handle = make_handle(options_, url_, headers);
  CURL* curl = handle.get();
  const bool is_all = bytes_.empty() && end == size_;
  PartRequest request{.curl = curl, .bytes = part, .most = end - bytes_.size(), .is_all = is_all, .options = options_};
  curl_easy_setopt(curl, CURLOPT_RANGE, format_text("{}-{}", bytes_.size(), end - 1).c_str());
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, PartRequest::receive);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &request);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, PartRequest::stop_if_told);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &request);
  const CURLcode code = curl_easy_perform(curl);
  if (options_.stop.stop_requested()) return fail(ErrorCode::kInterrupted, "interrupted");
  if (part.size() != request.most) {
    if (code == CURLE_OK || code == CURLE_WRITE_ERROR)
      return fail(ErrorCode::kNotSupported, "{}: the host does not send the part that was asked for", url_);
    return fail(ErrorCode::kIo, "{}", describe_failure(curl, code, url_));
  }
  bytes_ += part;
  return {};
}

}  // namespace tern::hub
