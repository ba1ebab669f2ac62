#include "text/tokenizer/merge_table.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

namespace tern {
namespace {

// Byte-pair merging by definition: repeatedly the leftmost pair of the lowest rank.
std::vector<TokenId> merged_by_definition(const MergeTable& merges, std::vector<TokenId> word) {
  while (true) {
    const MergeTable::Merge* best = nullptr;
    size_t best_at = 0;
    for (size_t i = 0; i + 1 < word.size(); ++i) {
      const auto* merge = merges.find(word[i], word[i + 1]);
      if (merge && (!best || merge->rank < best->rank)) best = merge, best_at = i;
    }
    if (!best) return word;
    word[best_at] = best->result;
    word.erase(word.begin() + static_cast<std::ptrdiff_t>(best_at) + 1);
  }
}

TEST(MergeTable, FindsWhatWasAddedAndNothingElse) {
  MergeTable merges(3);
  merges.add(1, 2, {.rank = 0, .result = 10});
  merges.add(2, 1, {.rank = 1, .result = 11});
  merges.add(1, 2, {.rank = 2, .result = 12});  // already known
  ASSERT_NE(merges.find(1, 2), nullptr);
  EXPECT_EQ(merges.find(1, 2)->result, 10);
  EXPECT_EQ(merges.find(2, 1)->rank, 1u);
  EXPECT_EQ(merges.find(2, 2), nullptr);
  EXPECT_EQ(MergeTable(0).find(0, 0), nullptr);
}

TEST(WordMerger, AgreesWithTheDefinitionOnShortAndLongWords) {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    // A random grammar: each merge joins two existing tokens, and a stride shuffles the ranks.
    MergeTable merges(60);
    TokenId n_tokens = 3;
    for (uint32_t i = 0; i < 60; ++i) {
      const auto left = static_cast<TokenId>(random() % static_cast<uint32_t>(n_tokens));
      const auto right = static_cast<TokenId>(random() % static_cast<uint32_t>(n_tokens));
      if (merges.find(left, right)) continue;
      merges.add(left, right, {.rank = (i * 37) % 61, .result = n_tokens++});
    }
    std::vector<TokenId> word(random() % 120);
    for (TokenId& id : word) id = static_cast<TokenId>(random() % 3);
    auto merged = word;
    WordMerger(merges).merge(merged);
    ASSERT_EQ(merged, merged_by_definition(merges, word)) << "word of " << word.size();
  }
}

TEST(WordMerger, LongWordsTakeNoQuadraticTime) {
  MergeTable merges(10);
  for (TokenId i = 0; i < 10; ++i) merges.add(i, i, {.rank = static_cast<uint32_t>(i), .result = i + 1});
  std::vector<TokenId> word(1 << 20, 0);
  const auto start = std::chrono::steady_clock::now();
  WordMerger(merges).merge(word);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(word, std::vector<TokenId>(1 << 10, 10));
  EXPECT_LT(seconds.count(), 20) << "n log n takes well under a second, n² would take hours";
}

}  // namespace
}  // namespace tern
