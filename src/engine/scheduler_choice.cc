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
  const auto chosen = model_.executable.run_and_choose(blocks_->store(), pass.slices, sampling);
  if (chosen && !*chosen) return false;
  if (chosen) count(pass, model_.now() - start);
  const auto has_logits = [](const Slice& slice) { return slice.n_logit_rows() > 0 && slice.tokens.size() > 1; };
  const auto n_shown = static_cast<size_t>(std::ranges::count_if(pass.slices, has_logits));
  const size_t width = chosen && n_shown > 0 ? (*chosen)->logits.size() / n_shown : 0;
  size_t row = 0, at = 0;  // the slice's token and its logits
  for (size_t i = 0; i < pass.requests.size(); ++i) {
    Generation::Impl& generation = *pass.requests[i]->generation;
    if (!chosen) {
      generation.fail_with(chosen.error());
      continue;
    }
    const Slice& slice = pass.slices[i];
    const auto token = slice.n_logit_rows() > 0 ? std::optional((*chosen)->tokens[row++]) : std::nullopt;
    const auto logits = (*chosen)->logits.subspan(at, has_logits(slice) ? width : 0);
    at += logits.size();
    if (auto taken = generation.take_chosen(token, logits); !taken) generation.fail_with(std::move(taken).error());
  }
  for (Request* request : pass.requests) tell(*request);
  return true;
}

}  // namespace tern
