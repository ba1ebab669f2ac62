#include <gtest/gtest.h>

#include <random>

#include "base/result_test_support.h"
#include "file/mlc/mlc.h"
#include "file/mlc/mlc_test_support.h"

namespace tern {
namespace {

using enum ErrorCode;

constexpr std::string_view kSum = "d41d8cd98f00b204e9800998ecf8427e";

// An index with one shard of 8 bytes that contains these records.
std::string one_shard(std::string_view records) {
  return format_text(
      R"({{"records":[{{"dataPath":"p.bin","format":"raw-shard","nbytes":8,"md5sum":"{}","records":[{}]}}]}})", kSum,
      records);
}
std::string record(std::string_view name, std::string_view dtype, std::string_view shape, int64_t bytes, int64_t at) {
  return format_text(R"({{"name":"{}","dtype":"{}","shape":{},"nbytes":{},"byteOffset":{}}})", name, dtype, shape,
                     bytes, at);
}

void expect_refused(std::string_view text, ErrorCode code, std::string_view part) {
  expect_failure(parse_mlc_index(text, "t.json"), code, part, "t.json: ");
}

TEST(MlcIndex, ReadsShardsAndTensors) {
  const auto index = parse_mlc_index(
      one_shard(record("b", "uint32", "[1,1]", 4, 4) + "," + record("a", "float16", "[2]", 4, 0)), "t.json");
  ASSERT_TRUE(index) << index.error().message;
  ASSERT_EQ(index->shards.size(), 1u);
  EXPECT_EQ(index->shards[0].file, "p.bin");
  EXPECT_EQ(index->shards[0].bytes, 8u);
  EXPECT_EQ(index->shards[0].md5, kSum);
  ASSERT_EQ(index->tensors.size(), 2u);
  EXPECT_EQ(index->tensors[0].name, "a");
  EXPECT_EQ(index->tensors[1].dtype, "uint32");
  EXPECT_EQ(index->tensors[1].offset, 4u);
  EXPECT_EQ(index->tensors[1].shape, (std::vector<int64_t>{1, 1}));
}

TEST(MlcIndex, Float32MayBeStoredInHalf) {
  const std::string_view half =
      R"({"name":"a","dtype":"float32","format":"f32-to-bf16","shape":[4],"nbytes":8,"byteOffset":0})";
  EXPECT_TRUE(parse_mlc_index(one_shard(half), "t.json"));
  expect_refused(one_shard(record("a", "float32", "[4]", 8, 0)), kCorruption, "that need 16 bytes, but 8");
}

TEST(MlcIndex, RefusesWhatIsNone) {
  expect_refused("[]", kCorruption, "no \"records\", so this is not an index");
  expect_refused("{}", kCorruption, "no \"records\"");
  expect_refused(R"({"records":[]})", kCorruption, "no \"records\"");
  expect_refused(R"({"records":[1]})", kCorruption, "shard 0 of the index is no object");
  expect_refused(R"({"records":[{}]})", kCorruption, "shard 0 of the index has no \"dataPath\"");
  expect_refused(R"({"records":[],"records":[]})", kCorruption, "twice");
  expect_refused(R"({"records":[{"dataPath":"../p"}]})", kCorruption, "a dataPath that is not a file name");
  expect_refused(R"({"records":[{"dataPath":"p","nbytes":-1}]})", kCorruption, "has no \"nbytes\"");
  expect_refused(R"({"records":[{"dataPath":"p","nbytes":1}]})", kCorruption, "has no \"md5sum\"");
  expect_refused(R"({"records":[{"dataPath":"p","nbytes":1,"md5sum":"zz"}]})", kCorruption, "has an invalid md5sum");
  expect_refused(std::string(1 << 20, '['), kCorruption, "nested more than 64 deep");
  expect_refused(std::string(17 << 20, ' '), kCorruption, "more than the 16777216");
}

TEST(MlcIndex, RefusesTensorsThatAreNone) {
  expect_refused(one_shard("3"), kCorruption, "tensor 0 of the index is no object");
  expect_refused(one_shard(record("a\\n", "uint8", "[-1]", 1, 0)), kCorruption, R"('a\x0a' has an invalid shape)");
  expect_refused(one_shard(record("a", "uint8", "3", 1, 0)), kCorruption, "has no shape");
  expect_refused(one_shard(record("a", "uint8", "[4294967296,4294967296]", 1, 0)), kCorruption, "more than 2^63 bytes");
  expect_refused(one_shard(record("a", "uint8", "[3]", 4, 0)), kCorruption, "need 3 bytes, but 4");
  expect_refused(one_shard(record("a", "uint8", "[4]", 4, 5)), kCorruption, "ends at byte 9 of a shard of 8");
  expect_refused(one_shard(record("a", "float7", "[4]", 9, 0)), kCorruption, "ends at byte 9 of a shard of 8");
  expect_refused(one_shard(record("a", "uint8", "[4]", 4, 0) + "," + record("b", "uint8", "[4]", 4, 3)), kCorruption,
                 "'b' overlaps the one before");
  expect_refused(one_shard(record("a", "uint8", "[4]", 4, 0) + "," + record("a", "uint8", "[4]", 4, 4)), kCorruption,
                 "'a' appears twice");
}

TEST(MlcIndex, AnyDamageIsSurvived) {
  const std::string good = MlcBytes().tensor("a", "uint8", {2, 3}, "abcdef").tensor("b", "float16", {1}, "xy").index();
  ASSERT_TRUE(parse_mlc_index(good, "t.json"));
  std::mt19937_64 random(11);
  for (int round = 0; round < 5000; ++round) {
    std::string text = good;
    for (size_t i = 0; i < 1 + random() % 3; ++i) text[random() % text.size()] ^= static_cast<char>(1 << random() % 8);
    if (random() % 4 == 0) text.resize(random() % text.size());
    const auto index = parse_mlc_index(text, "t.json");
    if (!index) continue;
    for (const MlcTensor& t : index->tensors) ASSERT_LE(t.offset + t.bytes, index->shards[t.shard].bytes);
  }
}

}  // namespace
}  // namespace tern
