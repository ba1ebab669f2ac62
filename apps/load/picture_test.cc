#include "load/picture.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "load/axis.h"

namespace tern::load {
namespace {

TEST(Axis, LinearEndsAtARoundNumber) {
  EXPECT_EQ(Axis::linear(100).ticks(), (std::vector<double>{0, 20, 40, 60, 80, 100}));
  EXPECT_EQ(Axis::linear(101).end(), 150);
  EXPECT_EQ(Axis::linear(0.7).ticks().size(), 5u);  // 0, 0.2, … 0.8
  EXPECT_NEAR(Axis::linear(0.7).end(), 0.8, 1e-12);
  EXPECT_EQ(Axis::linear(0).end(), 1);
  const Axis axis = Axis::linear(100);
  EXPECT_EQ(axis.place(50), 0.5);
  EXPECT_EQ(axis.place(-1), 0);
  EXPECT_EQ(axis.place(200), 1);
  for (double largest = 0.003; largest < 1e7; largest *= 1.37) {
    const Axis any = Axis::linear(largest);
    EXPECT_GE(any.end(), largest * (1 - 1e-9));
    EXPECT_LE(any.ticks().size(), 7u) << largest;
    EXPECT_LT(any.end(), 2 * largest);
  }
}

TEST(Axis, LogarithmicHasPowersOfTen) {
  EXPECT_EQ(Axis::logarithmic(3, 90).ticks(), (std::vector<double>{1, 2, 5, 10, 20, 50, 100}));
  const Axis axis = Axis::logarithmic(3, 250);
  EXPECT_EQ(axis.ticks(), (std::vector<double>{1, 3, 10, 30, 100, 300, 1000}));
  EXPECT_NEAR(axis.place(10), 1.0 / 3, 1e-12);
  EXPECT_EQ(axis.place(0), 0);
  EXPECT_EQ(axis.place(5000), 1);
  EXPECT_EQ(Axis::logarithmic(0.01, 9999).ticks().size(), 7u);
  EXPECT_EQ(Axis::logarithmic(10, 10).end(), 100);
}

TEST(Axis, TickTexts) {
  EXPECT_EQ(tick_text(0), "0");
  EXPECT_EQ(tick_text(0.2), "0.2");
  EXPECT_EQ(tick_text(0.1 + 0.2), "0.3");
  EXPECT_EQ(tick_text(2500), "2,500");
  EXPECT_EQ(tick_text(250000), "250,000");
  EXPECT_EQ(tick_text(100), "100");
}

LoadResult some_requests(int n) {
  LoadResult result;
  for (int i = 0; i < n; ++i) {
    RequestRecord record{.due = i * 0.1, .sent = i * 0.1, .status = 200};
    for (int t = 0; t < 5; ++t) record.text_times.push_back(i * 0.1 + 0.2 + t * 0.02);
    record.ended = record.text_times.back();
    result.records.push_back(record);
  }
  result.offered_until = n * 0.1;
  result.ended = n * 0.1 + 0.3;
  return result;
}

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

std::string drawn(const LoadResult& result, const Deadlines& deadlines = {}, const PictureText& text = {}) {
  return picture(result, measure(result, deadlines), deadlines, text);
}

TEST(Picture, SaysWhatItShows) {
  const std::string svg = drawn(some_requests(40), {.ttft_ms = 250}, {.title = "model <a> & b", .subtitle = "chat"});
  for (const char* part :
       {"model &lt;a&gt; &amp; b", ">chat<", "Time to the first token", "Time between tokens", "Tokens per second",
        ">at most so many ms<", "s since the run began", "p50 200 · p90 200 · p99 200",
        "deadline 250 ms: 100.0 % in time", "steady part", "aria-label"}) {
    EXPECT_TRUE(svg.contains(part)) << part << " is missing from " << svg;
  }
  EXPECT_EQ(count(svg, "class=\"limit\""), 1u) << "there is no deadline for gaps";
  EXPECT_EQ(count(svg, "class=\"curve\""), 2u);
  EXPECT_FALSE(svg.contains("nan"));
}

TEST(Picture, FailuresAndWhatIsMissing) {
  LoadResult result = some_requests(20);
  result.records[3].outcome = Outcome::kCut;
  EXPECT_TRUE(drawn(result).contains("1 failed"));
  EXPECT_EQ(count(drawn(result), "class=\"failure\""), 4u) << "a cross where it ended, and one in the legend";
  for (RequestRecord& record : result.records) record.outcome = Outcome::kCut;
  const std::string nothing = drawn(result);
  EXPECT_EQ(count(nothing, "there is nothing to show"), 2u);
  EXPECT_FALSE(nothing.contains("nan"));
  EXPECT_FALSE(drawn({}).contains("nan"));
}

TEST(Picture, StaysSmallWithManyRequests) { EXPECT_LT(drawn(some_requests(20'000)).size(), 100'000u); }

TEST(Picture, ALongTailHasALogarithmicAxis) {
  LoadResult result = some_requests(40);
  EXPECT_FALSE(drawn(result).contains("logarithmic"));
  result.records[5].text_times[0] -= 0.199;  // makes the gap after it much longer
  EXPECT_TRUE(drawn(result).contains("ms, logarithmic"));
}

}  // namespace
}  // namespace tern::load
