// When a request is worth repeating, and how long to wait before.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace tern::hub {

using Milliseconds = std::chrono::milliseconds;

struct RetryPolicy {
  int max_failures = 8;             // in a row, without a byte in between
  Milliseconds first_delay{250};    // doubles with every failure …
  Milliseconds max_delay{16'000};   // … up to this
  Milliseconds max_asked{300'000};  // a host that asks for more patience than this is not waited for
};

// Statuses that say "not now": too many requests, timeouts, and the faults of a server or something before it.
bool is_passing_status(long status);

// Seconds out of a Retry-After header; none for a date, which hubs do not send.
std::optional<Milliseconds> parse_retry_after(std::string_view value);

// What to wait after the `failures`-th failure in a row (1 for the first): the host's wish, else the doubling delay.
// None where it is time to give up.
std::optional<Milliseconds> delay_after(const RetryPolicy& policy, int failures, std::optional<Milliseconds> asked);

}  // namespace tern::hub
