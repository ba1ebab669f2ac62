#include "hub/hub.h"

#include <algorithm>
#include <charconv>

#include "base/text/quoted.h"

namespace tern::hub {
namespace {

// A user waits for the listing, and there may be a cache to use instead.
constexpr int kListTries = 3;

// True if a blob may have this name. Hubs other than Hugging Face have etags of their own.
bool is_blob_name(std::string_view etag) {
  return is_safe_path(etag) && !etag.contains('/') && etag.size() <= 128 && !etag.starts_with('.') &&
         std::ranges::all_of(etag, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-'; });
}

// The file, if its size is possible for a file of its kind.
Result<RemoteFile> checked(RemoteFile file, const std::string& repo) {
  TRY_STATUS(check_size(*file.size, file.path, repo));
  const bool holds_weights = file.path.ends_with(".gguf") || file.path.ends_with(".safetensors");
  if (*file.size > 0 || !holds_weights) return file;
  return fail(ErrorCode::kCorruption, "{}: {} is empty there, so it is no model; name another file or revision", repo,
              tern::quoted(file.path));
}

}  // namespace

Result<Listing> Hub::list() const {
  const std::string address = format_text("{}/api/models/{}/revision/{}?blobs=true", endpoint_, name_.repo,
                                          url_escape(name_.revision, /*keep_slashes=*/false));
  HttpOptions http = http_;
  http.retry.max_failures = std::min(http.retry.max_failures, kListTries);
  TRY(const HttpReply reply, http_get(http, address));
  if (reply.status != 200) return refusal(reply.status, reply.error_code, "");
  return parse_listing(reply.body, name_.repo);
}

Result<RemoteFile> Hub::complete(const std::string& commit, RemoteFile file) const {
  if (file.size && !file.etag.empty()) return checked(std::move(file), name_.repo);
  TRY(const HttpReply reply, http_head(http_, address(commit, file.path)));
  if (reply.status >= 400) return refusal(reply.status, reply.error_code, file.path);
  if (!file.size) {
    uint64_t size = 0;
    const char* end = reply.size.data() + reply.size.size();
    const auto [at, error] = std::from_chars(reply.size.data(), end, size);
    if (error == std::errc() && at == end && !reply.size.empty()) file.size = size;
  }
  if (file.etag.empty() && is_blob_name(reply.etag)) file.etag = reply.etag;
  if (!file.size || file.etag.empty()) {
    return fail(ErrorCode::kCorruption,
                "{}: the host does not say, in its listing or otherwise, how large {} is and "
                "what it is called (ETag)",
                name_.repo, file.path);
  }
  return checked(std::move(file), name_.repo);
}

std::string Hub::address(const std::string& commit, const std::string& path) const {
  return format_text("{}/{}/resolve/{}/{}", endpoint_, name_.repo, commit, url_escape(path, /*keep_slashes=*/true));
}

std::unexpected<Error> Hub::refusal(long status, const std::string& error_code, const std::string& what) const {
  const std::string subject = what.empty() ? name_.repo : format_text("{}: {}", name_.repo, what);
  const bool has_token = !http_.token.empty();
  if (error_code == "GatedRepo" || (status == 403 && error_code.empty())) {
    return fail(ErrorCode::kIo, "{}: access is restricted; accept the terms at {}/{}, then {}", subject, endpoint_,
                name_.repo,
                has_token ? "pull again (the token in use must belong to that account, and may read gated repositories)"
                          : "set HF_TOKEN to a token of that account");
  }
  if (error_code == "RevisionNotFound") {
    return fail(ErrorCode::kNotFound, "{}: there is no branch, tag or commit '{}'", subject, name_.revision);
  }
  if (error_code == "EntryNotFound" || (status == 404 && !what.empty())) {
    return fail(ErrorCode::kNotFound, "{}: there is no such file", subject);
  }
  if (status == 401 && has_token) {
    return fail(ErrorCode::kIo,
                "{}: there is no such repository, or the token in use (HF_TOKEN) is not valid or may not read it",
                subject);
  }
  if (status == 401 || error_code == "RepoNotFound") {
    return fail(ErrorCode::kNotFound, "{}: there is no such repository at {}; if it is private, {}", subject, endpoint_,
                has_token ? "use a token that may read it" : "set HF_TOKEN to a token that may read it");
  }
  if (status == 404) {
    return fail(ErrorCode::kNotFound, "{}: there is no such repository or revision at {}", subject, endpoint_);
  }
  return fail(ErrorCode::kIo, "{}: {} answered with status {}", subject, endpoint_, status);
}

}  // namespace tern::hub
