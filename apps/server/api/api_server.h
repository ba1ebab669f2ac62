// A model over HTTP, as OpenAI's clients ask: what `tern serve -m MODEL` runs.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "server/http_listener.h"
#include "tern/engine.h"
#include "tern/scheduler.h"

namespace tern::server {

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
  bool metrics = false, slots = false;                         // whether there are /metrics and /slots
  size_t max_body_bytes = size_t{16} << 20;
  std::string static_folder = {};  // whose files are at /, and nothing else is but the interface; empty: none
  std::string page_folder = {};    // of the page to chat on, which is at / without a static folder; empty: none
};

class ApiServer {
 public:
  // Listens; nothing is answered before serve(). kIo: the address cannot be had. kInvalidArgument, kOutOfMemory: what
  // the scheduler refuses. The engine must outlive the server.
  static Result<ApiServer> open(const Engine& engine, ApiOptions options);

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
