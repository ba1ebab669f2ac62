// Computes the metrics of a run from the records of its requests.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "load/load_run.h"

namespace tern::load {

// The smallest element of `sorted` that at least `share` of them do not exceed (nearest rank): a measured value.
// `share` is in (0, 1]. Empty if `sorted` is.
std::optional<double> percentile(std::span<const double> sorted, double share);

struct Distribution {
  std::vector<double> sorted;

  explicit Distribution(std::vector<double> values = {});
  size_t size() const { return sorted.size(); }
  std::optional<double> at(double share) const { return percentile(sorted, share); }
  std::optional<double> mean() const;
};

// In milliseconds; empty: no deadline.
struct Deadlines {
  std::optional<double> ttft_ms = {};
  std::optional<double> itl_ms = {};

  bool any() const { return ttft_ms || itl_ms; }
};

// Milliseconds from when the request was due to the first text.
double ttft_ms(const RequestRecord& record);

// Milliseconds between successive events with text.
std::vector<double> gaps_ms(const RequestRecord& record);

// Tokens per second of one reply: those after the first, over the time from the first text to the last. Empty for
// replies that arrive as one piece.
std::optional<double> reply_rate(const RequestRecord& record);

// True if the request is complete, its first text was in time, and no gap exceeded the deadline.
bool met(const RequestRecord& record, const Deadlines& deadlines);

// A part of the run, in seconds since it began.
struct Window {
  double begin = 0;
  double end = 0;
  bool is_steady = false;  // false: the whole run, because too few requests ended in the steady part

  double seconds() const { return end - begin; }
  bool contains(double time) const { return time > begin && time <= end; }
};

// With fewer requests ending in the steady part, a rate would mean little.
inline constexpr size_t kMinInWindow = 10;

// The steady part: from the first completed request to when the load began to end. Before it no client has a reply;
// after it clients run out of work.
Window steady_window(const LoadResult& result);

// Failures of one kind.
struct Failures {
  Outcome outcome;
  int status;  // for Outcome::kHttpStatus
  int64_t count;
  std::string example;  // the first one's message
};

struct Metrics {
  Distribution ttft_ms;     // of complete requests, like all others except late_ms
  Distribution gap_ms;      // over all replies
  Distribution request_ms;  // from when it was due to the end
  Distribution reply_rate;  // tokens/s
  Distribution late_ms;     // how long requests waited for a thread of the generator; over all requests sent

  int64_t complete = 0;
  int64_t failed = 0;  // without those stopped by the user
  int64_t stopped = 0;
  std::vector<Failures> failures;  // most frequent first

  int64_t tokens = 0;            // in complete replies
  int64_t events = 0;            // events with text, in complete replies
  int64_t counted_by_usage = 0;  // complete replies whose token counts the server reported
  int64_t prompt_tokens = 0;     // of those replies
  int64_t cached_tokens = 0;
  bool knows_cached = false;  // the server reports how many prompt tokens came from its cache

  Window window;
  double tokens_per_s = 0;    // of complete requests within the window; a reply's tokens are spread over its events
  double requests_per_s = 0;  // complete requests that ended within the window
  double goodput = 0;         // requests among these that met the deadlines, per second
  int64_t met = 0;            // requests that met the deadlines, in the whole run
};

Metrics measure(const LoadResult& result, const Deadlines& deadlines);

// Tokens per second over time, from the beginning of the run: one value for every `bin_seconds`.
std::vector<double> rate_over_time(const LoadResult& result, double bin_seconds);

// The description of an outcome: "the connection ended within the reply".
std::string outcome_words(Outcome outcome);
// The name of an outcome for programs: "cut".
std::string_view outcome_name(Outcome outcome);

}  // namespace tern::load
