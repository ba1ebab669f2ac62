#include "model/sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "model/gguf/source.h"
#include "model/model.h"
#include "model/tiny_gguf_test_support.h"
#include "support/checkout.h"

namespace tern {
namespace {

using Lines = std::vector<std::string>;

SamplingAdvice advice_of(const TinyGguf& file) {
  return read_sampling_advice(*open_source(file.write("sampling")).value());
}

TEST(GgufSampling, AFileWithoutKeysAdvisesNothing) {
  const SamplingAdvice advice = advice_of({});
  EXPECT_EQ(advice.source, "");
  EXPECT_FALSE(gives_any(advice.values));
  EXPECT_EQ(advice.not_followed, Lines());
}

TEST(GgufSampling, ReadsEveryNumber) {
  TinyGguf file;
  file.whole_floats = {{"general.sampling.temp", 0.5f},
                       {"general.sampling.top_p", 0.9f},
                       {"general.sampling.min_p", 0.0f},
                       {"general.sampling.penalty_repeat", 1.1f},
                       {"general.sampling.xtc_probability", 0.5f},
                       {"general.sampling.xtc_threshold", 0.2f},
                       {"general.sampling.mirostat_tau", 4.0f},
                       {"general.sampling.mirostat_eta", 0.3f}};
  file.token_ids["general.sampling.mirostat"] = 2;
  file.token_ids["general.sampling.top_k"] = 20;
  file.token_ids["general.sampling.penalty_last_n"] = 128;
  file.strings["general.sampling.sequence"] = "penalties;dry;top_k;typ_p;top_p;min_p;xtc;temperature";
  const SamplingAdvice advice = advice_of(file);
  EXPECT_EQ(advice.source, "general.sampling");
  EXPECT_EQ(advice.values.temperature, 0.5f);
  EXPECT_EQ(advice.values.top_k, 20);
  EXPECT_EQ(advice.values.top_p, 0.9f);
  EXPECT_EQ(advice.values.min_p, 0.0f);  // zero is also advice
  EXPECT_EQ(advice.values.repeat_penalty, 1.1f);
  EXPECT_EQ(advice.values.repeat_last_n, 128);
  EXPECT_EQ(advice.values.xtc_probability, 0.5f);
  EXPECT_EQ(advice.values.xtc_threshold, 0.2f);
  EXPECT_EQ(advice.values.mirostat, 2);
  EXPECT_EQ(advice.values.mirostat_tau, 4.0f);
  EXPECT_EQ(advice.values.mirostat_eta, 0.3f);
  EXPECT_EQ(advice.not_followed, Lines());
}

TEST(GgufSampling, SaysWhatIsNotFollowed) {
  TinyGguf file;
  file.whole_floats = {{"general.sampling.temp", -1.0f},
                       {"general.sampling.top_p", 1.5f},
                       {"general.sampling.min_p", 0.1f},
                       {"general.sampling.xtc_probability", 1.5f},
                       {"general.sampling.wings", 0.5f}};
  file.token_ids["general.sampling.mirostat"] = 3;
  file.strings["general.sampling.top_k"] = "many";
  file.strings["general.sampling.sequence"] = "temperature;top_k";
  const SamplingAdvice advice = advice_of(file);
  EXPECT_EQ(advice.values.min_p, 0.1f);
  EXPECT_FALSE(advice.values.temperature || advice.values.top_p || advice.values.top_k);
  Lines said = advice.not_followed;
  std::ranges::sort(said);
  EXPECT_EQ(said, (Lines{"mirostat 3", "sequence temperature;top_k", "temp -1", "top_k (no number)", "top_p 1.5",
                         "wings 0.5", "xtc_probability 1.5"}));
}

// A Hugging Face directory with this generation_config.json; empty: without the file.
SamplingAdvice advice_of_directory(const std::string& text) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / "sampling_hf";
  fs::remove_all(folder);
  fs::copy(source_path("tests/golden/families/qwen3_tied"), folder);
  if (!text.empty()) std::ofstream(folder / "generation_config.json") << text;
  return read_sampling_advice(*open_source(folder.string()).value());
}

TEST(HfSampling, ReadsGenerationConfig) {
  EXPECT_EQ(advice_of_directory("").source, "");
  const SamplingAdvice advice = advice_of_directory(R"({"bos_token_id": 1, "do_sample": true, "temperature": 0.6,
      "top_k": 20, "top_p": 0.95, "min_p": null, "typical_p": 0.9, "repetition_penalty": 1.05, "eos_token_id": [2, 3]})");
  EXPECT_EQ(advice.source, "generation_config.json");
  EXPECT_EQ(advice.values.temperature, 0.6f);
  EXPECT_EQ(advice.values.top_k, 20);
  EXPECT_EQ(advice.values.top_p, 0.95f);
  EXPECT_EQ(advice.values.min_p, std::nullopt);
  EXPECT_EQ(advice.values.typical_p, 0.9f);
  EXPECT_EQ(advice.values.repeat_penalty, 1.05f);
  EXPECT_EQ(advice.not_followed, Lines());
}

TEST(HfSampling, GreedyAndOff) {
  EXPECT_EQ(advice_of_directory(R"({"do_sample": false, "temperature": 0.6})").values.temperature, 0.0f);
  EXPECT_EQ(advice_of_directory(R"({"top_k": -1})").values.top_k, 0);
  EXPECT_EQ(advice_of_directory(R"({"eos_token_id": 3})").source, "");
}

TEST(HfSampling, SaysWhatIsNotFollowed) {
  const SamplingAdvice advice =
      advice_of_directory(R"({"temperature": "hot", "top_p": 0, "num_beams": 4, "no_repeat_ngram_size": 3})");
  EXPECT_EQ(advice.source, "");
  EXPECT_EQ(advice.not_followed, (Lines{"no_repeat_ngram_size 3", "num_beams 4", "temperature \"hot\"", "top_p 0"}));
  EXPECT_EQ(advice_of_directory("{").not_followed, (Lines{"generation_config.json (no JSON object)"}));
  EXPECT_EQ(advice_of_directory("[1]").not_followed, (Lines{"generation_config.json (no JSON object)"}));
}

TEST(MlcSampling, ReadsTheChatConfiguration) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / "sampling_mlc";
  fs::remove_all(folder);
  fs::copy(source_path("tests/golden/containers/qwen3_q4f16_1"), folder);
  std::ifstream before(folder / "mlc-chat-config.json");
  nlohmann::json config = nlohmann::json::parse(before);
  before.close();
  config.update({{"temperature", 0.7}, {"top_p", 0.8}, {"repetition_penalty", 1.0}, {"presence_penalty", 1.5}});
  std::ofstream(folder / "mlc-chat-config.json") << config;
  const SamplingAdvice advice = read_sampling_advice(*open_source(folder.string()).value());
  EXPECT_EQ(advice.source, "mlc-chat-config.json");
  EXPECT_EQ(advice.values.temperature, 0.7f);
  EXPECT_EQ(advice.values.top_p, 0.8f);
  EXPECT_EQ(advice.values.repeat_penalty, 1.0f);
  EXPECT_EQ(advice.values.presence_penalty, 1.5f);
  EXPECT_EQ(advice.not_followed, Lines());
}

TEST(GgufSampling, IsReadAsItWasWritten) {
  const SampleOptions every = {.temperature = 0.6f,
                               .top_k = 0,
                               .top_p = 0.95f,
                               .min_p = 0.05f,
                               .repeat_penalty = 1.1f,
                               .repeat_last_n = -1,
                               .presence_penalty = -2.0f,
                               .frequency_penalty = 0.25f,
                               .typical_p = 0.9f,
                               .xtc_probability = 0.5f,
                               .xtc_threshold = 0.2f,
                               .mirostat = 2,
                               .mirostat_tau = 4,
                               .mirostat_eta = 0.3f};
  const std::string path = testing::TempDir() + "sampling_written.gguf";
  GgufWriter writer(path);
  write_gguf_sampling(every, writer);
  ASSERT_TRUE(writer.begin());
  ASSERT_TRUE(writer.finish());
  const SamplingAdvice advice = read_sampling_advice(GgufSource(GgufFile::open(path).value()));
  EXPECT_EQ(advice.values.temperature, every.temperature);
  EXPECT_EQ(advice.values.top_k, every.top_k);
  EXPECT_EQ(advice.values.top_p, every.top_p);
  EXPECT_EQ(advice.values.min_p, every.min_p);
  EXPECT_EQ(advice.values.repeat_penalty, every.repeat_penalty);
  EXPECT_EQ(advice.values.repeat_last_n, every.repeat_last_n);
  EXPECT_EQ(advice.values, every);
  EXPECT_EQ(advice.not_followed, Lines());
}

}  // namespace
}  // namespace tern
