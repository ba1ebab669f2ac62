// Many replies at once, for the price of one read of the weights a step.
//
//   auto scheduler = engine.new_scheduler().value();
//   for (const auto& prompt : prompts) {
//     scheduler.submit(prompt, {.max_tokens = 100}, [](const auto& step, const auto&) {
//       if (step) std::cout << step->text;
//     }).value();
//   }
//   while (scheduler.step()) {}
//
// What a reply is does not depend on who else is there: on the cpu and ref backends it is the same to the bit as that
// of a Session, on GPUs up to near ties (docs/numerics.md). Use a scheduler from one thread at a time.
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
  int n_ctx = 0;  // most tokens of each; 0: what the model was trained for, or as much of it as fits in memory
  KvType kv_type = KvType::kF16;
  int max_replies = 64;      // that are under way at a time; others wait
  int max_batch_tokens = 0;  // in one step, prompts and replies together; 0: a good number
  // While replies are being written, prompts are read in pieces that take about so long, so that no reply stalls for
  // longer. 0: as many tokens as a step may have.
  float max_stall_ms = 0;
  // Of keys and values that belong to no reply and are kept for prompts that begin alike. -1: an eighth of what is free
  // on a host; none on a GPU.
  int64_t max_kept_bytes = -1;
  int64_t max_kv_tokens = 0;  // whose keys and values are in memory; 0: three quarters of what is free
};

class Scheduler {
 public:
  using ReplyId = uint64_t;
  // Gets every token, and what remains at the end (GenerationStep::finish) or the error that ends the reply; nothing
  // comes after these. `so_far` is valid during the call. May call submit() and cancel().
  using OnStep = std::function<void(const Result<GenerationStep>& step, const GenerateResult& so_far)>;

  Scheduler(Scheduler&&) noexcept;
  Scheduler& operator=(Scheduler&&) noexcept;
  ~Scheduler();  // replies under way end without a word

  // Continues `prompt`, from the next step() on or as soon as there is room. Errors: those of Session::begin.
  Result<ReplyId> submit(std::span<const TokenId> prompt, const GenerateOptions& options, OnStep on_step);

  // Ends it at the next step() with FinishReason::kCancelled. Nothing happens where it has ended already.
  void cancel(ReplyId reply);

  // One pass over the model: a token for each reply that writes, or several where they were guessed
  // (GenerateOptions::speculate), and a piece of the prompts of others. False once there is nothing left to do. Where
  // memory for keys and values runs out, the latest reply gives its own back, waits, and is computed again; the text
  // stays the same.
  bool step();

  int n_running() const;
  int n_waiting() const;

  // Keys and values that are in memory go into a file, and come from there again: of the longest beginning of `tokens`
  // that is there, in whole blocks. Returns how many tokens these are; 0: none, and nothing is written. Session's
  // load_cache() reads such a file, and the other way round. kIo.
  Result<size_t> save_cache(std::span<const TokenId> tokens, const std::string& path);
  // From now on prompts that begin like the file's tokens share them. Returns those that are kept: a beginning, as far
  // as max_kept_bytes has room. kNotFound: there is no such file; else as Session::load_cache(), and kOutOfMemory.
  Result<std::vector<TokenId>> load_cache(const std::string& path);
  // Forgets the end of `tokens`, as far as no reply has it and nothing else that is kept begins with it. Returns how
  // many tokens were forgotten.
  size_t drop_cache(std::span<const TokenId> tokens);

  struct Stats {
    uint64_t steps = 0;
    uint64_t tokens_run = 0;     // prompts included
    uint64_t tokens_reused = 0;  // of prompts, whose keys and values were there
    uint64_t preemptions = 0;
    int kv_blocks_used = 0;  // that belong to replies, each counted once
    int kv_blocks_kept = 0;  // … to nobody, for prompts that begin alike
    int kv_block_tokens = 0;
    std::vector<DeviceShare> shares = {};  // see Engine::device_shares()
  };
  Stats stats() const;

  class Impl;
  explicit Scheduler(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tern
