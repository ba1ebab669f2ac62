// What the opaque handles hold. Each keeps alive what it needs, so that they can be freed in any order.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "tern/engine.h"
#include "tern/tern.h"

namespace tern::c_api {

// An engine is used by one thread at a time, so whoever uses it, or what came from it, holds its mutex.
struct SharedEngine {
  explicit SharedEngine(Engine loaded) : engine(std::move(loaded)) {}

  std::mutex mutex;
  Engine engine;
};

struct SharedSession {
  SharedSession(std::shared_ptr<SharedEngine> of, Session made) : engine(std::move(of)), session(std::move(made)) {}
  SharedSession(const SharedSession&) = delete;
  SharedSession& operator=(const SharedSession&) = delete;
  ~SharedSession() {
    const std::lock_guard turn(engine->mutex);
    session.reset();
  }

  std::shared_ptr<SharedEngine> engine;
  std::optional<Session> session;
};

}  // namespace tern::c_api

// NOLINTBEGIN(readability-identifier-naming): the names of tern.h
struct tern_engine {
  std::shared_ptr<tern::c_api::SharedEngine> shared;
};

struct tern_session {
  std::shared_ptr<tern::c_api::SharedSession> shared;

  std::mutex& mutex() const { return shared->engine->mutex; }
  tern::Session& session() const { return *shared->session; }
};

struct tern_generation {
  tern_generation(std::shared_ptr<tern::c_api::SharedSession> of, tern::Generation begun)
      : shared(std::move(of)), generation(std::move(begun)) {}
  tern_generation(const tern_generation&) = delete;
  tern_generation& operator=(const tern_generation&) = delete;
  ~tern_generation() {
    const std::lock_guard turn(mutex());
    generation.reset();
  }

  std::mutex& mutex() const { return shared->engine->mutex; }

  std::shared_ptr<tern::c_api::SharedSession> shared;
  std::optional<tern::Generation> generation;
  std::atomic<bool> cancelled = false;
  std::string text;  // of the last step
};
// NOLINTEND(readability-identifier-naming)
