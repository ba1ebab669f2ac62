// Decides if a request is worth repeating, and how long to wait before.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace tern::hub {

using Milliseconds = std::chrono::milliseconds;

struct RetryPolicy {
  int max_failures = 8;             // in a row, without a byte received in between
  Milliseconds first_delay{250};    // doubles with every failure …
  Milliseconds max_delay{16'000};   // … up to this
  Milliseconds max_asked{300'000};  // if a host asks for a longer wait, give up
};

// Statuses that mean "not now": too many requests, timeouts, and errors of a server or of a proxy before it.
bool is_passing_status(long status);

// How long a Retry-After header asks to wait, in seconds or until a date; none where it makes no sense.
std::optional<Milliseconds> parse_retry_after(std::string_view value);

// The wait after the `failures`-th failure in a row (1 for the first): the doubling delay, or the host's wish if that
// is longer. None: give up.
std::optional<Milliseconds> delay_after(const RetryPolicy& policy, int failures, std::optional<Milliseconds> asked);

}  // namespace tern::hub
