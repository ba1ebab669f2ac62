#include "load/metrics.h"

#include <gtest/gtest.h>

#include "load/random.h"
#include "load/same_replies.h"

namespace tern::load {
namespace {

// Times are in seconds; texts arrive at `first`, `first` + `gap`, …
RequestRecord record_of(double due, double first, double gap, int n_texts, std::optional<int64_t> tokens = {}) {
  RequestRecord record{.due = due, .sent = due, .status = 200};
  for (int i = 0; i < n_texts; ++i) record.text_times.push_back(first + i * gap);
  record.ended = record.text_times.empty() ? first : record.text_times.back();
  record.counted_tokens = tokens;
  return record;
}

TEST(Percentile, IsTheNearestRank) {
  std::vector<double> hundred;
  for (int i = 1; i <= 100; ++i) hundred.push_back(i);
  EXPECT_EQ(percentile(hundred, 0.5), 50);
  EXPECT_EQ(percentile(hundred, 0.9), 90);
  EXPECT_EQ(percentile(hundred, 0.99), 99);
  EXPECT_EQ(percentile(hundred, 1), 100);
  EXPECT_EQ(percentile(hundred, 0.001), 1);
  EXPECT_EQ(percentile(std::vector{3.0}, 0.5), 3);
  EXPECT_EQ(percentile(std::vector{1.0, 2.0}, 0.5), 1);
  EXPECT_EQ(percentile(std::vector{1.0, 2.0, 3.0}, 0.5), 2);
  EXPECT_EQ(percentile(std::vector{1.0, 2.0, 3.0}, 0.67), 3);
  EXPECT_EQ(percentile(std::vector<double>{}, 0.5), std::nullopt);
}

TEST(Metrics, TimesOfARequest) {
  // Due at 1 s but sent late, at 1.5 s: time spent waiting for the generator counts.
  RequestRecord record = record_of(1, 2, 0.25, 3);
  record.sent = 1.5;
  EXPECT_DOUBLE_EQ(ttft_ms(record), 1000);
  EXPECT_EQ(gaps_ms(record), (std::vector<double>{250, 250}));
  EXPECT_DOUBLE_EQ(*reply_rate(record), 4) << "2 tokens after the first, in half a second";
  record.counted_tokens = 7;  // several tokens per event
  EXPECT_DOUBLE_EQ(*reply_rate(record), 12);
  EXPECT_EQ(reply_rate(record_of(0, 1, 0, 1)), std::nullopt);
  EXPECT_EQ(reply_rate(record_of(0, 1, 0, 3)), std::nullopt) << "all in one piece";
  EXPECT_TRUE(gaps_ms(record_of(0, 1, 0, 1)).empty());
}

TEST(Metrics, DeadlinesAreOfTheFirstTextAndOfEveryGap) {
  RequestRecord record = record_of(0, 0.5, 0.1, 3);
  EXPECT_TRUE(met(record, {}));
  EXPECT_TRUE(met(record, {.ttft_ms = 500, .itl_ms = 100.001}));
  EXPECT_FALSE(met(record, {.ttft_ms = 499}));
  EXPECT_FALSE(met(record, {.itl_ms = 99}));
  record.text_times.push_back(1.5);  // one long gap is enough
  EXPECT_FALSE(met(record, {.itl_ms = 700}));
  EXPECT_TRUE(met(record, {.itl_ms = 801}));
  record.outcome = Outcome::kCut;
  EXPECT_FALSE(met(record, {}));
}

// 20 requests, one after another, each one second long: first text after 0.5 s, then one every 0.125 s, five in all.
LoadResult one_by_one() {
  LoadResult result;
  for (int i = 0; i < 20; ++i) result.records.push_back(record_of(i, i + 0.5, 0.125, 5));
  result.offered_until = 18.5;
  result.ended = 20;
  return result;
}

TEST(Metrics, RatesAreOfTheSteadyWindow) {
  const LoadResult result = one_by_one();
  const Window window = steady_window(result);
  EXPECT_TRUE(window.is_steady);
  EXPECT_DOUBLE_EQ(window.begin, 1);
  EXPECT_DOUBLE_EQ(window.end, 18.5);
  const Metrics metrics = measure(result, {.ttft_ms = 600});
  // The window begins at the last text of the first request, and holds all texts of 1 to 17 and the first of 18.
  EXPECT_DOUBLE_EQ(metrics.tokens_per_s, (17 * 5 + 1) / 17.5);
  EXPECT_DOUBLE_EQ(metrics.requests_per_s, 17 / 17.5);
  EXPECT_DOUBLE_EQ(metrics.goodput, 17 / 17.5);
  EXPECT_EQ(metrics.met, 20);
  EXPECT_EQ(metrics.complete, 20);
  EXPECT_EQ(metrics.tokens, 100);
  EXPECT_EQ(metrics.ttft_ms.at(0.5), 500);
  EXPECT_EQ(metrics.gap_ms.size(), 80u);
}

TEST(Metrics, TheWholeRunWhereTheSteadyPartHasTooFewRequests) {
  LoadResult result = one_by_one();
  result.records.resize(10);  // 9 requests end after the first
  result.offered_until = 10;
  result.ended = 10;
  const Window window = steady_window(result);
  EXPECT_FALSE(window.is_steady);
  EXPECT_EQ(window.begin, 0);
  EXPECT_EQ(window.end, 10);
  EXPECT_DOUBLE_EQ(measure(result, {}).tokens_per_s, 5);
  result.records.push_back(record_of(9, 9.5, 0.125, 5));
  EXPECT_TRUE(steady_window(result).is_steady);
}

TEST(Metrics, GoodputCountsOnlyWhatWasInTime) {
  LoadResult result = one_by_one();
  for (size_t i = 0; i < 20; i += 2) result.records[i].text_times[4] += 0.5;  // a long gap at the end
  const Metrics metrics = measure(result, {.ttft_ms = 600, .itl_ms = 200});
  EXPECT_EQ(metrics.met, 10);
  EXPECT_DOUBLE_EQ(metrics.goodput, 9 / 17.5) << "1, 3, … 17";
  EXPECT_DOUBLE_EQ(metrics.requests_per_s, 17 / 17.5);
}

TEST(Metrics, FailuresCountInNothingElse) {
  LoadResult result = one_by_one();
  const auto fail_one = [&](size_t i, Outcome outcome, int status, const char* message) {
    result.records[i].outcome = outcome;
    result.records[i].status = status;
    result.records[i].message = message;
  };
  fail_one(3, Outcome::kHttpStatus, 503, "busy");
  fail_one(4, Outcome::kHttpStatus, 404, "no model");
  fail_one(5, Outcome::kHttpStatus, 503, "busy too");
  fail_one(6, Outcome::kCut, 200, "");
  fail_one(19, Outcome::kStopped, 0, "");
  const Metrics metrics = measure(result, {});
  EXPECT_EQ(metrics.complete, 15);
  EXPECT_EQ(metrics.failed, 4);
  EXPECT_EQ(metrics.stopped, 1);
  EXPECT_EQ(metrics.tokens, 75);
  EXPECT_EQ(metrics.ttft_ms.size(), 15u);
  EXPECT_DOUBLE_EQ(metrics.requests_per_s, 13 / 17.5);
  ASSERT_EQ(metrics.failures.size(), 3u);
  EXPECT_EQ(metrics.failures[0].status, 503);
  EXPECT_EQ(metrics.failures[0].count, 2);
  EXPECT_EQ(metrics.failures[0].example, "busy");
  EXPECT_EQ(metrics.failures[2].outcome, Outcome::kCut);
}

TEST(Metrics, TokensByUsageAreSpreadOverTheTexts) {
  LoadResult result;
  result.records.push_back(record_of(0, 0.5, 1, 4, 10));
  result.ended = 4;
  const std::vector<double> rates = rate_over_time(result, 1);
  EXPECT_EQ(rates, (std::vector<double>{2.5, 2.5, 2.5, 2.5}));
  EXPECT_EQ(rate_over_time(result, 2), (std::vector<double>{2.5, 2.5}));
  const Metrics metrics = measure(result, {});
  EXPECT_EQ(metrics.tokens, 10);
  EXPECT_EQ(metrics.events, 4);
  EXPECT_EQ(metrics.counted_by_usage, 1);
  EXPECT_DOUBLE_EQ(metrics.tokens_per_s, 2.5);
}

TEST(Metrics, NothingAtAll) {
  const Metrics metrics = measure({}, {});
  EXPECT_EQ(metrics.complete, 0);
  EXPECT_EQ(metrics.tokens_per_s, 0);
  EXPECT_EQ(metrics.ttft_ms.at(0.5), std::nullopt);
  EXPECT_EQ(metrics.gap_ms.mean(), std::nullopt);
}

TEST(Random, ArrivalsAreExponential) {
  Random random(7, 3), again(7, 3), other(7, 4);
  constexpr int kDraws = 100'000;
  constexpr double kRate = 4;
  double sum = 0;
  int longer_than_mean = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double gap = random.seconds_to_next(kRate);
    ASSERT_GE(gap, 0);
    ASSERT_EQ(gap, again.seconds_to_next(kRate));
    ASSERT_NE(gap, other.seconds_to_next(kRate));
    sum += gap;
    longer_than_mean += gap > 1 / kRate;
  }
  // Five standard deviations. For a mean of exponential gaps: 1 / (rate √n); for a share p: √(p (1 − p) / n).
  EXPECT_NEAR(sum / kDraws, 1 / kRate, 5 / (kRate * std::sqrt(kDraws)));
  const double share = std::exp(-1);
  EXPECT_NEAR(static_cast<double>(longer_than_mean) / kDraws, share, 5 * std::sqrt(share * (1 - share) / kDraws));
}

TEST(SameReplies, FindsWhereTheyPart) {
  std::vector<RequestRecord> records;
  const auto add = [&](const std::string& body, const std::string& text, Outcome outcome = Outcome::kComplete) {
    RequestRecord record{.index = static_cast<int64_t>(records.size()), .outcome = outcome};
    record.body = body;
    record.text = text;
    records.push_back(record);
  };
  add("a", "the same");
  add("b", "a long beginning, and näh then");
  add("a", "the same");
  add("b", "a long beginning, and näh else");
  add("b", "a long beginning, and näh then");
  add("b", "a long beg", Outcome::kCut);  // not a complete reply
  add("c", "alone");
  const SameCheck check = check_same(records);
  EXPECT_EQ(check.questions, 2);
  EXPECT_EQ(check.compared, 5);
  ASSERT_EQ(check.differing.size(), 1u);
  const DifferingReplies& d = check.differing[0];
  EXPECT_EQ(d.asked, 3);
  EXPECT_EQ(d.distinct, 2);
  EXPECT_EQ(d.first_index, 1);
  EXPECT_EQ(d.other_index, 3);
  EXPECT_EQ(d.at_byte, 27u);
  EXPECT_EQ(d.first_text, "beginning, and näh then");
  EXPECT_EQ(d.other_text, "beginning, and näh else");
}

TEST(SameReplies, OneThatGoesOnIsAnother) {
  std::vector<RequestRecord> records(2);
  records[0].text = "abc";
  records[1].text = "abcd";
  const SameCheck check = check_same(records);
  ASSERT_EQ(check.differing.size(), 1u);
  EXPECT_EQ(check.differing[0].at_byte, 3u);
}

}  // namespace
}  // namespace tern::load
