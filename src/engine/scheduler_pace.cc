// How many tokens of prompts a pass takes beside replies that decode.
#include <algorithm>

#include "engine/scheduler.h"

namespace tern {

// By how much the latest first token lets pieces of prompts grow (SchedulerOptions::target_ttft_ms).
double Scheduler::Impl::stall_factor() const {
  constexpr double kMost = 8;
  if (options_.target_ttft_ms <= 0) return 1;
  const double now = model_.now();
  double factor = 1;
  for (const Requests* requests : {&running_, &waiting_}) {
    for (const auto& request : *requests) {
      if (request->generation && !request->generation->result().tokens.empty()) continue;
      const double alone = prompt_token_seconds_ * static_cast<double>(request->prompt.size());
      const double due = options_.target_ttft_ms / 1000 + 2 * alone;
      factor = std::max(factor, (now - request->submitted) / due);
    }
  }
  return std::min(factor, kMost);
}

// Returns the limit of prompt tokens for a pass. If no reply is decoding, nothing can stall. While prefill speed is
// unknown, the pass is kept small.
int Scheduler::Impl::most_prompt_tokens(bool beside_replies) const {
  constexpr int kSmall = 32;  // enough to measure the cost of a prompt token
  if (!beside_replies || options_.max_stall_ms <= 0) return most_tokens_;
  if (prompt_token_seconds_ <= 0) return std::min(most_tokens_, kSmall);
  const double n = options_.max_stall_ms / 1000 * stall_factor() / prompt_token_seconds_;
  return static_cast<int>(std::clamp<double>(n, std::min(most_tokens_, kSmall / 4), most_tokens_));
}

// Learns the time of decode-only passes, and the time per prompt token, which grows with the context.
void Scheduler::Impl::learn_from(const Pass& pass, double seconds) {
  const bool only_decodes = pass.n_tokens == pass.n_rows;
  if (only_decodes) return model_.times->add(static_cast<size_t>(pass.n_rows), seconds);
  if (pass.n_prompt_tokens == 0) return;
  const double each = seconds / pass.n_prompt_tokens;
  prompt_token_seconds_ = prompt_token_seconds_ > 0 ? (prompt_token_seconds_ + each) / 2 : each;
}

}  // namespace tern
