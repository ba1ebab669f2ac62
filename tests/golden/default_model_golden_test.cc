// The default model's greedy text compared with Hugging Face transformers.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/checkout.h"
#include "tern/engine.h"

namespace tern {
namespace {

struct Story {
  std::string prompt;
  std::vector<ChatMessage> messages = {};  // the prompt is rendered from these; empty: plain text to continue
  std::vector<TokenId> prompt_ids;
  std::vector<TokenId> ids;     // greedy, after the prompt
  std::vector<double> margins;  // top-1 minus top-2 of the golden logits at each step
  size_t first_near_tie = 0;
};

Story read_story(const nlohmann::json& entry) {
  Story story = {.prompt = entry.value("prompt", ""),
                 .prompt_ids = entry["prompt_ids"].get<std::vector<TokenId>>(),
                 .ids = entry["ids"].get<std::vector<TokenId>>(),
                 .margins = entry.value("margins", std::vector<double>()),
                 .first_near_tie = entry.value("first_near_tie", entry["ids"].size())};
  for (const auto& message : entry.value("messages", nlohmann::json::array()))
    story.messages.push_back({.role = message["role"], .content = message["content"]});
  return story;
}

nlohmann::json read_goldens() {
  std::ifstream file(source_path("tests/golden/bitnet/tern_stories_greedy.json"));
  return nlohmann::json::parse(file);
}

// "prompts": texts to continue; "chat": the replies of a conversation.
std::vector<Story> read_stories(const std::string& kind = "prompts") {
  std::vector<Story> stories;
  for (const auto& entry : read_goldens()[kind]) stories.push_back(read_story(entry));
  return stories;
}

std::vector<Story> read_all() {
  std::vector<Story> stories = read_stories();
  for (Story& reply : read_stories("chat")) stories.push_back(std::move(reply));
  stories.push_back(read_story(read_goldens()["surest_answer"]));
  return stories;
}

const std::string kModel = source_path("models/tern-stories.gguf");

Engine load_default(int n_threads = 0) {
  return Engine::load({.model_path = kModel, .backend = BackendKind::kCpu, .n_threads = n_threads}).value();
}

std::vector<TokenId> generate(const Engine& engine, std::span<const TokenId> prompt, size_t n,
                              KvType kv_type = KvType::kF16) {
  auto session = engine.new_session({.kv_type = kv_type}).value();
  const GenerateOptions greedy{
      .max_tokens = static_cast<int>(n), .sample = {.temperature = 0}, .stop = {}, .ignore_eos = true};
  return session.generate(prompt, greedy).value().tokens;
}

// After each step of the golden text, the next token must be the golden one, unless its lead is a near tie. Returns the
// number of tokens compared.
int expect_clear_choices(const Engine& engine, const Story& story, KvType kv_type) {
  std::vector<TokenId> tokens = story.prompt_ids;
  tokens.insert(tokens.end(), story.ids.begin(), story.ids.end());
  auto session = engine.new_session({.kv_type = kv_type}).value();
  int compared = 0;
  const auto done = session.logits(tokens, [&](size_t i, std::span<const float> logits) {
    if (i + 1 < story.prompt_ids.size() || i + 1 == tokens.size()) return Result<void>();
    const size_t step = i + 1 - story.prompt_ids.size();
    if (story.margins[step] < 0.25) return Result<void>();
    ++compared;
    EXPECT_EQ(std::ranges::max_element(logits) - logits.begin(), story.ids[step]) << story.prompt << ", step " << step;
    return Result<void>();
  });
  EXPECT_TRUE(done) << done.error().message;
  return compared;
}

TEST(DefaultModelGolden, PromptsAreRenderedAndTokenizedAsByHuggingFace) {
  const Engine engine = load_default();
  for (const Story& story : read_all()) {
    if (story.messages.empty()) {
      EXPECT_EQ(engine.tokenizer().encode(story.prompt), story.prompt_ids);
      continue;
    }
    EXPECT_EQ(engine.render_chat(story.messages).value().text, story.prompt);
    EXPECT_EQ(engine.tokenizer().encode(story.prompt, {.add_bos = false, .parse_special = true}), story.prompt_ids);
  }
}

// Two correct float32 computations of this model diverge only at a near tie of two tokens (see the README.md there). So
// the text is the same up to the first near tie.
TEST(DefaultModelGolden, GreedyTextIsTheSameUpToTheFirstNearTie) {
  const Engine engine = load_default();
  const auto stories = read_stories();
  ASSERT_GE(stories.size(), 2u);
  for (const Story& story : stories) ASSERT_EQ(story.ids.size(), 200u);
  for (const Story& story : read_all()) {
    const auto ids = generate(engine, story.prompt_ids, story.ids.size(), KvType::kF32);
    ASSERT_EQ(ids.size(), story.ids.size());
    const auto same = static_cast<size_t>(std::ranges::mismatch(ids, story.ids).in1 - ids.begin());
    EXPECT_GE(same, story.first_near_tie) << story.prompt << ": parts at step " << same;
  }
}

TEST(DefaultModelGolden, EveryClearChoiceIsTheSame) {
  const Engine engine = load_default();
  for (const Story& story : read_all()) {
    for (const KvType kv_type : {KvType::kF32, KvType::kF16})
      EXPECT_GT(expect_clear_choices(engine, story, kv_type), std::ssize(story.ids) * 6 / 10) << story.prompt;
  }
}

// A reply ends with its turn, and the end token is not part of the text.
TEST(DefaultModelGolden, AReplyEndsWithItsTurn) {
  const Engine engine = load_default();
  const nlohmann::json golden = read_goldens()["surest_answer"];
  const Story answer = read_story(golden);
  auto session = engine.new_session().value();
  const auto reply = session.generate(answer.prompt_ids, {.sample = {.temperature = 0}}).value();
  EXPECT_EQ(reply.reason, FinishReason::kStopToken);
  const std::string text = golden["text"];
  EXPECT_EQ(reply.text, text.substr(0, text.rfind("<|end")));
}

class DefaultModelOn : public testing::TestWithParam<BackendKind> {};

TEST_P(DefaultModelOn, SaysWhatTransformersSay) {
  const auto engine = Engine::load({.model_path = kModel, .backend = GetParam()});
  if (!engine && GetParam() == BackendKind::kWebGpu) GTEST_SKIP() << engine.error().message;
  ASSERT_TRUE(engine) << engine.error().message;
  for (const char* kind : {"surest_answer", "without_ties"}) {
    const Story story = read_story(read_goldens()[kind]);
    EXPECT_EQ(generate(*engine, story.prompt_ids, story.ids.size()), story.ids) << kind;
  }
  const Story reply = read_stories("chat").front();
  EXPECT_GT(expect_clear_choices(*engine, reply, KvType::kF16), std::ssize(reply.ids) * 6 / 10);
}

INSTANTIATE_TEST_SUITE_P(Backends, DefaultModelOn,
                         testing::Values(BackendKind::kCpu, BackendKind::kRef, BackendKind::kWebGpu),
                         [](const auto& parameter) {
                           return parameter.param == BackendKind::kCpu   ? "cpu"
                                  : parameter.param == BackendKind::kRef ? "ref"
                                                                         : "webgpu";
                         });

TEST(DefaultModelGolden, TextDoesNotDependOnTheThreadCount) {
  const Story story = read_stories().front();
  const auto expected = generate(load_default(1), story.prompt_ids, 100, KvType::kF16);
  for (const int n_threads : {2, 3, 7})
    EXPECT_EQ(generate(load_default(n_threads), story.prompt_ids, 100, KvType::kF16), expected);
}

}  // namespace
}  // namespace tern
