#include "house_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <sstream>

#include "base/files/mapped_file.h"
#include "source_files.h"
#include "support/checkout.h"

namespace fs = std::filesystem;

namespace tern::structure {
namespace {

// Files that may be longer, and how long: loop nests, lists, and fixtures whose parts need each other.
const std::map<std::string, size_t> kLongerFiles = {
    {"include/tern/tern.h", 480},
    {"src/backend/cpu/ops/attention.cc", 600},
    {"src/backend/gpu/kernels/attention/attention.cc", 420},
    {"src/backend/gpu/kernels/golden/golden_cases_test_support.cc", 500},
    {"src/engine/scheduler_test.cc", 437},
    {"tests/conform/gpu/plan_test.cc", 480},
    {"tests/conform/head_test.cc", 420},
};

// Functions that may be longer, by their files. Kernels are read from top to bottom, like the WGSL that they write.
const std::map<std::string, size_t> kFilesWithLongerFunctions = {
    {"apps/cli/commands/run.cc", 1},
    {"src/backend/gpu/kernels/attention/attention.cc", 1},
    {"src/backend/gpu/kernels/head/best_logits.cc", 1},
    {"src/backend/gpu/kernels/head_tile.h", 1},
    {"src/backend/gpu/kernels/megakernel/layers_positions.cc", 1},
    {"src/backend/gpu/kernels/head/sample.cc", 1},
    {"src/backend/gpu/kernels/attention/serial_attention.cc", 2},
    {"src/backend/gpu/run/profile/time_ops.cc", 1},
    {"src/backend/gpu/record/layout_settings.cc", 1},
};

constexpr size_t kMaxFilesInFolder = 40;
constexpr int64_t kMostWordsOfDocs = 26'000;

std::string read(const std::string& file) { return read_text_file(source_path(file)).value(); }

std::vector<std::string> code() {
  return files_below(source_path(""), {"include", "src", "apps", "tests", "bench", "packaging"}, {".cc", ".h"});
}

void report(const std::string& file, const std::vector<Fault>& faults) {
  for (const Fault& fault : faults) ADD_FAILURE() << file << ":" << fault.line << ": " << fault.what;
}

TEST(HouseRules, CommentsAreSentencesAboutThings) {
  const std::vector<std::string> files = code();
  ASSERT_GT(files.size(), 1000u);
  for (const std::string& file : files) report(file, check_comments(read(file)));
}

TEST(HouseRules, ThreadsStartWhereRefusedOnesAreErrors) {
  for (const std::string& file : files_below(source_path(""), {"src", "apps"}, {".cc", ".h"})) {
    const bool is_test = file.ends_with("_test.cc") || file.contains("_test_support.");
    if (!is_test && file != "src/base/start_thread.h") report(file, check_threads(read(file)));
  }
}

TEST(HouseRules, FilesAreShort) {
  for (const std::string& file : code()) {
    const std::string text = read(file);
    const auto lines = static_cast<size_t>(std::ranges::count(text, '\n'));
    const auto longer = kLongerFiles.find(file);
    EXPECT_LE(lines, longer == kLongerFiles.end() ? kMaxFileLines : longer->second) << file << ": split it";
    if (longer != kLongerFiles.end()) EXPECT_GT(lines, kMaxFileLines) << file << " needs no exception";
  }
}

TEST(HouseRules, FoldersAreSmall) {
  std::map<fs::path, size_t> n_files;
  for (const std::string& file : code()) ++n_files[fs::path(file).parent_path()];
  for (const auto& [folder, n] : n_files)
    EXPECT_LE(n, kMaxFilesInFolder) << folder << ": make folders of what belongs together";
}

TEST(HouseRules, FunctionsAreShort) {
  for (const std::string& file : files_below(source_path(""), {"include", "src", "apps"}, {".cc", ".h"})) {
    if (file.ends_with("_test.cc")) continue;  // a table of cases may be long
    const std::vector<Fault> faults = check_functions(read(file));
    const auto longer = kFilesWithLongerFunctions.find(file);
    if (longer == kFilesWithLongerFunctions.end()) report(file, faults);
    if (longer != kFilesWithLongerFunctions.end()) EXPECT_EQ(faults.size(), longer->second) << file;
  }
}

TEST(HouseRules, PagesCanBeReadInAnAfternoon) {
  int64_t n_words = 0;
  for (const std::string& page : files_below(source_path(""), {"docs"}, {".md"})) {
    std::istringstream text(read(page));
    n_words += std::distance(std::istream_iterator<std::string>(text), {});
  }
  EXPECT_LE(n_words, kMostWordsOfDocs);
}

TEST(HouseRules, LinksLeadToFiles) {
  std::vector<std::string> pages =
      files_below(source_path(""), {"docs", "models", "training", "apps", "packaging", "python", "tests"}, {".md"});
  pages.insert(pages.end(), {"README.md", "CONTRIBUTING.md", "CHANGELOG.md"});
  for (const std::string& page : pages) {
    report(page, check_links(read(page), fs::path(source_path(page)).parent_path()));
  }
}

TEST(CheckComments, SeesWhatIsNotPlain) {
  EXPECT_EQ(check_comments("int a;  // for whoever reads it\n").size(), 1u);
  EXPECT_EQ(check_comments("// Of each row, the greatest.\n").size(), 1u);
  EXPECT_EQ(check_comments("// Nobody waits.\n// Such is life.\n").size(), 1u) << "the second line goes on";
  EXPECT_TRUE(check_comments("// Reads a row of\n// Such tokens.\nint whom;\n").empty());
  EXPECT_TRUE(check_comments("text = \"http://who\";\n").empty());
}

TEST(HouseRules, FindThreads) {
  for (const char* line : {"thread_ = std::jthread([] {});", "std::thread one(f);", "A() : thread_([this] {}) {}",
                           "auto f = std::async(std::launch::async, g);"}) {
    EXPECT_EQ(check_threads(line).size(), 1u) << line;
  }
  for (const char* line : {"std::jthread thread_;", "std::vector<std::jthread> all;", "std::this_thread::yield();"})
    EXPECT_TRUE(check_threads(line).empty()) << line;
}

TEST(CheckFunctions, CountsFromHeadToBrace) {
  const auto function = [](size_t lines) {
    std::string text = "int f(int a,\n      int b) {\n";
    for (size_t i = 3; i < lines; ++i) text += i % 7 == 0 ? "#endif\n" : "  a += b;\n";
    return text + "}\n";
  };
  EXPECT_TRUE(check_functions(function(kMaxFunctionLines)).empty());
  ASSERT_EQ(check_functions("int g();\n" + function(kMaxFunctionLines + 1)).size(), 1u);
  EXPECT_EQ(check_functions("int g();\n" + function(kMaxFunctionLines + 1)).front().line, 2u);
  EXPECT_TRUE(check_functions("struct A {\n" + std::string(100, '\n') + "};\nint g() { return 1; }\n").empty());
}

TEST(CheckLinks, SeesWhatIsNotThere) {
  const fs::path folder = source_path("docs");
  EXPECT_TRUE(check_links("[a](gpu.md) [b](../README.md#x) [c](https://x.y/z) [d](#here)\n", folder).empty());
  const auto faults = check_links("\n[a](nothing.md#x)\n", folder);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults.front().line, 2u);
}

}  // namespace
}  // namespace tern::structure
