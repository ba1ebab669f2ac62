// Logits of small random BitNet models against Hugging Face transformers (tests/golden/bitnet/README.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tern/engine.h"

namespace tern {
namespace {

const std::string kFolder = std::string(TERN_SOURCE_DIR) + "/tests/golden/bitnet/";

// The float32 values of a NumPy .npy file of version 1.
std::vector<float> read_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(bytes.substr(1, 5), "NUMPY") << path;
  const size_t data = 10 + static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
  std::vector<float> values((bytes.size() - data) / sizeof(float));
  std::memcpy(values.data(), bytes.data() + data, values.size() * sizeof(float));
  return values;
}

struct Golden {
  std::string name;
  std::string model_path;
  std::vector<TokenId> tokens;
  std::vector<float> logits;  // [tokens, vocab]
  double tolerance = 0;
};

std::vector<Golden> read_goldens() {
  std::vector<Golden> goldens;
  std::ifstream file(kFolder + "goldens.json");
  const nlohmann::json manifest = nlohmann::json::parse(file);
  for (const auto& entry : manifest["models"]) {
    goldens.push_back({.name = entry["name"],
                       .model_path = kFolder + entry["model"].get<std::string>(),
                       .tokens = entry["tokens"].get<std::vector<TokenId>>(),
                       .logits = read_npy(kFolder + entry["logits"].get<std::string>()),
                       .tolerance = entry["tolerance"]});
  }
  return goldens;
}

struct Run {
  LoadOptions load;
  KvType kv_type = KvType::kF32;
};

std::vector<float> compute_logits(const Golden& golden, Run run) {
  run.load.model_path = golden.model_path;
  auto engine = Engine::load(run.load);
  EXPECT_TRUE(engine) << engine.error().message;
  auto session = engine->new_session({.kv_type = run.kv_type}).value();
  std::vector<float> logits;
  const auto done = session.logits(golden.tokens, [&](size_t, std::span<const float> row) {
    logits.insert(logits.end(), row.begin(), row.end());
    return Result<void>();
  });
  EXPECT_TRUE(done) << done.error().message;
  return logits;
}

// The seeds of these models keep every activation clear of the edges between two int8 values, so a float32 computation
// has the same integers everywhere and only float rounding remains.
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

TEST(BitnetGolden, ReferenceAgreesWithTransformers) {
  for (const Golden& golden : read_goldens())
    expect_close(golden, compute_logits(golden, {{.backend = BackendKind::kRef}}));
}

TEST(BitnetGolden, CpuAgreesWithTransformers) {
  const auto goldens = read_goldens();
  ASSERT_GE(goldens.size(), 4u);
  for (const Golden& golden : goldens) {
    for (const bool fuse : {false, true}) {
      for (const int n_threads : {1, 3}) {
        const auto logits =
            compute_logits(golden, {{.backend = BackendKind::kCpu, .n_threads = n_threads, .fuse = fuse}});
        expect_close(golden, logits);
        expect_same_top1(golden, logits);
        EXPECT_LT(nmse(logits, golden.logits), 1e-9) << golden.name;
      }
    }
  }
}

TEST(BitnetGolden, GpuAgreesWithTransformers) {
  const auto goldens = read_goldens();
  const auto probe = Engine::load({.model_path = goldens[0].model_path, .backend = BackendKind::kWebGpu});
  if (!probe) GTEST_SKIP() << probe.error().message;  // no GPU, or no such backend in this build
  for (const Golden& golden : goldens) {
    for (const bool fuse : {false, true}) {
      for (const int max_batch : {1, 16}) {  // vectors, then matrices
        const auto logits = compute_logits(
            golden,
            {{.backend = BackendKind::kWebGpu, .max_batch = max_batch, .fuse = fuse, .gpu = {.validation = true}}});
        expect_close(golden, logits);
        expect_same_top1(golden, logits);
      }
    }
  }
}

// An f16 cache moves keys and values by up to 2⁻¹² of themselves. That alone changes logits by little, but it carries
// some activations over the edge to the next int8 value, and one such step moves a logit of these tiny models by 0.2
// (`one_flip_median_change`) of about 5. Hence 1e-3 here; a wrong weight or step gives 1e-1 and more.
TEST(BitnetGolden, AnF16CacheStaysClose) {
  for (const Golden& golden : read_goldens()) {
    const auto logits = compute_logits(golden, {{.backend = BackendKind::kCpu}, KvType::kF16});
    EXPECT_LT(nmse(logits, golden.logits), 1e-3) << golden.name;
    expect_same_top1(golden, logits);
  }
}

// Thread counts, batch sizes and fusion are about speed; not a bit of the result may depend on them.
TEST(BitnetGolden, ResultsAreIdenticalHoweverTheyAreComputed) {
  for (const Golden& golden : read_goldens()) {
    const auto expected = compute_logits(golden, {{.backend = BackendKind::kCpu, .n_threads = 1}});
    for (const int n_threads : {2, 5}) {
      for (const int max_batch : {1, 3, 16}) {
        EXPECT_EQ(
            compute_logits(golden, {{.backend = BackendKind::kCpu, .n_threads = n_threads, .max_batch = max_batch}}),
            expected);
      }
    }
    EXPECT_EQ(compute_logits(golden, {{.backend = BackendKind::kCpu, .n_threads = 2, .fuse = false}}), expected);
  }
}

}  // namespace
}  // namespace tern
