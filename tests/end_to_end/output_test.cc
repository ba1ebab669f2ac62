// Output that cannot be written is an error with a message. A closed pipe is not an error.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "end_to_end/run_program.h"

namespace tern::test {
namespace {

const std::vector<std::vector<std::string>> kPrinting = {
    {"--help"},
    {"--version"},
    {"run", "--help"},
    {"run", "-m", default_model(), "-p", "Once", "-n", "20", "--temp", "0"},
    {"run", "-m", default_model(), "-p", "Once", "-n", "20", "--temp", "0", "--no-echo"},
    {"chat", "-m", default_model(), "-n", "20", "--temp", "0"},
    {"tokenize", "-m", default_model(), "Once"},
    {"detokenize", "-m", default_model(), "100"},
    {"inspect", default_model()},
    {"inspect", default_model(), "--json"},
    {"devices"},
    {"synth", "--list"},
};

// True if standard error has the message for output that failed for this reason.
bool ends_with_output_error(const RunResult& result, const std::string& reason) {
  return result.err.find("tern: cannot write to standard output: " + reason) != std::string::npos;
}

TEST(Output, FullDisk) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  for (const std::vector<std::string>& command : kPrinting) {
    const RunResult result = run_tern(command, {.input = "Once\n", .output_path = "/dev/full"});
    EXPECT_EQ(result.exit_code, 1) << testing::PrintToString(command);
    EXPECT_TRUE(ends_with_output_error(result, "No space left on device"))
        << testing::PrintToString(command) << result.err;
  }
}

// "tern … | head": once the reader has closed the pipe, a message would be of no use.
TEST(Output, ClosedPipeEndsQuietly) {
  for (const std::vector<std::string>& command : kPrinting) {
    const RunResult result = run_tern(command, {.input = "Once\n", .closed_pipe = true});
    EXPECT_EQ(result.exit_code, 128 + SIGPIPE) << testing::PrintToString(command);
    EXPECT_EQ(result.err.find("tern: "), std::string::npos) << testing::PrintToString(command) << result.err;
  }
}

TEST(Output, FileThatCannotBeMade) {
  EXPECT_TRUE(failed_with(run_tern({"logits", "-m", default_model(), "--tokens", "1", "-o", "/nowhere/logits.npy"}), 1,
                          {"/nowhere/logits.npy"}));
  EXPECT_TRUE(failed_with(run_tern({"synth", "-o", "/nowhere/model.gguf"}), 1, {"/nowhere/model.gguf"}));
}

TEST(Output, FullDiskForALogitsFile) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  EXPECT_TRUE(failed_with(run_tern({"logits", "-m", default_model(), "--tokens", "1,2,3", "-o", "/dev/full"}), 1,
                          {"/dev/full", "No space left on device"}));
}

}  // namespace
}  // namespace tern::test
