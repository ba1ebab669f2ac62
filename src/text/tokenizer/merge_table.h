// Which pairs of adjacent tokens merge and in which order, and the merging of a word.
#pragma once

#include <cstdint>
#include <vector>

#include "tern/options.h"

namespace tern {

class MergeTable {
 public:
  struct Merge {
    uint32_t rank = 0;  // lower is merged earlier
    TokenId result = 0;
  };

  explicit MergeTable(size_t n_merges);

  // If the pair is already known, the first rank stays.
  void add(TokenId left, TokenId right, Merge merge);

  // nullptr: the pair does not merge.
  const Merge* find(TokenId left, TokenId right) const;

 private:
  struct Slot {
    uint64_t key = kFree;
    Merge merge;
  };
  static constexpr uint64_t kFree = ~uint64_t{0};  // not a pair, as ids are not negative
  size_t slot_of(uint64_t key) const;

  std::vector<Slot> slots_;  // a power of two, at least twice the number of merges
};

// Merges a word's tokens until no adjacent pair merges: the best pair first, the leftmost of equal pairs. Reuses its
// memory for each word, so every thread needs its own object.
class WordMerger {
 public:
  explicit WordMerger(const MergeTable& merges) : merges_(merges) {}

  void merge(std::vector<TokenId>& word);

 private:
  void merge_short(std::vector<TokenId>& word);
  void merge_long(std::vector<TokenId>& word);
  uint32_t rank_of(TokenId left, TokenId right) const;

  const MergeTable& merges_;
  std::vector<uint32_t> ranks_;

  struct Node {
    TokenId id;
    uint32_t previous, next;
  };
  std::vector<Node> nodes_;
  std::vector<uint64_t> heap_;  // rank << 32 | position of the left token
};

}  // namespace tern
