#include "cli/terminal/help.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cli/terminal/usage_error.h"

namespace tern::cli {
namespace {

struct Program {
  CLI::App app{"A program with a long description that has to be broken into lines somewhere.", "tern"};
  CLI::App* run = app.add_subcommand("run", "Continue a text");
  double temperature = 0;
  std::string text;
  uint64_t seed = 0;

  Program() {
    app.usage("tern COMMAND");
    app.formatter(std::make_shared<HelpFormatter>());
    app.require_subcommand(0, 1);
    app.add_subcommand("chat", "Talk");
    run->formatter(std::make_shared<HelpFormatter>());
    run->usage("tern run [options]");
    run->footer("Examples\n  tern run -p x");
    run->add_option("--temp", temperature, "Temperature")->type_name("X")->check(in_range(0, 100))->group("Sampling");
    run->add_option("--seed", seed, "Seed")->type_name("N")->group("Sampling");
    run->add_option("-p,--prompt", text, "The text")->type_name("TEXT")->group("Prompt");
  }

  // Returns the usage error for this command line, or "" if it parses.
  std::string parse(const std::string& line) {
    try {
      app.parse(line, false);
    } catch (const CLI::ParseError& error) {
      return usage_error(app, error);
    }
    return "";
  }
};

TEST(Help, SuggestsTheNearestCommand) {
  EXPECT_EQ(Program().parse("rnu"), "unknown command 'rnu'; did you mean 'run'? (see 'tern --help')");
  EXPECT_EQ(Program().parse("zzzzzzzz"), "unknown command 'zzzzzzzz' (see 'tern --help')");
}

TEST(Help, SuggestsTheNearestOption) {
  EXPECT_EQ(Program().parse("run --tmep=1"),
            "run: unknown option '--tmep'; did you mean '--temp'? (see 'tern run --help')");
  EXPECT_EQ(Program().parse("run stray"),
            "run: there is no use for 'stray'; the usage is 'tern run [options]' (see 'tern run --help')");
}

TEST(Help, SaysWhatAParserSaysInSentences) {
  EXPECT_EQ(Program().parse("run -p x -p y"), "run: --prompt may be given only once (see 'tern run --help')");
  EXPECT_EQ(Program().parse("run -p"), "run: --prompt needs a value: --prompt TEXT (see 'tern run --help')");
  EXPECT_EQ(Program().parse("run --seed many"),
            "run: --seed: 'many' is not a whole number from 0 up (see 'tern run --help')");
  Program either;
  either.run->add_flag("--chat")->excludes("--prompt");
  EXPECT_EQ(either.parse("run -p x --chat"), "run: give either --prompt or --chat, not both (see 'tern run --help')");
  Program missing;
  missing.run->add_option("file", missing.text)->required()->option_text("FILE");
  EXPECT_EQ(missing.parse("run"), "run: FILE is missing; the usage is 'tern run [options]' (see 'tern run --help')");
}

TEST(Help, NamesOfOtherProgramsLeadToTheRightCommand) {
  Program program;
  program.app.add_subcommand("list", "List")->group("Models");
  EXPECT_EQ(program.parse("ls"), "unknown command 'ls'; did you mean 'list'? (see 'tern --help')");
  EXPECT_EQ(Program().parse("hlep"), "unknown command 'hlep'; did you mean 'help'? (see 'tern --help')");
}

TEST(Help, RangeRefusesWhatIsNoFiniteNumberInIt) {
  for (const char* bad : {"nan", "inf", "-1", "101", "abc", "1x", ""}) {
    Program program;
    const std::string error = program.parse(std::string("run --temp=") + bad);
    EXPECT_NE(error, "") << bad;
    EXPECT_EQ(error.find('\n'), error.npos) << bad;
  }
  Program program;
  EXPECT_EQ(program.parse("run --temp 0.25"), "");
  EXPECT_EQ(program.temperature, 0.25);
}

TEST(Help, PageHasGroupsOptionsAndExamples) {
  Program program;
  const std::string page = program.run->help();
  for (const char* part : {"Continue a text\n", "Usage  tern run [options]\n", "\nSampling\n", "\nPrompt\n",
                           "  -p, --prompt TEXT", "      --temp X", "-h, --help", "Examples\n  tern run -p x\n"}) {
    EXPECT_NE(page.find(part), page.npos) << part << " is missing from:\n" << page;
  }
}

TEST(Help, PageOfTheProgramListsItsCommands) {
  const std::string page = Program().app.help();
  EXPECT_NE(page.find("  run "), page.npos) << page;
  EXPECT_NE(page.find("Continue a text\n"), page.npos) << page;
}

}  // namespace
}  // namespace tern::cli
