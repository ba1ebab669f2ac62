// Runs many replies at once: each step reads the weights only once for all of them.
//
//   auto scheduler = engine.new_scheduler().value();
//   for (const auto& prompt : prompts) {
//     scheduler.submit(prompt, {.max_tokens = 100}, [](const auto& step, const auto&) {
//       if (step) std::cout << step->text;
//     }).value();
//   }
//   while (scheduler.step()) {}
//
// A reply does not depend on the other replies: on the cpu and ref backends it is bit-identical to that of a Session,
// on GPUs it is the same up to near ties (docs/numerics.md). Use a scheduler from one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tern/engine.h"

namespace tern {

struct SchedulerOptions {
  int n_ctx = 0;  // maximum tokens of each reply's context; 0: the trained length, or as much of it as fits in memory
  KvType kv_type = KvType::kF16;
  int max_replies = 64;      // replies in progress at a time, and no more than fit into a step (64); others wait
  int max_batch_tokens = 0;  // maximum tokens in one step, prefill and decode together; 0: chosen by Tern
  // While replies decode, prompts are prefilled in pieces of about this duration, so that no reply stalls for longer.
  // 0: pieces as large as a step allows.
  float max_stall_ms = 0;
  // With max_stall_ms: a first token is due this long after its request came, plus twice the time that its prompt takes
  // alone. If the latest request waits for k times as long, pieces take k · max_stall_ms, at most eight times. So in a
  // crowd, replies in progress share the cost of the queue. 0: pieces do not grow.
  float target_ttft_ms = 0;
  // Prefix cache: maximum bytes of KV blocks kept after their replies have ended. -1: no limit within max_kv_tokens if
  // that is set; else an eighth of the free memory if only the CPU computes, and none with a GPU.
  int64_t max_kept_bytes = -1;
  // The model's own layer for draft tokens proposes those of all replies (SessionOptions::draft_block), instead of the
  // text.
  bool draft_block = false;
  int64_t max_kv_tokens = 0;  // capacity of the KV cache; 0: three quarters of the free memory, or what fits on a GPU
};

class Scheduler {
 public:
  using ReplyId = uint64_t;
  // Called with every token, and at the end with the remaining text (GenerationStep::finish) or with the error that
  // ends the reply; that is the last call. `so_far` is valid during the call. May call submit() and cancel().
  using OnStep = std::function<void(const Result<GenerationStep>& step, const GenerateResult& so_far)>;

  Scheduler(Scheduler&&) noexcept;
  Scheduler& operator=(Scheduler&&) noexcept;
  ~Scheduler();  // drops replies in progress without calling OnStep

  // Continues `prompt` from the next step() on, or once there is room. Errors: those of Session::begin().
  Result<ReplyId> submit(std::span<const TokenId> prompt, const GenerateOptions& options, OnStep on_step);

  // Ends the reply at the next step() with FinishReason::kCancelled. No effect if it has already ended.
  void cancel(ReplyId reply);

  // Runs one pass over the model: one token for each decoding reply, or several with draft tokens
  // (GenerateOptions::speculate), and a piece of the waiting prompts. Returns false if there is nothing left to do. If
  // KV memory runs out, the latest reply gives up its KV blocks, waits and is computed again; its text stays the same.
  bool step();

  int n_running() const;
  int n_waiting() const;

  // Writes the KV blocks of the longest cached prefix of `tokens` to a file. Returns the number of tokens written; 0:
  // no prefix is cached, and there is no file. Session's load_cache() can read the file, and vice versa. kIo.
  Result<size_t> save_cache(std::span<const TokenId> tokens, const std::string& path);
  // Loads such a file into the prefix cache for later prompts with the same prefix. Returns the tokens that are kept: a
  // prefix, as far as max_kept_bytes allows. kNotFound: the file does not exist; else as Session::load_cache(), and
  // kOutOfMemory.
  Result<std::vector<TokenId>> load_cache(const std::string& path);
  // Drops the last KV blocks of `tokens` from the prefix cache, as far as no reply uses them and no other cached prefix
  // continues them. Returns the number of tokens dropped.
  size_t drop_cache(std::span<const TokenId> tokens);

  struct Stats {
    uint64_t steps = 0;
    uint64_t tokens_run = 0;     // including prompts
    uint64_t tokens_reused = 0;  // prompt tokens found in the prefix cache
    uint64_t preemptions = 0;
    int kv_blocks_used = 0;  // in use by replies; shared blocks count once
    int kv_blocks_kept = 0;  // in the prefix cache only
    int kv_block_tokens = 0;
    // States of recurrent layers: those of replies, and snapshots for prompts that begin alike.
    int states_used = 0;
    int snapshots = 0;
    uint64_t state_bytes = 0;              // memory of both; 0 in a model without such layers
    uint64_t snapshot_hits = 0;            // replies that began with a snapshot
    std::vector<DeviceShare> shares = {};  // see Engine::device_shares()
  };
  Stats stats() const;

  class Impl;
  explicit Scheduler(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tern
