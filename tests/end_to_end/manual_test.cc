// Manual pages and completions compared with the program's own help.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "end_to_end/run_program.h"

namespace tern::test {
namespace {

std::set<std::string> matches(const std::string& text, const std::string& pattern) {
  std::set<std::string> found;
  const std::regex expression(pattern, std::regex::multiline);
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at) found.insert((*at)[1]);
  return found;
}

std::string shell_output(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return "";
  char buffer[4096];
  while (const size_t size = fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, size);
  pclose(pipe);
  return text;
}

bool is_installed(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

class Manual : public testing::Test {
 protected:
  ScratchFolder folder;
  std::set<std::string> commands;

  void SetUp() override {
    const RunResult written = run_tern({"manual", folder.path("share"), "--date", "2026-01-02"});
    ASSERT_EQ(written.exit_code, 0) << written.err;
    commands = matches(run_tern({"--help"}).out, "^  ([a-z]+)  +[A-Z]");
    ASSERT_GE(commands.size(), 14u);
  }

  std::string page(const std::string& name) const { return read_file(folder.path("share/man/man1/" + name + ".1")); }

  // What bash offers as completions of the last word.
  std::set<std::string> offered(const std::vector<std::string>& words) const {
    std::string list;
    for (const std::string& word : words) list += " '" + word + "'";
    return matches(shell_output("bash -c \"source " + folder.path("share/bash-completion/completions/tern") +
                                "; COMP_WORDS=(" + list + "); COMP_CWORD=" + std::to_string(words.size() - 1) +
                                R"(; _tern; printf '%s\n' \"\${COMPREPLY[@]}\"")"),
                   "^(.+)$");
  }
};

using WordSet = std::set<std::string>;

TEST_F(Manual, HasAPageForEachCommandWithItsOptions) {
  size_t pages = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder.path("share/man/man1")))
    pages += file.is_regular_file();
  EXPECT_EQ(pages, commands.size() + 1);
  for (const std::string& command : commands) {
    EXPECT_NE(page("tern").find("\\fBtern\\-" + command + "\\fR(1)"), std::string::npos) << command;
    const std::string text = std::regex_replace(page("tern-" + command), std::regex(R"(\\-)"), "-");
    const WordSet options = matches(run_tern({command, "--help"}).out, "^  (?:-., |    )(--[a-z-]+)");
    EXPECT_FALSE(options.empty());
    for (const std::string& option : options) {
      EXPECT_NE(text.find("\\fB" + option + "\\fR"), std::string::npos) << command << " " << option;
    }
  }
}

TEST_F(Manual, IsCleanForMandoc) {
  if (!is_installed("mandoc")) GTEST_SKIP() << "mandoc is not installed";
  EXPECT_EQ(shell_output("mandoc -T lint -W warning " + folder.path("share/man/man1") + "/*.1"), "");
}

TEST_F(Manual, BashOffersCommandsOptionsAndTheirValues) {
  const WordSet first = offered({"tern", ""});
  for (const std::string& command : commands) EXPECT_TRUE(first.contains(command)) << command;
  EXPECT_FALSE(first.contains("manual"));
  EXPECT_EQ(offered({"tern", "tok"}), WordSet{"tokenize"});
  EXPECT_TRUE(offered({"tern", "run", "--"}).contains("--backend"));
  EXPECT_EQ(offered({"tern", "run", "-b", "c"}), WordSet{"cpu"});
  EXPECT_EQ(offered({"tern", "run", "--backend", "=", "web"}), WordSet{"webgpu"});
  EXPECT_EQ(offered({"tern", "run", "--gpu-without", "f16,d"}), WordSet{"f16,dot4"});
  EXPECT_EQ(offered({"tern", "bench", "ker"}), WordSet{"kernels"});
  EXPECT_EQ(offered({"tern", "run", "-n", ""}), WordSet{});
}

TEST_F(Manual, BashOffersFilesWhereFilesAreWanted) {
  const std::string file = folder.write("some file.gguf", "x");
  const std::string start = folder.path("some");
  EXPECT_EQ(offered({"tern", "run", "-m", start}), WordSet{file});
  EXPECT_EQ(offered({"tern", "inspect", start}), WordSet{file});
  EXPECT_EQ(offered({"tern", "run", "--wgsl-dir", start}), WordSet{});
}

TEST_F(Manual, ZshAndFishCanReadTheirs) {
  for (const auto& [shell, file] :
       {std::pair{"zsh", "zsh/site-functions/_tern"}, std::pair{"fish", "fish/vendor_completions.d/tern.fish"}}) {
    if (!is_installed(shell)) continue;
    EXPECT_EQ(shell_output(std::string(shell) + " -n " + folder.path(std::string("share/") + file) + " 2>&1"), "");
  }
  if (!is_installed("fish")) GTEST_SKIP() << "fish is not installed";
  const std::string offers =
      shell_output("fish -c 'source " + folder.path("share/fish/vendor_completions.d/tern.fish") +
                   "; complete -C \"tern run -b \"'");
  EXPECT_NE(offers.find("webgpu"), std::string::npos) << offers;
}

TEST_F(Manual, SaysWhatCannotBeWritten) {
  const RunResult result = run_tern({"manual", folder.write("file", "x")});
  EXPECT_TRUE(failed_with(result, 1, {"cannot be written"}));
}

}  // namespace
}  // namespace tern::test
