// Biases, penalties and DRY on the device compared with Sampler's.
#include "device_sampler_test_support.h"

namespace tern::gpu {
namespace {

// Penalties, DRY, both in either order, with filters, or none.
std::vector<Sampling> every_change() {
  std::vector<Sampling> all = {
      {.temperature = 0, .repeat_penalty = 1.3f, .repeat_last_n = 8},
      {.temperature = 0.8f, .top_k = 40, .dry_multiplier = 0.8f, .dry_allowed_length = 1, .seed = 2},
      {.temperature = 0.8f, .top_k = 0, .top_p = 0.95f, .presence_penalty = 0.6f, .frequency_penalty = 0.3f},
      {.temperature = 0.9f, .top_k = 20, .seed = 3},
      {.temperature = 0},
      {.temperature = 0, .dry_multiplier = 2, .dry_allowed_length = 1},
      {.temperature = 1.1f,
       .top_k = 60,
       .top_p = 0.9f,
       .repeat_penalty = 0.8f,
       .repeat_last_n = -1,
       .presence_penalty = -0.5f,
       .dry_multiplier = 1.5f,
       .dry_base = 3,
       .dry_allowed_length = 1,
       .seed = 4},
      {.temperature = 1.5f,
       .top_k = 0,
       .dry_multiplier = 3,
       .dry_base = 20,
       .dry_allowed_length = 0,
       .top_n_sigma = 1.01f},
      {.temperature = 0,
       .repeat_penalty = 1.5f,
       .frequency_penalty = 0.5f,
       .dry_multiplier = 0.5f,
       .dry_allowed_length = 1,
       .samplers = "dry;penalties;temperature"},
  };
  for (Sampling& o : all) o.dry_sequence_breakers = {};
  return all;
}

// Texts that grow as rows of one batch, each with a sampler and logits of its own.
class ChangedLogitsTest : public DeviceSamplerTest {
 protected:
  struct Text {
    Sampler host;
    Logits logits;
  };

  // A few logits lead, so that tokens come again.
  static Text text_of(const Sampling& options, size_t n_vocab, size_t row, uint64_t seed) {
    Logits logits = random_logits(n_vocab, seed * 100 + row, 1.5f);
    for (size_t i = 0; i < 4; ++i) logits[(i * 37 + row) % n_vocab] = 9.0f - 0.7f * static_cast<float>(i);
    if (row == 2) logits[n_vocab / 2] = kNan;
    std::vector<LogitBias> biases;
    if (row % 3 == 1) biases = {{0, -kInf}, {static_cast<TokenId>(n_vocab - 1), 8.5f}, {1, -1.25f}};
    return {Sampler(options, static_cast<int>(n_vocab), biases), logits};
  }

  // Returns how many tokens drawn at random differ: the last bits of exp decide between neighbors once in a while.
  int expect_same_texts(size_t n_vocab, int n_steps, uint64_t seed) {
    std::vector<Sampling> rows = every_change();
    std::vector<Text> texts;
    Logits all;
    for (size_t row = 0; row < rows.size(); ++row) {
      rows[row].seed += seed;
      texts.push_back(text_of(rows[row], n_vocab, row, seed));
      all.insert(all.end(), texts[row].logits.begin(), texts[row].logits.end());
    }
    const TokenId best = static_cast<TokenId>(4 % n_vocab);
    texts[4].host.forbid_before(n_steps / 2, {&best, 1});
    Draws draws(*device, all, true, rows.size());
    Draws::Changes changes(rows.size());
    int n_different = 0;
    for (int step = 0; step < n_steps; ++step) {
      for (size_t row = 0; row < rows.size(); ++row) texts[row].host.list_changes(changes[row]);
      draws.put(all);
      const auto found = draws.sampled(
          rows, 1, changes, [&](size_t row) { return rows[row].temperature > 0 ? texts[row].host.uniform() : 0; });
      for (size_t row = 0; row < rows.size(); ++row) {
        Sampler& host = texts[row].host;
        if (rows[row].temperature > 0) host.rewind(1);
        const TokenId token = host.sample(texts[row].logits);
        if (rows[row].temperature > 0) {
          n_different += found[row][0] != token;
        } else {
          EXPECT_EQ(found[row][0], token) << n_vocab << " logits, seed " << seed << " row " << row << " step " << step;
        }
        host.accept(token);
      }
    }
    return n_different;
  }
};

TEST_F(ChangedLogitsTest, RowsHaveTextsOfTheirOwn) {
  int n_different = 0;
  for (const uint64_t seed : {0u, 1u, 2u, 3u, 4u, 5u}) {
    EXPECT_EQ(expect_same_texts(3, 12, seed), 0);
    EXPECT_EQ(expect_same_texts(300, 20, seed), 0);
    n_different += expect_same_texts(5000, 20, seed);
  }
  EXPECT_LE(n_different, 1);  // of 600
}

TEST_F(ChangedLogitsTest, OfALargeVocabulary) {
  for (const uint64_t seed : {7u, 8u}) EXPECT_LE(expect_same_texts(151'936, 6, seed), 1);
}

// More changes than one dispatch takes, in two rows; without them, the first token would be the best.
TEST_F(ChangedLogitsTest, OfManyTokens) {
  constexpr size_t kVocab = 7000;
  Logits logits(2 * kVocab);
  for (size_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>((i * 31) % 1000) / 100;
  Draws draws(*device, logits, true, 2);
  Draws::Changes changes(2);
  for (TokenId token = 0; token < 6500; ++token) {
    changes[0].push_back({.token = token, .bias = -20});
    changes[1].push_back(
        {.token = token, .factor = token == 6499 ? 0.001f : 2.0f, .third = token == 4100 ? -50.0f : 0});
  }
  const auto found = draws.sampled({{.temperature = 0}, {.temperature = 0}}, 1, changes, {});
  const auto rest = std::span(logits).subspan(6500, 500);
  EXPECT_EQ(found[0][0], 6500 + (std::ranges::max_element(rest) - rest.begin()));
  EXPECT_EQ(found[1][0], logits[kVocab + 6499] > 0.06f ? 6499 : 4100);
}

TEST_F(ChangedLogitsTest, PenaltiesLowerLogitsBelowZero) {
  Draws draws(*device, {-1, -1.5f});
  EXPECT_EQ(draws.sampled({{.temperature = 0}}, 1, {{{.token = 0, .factor = 2}}}, {})[0][0], 1);
}

// What is not finite stays as it is, or is what the host makes of it.
TEST_F(ChangedLogitsTest, OfLogitsThatAreNotFinite) {
  const auto chosen = [&](const Logits& logits, const std::vector<LogitChange>& changes) {
    Draws draws(*device, logits);
    return draws.sampled({{.temperature = 0}}, 1, {changes}, {})[0][0];
  };
  EXPECT_EQ(chosen({kNan, 1, 2}, {{.token = 0, .bias = 90}}), 2);
  EXPECT_EQ(chosen({1, kInf, kInf}, {{.token = 1, .second = 1e30f}}), 1);
  EXPECT_EQ(chosen({1, 2, kInf}, {{.token = 2, .bias = -kInf}}), 1);
  EXPECT_EQ(chosen({1, 2, -kInf}, {{.token = 2, .bias = 50}}), 1);
  EXPECT_EQ(chosen({0, -1}, {{.token = 0, .factor = kInf}, {.token = 1, .bias = 1, .second = 1e-3f}}), 0);
  EXPECT_EQ(chosen({-5, 4}, {{.token = 1, .third = std::numeric_limits<float>::max()}}), 0);
}

}  // namespace
}  // namespace tern::gpu
