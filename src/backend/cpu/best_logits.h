// The best logits of one token, bit for bit those of float_linear, for about half the bytes: every row's logit is
// estimated from an int8 copy and its error bounded; rows that could be among the best are computed from the matrix
// itself, and all others become −infinity. docs/numerics.md has the proof.
#pragma once

#include <atomic>
#include <vector>

#include "backend/cpu/head_copy.h"
#include "backend/cpu/share.h"
#include "backend/ops.h"

namespace tern::cpu {

inline constexpr int kMostBestLogits = 1024;  // that are looked for this way

// For one token: |float_linear's result − estimate| ≤ error[r]·per_error + norm[r]·per_norm + at_least for every row.
struct LogitBound {
  float per_error = 0, per_norm = 0, at_least = 0;
};

// A worker's part in an op.
struct BestLogitsJob {
  const ops::FloatLinear& op;
  const HeadCopy& copy;
  Share& share;
};

class BestLogits {
 public:
  BestLogits(HeadCopy copy, int n_workers);

  const HeadCopy& copy() const { return copy_; }

  // Before the workers start. False where computing all logits is no slower: n_best is 0 or large, or most rows had to
  // be computed lately.
  bool begin(int n_best);

  // The workers call estimate(), wait for each other, one calls choose(), they wait again and call rescore(), all with
  // the same op: n = 1, float input, the matrix that was copied. Memory for estimate(): scratch() floats.
  //
  // False, from all workers and before anything is claimed from `share`: such activations have no bound. The op has to
  // be computed in full.
  bool estimate(const ops::FloatLinear& op, int worker, Share& share);
  void choose();
  void rescore(const ops::FloatLinear& op, int worker, Share& share);

  static size_t scratch(int cols);

  // For tests: the bound that estimate() used, and how many rows rescore() computed.
  const LogitBound& bound() const { return workers_[0].bound; }
  int n_rescored() const { return n_rescored_.load(std::memory_order_relaxed); }

 private:
  struct alignas(64) Worker {
    LogitBound bound;
    std::vector<float> best;  // heap of the greatest lower bounds, the least in front
  };

  HeadCopy copy_;
  size_t n_best_ = 0;
  std::vector<Worker> workers_;
  std::vector<float> all_best_;
  float least_ = 0;  // an upper bound below this one rules a row out
  std::atomic<int> n_rescored_ = 0;
  int n_paused_ = 0;  // tokens for which this is not tried
};

}  // namespace tern::cpu
