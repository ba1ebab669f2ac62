#include "tools/validate/token_comparison.h"

#include <algorithm>

#include "backend/kv_cache.h"
#include "base/result.h"
#include "engine/engine_impl.h"
#include "engine/load/backends.h"
#include "tools/difference.h"

namespace tern {
namespace {

constexpr int kTokensAtATime = 8;  // tokens whose logits are in memory at the same time

Result<std::vector<TokenId>> generate_greedily(const Engine& engine, std::span<const TokenId> prompt, int n_tokens,
                                               KvType kv_type) {
  TRY(Session session, engine.new_session({.n_ctx = static_cast<int>(prompt.size()) + n_tokens, .kv_type = kv_type}));
  GenerateOptions greedy;
  greedy.max_tokens = n_tokens;
  greedy.ignore_eos = true;
  greedy.sample.temperature = 0;
  TRY(auto generated, session.generate(prompt, greedy));
  return std::move(generated.tokens);
}

// Compares one step: the CPU's logits with the device's choice.
void add_step(std::span<const float> logits, TokenId chosen, int step, ValidateResult& result) {
  std::vector<float> only_chosen(logits.size(), 0.0f);
  only_chosen[static_cast<size_t>(chosen)] = 1;
  const double margin = top1_margin(logits, only_chosen);
  if (top1(logits) == chosen) return;
  ++result.n_other_tokens;
  result.largest_lead = std::max(result.largest_lead, margin);
  if (result.first_other_token >= 0) return;
  result.first_other_token = step;
  result.first_lead = std::ranges::max(logits) - logits[static_cast<size_t>(chosen)];
}

}  // namespace

Result<void> compare_tokens(const Engine& engine, std::span<const TokenId> prompt, int n_tokens,
                            const ValidateOptions& options, ValidateResult& result) {
  Engine::Impl& impl = EngineAccess::impl(engine);
  TRY(const auto generated, generate_greedily(engine, prompt, n_tokens, options.kv_type));
  const Plan plan = make_plan(impl.model.config, impl.model.weights, {.fuse = fusions_for(BackendKind::kCpu)});
  const CompileOptions compile{.max_batch = kTokensAtATime, .max_logit_rows = kTokensAtATime};
  TRY(const auto cpu, compile_on(BackendKind::kCpu, plan, compile, *impl.pool));
  std::vector<TokenId> tokens(prompt.begin(), prompt.end());
  tokens.insert(tokens.end(), generated.begin(), generated.end());
  TRY(const auto cache, cpu->new_cache(static_cast<int>(tokens.size()), options.kv_type));
  const auto n_vocab = static_cast<size_t>(engine.info().n_vocab);
  const size_t n_run = tokens.size() - 1;  // no choice follows the last token
  for (size_t first = 0; first < n_run; first += kTokensAtATime) {
    const auto batch = std::span(tokens).subspan(first, std::min<size_t>(kTokensAtATime, n_run - first));
    TRY(const auto logits,
        cpu->run(*cache, {.tokens = batch, .first_pos = static_cast<int>(first), .logits = WantLogits::kAll}));
    for (size_t i = 0; i < batch.size(); ++i) {
      const size_t next = first + i + 1;
      if (next < prompt.size()) continue;
      add_step(logits.subspan(i * n_vocab, n_vocab), tokens[next], static_cast<int>(next - prompt.size()), result);
    }
    if (options.on_progress) {
      options.on_progress({.what = "comparing tokens", .done = first + batch.size(), .total = n_run, .unit = "tokens"});
    }
  }
  result.n_tokens = static_cast<int>(generated.size());
  return {};
}

}  // namespace tern
