#include <gtest/gtest.h>

#include "cli/manual/completions.h"
#include "cli/manual/manual_pages.h"
#include "cli/terminal/help.h"

namespace tern::cli {
namespace {

struct ManualProgram {
  CLI::App app{"Runs models. More words.", "tern"};
  std::string text, form, list, file;

  ManualProgram() {
    app.usage("tern COMMAND [options]");
    app.set_help_flag("-h,--help", "Print this page")->group("Other");
    app.add_subcommand("secret", "Not to be seen")->group("");
    CLI::App* run = app.add_subcommand("run", "Continue a text: don't stop.");
    run->group("Text");
    run->usage("tern run [TEXT] [options]");
    run->footer("Examples\n  tern run -p \"x\" 'y' \\ ~\n  .5 begins a line\n\nA paragraph – with a dash.\n");
    run->add_option("text", text, "The text")->option_text("TEXT")->group("Prompt");
    run->add_option("-f,--file", file, "A file [of text]")->type_name("FILE")->check(not_empty())->group("Prompt");
    run->add_option("--form", form, "How: a, b")->type_name("FORM")->check(one_of({"a", "b"}))->group("Output");
    run->add_option("--hidden", form, "Not to be seen")->type_name("X")->group("");
    run->add_option("--some", list, "Some")
        ->type_name("LIST")
        ->delimiter(',')
        ->check(one_of({"c", "d"}))
        ->group("Output");
  }

  ProgramDescription description() const { return describe_program(app); }

  std::string page(const std::string& name) const {
    for (const auto& [file_name, page] : manual_pages(description(), {.version = "1.2.3", .date = "2026-01-02"})) {
      if (file_name == name) return page;
    }
    return "";
  }
};

testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != text.npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << part << " is missing from:\n" << text;
}

TEST(Manual, DescriptionKnowsValuesAndHidesWhatIsHidden) {
  const ProgramDescription about = ManualProgram().description();
  ASSERT_EQ(about.commands.size(), 1u);
  const std::vector<OptionDescription>& options = about.commands[0].options;
  ASSERT_EQ(options.size(), 5u);
  EXPECT_EQ(options[0].names, std::vector<std::string>{"TEXT"});
  EXPECT_TRUE(options[0].positional);
  EXPECT_EQ(options[1].names, (std::vector<std::string>{"-f", "--file"}));
  EXPECT_EQ(options[1].kind, ArgumentKind::kFile);
  EXPECT_EQ(options[2].kind, ArgumentKind::kChoice);
  EXPECT_EQ(options[2].choices, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(options[3].list);
  EXPECT_EQ(options[4].names, (std::vector<std::string>{"-h", "--help"}));
}

TEST(Manual, PagesOfProgramAndCommands) {
  const ManualProgram program;
  EXPECT_EQ(manual_pages(program.description(), {}).size(), 2u);
  EXPECT_TRUE(has(program.page("tern.1"), ".TH TERN 1 2026-01-02 \"Tern 1.2.3\" \"Tern\"\n"));
  EXPECT_TRUE(has(program.page("tern.1"), "\\fBtern\\-run\\fR(1)\n"));
  const std::string page = program.page("tern-run.1");
  for (const char* part : {"tern\\-run \\- continue a text: don\\(aqt stop\n", "\\fBtern run\\fR [TEXT] [options]\n",
                           "\\fB\\-f\\fR, \\fB\\-\\-file\\fR \\fIFILE\\fR\n", "One of: c, d.", ".SH EXAMPLES\n",
                           ".SH NOTES\nA paragraph \\[u2013] with a dash.\n", ".SH SEE ALSO\n.BR tern (1)\n"}) {
    EXPECT_TRUE(has(page, part));
  }
  EXPECT_EQ(page.find("hidden"), page.npos) << page;
}

TEST(Manual, NothingInATextIsAnEscapeOrAMacro) {
  const std::string page = ManualProgram().page("tern-run.1");
  EXPECT_TRUE(has(page, "tern run \\-p \\(dqx\\(dq \\(aqy\\(aq \\e \\(ti\n"));
  EXPECT_TRUE(has(page, "\n\\&.5 begins a line\n"));
}

TEST(Completions, NameCommandsOptionsAndValues) {
  const ProgramDescription about = ManualProgram().description();
  const std::string bash = bash_completions(about), zsh = zsh_completions(about), fish = fish_completions(about);
  EXPECT_TRUE(has(bash, "'') _tern_words 'run -h --help' ;;"));
  EXPECT_TRUE(has(bash, "-f | --file) _tern_files; return ;;"));
  EXPECT_TRUE(has(bash, "--form) _tern_words 'a b'; return ;;"));
  EXPECT_TRUE(has(bash, "--some) _tern_list 'c d'; return ;;"));
  EXPECT_TRUE(has(zsh, "'run:Continue a text\\: don'\\''t stop.'"));
  EXPECT_TRUE(has(zsh, "'(-f --file)--file=[A file (of text)]:FILE:_files'"));
  EXPECT_TRUE(has(zsh, "'--some=[Some]:LIST:_values -s , word c d'"));
  EXPECT_TRUE(has(fish, "-l form -x -a 'a b' -d 'How: a, b'"));
  EXPECT_TRUE(has(fish, "-s f -l file -r -F -d 'A file [of text]'"));
  for (const std::string& script : {bash, zsh, fish}) {
    EXPECT_EQ(script.find("secret"), script.npos);
    EXPECT_EQ(script.find("hidden"), script.npos);
  }
}

}  // namespace
}  // namespace tern::cli
