#include "cli/terminal/key_filter.h"

#include <gtest/gtest.h>

namespace tern::cli {
namespace {

std::string keys(std::string_view bytes) {
  KeyFilter filter;
  return filter.feed(bytes).keys;
}

TEST(KeyFilter, TextPassesAsItIs) {
  EXPECT_EQ(keys("Hello, 世界 😀\r"), "Hello, 世界 😀\r");
  EXPECT_EQ(keys("\x01\x05\x17\x15\x0b\x7f\b"), "\x01\x05\x17\x15\x0b\x7f\b");
}

EditAction::Kind action(std::string_view bytes) {
  KeyFilter filter;
  const FilteredKeys out = filter.feed(bytes);
  EXPECT_EQ(out.keys, KeyFilter::kActionKey);
  return out.actions.at(0).kind;
}

TEST(KeyFilter, WordsAreMovedOverWithAltAndCtrl) {
  using Kind = EditAction::Kind;
  for (const char* left : {"\x1b[1;5D", "\x1b[1;3D", "\x1b[5D", "\x1b\x1b[1;3D", "\033b", "\033B"})
    EXPECT_EQ(action(left), Kind::kWordLeft) << left + 1;
  for (const char* right : {"\x1b[1;5C", "\x1b[1;3C", "\x1b[5C", "\033f"})
    EXPECT_EQ(action(right), Kind::kWordRight) << right + 1;
  EXPECT_EQ(action("\x1b\x7f"), Kind::kDeleteWordLeft);
  EXPECT_EQ(action("\033d"), Kind::kDeleteWordRight);
  EXPECT_EQ(keys("\x1b[1;2D\x1b[1;2C"), "\x1b[D\x1b[C");  // Shift alone
}

TEST(KeyFilter, WordsAreLettersAndDigitsOfAnyAlphabet) {
  using Kind = EditAction::Kind;
  const auto n_keys = [](Kind kind, std::string_view line, size_t cursor) {
    const size_t one = kind == Kind::kDeleteWordLeft ? 1 : kind == Kind::kDeleteWordRight ? 4 : 3;
    return keys_for({.kind = kind}, line, cursor).size() / one;
  };
  EXPECT_EQ(n_keys(Kind::kWordLeft, "a bear", 6), 4u);
  EXPECT_EQ(n_keys(Kind::kWordLeft, "a bear", 2), 2u);
  EXPECT_EQ(n_keys(Kind::kWordLeft, "bär, x", 5), 4u);  // four characters in five bytes
  EXPECT_EQ(n_keys(Kind::kWordLeft, "", 0), 0u);
  EXPECT_EQ(n_keys(Kind::kWordRight, "a bear!", 1), 5u);
  EXPECT_EQ(n_keys(Kind::kWordRight, "a bear!", 6), 1u);
  EXPECT_EQ(n_keys(Kind::kDeleteWordLeft, "a bear ", 7), 5u);
  EXPECT_EQ(n_keys(Kind::kDeleteWordRight, "a bear", 0), 1u);
}

TEST(KeyFilter, OneKeyHasManySequences) {
  for (const char* home : {"\x1b[H", "\x1bOH", "\x1b[1~", "\x1b[7~", "\x1b[1;5H"}) EXPECT_EQ(keys(home), "\x1b[H");
  for (const char* end : {"\x1b[F", "\x1bOF", "\x1b[4~", "\x1b[8~", "\x1b[1;2F"}) EXPECT_EQ(keys(end), "\x1b[F");
  for (const char* up : {"\x1b[A", "\x1bOA", "\x1b[1;3A"}) EXPECT_EQ(keys(up), "\x1b[A");
}

TEST(KeyFilter, NoKeyLeavesCharacters) {
  for (const char* unknown : {"\x1b[2~",
                              "\x1b[15~",
                              "\x1b[24;5~",
                              "\x1bOP",
                              "\x1b[[A",
                              "\x1b[Z",
                              "\x1b[I",
                              "\x1b[O",
                              "\x1b[12;40R",
                              "\x1b[?1;2c",
                              "\x1b[<0;12;7M",
                              "\x1b[M !!",
                              "\x1b]11;rgb:0000/0000/0000\a",
                              "\x1b]0;title\x1b\\",
                              "\x1bP1$r0m\x1b\\",
                              "\x1b[97;5u",
                              "\x1b[201~",
                              "\x1b.",
                              "\0335",
                              "\x1bö",
                              "\x16",
                              "\x07",
                              "\x1c"}) {
    EXPECT_EQ(keys(unknown), "") << unknown + 1;
    EXPECT_EQ(keys(std::string(unknown) + "x"), "x") << unknown + 1;
  }
}

TEST(KeyFilter, SequencesMayComeInPieces) {
  KeyFilter filter;
  std::string all;
  for (const char byte : std::string_view("a\x1b[1;5Db")) all += filter.feed({&byte, 1}).keys;
  EXPECT_EQ(all, "a" + std::string(KeyFilter::kActionKey) + "b");
}

TEST(KeyFilter, EscapeAloneIsForgotten) {
  KeyFilter filter;
  EXPECT_EQ(filter.feed("\x1b").keys, "");
  EXPECT_TRUE(filter.in_sequence());
  filter.end_sequence();
  EXPECT_EQ(filter.feed("b").keys, "b");
}

TEST(KeyFilter, NewLinesAreTypedWithAltEnterAndCtrlJEndsTheLine) {
  EXPECT_EQ(keys("\x1b\r"), "\n");
  EXPECT_EQ(keys("\x1b[13;2u"), "\n");
  EXPECT_EQ(keys("\n"), "\r");
}

TEST(KeyFilter, APasteIsOnePiece) {
  KeyFilter filter;
  const FilteredKeys first = filter.feed("a\x1b[200~one\r\ntwo\rthree\x1b[A\n\tfo");
  EXPECT_EQ(first.keys, "a");
  EXPECT_FALSE(filter.in_sequence());  // however long it takes
  const FilteredKeys second = filter.feed("ur\x07\x1b[201~b");
  EXPECT_EQ(second.keys, std::string(KeyFilter::kActionKey) + "b");
  ASSERT_EQ(second.actions.size(), 1u);
  EXPECT_EQ(second.actions[0].text, "one\ntwo\nthree[A\n␉four");
}

TEST(KeyFilter, TabsAreCountedAndCtrlZIsToldApart) {
  KeyFilter filter;
  const FilteredKeys out = filter.feed("/he\t\x1a");
  EXPECT_EQ(out.keys, "/he\t");
  EXPECT_EQ(out.n_tabs, 1);
  EXPECT_TRUE(out.suspend);
}

}  // namespace
}  // namespace tern::cli
