// The contents of the opaque handles. Each keeps alive what it needs, so they can be freed in any order.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tern/chat_reply.h"
#include "tern/engine.h"
#include "tern/grammar.h"
#include "tern/tern.h"

namespace tern::c_api {

// An engine and all handles made from it; its mutex serializes their use.
struct SharedEngine {
  explicit SharedEngine(Engine loaded) : engine(std::move(loaded)) {}

  std::mutex mutex;
  Engine engine;
};

// Locks a session's engine and the engine of its draft model.
class Turn {
 public:
  explicit Turn(SharedEngine& engine, SharedEngine* draft = nullptr) : engine_(engine.mutex, std::defer_lock) {
    if (!draft || draft == &engine) {
      engine_.lock();
    } else {
      draft_ = std::unique_lock(draft->mutex, std::defer_lock);
      std::lock(engine_, draft_);
    }
  }

 private:
  std::unique_lock<std::mutex> engine_, draft_;
};

struct SharedSession {
  SharedSession(std::shared_ptr<SharedEngine> of, std::shared_ptr<SharedEngine> draft_of, Session made)
      : engine(std::move(of)), draft(std::move(draft_of)), session(std::move(made)) {}
  SharedSession(const SharedSession&) = delete;
  SharedSession& operator=(const SharedSession&) = delete;
  ~SharedSession() {
    const Turn own = turn();
    session.reset();
  }

  Turn turn() const { return Turn(*engine, draft.get()); }

  std::shared_ptr<SharedEngine> engine, draft;  // draft: null without one
  std::optional<Session> session;
};

}  // namespace tern::c_api

// NOLINTBEGIN(readability-identifier-naming): the names of tern.h
struct tern_engine {
  std::shared_ptr<tern::c_api::SharedEngine> shared;
};

struct tern_grammar {
  std::shared_ptr<const tern::Grammar> grammar;
};

struct tern_turn {
  tern::ChatTurn turn;
  std::vector<tern::TokenId> tokens;                              // of the prompt
  tern::GenerateOptions holds;                                    // the constraints on the reply
  const uint64_t id_seed = std::random_device()() | uint64_t{1};  // a reply that is parsed again gets the same ids
};

struct tern_session {
  std::shared_ptr<tern::c_api::SharedSession> shared;

  tern::c_api::Turn turn() const { return shared->turn(); }
  tern::Session& session() const { return *shared->session; }
};

struct tern_generation {
  tern_generation(std::shared_ptr<tern::c_api::SharedSession> of, tern::Generation begun)
      : shared(std::move(of)), generation(std::move(begun)) {}
  tern_generation(const tern_generation&) = delete;
  tern_generation& operator=(const tern_generation&) = delete;
  ~tern_generation() {
    const tern::c_api::Turn own = turn();
    generation.reset();
  }

  tern::c_api::Turn turn() const { return shared->turn(); }

  std::shared_ptr<tern::c_api::SharedSession> shared;
  std::optional<tern::Generation> generation;
  std::atomic<bool> cancelled = false;
  std::string text;  // of the last step
};
// NOLINTEND(readability-identifier-naming)
