#include "hub/net/retry.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace tern::hub {

bool is_passing_status(long status) {
  return status == 408 || status == 425 || status == 429 || (status >= 500 && status != 501 && status != 505);
}

std::optional<Milliseconds> parse_retry_after(std::string_view value) {
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (error != std::errc() || end != value.data() + value.size() || seconds < 0 || seconds > 1'000'000) {
    return std::nullopt;
  }
  return std::chrono::seconds(seconds);
}

std::optional<Milliseconds> delay_after(const RetryPolicy& policy, int failures, std::optional<Milliseconds> asked) {
  if (failures >= policy.max_failures || (asked && *asked > policy.max_asked)) return std::nullopt;
  const Milliseconds doubled = policy.first_delay * (1 << std::clamp(failures - 1, 0, 20));
  return std::max(std::min(doubled, policy.max_delay), asked.value_or(Milliseconds(0)));
}

}  // namespace tern::hub
