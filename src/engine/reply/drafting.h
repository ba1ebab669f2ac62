// The draft tokens in the passes of one reply.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "engine/reply/speculation.h"

namespace tern {

// Asks the drafter for draft tokens, chooses those that a pass checks, and learns from the tokens chosen in their
// place.
class Drafting {
 public:
  // A pass checks at most `most` draft tokens. They come from `drafter`, or from the text itself if it is null. `times`
  // and the drafter must outlive this object.
  Drafting(size_t most, Drafter* drafter, PassTimes& times);
  Drafting(const Drafting&) = delete;
  Drafting& operator=(const Drafting&) = delete;

  // The tokens of the next pass: the last n_pending known tokens and the draft tokens to check after them, which are
  // added to `plan`. Valid until the next call.
  std::span<const TokenId> begin_pass(std::span<const TokenId> known, size_t n_pending, PassPlan& plan);
  // Between these, the caller lets the drafters of several replies run together; the next begin_pass() takes the draft.
  // begin_draft(): the number of draft tokens to ask for. end_draft(): the draft, and the time of each of its tokens.
  size_t begin_draft(size_t n_known, const PassPlan& plan);
  void end_draft(const Draft& draft, std::optional<double> seconds);
  // The next pass has no draft tokens, and nothing is learned from it.
  void skip_pass() { is_in_pass_ = false; }
  // True after begin_pass(), even if no draft token was worth checking; false after skip_pass().
  bool is_in_pass() const { return is_in_pass_; }
  size_t n_drafts() const { return n_drafts_; }  // draft tokens in the pass

  bool uses_hidden() const { return drafter_.uses_hidden(); }
  void observe(const Slice& slice, std::span<const float> hidden) {
    drafter_.observe(static_cast<size_t>(slice.first_pos), slice.tokens.size(), hidden);
  }
  void add_time(double seconds);  // the pass has taken this long
  // A device that can choose tokens itself does so while drafts do not pay off: n_rest() tokens, of each of which
  // add_streamed() tells.
  int n_rest() const { return pace_.rests() ? std::max(pace_.n_rest(), 0) : 0; }
  void add_streamed() {
    if (n_rest() > 0) pace_.rest(1);
  }
  void add_stream_time(double seconds) { times_.add(1, seconds); }
  void add_chosen(std::span<const TokenId> chosen);  // the tokens chosen after the last known one

  // Starts a new text.
  void forget() {
    lookup_.forget();
    drafted_after_ = 0;
  }

 private:
  void draft(std::span<const TokenId> known, const PassPlan& plan);

  LookupDrafter lookup_;
  Drafter& drafter_;
  PassTimes& times_;
  SpeculationPace pace_;
  Draft draft_;                  // its first n_drafts_ tokens are run
  std::vector<TokenId> tokens_;  // the tokens of the pass
  size_t n_drafts_ = 0;
  size_t drafted_after_ = 0;  // the number of known tokens before the last draft between begin_draft() and end_draft()
  bool is_in_pass_ = false;
};

}  // namespace tern
