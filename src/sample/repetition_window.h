// Counts how often each token occurs among the last ones of a text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "tern/options.h"

namespace tern {

// Nothing is allocated after construction.
class RepetitionWindow {
 public:
  RepetitionWindow() = default;  // without memory; add() must not be called
  // The tokens are below n_vocab; the last `length` of them count, or all of them if it is not positive.
  RepetitionWindow(int n_vocab, int length);

  void add(TokenId token);
  void forget();

  int count(TokenId token) const { return counts_.empty() ? 0 : counts_[token]; }
  int n_seen() const { return n_seen_; }  // different tokens in the window

  // Calls visit(token, count) once for each token in the window.
  template <class Visit>
  void for_each(const Visit& visit) {
    if (ring_.empty()) {
      for (size_t id = 0; id < counts_.size(); ++id) {
        if (counts_[id] > 0) visit(static_cast<TokenId>(id), counts_[id]);
      }
      return;
    }
    // A token's count is negative after its visit.
    const auto seen = std::span(ring_).first(n_used_);
    for (const TokenId id : seen) {
      if (counts_[id] < 0) continue;
      visit(id, counts_[id]);
      counts_[id] = -counts_[id];
    }
    for (const TokenId id : seen) counts_[id] = std::abs(counts_[id]);
  }

 private:
  std::vector<int32_t> counts_;  // [n_vocab]
  std::vector<TokenId> ring_;    // the last tokens; empty if all tokens count
  int n_seen_ = 0;
  size_t next_ = 0;  // the ring's oldest entry once it is full
  size_t n_used_ = 0;
};

}  // namespace tern
