// Loading and sessions on the default model.
#include "tern/engine.h"

#include <gtest/gtest.h>

#include "engine/engine_impl.h"
#include "support/checkout.h"

namespace tern {
namespace {

const std::string kStories = source_path("models/tern-stories.gguf");

TEST(Engine, TellsWhatItLoaded) {
  const Engine engine = Engine::load({.model_path = kStories, .n_threads = 1}).value();
  const ModelInfo& info = engine.info();
  EXPECT_EQ(info.architecture, "bitnet-b1.58");
  EXPECT_EQ(info.n_vocab, 8192);
  EXPECT_EQ(info.n_layers, 10);
  EXPECT_EQ(info.n_ctx, 1024);
  EXPECT_EQ(info.kv_bytes_per_token, 10u * 2 * 128 * 2);
  EXPECT_NEAR(static_cast<double>(info.n_params), 34.4e6, 0.1e6);
  // Ternary weights at two bits with 32 bytes of scale each, the f16 head, f32 norms, one row of the embedding.
  const uint64_t per_layer = (2 * 512 * 512 + 2 * 128 * 512 + 3 * 512 * 1536) / 4 + 7 * 32 + (3 * 512 + 1536) * 4;
  EXPECT_EQ(info.bytes_per_token, 10 * per_layer + 8192 * 512 * 2 + 512 * 4 + 512 * 2);
  EXPECT_TRUE(engine.has_tokenizer());
  ASSERT_TRUE(engine.has_chat_template());
  const ChatMessage hello[] = {{"user", "Hello!"}};
  EXPECT_EQ(engine.render_chat(hello).value().text, "<|endoftext|><|user|>\nHello!<|end|>\n<|assistant|>\n");
}

// Ordinary conversations are tokenized as one text; only control tokens in messages are not.
TEST(Engine, MessagesHaveNoControlTokens) {
  const Engine engine = Engine::load({.model_path = kStories, .n_threads = 1}).value();
  const auto tokens_of = [&](std::string text, const ChatOptions& options = {}) {
    const ChatMessage messages[] = {{"system", "Be brief."}, {"user", std::move(text)}};
    return engine.tokenizer().encode_chat(engine.render_chat(messages, options).value());
  };
  const ChatMessage plain[] = {{"system", "Be brief."}, {"user", "Hi, \u00e9\n you!"}};
  EXPECT_EQ(tokens_of(plain[1].content), engine.tokenizer().encode(engine.render_chat(plain).value().text,
                                                                   {.add_bos = false, .parse_special = true}));
  const TokenId end = engine.tokenizer().find("<|end|>").value();
  EXPECT_EQ(std::ranges::count(tokens_of("a<|end|>b"), end), 2);
  EXPECT_EQ(std::ranges::count(tokens_of("a<|end|>b", {.parse_special = true}), end), 3);
  EXPECT_EQ(std::ranges::count(tokens_of("a<|end"), end), 2);
  EXPECT_EQ(engine.tokenizer().decode(tokens_of("a<|end|>b"), true),
            engine.render_chat(std::vector<ChatMessage>{{"system", "Be brief."}, {"user", "a<|end|>b"}}).value().text);
}

TEST(Engine, AModelWithoutATemplateHoldsNoConversation) {
  const Engine engine =
      Engine::load({.model_path = source_path("tests/golden/bitnet/a_v2_tokenizer.gguf"), .n_threads = 1}).value();
  EXPECT_FALSE(engine.has_chat_template());
  EXPECT_EQ(engine.render_chat({}).error().code, ErrorCode::kNotSupported);
  EXPECT_FALSE(engine.chat_format().has_tools);
  EXPECT_EQ(engine.chat_format().think_begin, "");
}

TEST(Engine, TwoDevicesDoNotShareStates) {
  const std::string path = source_path("tests/golden/families/qwen35.gguf");
  const auto probe = Engine::load({.model_path = path, .backend = BackendKind::kWebGpu});
  if (!probe) GTEST_SKIP() << probe.error().message;  // no GPU, or no such backend in this build
  const std::string gpu = probe->info().adapter.value().name;
  const auto engine =
      Engine::load({.model_path = path, .backend = BackendKind::kBoth, .n_threads = 1, .gpu = {.adapter = gpu}});
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, ErrorCode::kNotSupported);
  EXPECT_EQ(engine.error().message,
            path + ": the GPU " + gpu +
                " holds the whole model, and two devices cannot share the states of the model's recurrent layers: use "
                "the webgpu backend, or give the number of layers on the GPU");
}

TEST(Engine, ASchedulerCountsTheStatesOfItsReplies) {
  const std::string path = source_path("tests/golden/families/qwen35.gguf");
  const Engine engine = Engine::load({.model_path = path, .n_threads = 1}).value();
  const StateLayout layout(EngineAccess::impl(engine).model.config);
  Scheduler scheduler = engine.new_scheduler({.n_ctx = 128}).value();
  const std::vector<TokenId> prompt(70, 5);
  for (TokenId i = 0; i < 64; ++i) {
    std::vector<TokenId> one = prompt;
    one.front() = i;
    ASSERT_TRUE(scheduler.submit(one, {.max_tokens = 50, .ignore_eos = true}, [](const auto&, const auto&) {}));
  }
  while (scheduler.stats().states_used < 64 && scheduler.step()) {
  }
  EXPECT_EQ(scheduler.stats().states_used, 64);
  EXPECT_GE(scheduler.stats().state_bytes, 64 * layout.bytes());
  while (scheduler.step()) {
  }
  const Scheduler::Stats stats = scheduler.stats();
  EXPECT_EQ(stats.states_used, 0);
  EXPECT_EQ(stats.snapshots, 64);
  EXPECT_EQ(stats.state_bytes, 64 * layout.kept_bytes());
  EXPECT_EQ(stats.snapshot_hits, 0u);
  ASSERT_TRUE(scheduler.submit(prompt, {.max_tokens = 1}, [](const auto&, const auto&) {}));
  while (scheduler.step()) {
  }
  EXPECT_EQ(scheduler.stats().snapshot_hits, 1u);
  const Session session = engine.new_session({.n_ctx = 128}).value();
  EXPECT_EQ(session.kv_bytes(), 128 * engine.info().kv_bytes_per_token + layout.kept_bytes());
}

TEST(Engine, RefusesBadOptions) {
  EXPECT_EQ(Engine::load({.model_path = "/nonexistent"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Engine::load({.model_path = kStories, .n_threads = -1}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(Engine::load({.model_path = kStories, .n_threads = 5000}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(Engine::load({.model_path = kStories, .max_batch = -1}).error().code, ErrorCode::kInvalidArgument);
  const Engine engine = Engine::load({.model_path = kStories, .n_threads = 1}).value();
  EXPECT_EQ(engine.new_session({.n_ctx = -1}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(engine.new_session({.n_ctx = 1025}).error().message.find("1024"), std::string::npos);
  EXPECT_EQ(engine.new_session({.n_ctx = 100}).value().n_ctx(), 100);
}

TEST(Engine, SessionsShareWhatTheyBeginWith) {
  const Engine engine = Engine::load({.model_path = kStories, .n_threads = 1}).value();
  std::vector<TokenId> prompt(200, 7);
  for (size_t i = 0; i < prompt.size(); ++i) prompt[i] = static_cast<TokenId>(i * 13 % 8000);
  GenerateOptions options{.max_tokens = 5, .ignore_eos = true};
  options.sample.temperature = 0;
  Session first = engine.new_session().value(), second = engine.new_session().value();
  Session apart = engine.new_session({.share_prefixes = false}).value();
  const auto a = first.generate(prompt, options).value(), b = second.generate(prompt, options).value();
  const auto c = apart.generate(prompt, options).value();
  EXPECT_EQ(a.stats.n_reused, 0);
  EXPECT_EQ(b.stats.n_reused, 192);  // three blocks of 64
  EXPECT_EQ(c.stats.n_reused, 0);
  EXPECT_EQ(b.tokens, a.tokens);
  EXPECT_EQ(c.tokens, a.tokens);
}

TEST(Engine, ASessionsCacheGoesThroughAFile) {
  const Engine engine = Engine::load({.model_path = kStories, .n_threads = 1}).value();
  const std::string path = testing::TempDir() + "/session.kv";
  const auto prompt = engine.tokenizer().encode("Once upon a time, there was a little bird who could not fly.");
  GenerateOptions options{.max_tokens = 90, .ignore_eos = true};
  options.sample.temperature = 0;
  Session session = engine.new_session({.share_prefixes = false}).value();
  EXPECT_FALSE(session.load_cache(path).value());
  ASSERT_TRUE(session.save_cache(path));  // no tokens yet, so no file
  EXPECT_FALSE(session.load_cache(path).value());
  const auto result = session.generate(prompt, options).value();
  ASSERT_TRUE(session.save_cache(path));

  auto longer = prompt;
  longer.insert(longer.end(), result.tokens.begin(), result.tokens.end());
  const auto expected = session.generate(longer, options).value();
  Session other = engine.new_session({.share_prefixes = false}).value();
  ASSERT_TRUE(other.load_cache(path).value());
  const auto found = other.generate(longer, options).value();
  EXPECT_EQ(found.stats.n_reused, static_cast<int>(longer.size()) - 1);
  EXPECT_EQ(found.tokens, expected.tokens);

  EXPECT_EQ(engine.new_session({.kv_type = KvType::kF32}).value().load_cache(path).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_NE(engine.new_session({.n_ctx = 20}).value().load_cache(path).error().message.find("20"), std::string::npos);
}

TEST(Engine, ASchedulersCacheGoesThroughAFile) {
  const std::string path = testing::TempDir() + "/scheduler.kv";
  GenerateOptions options{.max_tokens = 60, .ignore_eos = true};
  options.sample.temperature = 0;
  std::vector<TokenId> prompt(200, 7);
  for (size_t i = 0; i < prompt.size(); ++i) prompt[i] = static_cast<TokenId>(i * 13 % 8000);
  const auto reply = [&](Scheduler& scheduler, const std::vector<TokenId>& to) {
    GenerateResult result;
    EXPECT_TRUE(scheduler.submit(to, options, [&](const auto&, const GenerateResult& so_far) { result = so_far; }));
    while (scheduler.step()) {
    }
    return result;
  };
  const Engine engine = Engine::load({.model_path = kStories, .n_threads = 1}).value();
  Scheduler scheduler = engine.new_scheduler({.max_kept_bytes = 1 << 30}).value();
  EXPECT_EQ(scheduler.save_cache(prompt, path).value(), 0u);
  EXPECT_EQ(scheduler.load_cache(path).error().code, ErrorCode::kNotFound);
  const GenerateResult first = reply(scheduler, prompt);
  std::vector<TokenId> all = prompt;
  all.insert(all.end(), first.tokens.begin(), first.tokens.end());
  EXPECT_EQ(scheduler.save_cache(all, path).value(), 256u);  // of 260

  const Engine other = Engine::load({.model_path = kStories, .n_threads = 1}).value();
  Scheduler again = other.new_scheduler({.max_kept_bytes = 1 << 30}).value();
  all.resize(256);
  EXPECT_EQ(again.load_cache(path).value(), all);
  const GenerateResult second = reply(again, prompt);
  EXPECT_EQ(second.stats.n_reused, 192);
  EXPECT_EQ(second.tokens, first.tokens);
  EXPECT_EQ(again.drop_cache(all), 256u);
  EXPECT_EQ(again.drop_cache(all), 0u);
  EXPECT_EQ(reply(again, prompt).stats.n_reused, 0);
  // Session and scheduler files are the same; only what fits the cache budget is kept.
  EXPECT_TRUE(other.new_session({.share_prefixes = false}).value().load_cache(path).value());
  const int64_t block = static_cast<int64_t>(other.info().kv_bytes_per_token) * 64;
  Scheduler small = other.new_scheduler({.max_kept_bytes = block, .max_kv_tokens = 1024}).value();
  EXPECT_EQ(small.load_cache(path).value(), std::vector<TokenId>(all.begin(), all.begin() + 64));
  EXPECT_EQ(other.new_scheduler({.kv_type = KvType::kF32}).value().load_cache(path).error().code,
            ErrorCode::kInvalidArgument);
}

TEST(Engine, GuessesChangeNoText) {
  const Engine engine = Engine::load({.model_path = kStories, .n_threads = 2}).value();
  // The same model, so all drafts are right.
  const Engine draft = Engine::load({.model_path = kStories, .n_threads = 2}).value();
  const auto prompt = engine.tokenizer().encode("Tom had a red ball. Tom had a red ball. Tom had a");
  for (const float temperature : {0.0f, 0.8f}) {
    for (const float penalty : {1.0f, 1.2f}) {
      GenerateOptions options{.max_tokens = 120, .ignore_eos = true};
      options.sample = {.temperature = temperature, .repeat_penalty = penalty, .seed = 3};
      const auto plain = engine.new_session().value().generate(prompt, options).value();
      options.speculate = 7;
      const auto looked_up = engine.new_session().value().generate(prompt, options).value();
      const auto drafted = engine.new_session({.draft = &draft}).value().generate(prompt, options).value();
      EXPECT_EQ(looked_up.tokens, plain.tokens);
      EXPECT_EQ(drafted.tokens, plain.tokens);
    }
  }
}

TEST(Engine, DraftsOfTheModelsOwnLayerChangeNoText) {
  const Engine engine =
      Engine::load({.model_path = source_path("tests/golden/families/qwen35_predicts.gguf"), .n_threads = 2}).value();
  const std::vector<TokenId> prompt = {0, 63, 7, 7, 28, 34, 33, 21, 60};
  for (const float temperature : {0.0f, 0.8f}) {
    GenerateOptions options{.max_tokens = 60, .ignore_eos = true};
    options.sample = {.temperature = temperature, .seed = 3};
    const auto plain = engine.new_session().value().generate(prompt, options).value();
    options.speculate = 7;
    auto session = engine.new_session({.draft_block = true}).value();
    for (int again = 0; again < 2; ++again) {
      const auto drafted = session.generate(prompt, options).value();
      EXPECT_EQ(drafted.tokens, plain.tokens);
      EXPECT_GT(drafted.stats.n_guessed, 0);
    }
  }
  Scheduler scheduler = engine.new_scheduler({.n_ctx = 64, .draft_block = true}).value();
  GenerateOptions options{.max_tokens = 30, .ignore_eos = true};
  options.sample = {.temperature = 0.8f, .seed = 3};
  const auto plain = engine.new_session().value().generate(prompt, options).value();
  options.speculate = 7;
  GenerateResult drafted;
  for (int i = 0; i < 2; ++i) {
    scheduler.submit(prompt, options, [&](const auto&, const GenerateResult& so_far) { drafted = so_far; }).value();
    while (scheduler.step()) {
    }
    EXPECT_EQ(drafted.tokens, plain.tokens);
    EXPECT_GT(drafted.stats.n_guessed, 0);
  }
  EXPECT_EQ(engine.new_session({.draft = &engine, .draft_block = true}).error().code, ErrorCode::kInvalidArgument);
  const Engine without = Engine::load({.model_path = kStories, .n_threads = 1}).value();
  EXPECT_EQ(without.new_scheduler({.draft_block = true}).error().code, ErrorCode::kInvalidArgument);
  const auto refused = without.new_session({.draft_block = true});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(refused.error().message.contains("has no layer that proposes draft tokens")) << refused.error().message;
}

TEST(Engine, SessionsTellWhatTheirCacheTakes) {
  const Engine engine = Engine::load({.model_path = kStories, .n_threads = 1}).value();
  const Session usual = engine.new_session({.n_ctx = 100}).value();
  EXPECT_EQ(usual.kv_type(), KvType::kF16);
  EXPECT_EQ(usual.kv_bytes(), 100 * engine.info().kv_bytes_per_token);
  const Session exact = engine.new_session({.n_ctx = 100, .kv_type = KvType::kF32}).value();
  EXPECT_EQ(exact.kv_type(), KvType::kF32);
  EXPECT_EQ(exact.kv_bytes(), 2 * usual.kv_bytes());
}

// Prefill in one batch, in many, or token by token gives the same bits.
TEST(Engine, CachedAndFullRunsGiveIdenticalLogits) {
  std::vector<std::vector<float>> results;
  for (const int max_batch : {1, 7, 64}) {
    const Engine engine = Engine::load({.model_path = kStories, .n_threads = 2, .max_batch = max_batch}).value();
    Session session = engine.new_session().value();
    std::vector<float> last;
    const auto tokens = engine.tokenizer().encode("The little fox ran over the hill and met a bear who was very sad.");
    ASSERT_TRUE(session.logits(tokens, [&](size_t, std::span<const float> row) {
      last.assign(row.begin(), row.end());
      return Result<void>();
    }));
    results.push_back(last);
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(Engine, SamplesAsTheModelRecommends) {
  const Engine engine = Engine::load({.model_path = kStories, .n_threads = 2}).value();
  const SamplingAdvice& advice = engine.info().sampling;
  EXPECT_EQ(advice.source, "general.sampling");
  EXPECT_EQ(advice.values.temperature, 0.6f);
  EXPECT_EQ(advice.values.min_p, 0.1f);
  EXPECT_EQ(advice.values.top_k, std::nullopt);
  EXPECT_EQ(engine.sampling().temperature, 0.6f);
  EXPECT_EQ(engine.sampling({.temperature = 0.9f}).temperature, 0.9f);
  EXPECT_EQ(engine.sampling({.temperature = 0.9f}).min_p, 0.1f);
  const auto story = [&](const SampleOptions& sample) {
    Session session = engine.new_session().value();
    return session.generate(engine.tokenizer().encode("Once upon a time"), {.max_tokens = 40, .sample = sample})
        .value()
        .tokens;
  };
  EXPECT_EQ(story({.seed = 3}), story({.temperature = 0.6f, .min_p = 0.1f, .seed = 3}));
  EXPECT_NE(story({.seed = 3}), story({.temperature = 1.5f, .min_p = 0.0f, .seed = 3}));
}

TEST(Engine, SameSeedSameText) {
  const Engine engine = Engine::load({.model_path = kStories, .n_threads = 2}).value();
  const auto story = [&](uint64_t seed) {
    Session session = engine.new_session().value();
    const auto prompt = engine.tokenizer().encode("Once upon a time");
    return session
        .generate(prompt, {.max_tokens = 40, .sample = {.temperature = 0.9f, .top_k = 40, .seed = seed}, .stop = {}})
        .value()
        .text;
  };
  EXPECT_EQ(story(1), story(1));
  EXPECT_NE(story(1), story(2));
}

}  // namespace
}  // namespace tern
