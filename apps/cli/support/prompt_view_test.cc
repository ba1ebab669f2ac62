#include "cli/support/prompt_view.h"

#include <gtest/gtest.h>

namespace tern::cli {
namespace {

TEST(PromptView, SpellsOutWhatCannotBeSeen) {
  EXPECT_EQ(spelled_out("", true), "");
  EXPECT_EQ(spelled_out("<|user|>\nWhy?<|end|>\n", true), "<|user|>\\n\nWhy?<|end|>\\n\n");
  EXPECT_EQ(spelled_out("a\nb\r\n\tc \\n", false), "a\\nb\\r\\n\\tc \\\\n");
  EXPECT_EQ(spelled_out(std::string_view("\0\x1B[31m\x7F", 7), false), "\\u{0}\\u{1B}[31m\\u{7F}");
  EXPECT_EQ(spelled_out("\u0085\u00A0\u200B\u202E\u2069\u3000\uFEFF\U000E0041", false),
            "\\u{85}\\u{A0}\\u{200B}\\u{202E}\\u{2069}\\u{3000}\\u{FEFF}\\u{E0041}");
  EXPECT_EQ(spelled_out("\u00E9\u65E5\U0001F600\u2581\"'", false), "\u00E9\u65E5\U0001F600\u2581\"'");
}

TEST(PromptView, BytesOfNoCharacter) {
  EXPECT_EQ(spelled_out("a\x80z", false), "a\\x80z");
  EXPECT_EQ(spelled_out("\xE6\x97", false), "\\xE6\\x97");  // a truncated character
  EXPECT_EQ(spelled_out("\xC0\xAF\xF5", false), "\\xC0\\xAF\\xF5");
  EXPECT_EQ(spelled_out("\xE0\x80\xAF", false), "\\xE0\\x80\\xAF");  // an overlong form
  EXPECT_EQ(spelled_out("\xED\xA0\x80", false), "\\xED\\xA0\\x80");  // half of a surrogate pair
  EXPECT_EQ(spelled_out("\xF4\x90\x80\x80", false), "\\xF4\\x90\\x80\\x80");
}

TEST(PromptView, ALineForEachToken) {
  EXPECT_EQ(prompt_view("Hi\n", {{12, "Hi"}, {3, "\n"}}), "Hi\\n\n\n2 tokens:\n12  \"Hi\"\n 3  \"\\n\"\n");
  EXPECT_EQ(prompt_view("Hi", {{151643, "Hi"}}), "Hi\n\n1 token:\n151643  \"Hi\"\n");
  EXPECT_EQ(prompt_view("a: ", {}), "a:\\u{20}\n\n0 tokens:\n");
}

}  // namespace
}  // namespace tern::cli
