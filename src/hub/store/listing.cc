#include "hub/store/listing.h"

#include <nlohmann/json.hpp>

#include "base/text/quoted.h"
#include "hub/store/model_name.h"

namespace tern::hub {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxFiles = 100'000;

// The string `key` of `object`; "" if there is none.
std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<uint64_t> size_of(const Json& object) {
  const auto found = object.find("size");
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<uint64_t>();
}

Result<RemoteFile> parse_file(const Json& entry, std::string_view source) {
  RemoteFile file;
  if (entry.is_object()) file.path = text_of(entry, "rfilename");
  if (file.path.empty()) return fail(ErrorCode::kCorruption, "{}: the answer lists a file without a name", source);
  if (!is_safe_path(file.path)) {
    return fail(ErrorCode::kCorruption,
                "{}: the answer lists a file named {}, which would not stay in the cache; it is refused", source,
                tern::quoted(file.path));
  }
  file.size = size_of(entry);
  if (const std::string blob = text_of(entry, "blobId"); is_hex(blob, 40)) file.etag = blob;
  if (const auto lfs = entry.find("lfs"); lfs != entry.end() && lfs->is_object()) {
    file.etag = text_of(*lfs, "sha256");
    if (!is_hex(file.etag, 64)) file.etag.clear();
    if (const auto size = size_of(*lfs)) file.size = size;
  }
  if (file.size) TRY_STATUS(check_size(*file.size, file.path, source));
  return file;
}

}  // namespace

Result<void> check_size(uint64_t size, const std::string& path, std::string_view source) {
  if (size <= kMaxFileSize) return {};
  return fail(ErrorCode::kCorruption, "{}: the hub says that {} has {} bytes, which no file has; is HF_ENDPOINT right?",
              source, tern::quoted(path), size);
}

Result<Listing> parse_listing(std::string_view json, std::string_view source) {
  const Json answer = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object()) {
    return fail(ErrorCode::kCorruption, "{}: the answer is not the listing of a repository; is HF_ENDPOINT right?",
                source);
  }
  Listing listing{.commit = text_of(answer, "sha")};
  const auto siblings = answer.find("siblings");
  if (!is_commit(listing.commit) || siblings == answer.end() || !siblings->is_array()) {
    return fail(ErrorCode::kCorruption, "{}: the answer names no commit or no files; is HF_ENDPOINT right?", source);
  }
  if (siblings->size() > kMaxFiles) {
    return fail(ErrorCode::kNotSupported, "{}: the repository has {} files, more than {}", source, siblings->size(),
                kMaxFiles);
  }
  for (const Json& entry : *siblings) {
    TRY(RemoteFile file, parse_file(entry, source));
    listing.files.push_back(std::move(file));
  }
  return listing;
}

}  // namespace tern::hub
