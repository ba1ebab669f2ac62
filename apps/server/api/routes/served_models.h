// The models of a server by name: which are in memory, and which requests use them.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "server/api/replies/metrics.h"
#include "server/api/replies/served_model.h"

namespace tern::server {

struct ModelEntry {
  ServedModelOptions served = {};  // answers use its first name
  // An engine that is loaded already, and stays. It must outlive the server.
  const Engine* engine = nullptr;
  // Otherwise loads the engine, at the first request for it.
  std::function<Result<Engine>()> load = {};
  // Downloads the model before that, one model at a time, until a stop is requested; null: it is here already.
  std::function<Result<void>(const std::stop_token& stop)> fetch = {};
  bool pinned = false;     // loaded at the start and never unloaded
  bool embedding = false;  // makes embeddings only
};

struct ServedModelsOptions {
  int most_loaded = 0;    // at a time; 0: all of them
  bool any_name = false;  // an unknown name means the first model
  // Receives "NAME was loaded", "NAME was unloaded", and why a model was not loaded.
  std::function<void(const std::string& line)> on_event = {};
};

// Each loaded model has a thread of its own, which loads and destroys its engine. Thread-safe.
class ServedModels {
 public:
  // kInvalidArgument: no model, a duplicate name, or more permanent models than may be loaded. For engines that are
  // loaded already: the errors of ServedModel::start().
  static Result<std::unique_ptr<ServedModels>> open(std::vector<ModelEntry> entries, ServedModelsOptions options);
  ~ServedModels();

  void start();  // loads the pinned models

  // Returns the model that a request asks for ("model" in its body; by default the first), which stays in memory as
  // long as the lease. Waits until it is loaded. If there is no room, the least recently used model is unloaded: one
  // that is not in use if possible, else one whose requests have been completed. 404: no model has this name; 499:
  // `is_wanted` returned false; 503: the server shuts down; or the error of loading it.
  using Lease = std::shared_ptr<ServedModel>;
  using IsWanted = std::function<bool()>;
  ApiResult<Lease> get(const Json& body, const IsWanted& is_wanted, bool in_background = false);
  ApiResult<Lease> get_named(const std::string& name, const IsWanted& is_wanted, bool in_background = false);

  // Checks that any of the models can answer at a route: 404, 501.
  ApiResult<void> check_route(const std::string& route) const;
  ResponseStore& responses() { return responses_; }
  bool can_chat() const;  // true if any is not for embeddings only
  size_t size() const { return slots_.size(); }

  // What is known about a model without loading it.
  struct About {
    std::string name;
    std::string status;                     // "loaded", "loading", "downloading", "unloaded"
    std::optional<ModelInfo> info = {};     // once it has been loaded
    std::optional<std::string> error = {};  // of the last attempt
    int n_ctx = 0, n_places = 0;
    ModelService::Status service = {};
    bool measures_energy = false;
    bool embedding = false;  // makes embeddings only
    const ModelMetrics* metrics = nullptr;
    uint64_t n_loads = 0;
  };
  std::vector<About> about() const;
  ApiResult<About> about(const std::string& name) const;  // empty: the first

  // Accepts nothing more, and waits at most `most` until running requests have ended.
  void drain(std::chrono::milliseconds most);
  bool is_draining() const;

 private:
  enum class State : uint8_t { kUnloaded, kFetching, kLoading, kLoaded, kLeaving };
  struct Slot {
    ModelEntry entry;
    std::unique_ptr<ModelMetrics> metrics = std::make_unique<ModelMetrics>();
    State state = State::kUnloaded;
    ServedModel* model = nullptr;             // while it is loaded or leaving
    std::unique_ptr<ServedModel> fixed = {};  // for an engine that stays
    std::optional<ModelInfo> info = {};
    int n_ctx = 0;
    std::optional<Error> error = {};
    bool is_fetched = false;    // or needs no fetching
    bool is_for_later = false;  // fetching failed, rather than loading
    uint64_t n_loads = 0, n_failed = 0, last_use = 0;
    int n_leases = 0;
    int n_waiting = 0;          // requests that wait for it to be loaded
    uint64_t wanted_since = 0;  // … and since when
    std::jthread thread = {};   // fetches it or runs its engine; joined before another begins
    const std::string& name() const { return entry.served.names.front(); }
    bool stays() const { return entry.engine || entry.pinned; }
  };

  explicit ServedModels(ServedModelsOptions options) : options_(std::move(options)) {}
  Result<void> add(ModelEntry entry);
  Slot* find(const std::string& name) const;      // null: there is none
  Slot* slot_for(const std::string& name) const;  // … or the first, for no name and perhaps for an unknown one
  ApiError unknown(const std::string& name) const;
  // Call all of these with the lock held.
  Lease lease(Slot& slot);
  bool has_room_for(const Slot& wanted) const;
  void make_room(bool in_background);
  void begin_loading(Slot& slot);
  void begin_fetching(Slot& slot);
  void take_thread(Slot& slot, Result<std::jthread> thread);
  void note_failure(Slot& slot, const Error& error, bool is_for_later);
  About about(const Slot& slot) const;

  void fail(Slot& slot, const Error& error, bool is_for_later);  // call without the lock
  void keep(Slot& slot);                                         // runs on a model's thread
  void fetch(Slot& slot, const std::stop_token& stop);           // runs on a model's thread before it is loaded
  void tell(const std::string& line) const;

  const ServedModelsOptions options_;
  ResponseStore responses_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Slot>> slots_;
  uint64_t n_uses_ = 0;
  bool is_fetching_ = false;  // any of the models
  bool is_draining_ = false, is_ending_ = false;
};

}  // namespace tern::server
