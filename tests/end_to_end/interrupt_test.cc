// Ctrl-C.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "end_to_end/run_program.h"

namespace tern::test {
namespace {

// The reference backend is so slow that it is still running when the signal comes.
std::vector<std::string> slow(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"-m", default_model(), "-b", "ref"});
  return arguments;
}

TEST(Interrupt, EndsTheTextCleanlyAndPrintsTheStatistics) {
  bool sent = false;
  const auto interrupt = [&](pid_t process, const std::string& out) {
    if (!sent && out.size() > std::string(kPrompt).size()) sent = ::kill(process, SIGINT) == 0;
  };
  const RunResult result =
      run_tern(slow({"run", "-p", kPrompt, "--temp", "0", "--ignore-eos", "--stats"}), {.on_output = interrupt});
  EXPECT_TRUE(sent);
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_TRUE(result.out.starts_with(kPrompt));
  EXPECT_TRUE(result.out.ends_with('\n'));
  EXPECT_NE(result.err.find("generated"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("stopped"), std::string::npos) << result.err;
}

TEST(Interrupt, EndsOneReplyOfAChatAndNotTheChat) {
  bool sent = false;
  const auto interrupt = [&](pid_t process, const std::string&) {
    if (!sent) sent = ::kill(process, SIGINT) == 0;
  };
  const RunResult result = run_tern(slow({"chat", "--temp", "0"}),
                                    {.input = std::string(kPrompt) + "\n/stats\n/quit\n", .on_output = interrupt});
  EXPECT_TRUE(sent);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("stopped"), std::string::npos) << result.err;
}

// Writing this model of several gigabytes takes longer than a signal. Some file systems have no files without a name,
// and other signals end such a program, so tests/limits/kills.py tries these on one of them.
TEST(Interrupt, LeavesNoPartialFile) {
  const ScratchFolder folder;
  const std::string path = folder.path("model.gguf");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGKILL}) {
    int n_ticks = 0;
    const auto interrupt = [&](pid_t process) {
      if (++n_ticks == 3) ::kill(process, signal);
    };
    const RunResult result = run_tern({"synth", "--preset", "qwen3-4b", "-o", path}, {.on_tick = interrupt});
    EXPECT_EQ(result.exit_code, signal == SIGINT ? 130 : 128 + signal) << result.err;
    if (signal == SIGINT) EXPECT_NE(result.err.find("nothing was kept"), std::string::npos) << result.err;
    EXPECT_TRUE(std::filesystem::is_empty(folder.path(""))) << signal;
  }
}

}  // namespace
}  // namespace tern::test
