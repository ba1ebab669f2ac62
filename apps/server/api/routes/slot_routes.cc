#include "server/api/routes/slot_routes.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text/format_text.h"
#include "server/api/body.h"

namespace tern::server {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostSlotNameBytes = 200;  // a file has a longer temporary name while it is written

struct SlotFile {
  std::string name, path;
};

bool is_plain(std::string_view name) {
  const auto is_possible = [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f && c != '/' && c != '\\';
  };
  return !name.empty() && name.size() <= kMostSlotNameBytes && name.front() != '.' &&
         std::ranges::all_of(name, is_possible);
}

ApiResult<SlotFile> read_file_name(Fields& fields, const std::string& folder) {
  SlotFile file;
  fields.read("filename", file.name);
  TRY_STATUS(fields.check());
  if (file.name.empty()) {
    return refuse("filename: is missing; give the name of a file", "filename", "missing_required_parameter");
  }
  if (!is_plain(file.name)) {
    return refuse(format_text("filename: must be a name of at most {} bytes, without slashes or a dot at its beginning",
                              kMostSlotNameBytes),
                  "filename");
  }
  file.path = folder + "/" + file.name;
  return file;
}

// Errors show the name that the client knows, not where the server keeps the file.
ApiError file_error(const Error& error, const SlotFile& file) {
  constexpr std::string_view kAdvice = "; delete it, and it is made anew";  // true for sessions, but not here
  std::string what = error.message;
  if (what.starts_with(file.path)) what.erase(0, file.path.size() + 2);
  if (what.ends_with(kAdvice)) what.resize(what.size() - kAdvice.size());
  ApiError told = api_error(error);
  told.message = format_text("filename: {}: {}", file.name, what);
  told.param = "filename";
  // A file that does not fit is the client's mistake, even if it is damaged.
  if (error.code == ErrorCode::kCorruption) told.status = 400;
  if (error.code == ErrorCode::kIo) told.status = 507, told.code = "not_stored";
  return told;
}

uint64_t bytes_of(const SlotFile& file) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(file.path, error);
  return error ? 0 : bytes;
}

Json timings(const char* name, Clock::time_point start) {
  return {{name, std::chrono::duration<double, std::milli>(Clock::now() - start).count()}};
}

ApiResult<Json> save(ModelService& service, int slot, const SlotFile& file) {
  const auto start = Clock::now();
  Result<size_t> n_saved = size_t{0};
  TRY_STATUS(service.between_steps(
      [&](Scheduler& scheduler, Slots& slots) { n_saved = scheduler.save_cache(slots.tokens(slot), file.path); }));
  if (!n_saved) return std::unexpected(file_error(n_saved.error(), file));
  if (*n_saved == 0) {
    return refuse(format_text("id_slot: slot {} has nothing in memory that could be saved: whole blocks of {} tokens "
                              "are kept, of its latest answer, as far as --cache-ram has room",
                              slot, service.status().scheduler.kv_block_tokens),
                  "id_slot", "nothing_to_save");
  }
  return Json{{"id_slot", slot},
              {"filename", file.name},
              {"n_saved", *n_saved},
              {"n_written", bytes_of(file)},
              {"timings", timings("save_ms", start)}};
}

ApiResult<Json> restore(ModelService& service, int slot, const SlotFile& file) {
  const auto start = Clock::now();
  Result<std::vector<TokenId>> tokens;
  TRY_STATUS(service.between_steps([&](Scheduler& scheduler, Slots& slots) {
    tokens = scheduler.load_cache(file.path);
    if (tokens && !tokens->empty()) slots.note(slot, *tokens);
  }));
  if (!tokens) return std::unexpected(file_error(tokens.error(), file));
  if (tokens->empty()) {
    return refuse(format_text("filename: {}: nothing of it can be kept: it has less than a block of {} tokens, or "
                              "--cache-ram leaves no room",
                              file.name, service.status().scheduler.kv_block_tokens),
                  "filename");
  }
  return Json{{"id_slot", slot},
              {"filename", file.name},
              {"n_restored", tokens->size()},
              {"n_read", bytes_of(file)},
              {"timings", timings("restore_ms", start)}};
}

ApiResult<Json> erase(ModelService& service, int slot) {
  size_t n_erased = 0;
  TRY_STATUS(service.between_steps([&](Scheduler& scheduler, Slots& slots) {
    n_erased = scheduler.drop_cache(slots.tokens(slot));
    slots.note(slot, {});
  }));
  return Json{{"id_slot", slot}, {"n_erased", n_erased}};
}

ApiResult<int> read_slot(const std::string& text, int n_slots) {
  int slot = -1;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), slot);
  const bool is_one = read.ec == std::errc() && read.ptr == text.data() + text.size() && slot >= 0 && slot < n_slots;
  if (is_one) return slot;
  return refuse(format_text("id_slot: '{}' is no slot; there are 0 to {}", text.substr(0, 40), n_slots - 1), "id_slot");
}

ApiResult<Json> act(const httplib::Request& request, const Json& body, const RouteContext& context) {
  const std::string action = request.get_param_value("action");
  if (action != "save" && action != "restore" && action != "erase") {
    return refuse("action: must be save, restore or erase", "action");
  }
  SlotFile file;
  if (action != "erase") {
    Fields fields(body);
    TRY(file, read_file_name(fields, context.options.slot_folder));
  }
  TRY(const ServedModels::Lease model, context.models.get(body, [&] { return !request.is_connection_closed(); }));
  if (!model->service()) {
    return std::unexpected(ApiError{.status = 501, .message = "the model was loaded for embeddings, and has no slots"});
  }
  ModelService& service = *model->service();
  TRY(const int slot, read_slot(request.matches[1], service.n_slots()));
  return action == "save"      ? save(service, slot, file)
         : action == "restore" ? restore(service, slot, file)
                               : erase(service, slot);
}

}  // namespace

void add_slot_routes(const RouteContext& context) {
  context.http.Post("/slots/([^/]+)", [context](const httplib::Request& request, httplib::Response& response,
                                                const httplib::ContentReader& reader) {
    if (context.options.slot_folder.empty()) {
      return answer_error(response, {.status = 501, .message = "start the server with --slot-save-path DIR for this"});
    }
    const ApiResult<std::string> text = read_body(request, reader, context.options.limits.body_bytes);
    if (!text) return answer_error(response, text.error());
    ApiResult<Json> body = text->empty() ? ApiResult<Json>(Json::object()) : parse_body(*text);
    if (body && request.has_param("model")) body->emplace("model", request.get_param_value("model"));
    const ApiResult<Json> answer = body ? act(request, *body, context) : std::unexpected(body.error());
    answer ? answer_json(response, *answer) : answer_error(response, answer.error());
  });
}

}  // namespace tern::server
