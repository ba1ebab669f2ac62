#include <gtest/gtest.h>

#include <limits>

#include "sample/sampler.h"

namespace tern {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

void expect_refused(const Sampling& options, std::string_view option) {
  const Result<void> result = check_sampling(options);
  ASSERT_FALSE(result.has_value()) << option;
  EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(result.error().message.starts_with(std::string("sample option ").append(option).append(" is ")))
      << result.error().message;
  EXPECT_NE(result.error().message.find("must be"), std::string::npos) << result.error().message;
}

TEST(Sampling, AcceptsDefaultsAndLimits) {
  EXPECT_TRUE(check_sampling({}).has_value());
  EXPECT_TRUE(
      check_sampling({.temperature = 0, .top_k = 0, .top_p = 1, .min_p = 0, .repeat_penalty = 1, .repeat_last_n = 0})
          .has_value());
  EXPECT_TRUE(check_sampling({.temperature = 100,
                              .top_k = 1 << 30,
                              .top_p = 1e-6f,
                              .min_p = 1,
                              .repeat_penalty = 0.5f,
                              .repeat_last_n = -1})
                  .has_value());
  EXPECT_TRUE(check_sampling({.repeat_last_n = 1 << 20, .dry_penalty_last_n = 1 << 20}).has_value());
}

TEST(Sampling, RefusesWhatHasNoMeaning) {
  for (const float bad : {-0.1f, kNan, kInf, -kInf}) expect_refused({.temperature = bad}, "temperature");
  for (const float bad : {0.0f, -0.5f, 1.01f, kNan, kInf}) expect_refused({.top_p = bad}, "top_p");
  for (const float bad : {-0.01f, 1.01f, kNan, kInf}) expect_refused({.min_p = bad}, "min_p");
  for (const float bad : {0.0f, -1.0f, kNan, kInf}) expect_refused({.repeat_penalty = bad}, "repeat_penalty");
  for (const int bad : {-1, -40}) expect_refused({.top_k = bad}, "top_k");
  for (const int bad : {-2, (1 << 20) + 1, std::numeric_limits<int>::max()}) {
    expect_refused({.repeat_last_n = bad}, "repeat_last_n");
    expect_refused({.dry_penalty_last_n = bad}, "dry_penalty_last_n");
  }
}

TEST(Sampling, RefusesWhatHasNoMeaningForFilters) {
  for (const float bad : {-0.1f, kNan, kInf}) expect_refused({.dry_multiplier = bad}, "dry_multiplier");
  for (const float bad : {0.99f, 0.0f, -2.0f, kNan, kInf}) expect_refused({.dry_base = bad}, "dry_base");
  expect_refused({.dry_allowed_length = -1}, "dry_allowed_length");
  for (const float bad : {kNan, kInf, -kInf}) expect_refused({.top_n_sigma = bad}, "top_n_sigma");
  for (const float bad : {0.0f, -0.5f, 1.01f, kNan}) expect_refused({.typical_p = bad}, "typical_p");
  for (const float bad : {-0.01f, 1.01f, kNan, kInf}) {
    expect_refused({.xtc_probability = bad}, "xtc_probability");
    expect_refused({.xtc_threshold = bad}, "xtc_threshold");
    expect_refused({.mirostat_eta = bad}, "mirostat_eta");
  }
  for (const int bad : {-1, 3}) expect_refused({.mirostat = bad}, "mirostat");
  for (const float bad : {-1.0f, kNan, kInf}) expect_refused({.mirostat_tau = bad}, "mirostat_tau");
  for (const std::vector<std::string>& bad :
       {std::vector<std::string>{"a", ""}, {std::string(257, 'a')}, std::vector<std::string>(65, "a")}) {
    EXPECT_TRUE(check_sampling({.dry_sequence_breakers = bad})
                    .error()
                    .message.starts_with("sample option dry_sequence_breakers has "));
  }
}

TEST(Sampling, BreakersOfUpTo256Bytes) {
  EXPECT_TRUE(check_sampling({.dry_sequence_breakers = std::vector<std::string>(64, std::string(256, 'a'))}));
}

TEST(Sampling, TheMessageGivesTheValue) {
  EXPECT_EQ(check_sampling({.top_p = 1.5f}).error().message,
            "sample option top_p is 1.5: it must be above 0 and at most 1");
}

}  // namespace
}  // namespace tern
