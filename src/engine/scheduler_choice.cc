// Passes with prompts whose tokens the device chooses.
#include <algorithm>

#include "engine/scheduler.h"

namespace tern {

bool Scheduler::Impl::run_and_choose(const Pass& pass) {
  constexpr int kFewest = 2;  // of fewer rows, the host reads the logits as fast
  const auto may_be_chosen = [](const Request* request) { return request->generation->may_be_chosen(); };
  if (pass.n_prompt_tokens == 0 || pass.n_rows < kFewest || !model_.executable.decodes() || model_.new_drafter ||
      !std::ranges::all_of(pass.requests, may_be_chosen)) {
    return false;
  }
  std::vector<DeviceSampling> sampling;
  for (size_t i = 0; i < pass.requests.size(); ++i) {
    if (pass.slices[i].n_logit_rows() > 0) sampling.push_back(pass.requests[i]->generation->device_sampling());
  }
  const double start = model_.now();
  const auto tokens = model_.executable.run_and_choose(blocks_->store(), pass.slices, sampling);
  if (tokens && !*tokens) return false;
  if (tokens) {
    learn_from(pass, model_.now() - start);
    ++stats_.steps;
    stats_.tokens_run += static_cast<uint64_t>(pass.n_tokens);
  }
  size_t row = 0;
  for (size_t i = 0; i < pass.requests.size(); ++i) {
    Generation::Impl& generation = *pass.requests[i]->generation;
    if (!tokens) {
      generation.fail_with(tokens.error());
    } else if (pass.slices[i].n_logit_rows() > 0) {
      generation.take_chosen((**tokens)[row++]);
    } else {
      generation.take_chosen({});
    }
  }
  for (Request* request : pass.requests) tell(*request);
  return true;
}

}  // namespace tern
