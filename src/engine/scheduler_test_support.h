// For tests of the scheduler: replies of a scripted backend.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "engine/scheduler.h"
#include "engine/session_core_test_support.h"

namespace tern::engine_test {

struct Replies {
  explicit Replies(std::string_view reply, fake::Script script = {}, const SchedulerOptions& options = {},
                   const KvBlocks::Options& kv = {}) {
    script.n_vocab = kVocab;
    script.next = ids("?" + std::string(reply));
    script.next.push_back(kStop);
    if (script.max_slices == 1) script.max_slices = 8;
    script.block_tokens = script.block_tokens > 0 ? script.block_tokens : 4;
    script.max_logit_rows = 8;
    executable = fake::make_executable(std::move(script), log);
    auto store = executable->new_kv_store(executable->kv_block_tokens(64), KvType::kF16).value();
    blocks = std::make_shared<KvBlocks>(std::move(store), kv);
    SchedulerOptions complete = options;
    complete.n_ctx = 64;
    scheduler = std::make_unique<Scheduler::Impl>(Scheduler::Impl::Model{.executable = *executable,
                                                                         .tokenizer = &tokenizer,
                                                                         .n_vocab = kVocab,
                                                                         .advised = {},
                                                                         .times = PassTimes::fixed(0.01),
                                                                         .now = [this] { return seconds += 0.001; }},
                                                  blocks, 0, complete);
  }
  Scheduler::ReplyId submit(std::string_view prompt, GenerateOptions options = {}) {
    if (!options.sample.temperature) options.sample.temperature = 0;
    const auto name = std::string(prompt);
    return scheduler
        ->submit(ids(prompt), options,
                 [this, name](const Result<GenerationStep>& step, const GenerateResult& so_far) {
                   EXPECT_FALSE(ended.contains(name)) << "a word after the end";
                   if (!step) {
                     ended[name] = step.error().message;
                     results[name] = so_far;
                     return;
                   }
                   told[name] += step->text;
                   if (step->finish) ended[name] = "", reasons[name] = *step->finish, results[name] = so_far;
                 })
        .value();
  }
  void run(int most = 1000) {
    while (scheduler->step()) ASSERT_GT(--most, 0);
  }
  double seconds = 0;  // of the scheduler's clock: a millisecond between two looks at it
  fake::Log log;
  AsciiTokenizer tokenizer;
  std::unique_ptr<Executable> executable;
  std::shared_ptr<KvBlocks> blocks;
  std::unique_ptr<Scheduler::Impl> scheduler;
  std::map<std::string, std::string> told, ended;
  std::map<std::string, FinishReason> reasons;
  std::map<std::string, GenerateResult> results;
};

// The slices of a batch, as "ab@0 c@5".
inline std::string slices_of(const fake::Log& log, int batch) {
  std::string text;
  for (const auto& call : log.calls) {
    if (call.batch != batch) continue;
    if (!text.empty()) text += ' ';
    text += std::string(call.tokens.begin(), call.tokens.end()) + '@' + std::to_string(call.first_pos);
  }
  return text;
}

}  // namespace tern::engine_test
