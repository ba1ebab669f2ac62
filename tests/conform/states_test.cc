// States of recurrent layers in the engine: prefixes are reused only where there is a snapshot, and a sequence that
// forgets, is saved or is copied goes on as if it had been run from the start.
#include <gtest/gtest.h>

#include <numeric>

#include "backend/cpu/cpu_backend.h"
#include "backend/state_layout.h"
#include "conform/delta_model.h"
#include "engine/kv/sequence.h"
#include "engine/kv/session_cache.h"

namespace tern {
namespace {

using Logits = std::vector<float>;

class States : public testing::Test {
 protected:
  void SetUp() override {
    executable = cpu::compile(plan, {.max_batch = 96, .max_logit_rows = 32}, pool).value();
    blocks = new_blocks({});
  }
  std::shared_ptr<KvBlocks> new_blocks(const KvBlocks::Options& options) const {
    return std::make_shared<KvBlocks>(executable->new_kv_store(64, KvType::kF16).value(), options);
  }
  std::unique_ptr<Sequence> new_sequence() { return std::make_unique<Sequence>(*executable, blocks, 512); }

  static std::vector<TokenId> text(int n, int seed = 1) {
    std::vector<TokenId> tokens;
    for (int i = 0; i < n; ++i) tokens.push_back((i * 7919 + seed * 131 + 17) % 512);
    return tokens;
  }
  // Runs the rest of a prompt as replies do. Returns the last logits.
  static Logits read(Sequence& sequence, std::span<const TokenId> prompt, size_t most = 96) {
    Logits last;
    while (sequence.n_used() < std::ssize(prompt)) {
      const auto rest = prompt.subspan(static_cast<size_t>(sequence.n_used()));
      const auto part = rest.first(std::min(sequence.n_to_snapshot(rest.size()), most));
      const auto logits = sequence.append(part, WantLogits::kLast);
      EXPECT_TRUE(logits) << logits.error().message;
      if (!logits) return {};
      last.assign(logits->begin(), logits->end());
    }
    return last;
  }
  // The same in a sequence that shares nothing.
  Logits fresh(std::span<const TokenId> prompt) {
    Sequence sequence(*executable, new_blocks({}), 512, Sequence::kNotShared);
    return read(sequence, prompt);
  }

  // Runs a pass that checks these tokens. The first n_kept of them stay.
  static void check(Sequence& sequence, std::span<const TokenId> tokens, size_t n_kept) {
    const auto slice = sequence.extend(tokens, WantLogits::kAll, 0, /*is_check=*/true);
    ASSERT_TRUE(slice && slice->is_check);
    ASSERT_TRUE(sequence.run({&*slice, 1}));
    for (size_t i = 0; i < n_kept; ++i) sequence.add(tokens.subspan(i, 1));
  }

  conform::DeltaModel model;
  Plan plan = make_plan(model.config, model.weights, {.fuse = Fusions::host()});
  ThreadPool pool{2};
  std::unique_ptr<Executable> executable;
  std::shared_ptr<KvBlocks> blocks;
};

TEST_F(States, APrefixIsReusedUpToASnapshot) {
  const auto prompt = text(200);
  const auto first = new_sequence();
  const Logits expected = read(*first, prompt);
  EXPECT_EQ(blocks->stats().n_snapshots, 1);
  const auto second = new_sequence();
  EXPECT_EQ(blocks->stats().snapshot_hits, 0u);
  EXPECT_EQ(second->keep_common(prompt), 192u);  // of 199 tokens, three whole blocks
  EXPECT_EQ(blocks->stats().snapshot_hits, 1u);
  EXPECT_EQ(read(*second, prompt), expected);
  EXPECT_EQ(expected, fresh(prompt));
  // Keys and values of 128 tokens are cached, but there is no state for so many.
  auto other = text(200);
  std::fill(other.begin() + 150, other.end(), 3);
  const auto third = new_sequence();
  EXPECT_EQ(third->keep_common(other), 0u);
  EXPECT_EQ(read(*third, other), fresh(other));
}

TEST_F(States, ThoseOfSixtyFourSequencesCountAsMemory) {
  const uint64_t state = StateLayout(model.config).bytes(), block = blocks->store().block_bytes();
  blocks = new_blocks({.max_bytes = 64 * (state + block)});
  std::vector<std::unique_ptr<Sequence>> sequences;
  for (int i = 0; i < 64; ++i) {
    sequences.push_back(new_sequence());
    ASSERT_TRUE(sequences.back()->begin()) << i;
  }
  EXPECT_EQ(blocks->stats().n_states, 64);
  EXPECT_EQ(blocks->state_bytes(), 64 * state);
  const auto more = new_sequence();
  const auto refused = more->begin();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kOutOfMemory);
  EXPECT_TRUE(refused.error().message.contains("the states of 64 conversations")) << refused.error().message;
  sequences.pop_back();
  EXPECT_TRUE(more->begin());
}

// What is kept for later gives way: snapshots, and blocks.
TEST_F(States, SnapshotsAndKeptBlocksMakeRoomForStates) {
  const uint64_t state = StateLayout(model.config).bytes(), block = blocks->store().block_bytes();
  ASSERT_GT(state, block);
  for (const uint64_t n_blocks : {5u, 4u}) {
    blocks = new_blocks({.max_bytes = 2 * state + n_blocks * block});
    read(*new_sequence(), text(200));
    const auto one = new_sequence(), two = new_sequence(), three = new_sequence();
    ASSERT_TRUE(one->begin());
    EXPECT_EQ(blocks->stats().n_snapshots, 1);
    EXPECT_EQ(blocks->stats().n_kept, 3);
    ASSERT_TRUE(two->begin());
    EXPECT_EQ(blocks->stats().n_snapshots, 0);
    EXPECT_EQ(blocks->stats().n_kept, static_cast<int>(n_blocks) - 2);
    EXPECT_EQ(blocks->state_bytes(), 2 * state);
    EXPECT_FALSE(three->begin());
    EXPECT_EQ(blocks->stats().n_kept, 0);
  }
}

TEST_F(States, ASequenceGoesOnFromItsOwnState) {
  const auto prompt = text(150);
  const auto sequence = new_sequence();
  read(*sequence, std::span(prompt).first(100));
  EXPECT_EQ(sequence->keep_common(prompt), 100u);
  EXPECT_EQ(read(*sequence, prompt), fresh(prompt));
}

TEST_F(States, WhatAStateHasTakenInIsNotForgotten) {
  const auto prompt = text(150);
  const auto sequence = new_sequence();
  read(*sequence, prompt);
  auto shorter = text(140);
  EXPECT_EQ(sequence->keep_common(shorter), 128u);  // the snapshot before the prompt's last token
  EXPECT_EQ(read(*sequence, shorter), fresh(shorter));
  auto other = text(100, 2);
  EXPECT_EQ(sequence->keep_common(other), 0u);
  EXPECT_EQ(read(*sequence, other), fresh(other));
}

TEST_F(States, GuessesThatWereWrongLeaveNoTrace) {
  const auto prompt = text(70);
  const auto sequence = new_sequence();
  read(*sequence, prompt);
  std::vector<TokenId> known = prompt;
  for (const size_t n_right : {0u, 2u, 3u, 1u}) {
    const std::vector<TokenId> guesses = {7, 11, 13, 17};
    check(*sequence, guesses, n_right + 1);
    known.insert(known.end(), guesses.begin(), guesses.begin() + static_cast<ptrdiff_t>(n_right + 1));
    EXPECT_EQ(sequence->n_used(), std::ssize(known));
  }
  known.push_back(5);
  EXPECT_EQ(read(*sequence, known), fresh(known));
}

// Pending tokens that were confirmed can still be dropped.
TEST_F(States, ConfirmedTokensAreDroppedAgain) {
  const auto prompt = text(70);
  const auto sequence = new_sequence();
  read(*sequence, prompt);
  const std::vector<TokenId> guesses = {7, 11, 13, 17};
  check(*sequence, guesses, guesses.size());
  sequence->truncate(72);
  auto known = prompt;
  known.insert(known.end(), {7, 11, 5});
  EXPECT_EQ(sequence->keep_common(known), 72u);
  EXPECT_EQ(read(*sequence, known), fresh(known));
}

TEST_F(States, AFailedRunIsNotContinued) {
  const auto prompt = text(100);
  const auto sequence = new_sequence();
  read(*sequence, std::span(prompt).first(70));
  const TokenId next[] = {prompt[70]};
  ASSERT_TRUE(sequence->extend(next, WantLogits::kLast));  // and nothing is run
  EXPECT_EQ(sequence->keep_common(prompt), 64u);
  EXPECT_EQ(read(*sequence, prompt), fresh(prompt));
}

TEST_F(States, AreSavedWithTheirTokens) {
  const std::string path = testing::TempDir() + "states_test.cache";
  const auto prompt = text(100);
  const auto sequence = new_sequence();
  read(*sequence, prompt);
  // The tokens of a check are not in the state yet.
  const std::vector<TokenId> guesses = {7, 11};
  check(*sequence, guesses, guesses.size());
  const std::string key(32, 'k');
  ASSERT_TRUE(save_sequence(*sequence, key, path));
  Sequence loaded(*executable, new_blocks({}), 512);
  const auto found = load_sequence(loaded, key, 512, path);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(loaded.n_used(), 100);
  auto longer = prompt;
  longer.insert(longer.end(), {7, 11, 5});
  EXPECT_EQ(loaded.keep_common(longer), 100u);
  EXPECT_EQ(read(loaded, longer), fresh(longer));
}

TEST_F(States, AreBoundedByBytes) {
  const uint64_t each = executable->new_kv_store(64, KvType::kF16).value()->state_bytes();
  ASSERT_GT(each, 0u);
  blocks = new_blocks({.max_snapshot_bytes = 3 * each + each / 2});
  std::vector<std::unique_ptr<Sequence>> sequences;
  for (int i = 0; i < 5; ++i) {
    sequences.push_back(new_sequence());
    read(*sequences.back(), text(70, i));
    EXPECT_EQ(blocks->stats().n_snapshots, std::min(i + 1, 3));
    EXPECT_EQ(blocks->stats().n_states, i + 1);
  }
  // The least recently used ones are gone.
  EXPECT_EQ(new_sequence()->keep_common(text(70, 1)), 0u);
  EXPECT_EQ(new_sequence()->keep_common(text(70, 2)), 64u);
  sequences.clear();
  EXPECT_EQ(blocks->stats().n_states, 0);
  EXPECT_EQ(blocks->stats().n_used, 0);
  // A snapshot goes with its block.
  blocks->keep_at_most(0);
  EXPECT_EQ(blocks->stats().n_snapshots, 0);
}

// A reply keeps one snapshot at the last border that it has passed, not one for each.
TEST_F(States, ARepliesSnapshotRolls) {
  const auto prompt = text(70);
  const auto sequence = new_sequence();
  read(*sequence, prompt);
  for (int i = 70; i < 260; ++i) {
    const TokenId token[] = {i % 512};
    ASSERT_TRUE(sequence->append(token, WantLogits::kLast));
  }
  EXPECT_EQ(blocks->stats().n_snapshots, 2);  // the prompt's at 64, the reply's at 256
  auto known = prompt;
  for (int i = 70; i < 259; ++i) known.push_back(i % 512);
  EXPECT_EQ(new_sequence()->keep_common(known), 256u);
}

}  // namespace
}  // namespace tern
