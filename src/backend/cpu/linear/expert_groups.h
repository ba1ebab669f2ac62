// The tokens of a pass, grouped by the experts that the router chose for them. Each expert's matrices are then
// multiplied once with all of its tokens.
#pragma once

#include <algorithm>
#include <optional>
#include <span>

#include "backend/cpu/linear/block_linear.h"
#include "backend/cpu/ops/take_scratch.h"
#include "backend/cpu/ops/work_queue.h"
#include "backend/ops.h"

namespace tern::cpu {

class ExpertGroups {
 public:
  struct Group {
    int expert, n;
    const int* choices;  // [n], rows of the [n_tokens · n_used] choices
    const int* tokens;   // [n], the tokens that made them
  };

  // Takes scratch(…) floats of `free`.
  ExpertGroups(const ops::Chosen& chosen, int n_experts, std::span<float>& free) {
    const int n = chosen.n * chosen.n_used;
    choices_ = take(n, free);
    tokens_ = take(n, free);
    experts_ = take(n_experts, free);
    begins_ = take(n_experts + 1, free);
    int* const next = take(n_experts, free);
    std::fill_n(next, n_experts, 0);
    for (int i = 0; i < n; ++i) ++next[expert_of(chosen, i)];
    for (int e = 0, begin = 0; e < n_experts; ++e) {
      const int count = next[e];
      next[e] = begin;
      if (count > 0) {
        experts_[size_] = e;
        begins_[size_++] = begin;
      }
      begin += count;
    }
    begins_[size_] = n;
    for (int i = 0; i < n; ++i) {
      const int at = next[expert_of(chosen, i)]++;
      choices_[at] = i;
      tokens_[at] = i / chosen.n_used;
    }
  }

  static size_t scratch(int n_tokens, int n_used, int n_experts) {
    constexpr size_t kArrays = 5, kAlignment = 64 / sizeof(float);
    return static_cast<size_t>(2 * n_tokens * n_used + 3 * n_experts + 1) + kArrays * kAlignment;
  }

  int size() const { return size_; }  // experts with tokens
  // In the order of the experts' numbers.
  Group group(int i) const {
    const int begin = begins_[i];
    return {experts_[i], begins_[i + 1] - begin, choices_ + begin, tokens_ + begin};
  }

 private:
  static int* take(int n, std::span<float>& free) {
    return take_scratch<int>(free, static_cast<size_t>(n) * sizeof(int));
  }
  static int expert_of(const ops::Chosen& chosen, int i) { return chosen.expert(i / chosen.n_used, i % chosen.n_used); }

  int *choices_, *tokens_, *experts_, *begins_;
  int size_ = 0;
};

// Divides the rows of all experts with tokens among the workers. Calls begin(group, free) when a worker turns to
// another expert, with the scratch memory that is left, and pass(first, end) for runs of kBlockPassRows rows of this
// expert. The rows of `w` are a multiple of that.
template <class Begin, class Pass>
void for_experts(const ops::Chosen& chosen, const Tensor& w, WorkQueue& queue, const Begin& begin, const Pass& pass) {
  const int rows = w.expert_rows(), most = std::min(chosen.n * chosen.n_used, w.n_experts);
  CHECK(rows % kBlockPassRows == 0);
  std::optional<ExpertGroups> groups;
  std::span<float> free;
  int current = -1;
  queue.for_ranges(most * rows, kBlockPassRows, [&](int first, int end) {
    if (!groups) {
      free = queue.scratch();
      groups.emplace(chosen, w.n_experts, free);
    }
    for (int at = first; at < end && at / rows < groups->size(); at += kBlockPassRows) {
      if (at / rows != current) begin(groups->group(current = at / rows), free);
      pass(at % rows, at % rows + kBlockPassRows);
    }
  });
}

}  // namespace tern::cpu
