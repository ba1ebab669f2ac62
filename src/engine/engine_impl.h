// The members of an Engine and a Session; shared with src/tools.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "backend/backend.h"
#include "backend/kv_layout.h"
#include "backend/state_layout.h"
#include "base/thread_pool.h"
#include "engine/load/head.h"
#include "engine/reply/block_drafter.h"
#include "engine/session_core.h"
#include "model/model.h"
#include "plan/plan.h"
#include "tern/engine.h"
#include "tern/routing.h"
#include "text/chat/chat_template.h"
#include "text/chat/turn_tokenizer.h"

namespace tern {

// Members are destroyed in reverse order: the executable before the objects that it points to.
struct Engine::Impl {
  Model model;
  Head head;  // storage of the model's head
  ModelInfo info;
  std::unique_ptr<Tokenizer> tokenizer;  // null if the file has none
  std::optional<ChatTemplate> chat_template;
  std::once_flag format_once;
  ChatFormat format;                        // of the template; computed on first use
  TurnTokenizer* turns = nullptr;           // the tokenizer, if there is a template
  BackendKind backend = BackendKind::kCpu;  // that computes; never kAuto
  int n_split_layers = 0;                   // kBoth: the GPU has this many layers, the CPU the others; 0: each has all
  bool embeddings = false;                  // the plan ends before the LM head
  Plan plan;
  std::unique_ptr<Plan> gpu_plan;  // in addition to the CPU's plan, if both devices compute
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<Executable> executable;
  // The layer that proposes draft tokens is compiled when a session asks for it.
  Plan block_plan;
  std::unique_ptr<Executable> block;
  double load_seconds = 0;
  std::shared_ptr<PassTimes> pass_times = std::make_shared<PassTimes>();
  std::shared_ptr<GrammarCache> grammars = std::make_shared<GrammarCache>();

  // Returns the KV blocks for sequences of at most n_ctx tokens: those of the store that all sequences with blocks of
  // this size and type share; or, unless most_tokens is 0, a store of its own with room for so many.
  Result<std::shared_ptr<KvBlocks>> kv_blocks(int n_ctx, KvType type, int64_t most_tokens = 0);
  PrefixId root_for(int n_ctx) const;  // see Sequence
  // The key of cache files for sequences with n_ctx tokens.
  Result<std::string> cache_key(int n_ctx) const;
  Result<std::unique_ptr<Sequence>> new_sequence(int n_ctx, const SessionOptions& options);
  // Creates a drafter with this model for a session of `engine` with n_ctx tokens. kInvalidArgument: the tokenizers
  // differ.
  Result<std::unique_ptr<Drafter>> new_drafter(const Engine::Impl& engine, int n_ctx);
  // The KV blocks of drafters with the model's own block, which have at most n_ctx tokens each, and together
  // most_tokens unless that is 0. kInvalidArgument: the model has no such block; kNotSupported: not on this backend.
  Result<std::shared_ptr<KvBlocks>> draft_kv_blocks(int n_ctx, KvType type, int64_t most_tokens = 0);
  // `blocks`: from draft_kv_blocks().
  std::unique_ptr<BlockDrafter> new_block_drafter(std::shared_ptr<KvBlocks> blocks, int n_ctx) const;

 private:
  std::map<std::pair<int, KvType>, std::shared_ptr<KvBlocks>> kv_blocks_;  // by tokens per block
};

// Engine::load; kBoth uses these curves, of the CPU and the GPU, instead of the kept ones.
Result<Engine> load_by_curves(const LoadOptions& options, const std::array<CostCurve, 2>* curves);

// Gives src/tools and tests what an engine is made of.
struct EngineAccess {
  static Engine::Impl& impl(const Engine& engine) { return *engine.impl_; }
};

struct Session::Impl {
  Impl(const Engine::Impl& of, std::unique_ptr<Sequence> sequence, KvType type, std::unique_ptr<Drafter> drafter)
      : kv_type(type),
        kv_bytes(tern::kv_bytes(of.model.config, sequence->n_ctx(), type) + StateLayout(of.model.config).kept_bytes()),
        core(std::move(sequence), of.tokenizer.get(), of.model.config.n_vocab, of.info.sampling.values, of.pass_times,
             std::move(drafter)),
        engine(of),
        load_seconds(of.load_seconds),
        embeddings(of.embeddings),
        pooling(of.info.pooling) {
    core.share_grammars(of.grammars);
  }
  KvType kv_type;
  uint64_t kv_bytes;
  SessionCore core;
  const Engine::Impl& engine;
  double load_seconds;
  bool embeddings;
  Pooling pooling;  // the meaning of Pooling::kAuto
};

}  // namespace tern
