#include "text/unicode/utf8.h"

#include <gtest/gtest.h>

#include <random>

namespace tern {
namespace {

// Replaces every ill-formed part, in the straightforward way.
std::string replaced(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    out += c.status == Utf8Status::kValid ? text.substr(0, c.length) : kReplacementCharacter;
    text.remove_prefix(c.length);
  }
  return out;
}

TEST(Utf8, EveryScalarValueRoundTrips) {
  for (char32_t code = 0; code < 0x110000; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    std::string text;
    append_utf8(code, text);
    const Utf8Char c = decode_utf8(text);
    ASSERT_EQ(c.status, Utf8Status::kValid) << std::hex << static_cast<uint32_t>(code);
    ASSERT_EQ(c.code, code);
    ASSERT_EQ(c.length, text.size());
  }
}

TEST(Utf8, RefusesIllFormedSequences) {
  const std::string_view bad[] = {
      "\x80",              // lone continuation byte
      "\xC0\x80",          // overlong NUL
      "\xC1\xBF",          // overlong DEL
      "\xE0\x9F\xBF",      // overlong U+07FF
      "\xED\xA0\x80",      // surrogate U+D800
      "\xF0\x8F\xBF\xBF",  // overlong U+FFFF
      "\xF4\x90\x80\x80",  // U+110000
      "\xF5\x80\x80\x80",
      "\xFF",
      "\xE2\x28\xA1",  // second byte is not a continuation byte
  };
  for (const auto text : bad) {
    EXPECT_EQ(decode_utf8(text).status, Utf8Status::kInvalid) << printable(text);
    EXPECT_EQ(valid_utf8_prefix(text), 0u);
  }
}

TEST(Utf8, MaximalSubpartsAreReplacedOnce) {
  EXPECT_EQ(replaced("\xF0\x9F\x98!"), "\uFFFD!");  // three valid bytes of four: one replacement
  EXPECT_EQ(replaced("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"),
            "\uFFFD\uFFFD\uFFFD\uFFFDA");  // the standard's table 3-11
  EXPECT_EQ(replaced("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
}

TEST(Utf8, ValidPrefixEndsAtTheFirstBadByte) {
  for (size_t n = 0; n < 40; ++n) {
    const std::string good(n, 'x');
    EXPECT_EQ(valid_utf8_prefix(good), n);
    EXPECT_EQ(valid_utf8_prefix(good + "\xFF" + good), n);
    EXPECT_EQ(valid_utf8_prefix(good + "é" + "\xE2\x82"), n + 2);
  }
}

TEST(Utf8, PrintableEscapesWhatATerminalWouldObey) {
  EXPECT_EQ(printable("a\x1B[2J\n\xFFé"), "a\\x1B[2J\\x0A\\xFFé");
  EXPECT_EQ(printable("\u009B"), "\\xC2\\x9B");
  EXPECT_EQ(printable("a\u202Eb"), "a\\xE2\\x80\\xAEb");
  EXPECT_EQ(printable("abcdef", 3), "abc…");
}

TEST(Utf8Stream, HoldsBackAnIncompleteCharacter) {
  Utf8Stream stream;
  EXPECT_EQ(stream.feed("a\xF0\x9F"), "a");
  EXPECT_EQ(stream.feed("\x98"), "");
  EXPECT_EQ(stream.feed("\x80z"), "\U0001F600z");
  EXPECT_EQ(stream.finish(), "");
}

TEST(Utf8Stream, InvalidBytesDoNotStallIt) {
  Utf8Stream stream;
  EXPECT_EQ(stream.feed("\xF0\x9F"), "");
  EXPECT_EQ(stream.feed("ok"), "\uFFFDok");
  EXPECT_EQ(stream.feed("\xFF\xFE"), "\uFFFD\uFFFD");
  EXPECT_EQ(stream.feed("\xE2"), "");
  EXPECT_EQ(stream.finish(), "\uFFFD");
  EXPECT_EQ(stream.finish(), "");
  EXPECT_EQ(stream.feed("next"), "next");
}

TEST(Utf8Stream, AnyCutGivesTheSameText) {
  std::mt19937 random(1);
  const std::string_view alphabet = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xFF\xED\xA0\xF4\x90";
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int i = 0; i < 24; ++i) text += alphabet[random() % alphabet.size()];
    Utf8Stream stream;
    std::string streamed;
    for (size_t at = 0; at < text.size();) {
      const size_t n = std::min<size_t>(random() % 4, text.size() - at);
      const std::string piece = stream.feed(std::string_view(text).substr(at, n));
      ASSERT_TRUE(is_valid_utf8(piece));
      streamed += piece;
      at += n;
    }
    streamed += stream.finish();
    ASSERT_EQ(streamed, replaced(text)) << printable(text, 100);
  }
}

}  // namespace
}  // namespace tern
