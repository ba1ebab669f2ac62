// Serves models over HTTP with the APIs of OpenAI and others: what `tern serve -m MODEL` runs.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "server/api/replies/request_log.h"
#include "server/api/routes/served_models.h"
#include "server/http_listener.h"
#include "tern/engine.h"
#include "tern/scheduler.h"

namespace tern::server {

// Limits for one connection.
struct ConnectionLimits {
  std::chrono::milliseconds idle = std::chrono::seconds(60);     // without a request
  std::chrono::milliseconds silence = std::chrono::seconds(30);  // between two pieces of a request or an answer
  std::chrono::milliseconds request = std::chrono::minutes(2);   // for a whole request, after the previous answer
  std::chrono::milliseconds lag = std::chrono::minutes(1);       // how far a stream's reader may be behind the model
  size_t head_bytes = size_t{64} << 10;
  size_t body_bytes = size_t{16} << 20;
};

struct ApiOptions {
  Address address = {};
  std::vector<std::string> names = {};            // names of the model in requests; answers use the first
  std::vector<std::string> api_keys = {};         // a request must have one of these; empty: none needed
  std::vector<std::string> allowed_origins = {};  // of web pages elsewhere that may use the server; see is_origin()
  SchedulerOptions scheduler = {};
  int max_waiting = 256;                                       // replies that are not running yet; further ones get 429
  std::chrono::seconds most_time = {};                         // for a complete answer; 0: no limit
  std::chrono::seconds drain_time = std::chrono::seconds(30);  // for running requests at shutdown
  SampleOptions sample = {};                                   // defaults for requests
  bool has_seed = false;                                       // sample.seed is set
  int max_tokens = -1;                                         // default for requests
  int thoughts = -1;                                           // tokens that a model may think; -1: any number
  int speculate = 0;                                           // see GenerateOptions
  bool parse_special = false;                                  // see ChatOptions
  Pooling pooling = Pooling::kAuto;                            // for an engine loaded for embeddings
  EnergyMeter* energy = nullptr;  // measures the processor; must outlive the server; null: energy is not reported
  ConnectionLimits limits = {};
  LogOptions log = {};
  bool metrics = false, slots = false;                         // enable /metrics and /slots
  bool any_model = false;                                      // an unknown name in a request means the first model
  int most_models = 0;                                         // maximum in memory at a time; 0: all of them
  std::function<void(const std::string& line)> on_event = {};  // when a model is loaded or unloaded, or fails
  std::string files_folder = {};                               // for /v1/files and /v1/batches; empty: disabled
  uint64_t max_file_bytes = uint64_t{512} << 20;               // for one upload
  McpTools mcp = {};                                           // tools that the server calls itself
  std::string slot_folder = {};                                // for files written by POST /slots/ID; empty: disabled
  std::string static_folder = {};  // its files are served at /, beside the API alone; empty: none
  std::string page_folder = {};    // of the chat page, served at / if there is no static folder; empty: none
};

// True for what ApiOptions::allowed_origins may list: "https://chat.example.org", with a port if it is not the scheme's
// own; "null" (pages of files and in sandboxes); "*" (all).
bool is_origin(std::string_view text);

// The options of one model, with all of its names.
ServedModelOptions served_options(const ApiOptions& options);

class ApiServer {
 public:
  // Starts to listen; requests are answered once serve() runs. kIo: the address cannot be used. kInvalidArgument,
  // kOutOfMemory: from the scheduler. The engine must outlive the server.
  static Result<ApiServer> open(const Engine& engine, ApiOptions options);
  // Serves several models, each with its own options; the fields of `options` that concern a model are ignored. Errors:
  // also those of ServedModels::open().
  static Result<ApiServer> open(std::vector<ModelEntry> models, ApiOptions options);

  ApiServer(ApiServer&&) noexcept;
  ApiServer& operator=(ApiServer&&) noexcept;
  ~ApiServer();

  const std::string& url() const;  // "http://127.0.0.1:8080/"

  // Answers until a stop is requested; then refuses new requests, completes the running ones, and returns. kIo:
  // listening failed.
  Result<void> serve(const std::stop_token& stop);

 private:
  struct Impl;
  explicit ApiServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tern::server
