// The figures of a run, out of what was noted of its requests.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "load/load_run.h"

namespace tern::load {

// The smallest of `sorted` that at least `share` of them do not exceed (nearest rank): a value that was measured.
// `share` in (0, 1]. Nothing where there are none.
std::optional<double> percentile(std::span<const double> sorted, double share);

struct Distribution {
  std::vector<double> sorted;

  explicit Distribution(std::vector<double> values = {});
  size_t size() const { return sorted.size(); }
  std::optional<double> at(double share) const { return percentile(sorted, share); }
  std::optional<double> mean() const;
};

// In milliseconds; nothing: no deadline.
struct Deadlines {
  std::optional<double> ttft_ms = {};
  std::optional<double> itl_ms = {};

  bool any() const { return ttft_ms || itl_ms; }
};

// From when it should have been sent to the first text.
double ttft_ms(const RequestRecord& record);

// The times between one event with text and the next.
std::vector<double> gaps_ms(const RequestRecord& record);

// Tokens a second of one reply: those after the first, over the time from the first text to the last. Nothing for
// replies that come as one piece.
std::optional<double> reply_rate(const RequestRecord& record);

// Complete, the first text in time, and no gap longer than the deadline.
bool met(const RequestRecord& record, const Deadlines& deadlines);

// A part of the run, in seconds since it began.
struct Window {
  double begin = 0;
  double end = 0;
  bool is_steady = false;  // false: the whole run, because too few requests end in the steady part

  double seconds() const { return end - begin; }
  bool contains(double time) const { return time > begin && time <= end; }
};

// Fewer requests that end in the steady part are no basis for a rate.
inline constexpr size_t kMinInWindow = 10;

// The steady part: from the first request that is complete to where the load began to end. Before it nobody has a
// reply, after it clients have nothing to do.
Window steady_window(const LoadResult& result);

// Failures of one kind.
struct Failures {
  Outcome outcome;
  int status;  // for Outcome::kHttpStatus
  int64_t count;
  std::string example;  // what was said of the first
};

struct Metrics {
  Distribution ttft_ms;     // of complete requests, as are all others
  Distribution gap_ms;      // of all replies together
  Distribution request_ms;  // from when it should have been sent to the end
  Distribution reply_rate;  // tokens/s
  Distribution late_ms;     // how long requests waited for a thread of the generator; all that were sent

  int64_t complete = 0;
  int64_t failed = 0;  // without those that the user stopped
  int64_t stopped = 0;
  std::vector<Failures> failures;  // most frequent first

  int64_t tokens = 0;            // of complete replies
  int64_t events = 0;            // with text, of complete replies
  int64_t counted_by_usage = 0;  // complete replies whose tokens the server has counted
  int64_t prompt_tokens = 0;     // of them
  int64_t cached_tokens = 0;
  bool knows_cached = false;  // the server says how many of a prompt's tokens it had computed before

  Window window;
  double tokens_per_s = 0;    // of complete requests within the window: a reply's tokens are spread over its events
  double requests_per_s = 0;  // that ended within the window, complete
  double goodput = 0;         // of these, those that met the deadlines, per second
  int64_t met = 0;            // in the whole run
};

Metrics measure(const LoadResult& result, const Deadlines& deadlines);

// Tokens a second over time, `bin_seconds` a value, from the beginning of the run.
std::vector<double> rate_over_time(const LoadResult& result, double bin_seconds);

// "the connection ended within the reply"
std::string outcome_words(Outcome outcome);
// "cut": for programs.
std::string_view outcome_name(Outcome outcome);

}  // namespace tern::load
