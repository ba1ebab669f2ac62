// Speculative decoding: the source of drafts, when they are made, and that they change only the speed.
#include "engine/reply/speculation.h"

#include <gtest/gtest.h>

#include "engine/session_core_test_support.h"

namespace tern {
namespace {

using namespace engine_test;

std::string text_of(const Draft& draft) { return {draft.tokens.begin(), draft.tokens.end()}; }

std::string drafted(std::string_view text, size_t most = 8) {
  LookupDrafter drafter;
  return text_of(drafter.draft(ids(text), most));
}

TEST(LookupDrafter, GoesOnAsTheTextDidBefore) {
  EXPECT_EQ(drafted("the cat sat. the ca"), "t sat. t");
  EXPECT_EQ(drafted("the cat sat. the ca", 3), "t s");
  EXPECT_EQ(drafted("abXabYab"), "YabYabYa");  // the latest of equally long matches, then repeating
  EXPECT_EQ(drafted("ababab"), "abababab");
  EXPECT_EQ(drafted("cabX abY cab"), "X abY ca");  // a longer match is better
  EXPECT_EQ(drafted("abcabd"), "");
  EXPECT_EQ(drafted("xax"), "");  // one token is not enough
  EXPECT_EQ(drafted(""), "");
  EXPECT_EQ(drafted("ababab", 0), "");
}

// The drafts after each token, from the first one on.
struct Step {
  std::string guess;
  size_t evidence;
  bool operator==(const Step&) const = default;
};

std::vector<Step> steps(std::string_view text, size_t first) {
  LookupDrafter drafter;
  std::vector<Step> found;
  const auto known = ids(text);
  for (size_t n = 1; n <= known.size(); ++n) {
    const Draft draft = drafter.draft(std::span(known).first(n), 1);
    if (n >= first) found.push_back({text_of(draft), draft.evidence});
  }
  return found;
}

TEST(LookupDrafter, KnowsHowLongTheTextAgrees) {
  EXPECT_EQ(steps("abcdef.abcde", 8), (std::vector<Step>{{"", 0}, {"c", 2}, {"d", 3}, {"e", 4}, {"f", 5}}));
}

TEST(LookupDrafter, FollowsACopyPastAChange) {
  // "d" has become "D"; after "abc", too few tokens match to continue.
  EXPECT_EQ(steps("zabcdefgh.zabcDefg", 14), (std::vector<Step>{{"d", 4}, {"e", 0}, {"f", 4}, {"g", 5}, {"h", 6}}));
  EXPECT_EQ(steps("abcdefgh.abcDe", 12), (std::vector<Step>{{"d", 3}, {"", 0}, {"", 0}}));
  EXPECT_EQ(steps("zabcdefgh.zabcDEf", 15), (std::vector<Step>{{"e", 0}, {"", 0}, {"", 0}}));  // two changes
}

TEST(LookupDrafter, PrefersALongMatchToACopyPastAChange) {
  EXPECT_EQ(steps("abcXyz.babcdefgh.babcX", 22), (std::vector<Step>{{"y", 4}}));
}

TEST(LookupDrafter, ForgetsAnotherText) {
  LookupDrafter drafter;
  EXPECT_EQ(text_of(drafter.draft(ids("abcdefab"), 2)), "cd");
  drafter.forget();
  EXPECT_EQ(text_of(drafter.draft(ids("xyabzwab"), 2)), "zw");
}

TEST(PassTimes, LearnWhatARowCosts) {
  PassTimes times;
  EXPECT_FALSE(times.is_known());
  EXPECT_DOUBLE_EQ(times.relative(1), 1);
  const auto seconds = [](double rows) { return 0.02 * (1 + 0.6 * (rows - 1)); };
  for (const size_t rows : {1, 1, 1, 4, 1, 8, 2, 1, 5, 3, 9, 1, 4, 1, 8, 1})
    times.add(rows, seconds(static_cast<double>(rows)));
  EXPECT_NEAR(times.relative(8), 1 + 0.6 * 7, 0.4);  // the initial assumption has a tenth of the weight
  EXPECT_NEAR(times.one(), 0.02, 0.002);
  for (int i = 0; i < 40; ++i) times.add(8, 2 * seconds(8));  // the machine became slower, not the rows
  EXPECT_NEAR(times.relative(8), 1 + 0.6 * 7, 0.4);
  EXPECT_NEAR(times.one(), 0.04, 0.004);
}

TEST(PassTimes, ForgetAMomentOfOtherWork) {
  PassTimes times;
  times.add(1, 0.02);
  times.add(4, 0.2);
  EXPECT_GT(times.relative(2), 1.5);
  for (int i = 0; i < 20000; ++i) times.add(1, 0.02);
  EXPECT_LT(times.relative(2), 1.25);
}

// The number of checked draft tokens for a draft of `most` tokens with this evidence, within the room of `plan`.
size_t n_checked(const SpeculationPace& pace, size_t evidence, size_t most = 15, PassPlan plan = {}) {
  static const std::vector<TokenId> tokens(32);
  plan.most_drafts = most;
  plan.most_tokens = most + 1;
  return pace.n_worth({.tokens = tokens, .evidence = evidence}, plan);
}

TEST(SpeculationPace, ChecksAsManyAsPay) {
  const LookupDrafter drafter;
  const auto cheap = PassTimes::fixed(0.05), usual = PassTimes::fixed(0.2), dear = PassTimes::fixed(0.7);
  const SpeculationPace on_cheap(15, drafter, *cheap), on_usual(15, drafter, *usual), on_dear(15, drafter, *dear);
  EXPECT_GT(n_checked(on_cheap, 15), 11u);
  EXPECT_LT(n_checked(on_usual, 15), 11u);
  EXPECT_GT(n_checked(on_usual, 15), 4u);
  EXPECT_LT(n_checked(on_usual, 4), n_checked(on_usual, 8));  // less evidence
  EXPECT_EQ(n_checked(on_usual, 15, 3), 3u);                  // limited by the available room
  EXPECT_EQ(n_checked(on_dear, 3), 0u);
  EXPECT_GT(n_checked(on_dear, 15), 0u);
  EXPECT_EQ(n_checked(SpeculationPace(2, drafter, *cheap), 15), 2u);
  // Another row is a smaller part of a pass with many rows, but costs as much as each of them and yields less.
  EXPECT_LT(n_checked(on_usual, 15, 15, {.rows = 16, .tokens = 16}), n_checked(on_usual, 15));
}

TEST(SpeculationPace, PlansWhatItExpects) {
  const LookupDrafter drafter;
  const auto times = PassTimes::fixed(0.2);
  const SpeculationPace pace(4, drafter, *times);
  const std::vector<TokenId> tokens(8);
  PassPlan plan{.rows = 3, .tokens = 3, .most_tokens = 20, .most_drafts = 10};
  EXPECT_EQ(pace.n_worth({.tokens = tokens, .evidence = 15}, plan), 4u);
  EXPECT_EQ(plan.rows, 7u);
  EXPECT_NEAR(plan.tokens, 3 + 0.9 + 0.81 + 0.729 + 0.6561, 1e-9);
  EXPECT_EQ(plan.most_tokens, 16u);
  EXPECT_EQ(plan.most_drafts, 6u);
}

// Free drafts are compared with the text whether they are checked or not.
TEST(SpeculationPace, LearnsHowOftenGuessesAreRight) {
  const LookupDrafter drafter;
  const auto times = PassTimes::fixed(0.2);
  SpeculationPace pace(15, drafter, *times);
  const std::vector<TokenId> guess = {1, 2}, wrong = {7}, right = {1, 7};
  ASSERT_GT(n_checked(pace, 6), 0u);
  int n = 0;
  for (; n < 100 && n_checked(pace, 6) > 0; ++n) pace.add({.tokens = guess, .evidence = 6}, wrong);
  EXPECT_LT(n, 12);
  EXPECT_GT(n_checked(pace, 15), 0u);  // another kind
  for (n = 0; n < 100 && n_checked(pace, 6) == 0; ++n) pace.add({.tokens = guess, .evidence = 6}, right);
  EXPECT_LT(n, 20);
  EXPECT_EQ(n_checked(pace, 6), 1u);  // the second draft token was wrong each time
}

TEST(SpeculationPace, AsksAModelThatIsWrongOnlyNowAndThen) {
  const ModelDrafter drafter(nullptr);
  const auto times = PassTimes::fixed(0.2);
  SpeculationPace pace(8, drafter, *times);
  const PassPlan plan{.most_tokens = 9, .most_drafts = 8};
  const std::vector<TokenId> guesses(8), wrong = {7}, right(8);
  EXPECT_GT(pace.n_wanted(plan), 2u);
  times->add_draft(0.05);
  size_t n_guesses = 0;
  for (int i = 0; i < 4000; ++i) {
    const size_t n = pace.n_wanted(plan);
    n_guesses += n;
    if (n > 0) pace.add({.tokens = std::span(guesses).first(n)}, wrong);
  }
  EXPECT_LT(n_guesses, 60u);  // 60 · 0.25 of 4000 passes: less than half a percent
  int n_passes = 0;
  for (; n_passes < 2000 && pace.n_wanted(plan) < 3; ++n_passes)
    pace.add({.tokens = std::span(guesses).first(2)}, right);
  EXPECT_LT(n_passes, 1200);  // drafts are right again: noticed after a pause or two
}

TEST(SpeculationPace, BeginsWithWhatOtherRepliesHaveFoundOut) {
  const ModelDrafter drafter(nullptr);
  const auto times = PassTimes::fixed(0.2);
  const PassPlan plan{.most_tokens = 9, .most_drafts = 8};
  const std::vector<TokenId> guesses(8), wrong = {7}, right(9);
  const auto n_asked = [&](std::span<const TokenId> chosen, int n_passes) {
    SpeculationPace pace(8, drafter, *times);
    size_t n_all = 0;
    for (int i = 0; i < n_passes; ++i) {
      const size_t n = pace.n_wanted(plan);
      n_all += n;
      if (n > 0) pace.add({.tokens = std::span(guesses).first(n)}, chosen);
    }
    return n_all;
  };
  times->add_draft(0.05);
  EXPECT_GT(n_asked(wrong, 7), 4u);
  EXPECT_EQ(n_asked(wrong, 7), 0u);
  EXPECT_EQ(n_asked(right, 9), 2u);  // a probe
  for (int i = 0; i < 20; ++i) n_asked(right, 60);
  EXPECT_GT(n_asked(right, 1), 2u);
}

struct Both {
  GenerateResult plain, guessed;
  size_t n_plain_calls, n_calls;
};

Both generate_both(std::string_view reply, std::string_view prompt, GenerateOptions options = {}, int n_ctx = 64) {
  const fake::Script script{.n_vocab = 0, .next = {}, .max_batch = 16, .max_logit_rows = 16};
  Fixture a(reply, n_ctx, script), b(reply, n_ctx, script);
  Both both;
  both.plain = a.generate(prompt, options).value();
  options.speculate = 6;
  both.guessed = b.generate(prompt, options).value();
  both.n_plain_calls = a.log.calls.size();
  both.n_calls = b.log.calls.size();
  EXPECT_EQ(b.shown, a.shown);
  EXPECT_EQ(b.core->n_used(), a.core->n_used());
  return both;
}

void expect_same(const Both& both) {
  EXPECT_EQ(both.guessed.text, both.plain.text);
  EXPECT_EQ(both.guessed.tokens, both.plain.tokens);
  EXPECT_EQ(both.guessed.reason, both.plain.reason);
  EXPECT_EQ(both.guessed.stats.n_generated, both.plain.stats.n_generated);
}

// The fake model's reply depends only on the position, so drafts are right where the text repeats.
TEST(Speculation, ARepeatingReplyTakesFewerPasses) {
  const Both both = generate_both("abcdabcdabcdabcdabcdabcdabcdabcd", "xy");
  expect_same(both);
  EXPECT_LT(both.n_calls, both.n_plain_calls);
}

// After "pq" comes "r": at first too little evidence to check it while rows are expensive, until it was right some
// times.
TEST(Speculation, LearnsFromGuessesThatAreNotChecked) {
  const fake::Script script{.n_vocab = 0, .next = {}, .max_batch = 16, .max_logit_rows = 16};
  std::string reply;
  for (char c = 'A'; c <= 'L'; ++c) reply += std::string(1, c) + "pqr";
  Fixture f(reply, 64, script, 0.4);
  const auto result = f.generate("xy", {.speculate = 6}).value();
  EXPECT_EQ(f.shown, reply);
  EXPECT_GT(result.stats.n_guessed_right, 3);
  EXPECT_LT(result.stats.n_guessed, 14);
}

TEST(Speculation, IsCounted) {
  const Both both = generate_both("abcdabcdabcdabcdabcdabcdabcdabcd", "xy");
  EXPECT_EQ(both.plain.stats.n_guessed, 0);
  EXPECT_GT(both.guessed.stats.n_guessed, 10);
  // Each accepted draft token saves one pass.
  EXPECT_EQ(both.n_plain_calls - both.n_calls, static_cast<size_t>(both.guessed.stats.n_guessed_right));
}

TEST(Speculation, WrongGuessesChangeNothing) {
  expect_same(generate_both("abcabdabeabfabgabhabiabjabk", "ab"));
  expect_same(generate_both("qwertyuiopasdfghjkl", "xy"));
}

TEST(Speculation, EndsWhereTheReplyEnds) {
  const std::string reply = "abcdabcdabcdabcdabcdabcdabcdabcd";
  for (int n = 1; n < 30; ++n) expect_same(generate_both(reply, "xy", {.max_tokens = n, .sample = {}, .stop = {}}));
  for (int n_ctx = 3; n_ctx < 30; ++n_ctx) expect_same(generate_both(reply, "xy", {}, n_ctx));
  for (size_t n = 8; n < 16; ++n) {  // right drafts go past the stop string
    expect_same(generate_both(reply, "xy", {.sample = {}, .stop = {reply.substr(0, n)}}));
    expect_same(generate_both("z" + reply, "xy", {.sample = {}, .stop = {reply.substr(3, n)}}));
  }
  expect_same(generate_both("abcdabcdabcdabcdabzz", "xy", {.sample = {}, .stop = {"bz"}}));
  expect_same(generate_both("abcdabcdabcdabcdabcd", "xy"));  // then the stop token
}

TEST(Speculation, IsLeftAloneWithLogProbabilities) {
  const Both both = generate_both("abababababababababab", "xy", {.sample = {}, .n_logprobs = 1, .stop = {}});
  expect_same(both);
  EXPECT_EQ(both.n_calls, both.n_plain_calls);
}

}  // namespace
}  // namespace tern
