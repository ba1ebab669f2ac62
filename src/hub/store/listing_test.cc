#include "hub/store/listing.h"

#include <gtest/gtest.h>

namespace tern::hub {
namespace {

// An answer in the form of huggingface.co, shortened.
constexpr const char* kAnswer = R"({"_id": "66b", "id": "o/n", "private": false, "gated": false, "tags": ["gguf"],
  "sha": "0123456789abcdef0123456789abcdef01234567",
  "siblings": [
    {"rfilename": "README.md", "size": 5174, "blobId": "1234567890123456789012345678901234567890"},
    {"rfilename": "ggml-model-i2_s.gguf", "size": 1187801280, "blobId": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     "lfs": {"sha256": "4221b252fdd5fd25e15847adfeb5ee88886506ba50b8a34548374492884c2162", "size": 1187801280,
             "pointerSize": 135}},
    {"rfilename": "bare.bin"}]})";

TEST(Listing, HoldsSizesAndNamesOfBlobs) {
  const auto listing = parse_listing(kAnswer, "o/n");
  ASSERT_TRUE(listing) << listing.error().message;
  EXPECT_EQ(listing->commit, "0123456789abcdef0123456789abcdef01234567");
  ASSERT_EQ(listing->files.size(), 3u);
  EXPECT_EQ(listing->files[0].path, "README.md");
  EXPECT_EQ(listing->files[0].etag, "1234567890123456789012345678901234567890");
  EXPECT_EQ(listing->files[1].size, 1187801280u);
  EXPECT_EQ(listing->files[1].etag, "4221b252fdd5fd25e15847adfeb5ee88886506ba50b8a34548374492884c2162");
  EXPECT_EQ(listing->files[2].size, std::nullopt);
  EXPECT_EQ(listing->files[2].etag, "");
}

std::string with_name(const std::string& json_name) {
  return R"({"sha": "0123456789abcdef0123456789abcdef01234567", "siblings": [{"rfilename": )" + json_name + "}]}";
}

TEST(Listing, RefusesNamesThatLeaveTheFolder) {
  EXPECT_TRUE(parse_listing(with_name(R"("sub/model.gguf")"), "o/n"));
  for (const char* name : {R"("../../../etc/cron.d/x")", R"("/etc/passwd")", R"("a/../b")", R"("a\\b")", R"("a\nb")",
                           R"("a\u0000b")", R"("")", R"(".")", "7", "null", "{}"}) {
    const auto listing = parse_listing(with_name(name), "o/n");
    ASSERT_FALSE(listing) << name;
    EXPECT_EQ(listing.error().code, ErrorCode::kCorruption) << name;
    EXPECT_EQ(listing.error().message.find("o/n: "), 0u);
  }
}

TEST(Listing, RefusesWhatIsNone) {
  const std::string nested(200'000, '[');
  for (const std::string& text :
       {std::string(), std::string("<html>"), std::string("[]"), std::string("{}"), std::string("nul"), nested,
        std::string(R"({"sha": "short", "siblings": []})"), std::string(R"({"sha": 1e999, "siblings": []})"),
        std::string(R"({"sha": "../../89abcdef0123456789abcdef01234567xx", "siblings": []})"),
        std::string(R"({"sha": "0123456789abcdef0123456789abcdef01234567", "siblings": {}})"),
        std::string(R"({"sha": "0123456789abcdef0123456789abcdef01234567", "siblings": [1]})")}) {
    EXPECT_FALSE(parse_listing(text, "o/n")) << text.substr(0, 80);
  }
}

TEST(Listing, ForgetsDigestsAndSizesThatAreNone) {
  const auto listing = parse_listing(
      R"({"sha": "0123456789abcdef0123456789abcdef01234567", "siblings": [
      {"rfilename": "a", "size": -1, "blobId": "../../x"}, {"rfilename": "b", "size": 1e300, "blobId": 3},
      {"rfilename": "c", "size": "1", "lfs": {"sha256": "/etc/passwd", "size": "x"}}]})",
      "o/n");
  ASSERT_TRUE(listing) << listing.error().message;
  for (const RemoteFile& file : listing->files) {
    EXPECT_EQ(file.size, std::nullopt) << file.path;
    EXPECT_EQ(file.etag, "") << file.path;
  }
}

TEST(Listing, RefusesSizesThatNoFileHas) {
  for (const char* size : {R"("size": 18446744073709551615)", R"("size": 140737488355329)",
                           R"("size": 5, "lfs": {"sha256": "", "size": 18446744073709551615})"}) {
    const auto listing = parse_listing(with_name(R"("a.gguf", )" + std::string(size)), "o/n");
    ASSERT_FALSE(listing) << size;
    EXPECT_EQ(listing.error().code, ErrorCode::kCorruption);
    EXPECT_TRUE(listing.error().message.starts_with("o/n: the hub says that 'a.gguf' has ")) << listing.error().message;
  }
  EXPECT_TRUE(parse_listing(with_name(R"("a.gguf", "size": 140737488355328)"), "o/n"));
}

TEST(Listing, NamesAtMost100000Files) {
  std::string text = R"({"sha": "0123456789abcdef0123456789abcdef01234567", "siblings": [0)";
  for (int i = 0; i < 100'000; ++i) text += ",0";
  const auto refused = parse_listing(text + "]}", "o/n");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "o/n: the repository has 100001 files, more than 100000");
}

}  // namespace
}  // namespace tern::hub
