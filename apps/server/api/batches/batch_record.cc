#include "server/api/batches/batch_record.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text/format_text.h"
#include "server/api/replies/answer.h"
#include "server/api/replies/request_hints.h"

namespace tern::server {
namespace {

struct StatusName {
  BatchStatus status;
  std::string_view name, time;  // `time`: the field for when it got this status
};
constexpr std::array<StatusName, 8> kStatusNames = {{{BatchStatus::kValidating, "validating", "created_at"},
                                                     {BatchStatus::kInProgress, "in_progress", "in_progress_at"},
                                                     {BatchStatus::kFinalizing, "finalizing", "finalizing_at"},
                                                     {BatchStatus::kCompleted, "completed", "completed_at"},
                                                     {BatchStatus::kFailed, "failed", "failed_at"},
                                                     {BatchStatus::kExpired, "expired", "expired_at"},
                                                     {BatchStatus::kCancelling, "cancelling", "cancelling_at"},
                                                     {BatchStatus::kCancelled, "cancelled", "cancelled_at"}}};

const StatusName& name_of(BatchStatus status) { return *std::ranges::find(kStatusNames, status, &StatusName::status); }

constexpr int64_t kWindowSeconds = 24 * 3600;
constexpr double kMostNumber = 9e15;

Json faults_json(const std::vector<BatchFault>& faults) {
  Json list = Json::array();
  for (const BatchFault& fault : faults) {
    list.push_back({{"code", fault.code},
                    {"message", fault.message},
                    {"param", fault.param.empty() ? Json(nullptr) : Json(fault.param)},
                    {"line", fault.line > 0 ? Json(fault.line) : Json(nullptr)}});
  }
  return list;
}

}  // namespace

bool BatchRecord::is_over() const {
  return status == BatchStatus::kCompleted || status == BatchStatus::kFailed || status == BatchStatus::kExpired ||
         status == BatchStatus::kCancelled;
}

void BatchRecord::become(BatchStatus next) {
  status = next;
  times[std::string(name_of(next).time)] = unix_seconds();
}

Json BatchRecord::json() const {
  Json json = {{"id", id},
               {"object", "batch"},
               {"endpoint", endpoint},
               {"input_file_id", input_file_id},
               {"completion_window", "24h"},
               {"status", name_of(status).name}};
  if (!faults.empty()) json["errors"] = {{"object", "list"}, {"data", faults_json(faults)}};
  if (has_output) json["output_file_id"] = output_file_id;
  if (has_errors) json["error_file_id"] = error_file_id;
  json.update(times);
  json["request_counts"] = {{"total", n}, {"completed", n_completed}, {"failed", n_failed}};
  json["metadata"] = metadata;
  return json;
}

Json BatchRecord::note() const {
  Json json = {{"id", id},
               {"number", number},
               {"endpoint", endpoint},
               {"input_file_id", input_file_id},
               {"output_file_id", output_file_id},
               {"error_file_id", error_file_id},
               {"has_output", has_output},
               {"has_errors", has_errors},
               {"has_all_lines", has_all_lines},
               {"status", name_of(status).name},
               {"file_lifetime", file_lifetime},
               {"times", times},
               {"metadata", metadata},
               {"errors", faults_json(faults)},
               {"total", n},
               {"completed", n_completed},
               {"failed", n_failed}};
  return json;
}

Result<BatchRecord> record_of(const std::string& path, const Json& note) {
  Fields fields(note);
  BatchRecord batch;
  std::string status;
  int64_t number = 0, n = 0, n_completed = 0, n_failed = 0;
  fields.read("id", batch.id);
  fields.read("number", number, {0, kMostNumber});
  fields.read("endpoint", batch.endpoint);
  fields.read("input_file_id", batch.input_file_id);
  fields.read("output_file_id", batch.output_file_id);
  fields.read("error_file_id", batch.error_file_id);
  fields.read("has_output", batch.has_output);
  fields.read("has_errors", batch.has_errors);
  fields.read("has_all_lines", batch.has_all_lines);
  fields.read("status", status);
  fields.read("file_lifetime", batch.file_lifetime, {0, kMostNumber});
  fields.read("total", n, {0, kMostNumber});
  fields.read("completed", n_completed, {0, kMostNumber});
  fields.read("failed", n_failed, {0, kMostNumber});
  batch.number = static_cast<uint64_t>(number);
  batch.n = static_cast<uint64_t>(n);
  batch.n_completed = static_cast<uint64_t>(n_completed);
  batch.n_failed = static_cast<uint64_t>(n_failed);
  const auto* const known = std::ranges::find(kStatusNames, status, &StatusName::name);
  const Json* times = fields.find("times");
  if (const Json* metadata = fields.find("metadata")) batch.metadata = *metadata;
  if (const Json* errors = fields.find("errors"); errors && errors->is_array()) {
    for (const Json& one : *errors) {
      Fields of(one);
      BatchFault fault = {};
      int64_t line = 0;
      of.read("line", line, {0, kMostNumber});
      of.read("code", fault.code);
      of.read("message", fault.message);
      of.read("param", fault.param);
      fault.line = static_cast<size_t>(line);
      batch.faults.push_back(std::move(fault));
    }
  }
  const bool has_times = times && times->is_object() && times->contains("expires_at") &&
                         std::ranges::all_of(*times, [](const Json& time) { return time.is_number_integer(); });
  if (!fields.check() || known == kStatusNames.end() || !has_times || !path.ends_with("/" + batch.id + ".json")) {
    return fail(ErrorCode::kCorruption, "{}: is nothing that this server has written; move it elsewhere", path);
  }
  batch.status = known->status;
  batch.times = *times;
  return batch;
}

ApiResult<int64_t> read_lifetime(Fields& fields, std::string_view name) {
  constexpr int64_t kHour = 3600, kMonth = 30 * 24 * kHour;
  int64_t seconds = 0;
  fields.within(name, [&](Fields& of) {
    std::string anchor;
    of.read("anchor", anchor);
    if (anchor != "created_at") of.fail("anchor", "must be created_at");
    of.read("seconds", seconds, {static_cast<double>(kHour), static_cast<double>(kMonth)});
    if (!of.find("seconds")) of.fail("seconds", "is missing; give 3600 to 2592000");
  });
  TRY_STATUS(fields.check());
  return seconds;
}

ApiResult<BatchRecord> read_new_batch(const Json& body) {
  Fields fields(body);
  BatchRecord batch;
  std::string window;
  fields.read("input_file_id", batch.input_file_id);
  fields.read("endpoint", batch.endpoint);
  fields.read("completion_window", window);
  if (batch.input_file_id.empty()) fields.fail("input_file_id", "is missing; give the id of a file of requests");
  if (batch.endpoint.empty()) fields.fail("endpoint", "is missing; give the route of all of its requests");
  if (window != "24h") fields.fail("completion_window", "must be 24h");
  TRY(batch.file_lifetime, read_lifetime(fields, "output_expires_after"));
  TRY(batch.metadata, read_metadata(fields));
  batch.id = new_id("batch_");
  batch.output_file_id = new_id("file-");
  batch.error_file_id = new_id("file-");
  batch.become(BatchStatus::kValidating);
  batch.times["expires_at"] = batch.times["created_at"].get<int64_t>() + kWindowSeconds;
  return batch;
}

}  // namespace tern::server
