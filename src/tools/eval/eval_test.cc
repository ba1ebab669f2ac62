#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tools/eval/eval_windows.h"
#include "tools/random_values.h"
#include "tools/tools_test_support.h"

namespace tern {
namespace {

constexpr std::string_view kStory =
    "Once upon a time, there was a little girl named Lily. She loved to play outside in the park with her dog. One "
    "day, "
    "she saw a big red ball in the grass. She ran to the ball and kicked it. The dog ran after the ball and brought it "
    "back to her. Lily was very happy. She said, \"Thank you, my good dog!\"";

const Engine& default_engine() {
  static const Engine engine = Engine::load({.model_path = kDefaultModel, .n_threads = 1}).value();
  return engine;
}

double nats_of(std::span<const float> logits, TokenId token) {
  long double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<long double>(logit));
  return static_cast<double>(std::log(sum) - static_cast<long double>(logits[static_cast<size_t>(token)]));
}

TEST(EvalWindows, CountEveryTokenOnceWithHalfAWindowBefore) {
  for (const size_t width : {2u, 3u, 7u, 16u}) {
    for (size_t n = 0; n < 70; ++n) {
      for (const bool has_bos : {false, true}) {
        size_t next = has_bos ? 0 : 1;
        for (const EvalWindow& window : eval_windows(n, width, has_bos)) {
          EXPECT_EQ(window.counted_from, next);
          EXPECT_LT(window.counted_from, window.end);
          EXPECT_LE(window.end - window.begin, width);
          EXPECT_LE(window.end, n);
          if (window.begin > 0) {
            EXPECT_GE(window.counted_from - window.begin, width / 2);
          }
          next = window.end;
        }
        EXPECT_EQ(next, std::max<size_t>(n, has_bos ? 0 : 1)) << width << " " << n;
      }
    }
  }
}

TEST(EvalWindows, AnExample) {
  EXPECT_EQ(eval_windows(10, 4, true), (std::vector<EvalWindow>{{0, 4, 0}, {2, 6, 4}, {4, 8, 6}, {6, 10, 8}}));
}

// Checks the definition, one token at a time, on a text of less than a window.
TEST(Eval, IsTheMeanSurprise) {
  const Engine& engine = default_engine();
  std::vector<TokenId> tokens = engine.tokenizer().encode(kStory);
  auto session = engine.new_session().value();
  double nats = 0;
  ASSERT_TRUE(session.logits(tokens, [&](size_t i, std::span<const float> row) -> Result<void> {
    if (i + 1 < tokens.size()) nats += nats_of(row, tokens[i + 1]);
    return {};
  }));
  const auto result = eval(engine, kStory);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->n_tokens, tokens.size() - 1);  // all but BOS
  EXPECT_NEAR(result->nats_per_token, nats / static_cast<double>(tokens.size() - 1), 1e-9);
  EXPECT_NEAR(result->perplexity, std::exp(result->nats_per_token), 1e-9);
}

// The same for windows: every token is predicted from the start of its own window.
TEST(Eval, WindowsOverlapByHalf) {
  const Engine& engine = default_engine();
  const TokenId bos = *engine.tokenizer().bos();
  const std::vector<TokenId> tokens = engine.tokenizer().encode(kStory.substr(0, 150), {.add_bos = false});
  constexpr size_t kText = 15;  // one of the 16 tokens is BOS
  constexpr size_t kStride = 7;
  auto session = engine.new_session({.n_ctx = 16}).value();
  double nats = 0;
  for (size_t t = 0; t < tokens.size(); ++t) {
    size_t begin = 0;
    while (begin + kText <= t) begin += kStride;  // the first window that contains the token
    std::vector<TokenId> window = {bos};
    window.insert(window.end(), tokens.begin() + static_cast<ptrdiff_t>(begin),
                  tokens.begin() + static_cast<ptrdiff_t>(t));
    ASSERT_TRUE(session.logits(window, [&](size_t i, std::span<const float> row) -> Result<void> {
      if (i + 1 == window.size()) nats += nats_of(row, tokens[t]);
      return {};
    }));
  }
  uint64_t done = 0;
  const auto result =
      eval(engine, kStory.substr(0, 150), {.n_ctx = 16, .on_progress = [&](const Progress& p) { done = p.done; }});
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->n_tokens, tokens.size());
  EXPECT_EQ(done, tokens.size());
  EXPECT_NEAR(result->nats_per_token, nats / static_cast<double>(tokens.size()), 1e-4);
}

TEST(Eval, AStoryIsLikelierThanItsWordsInAnyOrder) {
  std::vector<std::string> words;
  for (size_t at = 0; at < kStory.size();) {
    const size_t end = std::min(kStory.find(' ', at), kStory.size());
    words.emplace_back(kStory.substr(at, end - at));
    at = end + 1;
  }
  const CounterRandom random(1);
  for (size_t i = words.size(); i > 1; --i) std::swap(words[i - 1], words[random(i) % i]);
  std::string shuffled;
  for (const std::string& word : words) shuffled += word + " ";
  const auto story = eval(default_engine(), kStory);
  const auto noise = eval(default_engine(), shuffled);
  ASSERT_TRUE(story && noise);
  EXPECT_LT(story->perplexity, 60);
  EXPECT_GT(noise->perplexity, 5 * story->perplexity);
}

TEST(Eval, Refusals) {
  const Engine& engine = default_engine();
  EXPECT_EQ(eval(engine, "").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(eval(engine, kStory, {.n_ctx = 3}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(eval(engine, kStory, {.n_ctx = -1}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(eval(engine, kStory, {.n_ctx = 100000}).error().code, ErrorCode::kInvalidArgument);
  const SynthModel file;
  const auto without_text = Engine::load({.model_path = file.str(), .n_threads = 1}).value();
  EXPECT_EQ(eval(without_text, kStory).error().code, ErrorCode::kNotSupported);
}

}  // namespace
}  // namespace tern
