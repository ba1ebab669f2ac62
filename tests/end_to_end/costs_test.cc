// Device costs: measured once, kept in files, and used for choices.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "end_to_end/run_program.h"

namespace tern::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class Costs : public testing::Test {
 protected:
  // Makes a model that takes only a moment to measure.
  void SetUp() override {
    model_ = folder_.path("tiny.gguf");
    ASSERT_EQ(run_tern({"synth", "--preset", "tiny-qwen3", "-o", model_}).exit_code, 0);
  }

  RunResult tern(const std::vector<std::string>& arguments) const {
    RunOptions options{.variables = {{"XDG_CACHE_HOME", folder_.path("cache")}}};
    // Keeps the driver's shader cache: software drivers compile for longer than everything else here takes.
    const char* cache = std::getenv("XDG_CACHE_HOME");
    const char* home = std::getenv("HOME");
    if (!std::getenv("MESA_SHADER_CACHE_DIR") && (cache || home))
      options.variables.emplace_back("MESA_SHADER_CACHE_DIR", cache ? cache : std::string(home) + "/.cache");
    return run_tern(arguments, options);
  }

  Json explain(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"devices", "--explain", "-m", model_, "-p", "64", "-n", "32", "-o", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const RunResult result = tern(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.exit_code == 0 ? Json::parse(result.out) : Json();
  }

  std::vector<fs::path> kept() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_.path("cache/tern/curves"))) files.push_back(entry.path());
    return files;
  }

  ScratchFolder folder_;
  std::string model_;
};

TEST_F(Costs, AreMeasuredOnceAndKept) {
  const Json first = explain();
  const Json& cpu = first.at("devices").at(0);
  EXPECT_EQ(cpu.at("backend"), "cpu");
  EXPECT_EQ(cpu.at("measured_now"), true);
  EXPECT_GE(cpu.at("prompt").size(), 4u);
  EXPECT_EQ(cpu.at("steps").at(0).at("replies"), 1);
  const Json& job = cpu.at("job");
  const auto seconds = [&](const char* part) { return job.at(part).at("seconds").get<double>(); };
  EXPECT_GT(seconds("prompt"), 0);
  EXPECT_NEAR(seconds("total"), seconds("setup") + seconds("prompt") + seconds("decode"), 1e-9);
  EXPECT_EQ(cpu.at("energy_source").is_null(), !cpu.at("energy_reason").is_null()) << "joules, or why there are none";
  EXPECT_TRUE(first.at("choice").at("reason").get<std::string>().starts_with("cpu takes "));
  EXPECT_EQ(kept().size(), first.at("devices").size());

  Json again = explain();
  EXPECT_EQ(again.at("devices").at(0).at("measured_now"), false);
  EXPECT_EQ(again.at("devices").at(0).at("prompt"), cpu.at("prompt"));
  again = explain({"--loaded"});
  EXPECT_NEAR(again.at("devices").at(0).at("job").at("total").at("seconds").get<double>(),
              seconds("prompt") + seconds("decode"), 1e-9);
  // Another number of threads counts as another device, and files that cannot be read are ignored.
  const Json one_thread = explain({"-t", "1"}).at("devices").at(0);
  EXPECT_EQ(one_thread.at("measured_now").get<bool>(), one_thread.at("device") != cpu.at("device"));
  for (const fs::path& file : kept()) std::ofstream(file, std::ios::trunc) << "{\"format\": 1}";
  EXPECT_EQ(explain().at("devices").at(0).at("measured_now"), true);
  EXPECT_EQ(explain().at("devices").at(0).at("measured_now"), false);
}

TEST_F(Costs, PagePictureAndCheck) {
  const std::string svg = folder_.path("costs.svg");
  const RunResult page =
      tern({"devices", "--calibrate", "-m", model_, "-p", "64", "-n", "32", "--check", "--svg", svg});
  EXPECT_EQ(page.exit_code, 0) << page.err;
  for (const char* part : {"a token of a prompt", "a token written", "64 + 32 tokens", "measured now", "loading",
                           "in all", "predicted / measured", "choice cpu takes "}) {
    EXPECT_NE(page.out.find(part), std::string::npos) << part << " is missing from\n" << page.out;
  }
  const std::string picture = read_file(svg);
  EXPECT_TRUE(picture.starts_with("<svg "));
  for (const char* part : {"A token of a prompt", "A token written", "class=\"curve\"", "cpu: "}) {
    EXPECT_NE(picture.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(picture.find("nan"), std::string::npos);
  EXPECT_TRUE(failed_with(tern({"devices", "--explain", "-m", model_, "-p", "8", "-n", "8", "--svg", "/nowhere/x"}), 1,
                          {"/nowhere/x"}));
}

TEST_F(Costs, RouteFindsTheCheapestModel) {
  const std::string other = folder_.path("other.gguf");
  ASSERT_EQ(tern({"synth", "--preset", "tiny", "-o", other}).exit_code, 0);
  const std::vector<std::string> arguments = {"route", "-m", model_, "-m", other, "-p", "40", "-n", "20", "-o", "json"};
  const RunResult result = tern(arguments);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json report = Json::parse(result.out);
  ASSERT_GE(report.at("candidates").size(), 2u);
  double least = 1e9;
  std::string cheapest;
  for (const Json& one : report.at("candidates")) {
    const double seconds = one.at("total").at("seconds");
    if (seconds < least) cheapest = one.at("model");
    least = std::min(least, seconds);
  }
  EXPECT_EQ(report.at("choice").at("model"), cheapest);
  const RunResult page = tern({"route", "-m", model_, "-m", other, "-p", "40", "-n", "20"});
  EXPECT_NE(page.out.find("choice"), std::string::npos) << page.out;
  EXPECT_TRUE(failed_with(tern({"route", "-m", model_, "-p", "100000"}), 2, {"a job of 100001 tokens", "give fewer"}));
}

TEST_F(Costs, WhatDoesNotGoTogetherIsRefused) {
  EXPECT_TRUE(failed_with(tern({"devices", "-p", "5"}), 2, {"--prompt", "--explain"}));
  EXPECT_TRUE(failed_with(tern({"devices", "--check"}), 2, {"--check", "--explain"}));
  EXPECT_TRUE(failed_with(tern({"devices", "--svg", "x.svg"}), 2, {"--svg", "--explain"}));
  EXPECT_TRUE(failed_with(tern({"devices", "--explain", "--kv", "f32"}), 2, {"--kv"}));
  EXPECT_TRUE(failed_with(tern({"devices", "--explain", "-p", "0"}), 2, {"--prompt"}));
  EXPECT_TRUE(failed_with(tern({"devices", "--explain", "--prefer", "gpu"}), 2, {"--prefer"}));
  EXPECT_TRUE(failed_with(tern({"devices", "--explain", "-m", model_, "-p", "9999"}), 2, {"a job of 10000 tokens"}));
  EXPECT_TRUE(failed_with(tern({"route"}), 2, {"--model"}));
  EXPECT_TRUE(failed_with(tern({"run", "-b", "cpu", "--prefer", "energy", "-p", "x"}), 2, {"--prefer", "-b auto"}));
  EXPECT_TRUE(failed_with(tern({"run", "-ngl", "9", "--prefer", "energy", "-p", "x"}), 2, {"--gpu-layers"}));
}

// Mesa's driver, if installed, stands in for a GPU. It is used only where --gpu names it.
class CostsOfAGpu : public Costs {
 protected:
  static constexpr const char* kGpu = "llvmpipe";
  void SetUp() override {
    Costs::SetUp();
    if (tern({"devices"}).out.find(kGpu) == std::string::npos) GTEST_SKIP() << "there is no software GPU";
  }
  RunResult bench(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"bench", "-m", model_, "-p", "8", "-n", "4", "-r", "1", "-o", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return tern(arguments);
  }
  // Changes the kept costs as if the GPU had taken `seconds` for each token.
  void rewrite_gpu(double seconds) const {
    for (const fs::path& file : kept()) {
      Json curve = Json::parse(read_file(file));
      if (curve.at("backend") != "webgpu") continue;
      curve["prompt"] = {{1, seconds}};
      curve["steps"] = {{{"replies", 1}, {"points", {{0, seconds}}}}};
      std::ofstream(file, std::ios::trunc) << curve.dump();
    }
  }
};

TEST_F(CostsOfAGpu, DecideWhatAutoTakes) {
  const auto choice_of = [](const RunResult& result) {
    const Json report = Json::parse(result.out);
    return std::pair(report.at("backend").get<std::string>().substr(0, 3), report.at("choice"));
  };
  const std::vector<std::string> named = {"--gpu", kGpu};
  EXPECT_EQ(choice_of(bench(named)), std::pair(std::string("web"), Json())) << "nothing is kept: as ever";
  const Json costs = explain(named);
  ASSERT_EQ(costs.at("devices").size(), 2u) << costs.at("left_out");
  EXPECT_EQ(costs.at("devices").at(1).at("backend"), "webgpu");
  for (const Json& device : costs.at("devices")) EXPECT_GT(device.at("kv_out_seconds").get<double>(), 0);
  rewrite_gpu(100);
  EXPECT_EQ(choice_of(bench(named)).first, "cpu");
  EXPECT_TRUE(choice_of(bench(named)).second.get<std::string>().starts_with("cpu takes "));
  EXPECT_EQ(choice_of(bench({"--gpu", kGpu, "--prefer", "gpu"})), std::pair(std::string("web"), Json()));
  EXPECT_EQ(choice_of(bench({"--gpu", kGpu, "-ngl", "99"})).first, "web");
  EXPECT_EQ(choice_of(bench({"--gpu", kGpu, "--no-fuse"})).second, Json()) << "no costs of such a plan";
  rewrite_gpu(0);
  const auto fast = choice_of(bench(named));
  EXPECT_EQ(fast.first, "web");
  EXPECT_TRUE(fast.second.get<std::string>().starts_with("webgpu takes ")) << fast.second;
  EXPECT_EQ(choice_of(bench()), std::pair(std::string("cpu"), Json())) << "a software GPU only by its name";
  EXPECT_EQ(explain().at("devices").size(), 1u);
  for (const fs::path& file : kept()) std::ofstream(file, std::ios::trunc) << "broken";
  EXPECT_EQ(choice_of(bench(named)), std::pair(std::string("web"), Json())) << "what is unreadable is not gone by";
}

// Costs are changed so that the GPU's prefill and the CPU's decode are free. The text is the CPU's, but for rounding.
class CostsOfTwoDevices : public CostsOfAGpu {
 protected:
  static constexpr const char* kPrompt =
      "Once upon a time there was a little dog who lived in a house near the sea, and every day he went";
  void SetUp() override {
    CostsOfAGpu::SetUp();
    if (IsSkipped()) return;
    model_ = default_model();
    explain({"--gpu", kGpu});
    for (const fs::path& file : kept()) {
      Json curve = Json::parse(read_file(file));
      const bool is_cpu = curve.at("backend") == "cpu";
      curve["setup"] = {0};
      curve["prompt"] = {{1, is_cpu ? 1.0 : 1e-6}};
      curve["steps"] = {{{"replies", 1}, {"points", {{0, is_cpu ? 1e-6 : 1.0}}}}};
      curve["kv_seconds"] = {1e-9, 1e-9};
      std::ofstream(file, std::ios::trunc) << curve.dump();
    }
  }
  RunResult run(const std::string& backend, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"run", "-m", model_, "-b", backend, "-n", "30", "--temp", "0", "-p", kPrompt};
    if (backend != "cpu") arguments.insert(arguments.end(), {"--gpu", kGpu});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return tern(arguments);
  }
};

TEST_F(CostsOfTwoDevices, OneReadsAndTheOtherWrites) {
  const RunResult on_cpu = run("cpu"), both = run("both", {"--stats"}), chosen = run("auto", {"--stats"});
  ASSERT_EQ(both.exit_code, 0) << both.err;
  EXPECT_EQ(both.out, on_cpu.out);
  EXPECT_EQ(chosen.out, on_cpu.out);
  for (const RunResult* result : {&both, &chosen}) {
    for (const char* part : {"both: cpu (", "webgpu, then cpu takes ",
                             "0 prompt tokens, 29 reply tokens; keys and values of 64 copied there",
                             "24 prompt tokens, 0 reply tokens; keys and values of 0 copied there"}) {
      EXPECT_TRUE(result->err.contains(part)) << part << " is missing from\n" << result->err;
    }
  }
  // Each device continues from the prompt cache that another has written.
  const std::string cache = folder_.path("cache.kv");
  ASSERT_EQ(run("both", {"--prompt-cache", cache}).exit_code, 0);
  const RunResult again = run("cpu", {"--prompt-cache", cache, "--stats"});
  EXPECT_EQ(again.out, on_cpu.out);
  EXPECT_TRUE(again.err.contains(" in the cache")) << again.err;
  const RunResult q8 = run("both", {"--kv", "q8_0"});
  EXPECT_EQ(q8.out, run("cpu", {"--kv", "q8_0"}).out);
}

TEST_F(CostsOfTwoDevices, AreComparedWithEachAlone) {
  const Json report = explain({"--gpu", kGpu, "--check", "--loaded"});
  EXPECT_EQ(report.at("choice").at("backend"), "both");
  EXPECT_EQ(report.at("two_devices").at("route"), "webgpu, then cpu");
  EXPECT_GT(report.at("two_devices").at("job_measured").at("total").at("seconds").get<double>(), 0);
  const RunResult page = tern({"devices", "--explain", "-m", model_, "-p", "64", "-n", "32", "--gpu", kGpu});
  for (const char* part : {"webgpu, then cpu", "moving", "choice webgpu, then cpu takes "}) {
    EXPECT_TRUE(page.out.contains(part)) << part << " is missing from\n" << page.out;
  }
}

TEST_F(Costs, TwoDevicesNeedThem) {
  EXPECT_TRUE(failed_with(tern({"run", "-m", model_, "-b", "both", "-p", "x"}), 1,
                          {"not known what this model costs", "tern devices --calibrate"}));
  EXPECT_TRUE(failed_with(tern({"run", "-m", model_, "-b", "both", "--no-fuse", "-p", "x"}), 2, {"one device"}));
  EXPECT_TRUE(failed_with(tern({"run", "-m", model_, "-b", "both", "--prefer", "gpu", "-p", "x"}), 2, {"--prefer"}));
  EXPECT_TRUE(failed_with(tern({"validate", "-m", model_, "-b", "both"}), 1, {"-b cpu", "-b webgpu"}));
}

}  // namespace
}  // namespace tern::test
