#include "hub/net/retry.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>

namespace tern::hub {

bool is_passing_status(long status) {
  return status == 408 || status == 425 || status == 429 || (status >= 500 && status != 501 && status != 505);
}

std::optional<Milliseconds> parse_retry_after(std::string_view value) {
  constexpr int64_t kMost = 1'000'000'000;
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (end == value.data() + value.size() && error != std::errc::invalid_argument) {
    if (error == std::errc::result_out_of_range) seconds = value.starts_with('-') ? -1 : kMost;
    return seconds < 0 ? std::nullopt : std::optional<Milliseconds>(std::chrono::seconds(std::min(seconds, kMost)));
  }
  const time_t date = curl_getdate(std::string(value).c_str(), nullptr);
  if (date < 0) return std::nullopt;
  const auto left = std::chrono::system_clock::from_time_t(date) - std::chrono::system_clock::now();
  return std::clamp(std::chrono::ceil<Milliseconds>(left), Milliseconds(0), Milliseconds(1000 * kMost));
}

std::optional<Milliseconds> delay_after(const RetryPolicy& policy, int failures, std::optional<Milliseconds> asked) {
  if (failures >= policy.max_failures || (asked && *asked > policy.max_asked)) return std::nullopt;
  const Milliseconds doubled = policy.first_delay * (1 << std::clamp(failures - 1, 0, 20));
  return std::max(std::min(doubled, policy.max_delay), asked.value_or(Milliseconds(0)));
}

}  // namespace tern::hub
