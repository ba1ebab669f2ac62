#include "sample/candidates.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace tern {

// Uses independent lanes, since the compiler may not reorder the comparisons of a single chain.
float greatest_of(std::span<const float> logits) {
  constexpr size_t kLanes = 16;
  float lanes[kLanes];
  std::ranges::fill(lanes, -std::numeric_limits<float>::infinity());
  size_t i = 0;
  for (; i + kLanes <= logits.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] = logits[i + lane] > lanes[lane] ? logits[i + lane] : lanes[lane];
  }
  for (; i < logits.size(); ++i) lanes[0] = logits[i] > lanes[0] ? logits[i] : lanes[0];
  return *std::ranges::max_element(lanes);
}

// Order of preference: larger logit, then lower id. As a heap's comparison it puts the worst in front.
bool Candidates::is_better(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

void Candidates::collect(std::span<const float> logits) {
  greatest_ = greatest_of(logits);
  temperature_ = 1;
  candidates_.clear();
  for (size_t id = 0; id < logits.size(); ++id) {
    if (!std::isnan(logits[id])) candidates_.push_back({logits[id], static_cast<TokenId>(id), 0});
  }
}

// A heap of the k best so far, with the worst in front. Ids ascend, so a later token needs a larger logit than the
// worst. Most blocks of a large vocabulary have none; they cost only the search for their maximum.
void Candidates::collect_top_k(std::span<const float> logits, int k) {
  constexpr TokenId kBlock = 64;
  greatest_ = greatest_of(logits);
  temperature_ = 1;
  candidates_.clear();
  const auto n_kept = static_cast<size_t>(k);
  const auto n_vocab = static_cast<TokenId>(logits.size());
  for (TokenId first = 0; first < n_vocab; first += kBlock) {
    const TokenId end = std::min(first + kBlock, n_vocab);
    const bool is_full = candidates_.size() == n_kept;
    if (is_full && greatest_of(logits.subspan(first, end - first)) <= candidates_.front().logit) continue;
    for (TokenId id = first; id < end; ++id) {
      if (!std::isnan(logits[id])) offer({logits[id], id, 0}, n_kept);
    }
  }
}

void Candidates::offer(const Candidate& candidate, size_t k) {
  if (candidates_.size() == k) {
    if (!is_better(candidate, candidates_.front())) return;
    std::ranges::pop_heap(candidates_, is_better);
    candidates_.pop_back();
  }
  candidates_.push_back(candidate);
  std::ranges::push_heap(candidates_, is_better);
}

void Candidates::find_greatest() {
  greatest_ = -std::numeric_limits<float>::infinity();
  for (const Candidate& c : candidates_) greatest_ = std::max(greatest_, c.logit);
}

// exp((logit − greatest) / temperature). The largest get 1 by definition, because the difference of two infinities is
// NaN.
void Candidates::set_weights() {
  for (Candidate& c : candidates_) {
    c.weight = c.logit == greatest_ ? 1.0f : std::exp((c.logit - greatest_) / temperature_);
  }
}

double Candidates::total_weight() const {
  double total = 0;
  for (const Candidate& c : candidates_) total += c.weight;
  return total;
}

void Candidates::keep_top_k(size_t k) {
  if (k >= candidates_.size()) return;
  std::ranges::nth_element(candidates_, candidates_.begin() + static_cast<std::ptrdiff_t>(k), is_better);
  candidates_.resize(k);
}

// Pops the best from a heap until they have their share, so that only the kept tokens are sorted.
void Candidates::keep_top_p(float p) {
  set_weights();
  const double target = static_cast<double>(p) * total_weight();
  const auto is_worse = [](const Candidate& a, const Candidate& b) { return is_better(b, a); };
  std::ranges::make_heap(candidates_, is_worse);
  double share = 0;
  auto rest_end = candidates_.end();
  while (rest_end != candidates_.begin() && share < target) {
    std::ranges::pop_heap(candidates_.begin(), rest_end, is_worse);
    --rest_end;
    share += rest_end->weight;
  }
  candidates_.erase(candidates_.begin(), rest_end);
}

void Candidates::keep_min_p(float min_p) {
  set_weights();
  std::erase_if(candidates_, [min_p](const Candidate& c) { return c.weight < min_p; });
}

void Candidates::keep_top_n_sigma(float n) {
  double sum = 0, squares = 0;
  size_t n_finite = 0;
  const auto counts = [](const Candidate& c) { return c.logit > -std::numeric_limits<float>::infinity(); };
  for (const Candidate& c : candidates_) {
    if (!counts(c)) continue;
    sum += c.logit;
    ++n_finite;
  }
  if (n_finite == 0) return;
  const double mean = sum / static_cast<double>(n_finite);
  for (const Candidate& c : candidates_) {
    if (counts(c)) squares += (c.logit - mean) * (c.logit - mean);
  }
  // Not a number if the greatest is infinite: then only it stays.
  const double least = greatest_ - n * std::sqrt(squares / static_cast<double>(n_finite));
  std::erase_if(candidates_, [&](const Candidate& c) { return c.logit != greatest_ && !(c.logit >= least); });
}

void Candidates::keep_typical(float p) {
  set_weights();
  const double total = total_weight();
  double entropy = 0;
  for (const Candidate& c : candidates_) {
    const double probability = c.weight / total;
    if (probability > 0) entropy -= probability * std::log(probability);
  }
  by_distance_.clear();
  for (size_t i = 0; i < candidates_.size(); ++i) {
    const double probability = candidates_[i].weight / total;
    if (probability > 0) by_distance_.emplace_back(std::abs(-std::log(probability) - entropy), i);
  }
  const auto is_further = [this](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : is_better(candidates_[b.second], candidates_[a.second]);
  };
  std::ranges::make_heap(by_distance_, is_further);
  const double target = static_cast<double>(p) * total;
  double share = 0;
  auto rest_end = by_distance_.end();
  while (rest_end != by_distance_.begin() && share < target) {
    std::ranges::pop_heap(by_distance_.begin(), rest_end, is_further);
    --rest_end;
    share += candidates_[rest_end->second].weight;
  }
  by_distance_.erase(by_distance_.begin(), rest_end);
  std::ranges::sort(by_distance_, {}, &std::pair<double, size_t>::second);
  size_t n_kept = 0;
  for (const auto& [distance, place] : by_distance_) candidates_[n_kept++] = candidates_[place];
  candidates_.resize(n_kept);
  find_greatest();
}

void Candidates::drop_top_choices(float threshold) {
  set_weights();
  const double least = static_cast<double>(threshold) * total_weight();
  const Candidate* worst = nullptr;  // of the top choices
  for (const Candidate& c : candidates_) {
    if (c.weight > 0 && c.weight >= least && (!worst || is_better(*worst, c))) worst = &c;
  }
  if (!worst) return;
  const Candidate kept = *worst;
  std::erase_if(candidates_, [&](const Candidate& c) { return is_better(c, kept); });
  find_greatest();
}

void Candidates::limit_surprise(float bits) {
  set_weights();
  const double least = total_weight() * std::exp2(-static_cast<double>(bits));
  const Candidate best = *std::ranges::min_element(candidates_, is_better);
  std::erase_if(candidates_, [&](const Candidate& c) { return c.weight < least && c.id != best.id; });
}

double Candidates::zipf_exponent() {
  constexpr size_t kRanks = 100;
  set_weights();
  const auto n = static_cast<std::ptrdiff_t>(std::min(kRanks, candidates_.size()));
  std::ranges::partial_sort(candidates_, candidates_.begin() + n, is_better);
  double products = 0, squares = 0;
  for (std::ptrdiff_t i = 0; i + 1 < n && candidates_[i + 1].weight > 0; ++i) {
    const double rank = std::log(static_cast<double>(i + 2) / static_cast<double>(i + 1));
    products += rank * std::log(static_cast<double>(candidates_[i].weight) / candidates_[i + 1].weight);
    squares += rank * rank;
  }
  return squares > 0 ? products / squares : 0;
}

Candidates::Choice Candidates::draw(float uniform) {
  set_weights();
  // Filters leave the candidates in any order.
  if (!std::ranges::is_sorted(candidates_, {}, &Candidate::id)) std::ranges::sort(candidates_, {}, &Candidate::id);
  const double total = total_weight();
  const double target = static_cast<double>(uniform) * total;
  double sum = 0;
  const Candidate* chosen = &candidates_.front();
  for (const Candidate& c : candidates_) {
    sum += c.weight;
    if (c.weight > 0) chosen = &c;
    if (sum > target) break;  // if never, target was rounded up to the total
  }
  return {chosen->id, chosen->weight / total};
}

}  // namespace tern
