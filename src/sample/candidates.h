// The tokens that may still be chosen, and the filters that drop some of them.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "tern/options.h"

namespace tern {

// The largest of `logits`, ignoring NaN; −infinity if there is none.
float greatest_of(std::span<const float> logits);

// Probabilities are those of the remaining candidates, at the current temperature. Every filter keeps a candidate. On a
// tie the lower id is more probable. An infinite logit has all the probability (shared, if there are several).
//
// Nothing is allocated after reserve(), except by keep_typical().
class Candidates {
 public:
  void reserve(size_t n) { candidates_.reserve(n); }

  // All tokens whose logits are not NaN, at temperature 1.
  void collect(std::span<const float> logits);
  // Only the k best of them, 0 < k < logits.size(); candidates for k tokens must have been reserved.
  void collect_top_k(std::span<const float> logits, int k);
  bool is_empty() const { return candidates_.empty(); }
  size_t size() const { return candidates_.size(); }

  void set_temperature(float temperature) { temperature_ = temperature; }  // above 0
  // Replaces every logit by change(token, logit). The logits have been divided by the temperature.
  template <class Change>
  void change_logits(const Change& change) {
    for (Candidate& c : candidates_) c.logit = change(c.id, c.logit / temperature_);
    temperature_ = 1;
    find_greatest();
  }

  void keep_top_k(size_t k);
  // Keeps the smallest set of most probable tokens whose share is at least p.
  void keep_top_p(float p);
  // Drops tokens less probable than min_p times the best.
  void keep_min_p(float min_p);
  // Keeps logits at most n standard deviations below the greatest; logits of −infinity do not count.
  void keep_top_n_sigma(float n);
  // Keeps the smallest set whose share is at least p, of the tokens whose surprise is closest to the entropy.
  void keep_typical(float p);
  // Keeps only the least probable of the tokens whose probability is at least the threshold, and all below it.
  void drop_top_choices(float threshold);
  // Drops tokens whose surprise is more than so many bits, except the best.
  void limit_surprise(float bits);

  // The exponent of Zipf's law, as Mirostat estimates it from the most probable tokens; 0 for a single candidate.
  double zipf_exponent();

  struct Choice {
    TokenId token;
    double probability;
  };
  // The first token, in order of ids, at which the sum of probabilities exceeds `uniform`, in [0, 1).
  Choice draw(float uniform);

 private:
  struct Candidate {
    float logit;
    TokenId id;
    float weight;  // proportional to the probability
  };
  static bool is_better(const Candidate& a, const Candidate& b);
  void offer(const Candidate& candidate, size_t k);
  void set_weights();
  double total_weight() const;
  void find_greatest();

  std::vector<Candidate> candidates_;
  std::vector<std::pair<double, size_t>> by_distance_;  // for keep_typical(): distances of candidates, by their places
  float greatest_ = 0;                                  // the greatest logit
  float temperature_ = 1;
};

}  // namespace tern
