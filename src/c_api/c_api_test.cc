#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "c_api/error.h"
#include "tern/tern.h"

namespace tern::c_api {
namespace {

const std::string kModel = TERN_SOURCE_DIR "/models/tern-stories.gguf";

// What a call gave, without its error to free.
struct Outcome {
  tern_code code = TERN_OK;
  std::string message;
};

template <class F>
Outcome outcome_of(F&& call) {
  tern_error* error = nullptr;
  Outcome outcome;
  outcome.code = call(&error);
  EXPECT_EQ(tern_error_code(error), outcome.code);
  outcome.message = tern_error_message(error);
  tern_error_free(error);
  return outcome;
}

using EngineHandle = std::unique_ptr<tern_engine, decltype(&tern_engine_free)>;
using SessionHandle = std::unique_ptr<tern_session, decltype(&tern_session_free)>;
using GenerationHandle = std::unique_ptr<tern_generation, decltype(&tern_generation_free)>;

class CApi : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    tern_load_options options;
    tern_load_options_init(&options, sizeof(options));
    options.model_path = kModel.c_str();
    options.backend = TERN_BACKEND_CPU;
    options.n_threads = 2;
    ASSERT_EQ(tern_engine_load(&options, &engine_, nullptr), TERN_OK);
  }
  static void TearDownTestSuite() {
    tern_engine_free(engine_);
    engine_ = nullptr;
  }

  static SessionHandle new_session() {
    tern_session* session = nullptr;
    EXPECT_EQ(tern_session_new(engine_, nullptr, &session, nullptr), TERN_OK);
    return {session, tern_session_free};
  }

  static std::vector<int32_t> tokens_of(const std::string& text) {
    int32_t* tokens = nullptr;
    size_t n = 0;
    EXPECT_EQ(tern_tokenize(engine_, text.data(), text.size(), TERN_ADD_BOS, &tokens, &n, nullptr), TERN_OK);
    std::vector<int32_t> copy(tokens, tokens + n);
    tern_free(tokens);
    return copy;
  }

  static tern_generate_options greedy(int max_tokens) {
    tern_generate_options options;
    tern_generate_options_init(&options, sizeof(options));
    options.temperature = 0;
    options.max_tokens = max_tokens;
    return options;
  }

  static std::string text_with(const tern_generate_options& options) {
    const SessionHandle session = new_session();
    const auto prompt = tokens_of("Once upon a time");
    std::string text;
    const auto add = [](void* user, const char* piece, size_t n) {
      static_cast<std::string*>(user)->append(piece, n);
      return true;
    };
    EXPECT_EQ(tern_generate(session.get(), prompt.data(), prompt.size(), &options, add, &text, nullptr, nullptr),
              TERN_OK);
    return text;
  }

  static GenerationHandle begin(tern_session* session, const tern_generate_options& options) {
    const auto prompt = tokens_of("Once upon a time");
    tern_generation* generation = nullptr;
    EXPECT_EQ(tern_generation_begin(session, prompt.data(), prompt.size(), &options, &generation, nullptr), TERN_OK);
    return {generation, tern_generation_free};
  }

  static tern_step next(tern_generation* generation) {
    tern_step step = {};
    step.size = sizeof(step);
    EXPECT_EQ(tern_generation_next(generation, &step, nullptr), TERN_OK);
    return step;
  }

  static tern_engine* engine_;  // NOLINT(readability-identifier-naming): a protected member
};
tern_engine* CApi::engine_ = nullptr;  // NOLINT(readability-identifier-naming): a protected member

bool append(void* user, const char* text, size_t n_bytes) {
  EXPECT_EQ(std::strlen(text), n_bytes);
  static_cast<std::string*>(user)->append(text, n_bytes);
  return true;
}

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

TEST_F(CApi, ErrorsHaveACodeAndALine) {
  tern_engine* engine = nullptr;
  tern_load_options options;
  tern_load_options_init(&options, sizeof(options));
  options.model_path = "/nowhere/model.gguf";
  const auto missing = outcome_of([&](tern_error** error) { return tern_engine_load(&options, &engine, error); });
  EXPECT_EQ(missing.code, TERN_NOT_FOUND);
  EXPECT_NE(missing.message.find("/nowhere/model.gguf"), std::string::npos);
  EXPECT_EQ(engine, nullptr);

  const auto no_template = outcome_of([&](tern_error** error) {
    char* text = nullptr;
    const tern_chat_message message = {"user", "hello"};
    return tern_render_chat(engine_, &message, 1, nullptr, &text, nullptr, error);
  });
  EXPECT_EQ(no_template.code, TERN_NOT_SUPPORTED);

  const auto no_engine = outcome_of([&](tern_error** error) { return tern_engine_load(nullptr, nullptr, error); });
  EXPECT_EQ(no_engine.code, TERN_INVALID_ARGUMENT);
  EXPECT_EQ(no_engine.message, "engine is NULL");
}

TEST_F(CApi, FieldsOutOfRangeAreRefused) {
  const auto session = new_session();
  const auto prompt = tokens_of("Once");
  for (const auto& [spoil, part] : std::vector<std::pair<void (*)(tern_generate_options&), std::string>>{
           {[](tern_generate_options& o) { o.ignore_eos = 2; }, "ignore_eos is 2"},
           {[](tern_generate_options& o) { o.n_stop = 1; }, "stop is NULL"},
           {[](tern_generate_options& o) { o.top_p = 2; }, "top_p"},
           {[](tern_generate_options& o) { o.n_logit_bias = 1; }, "logit_bias is NULL"},
           {[](tern_generate_options& o) { o.heal_prompt = 2; }, "heal_prompt is 2"},
           {[](tern_generate_options& o) { o.reserved = 1; }, "reserved is not 0"},
           {[](tern_generate_options& o) { o.size = 8; }, "tern_generate_options.size is 8"}}) {
    tern_generate_options options = greedy(1);
    spoil(options);
    const auto outcome = outcome_of([&](tern_error** error) {
      return tern_generate(session.get(), prompt.data(), prompt.size(), &options, nullptr, nullptr, nullptr, error);
    });
    EXPECT_EQ(outcome.code, TERN_INVALID_ARGUMENT) << part;
    EXPECT_NE(outcome.message.find(part), std::string::npos) << outcome.message;
  }
}

// Nothing is downloaded: the cache is empty and the network is not asked.
TEST_F(CApi, PullKnowsPublishedModelsByTheirShortNames) {
  const std::string cache = testing::TempDir() + "c_api_empty_cache";
  const auto pull = [&](const char* model, void (*change)(tern_pull_options&)) {
    tern_pull_options options;
    tern_pull_options_init(&options, sizeof(options));
    options.cache_dir = cache.c_str();
    options.offline = 1;
    change(options);
    return outcome_of([&](tern_error** error) {
      char* path = nullptr;
      return tern_pull(model, &options, &path, error);
    });
  };
  const auto nothing = [](tern_pull_options&) {};
  if (pull("o/n", nothing).code == TERN_NOT_SUPPORTED) GTEST_SKIP() << "this build cannot download";
  EXPECT_TRUE(pull("Bonsai-1.7B", nothing).message.starts_with("prism-ml/Bonsai-1.7B-gguf: "));
  EXPECT_EQ(pull("bonsai", nothing).code, TERN_INVALID_ARGUMENT);
  const auto first_version = [](tern_pull_options& o) { o.size = 40; };
  EXPECT_EQ(pull("o/n", first_version).code, TERN_NOT_FOUND);
  const auto bad = pull("o/n", [](tern_pull_options& o) { o.unchecked = 2; });
  EXPECT_EQ(bad.message, "tern_pull_options.unchecked is 2, but can be 0 or 1");
}

// What a caller that was compiled with a later header would pass.
struct LaterOptions {
  tern_session_options known;
  uint64_t added;
};

TEST_F(CApi, LaterStructsAreTakenAsFarAsTheyAreUnderstood) {
  LaterOptions later;
  std::memset(&later, 0xff, sizeof(later));
  tern_session_options_init(&later.known, sizeof(later));
  EXPECT_EQ(later.known.size, sizeof(later));
  EXPECT_EQ(later.added, 0u);
  later.known.n_ctx = 64;
  tern_session* session = nullptr;
  ASSERT_EQ(tern_session_new(engine_, &later.known, &session, nullptr), TERN_OK);
  EXPECT_EQ(tern_session_n_ctx(session), 64);
  tern_session_free(session);
  later.added = 1;
  const auto outcome =
      outcome_of([&](tern_error** error) { return tern_session_new(engine_, &later.known, &session, error); });
  EXPECT_EQ(outcome.code, TERN_INVALID_ARGUMENT);
  EXPECT_NE(outcome.message.find("does not know"), std::string::npos) << outcome.message;
}

TEST_F(CApi, ProgressIsToldWithItsUser) {
  tern_load_options options;
  tern_load_options_init(&options, sizeof(options));
  options.model_path = kModel.c_str();
  int n_calls = 0;
  options.user = &n_calls;
  options.on_progress = [](void* user, const char* what, uint64_t done, uint64_t total, const char*) {
    EXPECT_STRNE(what, "");
    EXPECT_LE(done, total);
    ++*static_cast<int*>(user);
  };
  tern_engine* engine = nullptr;
  ASSERT_EQ(tern_engine_load(&options, &engine, nullptr), TERN_OK);
  EXPECT_GT(n_calls, 0);
  tern_engine_free(engine);
}

TEST(CApiErrors, NoExceptionComesOut) {
  const auto thrown = [](auto exception) {
    return outcome_of([&](tern_error** error) { return guarded(error, [&] -> Result<void> { throw exception; }); });
  };
  EXPECT_EQ(thrown(std::bad_alloc()).code, TERN_OUT_OF_MEMORY);
  const auto internal = thrown(std::runtime_error("a table is empty"));
  EXPECT_EQ(internal.code, TERN_INTERNAL);
  EXPECT_EQ(internal.message, "a table is empty");
  EXPECT_EQ(thrown(1).code, TERN_INTERNAL);
}

TEST(CApiErrors, NothingIsNeededToFreeNothing) {
  tern_error_free(nullptr);
  tern_engine_free(nullptr);
  tern_session_free(nullptr);
  tern_generation_free(nullptr);
  tern_free(nullptr);
  EXPECT_STREQ(tern_error_message(nullptr), "");
  EXPECT_EQ(tern_error_code(nullptr), TERN_OK);
}

}  // namespace
}  // namespace tern::c_api
