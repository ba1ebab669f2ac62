// Workers share long histories: the partial results of one history wait here until all its parts are computed.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

#include "backend/cpu/ops/fetch_ahead.h"
#include "backend/host_memory.h"
#include "backend/ops.h"
#include "base/check.h"
#include "base/result.h"

namespace tern::cpu {

// Attention always splits a history into runs of this many positions, however many workers share them. Each run has its
// own softmax, and the runs are added in order. A multiple of kKvBlock.
inline constexpr size_t kChunkPositions = 256;
static_assert(kChunkPositions % kKvBlock == 0);

// The number of runs of a history of n_positions.
constexpr size_t runs_of(size_t n_positions) { return (n_positions + kChunkPositions - 1) / kChunkPositions; }

inline constexpr size_t kFloatsOfLine = kCacheLine / sizeof(float);

// The partial results of each query and run, for rows of one token each, until all runs of a query are done. Used by
// one op at a time. The pages are only touched when they are used.
class AttentionParts {
 public:
  // Makes room for n_rows rows with histories of up to n_positions. Must not be called while an op runs. kOutOfMemory.
  Result<void> reserve(int n_rows, int n_heads, int head_dim, int n_positions) {
    const auto queries = static_cast<size_t>(n_rows) * static_cast<size_t>(n_heads);
    const size_t floats = queries * runs_of(static_cast<size_t>(n_positions)) * floats_of_part(head_dim);
    if (floats * sizeof(float) > memory_.bytes()) {
      TRY(memory_, HostMemory::allocate(floats * sizeof(float), "attention"));
    }
    if (queries > n_done_.size()) n_done_ = std::vector<std::atomic<int>>(queries);
    return {};
  }

  // The partial result of query `query` (row · n_heads + head) for run `run`, in an op whose histories have up to
  // `most_runs` runs: the largest score, the sum of the weights, and from kOut on the weighted sum of the values.
  static constexpr size_t kOut = kFloatsOfLine;
  float* part(size_t query, size_t run, size_t most_runs, int head_dim) {
    return reinterpret_cast<float*>(memory_.data()) + (query * most_runs + run) * floats_of_part(head_dim);
  }

  // Counts one more finished run of the query's n_runs. Returns true to the worker that finishes the last one: it sees
  // all the others' results, and no worker counts for this query again in this op.
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
