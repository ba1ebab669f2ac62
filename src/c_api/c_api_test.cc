// Text, sessions and replies through the C functions.
#include <atomic>
#include <cmath>
#include <cstdio>
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
  tern_generate_options penalized = greedy(60);
  penalized.frequency_penalty = 5;
  EXPECT_NE(text_with(penalized), text_with(greedy(60)));
  tern_generate_options healed = greedy(20);
  healed.heal_prompt = 1;
  EXPECT_EQ(text_with(healed), usual);  // the prompt ends with a whole word
}

TEST_F(CApi, EverySamplerChangesTheText) {
  using Change = void (*)(tern_generate_options&);
  const auto text = [&](Change change) {
    tern_generate_options options = greedy(24);
    options.temperature = 1;
    options.seed = 7;
    change(options);
    return text_with(options);
  };
  const std::string plain = text([](tern_generate_options&) {});
  for (const Change change : std::initializer_list<Change>{
           [](tern_generate_options& o) { o.dry_multiplier = 20, o.dry_allowed_length = 0; },
           [](tern_generate_options& o) { o.top_n_sigma = 0.3f; }, [](tern_generate_options& o) { o.typical_p = 0.2f; },
           [](tern_generate_options& o) { o.xtc_probability = 1, o.xtc_threshold = 0.02f; },
           [](tern_generate_options& o) { o.mirostat = 1, o.mirostat_tau = 1, o.mirostat_eta = 0.5f; },
           [](tern_generate_options& o) { o.mirostat = 2, o.mirostat_tau = 1; },
           [](tern_generate_options& o) { o.samplers = "top_k", o.top_k = 1; }}) {
    EXPECT_NE(text(change), plain);
    EXPECT_EQ(text(change), text(change));
  }
  const auto dry = [](tern_generate_options& o) {
    static const char* const kBreakers[] = {" ", "a", "e"};
    o.dry_multiplier = 20, o.dry_base = 1.5f, o.dry_allowed_length = 0, o.dry_penalty_last_n = 200;
    o.dry_sequence_breakers = kBreakers, o.n_dry_sequence_breakers = 3;
  };
  EXPECT_NE(text(dry), text([](tern_generate_options& o) { o.dry_multiplier = 20, o.dry_allowed_length = 0; }));
  EXPECT_EQ(text([](tern_generate_options& o) { o.mirostat = 0, o.typical_p = 1, o.dry_sequence_breakers = nullptr; }),
            plain);
}

TEST_F(CApi, AReplyHasItsLeastNumberOfTokens) {
  const char* const stops[] = {" "};
  tern_generate_options options = greedy(30);
  options.stop = stops;
  options.n_stop = 1;
  const std::string early = text_with(options);
  options.min_tokens = 20;
  EXPECT_GT(text_with(options).size(), early.size() + 20);
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

tern_stats stats_of(tern_session* session, const std::vector<int32_t>& prompt, const tern_generate_options& options,
                    std::string* text) {
  tern_stats stats = {};
  stats.size = sizeof(stats);
  EXPECT_EQ(tern_generate(session, prompt.data(), prompt.size(), &options, append, text, &stats, nullptr), TERN_OK);
  return stats;
}

TEST_F(CApi, GuessesChangeNothingButTheTime) {
  const auto prompt = tokens_of("One, two, three. One, two, three. One, two, three. One, two");
  tern_session_options with_draft;
  tern_session_options_init(&with_draft, sizeof(with_draft));
  EXPECT_EQ(with_draft.draft, nullptr);
  with_draft.draft = engine_;  // the model drafts for itself, so all drafts are right
  tern_session* made = nullptr;
  ASSERT_EQ(tern_session_new(engine_, &with_draft, &made, nullptr), TERN_OK);
  const SessionHandle drafting(made, tern_session_free);
  const auto plain = new_session(), looking = new_session();
  tern_generate_options options = greedy(60);
  std::string usual, guessed, drafted;
  EXPECT_EQ(stats_of(plain.get(), prompt, options, &usual).n_guessed, 0);
  options.speculate = 7;
  const tern_stats looked = stats_of(looking.get(), prompt, options, &guessed);
  const tern_stats of_model = stats_of(drafting.get(), prompt, options, &drafted);
  EXPECT_EQ(guessed, usual);
  EXPECT_EQ(drafted, usual);
  EXPECT_LE(looked.n_guessed_right, looked.n_guessed);
  EXPECT_GT(of_model.n_guessed, 0);
  EXPECT_EQ(of_model.n_guessed_right, of_model.n_guessed);
}

TEST_F(CApi, TheModelsOwnLayerDrafts) {
  const std::string path = source_path("tests/golden/families/qwen35_predicts.gguf");
  tern_load_options load;
  tern_load_options_init(&load, sizeof(load));
  load.model_path = path.c_str();
  load.backend = TERN_BACKEND_CPU;
  tern_engine* engine = nullptr;
  ASSERT_EQ(tern_engine_load(&load, &engine, nullptr), TERN_OK);
  std::string texts[2];
  int32_t guessed[2] = {};
  for (const int32_t with : {0, 1}) {
    tern_session_options options;
    tern_session_options_init(&options, sizeof(options));
    options.draft_block = with;
    tern_session* made = nullptr;
    ASSERT_EQ(tern_session_new(engine, &options, &made, nullptr), TERN_OK);
    const SessionHandle session(made, tern_session_free);
    tern_generate_options generate = greedy(24);
    generate.speculate = with ? 4 : 0;
    guessed[with] = stats_of(session.get(), {1, 5, 17, 9}, generate, &texts[with]).n_guessed;
  }
  tern_engine_free(engine);
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_EQ(guessed[0], 0);
  EXPECT_GT(guessed[1], 0);
}

// A draft model that another session uses is locked too, in either order of the two engines.
TEST_F(CApi, ADraftModelTakesTurns) {
  tern_engine* other = nullptr;
  tern_load_options load;
  tern_load_options_init(&load, sizeof(load));
  load.model_path = kModel.c_str();
  load.backend = TERN_BACKEND_CPU;
  ASSERT_EQ(tern_engine_load(&load, &other, nullptr), TERN_OK);
  tern_generate_options options = greedy(40);
  options.speculate = 4;
  const auto prompt = tokens_of("Once upon a time");
  std::vector<std::string> texts(4);
  std::vector<tern_session*> sessions(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    tern_session_options wanted;
    tern_session_options_init(&wanted, sizeof(wanted));
    wanted.draft = i % 2 == 0 ? other : engine_;
    ASSERT_EQ(tern_session_new(i % 2 == 0 ? engine_ : other, &wanted, &sessions[i], nullptr), TERN_OK);
  }
  tern_engine_free(other);  // the sessions keep it alive
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < texts.size(); ++i) {
      threads.emplace_back([&, i] { stats_of(sessions[i], prompt, options, &texts[i]); });
    }
  }
  for (const std::string& text : texts) EXPECT_EQ(text, texts[0]);
  EXPECT_FALSE(texts[0].empty());
  for (tern_session* session : sessions) tern_session_free(session);
}

TEST_F(CApi, AReplyGoesOnPastTheContext) {
  tern_session_options small;
  tern_session_options_init(&small, sizeof(small));
  small.n_ctx = 32;
  tern_session* made = nullptr;
  ASSERT_EQ(tern_session_new(engine_, &small, &made, nullptr), TERN_OK);
  const SessionHandle session(made, tern_session_free);
  const auto prompt = tokens_of("Once upon a time");
  tern_generate_options options = greedy(80);
  options.ignore_eos = 1;
  std::string text;
  EXPECT_EQ(options.keep_past_context, -1);
  EXPECT_EQ(stats_of(session.get(), prompt, options, &text).finish, TERN_FINISH_CONTEXT_FULL);
  options.keep_past_context = 4;
  const tern_stats stats = stats_of(session.get(), prompt, options, &text);
  EXPECT_EQ(stats.finish, TERN_FINISH_MAX_TOKENS);
  EXPECT_EQ(stats.n_generated, 80);
  options.keep_past_context = 17;
  const auto outcome = outcome_of([&](tern_error** error) {
    return tern_generate(session.get(), prompt.data(), prompt.size(), &options, nullptr, nullptr, nullptr, error);
  });
  EXPECT_EQ(outcome.code, TERN_INVALID_ARGUMENT);
}

TEST_F(CApi, WhatWasReadIsKeptInAFile) {
  const std::string path = testing::TempDir() + "c_api_cache.kv";
  std::remove(path.c_str());
  const auto prompt = tokens_of("Once upon a time, there was a little bird");
  const auto options = greedy(8);
  std::string usual, later;
  const auto first = new_session();
  bool loaded = true;
  ASSERT_EQ(tern_session_load_cache(first.get(), path.c_str(), &loaded, nullptr), TERN_OK);
  EXPECT_FALSE(loaded);
  stats_of(first.get(), prompt, options, &usual);
  ASSERT_EQ(tern_session_save_cache(first.get(), path.c_str(), nullptr), TERN_OK);
  const int n_used = tern_session_n_used(first.get());
  const auto second = new_session();
  ASSERT_EQ(tern_session_load_cache(second.get(), path.c_str(), &loaded, nullptr), TERN_OK);
  EXPECT_TRUE(loaded);
  EXPECT_EQ(tern_session_n_used(second.get()), n_used);
  EXPECT_EQ(stats_of(second.get(), prompt, options, &later).n_reused, static_cast<int>(prompt.size()) - 1);
  EXPECT_EQ(later, usual);
  const auto no_cache = outcome_of(
      [&](tern_error** error) { return tern_session_load_cache(second.get(), kModel.c_str(), nullptr, error); });
  EXPECT_EQ(no_cache.code, TERN_INVALID_ARGUMENT);
  const auto no_folder =
      outcome_of([&](tern_error** error) { return tern_session_save_cache(first.get(), "/nowhere/cache.kv", error); });
  EXPECT_EQ(no_folder.code, TERN_IO);
  const auto no_path =
      outcome_of([&](tern_error** error) { return tern_session_save_cache(first.get(), nullptr, error); });
  EXPECT_EQ(no_path.message, "path is NULL");
  std::remove(path.c_str());
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
