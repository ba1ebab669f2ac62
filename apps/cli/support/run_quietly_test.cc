#include "cli/support/run_quietly.h"

#include <gtest/gtest.h>

namespace tern::cli {
namespace {

TEST(RunQuietly, TakesAsLongAsTheProgram) {
  const auto seconds = run_quietly("/bin/sh", {"sh", "-c", "read line; sleep 0.2; echo unseen; test -z \"$line\""});
  ASSERT_TRUE(seconds) << seconds.error().message;
  EXPECT_GE(*seconds, 0.2);
}

TEST(RunQuietly, FailuresAreErrors) {
  EXPECT_EQ(run_quietly("/bin/sh", {"sh", "-c", "exit 3"}).error().code, ErrorCode::kIo);
  EXPECT_EQ(run_quietly("/bin/sh", {"sh", "-c", "kill -9 $$"}).error().code, ErrorCode::kIo);
  EXPECT_EQ(run_quietly("/nowhere/program", {"program"}).error().code, ErrorCode::kIo);
}

TEST(RunQuietly, KnowsHowItWasStarted) {
  using Words = std::vector<std::string>;
  using namespace std::string_view_literals;
  EXPECT_EQ(command_before_arguments("tern\0devices\0--library-path\0x\0"sv), Words{"tern"});
  EXPECT_EQ(command_before_arguments("tern\0"sv), Words{"tern"});
  EXPECT_EQ(command_before_arguments("/ld.so\0--library-path\0/lib\0/bin/tern\0devices\0"sv),
            (Words{"/ld.so", "--library-path", "/lib", "/bin/tern"}));
  EXPECT_EQ(command_before_arguments("/ld.so\0--argv0\0tern\0--library-path\0/lib\0/bin/tern\0"sv),
            (Words{"/ld.so", "--argv0", "tern", "--library-path", "/lib", "/bin/tern"}));
}

}  // namespace
}  // namespace tern::cli
