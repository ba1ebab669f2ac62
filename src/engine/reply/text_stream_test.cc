#include "engine/reply/text_stream.h"

#include <gtest/gtest.h>

namespace tern {
namespace {

TEST(TextStream, PassesTextThroughWithoutStopStrings) {
  TextStream stream({});
  EXPECT_EQ(stream.feed("Once "), "Once ");
  EXPECT_EQ(stream.feed("upon"), "upon");
  EXPECT_EQ(stream.finish(), "");
}

TEST(TextStream, HoldsBackHalfACharacter) {
  TextStream stream({});
  EXPECT_EQ(stream.feed("a\xE2\x82"), "a");
  EXPECT_EQ(stream.feed("\xAC!"), "\xE2\x82\xAC!");
}

TEST(TextStream, CutsAtAStopStringThatArrivesInPieces) {
  const std::vector<std::string> stops = {"User:", "\n\n"};
  TextStream stream(stops);
  EXPECT_EQ(stream.feed("Hi. Us"), "Hi. ");
  EXPECT_EQ(stream.feed("er"), "");
  EXPECT_FALSE(stream.stopped());
  EXPECT_EQ(stream.feed(": what"), "");
  EXPECT_TRUE(stream.stopped());
  EXPECT_EQ(stream.feed("more"), "");
  EXPECT_EQ(stream.finish(), "");
}

TEST(TextStream, GivesBackWhatOnlyLookedLikeAStopString) {
  const std::vector<std::string> stops = {"abac"};
  TextStream stream(stops);
  EXPECT_EQ(stream.feed("xaba"), "x");
  EXPECT_EQ(stream.feed("bac"), "ab");  // "ab" + "abac"
  EXPECT_TRUE(stream.stopped());

  TextStream other(stops);
  EXPECT_EQ(other.feed("aba"), "");
  EXPECT_EQ(other.finish(), "aba");
}

TEST(TextStream, TheFirstOfSeveralStopStringsWins) {
  const std::vector<std::string> stops = {"late", "b"};
  TextStream stream(stops);
  EXPECT_EQ(stream.feed("a b late"), "a ");
}

TEST(TextStream, AStopStringOfManyBytesIsFoundAcrossAnInvalidOne) {
  const std::vector<std::string> stops = {"\xEF\xBF\xBDx"};
  TextStream stream(stops);
  EXPECT_EQ(stream.feed("a\xFF"), "a");
  EXPECT_EQ(stream.feed("x"), "");
  EXPECT_TRUE(stream.stopped());
}

TEST(TextStream, IgnoresStopStringsThatEndTooEarly) {
  const std::vector<std::string> stops = {"abc", "x"};
  TextStream stream(stops);
  EXPECT_EQ(stream.feed("1abc2x", false), "1abc2x");
  EXPECT_EQ(stream.feed("3ab", false), "3");  // may still become one
  EXPECT_EQ(stream.feed("c4"), "");
  EXPECT_TRUE(stream.stopped());

  TextStream other(stops);
  EXPECT_EQ(other.feed("ab", false), "");
  EXPECT_EQ(other.feed("c", false), "abc");
  EXPECT_EQ(other.feed("4"), "4");
  EXPECT_FALSE(other.stopped());
}

}  // namespace
}  // namespace tern
