// Regular expressions for JSON Schema's `format`.
#pragma once

#include <optional>
#include <string_view>

namespace tern::grammar {

// A regular expression that the whole string must match. Every text that matches has the format. The reverse does not
// hold for rare forms: leap seconds, addresses with comments. nullopt: a format that Tern does not know. Known:
// date-time, date, time, duration (RFC 3339), email (RFC 5321, plain local parts), hostname (RFC 1123), ipv4, ipv6
// (without an IPv4 part), uuid (RFC 4122).
std::optional<std::string_view> format_pattern(std::string_view name);

}  // namespace tern::grammar
