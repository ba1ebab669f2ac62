#include "load/sse_reader.h"

#include <gtest/gtest.h>

#include <vector>

namespace tern::load {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;  // type and data

Pairs read_pieces(const std::vector<std::string_view>& pieces) {
  SseReader reader;
  Pairs events;
  for (const std::string_view piece : pieces) {
    EXPECT_TRUE(reader.feed(piece, [&](const SseEvent& event) { events.emplace_back(event.type, event.data); }));
  }
  return events;
}

Pairs read_whole(std::string_view text) { return read_pieces({text}); }

TEST(SseReader, EventsOfAllLineEnds) {
  const Pairs expected = {{"", "a"}, {"", "b"}};
  for (const char* text : {"data: a\n\ndata: b\n\n", "data: a\r\n\r\ndata: b\r\n\r\n", "data: a\r\rdata: b\r\r",
                           "data: a\r\n\ndata: b\n\r\n", "data:a\n\ndata:b\n\n"}) {
    EXPECT_EQ(read_whole(text), expected) << testing::PrintToString(text);
  }
}

TEST(SseReader, FieldsAsTheStandardHasThem) {
  EXPECT_EQ(read_whole("data: a\ndata:  b\ndata\n\n"), (Pairs{{"", "a\n b\n"}})) << "one space belongs to the field";
  EXPECT_EQ(read_whole("data: a\r\ndata: b\r\n\r\n"), (Pairs{{"", "a\nb"}})) << "CR LF ends one line, not two";
  EXPECT_EQ(read_whole("data: a\rdata: b\r\r"), (Pairs{{"", "a\nb"}}));
  EXPECT_EQ(read_whole("event: error\ndata: x\n\ndata: y\n\n"), (Pairs{{"error", "x"}, {"", "y"}}));
  EXPECT_EQ(read_whole(": ping\n\n: ping\ndata: x\n: more\nid: 5\nretry: 1\nother: z\ndataset: z\n\n"),
            (Pairs{{"", "x"}}));
  EXPECT_EQ(read_whole("\n\n\ndata: x\n\n\n\n"), (Pairs{{"", "x"}}));
  EXPECT_EQ(read_whole("event: ping\n\ndata: x\n\n"), (Pairs{{"", "x"}})) << "an event without data is none";
  EXPECT_EQ(read_whole("data:\n\n"), (Pairs{{"", ""}})) << "but empty data are data";
  EXPECT_EQ(read_whole("data: a: b\n\n"), (Pairs{{"", "a: b"}}));
  EXPECT_EQ(read_whole("\xEF\xBB\xBF"
                       "data: x\n\n"),
            (Pairs{{"", "x"}}));
  EXPECT_EQ(read_whole("data: x\n\n\xEF\xBB\xBF"
                       "data: y\n\n"),
            (Pairs{{"", "x"}}))
      << "a mark in the middle is none";
}

TEST(SseReader, WhatTheStreamEndsWithinIsNoEvent) {
  EXPECT_EQ(read_whole("data: a\n\ndata: b\n"), (Pairs{{"", "a"}}));
  EXPECT_EQ(read_whole("data: a\n\ndata: b"), (Pairs{{"", "a"}}));
}

TEST(SseReader, CutAnywhere) {
  for (const std::string text :
       {"\xEF\xBB\xBF: hello\r\ndata: {\"a\": 1}\r\ndata: \xC3\xA4\r\n\r\nevent: x\r\ndata: [DONE]\r\n\r\n",
        ": hello\n\ndata: {\"a\": 1}\ndata: b\n\nevent: x\ndata: [DONE]\n\n",
        "data: a\r\rdata: b\r\n\rid: 3\rdata: c\n\r"}) {
    const Pairs whole = read_whole(text);
    ASSERT_GE(whole.size(), 2u);
    const std::string_view view = text;
    for (size_t a = 0; a <= text.size(); ++a) {
      for (size_t b = a; b <= text.size(); ++b) {
        ASSERT_EQ(read_pieces({view.substr(0, a), view.substr(a, b - a), view.substr(b)}), whole)
            << "cut at " << a << " and " << b << " of " << testing::PrintToString(text);
      }
    }
    std::vector<std::string_view> bytes;
    for (size_t i = 0; i < text.size(); ++i) bytes.push_back(view.substr(i, 1));
    EXPECT_EQ(read_pieces(bytes), whole) << "byte by byte";
  }
}

TEST(SseReader, DoesNotKeepAnEventWithoutEnd) {
  const std::string piece(size_t{1} << 20, 'x');
  for (const std::string line_end : {"", "\ndata: "}) {
    SseReader reader;
    size_t fed = 0;
    const auto feed = [&] { return reader.feed("data: " + piece + line_end, [](const SseEvent&) { FAIL(); }); };
    Result<void> result = feed();
    while (result && fed < 2 * SseReader::kMaxEventBytes) {
      result = feed();
      fed += piece.size();
    }
    ASSERT_FALSE(result) << fed;
    EXPECT_EQ(result.error().code, ErrorCode::kCorruption);
    EXPECT_TRUE(result.error().message.contains("16 MiB")) << result.error().message;
  }
}

}  // namespace
}  // namespace tern::load
