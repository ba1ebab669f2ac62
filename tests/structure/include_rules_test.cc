#include "include_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

#include "support/checkout.h"

namespace fs = std::filesystem;

namespace tern::structure {
namespace {

// A made-up source tree in a temporary folder.
class MadeUpTree : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) /
            ("include_rules_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const fs::path& path, std::string_view text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  [[nodiscard]] const fs::path& root() const { return root_; }
  [[nodiscard]] std::vector<std::string> check() const { return check_includes(root_); }

 private:
  fs::path root_;
};

using Lines = std::vector<std::string>;

TEST(IncludeTable, HoldsForThisProject) {
  const Lines violations = check_includes(source_path(""));
  EXPECT_TRUE(violations.empty());
  for (const std::string& line : violations) ADD_FAILURE() << line;
}

TEST(IncludeTable, NoFoldersIncludeEachOther) {
  const Lines cycles = find_folder_cycles(source_path(""));
  EXPECT_TRUE(cycles.empty());
  for (const std::string& line : cycles) ADD_FAILURE() << line;
}

TEST(IncludeTable, SeesTheProjectAtAll) {
  EXPECT_TRUE(fs::is_regular_file(fs::path(source_path("include/tern/engine.h"))));
  EXPECT_TRUE(fs::is_directory(fs::path(source_path("src/base"))));
}

TEST(IncludeTable, NamesOnlyItsOwnFolders) {
  for (const FolderRule& rule : include_table()) {
    for (const std::string_view target : rule.may_include) {
      EXPECT_TRUE(std::ranges::contains(include_table(), target, &FolderRule::folder))
          << rule.folder << " names " << target << ", which has no row";
    }
  }
}

// Backends are alternatives: none may use another, because tests that compare one with the other would prove nothing.
TEST(IncludeTable, KeepsBackendsApart) {
  for (const FolderRule& rule : include_table()) {
    if (!rule.folder.starts_with("src/backend/")) continue;
    for (const std::string_view target : rule.may_include) {
      const bool own = target.starts_with(rule.folder) || rule.folder.starts_with("src/backend/gpu/") ||
                       rule.folder.starts_with(std::string(target) + "/");
      EXPECT_TRUE(own || !target.starts_with("src/backend/")) << rule.folder << " may include " << target;
    }
  }
}

TEST_F(MadeUpTree, AllowedIncludesPass) {
  write("include/tern/engine.h", "#include \"tern/error.h\"\n#include <vector>\n");
  write("include/tern/error.h", "");
  write("src/base/bytes.h", "#include \"tern/error.h\"\n");
  write("src/file/gguf/gguf.h", "#include \"base/bytes.h\"\n");
  write("src/file/gguf/gguf.cc", "#include \"file/gguf/gguf.h\"\n#include \"gguf.h\"\n#include \"hwy/highway.h\"\n");
  write("src/backend/backend.h", "");
  write("src/backend/cpu/matvec.cc", "#include \"backend/backend.h\"\n");
  write("src/engine/engine.cc", "#include \"backend/cpu/matvec.cc\"\n#include \"file/gguf/gguf.h\"\n");
  write("apps/cli/terminal/help.h", "");
  write("apps/cli/main.cc", "#include \"cli/terminal/help.h\"\n#include \"tern/engine.h\"\n");
  EXPECT_EQ(check(), Lines{});
}

TEST_F(MadeUpTree, UpwardIncludeIsReportedWithItsLine) {
  write("src/model/source/config.h", "");
  write("src/file/gguf/gguf.cc", "// comment\n\n#include \"model/source/config.h\"\n");
  EXPECT_EQ(check(), Lines{"src/file/gguf/gguf.cc:3: src/file may not include src/model (model/source/config.h)"});
}

TEST_F(MadeUpTree, BackendsMayNotIncludeEachOther) {
  write("src/backend/ref/softmax.h", "");
  write("src/backend/cpu/softmax.h", "#include \"backend/ref/softmax.h\"\n");
  write("src/backend/fake/fake.cc", "#include \"backend/cpu/softmax.h\"\n");
  EXPECT_EQ(
      check(),
      (Lines{"src/backend/cpu/softmax.h:1: src/backend/cpu may not include src/backend/ref (backend/ref/softmax.h)",
             "src/backend/fake/fake.cc:1: src/backend/fake may not include src/backend/cpu "
             "(backend/cpu/softmax.h)"}));
}

TEST_F(MadeUpTree, SharedBackendCodeMayNotIncludeABackend) {
  write("src/backend/cpu/softmax.h", "");
  write("src/backend/registry.cc", "#include \"backend/cpu/softmax.h\"\n");
  EXPECT_EQ(check(),
            Lines{"src/backend/registry.cc:1: src/backend may not include src/backend/cpu (backend/cpu/softmax.h)"});
}

TEST_F(MadeUpTree, PublicHeadersMayNotIncludeTheInside) {
  write("src/base/bytes.h", "");
  write("include/tern/engine.h", "#  include \"base/bytes.h\"\n");
  EXPECT_EQ(check(), Lines{"include/tern/engine.h:1: include/tern may not include src/base (base/bytes.h)"});
}

TEST_F(MadeUpTree, AppsMayNotIncludeTheInsideOrEachOther) {
  write("src/engine/engine_impl.h", "");
  write("apps/web/page.h", "");
  write("apps/server/http.h", "");
  write("apps/load/run.h", "#include \"server/http.h\"\n");
  write("apps/cli/main.cc",
        "#include \"engine/engine_impl.h\"\n#include \"web/page.h\"\n#include \"server/http.h\"\n"
        "#include \"load/run.h\"\n");
  EXPECT_EQ(check(), (Lines{"apps/cli/main.cc:1: apps/cli may not include src/engine (engine/engine_impl.h)",
                            "apps/cli/main.cc:2: apps/cli may not include apps/web (web/page.h)",
                            "apps/load/run.h:1: apps/load may not include apps/server (server/http.h)"}))
      << "and the commands may include the server and the load";
}

TEST_F(MadeUpTree, RelativePathsAndAngleBracketsAreNoWayAround) {
  write("src/text/tokenizer/vocab.h", "");
  write("src/quant/formats/i2_s.cc", "#include \"../../text/tokenizer/vocab.h\"\n#include <text/tokenizer/vocab.h>\n");
  EXPECT_EQ(check(),
            (Lines{"src/quant/formats/i2_s.cc:1: src/quant may not include src/text (../../text/tokenizer/vocab.h)",
                   "src/quant/formats/i2_s.cc:2: src/quant may not include src/text (text/tokenizer/vocab.h)"}));
}

TEST_F(MadeUpTree, SubfoldersFollowTheirFolder) {
  write("src/file/gguf/gguf.h", "");
  write("src/text/bpe/merge.cc", "#include \"file/gguf/gguf.h\"\n");
  EXPECT_EQ(check(), Lines{"src/text/bpe/merge.cc:1: src/text may not include src/file (file/gguf/gguf.h)"});
}

TEST_F(MadeUpTree, CyclesOfFoldersAreFoundOverSeveralSteps) {
  write("src/a/a.h", "#include \"a/inner/own.h\"\n");
  write("src/a/inner/own.h", "");
  write("src/a/inner/other.h", "#include \"b/b.h\"\n");
  write("src/b/b.h", "#include \"a/a.h\"\n");
  write("src/b/b_test.cc", "#include \"c/c.h\"\n");
  write("src/c/c.h", "#include \"b/b.h\"\n");
  EXPECT_EQ(find_folder_cycles(root()),
            (Lines{"src/a -> src/a/inner -> src/b -> src/a", "src/a/inner -> src/b -> src/a -> src/a/inner",
                   "src/b -> src/a -> src/a/inner -> src/b"}));
}

TEST_F(MadeUpTree, FolderWithoutARowIsReported) {
  write("src/misc/helpers.h", "");
  EXPECT_EQ(check(), Lines{"src/misc/helpers.h: its folder has no row in the include table"});
}

}  // namespace
}  // namespace tern::structure
