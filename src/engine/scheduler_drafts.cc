// Draft tokens from a block of the model, for all replies together.
#include <algorithm>
#include <chrono>

#include "engine/scheduler.h"

namespace tern {

// Runs the drafters before the pass is planned, as one batch, which reads the block's weights once for all replies. The
// replies share the rows of the pass that are left beside one for each reply and one for a prompt.
void Scheduler::Impl::draft() {
  if (!model_.new_drafter) return;
  std::vector<Request*> requests;
  int n_decoding = 0, n_rows = 0;
  for (const auto& request : running_) {
    if (request->generation->n_new() == 1) {
      ++n_decoding;
      n_rows += 1 + static_cast<int>(request->generation->n_again());
    }
    if (request->drafter && request->generation->may_speculate()) requests.push_back(request.get());
  }
  if (requests.empty()) return;
  const int n_prefilling = n_running() - n_decoding, n_drafting = static_cast<int>(requests.size());
  const int rows = std::min(n_prefilling > 0 ? most_tokens_ / 2 : most_tokens_, model_.executable.max_logit_rows());
  const int left = std::max(rows - n_rows - std::min(n_prefilling, 1), 0);
  const PassPlan plan{.rows = static_cast<size_t>(n_rows),
                      .tokens = static_cast<double>(n_decoding),
                      .most_drafts = static_cast<size_t>(left / n_drafting),
                      .n_alike = static_cast<size_t>(n_drafting)};
  const auto start = std::chrono::steady_clock::now();
  std::vector<BlockDrafter*> drafters;
  std::erase_if(requests, [&](Request* request) {
    PassPlan own = plan;
    own.most_drafts += request->generation->n_again();  // which have rows already
    const size_t n = request->generation->begin_draft(own);
    if (n == 0) return true;
    request->drafter->begin(request->generation->known(), n);
    drafters.push_back(request->drafter.get());
    return false;
  });
  BlockDrafter::run_together(drafters);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  std::vector<Draft> drafts;
  for (BlockDrafter* drafter : drafters) drafts.push_back(drafter->end());
  size_t n_tokens = 0;
  for (const Draft& draft : drafts) n_tokens += draft.tokens.size();
  std::optional<double> each;
  if (n_tokens > 0 && std::ranges::none_of(drafts, &Draft::catches_up)) {
    each = elapsed.count() / static_cast<double>(n_tokens);
  }
  for (size_t i = 0; i < requests.size(); ++i) requests[i]->generation->end_draft(drafts[i], each);
}

void Scheduler::Impl::tell_drafters(const Pass& pass) {
  if (!model_.new_drafter ||
      std::ranges::none_of(pass.requests, [](const Request* r) { return r->drafter != nullptr; }))
    return;
  const auto hidden = model_.executable.hidden();
  const size_t width = hidden.size() / static_cast<size_t>(pass.n_tokens);
  size_t at = 0;
  for (size_t i = 0; i < pass.requests.size(); ++i) {
    const size_t n = pass.slices[i].tokens.size() * width;
    if (pass.requests[i]->drafter) pass.requests[i]->generation->observe(pass.slices[i], hidden.subspan(at, n));
    at += n;
  }
}

}  // namespace tern
