#include "file/safetensors/safetensors.h"

#include <gtest/gtest.h>

#include <random>

#include "base/result_test_support.h"
#include "file/safetensors/safetensors_test_support.h"

namespace tern {
namespace {

using enum ErrorCode;
using Shape = std::vector<int64_t>;

void expect_file_refused(std::string_view bytes, ErrorCode code, std::string_view part) {
  // A heap block of exactly this size, so that the address sanitizer detects reads past the end.
  const std::vector<std::byte> exact(as_bytes(bytes).begin(), as_bytes(bytes).end());
  expect_failure(SafetensorsFile::parse(exact, "t.safetensors"), code, part, "t.safetensors: ");
}

// A file with one header member and some data.
std::string one(std::string_view entry, size_t n_data) {
  return SafetensorsBytes().entry(entry).data(std::string(n_data, 'x')).bytes();
}

SafetensorsBytes small() {
  SafetensorsBytes bytes;
  bytes.entry(R"("__metadata__":{"format":"pt"})");
  bytes.tensor("w", "BF16", {2, 3}, raw_values<uint16_t>({1, 2, 3, 4, 5, 6})).tensor("a.scale", "F32", {}, "abcd");
  return bytes.tensor("none", "U8", {0, 4}, "").tensor("odd", "F9", {7}, "12345");
}

TEST(Safetensors, ReadsNamesShapesAndPlaces) {
  const std::string bytes = small().bytes();
  const auto file = SafetensorsFile::parse(as_bytes(bytes), "t.safetensors");
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ(file->tensors().size(), 4u);
  EXPECT_EQ(file->tensors()[0].name, "w");  // in data order, not name order
  const SafetensorsTensor* w = file->find("w");
  ASSERT_NE(w, nullptr);
  EXPECT_EQ(w->dtype, "BF16");
  EXPECT_EQ(w->shape, (Shape{2, 3}));
  EXPECT_EQ(w->n_elements(), 6);
  EXPECT_EQ(as_text(w->data), raw_values<uint16_t>({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(bytes.substr(w->offset, 12), as_text(w->data));
  EXPECT_EQ(as_text(file->find("a.scale")->data), "abcd");
  EXPECT_EQ(file->find("a.scale")->n_elements(), 1);
  EXPECT_EQ(file->find("none")->data.size(), 0u);
  EXPECT_EQ(file->find("odd")->data.size(), 5u);  // an unknown dtype is listed unchanged
  EXPECT_EQ(file->find("b"), nullptr);
  EXPECT_EQ(file->find("zzz"), nullptr);
  ASSERT_EQ(file->metadata().size(), 1u);
  EXPECT_EQ(file->metadata()[0], (std::pair<std::string, std::string>("format", "pt")));
}

TEST(Safetensors, EveryPrefixIsRefused) {
  const std::string bytes = small().bytes();
  for (size_t n = 0; n < bytes.size(); ++n) expect_file_refused(bytes.substr(0, n), kCorruption, "t.safetensors: ");
  expect_file_refused(bytes.substr(0, bytes.size() - 2), kCorruption, "(2 are missing)");
  expect_file_refused(bytes + "z", kCorruption, "1 bytes follow the last tensor");
  expect_file_refused(bytes.substr(0, 20), kCorruption, "but only 12 follow");
}

TEST(Safetensors, RefusesHeadersThatAreNone) {
  expect_file_refused(std::string(8, '\xFF') + "{}", kCorruption, "more than the 100 MB that safetensors allows");
  std::string long_header = SafetensorsBytes::with_header("{}" + std::string(17 << 20, ' '));
  expect_file_refused(long_header, kNotSupported, "Tern reads up to 16777216");
  expect_file_refused(SafetensorsBytes::with_header(std::string(100000, '[')), kCorruption, "nested more than 64 deep");
  expect_file_refused(SafetensorsBytes::with_header("[]"), kCorruption, "the header is not a JSON object");
  expect_file_refused(SafetensorsBytes::with_header("{\"a\""), kCorruption, "not valid JSON");
  expect_file_refused(SafetensorsBytes::with_header(""), kCorruption, "not valid JSON");
  expect_file_refused(one(R"("__metadata__":{"a":1})", 0), kCorruption, "'a' without a text");
  expect_file_refused(one(R"("__metadata__":[])", 0), kCorruption, "__metadata__ is not an object");
}

TEST(Safetensors, RefusesDoubledNames) {
  SafetensorsBytes bytes;
  bytes.tensor("w", "U8", {2}, "ab").tensor("w", "U8", {2}, "cd");
  expect_file_refused(bytes.bytes(), kCorruption, "'w' twice");
}

TEST(Safetensors, RefusesEntriesThatAreNone) {
  expect_file_refused(one(R"("w":3)", 0), kCorruption, "tensor 'w' of the header is no object");
  expect_file_refused(one(R"("\u001b[2J\n":3)", 0), kCorruption, R"(tensor '\x1b[2J\x0a' of the header is no object)");
  expect_file_refused(one(R"("w":{"shape":[2],"data_offsets":[0,2]})", 2), kCorruption, "has no dtype");
  expect_file_refused(one(R"("w":{"dtype":"U8","data_offsets":[0,2]})", 2), kCorruption, "has no shape");
  expect_file_refused(one(R"("w":{"dtype":"U8","shape":[-2],"data_offsets":[0,2]})", 2), kCorruption,
                      "an invalid shape");
  expect_file_refused(one(R"("w":{"dtype":"U8","shape":[2.0],"data_offsets":[0,2]})", 2), kCorruption,
                      "an invalid shape");
  expect_file_refused(one(R"("w":{"dtype":"U8","shape":[2],"data_offsets":[0]})", 2), kCorruption, "no data_offsets");
  expect_file_refused(one(R"("w":{"dtype":"U8","shape":[2],"data_offsets":[0,-1]})", 2), kCorruption,
                      "no data_offsets");
  expect_file_refused(one(R"("w":{"dtype":"U8","shape":[2],"data_offsets":[2,0]})", 2), kCorruption,
                      "ends before it begins");
  expect_file_refused(one(R"("w":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,2]})", 2), kCorruption,
                      "more than 2^63 values");
}

TEST(Safetensors, RefusesShapesThatDoNotFillTheBytes) {
  expect_file_refused(one(R"("w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,12]})", 12), kCorruption,
                      "has 4 values of F32, which do not fill its 12 bytes");
  expect_file_refused(one(R"("w":{"dtype":"F4","shape":[3],"data_offsets":[0,1]})", 1), kCorruption, "do not fill");
  expect_file_refused(one(R"("w":{"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0]})", 0), kCorruption,
                      "do not fill");
}

TEST(Safetensors, RefusesGapsAndOverlaps) {
  const std::string_view a = R"("a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]})";
  const auto second = [&](int begin, int end) {
    return SafetensorsBytes()
        .entry(a)
        .entry(format_text(R"("b":{{"dtype":"X","shape":[],"data_offsets":[{},{}]}})", begin, end))
        .data("12345678")
        .bytes();
  };
  EXPECT_TRUE(SafetensorsFile::parse(as_bytes(second(4, 8)), "t"));
  expect_file_refused(second(3, 8), kCorruption,
                      "'b' begins at byte 3 of the data, but the one before ends at 4, so they overlap");
  expect_file_refused(second(0, 4), kCorruption, "overlap");
  expect_file_refused(second(5, 8), kCorruption, "there is a gap");
  expect_file_refused(second(4, 9), kCorruption, "(1 are missing)");
}

TEST(Safetensors, AnyDamageIsSurvived) {
  const std::string good = small().bytes();
  std::mt19937_64 random(7);
  int n_accepted = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string bytes = good;
    for (size_t i = 0; i < 1 + random() % 4; ++i)
      bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
    const std::vector<std::byte> exact(as_bytes(bytes).begin(), as_bytes(bytes).end());
    const auto file = SafetensorsFile::parse(exact, "t.safetensors");
    if (!file) continue;
    ++n_accepted;
    for (const SafetensorsTensor& tensor : file->tensors()) {
      ASSERT_EQ(file->find(tensor.name), &tensor);
      ASSERT_LE(tensor.offset + tensor.data.size(), exact.size());
    }
  }
  EXPECT_GT(n_accepted, 100);  // names and data may have any bytes
}

}  // namespace
}  // namespace tern
