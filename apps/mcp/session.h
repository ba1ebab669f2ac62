// A conversation with one MCP server: JSON-RPC requests, their answers, and what the server asks in between. Source:
// the specification of the Model Context Protocol, revisions 2024-11-05 to 2025-11-25, and 2026-07-28 for servers that
// refuse the handshake of those.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/json_reader.h"
#include "mcp/config.h"
#include "mcp/mirrored_headers.h"
#include "mcp/transport.h"

namespace tern::mcp {

struct ServerTool {
  std::string name;
  std::string description;
  Json parameters;  // a JSON schema, an object
  bool operator==(const ServerTool&) const = default;
};

struct ToolOutput {
  std::string text;
  bool is_error = false;
};

class Session {
 public:
  // Starts or reaches the server and agrees on a version. `on_log` gets the lines that a program writes to its standard
  // error; may be null. All errors name the server.
  static Result<std::unique_ptr<Session>> open(const ServerConfig& config,
                                               std::function<void(const std::string& line)> on_log,
                                               std::stop_token stop);
  ~Session();  // ends the server
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // `skipped` gets a sentence for each tool that cannot be offered.
  Result<std::vector<ServerTool>> list_tools(std::vector<std::string>& skipped, std::stop_token stop);

  // kIo: the server has ended or did not answer in time; kInterrupted: `stop`. The server is then told to forget the
  // call. Several threads may call.
  Result<ToolOutput> call(const std::string& tool, Json arguments, std::stop_token stop);

  // True once after the server said that its tools have changed.
  bool take_tools_changed() { return tools_changed_.exchange(false); }

  void tools_may_have_changed() { tools_changed_ = true; }

  // True if the server cannot be reached any more.
  bool has_ended() const {
    const std::lock_guard lock(mutex_);
    return !closed_.empty();
  }

  // Asks the server to end, without waiting for it.
  void begin_close() { transport_->begin_close(); }

 private:
  struct Wait {
    std::chrono::seconds time;
    std::stop_token stop;
    bool may_cancel = true;
    NamedValues headers = {};
  };

  explicit Session(const ServerConfig& config) : config_(config) {}

  Result<void> shake_hands(std::stop_token stop);
  bool is_stateless_server(std::stop_token stop);
  void set_tools(const Json& result);
  Result<void> add_tool(const Json& json, std::vector<ServerTool>& all);
  Result<Json> request(const std::string& method, Json params, const Wait& wait);
  Result<Json> request_again_if_lost(const std::string& method, const Json& params, const Wait& wait);
  Result<Json> wait_for_answer(int64_t id, const Wait& wait, Clock::time_point deadline);
  Result<Json> result_of(const Json& answer) const;
  void notify(const std::string& method, Json params);
  void post(const Json& message, const std::string& method);

  void on_message(std::string_view text);
  void take_message(const Json& message);
  void take_answer(const Json& message);
  void answer_request(const Json& message);
  void on_closed(const std::string& why);

  std::unexpected<Error> failure(ErrorCode code, const std::string& what) const;

  const ServerConfig config_;
  std::atomic<bool> tools_changed_ = false;
  std::atomic<int64_t> next_id_ = 1;
  std::atomic<bool> is_stateless_ = false;  // every request says what a handshake would
  bool has_tools_ = false;
  std::mutex hands_;  // held while a lost session is opened again

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<int64_t, std::optional<Json>> waiting_;                  // by id
  std::string closed_;                                              // why; empty while the server can be reached
  std::map<std::string, std::vector<MirroredParameter>> mirrored_;  // by tool

  std::unique_ptr<Transport> transport_;  // last: it calls the others until it is gone
};

}  // namespace tern::mcp
