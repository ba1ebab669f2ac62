#include "engine/reply/drafting.h"

#include <chrono>

namespace tern {

Drafting::Drafting(size_t most, Drafter* drafter, PassTimes& times)
    : drafter_(drafter ? *drafter : lookup_), times_(times), pace_(most, drafter_, times_) {}

// A draft that did not fit into the last pass is still good.
size_t Drafting::begin_draft(size_t n_known, const PassPlan& plan) {
  if (drafted_after_ == n_known) return 0;
  drafted_after_ = n_known;
  draft_ = {};
  return pace_.n_wanted(plan);
}

void Drafting::end_draft(const Draft& draft, std::optional<double> seconds) {
  draft_ = draft;
  if (draft.tokens.empty()) pace_.had_no_draft();
  if (seconds) times_.add_draft(*seconds);
}

void Drafting::draft(std::span<const TokenId> known, const PassPlan& plan) {
  const size_t wanted = pace_.n_wanted(plan);
  draft_ = {};
  if (wanted == 0) return;
  const auto start = std::chrono::steady_clock::now();
  draft_ = drafter_.draft(known, wanted);
  if (drafter_.is_free()) return;
  if (draft_.tokens.empty()) return pace_.had_no_draft();
  if (draft_.catches_up) return;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  times_.add_draft(elapsed.count() / static_cast<double>(draft_.tokens.size()));
}

std::span<const TokenId> Drafting::begin_pass(std::span<const TokenId> known, size_t n_pending, PassPlan& plan) {
  if (drafted_after_ != known.size()) draft(known, plan);
  n_drafts_ = pace_.n_worth(draft_, plan);
  is_in_pass_ = true;
  const auto pending = known.last(n_pending);
  tokens_.assign(pending.begin(), pending.end());
  tokens_.insert(tokens_.end(), draft_.tokens.begin(), draft_.tokens.begin() + static_cast<ptrdiff_t>(n_drafts_));
  return tokens_;
}

void Drafting::add_time(double seconds) { times_.add(tokens_.size(), seconds); }

void Drafting::add_chosen(std::span<const TokenId> chosen) { pace_.add(draft_, chosen); }

}  // namespace tern
