#include "load/metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tern::load {
namespace {

constexpr double kMs = 1000;

// Tokens that each text event counts for, so that a reply's events add up to its tokens.
double tokens_per_event(const RequestRecord& record) {
  return static_cast<double>(record.tokens()) / static_cast<double>(record.text_times.size());
}

void count_failure(std::vector<Failures>& failures, const RequestRecord& record) {
  const int status = record.outcome == Outcome::kHttpStatus ? record.status : 0;
  const auto known = std::ranges::find_if(
      failures, [&](const Failures& f) { return f.outcome == record.outcome && f.status == status; });
  if (known != failures.end()) {
    ++known->count;
  } else {
    failures.push_back({.outcome = record.outcome, .status = status, .count = 1, .example = record.message});
  }
}

struct OutcomeText {
  Outcome outcome;
  std::string_view name, words;
};

constexpr OutcomeText kOutcomes[] = {
    {Outcome::kComplete, "complete", "complete"},
    {Outcome::kConnection, "connection", "no connection, or closed before an answer"},
    {Outcome::kHttpStatus, "http_status", "answered with an error"},
    {Outcome::kTimeout, "timeout", "no byte for too long"},
    {Outcome::kCut, "cut", "the connection ended within the reply"},
    {Outcome::kNoDone, "no_done", "the reply ended without [DONE]"},
    {Outcome::kServerError, "server_error", "an error within the reply"},
    {Outcome::kNotAStream, "not_a_stream", "an answer that is no stream of JSON"},
    {Outcome::kNoText, "no_text", "a reply without text"},
    {Outcome::kStopped, "stopped", "ended by Ctrl-C"},
};

const OutcomeText& outcome_text(Outcome outcome) {
  return *std::ranges::find(kOutcomes, outcome, &OutcomeText::outcome);
}

}  // namespace

std::optional<double> percentile(std::span<const double> sorted, double share) {
  if (sorted.empty()) return std::nullopt;
  // 0.99 * 100 is slightly more than 99 in binary, but must give rank 99.
  const double rank = std::ceil(share * static_cast<double>(sorted.size()) - 1e-9);
  const auto index = static_cast<size_t>(std::clamp(rank, 1.0, static_cast<double>(sorted.size())));
  return sorted[index - 1];
}

Distribution::Distribution(std::vector<double> values) : sorted(std::move(values)) { std::ranges::sort(sorted); }

std::optional<double> Distribution::mean() const {
  if (sorted.empty()) return std::nullopt;
  return std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size());
}

double ttft_ms(const RequestRecord& record) { return (record.text_times.front() - record.due) * kMs; }

std::vector<double> gaps_ms(const RequestRecord& record) {
  std::vector<double> gaps;
  for (size_t i = 1; i < record.text_times.size(); ++i)
    gaps.push_back((record.text_times[i] - record.text_times[i - 1]) * kMs);
  return gaps;
}

std::optional<double> reply_rate(const RequestRecord& record) {
  if (record.text_times.size() < 2 || record.tokens() < 2) return std::nullopt;
  const double seconds = record.text_times.back() - record.text_times.front();
  if (seconds <= 0) return std::nullopt;
  return static_cast<double>(record.tokens() - 1) / seconds;
}

bool met(const RequestRecord& record, const Deadlines& deadlines) {
  if (!record.is_complete()) return false;
  if (deadlines.ttft_ms && ttft_ms(record) > *deadlines.ttft_ms) return false;
  return !deadlines.itl_ms ||
         std::ranges::all_of(gaps_ms(record), [&](double gap) { return gap <= *deadlines.itl_ms; });
}

Window steady_window(const LoadResult& result) {
  double first = result.ended;
  for (const RequestRecord& record : result.records) {
    if (record.is_complete()) first = std::min(first, record.ended);
  }
  const Window steady = {.begin = first, .end = result.offered_until, .is_steady = true};
  const auto n = std::ranges::count_if(
      result.records, [&](const RequestRecord& r) { return r.is_complete() && steady.contains(r.ended); });
  if (static_cast<size_t>(n) >= kMinInWindow) return steady;
  return {.begin = 0, .end = result.ended, .is_steady = false};
}

Metrics measure(const LoadResult& result, const Deadlines& deadlines) {
  Metrics metrics;
  metrics.window = steady_window(result);
  std::vector<double> ttft, gap, request, rate, late;
  double window_tokens = 0;
  int64_t window_requests = 0, window_met = 0;
  for (const RequestRecord& record : result.records) {
    late.push_back((record.sent - record.due) * kMs);
    if (record.outcome == Outcome::kStopped) ++metrics.stopped;
    if (record.outcome == Outcome::kStopped) continue;
    if (!record.is_complete()) {
      ++metrics.failed;
      count_failure(metrics.failures, record);
      continue;
    }
    ++metrics.complete;
    ttft.push_back(ttft_ms(record));
    std::ranges::copy(gaps_ms(record), std::back_inserter(gap));
    request.push_back((record.ended - record.due) * kMs);
    if (const std::optional<double> own = reply_rate(record)) rate.push_back(*own);
    metrics.tokens += record.tokens();
    metrics.events += static_cast<int64_t>(record.text_times.size());
    if (record.counted_tokens) ++metrics.counted_by_usage;
    metrics.prompt_tokens += record.prompt_tokens.value_or(0);
    metrics.cached_tokens += record.cached_tokens.value_or(0);
    metrics.knows_cached = metrics.knows_cached || record.cached_tokens.has_value();
    const bool in_time = met(record, deadlines);
    metrics.met += in_time;
    for (const double time : record.text_times) {
      if (metrics.window.contains(time)) window_tokens += tokens_per_event(record);
    }
    if (!metrics.window.contains(record.ended)) continue;
    ++window_requests;
    window_met += in_time;
  }
  metrics.ttft_ms = Distribution(std::move(ttft));
  metrics.gap_ms = Distribution(std::move(gap));
  metrics.request_ms = Distribution(std::move(request));
  metrics.reply_rate = Distribution(std::move(rate));
  metrics.late_ms = Distribution(std::move(late));
  std::ranges::stable_sort(metrics.failures, std::ranges::greater(), &Failures::count);
  if (const double seconds = metrics.window.seconds(); seconds > 0) {
    metrics.tokens_per_s = window_tokens / seconds;
    metrics.requests_per_s = static_cast<double>(window_requests) / seconds;
    metrics.goodput = static_cast<double>(window_met) / seconds;
  }
  return metrics;
}

std::vector<double> rate_over_time(const LoadResult& result, double bin_seconds) {
  std::vector<double> rates(static_cast<size_t>(std::ceil(std::max(result.ended, bin_seconds) / bin_seconds)));
  for (const RequestRecord& record : result.records) {
    if (!record.is_complete()) continue;
    for (const double time : record.text_times) {
      const auto bin = static_cast<size_t>(std::max(time, 0.0) / bin_seconds);
      rates[std::min(bin, rates.size() - 1)] += tokens_per_event(record) / bin_seconds;
    }
  }
  return rates;
}

std::string outcome_words(Outcome outcome) { return std::string(outcome_text(outcome).words); }
std::string_view outcome_name(Outcome outcome) { return outcome_text(outcome).name; }

}  // namespace tern::load
