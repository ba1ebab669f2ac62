// Tests the messages for files that are not GGUF or that Tern cannot read.
#include <fstream>

#include "base/text/format_text.h"
#include "file/gguf/gguf_test_support.h"

namespace tern {
namespace {

using enum ErrorCode;
using namespace std::string_literals;

Result<GgufFile> parse(std::string_view text) { return GgufFile::parse(as_bytes(text), "t.gguf"); }

TEST(GgufHeader, EmptyModelOfBothVersions) {
  for (const uint32_t version : {2u, 3u}) {
    const auto file = GgufBytes(0, 0, version).parse();
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->version(), version);
    EXPECT_TRUE(file->tensors().empty());
    EXPECT_TRUE(file->metadata().empty());
  }
}

TEST(GgufHeader, NamesOtherContainers) {
  const std::string safetensors = GgufBytes().put<uint64_t>(16).raw(R"({"a":{}}        )").bytes();
  struct Case {
    std::string bytes;
    ErrorCode code;
    std::string_view part;
  };
  const Case cases[] = {
      {"lmgg and more", kNotSupported, "GGML file from before"},
      {"tjgg\x03\0\0\0"s, kNotSupported, "GGML file from before"},
      {"ggjt....", kNotSupported, "GGML file from before"},
      {"GGML....", kNotSupported, "GGML file from before"},
      {"algg....", kNotSupported, "LoRA"},
      {"FUGG....", kNotSupported, "big-endian"},
      {"PK\x03\x04xxxx", kNotSupported, "PyTorch"},
      {"\x80\x02}q", kNotSupported, "pickle"},
      {"\x1f\x8b\x08\x00"s, kNotSupported, "gzip"},
      {"\x93NUMPY\x01", kNotSupported, "NumPy"},
      {safetensors, kNotSupported, "safetensors"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", kCorruption, "git lfs pull"},
      {"<!DOCTYPE html><html>", kCorruption, "web page"},
      {"\r\n  <html>", kCorruption, "/resolve/"},
      {"Entry not found", kCorruption, "a text that begins 'Entry not found'"},
      {"\x01\x02\x03\x04\x05", kCorruption, "begins '\\x01\\x02\\x03\\x04'"},
      {"\0\0\0\0"s, kCorruption, "no GGUF magic at byte 0"},
  };
  for (const Case& c : cases) expect_refused(parse(c.bytes), c.code, c.part);
}

TEST(GgufHeader, RefusesVersionsByNumber) {
  expect_refused(GgufBytes(0, 0, 1).parse(), kNotSupported, "version 1 at byte 4");
  expect_refused(GgufBytes(0, 0, 4).parse(), kNotSupported, "version 4 at byte 4 is not known, only 2 and 3");
  expect_refused(GgufBytes(0, 0, 0).parse(), kNotSupported, "version 0");
  expect_refused(GgufBytes(0, 0, 0x03000000).parse(), kNotSupported, "version 3 with its bytes swapped");
  expect_refused(GgufBytes(0, 0, 0xFFFFFFFF).parse(), kNotSupported, "version 4294967295");
}

TEST(GgufHeader, SaysHowMuchOfAShortHeaderIsMissing) {
  expect_refused(parse("GG"), kCorruption, "(2 are missing): the download may be incomplete");
  expect_refused(parse("GGUF\x03"), kCorruption, "the GGUF version at byte 4 needs 4 bytes");
  expect_refused(parse("GGUF\x03\0\0\0\0"s), kCorruption, "the number of tensors at byte 8");
  expect_refused(parse(""), kCorruption, "(4 are missing)");
}

TEST(GgufHeader, ChecksCountsAgainstTheFilesSize) {
  for (const uint64_t count : {uint64_t{1}, uint64_t{1} << 60, ~uint64_t{0}}) {
    const auto part = format_text("at byte 8 promises {} tensors", count);
    expect_refused(GgufBytes(count, 0).parse(), kCorruption, part);
    expect_refused(GgufBytes(0, count).parse(), kCorruption,
                   format_text("at byte 16 promises {} metadata entries, which cannot fit in the 0 bytes", count));
  }
}

TEST(GgufHeader, OpenNamesThePath) {
  const std::string path = testing::TempDir() + "tern_not_a.gguf";
  std::ofstream(path) << "PK\x03\x04";
  const auto file = GgufFile::open(path);
  ASSERT_FALSE(file);
  EXPECT_TRUE(file.error().message.starts_with(path + ": ")) << file.error().message;
  EXPECT_EQ(GgufFile::open("/nonexistent.gguf").error().code, kNotFound);
}

}  // namespace
}  // namespace tern
