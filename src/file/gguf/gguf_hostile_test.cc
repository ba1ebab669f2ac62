// Tests truncated and damaged files: they never cause a crash (run this with sanitizers), and a truncated file is never
// accepted.
#include <chrono>
#include <random>

#include "file/gguf/gguf_test_support.h"

namespace tern {
namespace {

// Contains every kind of value, and ends with the last byte of the last tensor.
GgufBytes small_model() {
  GgufBytes bytes(3, 8);
  bytes.string("general.architecture", "bitnet").scalar<uint32_t>("general.alignment", 4, 32);
  bytes.scalar<float>("eps", 6, 1e-5f).scalar<uint8_t>("flag", 7, 1).scalar<uint64_t>("big", 10, 1ull << 50);
  bytes.array("tokens", 8, 3).text("a").text("bc").text("");
  bytes.array("types", 5, 3).put<int32_t>(1).put<int32_t>(2).put<int32_t>(3);
  bytes.array("scores", 6, 2).put<float>(0.5f).put<float>(1.5f);
  bytes.tensor("embd", {4, 3}, 1, 0).tensor("norm", {4}, 0, 32).tensor("blk.0.w", {128, 2}, 36, 64);
  bytes.align().data(24).align().data(16).align().data(96);
  return bytes;
}

// Copies into a heap block of exactly this size, so that the address sanitizer detects reads past the end.
Result<GgufFile> parse_exact(std::string_view text, std::vector<std::byte>& storage) {
  storage.assign(as_bytes(text).begin(), as_bytes(text).end());
  storage.shrink_to_fit();
  return GgufFile::parse(storage, "t.gguf");
}

TEST(GgufHostile, EveryPrefixIsRefused) {
  const GgufBytes model = small_model();
  std::vector<std::byte> storage;
  ASSERT_TRUE(parse_exact(model.bytes(), storage)) << parse_exact(model.bytes(), storage).error().message;
  for (size_t n = 0; n < model.bytes().size(); ++n) {
    const auto file = parse_exact(std::string_view(model.bytes()).substr(0, n), storage);
    ASSERT_FALSE(file) << "the first " << n << " of " << model.bytes().size() << " bytes were accepted";
    EXPECT_EQ(file.error().code, ErrorCode::kCorruption) << file.error().message;
    EXPECT_NE(file.error().message.find("download may be incomplete"), std::string::npos) << n << file.error().message;
  }
}

TEST(GgufHostile, EverySingleByteMayBeAnything) {
  std::string bytes = small_model().bytes();
  std::vector<std::byte> storage;
  uint64_t accepted = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int value : {0x00, 0x01, 0x7F, 0x80, 0xFF}) {
      const char old = std::exchange(bytes[at], static_cast<char>(value));
      const auto file = parse_exact(bytes, storage);
      if (file) accepted += touch_everything(*file) > 0;
      bytes[at] = old;
    }
  }
  EXPECT_GT(accepted, 0u);  // data and texts may have any bytes
}

TEST(GgufHostile, RandomDamage) {
  const std::string good = small_model().bytes();
  std::mt19937_64 random(20240601);
  std::vector<std::byte> storage;
  int n_accepted = 0, n_refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = good;
    const size_t n_flips = 1 + random() % 8;
    for (size_t i = 0; i < n_flips; ++i) bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
    if (random() % 4 == 0) bytes.resize(random() % (bytes.size() + 1));
    if (random() % 4 == 0) {  // replace eight bytes by an extreme number
      const uint64_t extremes[] = {~uint64_t{0}, uint64_t{1} << 63, uint64_t{1} << 61, uint64_t{0} - 8, bytes.size()};
      const uint64_t value = extremes[random() % std::size(extremes)];
      if (bytes.size() >= 8) std::memcpy(bytes.data() + random() % (bytes.size() - 7), &value, 8);
    }
    const auto file = parse_exact(bytes, storage);
    if (file) {
      touch_everything(*file);
      ++n_accepted;
    } else {
      EXPECT_EQ(file.error().message.find('\n'), std::string::npos);
      EXPECT_TRUE(file.error().message.starts_with("t.gguf: ")) << file.error().message;
      ++n_refused;
    }
  }
  EXPECT_GT(n_accepted, 1000);
  EXPECT_GT(n_refused, 1000);
}

TEST(GgufHostile, HugePromisesAreRefusedAtOnce) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(GgufBytes(1ull << 60, 0).data(64).parse());
    EXPECT_FALSE(GgufBytes(0, 1ull << 60).data(64).parse());
    EXPECT_FALSE(GgufBytes(0, 1).array("k", 8, 1ull << 61).data(64).parse());
    EXPECT_FALSE(GgufBytes(0, 1).put<uint64_t>(1ull << 63).data(64).parse());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

}  // namespace
}  // namespace tern
