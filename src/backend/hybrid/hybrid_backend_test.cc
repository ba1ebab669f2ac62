#include "backend/hybrid/hybrid_backend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <thread>

#include "backend/hybrid/hybrid_kv_store.h"
#include "base/check.h"

namespace tern::hybrid {
namespace {

constexpr int kBlockTokens = 4, kVocab = 3;

// What a device did.
struct Log {
  std::vector<int> passes;  // tokens of each
  int n_reads = 0, n_writes = 0, n_streams = 0;
  std::thread::id thread;
  bool fails = false, has_no_memory = false;
};

// Each block holds the tokens of its positions, plus one; positions never written hold 0.
class TokenStore final : public KvStore {
 public:
  explicit TokenStore(Log& log) : log_(log) {}
  KvType type() const override { return KvType::kF16; }
  int block_tokens() const override { return kBlockTokens; }
  uint64_t block_bytes() const override { return kBlockTokens * sizeof(TokenId); }
  Result<void> allocate(KvBlockId block) override {
    if (log_.has_no_memory) return fail(ErrorCode::kOutOfMemory, "full");
    CHECK(!blocks_.contains(block));
    blocks_[block].assign(kBlockTokens, -1);  // garbage
    return {};
  }
  void free(KvBlockId block) override { CHECK(blocks_.erase(block) == 1); }
  Result<void> copy(KvBlockId from, KvBlockId to) override {
    blocks_.at(to) = blocks_.at(from);
    return {};
  }
  Result<void> read(KvBlockId block, MutableBytes out) const override {
    ++log_.n_reads;
    std::memcpy(out.data(), blocks_.at(block).data(), out.size());
    return {};
  }
  Result<void> write(KvBlockId block, Bytes in) override {
    ++log_.n_writes;
    std::memcpy(blocks_.at(block).data(), in.data(), in.size());
    return {};
  }
  TokenId& at(std::span<const KvBlockId> blocks, int pos) {
    return blocks_.at(blocks[static_cast<size_t>(pos / kBlockTokens)])[static_cast<size_t>(pos % kBlockTokens)];
  }

 private:
  Log& log_;
  std::map<KvBlockId, std::vector<TokenId>> blocks_;
};

// Stands for a model's output after these tokens.
float digest(const std::vector<TokenId>& tokens) {
  uint32_t h = 1;
  for (const TokenId token : tokens) h = h * 31 + static_cast<uint32_t>(token);
  return static_cast<float>(h % 10007);
}

std::vector<float> row_of(float value, int device_bias = 0) {
  return {value, value + 1, value + 2 + static_cast<float>(device_bias)};
}

struct Limits {
  int max_batch = 8, max_logit_rows = 4, max_slices = 4;
  bool decodes = false;
};

class TokenExecutable final : public Executable {
 public:
  TokenExecutable(Limits limits, Log& log) : limits_(limits), log_(log) {}
  std::string description() const override { return "tokens"; }
  int max_batch() const override { return limits_.max_batch; }
  int max_logit_rows() const override { return limits_.max_logit_rows; }
  int max_slices() const override { return limits_.max_slices; }
  int kv_block_tokens(int) const override { return kBlockTokens; }
  Result<std::unique_ptr<KvStore>> new_kv_store(int, KvType) const override {
    return std::make_unique<TokenStore>(log_);
  }
  bool decodes() const override { return limits_.decodes; }
  using Executable::decode;
  using Executable::run;
  Result<std::span<const float>> run(KvStore& store, Batch batch) override {
    log_.thread = std::this_thread::get_id();
    auto& tokens = static_cast<TokenStore&>(store);
    int n = 0, n_rows = 0;
    logits_.clear();
    for (const Slice& slice : batch) {
      n += static_cast<int>(slice.tokens.size());
      n_rows += slice.n_logit_rows();
      for (size_t i = 0; i < slice.tokens.size(); ++i) {
        const int pos = slice.first_pos + static_cast<int>(i);
        tokens.at(slice.blocks, pos) = slice.tokens[i];
        const bool wanted =
            slice.logits == WantLogits::kAll || (slice.logits == WantLogits::kLast && i + 1 == slice.tokens.size());
        if (!wanted) continue;
        std::vector<TokenId> all;
        for (int p = 0; p <= pos; ++p) all.push_back(tokens.at(slice.blocks, p));
        for (const float value : row_of(digest(all))) logits_.push_back(value);
      }
    }
    CHECK(n >= 1 && n <= max_batch() && n_rows <= max_logit_rows() && std::ssize(batch) <= max_slices());
    log_.passes.push_back(n);
    if (log_.fails) return fail(ErrorCode::kDeviceLost, "lost");
    return logits_;
  }
  // Writes 7s and returns 1s.
  class Stream final : public TokenStream {
   public:
    Result<std::span<const TokenId>> next() override { return std::span<const TokenId>(tokens_); }

   private:
    std::vector<TokenId> tokens_ = {1};
  };
  Result<std::unique_ptr<TokenStream>> decode(KvStore& store, Batch starts, int n_tokens,
                                              std::span<const DeviceSampling>) override {
    ++log_.n_streams;
    auto& tokens = static_cast<TokenStore&>(store);
    for (const Slice& start : starts) {
      tokens.at(start.blocks, start.first_pos) = start.tokens[0];
      for (int i = 1; i < n_tokens; ++i) tokens.at(start.blocks, start.first_pos + i) = 7;
    }
    return std::make_unique<Stream>();
  }
  void observe(StepObserver) override {}

 private:
  Limits limits_;
  Log& log_;
  std::vector<float> logits_;
};

struct Pair {
  std::array<Log, 2> logs;
  std::unique_ptr<Executable> executable;
  std::unique_ptr<KvStore> store;

  explicit Pair(PassCost cost, Limits first = {}, Limits second = {}) {
    executable = combine({Device{.name = "first", .executable = std::make_unique<TokenExecutable>(first, logs[0])},
                          Device{.name = "second", .executable = std::make_unique<TokenExecutable>(second, logs[1])}},
                         std::move(cost));
    store = executable->new_kv_store(kBlockTokens, KvType::kF16).value();
  }
  void allocate(std::span<const KvBlockId> blocks) {
    for (const KvBlockId block : blocks) ASSERT_TRUE(store->allocate(block));
  }
  void forget() {
    for (Log& log : logs) {
      log.passes.clear();
      log.n_reads = log.n_writes = 0;
    }
  }
};

// Prompts on the second device, single tokens on the first.
double prompts_on_second(size_t device, Batch slices, const Missing&) {
  return (slices[0].tokens.size() > 1) == (device == 1) ? 1 : 2;
}

std::vector<TokenId> counting(int n, int from = 10) {
  std::vector<TokenId> tokens(static_cast<size_t>(n));
  std::iota(tokens.begin(), tokens.end(), from);
  return tokens;
}

std::vector<float> to_vector(std::span<const float> values) { return {values.begin(), values.end()}; }

TEST(Hybrid, WritesOnOneDeviceWhatTheOtherHasRead) {
  Pair hybrid(prompts_on_second);
  const std::vector<KvBlockId> blocks = {0, 1, 2};
  hybrid.allocate(blocks);
  std::vector<TokenId> tokens = counting(6);
  const Slice prompt{.tokens = tokens, .blocks = blocks, .n_ctx = 12};
  EXPECT_EQ(to_vector(hybrid.executable->run(*hybrid.store, {&prompt, 1}).value()), row_of(digest(tokens)));
  EXPECT_EQ(hybrid.logs[1].passes, std::vector<int>{6});
  EXPECT_EQ(hybrid.logs[0].n_writes, 0) << "nothing moves before it is needed";
  const std::vector<TokenId> next = {77};
  const Slice token{.tokens = next, .first_pos = 6, .blocks = blocks, .n_ctx = 12};
  tokens.push_back(77);
  EXPECT_EQ(to_vector(hybrid.executable->run(*hybrid.store, {&token, 1}).value()), row_of(digest(tokens)));
  EXPECT_EQ(hybrid.logs[0].passes, std::vector<int>{1});
  EXPECT_EQ(hybrid.logs[0].n_writes, 2);
  const Slice again{.tokens = next, .first_pos = 7, .blocks = blocks, .n_ctx = 12};
  tokens.push_back(77);
  EXPECT_EQ(to_vector(hybrid.executable->run(*hybrid.store, {&again, 1}).value()), row_of(digest(tokens)));
  EXPECT_EQ(hybrid.logs[0].n_writes, 2) << "what is there stays there";
  // Back on the first device: the first block never changed, so only the second has to move.
  const std::vector<TokenId> more = {5, 6};
  const Slice turn{.tokens = more, .first_pos = 8, .blocks = blocks, .n_ctx = 12};
  tokens.insert(tokens.end(), more.begin(), more.end());
  EXPECT_EQ(to_vector(hybrid.executable->run(*hybrid.store, {&turn, 1}).value()), row_of(digest(tokens)));
  EXPECT_EQ(hybrid.logs[1].n_writes, 1);
  const auto shares = hybrid.executable->device_shares();
  EXPECT_EQ(shares[0].device, "first");
  EXPECT_EQ(shares[0].prompt_tokens, 0u);
  EXPECT_EQ(shares[0].single_tokens, 2u);
  EXPECT_EQ(shares[0].tokens_brought, 8u);
  EXPECT_EQ(shares[1].prompt_tokens, 8u);
  EXPECT_EQ(shares[1].single_tokens, 0u);
  EXPECT_EQ(shares[1].tokens_brought, 4u);
}

TEST(Hybrid, RunsPromptsAndRepliesAtTheSameTime) {
  Pair hybrid(prompts_on_second);
  const std::vector<KvBlockId> a = {0, 1}, b = {2, 3}, c = {4, 5};
  for (const auto& blocks : {a, b, c}) hybrid.allocate(blocks);
  const std::vector<TokenId> first = counting(5), one = {3}, long_one = counting(3, 50);
  const Slice start{.tokens = first, .blocks = a, .n_ctx = 8};
  ASSERT_TRUE(hybrid.executable->run(*hybrid.store, {&start, 1}));
  hybrid.forget();
  const std::vector<Slice> batch = {
      {.tokens = long_one, .logits = WantLogits::kAll, .blocks = b, .n_ctx = 8},
      {.tokens = one, .first_pos = 5, .blocks = a, .n_ctx = 8},
      {.tokens = long_one, .logits = WantLogits::kNone, .blocks = c, .n_ctx = 8},
  };
  const auto rows = to_vector(hybrid.executable->run(*hybrid.store, batch).value());
  std::vector<float> expected;
  const auto add = [&](const std::vector<TokenId>& tokens) {
    for (const float value : row_of(digest(tokens))) expected.push_back(value);
  };
  for (int n = 1; n <= 3; ++n) add(counting(n, 50));
  std::vector<TokenId> after = first;
  after.push_back(3);
  add(after);
  EXPECT_EQ(rows, expected);
  EXPECT_EQ(hybrid.logs[0].passes, std::vector<int>{1});
  EXPECT_EQ(hybrid.logs[1].passes, std::vector<int>{6});
  EXPECT_NE(hybrid.logs[0].thread, hybrid.logs[1].thread);
}

// Random devices, and random batches within their limits: the results always equal those of one device.
TEST(Hybrid, IsExactWhoeverRunsWhat) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    std::mt19937 choices(seed + 1000);
    Pair hybrid(
        [&](size_t device, Batch, const Missing&) { return device == 0          ? 1.0
                                                           : choices() % 2 == 0 ? 0.5
                                                                                : 2.0; },
        {.max_batch = 3 + below(9), .max_logit_rows = 1 + below(4), .max_slices = 1 + below(4)},
        {.max_batch = 3 + below(9), .max_logit_rows = 1 + below(4), .max_slices = 1 + below(4)});
    struct Conversation {
      std::vector<KvBlockId> blocks;
      std::vector<TokenId> tokens;
    };
    std::vector<Conversation> all(3);
    KvBlockId next_block = 0;
    for (int pass = 0; pass < 30; ++pass) {
      std::vector<std::vector<TokenId>> added;
      std::vector<Slice> batch;
      added.reserve(all.size());
      int room = hybrid.executable->max_batch(), rows = hybrid.executable->max_logit_rows();
      for (Conversation& one : all) {
        if (room == 0 || rows == 0 || std::ssize(batch) == hybrid.executable->max_slices()) break;
        if (below(4) == 0) continue;
        if (below(5) == 0) one.tokens.resize(one.tokens.size() / 2);  // an earlier turn is rewritten
        const int n = below(2) == 0 ? 1 : 1 + below(std::min(room, 7));
        const auto want = static_cast<WantLogits>(below(3));
        const int n_rows = want == WantLogits::kNone ? 0 : want == WantLogits::kLast ? 1 : n;
        if (n_rows > rows) continue;
        auto& tokens = added.emplace_back();
        for (int i = 0; i < n; ++i) tokens.push_back(below(1000));
        const auto first = static_cast<int>(one.tokens.size());
        while (std::ssize(one.blocks) * kBlockTokens < first + n) {
          one.blocks.push_back(next_block++);
          hybrid.allocate({&one.blocks.back(), 1});
        }
        if (below(6) == 0 && first % kBlockTokens != 0) {  // copies the block that is written to, as a fork does
          const auto at = static_cast<size_t>(first / kBlockTokens);
          const KvBlockId copy = next_block++;
          hybrid.allocate({&copy, 1});
          ASSERT_TRUE(hybrid.store->copy(one.blocks[at], copy));
          hybrid.store->free(std::exchange(one.blocks[at], copy));
        }
        batch.push_back({.tokens = tokens, .first_pos = first, .logits = want, .blocks = one.blocks, .n_ctx = 1000});
        room -= n;
        rows -= n_rows;
        one.tokens.insert(one.tokens.end(), tokens.begin(), tokens.end());
      }
      if (batch.empty()) continue;
      const auto found = hybrid.executable->run(*hybrid.store, batch);
      ASSERT_TRUE(found);
      std::vector<float> expected;
      for (const Slice& slice : batch) {
        const auto owner = std::ranges::find_if(
            all, [&](const Conversation& one) { return one.blocks.data() == slice.blocks.data(); });
        const int n_rows = slice.n_logit_rows();
        for (int i = 0; i < n_rows; ++i) {
          const auto n = owner->tokens.size() - static_cast<size_t>(n_rows - 1 - i);
          for (const float value :
               row_of(digest({owner->tokens.begin(), owner->tokens.begin() + static_cast<long>(n)})))
            expected.push_back(value);
        }
      }
      ASSERT_EQ(to_vector(*found), expected) << "seed " << seed << ", pass " << pass;
    }
  }
}

TEST(Hybrid, StreamsWhereTheChosenDeviceDoes) {
  size_t chosen = 1;
  Pair hybrid([&](size_t device, Batch, const Missing&) { return device == chosen ? 1 : 2; }, {}, {.decodes = true});
  EXPECT_TRUE(hybrid.executable->decodes());
  const std::vector<KvBlockId> blocks = {0, 1, 2};
  hybrid.allocate(blocks);
  const std::vector<TokenId> tokens = counting(3), one = {1};
  const Slice prompt{.tokens = tokens, .blocks = blocks, .n_ctx = 12};
  chosen = 0;
  ASSERT_TRUE(hybrid.executable->run(*hybrid.store, {&prompt, 1}));
  const Slice start{.tokens = one, .first_pos = 3, .blocks = blocks, .n_ctx = 12};
  const std::vector<DeviceSampling> greedy(1);
  EXPECT_EQ(hybrid.executable->decode(*hybrid.store, {&start, 1}, 4, greedy).value(), nullptr) << "the host's turn";
  chosen = 1;
  const auto stream = hybrid.executable->decode(*hybrid.store, {&start, 1}, 4, greedy).value();
  ASSERT_NE(stream, nullptr);
  ASSERT_TRUE(stream->next());
  ASSERT_TRUE(stream->next());
  EXPECT_EQ(hybrid.executable->device_shares()[1].single_tokens, 2u);
  EXPECT_EQ(hybrid.logs[1].n_streams, 1);
  EXPECT_EQ(hybrid.logs[1].n_writes, 1) << "the prompt's block has followed";
  // Two of the stream's tokens are taken; the next runs on the host, which needs their keys and values.
  chosen = 0;
  const Slice next{.tokens = one, .first_pos = 5, .blocks = blocks, .n_ctx = 12};
  const std::vector<TokenId> whole = {10, 11, 12, 1, 7, 1};
  EXPECT_EQ(to_vector(hybrid.executable->run(*hybrid.store, {&next, 1}).value()), row_of(digest(whole)));
}

TEST(Hybrid, TakesPromptsInPiecesOfTheDeviceThatReadsThem) {
  const auto on_first = [](size_t device, Batch, const Missing&) { return device == 0 ? 1.0 : 2.0; };
  const auto on_second = [](size_t device, Batch, const Missing&) { return device == 1 ? 1.0 : 2.0; };
  EXPECT_EQ(Pair(on_first, {.max_batch = 4}, {.max_batch = 16}).executable->max_batch(), 4);
  EXPECT_EQ(Pair(on_second, {.max_batch = 4}, {.max_batch = 16}).executable->max_batch(), 16);
}

TEST(Hybrid, ErrorsAreThoseOfTheDevices) {
  Pair hybrid(prompts_on_second);
  const std::vector<KvBlockId> blocks = {0, 1}, others = {2, 3};
  hybrid.allocate(blocks);
  hybrid.allocate(others);
  const std::vector<TokenId> tokens = counting(3), one = {1};
  hybrid.logs[1].fails = true;
  const std::vector<Slice> batch = {{.tokens = tokens, .blocks = blocks, .n_ctx = 8},
                                    {.tokens = one, .blocks = others, .n_ctx = 8}};
  EXPECT_EQ(hybrid.executable->run(*hybrid.store, batch).error().code, ErrorCode::kDeviceLost);
  EXPECT_EQ(hybrid.logs[1].passes.size(), 1u);
  EXPECT_TRUE(hybrid.executable->run(*hybrid.store, batch)) << "the other device takes over";
  EXPECT_EQ(hybrid.logs[1].passes.size(), 1u);
  hybrid.logs[1].fails = false;
  hybrid.logs[1].has_no_memory = true;
  EXPECT_EQ(hybrid.store->allocate(9).error().code, ErrorCode::kOutOfMemory);
  hybrid.logs[1].has_no_memory = false;
  EXPECT_TRUE(hybrid.store->allocate(9)) << "and nothing was left behind on the first device";
}

TEST(HybridKvStore, ReadsAndWritesBlocksWhereverTheyAre) {
  std::array<Log, 2> logs;
  HybridKvStore store({std::make_unique<TokenStore>(logs[0]), std::make_unique<TokenStore>(logs[1])});
  const std::vector<KvBlockId> blocks = {0};
  ASSERT_TRUE(store.allocate(0));
  EXPECT_EQ(store.n_missing(0, blocks, 4), 0) << "nothing is anywhere yet";
  std::vector<TokenId> values = {1, 2, 3, 4}, found(4);
  ASSERT_TRUE(store.write(0, std::as_bytes(std::span(values))));
  EXPECT_EQ(store.n_missing(1, blocks, 1), kBlockTokens);
  EXPECT_EQ(store.n_missing(1, blocks, 0), 0);
  ASSERT_TRUE(store.bring(1, blocks, 4));
  store.written(1, blocks, 2, 4);
  EXPECT_EQ(store.n_missing(0, blocks, 4), kBlockTokens);
  static_cast<TokenStore&>(store.on(1)).at(blocks, 2) = 9;
  ASSERT_TRUE(store.read(0, std::as_writable_bytes(std::span(found))));
  EXPECT_EQ(found, (std::vector<TokenId>{1, 2, 9, 4}));
}

}  // namespace
}  // namespace tern::hybrid
