#include "server/api/batches/upload.h"

#include <cerrno>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/text/format_text.h"
#include "server/api/batches/batch_record.h"
#include "server/api/replies/reply_options.h"

namespace tern::server {
namespace {

constexpr size_t kMostFieldBytes = 4096, kMostFields = 32, kMostNameBytes = 1024;

class Upload {
 public:
  Upload(FileStore& files, uint64_t most) : files_(files), most_(most) {}

  bool begin_part(const std::string& name, const std::string& filename) {
    in_file_ = name == "file";
    if (!in_file_) {
      if (fields_.size() >= kMostFields) return fail({.message = "the form has too many fields"});
      field_ = &fields_[name.substr(0, kMostNameBytes)];
      return true;
    }
    if (content_) return fail({.message = "file: may be there once", .param = "file"});
    filename_ = filename.empty() ? "file" : filename.substr(0, kMostNameBytes);
    auto created = files_.begin(id_);
    if (!created) return fail(disk(created.error()));
    content_.emplace(*std::move(created));
    return true;
  }

  bool add(std::string_view bytes) {
    if (!in_file_) {
      if (!field_ || field_->size() + bytes.size() > kMostFieldBytes) {
        return fail({.message = format_text("a field of the form is longer than {} bytes", kMostFieldBytes)});
      }
      field_->append(bytes);
      return true;
    }
    if (content_->bytes() + bytes.size() > most_) {
      return fail({.status = 413,
                   .message = format_text("file: is larger than {} MiB; start the server with a larger --max-file-mib",
                                          most_ >> 20),
                   .param = "file"});
    }
    if (auto added = content_->add(bytes); !added) return fail(disk(added.error()));
    return true;
  }

  ApiResult<StoredFile> keep(bool is_whole) {
    if (error_) return std::unexpected(*error_);
    if (!is_whole) return refuse("the form broke off, or is none");
    if (!content_) return refuse("file: is missing; send it as a part of the form", "file");
    if (content_->bytes() == 0) return refuse("file: is empty", "file");
    const std::string purpose = fields_["purpose"];
    if (purpose != "batch") {
      return refuse(purpose.empty() ? "purpose: is missing; the only one here is batch"
                                    : format_text("purpose: '{}' is not possible here; the only one is batch",
                                                  readable(purpose.substr(0, 100))),
                    "purpose");
    }
    TRY(const int64_t lifetime, read_expiry());
    auto kept = files_.keep(id_, *std::move(content_), readable(filename_), lifetime);
    if (!kept) return std::unexpected(disk(kept.error()));
    return *std::move(kept);
  }

 private:
  static ApiError disk(const Error& error) { return {.status = 507, .message = error.message, .code = "not_stored"}; }

  bool fail(ApiError error) {
    if (!error_) error_ = std::move(error);
    return false;
  }

  // Reads {"expires_after": {"anchor": …, "seconds": …}} as forms write it.
  ApiResult<int64_t> read_expiry() {
    Json expiry = nullptr;
    if (const auto anchor = fields_.find("expires_after[anchor]"); anchor != fields_.end()) {
      expiry["anchor"] = anchor->second;
    }
    if (const auto seconds = fields_.find("expires_after[seconds]"); seconds != fields_.end()) {
      Json number = Json::parse(seconds->second, nullptr, /*allow_exceptions=*/false);
      expiry["seconds"] = number.is_number() ? std::move(number) : Json(seconds->second);
    }
    const Json body = {{"expires_after", std::move(expiry)}};
    Fields fields(body);
    return read_lifetime(fields, "expires_after");
  }

  FileStore& files_;
  const uint64_t most_;
  const std::string id_ = new_id("file-");
  std::string filename_;
  std::optional<NewFile> content_;
  bool in_file_ = false;
  std::map<std::string, std::string> fields_;
  std::string* field_ = nullptr;
  std::optional<ApiError> error_;
};

}  // namespace

ApiResult<StoredFile> take_upload(const httplib::Request& request, const httplib::ContentReader& reader,
                                  FileStore& files, uint64_t most) {
  if (!request.is_multipart_form_data()) {
    return std::unexpected(
        ApiError{.status = 415, .message = "the body must be a form with a file (multipart/form-data)"});
  }
  Upload upload(files, most);
  const bool is_whole = reader([&](const auto& part) { return upload.begin_part(part.name, part.filename); },
                               [&](const char* data, size_t n) { return upload.add({data, n}); });
  return upload.keep(is_whole);
}

}  // namespace tern::server
