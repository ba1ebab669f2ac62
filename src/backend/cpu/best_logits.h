// The best logits of each token, bit for bit those of float_linear, for about half the bytes: every row's logit is
// estimated from an int8 copy and its error bounded; rows that could be among the best are computed from the matrix
// itself, and all others become −infinity. docs/numerics.md has the proof.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "backend/cpu/head_copy.h"
#include "backend/cpu/work_queue.h"
#include "backend/ops.h"

namespace tern::cpu {

inline constexpr int kMostBestLogits = 1024;  // that are looked for this way, of
inline constexpr int kMostBestTokens = 64;    // … so many tokens

// For one token: |float_linear's result − estimate| ≤ error[r]·per_error + norm[r]·per_norm + at_least for every row.
struct LogitBound {
  float per_error = 0, per_norm = 0, at_least = 0;
};

// What one worker knows of one token.
struct BestOfToken {
  size_t n_best = 0;
  LogitBound bound;
  std::vector<float> best;  // heap of the greatest lower bounds of its rows, the least in front
  float least = 0;          // of all workers' best: an upper bound below it rules a row out
};

// A worker's part in an op.
struct BestLogitsJob {
  const ops::FloatLinear& op;
  const HeadCopy& copy;
  std::span<BestOfToken> tokens;
  WorkQueue& queue;
};

class BestLogits {
 public:
  // For at most max_tokens (≤ kMostBestTokens) at a time.
  BestLogits(HeadCopy copy, int n_workers, int max_tokens = 1);

  const HeadCopy& copy() const { return copy_; }

  // Before the workers start, with what is wanted of each token. False where computing all logits is no slower: an
  // n_best is 0 or large, or most rows had to be computed lately.
  bool begin(std::span<const int> n_best);
  bool begin(int n_best) { return begin({&n_best, 1}); }

  // The workers call estimate(), wait for each other, one calls choose(), they wait again and call rescore(), all with
  // the same op: as many rows as begin() got numbers, float input, the matrix that was copied. Memory for estimate():
  // scratch() floats.
  //
  // False, from all workers and before anything is claimed from `share`: such activations have no bound. The op has to
  // be computed in full.
  bool estimate(const ops::FloatLinear& op, int worker, WorkQueue& queue);
  void choose();
  void rescore(const ops::FloatLinear& op, int worker, WorkQueue& queue);

  static size_t scratch(int cols, int n_tokens = 1);

  // For tests: the bound that estimate() used for the first token, and how many rows rescore() computed.
  const LogitBound& bound() const { return workers_[0].tokens[0].bound; }
  int n_rescored() const { return n_rescored_.load(std::memory_order_relaxed); }

 private:
  struct alignas(64) Worker {
    std::vector<BestOfToken> tokens;
  };

  HeadCopy copy_;
  int max_tokens_, n_tokens_ = 0;
  std::vector<Worker> workers_;
  std::vector<float> all_best_;
  std::atomic<int> n_rescored_ = 0;
  int n_paused_ = 0;  // tokens for which this is not tried
};

}  // namespace tern::cpu
