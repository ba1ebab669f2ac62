// The best logits of each token, bit for bit like float_linear, for about half the bytes. Every row's logit is
// estimated from an int8 copy, with a bound on the error. Rows that could be among the best are computed from the
// matrix itself; all others become −infinity. docs/numerics.md has the proof.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "backend/cpu/ops/head_copy.h"
#include "backend/cpu/ops/work_queue.h"
#include "backend/ops.h"

namespace tern::cpu {

inline constexpr int kMostBestLogits = 1024;  // the largest n_best that this method is used for
inline constexpr int kMostBestTokens = 64;    // the largest number of tokens

// The bound of one token: for every row, |float_linear's result − estimate| ≤ error[r]·per_error + norm[r]·per_norm +
// at_least.
struct LogitBound {
  float per_error = 0, per_norm = 0, at_least = 0;
};

// One worker's results for one token.
struct BestOfToken {
  size_t n_best = 0;
  LogitBound bound;
  std::vector<float> best;  // heap of the largest lower bounds among this worker's rows, the least in front
  float least = 0;          // the n_best-th largest lower bound of all workers; rows with a smaller upper bound are out
};

// One worker's part of an op.
struct BestLogitsJob {
  const ops::FloatLinear& op;
  const HeadCopy& copy;
  std::span<BestOfToken> tokens;
  WorkQueue& queue;
};

class BestLogits {
 public:
  // Handles at most max_tokens (≤ kMostBestTokens) tokens at a time.
  BestLogits(HeadCopy copy, int n_workers, int max_tokens = 1);

  const HeadCopy& copy() const { return copy_; }

  // Call before the workers start, with n_best of each token. Returns false if computing all logits is no slower: an
  // n_best is 0 or large, or most rows had to be computed recently.
  bool begin(std::span<const int> n_best);
  bool begin(int n_best) { return begin({&n_best, 1}); }

  // All workers call estimate() and wait for each other; one calls choose(); they wait again and call rescore(). All
  // use the same op: as many rows as begin() got numbers, float input, and the copied matrix. estimate() needs
  // scratch() floats of scratch memory.
  //
  // estimate() returns false on all workers, before it claims anything from `queue`, if the activations have no bound.
  // The op must then be computed in full.
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
  int n_paused_ = 0;  // calls of begin() that still skip this method
};

}  // namespace tern::cpu
