// The generate loop with device-side sampling.
#include <gtest/gtest.h>

#include "engine/session_core_test_support.h"
#include "sample/sampler.h"
#include "sample/sampling.h"

namespace tern {
namespace {

using namespace engine_test;

fake::Script on_device(int runs_ahead = 3) {
  return {.n_vocab = 0, .next = {}, .decodes = true, .runs_ahead = runs_ahead};
}

GenerateOptions at_most_tokens(int max_tokens) { return {.max_tokens = max_tokens, .sample = {}, .stop = {}}; }

TEST(TokenStream, GivesWhatTheHostWouldChoose) {
  for (const int runs_ahead : {0, 1, 5}) {
    Fixture host("cdefgh"), device("cdefgh", 64, on_device(runs_ahead));
    const auto expected = host.generate("ab").value(), result = device.generate("ab").value();
    EXPECT_EQ(result.text, expected.text);
    EXPECT_EQ(result.tokens, expected.tokens);
    EXPECT_EQ(result.reason, FinishReason::kStopToken);
    EXPECT_EQ(result.stats.n_generated, expected.stats.n_generated);
    EXPECT_EQ(device.shown, "cdefgh");
    EXPECT_EQ(device.core->n_used(), host.core->n_used());
    EXPECT_EQ(device.log.calls.size(), 1u);  // the prompt
    ASSERT_EQ(device.log.streams.size(), 1u);
    EXPECT_EQ(device.log.streams[0].token, 'c');
    EXPECT_EQ(device.log.streams[0].pos, 2);
    EXPECT_EQ(device.log.streams[0].n_taken, 6);
  }
}

TEST(TokenStream, AsksForWhatIsStillAllowed) {
  Fixture limited("cdefghijkl", 64, on_device());
  EXPECT_EQ(limited.generate("ab", at_most_tokens(4)).value().text, "cdef");
  EXPECT_EQ(limited.log.streams.at(0).n_tokens, 3);

  Fixture unlimited("cdefghijkl", 9, on_device());
  unlimited.generate("ab").value();
  EXPECT_EQ(unlimited.log.streams.at(0).n_tokens, 7);

  Fixture one("cdef", 64, on_device());
  one.generate("ab", at_most_tokens(1)).value();
  EXPECT_TRUE(one.log.streams.empty());
}

TEST(TokenStream, StopsAtAStopString) {
  Fixture f("cdefgh", 64, on_device());
  const auto result = f.generate("ab", {.sample = {}, .stop = {"ef"}}).value();
  EXPECT_EQ(result.reason, FinishReason::kStopString);
  EXPECT_EQ(f.shown, "cd");
  EXPECT_EQ(f.log.streams.at(0).n_taken, 3);
  EXPECT_EQ(f.core->n_used(), 5);  // "abcde"; 'f' was chosen but not counted as run
}

TEST(TokenStream, StopsWhereTheContextIsFull) {
  Fixture f("cdefghijkl", 6, on_device());
  const auto result = f.generate("ab").value();
  EXPECT_EQ(result.reason, FinishReason::kContextFull);
  EXPECT_EQ(result.text, "cdefg");
  EXPECT_EQ(f.core->n_used(), 6);

  Fixture full("c", 2, on_device());
  EXPECT_EQ(full.generate("ab").value().reason, FinishReason::kContextFull);
  EXPECT_TRUE(full.log.streams.empty());
}

TEST(TokenStream, StopsOnRequest) {
  Fixture f("cdefgh", 64, on_device());
  std::stop_source stop;
  std::string shown;
  GenerateOptions options;
  options.sample.temperature = 0;
  const auto on_text = [&](std::string_view text) {
    shown += text;
    if (shown == "cde") stop.request_stop();
  };
  const auto result = f.core->generate(ids("ab"), options, on_text, stop.get_token()).value();
  EXPECT_EQ(result.reason, FinishReason::kCancelled);
  EXPECT_EQ(result.text, "cde");
  EXPECT_EQ(f.core->n_used(), 4);
}

TEST(TokenStream, AnErrorComesBackAfterTheTextSoFar) {
  fake::Script script = on_device();
  script.fail_at_pos = 5;
  Fixture f("cdefgh", 64, script);
  const auto result = f.generate("ab", {.sample = {}, .stop = {"fgz"}});
  EXPECT_EQ(result.error().code, ErrorCode::kDeviceLost);
  EXPECT_NE(result.error().message.find("position 5"), std::string::npos);
  EXPECT_EQ(f.shown, "cdef");  // 'f' had been held back
  EXPECT_EQ(f.core->n_used(), 5);
}

// The device has run past the tokens taken, and the cache contains these; they must count as unused.
TEST(TokenStream, TheNextTurnReusesOnlyWhatWasTaken) {
  Fixture f("cdefghijkl", 64, on_device(5));
  f.generate("ab", {.sample = {}, .stop = {"ef"}}).value();
  f.log.calls.clear();
  const auto second = f.generate("abcdefXY", at_most_tokens(3)).value();
  EXPECT_EQ(second.stats.n_reused, 5);  // "abcde"
  ASSERT_EQ(f.log.calls.size(), 1u);
  EXPECT_EQ(f.log.calls[0].tokens, ids("fXY"));
  EXPECT_EQ(f.log.calls[0].first_pos, 5);
  ASSERT_EQ(f.log.streams.size(), 2u);
  EXPECT_EQ(f.log.streams[1].pos, 8);
  EXPECT_EQ(second.text, "ijk");
}

TEST(TokenStream, SharesTheRandomNumbersOfTheHost) {
  Fixture f("cdefgh", 64, on_device(1));
  const GenerateOptions options = {
      .max_tokens = 4,
      .sample = {.temperature = 0.5f, .top_k = 1, .top_p = 0.75f, .min_p = 0.125f, .top_n_sigma = 9, .seed = 5},
      .stop = {}};
  f.core->generate(ids("ab"), options, {}, {}).value();
  const fake::Log::Stream& stream = f.log.streams.at(0);
  EXPECT_EQ(stream.sampling.temperature, 0.5f);
  EXPECT_EQ(stream.sampling.top_k, 1);
  EXPECT_EQ(stream.sampling.top_p, 0.75f);
  EXPECT_EQ(stream.sampling.min_p, 0.125f);
  EXPECT_EQ(stream.sampling.top_n_sigma, 9);
  Sampler sampler(sampling_of(options.sample), kVocab);
  sampler.uniform();  // for the first token, which the host chose
  std::vector<float> expected;
  for (int i = 0; i < 3; ++i) expected.push_back(sampler.uniform());
  EXPECT_EQ(stream.random, expected);
}

// The device may run ahead, but what changes a token's logits is asked for when the tokens before it are known.
TEST(TokenStream, WithXtcATokenTakesTwoNumbers) {
  Fixture f("cdefgh", 64, on_device(1));
  const SampleOptions sample{.temperature = 0.5f,
                             .top_k = 1,
                             .typical_p = 0.75f,
                             .xtc_probability = 0.25f,
                             .xtc_threshold = 0.125f,
                             .seed = 5};
  f.core->generate(ids("ab"), {.max_tokens = 4, .sample = sample, .stop = {}}, {}, {}).value();
  const fake::Log::Stream& stream = f.log.streams.at(0);
  EXPECT_EQ(stream.sampling.typical_p, 0.75f);
  EXPECT_EQ(stream.sampling.xtc_probability, 0.25f);
  EXPECT_EQ(stream.sampling.xtc_threshold, 0.125f);
  Sampler sampler(sampling_of(sample), kVocab);
  for (int i = 0; i < 2; ++i) sampler.uniform();  // for the first token, which the host chose
  std::vector<float> expected;
  for (int i = 0; i < 6; ++i) expected.push_back(sampler.uniform());
  EXPECT_EQ(stream.random, expected);
}

TEST(TokenStream, TellsWhichLogitsTheTextChanges) {
  Fixture f("cdcde", 64, on_device(1));
  const GenerateOptions options = {.max_tokens = 5,
                                   .sample = {.temperature = 0,
                                              .repeat_penalty = 2,
                                              .dry_multiplier = 0.25f,
                                              .dry_base = 1,
                                              .dry_sequence_breakers = std::vector<std::string>()},
                                   .logit_bias = {{'z', -1}},
                                   .stop = {}};
  EXPECT_EQ(f.generate("ab", options).value().text, "cdcde");
  const auto& changes = f.log.streams.at(0).changes;
  ASSERT_EQ(changes.size(), 4u);  // the host has chosen the first token
  const auto change_of = [&](size_t i, TokenId token) {
    const auto found = std::ranges::find(changes[i], token, &LogitChange::token);
    return found == changes[i].end() ? LogitChange{} : *found;
  };
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(change_of(i, 'z').bias, -1);
  EXPECT_EQ(change_of(0, 'c').factor, 2);
  EXPECT_EQ(change_of(0, 'd').factor, 1);
  EXPECT_EQ(change_of(2, 'c').factor, 4);  // after "abcdc"
  EXPECT_EQ(change_of(2, 'd').third, 0);
  EXPECT_EQ(change_of(3, 'c').third, 0.25f);  // "cd" was followed by 'c'
  EXPECT_EQ(changes[3].size(), 5u);
}

TEST(TokenStream, OnlyForWhatADeviceComputes) {
  const std::vector<SampleOptions> for_the_host = {{.repeat_penalty = 2, .samplers = "top_k;penalties"},
                                                   {.top_n_sigma = 1, .samplers = "top_k;top_n_sigma"},
                                                   {.typical_p = 0.9f, .samplers = "typ_p;top_n_sigma;top_k"},
                                                   {.xtc_probability = 0.5f, .samplers = "temperature;xtc"},
                                                   {.mirostat = 1},
                                                   {.mirostat = 2},
                                                   {.top_p = 0.9f, .samplers = "temperature;top_p"}};
  for (SampleOptions sample : for_the_host) {
    Fixture f("cdefgh", 64, on_device());
    sample.temperature = 0.01f;
    f.core->generate(ids("ab"), {.max_tokens = 4, .sample = sample, .stop = {}}, {}, {}).value();
    EXPECT_TRUE(f.log.streams.empty());
  }
  Fixture f("cdefgh", 64, on_device());
  const SampleOptions without_top_p = {
      .top_k = 1, .top_p = 0.5f, .min_p = 0.25f, .samplers = "top_k;min_p;temperature"};
  f.core->generate(ids("ab"), {.max_tokens = 4, .sample = without_top_p, .stop = {}}, {}, {}).value();
  EXPECT_EQ(f.log.streams.at(0).sampling.top_k, 1);
  EXPECT_EQ(f.log.streams.at(0).sampling.top_p, 1);
  EXPECT_EQ(f.log.streams.at(0).sampling.min_p, 0.25f);
}

TEST(TokenStream, BeginsAnewAfterTheLeastNumberOfTokens) {
  Fixture f("cdefghij", 64, on_device());
  EXPECT_EQ(f.generate("ab", {.min_tokens = 3, .sample = {}, .stop = {}}).value().text, "cdefghij");
  ASSERT_EQ(f.log.streams.size(), 2u);
  EXPECT_EQ(f.log.streams[0].n_tokens, 2);
  EXPECT_EQ(f.log.streams[0].changes.size(), 2u);
  EXPECT_EQ(f.log.streams[1].token, 'e');
  EXPECT_FALSE(f.log.streams[1].sampling.changes);
}

}  // namespace
}  // namespace tern
