// The sources of `tern serve`'s options, and its messages on standard error.
#include <gtest/gtest.h>

#include <csignal>

#include "end_to_end/run_program.h"

namespace tern::test {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

// Runs the server until it is ready, then ends it. Returns its standard error.
std::string serve(std::vector<std::string> arguments, const Variables& variables = {}) {
  arguments.insert(arguments.begin(), "serve");
  bool is_told = false;
  const RunResult result =
      run_tern(arguments, {.variables = variables, .on_errors = [&](pid_t process, const std::string& err) {
                             if (is_told || !err.contains(" until Ctrl-C)")) return;
                             is_told = true;
                             ::kill(process, SIGINT);
                           }});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.err;
}

RunResult refused(const std::string& file, const Variables& variables = {}) {
  return run_tern({"serve", "--config", file}, {.variables = variables});
}

TEST(ServeSettings, TheCommandLineThenTheEnvironmentThenTheFile) {
  const ScratchFolder folder;
  const std::string file = folder.write("serve.toml", "# a comment\nport = 0\nalias = \"file\"\nctx = 77\n");
  EXPECT_TRUE(serve({"--config", file}).contains("(file at http://127.0.0.1:"));
  EXPECT_TRUE(serve({}, {{"TERN_CONFIG", file}}).contains("(file at "));
  EXPECT_TRUE(serve({"--config", file}, {{"TERN_ALIAS", "variable"}}).contains("(variable at "));
  EXPECT_TRUE(serve({"--config", file, "--alias", "flag"}, {{"TERN_ALIAS", "variable"}}).contains("(flag at "));
  EXPECT_TRUE(serve({}, {{"TERN_PORT", "0"}, {"TERN_ALIAS", "variable"}}).contains("(variable at "));
  // A model on the command line or in the environment overrides the file's.
  const std::string hub = folder.write("hub.toml", "hf = \"nobody/nothing\"\nport = 0\nalias = file\n");
  EXPECT_TRUE(serve({"--config", hub, "-m", default_model()}).contains("(file at "));
  EXPECT_TRUE(serve({"--config", hub}, {{"TERN_MODEL", default_model()}}).contains("(file at "));
}

TEST(ServeSettings, WhatIsWrongIsRefusedByName) {
  const ScratchFolder folder;
  struct Case {
    std::string text;
    std::vector<std::string> words;
  };
  for (const auto& [text, words] : {Case{"prot = 1\n", {"serve.toml", "'prot'", "'port'"}},
                                    Case{"port = 1\nxyzzy = 1\n", {"serve.toml", "'xyzzy'"}},
                                    Case{"port = abc\n", {"serve.toml: port", "'abc'", "65535"}},
                                    Case{"metrics = maybe\n", {"serve.toml: metrics", "true or false"}},
                                    Case{"metrics = [true, true]\n", {"serve.toml: metrics", "true or false"}},
                                    Case{"port = 1\nport = 2\n", {"serve.toml: port", "one value", "2"}},
                                    Case{"port = 1\nctx = 77\nport = 2\n", {"serve.toml: port", "twice"}},
                                    Case{"port = [1, 2]\n", {"serve.toml: port", "one value"}},
                                    Case{"model = a\nhf = b/c\n", {"serve.toml", "either"}},
                                    Case{"[serve]\nport = 1\n", {"serve.toml", "[serve]", "sections"}},
                                    Case{"config = \"a\"\n", {"serve.toml", "'config'"}}}) {
    EXPECT_TRUE(failed_with(refused(folder.write("serve.toml", text)), 2, words)) << text;
  }
  EXPECT_TRUE(failed_with(refused(folder.path("none.toml")), 1, {"none.toml"}));
  EXPECT_TRUE(failed_with(refused(folder.path("")), 1, {"folder"}));
  EXPECT_TRUE(failed_with(run_tern({"serve"}, {.variables = {{"TERN_PORT", "x"}}}), 2, {"TERN_PORT", "'x'"}));
  EXPECT_TRUE(
      failed_with(run_tern({"serve"}, {.variables = {{"TERN_SLOTS", "x"}}}), 2, {"TERN_SLOTS", "true or false"}));
  EXPECT_TRUE(failed_with(run_tern({"serve", "--slot-save-path", default_model(), "--port", "0"}), 1,
                          {default_model(), "folder"}));
  EXPECT_TRUE(failed_with(run_tern({"serve", "--chat-template", "chatml"}), 2, {"chatml", "--template"}));
  EXPECT_TRUE(failed_with(run_tern({"serve", "--cache-ram", "-2"}), 2, {"--cache-ram", "-1"}));
  EXPECT_TRUE(failed_with(run_tern({"serve", "--ssl-cert-file", default_model()}), 2, {"both"}));
  EXPECT_TRUE(failed_with(run_tern({"serve", "--ssl-cert-file", default_model(), "--ssl-key-file", default_model()}), 2,
                          {"PEM"}));
  EXPECT_TRUE(failed_with(run_tern({"serve", "--ssl-cert-file", "none.pem", "--ssl-key-file", "none.pem"}), 1,
                          {"none.pem", "cannot be read"}));
}

TEST(ServeSettings, QuietIsQuiet) {
  const ScratchFolder folder;
  const RunResult result = run_tern({"serve", "-q", "--port", "0", "--static", folder.path("")},
                                    {.on_tick = [](pid_t process) { ::kill(process, SIGINT); }});
  EXPECT_EQ(result.err, "");
}

}  // namespace
}  // namespace tern::test
