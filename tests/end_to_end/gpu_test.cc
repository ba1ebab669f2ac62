// `-b webgpu` on any adapter; skipped if there is none.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "end_to_end/run_program.h"
#include "support/checkout.h"

namespace tern::test {
namespace {

// The folder where Mesa keeps compiled shaders, according to this process's environment.
std::string driver_cache() {
  for (const char* name : {"MESA_SHADER_CACHE_DIR", "XDG_CACHE_HOME"}) {
    if (const char* folder = std::getenv(name)) return folder;
  }
  const char* home = std::getenv("HOME");
  return home ? std::string(home) + "/.cache" : "";
}

class Gpu : public testing::Test {
 protected:
  void SetUp() override {
    const RunResult result = run("1", {});
    if (result.exit_code != 0) GTEST_SKIP() << result.err;
  }

  // Tern's kept shaders go into a folder of this test. Those of a software driver stay in their folder; otherwise every
  // test would spend most of its time compiling them again.
  RunOptions environment() const {
    RunOptions options{.variables = {{"XDG_CACHE_HOME", folder_.path("cache")}}};
    if (const std::string cache = driver_cache(); !cache.empty()) {
      options.variables.emplace_back("MESA_SHADER_CACHE_DIR", cache);
    }
    return options;
  }

  RunResult run(const std::string& n, std::vector<std::string> more, const std::string& backend = "webgpu") {
    std::vector<std::string> arguments = {"run", "-m", default_model(), "-b", backend, "-n", n};
    if (!std::ranges::contains(more, "-p")) arguments.insert(arguments.end(), {"-p", kClearStart});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_tern(arguments, environment());
  }

  std::string text(const std::string& n, std::vector<std::string> more, const std::string& backend = "webgpu") {
    const RunResult result = run(n, std::move(more), backend);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  }

  ScratchFolder folder_;
};

// A penalty this close to 1 changes no relevant logit, but it makes the host sample, from the GPU's logits.
TEST_F(Gpu, DrawsWhatTheHostWouldDrawFromTheSameLogits) {
  for (const char* seed : {"1", "2"}) {
    std::vector<std::string> options = {"--seed", seed, "--temp", "0.8", "--top-k", "40", "--top-p", "0.95"};
    const std::string on_device = text("24", options);
    EXPECT_EQ(text("24", options), on_device);
    options.insert(options.end(), {"--repeat-penalty", "1.0000001"});
    EXPECT_EQ(text("24", options), on_device);
  }
}

// The logits differ from the CPU's by rounding, which occasionally changes a chosen token. That is very unlikely with
// this question, whose answer the model is most certain of.
TEST_F(Gpu, GreedyAndSampledAnswersAreTheCpus) {
  const nlohmann::json golden =
      nlohmann::json::parse(read_file(source_path("tests/golden/bitnet/tern_stories_greedy.json")))["surest_answer"];
  const std::string asked = golden["messages"][0]["content"];
  for (const char* temperature : {"0", "0.5"}) {
    const std::vector<std::string> options = {"--chat", "-p", asked, "--seed", "3", "--temp", temperature};
    EXPECT_EQ(text("24", options), text("24", options, "cpu"));
  }
}

TEST_F(Gpu, SecondRunTakesShadersFromDisk) {
  const RunResult again = run("2", {"--stats"});
  EXPECT_NE(again.err.find("from the cache on disk"), std::string::npos) << again.err;
  EXPECT_NE(again.err.find("dispatches a token"), std::string::npos) << again.err;
}

TEST_F(Gpu, BenchTimesEveryOperationOfAToken) {
  const RunResult result = run_tern(
      {"bench", "ops", "-m", default_model(), "-b", "webgpu", "-n", "9", "-r", "2", "-o", "json"}, environment());
  if (result.err.find("cannot measure times") != std::string::npos) GTEST_SKIP() << result.err;
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto report = nlohmann::json::parse(result.out);
  double sum = 0, shares = 0;
  int dispatches = 0;
  for (const auto& op : report["ops"]) {
    EXPECT_GT(op["us"].get<double>(), 0) << op;
    EXPECT_GT(op["us_alone"].get<double>(), 0) << op;
    sum += op["us"].get<double>();
    shares += op["share"].get<double>();
    dispatches += op["dispatches"].get<int>();
  }
  EXPECT_NEAR(sum, report["sum_us"].get<double>(), 1e-3 * sum);
  EXPECT_NEAR(shares, 1, 1e-6);
  EXPECT_EQ(dispatches, report["dispatches"]);
  EXPECT_GE(dispatches, 30);  // the model has ten layers
  EXPECT_GT(report["token_us"].get<double>(), 0);
  // The model's ternary weights, a quarter of a byte each, and its head in 16-bit floats.
  EXPECT_GT(report["bytes"].get<double>(), 12e6);
  EXPECT_EQ(report["parallel"], 1);
}

TEST_F(Gpu, BenchTimesEveryOperationOfAStepOfSeveralReplies) {
  const RunResult result =
      run_tern({"bench", "ops", "-m", default_model(), "-b", "webgpu", "-r", "1", "-N", "3"}, environment());
  if (result.err.find("cannot measure times") != std::string::npos) GTEST_SKIP() << result.err;
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("a step of 3 tokens takes"), std::string::npos) << result.out;
  // With several rows, a kernel selects the rows whose logits are requested.
  EXPECT_NE(result.out.find("select_rows"), std::string::npos) << result.out;
  const RunResult too_many =
      run_tern({"bench", "ops", "-m", default_model(), "-b", "webgpu", "-N", "1000"}, environment());
  EXPECT_EQ(too_many.exit_code, 2) << too_many.out;
  EXPECT_NE(too_many.err.find("1000 sequences at a time; give 1 to "), std::string::npos) << too_many.err;
}

// Every kernel that accesses the KV cache has a variant for each KV type.
TEST_F(Gpu, ComputesWithEveryTypeOfCache) {
  for (const char* kv : {"f32", "q8_0"}) {
    const RunResult result = run_tern({"validate", "-m", default_model(), "-b", "webgpu", "--kv", kv, "--tokens",
                                       "0,100,200,300,400,500", "-n", "2", "--generate", "4"},
                                      environment());
    EXPECT_EQ(result.exit_code, 0) << kv << ": " << result.err << result.out;
  }
}

TEST_F(Gpu, TextFromCodesIsTheCpus) {
  const std::vector<std::string> options = {"--temp", "0", "--kv", "q8_0"};
  EXPECT_EQ(text("24", options), text("24", options, "cpu"));
  EXPECT_NE(run("1", {"--kv", "q8_0", "--stats"}).err.find(" in q8_0"), std::string::npos);
}

// Prompt caches have a format that every backend reads.
TEST_F(Gpu, PromptCachesGoFromBackendToBackend) {
  for (const char* kv : {"f16", "q8_0"}) {
    const std::string expected = text("24", {"--temp", "0", "--kv", kv}, "cpu");
    for (const std::string from : {"webgpu", "cpu"}) {
      const std::string path = folder_.path(std::string(kv) + from);
      const std::vector<std::string> options = {"--temp", "0", "--kv", kv, "--stats", "--prompt-cache", path};
      EXPECT_EQ(text("24", options, from), expected);
      for (const std::string to : {"webgpu", "cpu"}) {
        const RunResult again = run("24", options, to);
        EXPECT_EQ(again.out, expected) << kv << " from " << from << " to " << to;
        EXPECT_NE(again.err.find("more were in the cache"), std::string::npos) << again.err;
      }
    }
    const RunResult other = run("1", {"--kv", "f32", "--prompt-cache", folder_.path(std::string(kv) + "cpu")});
    EXPECT_EQ(other.exit_code, 2) << other.err;
    EXPECT_NE(other.err.find("numbers of another type"), std::string::npos) << other.err;
  }
}

TEST(Auto, GoesOnWithoutTheGpuThatIsNotThere) {
  std::vector<std::string> arguments = {"run", "-m", default_model(), "--temp", "0", "-p", "Once", "-n", "8", "-b"};
  auto cpu = arguments, automatic = arguments;
  cpu.emplace_back("cpu");
  automatic.insert(automatic.end(), {"auto", "--gpu", "no such GPU"});
  const RunResult result = run_tern(automatic);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, run_tern(cpu).out);
  EXPECT_TRUE(result.err.starts_with("tern: warning: the GPU is not used: ")) << result.err;
}

TEST_F(Gpu, TuneTriesLayoutsAndForgetsThem) {
  const std::string tiny = folder_.path("tiny.gguf");
  ASSERT_EQ(run_tern({"synth", "--preset", "tiny", "-o", tiny}).exit_code, 0);
  const RunResult tuned =
      run_tern({"tune", "-m", tiny, "--gpu-without", "serial", "--seconds", "1", "-o", "json"}, environment());
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  const auto result = nlohmann::json::parse(tuned.out);
  EXPECT_GT(result["token_ms"]["before"], 0);
  EXPECT_GT(result["prompt_ms"]["before"], 0);
  const RunResult forgotten = run_tern({"tune", "-m", tiny, "--gpu-without", "serial", "--forget"}, environment());
  EXPECT_EQ(forgotten.exit_code, 0) << forgotten.err;
  EXPECT_TRUE(forgotten.out.contains(folder_.path("cache"))) << forgotten.out;
  RunOptions blocked = environment();  // the cache's path is a file
  blocked.variables.front().second = folder_.write("file", "x");
  EXPECT_TRUE(failed_with(run_tern({"tune", "-m", tiny, "--gpu", "0", "--gpu-without", "serial", "--forget"}, blocked),
                          1, {folder_.path("file"), "layouts"}));
}

TEST_F(Gpu, TuneRefusesWhatHasNoLayouts) {
  EXPECT_TRUE(failed_with(run_tern({"tune", "-b", "cpu"}, environment()), 1, {"cpu", "webgpu"}));
  EXPECT_TRUE(failed_with(run_tern({"tune", "--seconds", "0"}, environment()), 2, {"--seconds"}));
}

}  // namespace
}  // namespace tern::test
