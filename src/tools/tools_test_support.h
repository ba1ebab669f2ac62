// Shared by the tests of this folder: files that delete themselves, a small random model, and what a model predicts.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "base/files/mapped_file.h"
#include "support/checkout.h"
#include "tern/tools.h"

namespace tern {

inline const std::string kDefaultModel = source_path("models/tern-stories.gguf");

// A unique path, deleted at the end.
class TemporaryPath {
 public:
  explicit TemporaryPath(const std::string& suffix)
      : path_(std::filesystem::temp_directory_path() / (test_name() + "-" + std::to_string(getpid()) + suffix)) {}
  ~TemporaryPath() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryPath(const TemporaryPath&) = delete;
  TemporaryPath& operator=(const TemporaryPath&) = delete;

  std::string str() const { return path_.string(); }

 private:
  static std::string test_name() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    return std::string("tern-") + info->test_suite_name() + "-" + info->name();
  }
  std::filesystem::path path_;
};

// A model file made by synth().
class SynthModel : public TemporaryPath {
 public:
  explicit SynthModel(SynthOptions options = {.preset = "tiny"})
      : TemporaryPath("-" + options.type + "-" + options.head + ".gguf") {
    options.out_path = str();
    const auto made = synth(options);
    EXPECT_TRUE(made.has_value()) << made.error().message;
  }
};

inline std::string file_bytes(const std::string& path) { return read_text_file(path).value(); }

// A copy of the default model with some of its bytes changed.
class ChangedModel : public TemporaryPath {
 public:
  ChangedModel(const std::string& from, const std::string& to) : TemporaryPath("-changed.gguf") {
    std::string bytes = file_bytes(kDefaultModel);
    const size_t at = bytes.find(from);
    EXPECT_NE(at, std::string::npos);
    EXPECT_EQ(from.size(), to.size());
    bytes.replace(at, from.size(), to);
    std::ofstream(str(), std::ios::binary) << bytes;
  }
};

// Puts the whole text in one window: the probabilities that predict token 1, 2, … of BOS and the text.
inline std::vector<std::vector<double>> probabilities(const Engine& engine, std::span<const TokenId> tokens,
                                                      KvType kv_type) {
  auto session = engine.new_session({.kv_type = kv_type}).value();
  std::vector<std::vector<double>> rows;
  EXPECT_TRUE(session.logits(tokens, [&](size_t i, std::span<const float> logits) -> Result<void> {
    if (i + 1 == tokens.size()) return {};
    double sum = 0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
    rows.emplace_back();
    for (const float logit : logits) rows.back().push_back(std::exp(static_cast<double>(logit)) / sum);
    return {};
  }));
  return rows;
}

}  // namespace tern
