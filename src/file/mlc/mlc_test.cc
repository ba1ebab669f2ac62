#include "file/mlc/mlc.h"

#include <gtest/gtest.h>

#include "base/result_test_support.h"
#include "file/mlc/mlc_test_support.h"
#include "file/safetensors/safetensors_test_support.h"

namespace tern {
namespace {

using enum ErrorCode;
namespace fs = std::filesystem;

class MlcTest : public testing::Test {
 protected:
  MlcTest() { two_shards().write(folder_); }
  ~MlcTest() override {
    fs::remove_all(folder_);
    fs::remove_all(stamps_);
  }

  static MlcBytes two_shards() {
    return MlcBytes()
        .tensor("a", "uint8", {2}, "aa")
        .tensor("b", "float16", {1}, "bb")
        .shard()
        .tensor("c", "uint32", {1}, "cccc");
  }
  Result<MlcDirectory> open(int n_threads = 1) const {
    return MlcDirectory::open(folder_, {.stamp_folder = stamps_, .n_threads = n_threads});
  }
  void expect_refused(ErrorCode code, std::string_view part) const {
    expect_failure(open(), code, part, folder_.string());
  }
  void overwrite(std::string_view name, std::string_view text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  const fs::path folder_ = fresh_folder("mlc");
  const fs::path stamps_ = fresh_folder("mlc_stamps");
};

TEST_F(MlcTest, ReadsTensors) {
  for (const int n_threads : {1, 3}) {
    const auto model = MlcDirectory::open(folder_, {.n_threads = n_threads});
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_TRUE(is_mlc_directory(folder_));
    ASSERT_EQ(model->tensors().size(), 3u);
    EXPECT_EQ(as_text(model->find("a")->data), "aa");
    EXPECT_EQ(as_text(model->find("b")->data), "bb");
    EXPECT_EQ(as_text(model->find("c")->data), "cccc");
    EXPECT_EQ(model->find("d"), nullptr);
    EXPECT_EQ(model->find("aa"), nullptr) << "between two names";
    EXPECT_EQ(model->file_bytes(), 8u);
    EXPECT_TRUE(model->computed_sums());
  }
}

TEST_F(MlcTest, BothNamesOfTheIndex) {
  fs::rename(folder_ / "ndarray-cache.json", folder_ / "tensor-cache.json");
  EXPECT_TRUE(open());
  fs::remove(folder_ / "tensor-cache.json");
  EXPECT_FALSE(is_mlc_directory(folder_));
  expect_refused(kNotFound, "neither tensor-cache.json nor ndarray-cache.json is there");
}

TEST_F(MlcTest, ShardsOfAnotherRevisionAreRefused) {
  overwrite("params_shard_0.bin", "aaBb");  // same names and sizes, other weights
  expect_refused(kCorruption, "params_shard_0.bin: the file has the MD5 ");
  expect_refused(kCorruption, "belong to different revisions");
  overwrite("params_shard_0.bin", "aabbb");
  expect_refused(kCorruption, "params_shard_0.bin: the file has 5 bytes, but ");
  overwrite("params_shard_0.bin", "");
  expect_refused(kCorruption, "params_shard_0.bin: the file is empty");
  fs::remove(folder_ / "params_shard_0.bin");
  expect_refused(kNotFound, "file 'params_shard_0.bin' is missing");
}

TEST_F(MlcTest, TheCheckIsRemembered) {
  EXPECT_TRUE(open()->computed_sums());
  EXPECT_FALSE(open()->computed_sums());
  EXPECT_EQ(as_text(open()->find("c")->data), "cccc");
  EXPECT_TRUE(MlcDirectory::open(folder_, {})->computed_sums());  // no folder to remember it in
}

TEST_F(MlcTest, AChangeIsNoticed) {
  ASSERT_TRUE(open());
  overwrite("params_shard_1.bin", "cccd");
  expect_refused(kCorruption, "params_shard_1.bin: the file has the MD5 ");
  overwrite("params_shard_1.bin", "cccc");
  EXPECT_TRUE(open()->computed_sums());
  // Another program may restore the write time; the size is also the same.
  const auto time = fs::last_write_time(folder_ / "params_shard_1.bin");
  overwrite("params_shard_1.bin", "cccd");
  fs::last_write_time(folder_ / "params_shard_1.bin", time);
  expect_refused(kCorruption, "params_shard_1.bin: the file has the MD5 ");
}

TEST_F(MlcTest, AnotherIndexIsCheckedAgainstTheShards) {
  ASSERT_TRUE(open());
  MlcBytes()
      .tensor("a", "uint8", {2}, "ab")
      .tensor("b", "float16", {1}, "bb")
      .shard()
      .tensor("c", "uint32", {1}, "cccc")
      .write(folder_);
  overwrite("params_shard_0.bin", "aabb");
  expect_refused(kCorruption, "the file has the MD5 ");
}

TEST_F(MlcTest, DamagedStampsAreWorthNothing) {
  ASSERT_TRUE(open());
  for (const auto& entry : fs::recursive_directory_iterator(stamps_)) {
    if (entry.is_regular_file()) std::ofstream(entry.path(), std::ios::app) << "x";
  }
  EXPECT_TRUE(open()->computed_sums());
  EXPECT_FALSE(open()->computed_sums());
  // A folder that cannot be created counts as none.
  EXPECT_TRUE(MlcDirectory::open(folder_, {.stamp_folder = folder_ / "params_shard_0.bin"})->computed_sums());
}

TEST_F(MlcTest, TellsHowFarItIs) {
  std::vector<uint64_t> seen;
  const auto note = [&](uint64_t done, uint64_t total) {
    EXPECT_EQ(total, 8u);
    seen.push_back(done);
  };
  ASSERT_TRUE(MlcDirectory::open(folder_, {.on_progress = note}));
  EXPECT_EQ(seen, (std::vector<uint64_t>{4, 8}));
}

}  // namespace
}  // namespace tern
