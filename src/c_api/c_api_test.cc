// Texts, sessions and replies through the C functions.
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include "c_api/c_api_test_support.h"

namespace tern::c_api {
namespace {

TEST_F(CApi, SamplingIsTheModelsOwnUnlessAskedFor) {
  tern_generate_options options;
  tern_generate_options_init(&options, sizeof(options));
  EXPECT_EQ(options.temperature, TERN_RECOMMENDED);
  EXPECT_EQ(options.repeat_last_n, TERN_RECOMMENDED);
  EXPECT_TRUE(std::isnan(options.presence_penalty) && std::isnan(options.frequency_penalty));
  options.max_tokens = 30;
  options.seed = 5;
  const std::string own = text_with(options);
  options.temperature = 0.5f;
  options.min_p = 0.1f;
  EXPECT_EQ(text_with(options), own);
  options.temperature = 1.5f;
  EXPECT_NE(text_with(options), own);
}

TEST_F(CApi, BiasesAndPenaltiesChangeTheText) {
  const std::string usual = text_with(greedy(20));
  const int32_t first = tokens_of("Once upon a time" + usual).at(tokens_of("Once upon a time").size());
  const tern_logit_bias never = {first, -std::numeric_limits<float>::infinity()};
  tern_generate_options biased = greedy(20);
  biased.logit_bias = &never;
  biased.n_logit_bias = 1;
  EXPECT_NE(text_with(biased), usual);
  tern_generate_options penalised = greedy(60);
  penalised.frequency_penalty = 5;
  EXPECT_NE(text_with(penalised), text_with(greedy(60)));
  tern_generate_options healed = greedy(20);
  healed.heal_prompt = 1;
  EXPECT_EQ(text_with(healed), usual);  // the prompt ends with a whole word
}

TEST_F(CApi, TextComesBackFromItsTokens) {
  const std::string text = "A bird\0and — a worm", with_zero(text.data(), text.size());
  const auto tokens = tokens_of(with_zero);
  char* back = nullptr;
  size_t n_bytes = 0;
  ASSERT_EQ(tern_detokenize(engine_, tokens.data(), tokens.size(), 0, &back, &n_bytes, nullptr), TERN_OK);
  EXPECT_EQ(std::string(back, n_bytes), with_zero);
  tern_free(back);
  ASSERT_EQ(tern_detokenize(engine_, nullptr, 0, 0, &back, nullptr, nullptr), TERN_OK);
  EXPECT_STREQ(back, "");
  tern_free(back);
}

TEST_F(CApi, StepsAndCallbacksGiveTheSameText) {
  const auto options = greedy(24);
  const auto prompt = tokens_of("Once upon a time");
  const auto session = new_session();
  std::string at_once, in_steps;
  tern_stats stats = {};
  stats.size = sizeof(stats);
  ASSERT_EQ(tern_generate(session.get(), prompt.data(), prompt.size(), &options, append, &at_once, &stats, nullptr),
            TERN_OK);
  EXPECT_EQ(stats.n_generated, 24);
  EXPECT_EQ(stats.finish, TERN_FINISH_MAX_TOKENS);
  EXPECT_GT(at_once.size(), 24u);

  const auto generation = begin(session.get(), options);
  int n_tokens = 0;
  for (bool done = false; !done;) {
    const tern_step step = next(generation.get());
    in_steps.append(step.text, step.n_bytes);
    n_tokens += step.token >= 0;
    done = step.finish != TERN_FINISH_NONE;
  }
  EXPECT_EQ(in_steps, at_once);
  EXPECT_EQ(n_tokens, 24);
  EXPECT_EQ(tern_session_n_used(session.get()), static_cast<int>(prompt.size()) + 23);
}

TEST_F(CApi, ACallbackEndsTheReply) {
  const auto options = greedy(-1);
  const auto prompt = tokens_of("Once upon a time");
  const auto session = new_session();
  tern_stats stats = {};
  stats.size = sizeof(stats);
  const auto stop = [](void*, const char*, size_t n_bytes) { return n_bytes == 0; };
  ASSERT_EQ(tern_generate(session.get(), prompt.data(), prompt.size(), &options, stop, nullptr, &stats, nullptr),
            TERN_OK);
  EXPECT_EQ(stats.finish, TERN_FINISH_CANCELLED);
  EXPECT_LE(stats.n_generated, 2);
}

TEST_F(CApi, AnotherThreadCancels) {
  auto options = greedy(-1);
  options.ignore_eos = 1;
  const auto session = new_session();
  const auto generation = begin(session.get(), options);
  std::atomic<int> n_steps = 0;
  std::jthread other([&] {
    while (n_steps < 3) std::this_thread::yield();
    tern_generation_cancel(generation.get());
  });
  int32_t finish = TERN_FINISH_NONE;
  for (; finish == TERN_FINISH_NONE; ++n_steps) finish = next(generation.get()).finish;
  EXPECT_EQ(finish, TERN_FINISH_CANCELLED);
}

TEST_F(CApi, SessionsOfOneEngineTakeTurns) {
  const auto options = greedy(40);
  const auto prompt = tokens_of("Once upon a time");
  std::vector<std::string> texts(3);
  {
    std::vector<std::jthread> threads;
    for (std::string& text : texts) {
      threads.emplace_back([&] {
        const auto session = new_session();
        EXPECT_EQ(tern_generate(session.get(), prompt.data(), prompt.size(), &options, append, &text, nullptr, nullptr),
                  TERN_OK);
      });
    }
  }
  EXPECT_FALSE(texts[0].empty());
  EXPECT_EQ(texts[1], texts[0]);
  EXPECT_EQ(texts[2], texts[0]);
}

TEST_F(CApi, HandlesMayBeFreedInAnyOrder) {
  tern_engine* engine = nullptr;
  tern_load_options options;
  tern_load_options_init(&options, sizeof(options));
  options.model_path = kModel.c_str();
  ASSERT_EQ(tern_engine_load(&options, &engine, nullptr), TERN_OK);
  tern_session* session = nullptr;
  ASSERT_EQ(tern_session_new(engine, nullptr, &session, nullptr), TERN_OK);
  tern_engine_free(engine);
  const auto generation = begin(session, greedy(4));
  tern_session_free(session);
  while (next(generation.get()).finish == TERN_FINISH_NONE) continue;
}

TEST_F(CApi, LogitsAreThoseOfEachRow) {
  const auto tokens = tokens_of("Once upon a time");
  tern_model_info info = {};
  info.size = sizeof(info);
  ASSERT_EQ(tern_engine_info(engine_, &info, nullptr), TERN_OK);
  const auto n_vocab = static_cast<size_t>(info.n_vocab);
  const auto session = new_session();
  std::vector<float> all(tokens.size() * n_vocab), last(n_vocab);
  ASSERT_EQ(tern_session_logits(session.get(), tokens.data(), tokens.size(), 0, all.data(), all.size(), nullptr),
            TERN_OK);
  ASSERT_EQ(tern_session_logits(session.get(), tokens.data(), tokens.size(), tokens.size() - 1, last.data(),
                                last.size(), nullptr),
            TERN_OK);
  EXPECT_TRUE(std::equal(last.begin(), last.end(), all.end() - static_cast<ptrdiff_t>(n_vocab)));
  EXPECT_NE(all[0], all[n_vocab]);

  const auto wrong = outcome_of([&](tern_error** error) {
    return tern_session_logits(session.get(), tokens.data(), tokens.size(), 0, all.data(), all.size() - 1, error);
  });
  EXPECT_EQ(wrong.code, TERN_INVALID_ARGUMENT);
  EXPECT_NE(wrong.message.find("5 rows of 8192"), std::string::npos) << wrong.message;
}

}  // namespace
}  // namespace tern::c_api
