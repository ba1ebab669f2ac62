#include "backend/gpu/run/profile/layout_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace tern::gpu {
namespace {

// A device on which each setting changes the time by a factor.
struct Machine {
  std::map<std::string, double> token, prompt;  // factors; 1 for settings that are not listed
  std::string fails = {};                       // the setting for which there is no room
  ErrorCode failure = ErrorCode::kNotSupported;
  bool is_right = true;
  int n_tries = 1000;  // until is_late()
  int n_measured = 0;

  LayoutTrials trials() {
    return {.measure = [this](bool of_prompts, const LayoutSettings& settings) -> Result<double> {
              ++n_measured;
              if (std::ranges::contains(settings, fails)) return fail(failure, "no room");
              double ms = of_prompts ? 100 : 10;
              for (const std::string& setting : settings) {
                const auto& factors = of_prompts ? prompt : token;
                const auto found = factors.find(setting);
                if (found != factors.end()) ms *= found->second;
              }
              return ms;
            },
            .check = [this](const LayoutSettings&) -> Result<void> {
              if (!is_right) return fail(ErrorCode::kNotSupported, "wrong sums");
              return {};
            },
            .is_late = [this] { return n_tries-- <= 0; }};
  }
};

const std::vector<Knob> kKnobs = {{"a", false, {"1", "2", "3"}}, {"b", false, {"1", "2"}}, {"tile", true, {"1", "2"}}};

TEST(LayoutSearch, KeepsTheFastestOfEachKnob) {
  Machine machine{.token = {{"a=1", 0.9}, {"a=2", 0.8}, {"a=3", 0.95}, {"b=1", 1.1}, {"b=2", 0.99}},
                  .prompt = {{"tile=2", 0.5}}};
  std::vector<std::string> seen;
  const auto result =
      search_layouts(kKnobs, machine.trials(), [&](const TuneTrial& trial) { seen.push_back(trial.setting); });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->settings, (LayoutSettings{"a=2", "tile=2"})) << "a percent is no gain";
  EXPECT_DOUBLE_EQ(result->decode_ms_before, 10);
  EXPECT_DOUBLE_EQ(result->decode_ms_after, 8);
  EXPECT_DOUBLE_EQ(result->prompt_ms_before, 100);
  EXPECT_DOUBLE_EQ(result->prompt_ms_after, 50);
  EXPECT_TRUE(result->is_complete);
  EXPECT_EQ(seen, (std::vector<std::string>{"a=1", "a=2", "a=3", "b=1", "b=2", "tile=1", "tile=2"}));
  EXPECT_EQ(result->trials.size(), seen.size());
}

TEST(LayoutSearch, KeepsNothingWhereTheDefaultsAreBest) {
  Machine machine{.token = {{"a=1", 1.0}, {"a=2", 1.5}}, .prompt = {}};
  const auto result = search_layouts(kKnobs, machine.trials(), {});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->settings.empty());
  EXPECT_DOUBLE_EQ(result->decode_ms_after, result->decode_ms_before);
}

TEST(LayoutSearch, AGainThatDoesNotComeAgainIsNone) {
  Machine machine;
  LayoutTrials trials = machine.trials();
  int n = 0;
  trials.measure = [&](bool, const LayoutSettings& settings) -> Result<double> {
    return settings == LayoutSettings{"a=2"} && n++ == 0 ? 5 : 10;
  };
  const auto result = search_layouts(kKnobs, trials, {});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->settings.empty());
  EXPECT_EQ(n, 2) << "measured once more";
}

TEST(LayoutSearch, WhatHasNoRoomIsPassedBy) {
  Machine machine{.token = {{"a=1", 0.9}, {"a=2", 0.5}}, .prompt = {}, .fails = "a=2"};
  const auto result = search_layouts(kKnobs, machine.trials(), {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->settings, LayoutSettings{"a=1"});
  EXPECT_EQ(result->trials.at(1).failure, "no room");
  machine.failure = ErrorCode::kDeviceLost;
  EXPECT_EQ(search_layouts(kKnobs, machine.trials(), {}).error().code, ErrorCode::kDeviceLost);
}

TEST(LayoutSearch, WhatComputesWronglyIsNotTaken) {
  Machine machine{.token = {{"a=1", 0.5}}, .prompt = {}, .is_right = false};
  const auto result = search_layouts(kKnobs, machine.trials(), {});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->settings.empty());
  EXPECT_EQ(result->rejected, "wrong sums");
  EXPECT_DOUBLE_EQ(result->decode_ms_after, 10);
}

TEST(LayoutSearch, EndsWhenTheTimeIsOver) {
  Machine machine{.token = {{"a=1", 0.5}, {"b=1", 0.5}}, .prompt = {}, .n_tries = 2};
  const auto result = search_layouts(kKnobs, machine.trials(), {});
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->is_complete);
  EXPECT_EQ(result->settings, LayoutSettings{"a=1"}) << "what was found by then";
  EXPECT_EQ(result->trials.size(), 2u);
}

}  // namespace
}  // namespace tern::gpu
