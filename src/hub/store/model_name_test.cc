#include "hub/store/model_name.h"

#include <gtest/gtest.h>

namespace tern::hub {
namespace {

struct Case {
  const char* text;
  const char* repo;
  const char* revision;
  const char* file;
};

TEST(ModelName, IsReadInAllItsForms) {
  constexpr Case kCases[] = {
      {"microsoft/bitnet-b1.58-2B-4T-gguf", "microsoft/bitnet-b1.58-2B-4T-gguf", "main", ""},
      {"o/n:Q2_0", "o/n", "main", "Q2_0"},
      {"o/n:sub/model-Q2_0.gguf", "o/n", "main", "sub/model-Q2_0.gguf"},
      {"o/n@v1.0", "o/n", "v1.0", ""},
      {"o/n@refs/pr/1:x.gguf", "o/n", "refs/pr/1", "x.gguf"},
      {"o/n:a@b:c", "o/n", "main", "a@b:c"},
      {"hf://o/n:x", "o/n", "main", "x"},
      {"hf.co/o/n:Q4_0", "o/n", "main", "Q4_0"},
      {"https://huggingface.co/o/n", "o/n", "main", ""},
      {"https://huggingface.co/o/n/", "o/n", "main", ""},
      {"https://huggingface.co/o/n/tree/dev", "o/n", "dev", ""},
      {"https://huggingface.co/o/n/blob/main/sub/x.gguf?download=true", "o/n", "main", "sub/x.gguf"},
      {"huggingface.co/o/n/resolve/dev/x.gguf", "o/n", "dev", "x.gguf"},
  };
  for (const Case& each : kCases) {
    const auto name = parse_model_name(each.text);
    ASSERT_TRUE(name) << each.text << ": " << name.error().message;
    EXPECT_EQ(name->repo, each.repo) << each.text;
    EXPECT_EQ(name->revision, each.revision) << each.text;
    EXPECT_EQ(name->file, each.file) << each.text;
  }
}

TEST(ModelName, RefusesWhatIsNone) {
  for (const char* text : {"",
                           "/",
                           "model.gguf",
                           "./model.gguf",
                           "/tmp/model.gguf",
                           "a/b/c",
                           "../x",
                           "o/..",
                           "o/n--m",
                           "o/-n",
                           "o/n.",
                           "o /n",
                           "o/n@",
                           "o/n@../x",
                           "o/n@a b",
                           "o/n:../x",
                           "o/n:/etc/passwd",
                           "o/n:a\nb",
                           "o/n:a\\b",
                           "https://example.com/o/n",
                           "https://huggingface.co/o/n/blob/main/../../x",
                           "o/n\x1b[2J"}) {
    const auto name = parse_model_name(text);
    ASSERT_FALSE(name) << text;
    EXPECT_EQ(name.error().code, ErrorCode::kInvalidArgument) << text;
  }
  EXPECT_FALSE(parse_model_name("o/" + std::string(97, 'n')));
  EXPECT_FALSE(parse_model_name(std::string(100'000, 'n') + "/n"));
}

TEST(SafePath, StaysInsideItsFolder) {
  for (const char* path : {"x", "a/b.gguf", "..a", "a..", "...", ".gitattributes", "ü/é.gguf", "a b"}) {
    EXPECT_TRUE(is_safe_path(path)) << path;
  }
  for (const char* path : {"", "/", "/x", "x/", "a//b", ".", "..", "a/..", "../a", "a/../b", "a/./b", "a\\b", "a\nb",
                           "\x7f", "a\u009bb", "a\u202egpj.gguf", "\u200e", "\xff"}) {
    EXPECT_FALSE(is_safe_path(path)) << path;
  }
  EXPECT_FALSE(is_safe_path(std::string_view("a\0b", 3)));
  EXPECT_FALSE(is_safe_path(std::string(256, 'x')));
  EXPECT_TRUE(is_safe_path(std::string(255, 'x')));
}

TEST(UrlEscape, KeepsOnlyWhatNeedsNone) {
  EXPECT_EQ(url_escape("refs/pr/1", false), "refs%2Fpr%2F1");
  EXPECT_EQ(url_escape("a b/ü#?%.gguf", true), "a%20b/%C3%BC%23%3F%25.gguf");
}

}  // namespace
}  // namespace tern::hub
