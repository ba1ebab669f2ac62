#include "server/api/routes/served_models.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/result.h"
#include "base/start_thread.h"
#include "base/text/format_text.h"

namespace tern::server {
namespace {

constexpr std::chrono::milliseconds kLookAround(50);  // how often to check that the client is still connected

// A model that cannot be loaded is not the client's fault. `is_fetching`: it could not be downloaded.
ApiError not_loaded(const std::string& name, const Error& error, bool is_fetching) {
  const bool is_for_now = is_fetching || error.code == ErrorCode::kOutOfMemory;
  return {
      .status = is_for_now ? 503 : 500,
      .message = format_text("model: {} cannot be {}: {}", name, is_fetching ? "downloaded" : "loaded", error.message),
      .param = "model",
      .code = "model_not_loaded",
      .retry_after_seconds = is_for_now ? 5 : 0};
}

}  // namespace

Result<std::unique_ptr<ServedModels>> ServedModels::open(std::vector<ModelEntry> entries, ServedModelsOptions options) {
  const auto n_staying =
      std::ranges::count_if(entries, [](const ModelEntry& entry) { return entry.engine || entry.pinned; });
  const bool all_stay = n_staying == std::ssize(entries);
  if (entries.empty()) return tern::fail(ErrorCode::kInvalidArgument, "there is no model to serve");
  if (options.most_loaded > 0 && n_staying + (all_stay ? 0 : 1) > options.most_loaded) {
    return tern::fail(
        ErrorCode::kInvalidArgument,
        "{} models are pinned, which leaves no room for others among {}; raise the number of models that may be "
        "loaded",
        n_staying, options.most_loaded);
  }
  std::unique_ptr<ServedModels> models(new ServedModels(std::move(options)));
  for (ModelEntry& entry : entries) {
    if (auto added = models->add(std::move(entry)); !added) return std::unexpected(added.error());
  }
  return models;
}

Result<void> ServedModels::add(ModelEntry entry) {
  if (entry.served.names.empty() && entry.engine) entry.served.names = {entry.engine->info().name};
  for (const std::string& name : entry.served.names) {
    if (!find(name)) continue;
    return tern::fail(ErrorCode::kInvalidArgument, "two models are called '{}'", name);
  }
  auto slot = std::make_unique<Slot>();
  slot->entry = std::move(entry);
  slot->entry.served.service.observer = slot->metrics.get();
  slot->entry.served.responses = &responses_;
  slot->entry.served.any_name = options_.any_name;
  slot->is_fetched = !slot->entry.fetch;
  if (const Engine* engine = slot->entry.engine) {
    auto started = ServedModel::start(*engine, slot->entry.served);
    if (!started) return std::unexpected(started.error());
    slot->fixed = *std::move(started);
    slot->model = slot->fixed.get();
    slot->info = engine->info();
    slot->entry.embedding = engine->info().embeddings;
    slot->n_ctx = slot->model->profile().n_ctx;
    slot->state = State::kLoaded;
    slot->n_loads = 1;
  }
  slots_.push_back(std::move(slot));
  return {};
}

ServedModels::~ServedModels() {
  {
    const std::scoped_lock lock(mutex_);
    is_draining_ = is_ending_ = true;
    for (const auto& slot : slots_) {
      if (slot->state == State::kFetching) slot->thread.request_stop();
    }
    changed_.notify_all();
  }
  for (const auto& slot : slots_) {
    if (slot->thread.joinable()) slot->thread.join();
  }
}

void ServedModels::start() {
  const std::scoped_lock lock(mutex_);
  for (const auto& slot : slots_) {
    if (slot->entry.pinned && slot->state == State::kUnloaded) begin_loading(*slot);
  }
}

ServedModels::Slot* ServedModels::find(const std::string& name) const {
  for (const auto& slot : slots_) {
    if (is_among(slot->entry.served.names, name)) return slot.get();
  }
  return nullptr;
}

ServedModels::Slot* ServedModels::slot_for(const std::string& name) const {
  Slot* const found = name.empty() ? nullptr : find(name);
  return !found && (name.empty() || options_.any_name) ? slots_.front().get() : found;
}

ApiError ServedModels::unknown(const std::string& name) const {
  std::string known;
  for (const auto& slot : slots_) known += format_text("{}'{}'", known.empty() ? "" : ", ", slot->name());
  return {.status = 404,
          .message = format_text("model: there is no '{}' here; there {} {}", name.substr(0, 100),
                                 slots_.size() == 1 ? "is" : "are", known),
          .param = "model",
          .code = "model_not_found"};
}

ApiResult<ServedModels::Lease> ServedModels::get(const Json& body, const IsWanted& is_wanted, bool in_background) {
  Fields fields(body);
  std::string name;
  fields.read("model", name);
  TRY_STATUS(fields.check());
  return get_named(name, is_wanted, in_background);
}

ApiResult<ServedModels::Lease> ServedModels::get_named(const std::string& name, const IsWanted& is_wanted,
                                                       bool in_background) {
  Slot* const found = slot_for(name);
  if (!found) return std::unexpected(unknown(name));
  Slot& slot = *found;
  std::unique_lock lock(mutex_);
  const uint64_t n_failed = slot.n_failed;
  if (slot.n_waiting++ == 0) slot.wanted_since = ++n_uses_;
  ApiResult<Lease> result = [&]() -> ApiResult<Lease> {
    while (true) {
      if (slot.state == State::kLoaded) return lease(slot);
      if (is_draining_) return std::unexpected(shutting_down());
      if (slot.n_failed > n_failed) return std::unexpected(not_loaded(slot.name(), *slot.error, slot.is_for_later));
      if (slot.state == State::kUnloaded && !slot.is_fetched) {
        begin_fetching(slot);
      } else if (slot.state == State::kUnloaded) {
        if (has_room_for(slot)) {
          begin_loading(slot);
        } else {
          make_room(in_background);
        }
      }
      changed_.wait_for(lock, kLookAround);
      lock.unlock();
      const bool goes_on = is_wanted();
      lock.lock();
      if (!goes_on) return std::unexpected(nobody_waits());
    }
  }();
  --slot.n_waiting;
  return result;
}

ServedModels::Lease ServedModels::lease(Slot& slot) {
  ++slot.n_leases;
  slot.last_use = ++n_uses_;
  return {slot.model, [this, &slot](ServedModel*) {
            const std::scoped_lock lock(mutex_);
            slot.last_use = ++n_uses_;
            if (--slot.n_leases == 0) changed_.notify_all();
          }};
}

// The model whose requests have waited longest comes first.
bool ServedModels::has_room_for(const Slot& wanted) const {
  if (options_.most_loaded == 0) return true;
  const auto n = std::ranges::count_if(
      slots_, [](const auto& slot) { return slot->state != State::kUnloaded && slot->state != State::kFetching; });
  return n < options_.most_loaded && std::ranges::none_of(
                                         slots_,
                                         [&](const auto& slot) {
                                           return slot->state == State::kUnloaded && slot->n_waiting > 0 &&
                                                  slot->wanted_since < wanted.wanted_since;
                                         });
}

// Unloads one model for each that requests wait for. A leaving model completes its running requests but accepts no new
// ones, so that the waiting requests get their turn even if it stays in demand.
void ServedModels::make_room(bool in_background) {
  const auto n_leaving = std::ranges::count(slots_, State::kLeaving, [](const auto& slot) { return slot->state; });
  const auto n_wanted = std::ranges::count_if(
      slots_, [](const auto& slot) { return slot->state == State::kUnloaded && slot->n_waiting > 0; });
  if (n_leaving >= n_wanted) return;
  Slot* victim = nullptr;
  for (const auto& slot : slots_) {
    // A newly loaded model first serves the requests that waited for it.
    if (slot->state != State::kLoaded || slot->stays() || slot->n_waiting > 0) continue;
    if (in_background && slot->n_leases > 0) continue;
    const auto rank = [](const Slot& one) { return std::pair(one.n_leases > 0, one.last_use); };
    if (!victim || rank(*slot) < rank(*victim)) victim = slot.get();
  }
  if (!victim) return;
  victim->state = State::kLeaving;
  changed_.notify_all();
}

void ServedModels::begin_loading(Slot& slot) {
  slot.state = State::kLoading;
  if (slot.thread.joinable()) slot.thread.join();  // the old thread has released everything, including the lock
  take_thread(slot, start_thread("loading a model", [this, &slot] { keep(slot); }));
}

// A model takes no place while it is being downloaded.
void ServedModels::begin_fetching(Slot& slot) {
  slot.state = State::kFetching;
  if (slot.thread.joinable()) slot.thread.join();  // as in begin_loading()
  take_thread(slot, start_thread("a download", [this, &slot](const std::stop_token& stop) { fetch(slot, stop); }));
}

void ServedModels::take_thread(Slot& slot, Result<std::jthread> thread) {
  if (thread) {
    slot.thread = *std::move(thread);
  } else {
    note_failure(slot, thread.error(), /*is_for_later=*/true);
  }
}

void ServedModels::fail(Slot& slot, const Error& error, bool is_for_later) {
  tell(format_text("{} cannot be {}: {}", slot.name(), is_for_later ? "downloaded" : "loaded", error.message));
  const std::scoped_lock lock(mutex_);
  note_failure(slot, error, is_for_later);
}

void ServedModels::note_failure(Slot& slot, const Error& error, bool is_for_later) {
  slot.error = error;
  slot.is_for_later = is_for_later;
  slot.is_fetched = !slot.entry.fetch;  // after any failure, fetch it again
  ++slot.n_failed;
  slot.state = State::kUnloaded;
  changed_.notify_all();
}

void ServedModels::fetch(Slot& slot, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !is_fetching_ || is_draining_; });
  if (!is_draining_) {
    is_fetching_ = true;
    lock.unlock();
    const Result<void> fetched = slot.entry.fetch(stop);
    lock.lock();
    is_fetching_ = false;
    changed_.notify_all();
    if (!fetched && !is_draining_) {
      lock.unlock();
      return fail(slot, fetched.error(), /*is_for_later=*/true);
    }
    slot.is_fetched = fetched.has_value();
  }
  slot.state = State::kUnloaded;
  changed_.notify_all();
}

// Loads, uses and destroys the engine, all on this thread, because it belongs to one thread at a time.
void ServedModels::keep(Slot& slot) {
  const auto start = std::chrono::steady_clock::now();
  {
    const Result<Engine> engine = slot.entry.load();
    if (!engine) return fail(slot, engine.error(), /*is_for_later=*/false);
    const auto model = ServedModel::start(*engine, slot.entry.served);
    if (!model) return fail(slot, model.error(), /*is_for_later=*/false);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    tell(format_text("{} was loaded in {:.1f} s", slot.name(), seconds));
    std::unique_lock lock(mutex_);
    slot.model = model->get();
    slot.info = engine->info();
    slot.n_ctx = slot.model->profile().n_ctx;
    slot.error.reset();
    ++slot.n_loads;
    slot.last_use = ++n_uses_;
    slot.state = State::kLoaded;
    changed_.notify_all();
    changed_.wait(lock, [&] { return slot.n_leases == 0 && (is_ending_ || slot.state == State::kLeaving); });
    slot.state = State::kLeaving;
    slot.model = nullptr;
  }
  tell(format_text("{} was unloaded", slot.name()));
  const std::scoped_lock lock(mutex_);
  slot.state = State::kUnloaded;
  changed_.notify_all();
}

void ServedModels::tell(const std::string& line) const {
  if (options_.on_event) options_.on_event(line);
}

ApiResult<void> ServedModels::check_route(const std::string& route) const {
  ApiResult<void> last = {};
  for (const auto& slot : slots_) {
    last = ServedModel::check_route(route, slot->entry.embedding);
    if (last) return {};
  }
  return last;
}

bool ServedModels::can_chat() const {
  return std::ranges::any_of(slots_, [](const auto& slot) { return !slot->entry.embedding; });
}

ServedModels::About ServedModels::about(const Slot& slot) const {
  About about{.name = slot.name(),
              .status = slot.state == State::kFetching   ? "downloading"
                        : slot.state == State::kLoading  ? "loading"
                        : slot.state == State::kUnloaded ? "unloaded"
                                                         : "loaded",
              .info = slot.info,
              .n_ctx = slot.n_ctx,
              .n_places = slot.entry.served.service.scheduler.max_replies,
              .measures_energy = slot.entry.served.service.energy && slot.info && computes_on_cpu(*slot.info),
              .embedding = slot.entry.embedding,
              .metrics = slot.metrics.get(),
              .n_loads = slot.n_loads};
  if (slot.error) about.error = slot.error->message;
  if (slot.model && slot.model->service()) about.service = slot.model->service()->status();
  return about;
}

std::vector<ServedModels::About> ServedModels::about() const {
  const std::scoped_lock lock(mutex_);
  std::vector<About> all;
  for (const auto& slot : slots_) all.push_back(about(*slot));
  return all;
}

ApiResult<ServedModels::About> ServedModels::about(const std::string& name) const {
  const Slot* slot = slot_for(name);
  if (!slot) return std::unexpected(unknown(name));
  const std::scoped_lock lock(mutex_);
  return about(*slot);
}

void ServedModels::drain(std::chrono::milliseconds most) {
  const auto end = std::chrono::steady_clock::now() + most;
  std::vector<Lease> leases;
  {
    const std::scoped_lock lock(mutex_);
    is_draining_ = true;
    changed_.notify_all();
    for (const auto& slot : slots_) {
      if (slot->state == State::kFetching) slot->thread.request_stop();
      if (slot->model) leases.push_back(lease(*slot));
    }
  }
  run_at_once(leases.size(), [&](size_t i) {
    ModelService* const service = leases[i]->service();
    const auto left = end - std::chrono::steady_clock::now();
    if (service) service->drain(std::chrono::duration_cast<std::chrono::milliseconds>(left));
  });
}

bool ServedModels::is_draining() const {
  const std::scoped_lock lock(mutex_);
  return is_draining_;
}

}  // namespace tern::server
