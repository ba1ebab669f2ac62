#include "server/api/batches/batch_lines.h"

#include <algorithm>
#include <span>
#include <unordered_set>
#include <utility>

#include "base/result.h"
#include "base/text/format_text.h"
#include "server/api/durable_files.h"
#include "server/api/replies/reply_options.h"
#include "server/connections/preparation.h"
#include "tern/tools.h"

namespace tern::server {
namespace {

constexpr size_t kPieceOfInput = size_t{1} << 20;
constexpr size_t kMostLineBytes = size_t{16} << 20;  // as for a request's body

std::unexpected<BatchFault> fault(size_t line, std::string code, std::string message, std::string param = {}) {
  return std::unexpected(BatchFault{line, std::move(code), std::move(message), std::move(param)});
}

BatchFault too_long(size_t line) {
  return {line, "line_too_large", format_text("is longer than {} bytes", kMostLineBytes)};
}

}  // namespace

std::expected<BatchRequest, BatchFault> read_batch_request(std::string_view line, size_t number) {
  const ApiResult<Json> json = parse_body(line);
  if (!json) return fault(number, "invalid_json_line", json.error().message);
  BatchRequest request{.custom_id = {}, .url = {}, .body = {}, .n_bytes = line.size()};
  Fields fields(*json);
  fields.read("custom_id", request.custom_id);
  if (const auto fine = fields.check(); !fine) {
    return fault(number, "invalid_custom_id", fine.error().message, "custom_id");
  }
  if (request.custom_id.empty()) {
    return fault(number, "missing_required_parameter", "has no custom_id, by which its answer could be found",
                 "custom_id");
  }
  std::string method = "POST";
  fields.read("method", method);
  fields.read("url", request.url);
  if (method != "POST") fields.fail("method", "must be POST");
  if (request.url.empty()) fields.fail("url", "is missing");
  const Json* body = fields.find("body");
  if (!body || !body->is_object()) fields.fail("body", "must be an object");
  if (const auto fine = fields.check(); !fine) {
    request.wrong = fine.error();
  } else {
    request.body = *body;
    if (request.body.value("stream", Json(false)) == true) {
      request.wrong = ApiError{.message = "stream: is not possible in a batch", .param = "stream"};
    } else if (request.body.value("store", Json(false)) == true) {
      request.wrong =
          ApiError{.message = "store: is not possible in a batch, whose answers are in its file; leave it out",
                   .param = "store"};
    }
  }
  return request;
}

Result<BatchInput> BatchInput::open(const std::string& path, bool gives_way) {
  BatchInput input(path, gives_way);
  if (path != "-") {
    auto file = platform::DiskFile::open(path, platform::DiskFile::Mode::kRead);
    if (!file) return disk_error(path, "cannot be read", file.error());
    const auto info = file->info();
    if (!info) return disk_error(path, "cannot be read", info.error());
    if (info->kind == platform::FileKind::kRegular) {
      input.file_ = std::make_unique<platform::DiskFile>(std::move(*file));
      return input;
    }
  }
  Result<std::string> text = read_text(path);  // a pipe, which can be read only once
  if (!text) return std::unexpected(text.error());
  input.text_ = *std::move(text);
  return input;
}

Result<std::string> BatchInput::read(uint64_t offset, size_t size) const {
  if (!file_) return offset < text_.size() ? text_.substr(offset, size) : std::string();
  std::string bytes(size, '\0');
  size_t n = 0;
  while (n < size) {
    const auto got = file_->read_some_at(offset + n, std::as_writable_bytes(std::span(bytes).subspan(n)));
    if (!got) return disk_error(path_, "cannot be read", got.error());
    if (*got == 0) break;
    n += *got;
  }
  bytes.resize(n);
  return bytes;
}

void BatchInput::prepare(size_t n_bytes, const std::function<void()>& work) const {
  gives_way_ ? Preparation::shared().run(n_bytes, work) : work();
}

// Calls `on_line` for each line that is not blank until it returns false. Of a line that is too long, it gets a part.
Result<void> BatchInput::each_line(const std::function<bool(std::string_view, const Line&)>& on_line) const {
  std::string held;
  Line line{.offset = 0, .size = 0, .number = 1};
  const auto take = [&](std::string_view text) {
    line.size = text.size();
    if (text.ends_with('\r')) text.remove_suffix(1);
    const bool goes_on = text.find_first_not_of(" \t") == text.npos || on_line(text, line);
    line = {.offset = line.offset + line.size + 1, .size = 0, .number = line.number + 1};
    return goes_on;
  };
  for (uint64_t at = 0;;) {
    Result<std::string> piece = read(at, kPieceOfInput);
    if (!piece) return std::unexpected(piece.error());
    if (piece->empty()) break;
    at += piece->size();
    held += *piece;
    bool goes_on = true;
    prepare(held.size(), [&] {
      size_t begin = 0;
      for (size_t end = held.find('\n', begin); goes_on && end != held.npos; end = held.find('\n', begin)) {
        goes_on = take(std::string_view(held).substr(begin, end - begin));
        begin = end + 1;
      }
      held.erase(0, begin);
    });
    if (!goes_on) return {};
    if (held.size() > kMostLineBytes) break;
  }
  if (!held.empty()) prepare(held.size(), [&] { take(held); });
  return {};
}

Result<std::vector<BatchFault>> BatchInput::validate(const Rules& rules) {
  lines_.clear();
  ids_.clear();
  std::vector<BatchFault> faults;
  std::unordered_set<std::string> ids;
  bool is_wanted = true;
  const auto look = [&](std::string_view text, const Line& line) -> std::optional<BatchFault> {
    if (text.size() > kMostLineBytes) return too_long(line.number);
    auto request = read_batch_request(text, line.number);
    if (!request) return request.error();
    if (!ids.insert(request->custom_id).second) {
      return BatchFault{line.number, "duplicate_custom_id",
                        format_text("the custom_id '{}' is that of an earlier line", request->custom_id.substr(0, 100)),
                        "custom_id"};
    }
    if (rules.check) {
      if (auto found = rules.check(*request, line.number)) return found;
    }
    lines_.push_back(line);
    ids_.push_back(std::move(request->custom_id));
    return {};
  };
  const Result<void> read = each_line([&](std::string_view text, const Line& line) {
    if (!rules.is_wanted()) return is_wanted = false;
    if (auto found = look(text, line)) faults.push_back(*std::move(found));
    return faults.size() < rules.most_faults;
  });
  if (!read) return std::unexpected(read.error());
  if (!is_wanted) return fail(ErrorCode::kInterrupted, "nobody wants it any more");
  return faults;
}

Result<BatchRequest> BatchInput::request(size_t index) const {
  const Line& line = lines_[index];
  const Result<std::string> text = read(line.offset, line.size);
  if (!text) return std::unexpected(text.error());
  std::expected<BatchRequest, BatchFault> request;
  prepare(line.size, [&] { request = read_batch_request(*text, line.number); });
  if (request && request->custom_id == ids_[index]) return *std::move(request);
  return std::unexpected(
      Error{ErrorCode::kIo, format_text("{}, line {}: has changed since it was read first", path_, line.number)});
}

Json answer_line(const std::string& custom_id, const ApiResult<Json>& answer) {
  return {{"id", new_id("batch_req_")},
          {"custom_id", custom_id},
          {"response",
           {{"status_code", answer ? 200 : answer.error().status},
            {"request_id", new_id("req_")},
            {"body", answer ? *answer : answer.error().json()}}},
          {"error", nullptr}};
}

Json unanswered_line(const std::string& custom_id, std::string_view code, std::string_view message) {
  return {{"id", new_id("batch_req_")},
          {"custom_id", custom_id},
          {"response", nullptr},
          {"error", {{"code", code}, {"message", message}}}};
}

}  // namespace tern::server
