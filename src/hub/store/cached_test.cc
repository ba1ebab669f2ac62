#include <gtest/gtest.h>

#include <filesystem>

#include "hub/hub_test_support.h"
#include "hub/store/file_lock.h"
#include "tern/hub.h"

namespace tern::hub {
namespace {

namespace fs = std::filesystem;

const std::string kCommit(40, 'a');
const std::string kOlder(40, 'b');

class CachedTest : public testing::Test {
 protected:
  // Adds a repository's file in huggingface_hub's layout.
  void add(const std::string& repo, const std::string& commit, const std::string& path, const std::string& blob,
           size_t bytes) {
    folder_.write("hub/" + repo + "/blobs/" + blob, std::string(bytes, 'x'));
    const fs::path link = folder_.path("hub/" + repo + "/snapshots/" + commit + "/" + path);
    fs::create_directories(link.parent_path());
    fs::create_symlink(fs::path(folder_.path("hub/" + repo + "/blobs/" + blob)), link);
  }

  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const CachedModel& model : hub_cached(options_).value())
      all.push_back(model.name + " " + std::to_string(model.bytes) + (model.unfinished ? " unfinished" : ""));
    return all;
  }

  bool is_there(const std::string& path) const { return fs::exists(folder_.path("hub/" + path)); }

  TestFolder folder_;
  HubOptions options_{.cache_dir = folder_.path("hub")};
};

using Names = std::vector<std::string>;

TEST_F(CachedTest, NoCacheHoldsNothing) { EXPECT_EQ(names(), Names{}); }

TEST_F(CachedTest, ListsWhatCanBeRun) {
  add("models--owner--name", kCommit, "model-q8_0.gguf", "1", 300);
  add("models--owner--name", kOlder, "model-q8_0.gguf", "1", 300);  // the same bytes
  add("models--owner--name", kCommit, "README.md", "2", 5);
  add("models--owner--split", kCommit, "m-00001-of-00002.gguf", "3", 100);
  add("models--owner--split", kCommit, "m-00002-of-00002.gguf", "4", 50);
  add("models--a--tensors", kCommit, "model.safetensors", "5", 70);
  add("models--a--tensors", kCommit, "config.json", "6", 7);
  folder_.write("hub/models--a--begun/blobs/7.tern.incomplete", "x");
  folder_.write("hub/datasets--a--b/blobs/8", "x");
  EXPECT_EQ(names(), (Names{"a/begun 0 unfinished", "a/tensors 77", "owner/name:model-q8_0.gguf 300",
                            "owner/split:m-00001-of-00002.gguf 150"}));
}

TEST_F(CachedTest, RemovesAFileAndKeepsWhatOthersNeed) {
  add("models--owner--name", kCommit, "one.gguf", "1", 300);
  add("models--owner--name", kOlder, "one.gguf", "2", 200);
  add("models--owner--name", kCommit, "two.gguf", "3", 100);
  add("models--owner--name", kCommit, "copy.gguf", "2", 200);
  EXPECT_EQ(hub_remove("owner/name:one.gguf", options_).value(), 300u);
  EXPECT_FALSE(is_there("models--owner--name/blobs/1"));
  EXPECT_TRUE(is_there("models--owner--name/blobs/2"));  // copy.gguf
  EXPECT_EQ(names(), (Names{"owner/name:copy.gguf 200", "owner/name:two.gguf 100"}));
  EXPECT_EQ(hub_remove("owner/name:two", options_).value(), 100u);  // a part of its name
  EXPECT_EQ(hub_remove("owner/name", options_).value(), 200u);
  EXPECT_FALSE(is_there("models--owner--name"));
}

TEST_F(CachedTest, RemovesAllPartsOfASplitModel) {
  add("models--owner--split", kCommit, "m-00001-of-00002.gguf", "3", 100);
  add("models--owner--split", kCommit, "m-00002-of-00002.gguf", "4", 50);
  EXPECT_EQ(hub_remove("owner/split:m-00001-of-00002.gguf", options_).value(), 150u);
  EXPECT_FALSE(is_there("models--owner--split"));
}

TEST_F(CachedTest, SaysWhatCannotBeRemoved) {
  add("models--owner--name", kCommit, "one.gguf", "1", 300);
  add("models--owner--name", kCommit, "one-more.gguf", "2", 300);
  EXPECT_EQ(hub_remove("owner/other", options_).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(hub_remove("owner/name:three", options_).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(hub_remove("owner/name:on", options_).error().message.contains("one-more.gguf, one.gguf") ||
              hub_remove("owner/name:on", options_).error().message.contains("one.gguf, one-more.gguf"));
  EXPECT_EQ(hub_remove("../..", options_).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(CachedTest, LeavesADownloadThatIsUnderWay) {
  add("models--owner--name", kCommit, "one.gguf", "1", 300);
  const std::string path = folder_.write("hub/.locks/models--owner--name/9.lock", "");
  const auto lock = FileLock::take(path, {}, [] {});
  const auto removed = hub_remove("owner/name", options_);
  ASSERT_FALSE(removed);
  EXPECT_TRUE(removed.error().message.contains("another process")) << removed.error().message;
  EXPECT_TRUE(is_there("models--owner--name/blobs/1"));
}

}  // namespace
}  // namespace tern::hub
