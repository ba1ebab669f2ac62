#include "tern/visible.h"

#include <gtest/gtest.h>

namespace tern {
namespace {

TEST(Visible, LeavesTextAlone) {
  for (const char* text :
       {"", "model.gguf", "a\n\tb", "\u00fc\u65e5\u672c\U0001f600", "\u05e2\u05d1\u05e8", "\u00a0"}) {
    EXPECT_EQ(visible(text), text);
  }
}

TEST(Visible, ShowsWhatWouldActUnseen) {
  EXPECT_EQ(visible("a\x1b[2Jb\x7f"), "a\\u001b[2Jb\\u007f");
  EXPECT_EQ(visible("\u0080\u009b2J\u009f"), "\\u0080\\u009b2J\\u009f");
  EXPECT_EQ(visible("x\u202egpj.exe\u202c"), "x\\u202egpj.exe\\u202c");
  EXPECT_EQ(visible("\u061c\u200e\u200f\u202a\u2066\u2069"), "\\u061c\\u200e\\u200f\\u202a\\u2066\\u2069");
  EXPECT_EQ(visible("\u200d\u2065\u206a"), "\u200d\u2065\u206a");  // the code points beside them
  EXPECT_EQ(visible(std::string_view("\0", 1)), "\\u0000");
}

TEST(Visible, ShowsBytesThatAreNoText) {
  EXPECT_EQ(visible("\x9b"
                    "2J"),
            "\\x9b2J");
  EXPECT_EQ(visible("\xc2"), "\\xc2");
  EXPECT_EQ(visible("\xe2\x80"), "\\xe2\\x80");
  EXPECT_EQ(visible("\xff\xc0\x80"), "\\xff\\xc0\\x80");
}

}  // namespace
}  // namespace tern
