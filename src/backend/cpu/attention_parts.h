// Long histories are divided among workers: what they find in parts of one waits here for the rest.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

#include "backend/cpu/fetch_ahead.h"
#include "backend/host_memory.h"
#include "backend/ops.h"
#include "base/check.h"
#include "base/result.h"

namespace tern::cpu {

// Attention takes a history in runs of so many positions, whoever computes it: each has a softmax of its own, and they
// are added in their order. A number of blocks.
inline constexpr size_t kRunPositions = 256;
static_assert(kRunPositions % kKvBlock == 0);

// Runs that a history of n_positions can have parts in.
constexpr size_t runs_of(size_t n_positions) { return (n_positions + kRunPositions - 1) / kRunPositions; }

inline constexpr size_t kFloatsOfLine = kCacheLine / sizeof(float);

// What queries of rows of one token each found in each run, until all runs of a query are there. Used by one op at a
// time. Memory is taken as it is used.
class AttentionParts {
 public:
  // Room for so many rows with histories of up to n_positions. Not while an op runs. kOutOfMemory.
  Result<void> reserve(int n_rows, int n_heads, int head_dim, int n_positions) {
    const auto queries = static_cast<size_t>(n_rows) * static_cast<size_t>(n_heads);
    const size_t floats = queries * runs_of(static_cast<size_t>(n_positions)) * floats_of_part(head_dim);
    if (floats * sizeof(float) > memory_.bytes()) {
      TRY(memory_, HostMemory::allocate(floats * sizeof(float), "attention"));
    }
    if (queries > n_done_.size()) n_done_ = std::vector<std::atomic<int>>(queries);
    return {};
  }

  // What query `query` (row · n_heads + head) of an op whose histories have up to `most_runs` runs found in run `run`
  // of them: the largest score, the sum of the weights, and from kOut on the weighted sum of the values.
  static constexpr size_t kOut = kFloatsOfLine;
  float* part(size_t query, size_t run, size_t most_runs, int head_dim) {
    return reinterpret_cast<float*>(memory_.data()) + (query * most_runs + run) * floats_of_part(head_dim);
  }

  // One more of its n_runs runs is there. True for whoever brings the last: it sees what the others wrote, and nobody
  // counts for this query again in this op.
  bool is_last(size_t query, int n_runs) {
    std::atomic<int>& n_done = n_done_[query];
    const int done = n_done.fetch_add(1, std::memory_order_acq_rel) + 1;
    CHECK(done <= n_runs);
    if (done < n_runs) return false;
    n_done.store(0, std::memory_order_relaxed);  // for the next op
    return true;
  }

 private:
  static constexpr size_t floats_of_part(int head_dim) {
    return kOut + (static_cast<size_t>(head_dim) + kFloatsOfLine - 1) / kFloatsOfLine * kFloatsOfLine;
  }

  HostMemory memory_;
  std::vector<std::atomic<int>> n_done_;  // [queries]
};

}  // namespace tern::cpu
