#include "text/tokenizer/merge_table.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace tern {
namespace {

constexpr uint32_t kNever = UINT32_MAX;  // a rank that no merge has; also means "no node"

// Up to this length scanning all pairs for the best one beats a heap: the ranks fit in a few cache lines.
constexpr size_t kShortWord = 40;

uint64_t key_of(TokenId left, TokenId right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

}  // namespace

MergeTable::MergeTable(size_t n_merges) : slots_(std::bit_ceil(2 * n_merges + 1)) {}

size_t MergeTable::slot_of(uint64_t key) const {
  uint64_t hash = key * 0x9E3779B97F4A7C15u;
  hash ^= hash >> 32;
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  while (slots_[at].key != kFree && slots_[at].key != key) at = (at + 1) & mask;
  return at;
}

void MergeTable::add(TokenId left, TokenId right, Merge merge) {
  const uint64_t key = key_of(left, right);
  Slot& slot = slots_[slot_of(key)];
  if (slot.key == kFree) slot = {key, merge};
}

const MergeTable::Merge* MergeTable::find(TokenId left, TokenId right) const {
  const Slot& slot = slots_[slot_of(key_of(left, right))];
  return slot.key == kFree ? nullptr : &slot.merge;
}

uint32_t WordMerger::rank_of(TokenId left, TokenId right) const {
  const MergeTable::Merge* merge = merges_.find(left, right);
  return merge ? merge->rank : kNever;
}

void WordMerger::merge(std::vector<TokenId>& word) {
  if (word.size() < 2) return;
  if (word.size() <= kShortWord) {
    merge_short(word);
  } else {
    merge_long(word);
  }
}

void WordMerger::merge_short(std::vector<TokenId>& word) {
  ranks_.clear();  // ranks_[i] is the rank of the pair (i, i + 1)
  for (size_t i = 0; i + 1 < word.size(); ++i) ranks_.push_back(rank_of(word[i], word[i + 1]));
  while (!ranks_.empty()) {
    const auto best = std::ranges::min_element(ranks_);  // the first of equals
    if (*best == kNever) return;
    const auto i = best - ranks_.begin();
    const auto at = static_cast<size_t>(i);
    word[at] = merges_.find(word[at], word[at + 1])->result;
    word.erase(word.begin() + i + 1);
    ranks_.erase(best);
    if (at < ranks_.size()) ranks_[at] = rank_of(word[at], word[at + 1]);
    if (at > 0) ranks_[at - 1] = rank_of(word[at - 1], word[at]);
  }
}

// A linked list of tokens and a heap of candidate pairs: O(n log n), while merge_short is O(n²). The rank shows if a
// pair has changed since it entered the heap: equal ranks mean the same two tokens.
void WordMerger::merge_long(std::vector<TokenId>& word) {
  const auto n = static_cast<uint32_t>(word.size());
  nodes_.clear();
  heap_.clear();
  for (uint32_t i = 0; i < n; ++i) nodes_.push_back({word[i], i == 0 ? kNever : i - 1, i + 1 == n ? kNever : i + 1});

  const auto current_rank = [&](uint32_t at) {
    const Node& node = nodes_[at];
    return node.id < 0 || node.next == kNever ? kNever : rank_of(node.id, nodes_[node.next].id);
  };
  const auto push = [&](uint32_t at) {
    const uint32_t rank = current_rank(at);
    if (rank == kNever) return;
    heap_.push_back(static_cast<uint64_t>(rank) << 32 | at);
    std::ranges::push_heap(heap_, std::greater<>());
  };
  for (uint32_t i = 0; i + 1 < n; ++i) push(i);

  while (!heap_.empty()) {
    std::ranges::pop_heap(heap_, std::greater<>());
    const uint64_t top = heap_.back();
    heap_.pop_back();
    const auto at = static_cast<uint32_t>(top);
    if (current_rank(at) != top >> 32) continue;
    Node& left = nodes_[at];
    Node& right = nodes_[left.next];
    left.id = merges_.find(left.id, right.id)->result;
    left.next = right.next;
    right.id = -1;  // removed
    if (left.next != kNever) nodes_[left.next].previous = at;
    push(at);
    if (left.previous != kNever) push(left.previous);
  }

  word.clear();
  for (uint32_t i = 0; i != kNever; i = nodes_[i].next) word.push_back(nodes_[i].id);
}

}  // namespace tern
