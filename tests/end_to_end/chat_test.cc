// `tern chat` without a terminal: plain lines in, plain text out. The default model has no template and tells stories.
#include <gtest/gtest.h>

#include <algorithm>

#include "end_to_end/run_program.h"

namespace tern::test {
namespace {

RunResult chat(const std::string& input, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"chat", "-m", default_model(), "--temp", "0", "-n", "30"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_tern(arguments, {.input = input});
}

TEST(Chat, SaysInOneLineThatThereIsNoTemplate) {
  const RunResult result = chat("");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find("no chat template"), std::string::npos) << result.err;
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
}

TEST(Chat, ContinuesEachLineAndKeepsTheContext) {
  const RunResult one = chat("Once upon a time, there was a bear.\n");
  const RunResult two = chat("Once upon a time, there was a bear.\nThen he saw\n");
  const RunResult fresh = chat("Then he saw\n");
  EXPECT_EQ(two.exit_code, 0) << two.err;
  ASSERT_GT(one.out.size(), 10u);
  ASSERT_TRUE(two.out.starts_with(one.out)) << one.out << "---\n" << two.out;
  EXPECT_NE(two.out.substr(one.out.size()), fresh.out) << "the second line was read without the first";
}

TEST(Chat, ResetForgets) {
  const RunResult first = chat("The dog\n");
  const RunResult again = chat("Once upon a time\n/reset\nThe dog\n");
  ASSERT_GT(first.out.size(), 10u);
  EXPECT_TRUE(again.out.ends_with(first.out)) << first.out << "---\n" << again.out;
}

TEST(Chat, CommandsGoToStandardErrorAndQuitEndsIt) {
  const RunResult result = chat("/help\n/stats\n/nonsense\n/quit\nOnce upon a time\n");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "");
  for (const char* word : {"/reset", "no reply yet", "/nonsense"}) {
    EXPECT_NE(result.err.find(word), std::string::npos) << word << " is missing from " << result.err;
  }
}

TEST(Chat, GoesOnWhenTheContextIsFull) {
  std::string input;
  for (int i = 0; i < 12; ++i) input += "and then he went on and on to the next house of the town\n";
  const RunResult result = chat(input, {"--ctx", "128", "--ignore-eos"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("forgotten"), std::string::npos) << result.err;
  EXPECT_GE(std::ranges::count(result.out, '\n'), 12) << result.out;
}

TEST(Chat, LineLongerThanTheContext) {
  std::string line;
  for (int i = 0; i < 600; ++i) line += "cat and ";
  EXPECT_EQ(chat(line + "\n").exit_code, 2);
}

}  // namespace
}  // namespace tern::test
