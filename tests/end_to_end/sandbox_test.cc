// --sandbox: the same results, without rights that the command does not need.
#include <gtest/gtest.h>

#include <filesystem>

#include "end_to_end/run_program.h"

namespace tern::test {
namespace {

// LeakSanitizer reads memory through ptrace, which the sandbox refuses. Other builds do not read this variable.
const std::pair<std::string, std::string> kNoLeakCheck = {"LSAN_OPTIONS", "detect_leaks=0"};

RunResult run_inside(std::vector<std::string> command) {
  command.emplace_back("--sandbox");
  return run_tern(command, {.variables = {kNoLeakCheck}});
}

bool has_sandbox(const RunResult& result) { return !result.err.contains("this system has no such thing"); }

TEST(Sandbox, CommandsDoTheSameInside) {
  const ScratchFolder folder;
  const std::string text = folder.write("text", "The king was old. ");
  const std::vector<std::vector<std::string>> commands = {
      {"run", "-p", kClearStart, "-n", "8", "--temp", "0"},
      {"run", "-m", default_model(), "-f", text, "-n", "8", "--temp", "0"},
      {"inspect", default_model()},
      {"tokenize", "-f", text},
      {"embed", "-m", default_model(), "hi"},
      {"eval", "-f", text, "--ctx", "4"},
  };
  for (const std::vector<std::string>& command : commands) {
    const RunResult outside = run_tern(command);
    const RunResult inside = run_inside(command);
    if (!has_sandbox(inside)) GTEST_SKIP() << inside.err;
    EXPECT_EQ(inside.exit_code, 0) << inside.err;
    EXPECT_EQ(inside.out, outside.out) << command.front();
    EXPECT_NE(inside.err.find("(sandbox: "), std::string::npos) << inside.err;
  }
}

TEST(Sandbox, AGpuWorksInside) {
  const std::vector<std::string> command = {"run", "-p", kClearStart, "-n", "8", "--temp", "0", "-b", "webgpu"};
  if (run_tern(command).exit_code != 0) GTEST_SKIP() << "there is no GPU";
  const RunResult result = run_inside(command);
  if (!has_sandbox(result)) GTEST_SKIP() << result.err;
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, run_tern(command).out);
}

TEST(Sandbox, WritersWriteInside) {
  const ScratchFolder folder;
  const RunResult result = run_inside({"convert", default_model(), folder.path("new/out.gguf"), "-q"});
  if (!has_sandbox(result)) GTEST_SKIP() << result.err;
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(std::filesystem::exists(folder.path("new/out.gguf")));
}

// Under each of the names that the hub knows.
TEST(Sandbox, TheHubsCacheIsInside) {
  const ScratchFolder folder;
  const std::string commit(40, '1'), cached = "models--owner--name/snapshots/" + commit;
  std::filesystem::create_directories(folder.path(cached));
  std::filesystem::create_directories(folder.path("models--owner--name/refs"));
  std::filesystem::copy_file(default_model(), folder.path(cached + "/stories.gguf"));
  folder.write("models--owner--name/refs/main", commit);
  for (const char* variable : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
    const RunResult result =
        run_tern({"run", "--hf", "owner/name", "-p", kClearStart, "-n", "4", "--sandbox"},
                 {.variables = {{variable, folder.path("")}, {"HF_HUB_OFFLINE", "1"}, kNoLeakCheck}});
    if (!has_sandbox(result)) GTEST_SKIP() << result.err;
    EXPECT_EQ(result.exit_code, 0) << variable << ": " << result.err;
  }
}

TEST(Sandbox, ItsVariableIsTrueOrFalse) {
  const auto run = [](const char* value) {
    return run_tern({"run", "-p", kClearStart, "-n", "2"}, {.variables = {{"TERN_SANDBOX", value}, kNoLeakCheck}});
  };
  const RunResult inside = run("true");
  if (!has_sandbox(inside)) GTEST_SKIP() << inside.err;
  EXPECT_NE(inside.err.find("(sandbox: "), std::string::npos) << inside.err;
  const RunResult outside = run("0");
  EXPECT_EQ(outside.exit_code, 0) << outside.err;
  EXPECT_EQ(outside.err.find("(sandbox: "), std::string::npos) << outside.err;
  EXPECT_TRUE(failed_with(run("maybe"), 2, {"TERN_SANDBOX: must be true or false"}));
}

TEST(Sandbox, RefusesWhatDoesNotGoWithIt) {
  const RunResult result = run_tern({"chat", "--sandbox", "--mcp", "x.json"});
  EXPECT_TRUE(failed_with(result, 1, {"--sandbox does not go with --mcp"}));
}

}  // namespace
}  // namespace tern::test
