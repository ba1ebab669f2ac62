#include "mcp/session.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/text/quoted.h"
#include "mcp/http_transport.h"
#include "mcp/stdio_transport.h"
#include "mcp/tool_output.h"
#include "tern/version.h"

namespace tern::mcp {
namespace {

constexpr std::array kVersions = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};  // newest first
constexpr std::chrono::seconds kToTell(5);  // for messages that have no answer
constexpr size_t kMostPages = 100, kMostTools = 1000;
constexpr size_t kMostToolBytes = size_t{64} << 10;  // of a tool's description and parameters

Json client_info() { return {{"name", "tern"}, {"version", TERN_VERSION_STRING}}; }

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// The text of a JSON-RPC error, on one line and not longer than a reader wants.
std::string error_text(const Json& error) {
  const auto message = error.is_object() ? error.find("message") : error.end();
  std::string text = message != error.end() && message->is_string() ? message->get<std::string>() : dumped(error);
  std::ranges::replace(text, '\n', ' ');
  return text.substr(0, 400);
}

// Reads one element of a list of tools. An error is why it cannot be offered.
Result<ServerTool> read_tool(const Json& json) {
  const auto no = [](const std::string& why) { return fail(ErrorCode::kNotSupported, "{}", why); };
  if (!json.is_object() || !json.contains("name") || !json["name"].is_string()) return no("a tool has no name");
  ServerTool tool{.name = json["name"], .description = {}, .parameters = {}};
  const std::string who = "the tool " + tern::quoted(tool.name);
  if (json.contains("description") && json["description"].is_string()) tool.description = json["description"];
  if (tool.name.empty() || tool.name.size() > 256) return no(who + " has a name that is empty or too long");
  const auto schema = json.find("inputSchema");
  tool.parameters = schema == json.end() ? Json{{"type", "object"}} : *schema;
  if (!tool.parameters.is_object()) return no(who + " has an \"inputSchema\" that is no object");
  if (tool.description.size() + dumped(tool.parameters).size() > kMostToolBytes) {
    return no(format_text("{} has a description and parameters of more than {} KiB", who, kMostToolBytes >> 10));
  }
  return tool;
}

}  // namespace

Result<std::unique_ptr<Session>> Session::open(const ServerConfig& config,
                                               std::function<void(const std::string& line)> on_log,
                                               std::stop_token stop) {
  std::unique_ptr<Session> session(new Session(config));
  Incoming incoming{.on_message = [s = session.get()](std::string_view text) { s->on_message(text); },
                    .on_closed = [s = session.get()](const std::string& why) { s->on_closed(why); }};
  const auto log = [on_log = std::move(on_log)](std::string_view line) {
    if (on_log) on_log(std::string(line));
  };
  Result<std::unique_ptr<Transport>> transport =
      config.url.empty() ? open_stdio(config, std::move(incoming), log) : open_http(config, std::move(incoming));
  if (!transport) return session->failure(transport.error().code, transport.error().message);
  session->transport_ = *std::move(transport);
  TRY_STATUS(session->shake_hands(stop));
  return session;
}

Session::~Session() = default;

std::unexpected<Error> Session::failure(ErrorCode code, const std::string& what) const {
  return fail(code, "the MCP server {} {}", tern::quoted(config_.name), what);
}

// Servers of the revisions with a handshake are by far the most, and those of the next one often take it, too. So it is
// tried first; a server that refuses it may be one that knows it no more.
Result<void> Session::shake_hands(std::stop_token stop) {
  const Json hello = {
      {"protocolVersion", kVersions.front()}, {"capabilities", Json::object()}, {"clientInfo", client_info()}};
  const Result<Json> result =
      request("initialize", hello, {.time = config_.start_timeout, .stop = stop, .may_cancel = false});
  if (!result) {
    const bool is_refusal = result.error().code == ErrorCode::kNotSupported;
    return is_refusal && is_stateless_server(stop) ? Result<void>() : std::unexpected(result.error());
  }
  const auto version = result->find("protocolVersion");
  if (version == result->end() || !version->is_string()) {
    return failure(ErrorCode::kCorruption, "does not say which version of the protocol it speaks");
  }
  if (!std::ranges::contains(kVersions, version->get<std::string>())) {
    return failure(ErrorCode::kNotSupported,
                   format_text("speaks version {} of the protocol; Tern speaks {} to {}",
                               tern::quoted(version->get<std::string>()), kVersions.back(), kStatelessVersion));
  }
  set_tools(*result);
  if (const auto used = transport_->use_version(*version); !used) {
    return failure(used.error().code, used.error().message);
  }
  notify("notifications/initialized", Json::object());
  return {};
}

bool Session::is_stateless_server(std::stop_token stop) {
  is_stateless_ = true;
  if (!transport_->use_version(kStatelessVersion)) return false;
  const Result<Json> result = request("server/discover", Json::object(),
                                      {.time = config_.start_timeout, .stop = std::move(stop), .may_cancel = false});
  const auto versions = result ? result->find("supportedVersions") : Json::const_iterator();
  if (result && versions != result->end() && versions->is_array() &&
      std::ranges::contains(*versions, Json(kStatelessVersion))) {
    set_tools(*result);
    return true;
  }
  is_stateless_ = false;
  [[maybe_unused]] const auto used = transport_->use_version("");  // starts nothing
  return false;
}

void Session::set_tools(const Json& result) {
  const auto capabilities = result.find("capabilities");
  has_tools_ = capabilities != result.end() && capabilities->is_object() && capabilities->contains("tools");
}

// An error is why the tool cannot be offered.
Result<void> Session::add_tool(const Json& json, std::vector<ServerTool>& all) {
  TRY(ServerTool tool, read_tool(json));
  if (std::ranges::contains(all, tool.name, &ServerTool::name)) {
    return fail(ErrorCode::kNotSupported, "the tool {} is there twice", tern::quoted(tool.name));
  }
  if (is_stateless_ && !config_.url.empty()) {
    Result<std::vector<MirroredParameter>> mirrored = mirrored_parameters(tool.parameters);
    if (!mirrored) {
      return fail(ErrorCode::kNotSupported, "the tool {} {}", tern::quoted(tool.name), mirrored.error().message);
    }
    const std::lock_guard lock(mutex_);
    mirrored_[tool.name] = *std::move(mirrored);
  }
  all.push_back(std::move(tool));
  return {};
}

Result<std::vector<ServerTool>> Session::list_tools(std::vector<std::string>& skipped, std::stop_token stop) {
  std::vector<ServerTool> all;
  if (!has_tools_) return all;
  std::set<std::string> cursors;
  Json params = Json::object();
  for (size_t page = 0; page < kMostPages; ++page) {
    TRY(const Json result, request_again_if_lost("tools/list", params, {.time = config_.start_timeout, .stop = stop}));
    const auto list = result.find("tools");
    if (list == result.end() || !list->is_array()) return failure(ErrorCode::kCorruption, "sent no list of tools");
    for (const Json& json : *list) {
      if (const Result<void> added = add_tool(json, all); !added) skipped.push_back(added.error().message);
      if (all.size() + skipped.size() > kMostTools) {
        return failure(ErrorCode::kNotSupported, format_text("has more than {} tools", kMostTools));
      }
    }
    const auto next = result.find("nextCursor");
    if (next == result.end() || !next->is_string() || next->get<std::string>().empty()) return all;
    if (!cursors.insert(next->get<std::string>()).second) break;
    params = {{"cursor", *next}};
  }
  return failure(ErrorCode::kCorruption, "sends a list of tools that does not end");
}

Result<ToolOutput> Session::call(const std::string& tool, Json arguments, std::stop_token stop) {
  Wait wait{.time = config_.call_timeout, .stop = std::move(stop)};
  if (is_stateless_) {
    const std::lock_guard lock(mutex_);
    if (const auto mirrored = mirrored_.find(tool); mirrored != mirrored_.end()) {
      wait.headers = mirrored_headers(mirrored->second, arguments);
    }
  }
  const Json params = {{"name", tool}, {"arguments", std::move(arguments)}};
  TRY(const Json result, request_again_if_lost("tools/call", params, wait));
  return read_output(result);
}

Result<Json> Session::request_again_if_lost(const std::string& method, const Json& params, const Wait& wait) {
  Result<Json> result = request(method, params, wait);
  if (result || !transport_->take_lost_session()) return result;
  {
    const std::lock_guard lock(hands_);
    TRY_STATUS(shake_hands(wait.stop));
  }
  tools_may_have_changed();
  return request(method, params, wait);
}

Result<Json> Session::request(const std::string& method, Json params, const Wait& wait) {
  const int64_t id = next_id_++;
  const Clock::time_point deadline = Clock::now() + wait.time;
  Outgoing message{.text = {},
                   .method = method,
                   .tool = method == "tools/call" ? params["name"].get<std::string>() : "",
                   .headers = wait.headers,
                   .deadline = deadline,
                   .stop = wait.stop,
                   .is_answered = [this, id] {
                     const std::lock_guard lock(mutex_);
                     return waiting_[id].has_value();
                   }};
  if (is_stateless_) {
    params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", kStatelessVersion},
                       {"io.modelcontextprotocol/clientInfo", client_info()},
                       {"io.modelcontextprotocol/clientCapabilities", Json::object()}};
  }
  message.text = dumped({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
  {
    const std::lock_guard lock(mutex_);
    waiting_[id];
  }
  const Result<void> sent = transport_->send(message);
  Result<Json> answer = wait_for_answer(id, wait, sent ? deadline : Clock::now());
  {
    const std::lock_guard lock(mutex_);
    waiting_.erase(id);
    if (!answer && !sent && closed_.empty()) answer = failure(sent.error().code, sent.error().message);
  }
  if (answer) return result_of(*answer);
  const bool is_open = sent || sent.error().code == ErrorCode::kInterrupted || Clock::now() >= deadline;
  const bool is_told_by_closing = is_stateless_ && !config_.url.empty();
  if (wait.may_cancel && is_open && !is_told_by_closing)
    notify("notifications/cancelled", {{"requestId", id}, {"reason", "not wanted any more"}});
  return answer;
}

Result<Json> Session::wait_for_answer(int64_t id, const Wait& wait, Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, wait.stop, deadline, [&] { return waiting_[id].has_value() || !closed_.empty(); });
  if (waiting_[id]) return *std::move(waiting_[id]);
  if (!closed_.empty()) {
    const std::string words = transport_ ? transport_->last_words() : "";
    return failure(ErrorCode::kIo, closed_ + (words.empty() ? "" : "; it said: " + words));
  }
  if (wait.stop.stop_requested()) return failure(ErrorCode::kInterrupted, "was told to stop");
  return failure(ErrorCode::kIo, format_text("did not answer within {} s", wait.time.count()));
}

Result<Json> Session::result_of(const Json& answer) const {
  if (const auto error = answer.find("error"); error != answer.end()) {
    return failure(ErrorCode::kNotSupported, "refused: " + error_text(*error));
  }
  const auto result = answer.find("result");
  if (result == answer.end() || !result->is_object()) return failure(ErrorCode::kCorruption, "sent no result");
  const auto type = result->find("resultType");
  if (type == result->end() || *type == "complete") return *result;
  if (*type == "input_required") return failure(ErrorCode::kNotSupported, "asks for input, which Tern does not give");
  return failure(ErrorCode::kCorruption, "sent a result of a kind that the protocol does not have");
}

void Session::notify(const std::string& method, Json params) {
  Json message = {{"jsonrpc", "2.0"}, {"method", method}};
  if (!params.empty()) message["params"] = std::move(params);
  post(message, method);
}

// A message without an answer. If it is lost, the next request will tell.
void Session::post(const Json& message, const std::string& method) {
  [[maybe_unused]] const Result<void> sent =
      transport_->send({.text = dumped(message), .method = method, .deadline = Clock::now() + kToTell});
}

// What cannot be read is no answer to anything, and the request that waits for one has a time limit.
void Session::on_message(std::string_view text) {
  const Result<Json> message = parse_json(text, "MCP", {.max_bytes = kMaxMessageBytes});
  if (!message) return;
  if (!message->is_array()) return take_message(*message);
  for (const Json& each : *message) take_message(each);
}

void Session::take_message(const Json& message) {
  if (!message.is_object()) return;
  const auto method = message.find("method");
  if (method == message.end()) return take_answer(message);
  if (message.contains("id")) return answer_request(message);
  if (*method == "notifications/tools/list_changed") tools_changed_ = true;
  // Others, such as progress and log messages, change nothing here.
}

// An answer with an unknown id may be a late one, to a request that was given up.
void Session::take_answer(const Json& message) {
  const auto id = message.find("id");
  if (id == message.end() || !id->is_number_integer()) return;
  const std::lock_guard lock(mutex_);
  const auto place = waiting_.find(id->get<int64_t>());
  if (place == waiting_.end() || place->second) return;
  place->second = message;
  changed_.notify_all();
}

void Session::answer_request(const Json& message) {
  Json answer = {{"jsonrpc", "2.0"}, {"id", message["id"]}};
  if (message["method"] == "ping") {
    answer["result"] = Json::object();
  } else {
    answer["error"] = {{"code", -32601}, {"message", "Method not found"}};
  }
  post(answer, "");
}

void Session::on_closed(const std::string& why) {
  const std::lock_guard lock(mutex_);
  closed_ = why;
  changed_.notify_all();
}

}  // namespace tern::mcp
