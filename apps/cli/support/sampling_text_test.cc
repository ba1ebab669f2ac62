#include "cli/support/sampling_text.h"

#include <gtest/gtest.h>

namespace tern::cli {
namespace {

TEST(SamplingText, SaysWhatHoldsAndFromWhere) {
  EXPECT_EQ(describe_sampling({}, {}),
            "temp 0.7, top-k 40, top-p 1, min-p 0, repeat-penalty 1, repeat-last-n 64, presence-penalty 0, "
            "frequency-penalty 0 (Tern's own)");
  const SamplingAdvice advice = {.values = {.temperature = 0.5f, .min_p = 0.1f}, .source = "general.sampling"};
  EXPECT_EQ(
      describe_sampling({.temperature = 0}, advice),
      "temp 0 (asked for), min-p 0.1 (general.sampling), "
      "top-k 40, top-p 1, repeat-penalty 1, repeat-last-n 64, presence-penalty 0, frequency-penalty 0 (Tern's own)");
  const SampleOptions every = {.temperature = 1,
                               .top_k = 1,
                               .top_p = 1,
                               .min_p = 1,
                               .repeat_penalty = 1,
                               .repeat_last_n = 1,
                               .presence_penalty = 1,
                               .frequency_penalty = 1};
  EXPECT_EQ(describe_sampling(every, advice),
            "temp 1, top-k 1, top-p 1, min-p 1, repeat-penalty 1, repeat-last-n 1, presence-penalty 1, "
            "frequency-penalty 1 (asked for)");
  EXPECT_TRUE(describe_sampling({.dry_multiplier = 0.8f,
                                 .dry_sequence_breakers = std::vector<std::string>{"."},
                                 .typical_p = 1,
                                 .mirostat = 2,
                                 .samplers = "top_k"},
                                {})
                  .starts_with("dry-multiplier 0.8, typical-p 1, mirostat 2, 1 DRY sequence breakers, samplers top_k "
                               "(asked for), temp 0.7"));
}

TEST(SamplingText, SaysWhatIsNotFollowed) {
  const SamplingAdvice advice = {
      .values = {.temperature = 0.5f}, .source = "general.sampling", .not_followed = {"mirostat 2", "sequence a\nb"}};
  EXPECT_TRUE(describe_sampling({}, advice).ends_with("(Tern's own); not followed: mirostat 2, sequence a b"));
  EXPECT_EQ(not_followed_text({}), "");
}

}  // namespace
}  // namespace tern::cli
