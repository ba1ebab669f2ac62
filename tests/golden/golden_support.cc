#include "golden/golden_support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/files/read_file_test_support.h"
#include "support/checkout.h"

namespace tern::golden {
namespace {

// The float32 values of a NumPy .npy file of version 1.
std::vector<float> read_npy(const std::string& path) {
  const std::string bytes = file_bytes(path);
  EXPECT_EQ(bytes.substr(1, 5), "NUMPY") << path;
  const size_t data = 10 + static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
  std::vector<float> values((bytes.size() - data) / sizeof(float));
  std::memcpy(values.data(), bytes.data() + data, values.size() * sizeof(float));
  return values;
}

}  // namespace

std::vector<Golden> read_goldens(const std::string& folder) {
  const std::string path = source_path("tests/golden/") + folder + "/";
  std::vector<Golden> goldens;
  std::ifstream file(path + "goldens.json");
  const nlohmann::json manifest = nlohmann::json::parse(file);
  for (const auto& entry : manifest["models"]) {
    goldens.push_back({.name = entry["name"],
                       .model_path = path + entry.value("model", entry["name"].get<std::string>() + ".gguf"),
                       .tokens = entry["tokens"].get<std::vector<TokenId>>(),
                       .logits = read_npy(path + entry.value("logits", entry["name"].get<std::string>() + ".npy")),
                       .tolerance = entry.value("tolerance", 0.0),
                       .is_ternary = entry.value("ternary", true),
                       .llama_logits = {},
                       .llama_nmse = entry.value("llama_nmse", 0.0),
                       .n_ctx = entry.value("n_ctx", 0),
                       .predicted = {},
                       .vectors = {},
                       .has_directory = entry.value("directory", false)});
    if (Golden& golden = goldens.back(); golden.llama_nmse > 0) {
      golden.llama_logits = read_npy(path + golden.name + ".llama.npy");
    }
    if (entry.value("predicts", false)) {
      goldens.back().predicted = read_npy(path + goldens.back().name + ".next.npy");
    }
    if (entry.value("embeds", false)) {
      goldens.back().vectors = read_npy(path + goldens.back().name + ".vectors.npy");
    }
  }
  return goldens;
}

std::vector<float> compute_logits(const Golden& golden, Run run) {
  run.load.model_path = golden.model_path;
  auto engine = Engine::load(run.load);
  if (!engine) {
    ADD_FAILURE() << engine.error().message;
    return {};
  }
  auto session = engine->new_session({.n_ctx = golden.n_ctx, .kv_type = run.kv_type}).value();
  std::vector<float> logits;
  const auto done = session.logits(golden.tokens, [&](size_t, std::span<const float> row) {
    logits.insert(logits.end(), row.begin(), row.end());
    return Result<void>();
  });
  EXPECT_TRUE(done) << done.error().message;
  return logits;
}

void expect_close(const Golden& golden, const std::vector<float>& logits) {
  ASSERT_EQ(logits.size(), golden.logits.size());
  for (size_t i = 0; i < logits.size(); ++i) {
    ASSERT_NEAR(logits[i], golden.logits[i], golden.tolerance) << golden.name << " at " << i;
  }
}

void expect_same_top1(const Golden& golden, const std::vector<float>& logits) {
  ASSERT_EQ(logits.size(), golden.logits.size());
  const size_t vocab = logits.size() / golden.tokens.size();
  const auto top = [&](const std::vector<float>& all, size_t row) {
    const auto begin = all.begin() + static_cast<ptrdiff_t>(row * vocab);
    return std::max_element(begin, begin + static_cast<ptrdiff_t>(vocab)) - begin;
  };
  for (size_t row = 0; row < golden.tokens.size(); ++row) {
    EXPECT_EQ(top(logits, row), top(golden.logits, row)) << golden.name << ", position " << row;
  }
}

double nmse(const std::vector<float>& logits, const std::vector<float>& expected) {
  double error = 0, power = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    error += std::pow(static_cast<double>(logits[i]) - expected[i], 2);
    power += std::pow(static_cast<double>(expected[i]), 2);
  }
  return error / power;
}

}  // namespace tern::golden
