// The default model behind the C functions, for their tests.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "support/checkout.h"
#include "tern/tern.h"

namespace tern::c_api {

inline const std::string kModel = source_path("models/tern-stories.gguf");

// The result of a call; its error has been freed.
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

  static inline tern_engine* engine_ = nullptr;  // NOLINT(readability-identifier-naming): a protected member
};

inline bool append(void* user, const char* text, size_t n_bytes) {
  EXPECT_EQ(std::strlen(text), n_bytes);
  static_cast<std::string*>(user)->append(text, n_bytes);
  return true;
}

}  // namespace tern::c_api
