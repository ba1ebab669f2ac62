#include "base/files/draft_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <thread>
#include <vector>

namespace fs = std::filesystem;

namespace tern {
namespace {

class DraftFileTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("drafts_" + std::to_string(GetParam()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    target_ = (folder_ / "model.gguf").string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  platform::SystemResult<DraftFile> create() const { return DraftFile::create(target_, {.is_named = GetParam()}); }

  static platform::SystemResult<void> write(DraftFile& draft, std::string_view text) {
    return draft.file().write(std::as_bytes(std::span(text)));
  }

  std::string there() const {
    std::ifstream file(target_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  size_t n_files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {})); }

  fs::path folder_;
  std::string target_;
};

TEST_P(DraftFileTest, AppearsWhenItIsKeptAndReplacesAnOldFile) {
  for (const char* text : {"first", "second"}) {
    const std::string before = there();
    auto draft = create();
    ASSERT_TRUE(draft) << draft.error().message();
    ASSERT_TRUE(write(*draft, text));
    EXPECT_EQ(there(), before);
    ASSERT_TRUE(draft->keep());
    EXPECT_EQ(there(), text);
    EXPECT_EQ(n_files(), 1u);
  }
}

TEST_P(DraftFileTest, ADroppedOneLeavesNothing) {
  {
    auto draft = create();
    ASSERT_TRUE(draft && write(*draft, "half"));
  }
  EXPECT_EQ(n_files(), 0u);
}

TEST_P(DraftFileTest, TheEndOfTheProgramRemovesIt) {
  auto draft = create();
  ASSERT_TRUE(draft && write(*draft, "half"));
  remove_unfinished_files();
  EXPECT_EQ(n_files(), 0u);
}

TEST_P(DraftFileTest, RemovesWhatAKilledWriterLeftAndNothingElse) {
  auto living = DraftFile::create(target_, {.is_named = true});
  ASSERT_TRUE(living);
  const std::vector<std::string> others = {"model.gguf.partial", "model.gguf.1-x.partial", "model.gguf.1-2.partial.txt",
                                           "other.gguf.1-2.partial"};
  for (const std::string& name : others) std::ofstream(folder_ / name) << "theirs";
  std::ofstream(target_ + ".4000000-7.partial") << "half";
  {
    auto draft = create();
    ASSERT_TRUE(draft);
    EXPECT_FALSE(fs::exists(target_ + ".4000000-7.partial"));
  }
  EXPECT_EQ(n_files(), others.size() + 1);
  ASSERT_TRUE(write(*living, "whole"));
  ASSERT_TRUE(living->keep());
  EXPECT_EQ(there(), "whole");
}

TEST_P(DraftFileTest, ManyWritersOfOneTargetAllSucceed) {
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 200; ++i) {
        auto draft = create();
        ASSERT_TRUE(draft) << draft.error().message();
        ASSERT_TRUE(write(*draft, std::string(1000, static_cast<char>('a' + thread))));
        const auto kept = draft->keep();
        ASSERT_TRUE(kept) << kept.error().message();
      }
    });
  }
  threads.clear();
  EXPECT_EQ(there(), std::string(1000, there().at(0)));
  EXPECT_EQ(n_files(), 1u);
}

INSTANTIATE_TEST_SUITE_P(All, DraftFileTest, testing::Bool(),
                         [](const auto& param) { return param.param ? "Named" : "Unnamed"; });

}  // namespace
}  // namespace tern
