// Arguments that the C functions reject, and the errors that they report.
#include <cstddef>
#include <new>
#include <stdexcept>

#include "c_api/c_api_test_support.h"
#include "c_api/error.h"
#include "support/checkout.h"

namespace tern::c_api {
namespace {

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
    const std::string path = source_path("tests/golden/bitnet/a_v2_tokenizer.gguf");
    options.model_path = path.c_str();
    if (const tern_code code = tern_engine_load(&options, &engine, error); code != TERN_OK) return code;
    const EngineHandle owner(engine, tern_engine_free);
    char* text = nullptr;
    const tern_chat_message message = {"user", "hello"};
    return tern_render_chat(engine, &message, 1, nullptr, &text, nullptr, error);
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
           {[](tern_generate_options& o) { o.speculate = -1; }, "speculate is -1"},
           {[](tern_generate_options& o) { o.keep_past_context = -2; }, "-2 tokens are to be kept"},
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

// Downloads nothing: the cache is empty and the network is not used.
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

// Options of a caller compiled with a later header.
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

// Options and output structs of a caller compiled with an earlier header.
TEST_F(CApi, EarlierStructsHaveDefaultsForWhatTheyLack) {
  tern_generate_options options = greedy(6);
  options.size = offsetof(tern_generate_options, speculate);
  options.speculate = -1;  // beyond the caller's struct
  options.keep_past_context = -7;
  const auto session = new_session();
  const auto prompt = tokens_of("Once");
  tern_stats stats = {};
  stats.size = offsetof(tern_stats, n_guessed);
  stats.n_guessed = 77;
  ASSERT_EQ(tern_generate(session.get(), prompt.data(), prompt.size(), &options, nullptr, nullptr, &stats, nullptr),
            TERN_OK);
  EXPECT_EQ(stats.n_generated, 6);
  EXPECT_EQ(stats.n_guessed, 77);
  tern_session_options wanted;
  tern_session_options_init(&wanted, offsetof(tern_session_options, draft));
  wanted.draft = reinterpret_cast<const tern_engine*>(1);
  tern_session* made = nullptr;
  ASSERT_EQ(tern_session_new(engine_, &wanted, &made, nullptr), TERN_OK);
  tern_session_free(made);
  tern_session_options_init(&wanted, sizeof(wanted));
  wanted.draft_block = 1;
  const auto refused = outcome_of([&](tern_error** error) { return tern_session_new(engine_, &wanted, &made, error); });
  EXPECT_EQ(refused.code, TERN_INVALID_ARGUMENT);
  EXPECT_TRUE(refused.message.contains("has no layer that proposes draft tokens")) << refused.message;
}

TEST_F(CApi, WhatIsPreferredIsSpeedOrEnergy) {
  tern_load_options options;
  tern_load_options_init(&options, sizeof(options));
  options.model_path = kModel.c_str();
  options.prefer = 3;
  const auto outcome = outcome_of([&](tern_error** error) {
    tern_engine* engine = nullptr;
    return tern_engine_load(&options, &engine, error);
  });
  EXPECT_EQ(outcome.code, TERN_INVALID_ARGUMENT);
  EXPECT_EQ(outcome.message, "tern_load_options.prefer is 3, but can be 0 to 2");
}

TEST_F(CApi, LayersOnTheGpuNeedNoBackend) {
  tern_load_options options;
  tern_load_options_init(&options, sizeof(options));
  options.model_path = kModel.c_str();
  tern_engine* engine = nullptr;
  const auto load = [&] {
    return outcome_of([&](tern_error** error) { return tern_engine_load(&options, &engine, error); });
  };
  options.gpu_layers = -1;
  EXPECT_EQ(load().message, "tern_load_options.gpu_layers is -1: it must be 0 or above");
  options.gpu_layers = 1;
  options.backend = TERN_BACKEND_CPU;
  EXPECT_EQ(load().code, TERN_INVALID_ARGUMENT);
  options.backend = TERN_BACKEND_AUTO;
  ASSERT_EQ(load().message, "");
  tern_engine_free(engine);
}

TEST_F(CApi, MetadataIsOverridden) {
  tern_load_options options;
  tern_load_options_init(&options, sizeof(options));
  options.model_path = kModel.c_str();
  options.backend = TERN_BACKEND_CPU;
  tern_engine* engine = nullptr;
  const auto load = [&] {
    return outcome_of([&](tern_error** error) { return tern_engine_load(&options, &engine, error); });
  };
  options.n_overrides = 1;
  EXPECT_EQ(load().message, "tern_load_options.overrides is NULL, but there should be 1 of them");
  const char* texts[] = {"bitnet-b1.58.context_length=str:8", nullptr};
  options.overrides = texts;
  EXPECT_NE(load().message.find("is of type str, but an integer is needed"), std::string::npos);
  options.n_overrides = 2;
  EXPECT_EQ(load().message, "tern_load_options.overrides[1] is NULL");
  texts[0] = "bitnet-b1.58.context_length=int:96";
  options.n_overrides = 1;
  ASSERT_EQ(load().message, "");
  tern_model_info info = {};
  info.size = sizeof(info);
  ASSERT_EQ(tern_engine_info(engine, &info, nullptr), TERN_OK);
  EXPECT_EQ(info.n_ctx, 96);
  tern_engine_free(engine);
  const char* keys[] = {"bitnet-b1.58.context_length"};
  options.overrides = nullptr;
  options.n_overrides = 0;
  options.ignored_keys = keys;
  options.n_ignored_keys = 1;
  const auto ignored = load();
  EXPECT_EQ(ignored.code, TERN_INVALID_ARGUMENT);
  EXPECT_NE(ignored.message.find("cannot be ignored"), std::string::npos) << ignored.message;
}

// A program compiled before `overrides` existed has a shorter struct: the bytes after it must not be read.
TEST_F(CApi, LoadOptionsOfTheFirstVersion) {
  tern_load_options options;
  std::memset(&options, 0xff, sizeof(options));
  tern_load_options_init(&options, offsetof(tern_load_options, overrides));
  options.model_path = kModel.c_str();
  options.backend = TERN_BACKEND_CPU;
  tern_engine* engine = nullptr;
  const auto outcome = outcome_of([&](tern_error** error) { return tern_engine_load(&options, &engine, error); });
  EXPECT_EQ(outcome.message, "");
  tern_engine_free(engine);
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
