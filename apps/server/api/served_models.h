// The models of a server, by their names: which are in memory, and who uses them.
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

#include "server/api/metrics.h"
#include "server/api/served_model.h"

namespace tern::server {

struct ModelEntry {
  ServedModelOptions served = {};  // its first name is what answers call it
  // Where it is there already, and stays. It must outlive the server.
  const Engine* engine = nullptr;
  // Else what loads it, at the first request for it.
  std::function<Result<Engine>()> load = {};
  // What brings it to this machine before that, one model at a time, until a stop is requested; null: it is there.
  std::function<Result<void>(const std::stop_token& stop)> fetch = {};
  bool pinned = false;     // loaded at the start, and never unloaded
  bool embedding = false;  // it makes vectors, and nothing else
};

struct ServedModelsOptions {
  int most_loaded = 0;  // at a time; 0: all of them
  // "NAME was loaded", and why one was not.
  std::function<void(const std::string& line)> on_event = {};
};

// Each model that is loaded has a thread of its own, which loads its engine and ends it. Threads may call all of it.
class ServedModels {
 public:
  // kInvalidArgument: no model, a name that two have, or more that stay than may be there. Of models that are there
  // already: the errors of ServedModel::start().
  static Result<std::unique_ptr<ServedModels>> open(std::vector<ModelEntry> entries, ServedModelsOptions options);
  ~ServedModels();

  void start();  // loads those that are pinned

  // The model that a request asks for ("model" in its body; the first where it says nothing), which stays in memory for
  // as long as somebody has it. Waits until it is loaded; of those that are, the least recently used one is unloaded,
  // rather one that nobody uses, else once its requests have been answered. 404: there is none of this name; 499:
  // `is_wanted` says no; 503 at the end; what loading it has failed with.
  using Lease = std::shared_ptr<ServedModel>;
  using IsWanted = std::function<bool()>;
  ApiResult<Lease> get(const Json& body, const IsWanted& is_wanted, bool in_background = false);
  ApiResult<Lease> get_named(const std::string& name, const IsWanted& is_wanted, bool in_background = false);

  // Whether any of the models answers at a route: 404, 501.
  ApiResult<void> check_route(const std::string& route) const;
  bool can_chat() const;  // whether any does not make vectors
  size_t size() const { return slots_.size(); }

  // What is known of a model without loading it.
  struct About {
    std::string name;
    std::string status;                     // "loaded", "loading", "downloading", "unloaded"
    std::optional<ModelInfo> info = {};     // once it has been loaded
    std::optional<std::string> error = {};  // of the last try
    int n_ctx = 0, n_places = 0;
    ModelService::Status service = {};
    bool measures_energy = false;
    bool embedding = false;  // it makes vectors, and nothing else
    const ModelMetrics* metrics = nullptr;
    uint64_t n_loads = 0;
  };
  std::vector<About> about() const;
  ApiResult<About> about(const std::string& name) const;  // empty: the first

  // Takes nothing more, and waits until what is there has ended, at most so long.
  void drain(std::chrono::milliseconds most);
  bool is_draining() const;

 private:
  enum class State : uint8_t { kUnloaded, kFetching, kLoading, kLoaded, kLeaving };
  struct Slot {
    ModelEntry entry;
    std::unique_ptr<ModelMetrics> metrics = std::make_unique<ModelMetrics>();
    State state = State::kUnloaded;
    ServedModel* model = nullptr;             // while it is loaded or leaving
    std::unique_ptr<ServedModel> fixed = {};  // of an engine that stays
    std::optional<ModelInfo> info = {};
    int n_ctx = 0;
    std::optional<Error> error = {};
    bool is_fetched = false;    // or there anyway
    bool is_for_later = false;  // what failed was fetching it
    uint64_t n_loads = 0, n_failed = 0, last_use = 0;
    int n_leases = 0;
    int n_waiting = 0;          // for it to be loaded, one of them
    uint64_t wanted_since = 0;  // … for as long
    std::jthread thread = {};   // that fetches it or has its engine; joined before another begins
    const std::string& name() const { return entry.served.names.front(); }
    bool stays() const { return entry.engine || entry.pinned; }
  };

  explicit ServedModels(ServedModelsOptions options) : options_(std::move(options)) {}
  Result<void> add(ModelEntry entry);
  Slot* find(const std::string& name) const;  // null: there is none
  ApiError unknown(const std::string& name) const;
  // All with the lock.
  Lease lease(Slot& slot);
  bool has_room_for(const Slot& wanted) const;
  void make_room(bool in_background);
  void begin_loading(Slot& slot);
  void begin_fetching(Slot& slot);
  void fail(Slot& slot, const Error& error, bool is_for_later);
  About about(const Slot& slot) const;

  void keep(Slot& slot);                                // what a model's thread does
  void fetch(Slot& slot, const std::stop_token& stop);  // likewise, before it is loaded
  void tell(const std::string& line) const;

  const ServedModelsOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Slot>> slots_;
  uint64_t n_uses_ = 0;
  bool is_fetching_ = false;  // any of them
  bool is_draining_ = false, is_ending_ = false;
};

}  // namespace tern::server
