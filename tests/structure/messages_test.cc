// Programs without a command line use the library, so its messages must not name command-line flags.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "source_files.h"
#include "support/checkout.h"

namespace fs = std::filesystem;

namespace tern::structure {
namespace {

// The string literals in a line of code that contain one of Tern's flags or scripts.
std::vector<std::string> texts_with_flags(const std::string& line) {
  static const std::regex kText(R"re("((?:[^"\\]|\\.)*)")re");
  static const std::regex kFlag(R"re((^|[\s(`])(--[a-z][a-z-]+|-[a-zA-Z]([\s,;]|$)|-hf\b|\./(setup|run|check)))re");
  std::vector<std::string> found;
  if (line.starts_with("#include") || line.find_first_not_of(' ') == line.find("//")) return found;
  for (auto text = std::sregex_iterator(line.begin(), line.end(), kText); text != std::sregex_iterator(); ++text) {
    if (std::regex_search((*text)[1].first, (*text)[1].second, kFlag)) found.push_back((*text)[1]);
  }
  return found;
}

TEST(Messages, FlagsAreSeen) {
  for (const char* line : {R"(fail("x; use -b cpu");)", R"(fail("leave --head out");)", R"(fail("run ./setup");)",
                           R"(fail("name one with -m");)"}) {
    EXPECT_EQ(texts_with_flags(line).size(), 1u) << line;
  }
  for (const char* line : {R"(  // use "-b cpu")", R"(fail("1 - x, low-bit, f32-");)", R"(x = "a"; // -b cpu)"}) {
    EXPECT_TRUE(texts_with_flags(line).empty()) << line;
  }
}

TEST(Messages, OfTheLibraryNameNoFlags) {
  // A shell command, and a note on how a file was made.
  constexpr std::array<std::string_view, 2> kOthers = {"(ulimit -u)", "Made by `tern synth"};
  size_t n_files = 0;
  for (const std::string& file : files_below(source_path(""), {"src"}, {".cc", ".h"})) {
    if (fs::path(file).stem().string().ends_with("_test")) continue;
    ++n_files;
    std::ifstream in(source_path(file));
    std::string line;
    for (size_t number = 1; std::getline(in, line); ++number) {
      for (const std::string& text : texts_with_flags(line)) {
        const bool is_other = std::ranges::any_of(kOthers, [&](std::string_view part) { return text.contains(part); });
        if (!is_other) ADD_FAILURE() << file << ':' << number << ": \"" << text << '"';
      }
    }
  }
  EXPECT_GT(n_files, 100u);
}

}  // namespace
}  // namespace tern::structure
