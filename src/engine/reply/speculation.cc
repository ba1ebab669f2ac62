#include "engine/reply/speculation.h"

#include <algorithm>
#include <cmath>

namespace tern {

Draft LookupDrafter::draft(std::span<const TokenId> known, size_t most) {
  if (known.size() <= kShortest) return {};
  if (latest_.empty()) latest_.resize(kBuckets);
  follow(known);
  index(known);
  n_known_ = known.size();
  if (length_ == 0) look_for(known, follows_ ? kMany : kShortest);
  if (!follows_) return {};
  tokens_.clear();
  const size_t period = known.size() - from_;  // beyond the text's end, the match repeats with this period
  for (size_t i = 0; i < most; ++i) tokens_.push_back(i < period ? known[from_ + i] : tokens_[i - period]);
  return {.tokens = tokens_, .evidence = length_};
}

void LookupDrafter::forget() {
  std::ranges::fill(latest_, 0u);
  earlier_.clear();
  n_known_ = 0;
  length_ = 0;
  follows_ = false;
}

// Checks whether the new tokens continue the match. A single differing token after many equal ones is tolerated: the
// text may be a copy with a change.
void LookupDrafter::follow(std::span<const TokenId> known) {
  for (size_t i = n_known_; follows_ && i < known.size(); ++i) {
    if (known[from_++] == known[i]) {
      length_ = length_ == 0 ? kMany : length_ + 1;
    } else {
      follows_ = length_ >= kMany;
      length_ = 0;
    }
  }
}

namespace {

size_t hash_of(TokenId a, TokenId b) {
  const uint64_t both = uint64_t{static_cast<uint32_t>(a)} << 32 | static_cast<uint32_t>(b);
  return static_cast<size_t>(both * 0x9E3779B97F4A7C15u >> 32);
}

}  // namespace

void LookupDrafter::index(std::span<const TokenId> known) {
  if (earlier_.capacity() < known.size()) earlier_.reserve(2 * known.size());
  for (size_t place = std::max(earlier_.size(), kShortest); place < known.size(); ++place) {
    uint32_t& latest = latest_[hash_of(known[place - 2], known[place - 1]) % kBuckets];
    earlier_.resize(place + 1);
    earlier_[place] = latest;
    latest = static_cast<uint32_t>(place);
  }
}

void LookupDrafter::look_for(std::span<const TokenId> known, size_t shortest) {
  const size_t n = known.size();
  size_t place = latest_[hash_of(known[n - 2], known[n - 1]) % kBuckets];
  for (int looks = 0; place != 0 && looks < kLooks; place = earlier_[place], ++looks) {
    size_t length = 0;
    while (length < kLongest && length < place && known[place - 1 - length] == known[n - 1 - length]) ++length;
    if (length < shortest || length <= length_) continue;
    from_ = place;
    length_ = length;
    follows_ = true;
    if (length == kLongest) return;
  }
}

// Rough measurements on code, JSON and stories.
double LookupDrafter::expected(size_t kind) const {
  constexpr std::array kExpected = {0.6, 0.0, 0.25, 0.35, 0.5, 0.6, 0.7, 0.8};
  return kind < kExpected.size() ? kExpected[kind] : 0.9;
}

Draft ModelDrafter::draft(std::span<const TokenId> known, size_t most) {
  tokens_.clear();
  if (std::ssize(known) >= sequence_->n_ctx()) return {};
  sequence_->keep_common(known);
  auto rest = known.subspan(static_cast<size_t>(sequence_->n_used()));
  const auto max_batch = static_cast<size_t>(sequence_->executable().max_batch());
  const bool catches_up = rest.size() > Draft::kFewTokens;
  for (; rest.size() > max_batch; rest = rest.subspan(max_batch)) {
    if (!sequence_->append(rest.first(max_batch), WantLogits::kNone)) return {};
  }
  while (tokens_.size() < most && sequence_->n_used() + std::ssize(rest) <= sequence_->n_ctx()) {
    const auto logits = sequence_->append(rest, WantLogits::kLast, 1);
    if (!logits) break;  // drafts are optional
    tokens_.push_back(static_cast<TokenId>(std::ranges::max_element(*logits) - logits->begin()));
    rest = std::span(tokens_).last(1);
  }
  return {.tokens = tokens_, .evidence = 0, .catches_up = catches_up};
}

std::shared_ptr<PassTimes> PassTimes::fixed(double slope) {
  auto times = std::make_shared<PassTimes>();
  times->is_fixed_ = true;
  times->one_ = 1;
  times->slope_ = slope;
  return times;
}

// Two consecutive passes with different numbers of rows show the cost of a row, independent of the machine's other
// load. While all passes have one row, the estimate slowly decays to the default: it may stem from a moment of other
// load.
void PassTimes::add(size_t rows, double seconds) {
  if (is_fixed_ || rows == 0 || !(seconds > 0)) return;
  constexpr double kSmoothing = 8, kForgetting = 4096, kCheapest = 0.01, kDearest = 2;
  const auto now = static_cast<double>(rows), before = static_cast<double>(last_rows_);
  if (last_rows_ != 0 && rows != last_rows_) {
    const double ratio = seconds / last_seconds_;
    const double divisor = (now - 1) - ratio * (before - 1);  // ratio = (1 + s·(now − 1)) / (1 + s·(before − 1))
    const double found = divisor * (now - before) > 0 ? (ratio - 1) / divisor : now > before ? kDearest : kCheapest;
    n_compared_ = std::min(n_compared_ + 1, kSmoothing);
    const double weight = std::min(std::abs(now - before) / 4, 1.0) / (n_compared_ + 1);
    slope_ += (std::clamp(found, kCheapest, kDearest) - slope_) * weight;
  } else if (rows == 1) {
    slope_ += (kUsualSlope - slope_) / kForgetting;
  }
  const double one = seconds / relative(now);
  one_ = one_ > 0 ? one_ + (one - one_) / kSmoothing : one;
  last_rows_ = rows;
  last_seconds_ = seconds;
}

void PassTimes::add_draft(double seconds) {
  draft_seconds_ = draft_seconds_ > 0 ? draft_seconds_ + (seconds - draft_seconds_) / 8 : seconds;
}

void PassTimes::add_right(size_t kind, bool is_right, double expected) {
  constexpr double kSlowestRate = 128;
  if (n_seen_[kind] == 0) right_[kind] = expected;
  n_seen_[kind] = std::min(n_seen_[kind] + 1, kSlowestRate);
  right_[kind] += ((is_right ? 1 : 0) - right_[kind]) / (n_seen_[kind] + 4);
}

SpeculationPace::SpeculationPace(size_t most, const Drafter& drafter, PassTimes& times)
    : most_(most), is_free_(drafter.is_free()), times_(times) {
  for (size_t kind = 0; kind < right_.size(); ++kind) {
    right_[kind] = expected_[kind] = drafter.expected(kind);
    if (!is_free_) right_[kind] = times.right(kind, right_[kind]);
  }
  if (!is_free_ && times.knows_drafts()) pause_ = kShortestPause;  // if they do not pay off
}

SpeculationPace::Choice SpeculationPace::best(size_t evidence, size_t most, const PassPlan& plan) const {
  Choice best;
  const auto rows = static_cast<double>(plan.rows), alike = static_cast<double>(plan.n_alike);
  double rate = kWorth * plan.tokens / times_.relative(rows);  // tokens per duration of a one-row pass
  double all_right = 1, tokens = 0;
  for (size_t n = 1; n <= most; ++n) {
    all_right *= right_[Draft::kind(evidence + n - 1)];
    tokens += all_right;
    const double again = plan.n_lost == 0 ? 0 : (1 - all_right) * (static_cast<double>(plan.n_lost) + tokens);
    const double more = alike * static_cast<double>(n);
    const double drafting = is_free_ || !times_.is_known() ? 0 : more * times_.draft_seconds() / times_.one();
    const double with = (plan.tokens + alike * tokens) / (times_.relative(rows + more + alike * again) + drafting);
    if (with > rate) rate = with, best = {.n = n, .tokens = tokens};
  }
  return best;
}

size_t SpeculationPace::n_wanted(const PassPlan& plan) {
  const size_t most = std::min(most_, plan.most_drafts);
  if (is_free_) return most_;  // to learn their acceptance rate
  if (most == 0) return 0;
  if (const size_t n = best(0, most, plan).n; n > 0) {
    next_pause_ = kShortestPause;
    pause_ = next_pause_;
    rests_ = false;
    return n;
  }
  rests_ = pause_-- > 0;
  if (rests_) return 0;
  next_pause_ = std::min(2 * next_pause_, kLongestPause);
  pause_ = next_pause_;
  return std::min(kProbe, most);
}

size_t SpeculationPace::n_worth(const Draft& draft, PassPlan& plan) const {
  size_t n = std::min({most_, plan.most_drafts, draft.tokens.size()});
  double tokens = 0;
  if (is_free_) {
    const Choice choice = best(draft.evidence, n, plan);
    n = choice.n;
    tokens = choice.tokens;
  } else {
    double all_right = 1;
    for (size_t i = 0; i < n; ++i) tokens += all_right *= right_[Draft::kind(draft.evidence + i)];
  }
  plan.rows += n;
  plan.tokens += tokens;
  plan.most_drafts -= n;
  plan.most_tokens -= n;
  return n;
}

void SpeculationPace::had_no_draft() {
  asks_again_ = !asks_again_;
  if (asks_again_) pause_ = 0;
}

void SpeculationPace::add(const Draft& draft, std::span<const TokenId> chosen) {
  for (size_t i = 0; i < std::min(chosen.size(), draft.tokens.size()); ++i) {
    const size_t kind = Draft::kind(draft.evidence + i);
    const bool is_right = chosen[i] == draft.tokens[i];
    n_seen_[kind] = std::min(n_seen_[kind] + 1, kSlowestRate);
    right_[kind] += ((is_right ? 1 : 0) - right_[kind]) / (n_seen_[kind] + 4);
    if (!is_free_) times_.add_right(kind, is_right, expected_[kind]);
    if (!is_right) return;
  }
}

}  // namespace tern
