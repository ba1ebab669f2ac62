// A model over HTTP, as OpenAI's clients ask: what `tern serve -m MODEL` runs.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "server/api/request_log.h"
#include "server/api/served_models.h"
#include "server/http_listener.h"
#include "tern/engine.h"
#include "tern/scheduler.h"

namespace tern::server {

// What a connection may take of the server. Of a head, the library reads at most 100 lines of 8 kB.
struct ConnectionLimits {
  std::chrono::seconds idle = std::chrono::seconds(60);         // without a request
  std::chrono::seconds silence = std::chrono::seconds(30);      // between two pieces of a request, or of an answer
  std::chrono::milliseconds request = std::chrono::minutes(2);  // for a whole request, from the answer before it
  std::chrono::milliseconds lag = std::chrono::minutes(1);      // of a stream's reader behind the model
  size_t head_bytes = size_t{64} << 10;
  size_t body_bytes = size_t{16} << 20;
};

struct ApiOptions {
  Address address = {};
  std::vector<std::string> names = {};     // that requests may call the model; the first is what answers call it
  std::vector<std::string> api_keys = {};  // one of which is asked for; none: everybody may
  SchedulerOptions scheduler = {};
  int max_waiting = 256;                // replies that are not running yet; more are answered with 429
  std::chrono::seconds most_time = {};  // for an answer; 0: no limit
  std::chrono::seconds drain_time = std::chrono::seconds(30);  // for what runs when the server is told to end
  SampleOptions sample = {};                                   // where requests say nothing
  bool has_seed = false;                                       // sample.seed is one
  int max_tokens = -1;                                         // likewise
  int speculate = 0;                                           // see GenerateOptions
  Pooling pooling = Pooling::kAuto;                            // of an engine that was loaded for embeddings
  EnergyMeter* energy = nullptr;  // of the processor; must outlive the server; null: nothing is told of it
  ConnectionLimits limits = {};
  LogOptions log = {};
  bool metrics = false, slots = false;                         // whether there are /metrics and /slots
  int most_models = 0;                                         // in memory at a time; 0: all of them
  std::function<void(const std::string& line)> on_event = {};  // what becomes of models
  std::string files_folder = {};                               // for /v1/files and /v1/batches; empty: there are none
  uint64_t max_file_bytes = uint64_t{512} << 20;               // of an upload
  std::string slot_folder = {};                                // for files that POST /slots/ID writes; empty: none
  std::string static_folder = {};  // whose files are at /, and nothing else is but the interface; empty: none
  std::string page_folder = {};    // of the page to chat on, which is at / without a static folder; empty: none
};

// Of a model with these options, and with all of its names.
ServedModelOptions served_options(const ApiOptions& options);

class ApiServer {
 public:
  // Listens; nothing is answered before serve(). kIo: the address cannot be had. kInvalidArgument, kOutOfMemory: what
  // the scheduler refuses. The engine must outlive the server.
  static Result<ApiServer> open(const Engine& engine, ApiOptions options);
  // With several models, each with options of its own: those of `options` that are a model's are not looked at. Errors:
  // also those of ServedModels::open().
  static Result<ApiServer> open(std::vector<ModelEntry> models, ApiOptions options);

  ApiServer(ApiServer&&) noexcept;
  ApiServer& operator=(ApiServer&&) noexcept;
  ~ApiServer();

  const std::string& url() const;  // "http://127.0.0.1:8080/"

  // Answers until a stop is requested; then takes nothing new, ends what runs, and returns. kIo where listening ends by
  // itself.
  Result<void> serve(const std::stop_token& stop);

 private:
  struct Impl;
  explicit ApiServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tern::server
