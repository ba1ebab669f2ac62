// What JSON Schema's `format` asks of a string.
#pragma once

#include <optional>
#include <string_view>

namespace tern::grammar {

// A regular expression that all of the string matches; every text that it matches has the format (not the other way
// round where the format has forms that nobody writes: leap seconds, addresses with comments). Nothing for a format
// that Tern does not know. Known: date-time, date, time, duration (RFC 3339), email (RFC 5321, plain local parts),
// hostname (RFC 1123), ipv4, ipv6 (without an IPv4 part), uuid (RFC 4122).
std::optional<std::string_view> format_pattern(std::string_view name);

}  // namespace tern::grammar
