// KV blocks: reference counts, the prefix cache and eviction.
#include "engine/kv/kv_blocks.h"

#include <gtest/gtest.h>

#include <numeric>

#include "backend/fake/fake_backend.h"
#include "engine/kv/sequence.h"

namespace tern {
namespace {

constexpr int kTokens = 4;  // per block

// Blocks that store one number each, so that copies can be recognized.
class NumberStore final : public KvStore {
 public:
  KvType type() const override { return KvType::kF16; }
  int block_tokens() const override { return kTokens; }
  uint64_t block_bytes() const override { return 1; }
  Result<void> allocate(KvBlockId block) override {
    if (fails) return fail(ErrorCode::kOutOfMemory, "no memory");
    const auto at = static_cast<size_t>(block);
    if (at >= numbers.size()) numbers.resize(at + 1, -1);
    EXPECT_EQ(numbers[at], -1) << "block " << block << " has memory already";
    numbers[at] = 0;
    return {};
  }
  void free(KvBlockId block) override {
    EXPECT_NE(numbers[static_cast<size_t>(block)], -1);
    numbers[static_cast<size_t>(block)] = -1;
  }
  Result<void> copy(KvBlockId from, KvBlockId to) override {
    if (copy_fails) return fail(ErrorCode::kDeviceLost, "lost");
    numbers[static_cast<size_t>(to)] = numbers[static_cast<size_t>(from)];
    return {};
  }
  Result<void> read(KvBlockId, MutableBytes) const override { return {}; }
  Result<void> write(KvBlockId, Bytes) override { return {}; }
  int n_allocated() const {
    return static_cast<int>(std::ranges::count_if(numbers, [](int n) { return n >= 0; }));
  }

  std::vector<int> numbers;  // -1: no memory
  bool fails = false, copy_fails = false;
};

struct Pool {
  explicit Pool(const KvBlocks::Options& options = {}) {
    auto made = std::make_unique<NumberStore>();
    store = made.get();
    blocks = std::make_shared<KvBlocks>(std::move(made), options);
  }
  int& number(KvBlockId block) const { return store->numbers[static_cast<size_t>(block)]; }
  NumberStore* store;
  std::shared_ptr<KvBlocks> blocks;
};

std::vector<TokenId> some(TokenId first) {
  std::vector<TokenId> tokens(kTokens);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

TEST(KvBlocks, MemoryIsTakenAndGivenBackBlockByBlock) {
  Pool p;
  const KvBlockId a = p.blocks->take().value(), b = p.blocks->take().value();
  EXPECT_NE(a, b);
  EXPECT_EQ(p.store->n_allocated(), 2);
  p.blocks->share(a);
  p.blocks->release(a);
  EXPECT_EQ(p.store->n_allocated(), 2);  // one reference is left
  p.blocks->release(a);
  EXPECT_EQ(p.store->n_allocated(), 1);
  EXPECT_EQ(p.blocks->take().value(), a);  // the same id again
  p.blocks->release(a);
  p.blocks->release(b);
  EXPECT_EQ(p.store->n_allocated(), 0);
  EXPECT_EQ(p.blocks->stats().n_used, 0);
}

TEST(KvBlocks, AreFoundByTheirTokensAndWhatComesBefore) {
  Pool p;
  KvBlockId a = p.blocks->take().value(), b = p.blocks->take().value();
  const PrefixId after_a = p.blocks->publish(0, some(10), a);
  const PrefixId after_b = p.blocks->publish(after_a, some(20), b);
  EXPECT_NE(after_a, after_b);
  EXPECT_FALSE(p.blocks->find(0, some(11)));
  EXPECT_FALSE(p.blocks->find(0, some(20)));  // not at the beginning
  EXPECT_FALSE(p.blocks->find(1, some(10)));  // another root
  const auto found = p.blocks->find(0, some(10));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->block, a);
  EXPECT_EQ(found->prefix, after_a);
  EXPECT_EQ(p.blocks->find(after_a, some(20))->block, b);
  EXPECT_EQ(p.blocks->stats().hits, 2u);
  EXPECT_EQ(p.blocks->stats().misses, 3u);
}

// Even if the hash collides.
TEST(KvBlocks, CollidingHashesNeverGiveOtherTokens) {
  Pool p({.hash = [](PrefixId, std::span<const TokenId>) { return uint64_t{7}; }});
  std::vector<KvBlockId> blocks;
  for (const TokenId first : {10, 20, 30}) {
    KvBlockId block = p.blocks->take().value();
    p.blocks->publish(0, some(first), block);
    blocks.push_back(block);
  }
  EXPECT_EQ(p.blocks->find(0, some(20))->block, blocks[1]);
  EXPECT_EQ(p.blocks->find(0, some(30))->block, blocks[2]);
  EXPECT_FALSE(p.blocks->find(0, some(40)));
  EXPECT_FALSE(p.blocks->find(1, some(20)));  // after another prefix
  p.blocks->release(blocks[1]);
  p.blocks->release(blocks[1]);
  EXPECT_EQ(p.blocks->copy_on_write(blocks[0]).value(), blocks[0]);  // only this block leaves the cache
  EXPECT_FALSE(p.blocks->find(0, some(10)));
  EXPECT_EQ(p.blocks->find(0, some(20))->block, blocks[1]);
}

TEST(KvBlocks, WhoComesSecondTakesTheFirstOnesBlock) {
  Pool p;
  KvBlockId a = p.blocks->take().value(), b = p.blocks->take().value();
  const PrefixId first = p.blocks->publish(0, some(10), a);
  const KvBlockId before = b;
  EXPECT_EQ(p.blocks->publish(0, some(10), b), first);
  EXPECT_EQ(b, a);
  EXPECT_EQ(p.number(before), -1);  // its own block was freed
  p.blocks->release(a);
  p.blocks->release(b);
  EXPECT_EQ(p.blocks->stats().n_kept, 1);
}

TEST(KvBlocks, TheLeastRecentlyUsedMakeRoom) {
  Pool p({.max_blocks = 3});
  std::vector<KvBlockId> blocks;
  for (const TokenId first : {10, 20, 30}) {
    KvBlockId block = p.blocks->take().value();
    p.blocks->publish(0, some(first), block);
    blocks.push_back(block);
  }
  for (const KvBlockId block : blocks) p.blocks->release(block);
  EXPECT_EQ(p.store->n_allocated(), 3);
  p.blocks->release(p.blocks->find(0, some(10))->block);  // used recently, so evicted last
  const KvBlockId a = p.blocks->take().value();
  EXPECT_EQ(a, blocks[1]);
  EXPECT_FALSE(p.blocks->find(0, some(20)));
  EXPECT_TRUE(p.blocks->find(0, some(10)));  // in use from now on
  EXPECT_EQ(p.blocks->take().value(), blocks[2]);
  const auto none = p.blocks->take();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kOutOfMemory);
  EXPECT_NE(none.error().message.find("3 blocks"), std::string::npos);
  EXPECT_EQ(p.blocks->stats().dropped, 2u);
}

TEST(KvBlocks, TheSystemsLackOfMemoryTakesWhatIsKept) {
  Pool p;
  KvBlockId a = p.blocks->take().value();
  p.blocks->publish(0, some(10), a);
  p.blocks->release(a);
  p.store->fails = true;
  EXPECT_EQ(p.blocks->take().value(), a);
  EXPECT_EQ(p.blocks->take().error().code, ErrorCode::kOutOfMemory);
}

TEST(KvBlocks, OnlySoManyAreKept) {
  Pool p({.max_cached = 1});
  for (const TokenId first : {10, 20}) {
    KvBlockId block = p.blocks->take().value();
    p.blocks->publish(0, some(first), block);
    p.blocks->release(block);
  }
  EXPECT_EQ(p.store->n_allocated(), 1);
  EXPECT_FALSE(p.blocks->find(0, some(10)));
  EXPECT_TRUE(p.blocks->find(0, some(20)));
}

TEST(KvBlocks, FewerAreKeptFromNowOn) {
  Pool p({.max_cached = 3});
  for (const TokenId first : {10, 20, 30}) {
    KvBlockId block = p.blocks->take().value();
    p.blocks->publish(0, some(first), block);
    p.blocks->release(block);
  }
  p.blocks->keep_at_most(1);
  EXPECT_EQ(p.store->n_allocated(), 1);
  EXPECT_EQ(p.blocks->stats().dropped, 2u);
  const auto kept = p.blocks->find(0, some(30));
  ASSERT_TRUE(kept);
  p.blocks->keep_at_most(0);
  EXPECT_EQ(p.store->n_allocated(), 1);  // it is in use
  p.blocks->release(kept->block);
  EXPECT_EQ(p.store->n_allocated(), 0);
}

TEST(KvBlocks, WhatNobodyElseBeginsWithIsDropped) {
  Pool p;
  const auto join = [](std::vector<TokenId> a, const std::vector<TokenId>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  KvBlockId a = p.blocks->take().value(), b = p.blocks->take().value(), c = p.blocks->take().value();
  const PrefixId after_a = p.blocks->publish(0, some(10), a);
  p.blocks->publish(after_a, some(20), b);
  p.blocks->publish(after_a, some(30), c);
  for (const KvBlockId block : {a, b, c}) p.blocks->release(block);
  EXPECT_EQ(p.blocks->drop(1, some(10)), 0);                             // another root
  EXPECT_EQ(p.blocks->drop(0, some(11)), 0);                             // not in the cache
  EXPECT_EQ(p.blocks->drop(0, join(join(some(10), some(20)), {1})), 1);  // drops b only: c continues a
  EXPECT_EQ(p.store->n_allocated(), 2);
  EXPECT_FALSE(p.blocks->find(after_a, some(20)));
  const auto used = p.blocks->find(after_a, some(30));
  EXPECT_EQ(p.blocks->drop(0, join(some(10), some(30))), 0);  // still in use
  p.blocks->release(used->block);
  EXPECT_EQ(p.blocks->drop(0, join(some(10), some(30))), 2);
  EXPECT_EQ(p.store->n_allocated(), 0);
  EXPECT_EQ(p.blocks->stats().n_kept, 0);
}

TEST(KvBlocks, WritingCopiesWhatOthersHave) {
  Pool p;
  KvBlockId a = p.blocks->take().value();
  p.number(a) = 5;
  EXPECT_EQ(p.blocks->copy_on_write(a).value(), a);
  p.blocks->share(a);
  const KvBlockId copy = p.blocks->copy_on_write(a).value();
  EXPECT_NE(copy, a);
  EXPECT_EQ(p.number(copy), 5);
  EXPECT_EQ(p.blocks->stats().n_used, 2);
  p.blocks->share(a);
  p.store->copy_fails = true;
  EXPECT_EQ(p.blocks->copy_on_write(a).error().code, ErrorCode::kDeviceLost);
  EXPECT_EQ(p.blocks->stats().n_used, 2);  // as before
}

// ---- sequences

struct Conversations {
  explicit Conversations(const KvBlocks::Options& options = {}) : pool(options) {
    fake::Script script{.n_vocab = 100, .next = {1}, .max_batch = 64, .max_logit_rows = 64, .max_slices = 8};
    script.block_tokens = kTokens;
    executable = fake::make_executable(std::move(script), log);
  }
  std::unique_ptr<Sequence> begin(int n_ctx = 40, PrefixId root = 0) {
    return std::make_unique<Sequence>(*executable, pool.blocks, n_ctx, root);
  }
  static void run(Sequence& sequence, std::span<const TokenId> tokens) {
    ASSERT_TRUE(sequence.append(tokens, WantLogits::kLast));
  }
  Pool pool;
  fake::Log log;
  std::unique_ptr<Executable> executable;
};

std::vector<TokenId> text(size_t n, TokenId first = 1) {
  std::vector<TokenId> tokens(n);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

TEST(Sequence, TakesAsManyBlocksAsItsTokensNeed) {
  Conversations c;
  auto a = c.begin();
  EXPECT_EQ(c.pool.store->n_allocated(), 0);
  Conversations::run(*a, text(5));
  EXPECT_EQ(c.pool.store->n_allocated(), 2);
  Conversations::run(*a, text(3, 6));
  EXPECT_EQ(c.pool.store->n_allocated(), 2);
  Conversations::run(*a, text(1, 9));
  EXPECT_EQ(c.pool.store->n_allocated(), 3);
  a->truncate(3);
  EXPECT_EQ(c.pool.blocks->stats().n_used, 1);
  a.reset();
  EXPECT_EQ(c.pool.blocks->stats().n_used, 0);
}

TEST(Sequence, SharesWhatOthersBeganWith) {
  Conversations c;
  auto a = c.begin(), b = c.begin(), other_kind = c.begin(40, 1);
  const auto prompt = text(11);
  Conversations::run(*a, prompt);
  EXPECT_EQ(b->keep_common(prompt), 8u);  // two full blocks
  EXPECT_EQ(b->blocks()[0], a->blocks()[0]);
  EXPECT_EQ(b->blocks()[1], a->blocks()[1]);
  EXPECT_EQ(other_kind->keep_common(prompt), 0u);
  Conversations::run(*b, text(3, 9));
  EXPECT_EQ(c.log.calls.back().first_pos, 8);
  EXPECT_EQ(c.pool.blocks->stats().n_used, 4);  // two shared, and one last block each
  EXPECT_EQ(b->keep_common(text(8)), 7u);       // the last token is always run again
}

TEST(Sequence, SixtyFourWithOnePrefixHoldItOnce) {
  Conversations c;
  const auto prefix = text(1000);
  std::vector<std::unique_ptr<Sequence>> all;
  for (TokenId i = 0; i < 64; ++i) {
    all.push_back(c.begin(1100));
    auto prompt = prefix;
    prompt.push_back(2000 + i);
    const size_t n = all.back()->keep_common(prompt);
    EXPECT_EQ(n, i == 0 ? 0u : 1000u);
    for (size_t at = n; at < prompt.size(); at += 64) {
      const auto rest = std::span(prompt).subspan(at);
      Conversations::run(*all.back(), rest.first(std::min<size_t>(64, rest.size())));
    }
  }
  EXPECT_EQ(c.pool.store->n_allocated(), 1000 / kTokens + 64);
}

// Two sequences that run the same tokens at the same time also end up sharing one block.
TEST(Sequence, GivesUpABlockThatIsThereAlready) {
  Conversations c;
  auto a = c.begin(), b = c.begin();
  for (int i = 0; i < 10; ++i) {
    Conversations::run(*a, text(1, i));
    Conversations::run(*b, text(1, i));
  }
  EXPECT_EQ(c.pool.store->n_allocated(), 2 + 2);
}

TEST(Sequence, OneThatGoesAnotherWayLeavesTheOthersAlone) {
  Conversations c;
  auto a = c.begin(), b = c.begin();
  Conversations::run(*a, text(8));
  b->keep_common(text(9));
  ASSERT_EQ(b->blocks()[1], a->blocks()[1]);
  const KvBlockId shared = a->blocks()[1];
  c.pool.number(shared) = 77;
  auto other = text(6);
  other.push_back(50);
  EXPECT_EQ(b->keep_common(other), 6u);
  Conversations::run(*b, std::span(other).last(1));
  EXPECT_NE(b->blocks()[1], shared);
  EXPECT_EQ(c.pool.number(b->blocks()[1]), 77);  // a copy of the shared block
  EXPECT_EQ(a->blocks()[1], shared);
  // It is now the only user, so it writes to its own block, which leaves the prefix cache.
  EXPECT_EQ(a->keep_common(other), 6u);
  Conversations::run(*a, std::span(other).last(1));
  EXPECT_EQ(a->blocks()[1], shared);
  EXPECT_EQ(c.begin()->keep_common(text(9)), 4u);
}

TEST(Sequence, IsFoundAgainAfterItIsGone) {
  Conversations c({.max_blocks = 3});
  Conversations::run(*c.begin(), text(9));
  auto b = c.begin();
  EXPECT_EQ(b->keep_common(text(9)), 8u);
  b.reset();
  auto other = c.begin();
  Conversations::run(*other, text(5, 40));  // needs two blocks: the prefix's last block is evicted before its first
  EXPECT_EQ(c.begin()->keep_common(text(9)), 4u);
}

TEST(Sequence, ALackOfBlocksLeavesItAsItWas) {
  Conversations c({.max_blocks = 2});
  auto a = c.begin();
  Conversations::run(*a, text(7));
  EXPECT_EQ(a->append(text(2, 8), WantLogits::kLast).error().code, ErrorCode::kOutOfMemory);
  EXPECT_EQ(a->n_used(), 7);
  Conversations::run(*a, text(1, 8));
  EXPECT_EQ(a->n_used(), 8);
}

}  // namespace
}  // namespace tern
