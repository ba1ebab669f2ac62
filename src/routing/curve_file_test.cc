#include "routing/curve_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/files/mapped_file.h"
#include "routing/routing_test_support.h"

namespace tern {
namespace {

namespace fs = std::filesystem;

CostCurve some_curve() {
  CostCurve curve = routing_test::linear_curve(
      BackendKind::kWebGpu, {.setup = 1.25, .prompt_token = 0.1, .step = 0.3, .context_token = 1e-7, .watts = 7});
  curve.device = "webgpu: a \"GPU\", driver 5";
  curve.energy_source = "nvml (a GPU)";
  curve.steps[1].points[0].cost.joules.reset();
  curve.kv_out_seconds = 0.03125;
  curve.kv_in_seconds = 0.5;
  return curve;
}

void expect_same(const Cost& a, const Cost& b) {
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.joules, b.joules);
}

void expect_same(const std::vector<CurvePoint>& a, const std::vector<CurvePoint>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].tokens, b[i].tokens);
    expect_same(a[i].cost, b[i].cost);
  }
}

TEST(CurveText, ComesBackToTheBit) {
  const CostCurve curve = some_curve();
  const auto again = parse_curve(curve_text(curve, "1.2.3"), "1.2.3", "file");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->device, curve.device);
  EXPECT_EQ(again->model, curve.model);
  EXPECT_EQ(again->backend, curve.backend);
  EXPECT_EQ(again->energy_source, curve.energy_source);
  expect_same(again->setup, curve.setup);
  EXPECT_EQ(again->kv_out_seconds, curve.kv_out_seconds);
  EXPECT_EQ(again->kv_in_seconds, curve.kv_in_seconds);
  expect_same(again->prompt, curve.prompt);
  ASSERT_EQ(again->steps.size(), curve.steps.size());
  for (size_t i = 0; i < curve.steps.size(); ++i) {
    EXPECT_EQ(again->steps[i].replies, curve.steps[i].replies);
    expect_same(again->steps[i].points, curve.steps[i].points);
  }
}

// Each text is a valid one with one change.
TEST(CurveText, WhatIsNoneIsRefused) {
  const std::string right = curve_text(some_curve(), "1.2.3");
  EXPECT_FALSE(parse_curve(right, "1.2.4", "file")) << "another version's kernels";
  const std::pair<const char*, const char*> changes[] = {{"\"format\": 2", "\"format\": 1"},
                                                         {"\"format\": 2", "\"format\": \"2\""},
                                                         {"\"webgpu\"", "\"ref\""},
                                                         {"\"prompt\": [", "\"prompts\": ["},
                                                         {"\"kv_seconds\": [", "\"kv_seconds\": [7,"},
                                                         {"\"kv_seconds\": [", "\"kv_seconds\": [[],"},
                                                         {"0.03125", "-0.03125"},
                                                         {"\"replies\": 8", "\"replies\": 1"},
                                                         {"\"replies\": 8", "\"replies\": -8"},
                                                         {"\"replies\": 8", "\"replies\": 1e99"},
                                                         {"\"setup\": [", "\"setup\": [[],"},
                                                         {"\"setup\": [", "\"setup\": [null,"},
                                                         {"1.25", "-1.25"},
                                                         {"1.25", "1e999"},
                                                         {"\"device\": ", "\"device\": 5, \"x\": "},
                                                         {"\"points\": [", "\"points\": [7,"},
                                                         {"\"points\": [", "\"points\": [[],"},
                                                         {"\"steps\": [", "\"steps\": [3,"},
                                                         {"}", ""}};
  for (const auto& [from, to] : changes) {
    std::string text = right;
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, std::string(from).size(), to);
    const auto parsed = parse_curve(text, "1.2.3", "file");
    ASSERT_FALSE(parsed) << from << " → " << to;
    EXPECT_EQ(parsed.error().code, ErrorCode::kCorruption);
    EXPECT_TRUE(parsed.error().message.starts_with("file: ")) << parsed.error().message;
  }
  for (size_t length = 0; length + 2 < right.size(); length += 7) {
    EXPECT_FALSE(parse_curve(right.substr(0, length), "1.2.3", "file")) << length;
  }
}

class Kept : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder_); }
  const std::string folder_ =
      testing::TempDir() + "/curves-" + testing::UnitTest::GetInstance()->current_test_info()->name();
  const CurveFolder kept_{folder_ + "/deep", "1.2.3"};
  const CostCurve curve_ = some_curve();
};

TEST_F(Kept, IsFoundByItsDeviceAndModelOnly) {
  EXPECT_FALSE(kept_.find(curve_.device, curve_.model));
  EXPECT_FALSE(kept_.exists());
  ASSERT_TRUE(kept_.keep(curve_));
  EXPECT_TRUE(kept_.exists());
  EXPECT_TRUE(kept_.find(curve_.device, curve_.model));
  EXPECT_FALSE(kept_.find(curve_.device + "0", curve_.model)) << "another driver";
  EXPECT_FALSE(kept_.find(curve_.device, "n"));
  EXPECT_FALSE(CurveFolder(folder_ + "/deep", "1.2.4").find(curve_.device, curve_.model));
  // A curve under another curve's file name, as if their hashes collided.
  fs::copy_file(kept_.path_of(curve_.device, curve_.model), kept_.path_of(curve_.device, "n"));
  EXPECT_FALSE(kept_.find(curve_.device, "n"));
  fs::copy_file(kept_.path_of(curve_.device, curve_.model), kept_.path_of("cpu", curve_.model));
  EXPECT_FALSE(kept_.find("cpu", curve_.model));
}

TEST_F(Kept, IsWrittenWholeAndReplaced) {
  CostCurve other = curve_;
  other.setup.seconds = 77;
  ASSERT_TRUE(kept_.keep(curve_));
  ASSERT_TRUE(kept_.keep(other));
  EXPECT_EQ(kept_.find(curve_.device, curve_.model)->setup.seconds, 77);
  int files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_ + "/deep")) ++files;
  EXPECT_EQ(files, 1) << "nothing is left beside it";
}

TEST_F(Kept, WhatIsUnreadableIsNotThere) {
  ASSERT_TRUE(kept_.keep(curve_));
  const std::string path = kept_.path_of(curve_.device, curve_.model);
  const std::string text = read_text_file(path).value();
  for (const std::string& bytes : {std::string(), text.substr(0, text.size() / 2), std::string("\0\xff{", 3)}) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    EXPECT_FALSE(kept_.find(curve_.device, curve_.model)) << bytes.size();
  }
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_FALSE(kept_.find(curve_.device, curve_.model));
}

TEST_F(Kept, NowhereIsNoError) {
  const CurveFolder nowhere("", "1.2.3");
  EXPECT_TRUE(nowhere.keep(curve_));
  EXPECT_FALSE(nowhere.find(curve_.device, curve_.model));
  std::ofstream(folder_) << "a file where the folder should be";
  EXPECT_EQ(kept_.keep(curve_).error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace tern
