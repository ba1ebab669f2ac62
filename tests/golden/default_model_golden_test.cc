// The default model's greedy text against Hugging Face transformers.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tern/engine.h"

namespace tern {
namespace {

struct Story {
  std::string prompt;
  std::vector<TokenId> prompt_ids;
  std::vector<TokenId> ids;     // greedy, after the prompt
  std::vector<double> margins;  // top-1 minus top-2 of the golden logits at each step
  size_t first_near_tie = 0;
};

std::vector<Story> read_stories() {
  std::ifstream file(std::string(TERN_SOURCE_DIR) + "/tests/golden/bitnet/tern_stories_greedy.json");
  const nlohmann::json manifest = nlohmann::json::parse(file);
  std::vector<Story> stories;
  for (const auto& entry : manifest["prompts"]) {
    const auto& tie = entry["first_near_tie"];
    stories.push_back({.prompt = entry["prompt"],
                       .prompt_ids = entry["prompt_ids"].get<std::vector<TokenId>>(),
                       .ids = entry["ids"].get<std::vector<TokenId>>(),
                       .margins = entry["margins"].get<std::vector<double>>(),
                       .first_near_tie = tie.is_null() ? entry["ids"].size() : tie.get<size_t>()});
  }
  return stories;
}

Engine load_default(int n_threads = 0) {
  return Engine::load({.model_path = std::string(TERN_SOURCE_DIR) + "/models/tern-stories.gguf",
                       .backend = BackendKind::kCpu,
                       .n_threads = n_threads})
      .value();
}

std::vector<TokenId> generate(const Engine& engine, std::span<const TokenId> prompt, int n, KvType kv_type) {
  auto session = engine.new_session({.kv_type = kv_type}).value();
  const GenerateOptions greedy{.max_tokens = n, .sample = {.temperature = 0}, .stop = {}, .ignore_eos = true};
  return session.generate(prompt, greedy).value().tokens;
}

TEST(DefaultModelGolden, PromptsAreTokenizedAsByHuggingFace) {
  const Engine engine = load_default();
  for (const Story& story : read_stories()) EXPECT_EQ(engine.tokenizer().encode(story.prompt), story.prompt_ids);
}

// Two correct float32 computations of this model part ways only at a near tie of two tokens (README.md there), so the
// text is the same up to the first of those.
TEST(DefaultModelGolden, GreedyTextIsTheSameUpToTheFirstNearTie) {
  const Engine engine = load_default();
  const auto stories = read_stories();
  ASSERT_GE(stories.size(), 2u);
  for (const Story& story : stories) {
    ASSERT_EQ(story.ids.size(), 200u);
    const auto ids = generate(engine, story.prompt_ids, 200, KvType::kF32);
    ASSERT_EQ(ids.size(), 200u);
    const auto same = static_cast<size_t>(std::ranges::mismatch(ids, story.ids).in1 - ids.begin());
    EXPECT_GE(same, story.first_near_tie) << story.prompt << ": parts at step " << same;
  }
}

// Given the golden text so far, the next token is the golden one wherever the lead is not a near tie.
TEST(DefaultModelGolden, EveryClearChoiceOfTwoHundredIsTheSame) {
  const Engine engine = load_default();
  for (const Story& story : read_stories()) {
    for (const KvType kv_type : {KvType::kF32, KvType::kF16}) {
      std::vector<TokenId> tokens = story.prompt_ids;
      tokens.insert(tokens.end(), story.ids.begin(), story.ids.end());
      auto session = engine.new_session({.kv_type = kv_type}).value();
      int compared = 0;
      const auto done = session.logits(tokens, [&](size_t i, std::span<const float> logits) {
        if (i + 1 < story.prompt_ids.size() || i + 1 == tokens.size()) return Result<void>();
        const size_t step = i + 1 - story.prompt_ids.size();
        if (story.margins[step] < 0.25) return Result<void>();
        ++compared;
        EXPECT_EQ(std::ranges::max_element(logits) - logits.begin(), story.ids[step])
            << story.prompt << ", step " << step;
        return Result<void>();
      });
      ASSERT_TRUE(done) << done.error().message;
      EXPECT_GT(compared, 120) << story.prompt;
    }
  }
}

TEST(DefaultModelGolden, TextDoesNotDependOnTheThreadCount) {
  const Story story = read_stories().front();
  const auto expected = generate(load_default(1), story.prompt_ids, 100, KvType::kF16);
  for (const int n_threads : {2, 3, 7})
    EXPECT_EQ(generate(load_default(n_threads), story.prompt_ids, 100, KvType::kF16), expected);
}

}  // namespace
}  // namespace tern
