// What an Engine and a Session are made of; shared with src/tools.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backend/backend.h"
#include "base/thread_pool.h"
#include "engine/generator.h"
#include "engine/head.h"
#include "model/model.h"
#include "plan/plan.h"
#include "tern/engine.h"
#include "text/chat_template.h"
#include "text/turn_tokenizer.h"

namespace tern {

// Members are destroyed in reverse: the executable goes before what it points to.
struct Engine::Impl {
  Model model;
  Head head;  // of the model
  ModelInfo info;
  std::unique_ptr<Tokenizer> tokenizer;  // null where the file holds none
  std::optional<ChatTemplate> chat_template;
  TurnTokenizer* turns = nullptr;           // the tokenizer, where there is a template
  BackendKind backend = BackendKind::kCpu;  // what kAuto became
  bool embeddings = false;                  // the plan ends before the head
  Plan plan;
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<Executable> executable;
  double load_seconds = 0;
};

struct Session::Impl {
  Impl(const Engine::Impl& engine, std::unique_ptr<KvCache> cache, KvType type)
      : kv_type(type),
        kv_bytes(cache->bytes()),
        generator(*engine.executable, std::move(cache), engine.tokenizer.get(), engine.model.config.n_vocab,
                  engine.info.sampling.values),
        load_seconds(engine.load_seconds),
        embeddings(engine.embeddings),
        pooling(engine.info.pooling) {}
  KvType kv_type;
  uint64_t kv_bytes;
  Generator generator;
  double load_seconds;
  bool embeddings;
  Pooling pooling;  // where nobody asks for another
};

}  // namespace tern
