#include "grammar/schema/formats.h"

#include <array>
#include <utility>

namespace tern::grammar {
namespace {

// Years start at 0001. February has 29 days if the year's last two digits are divisible by 4 and not 00, or if the year
// is divisible by 400.
#define TERN_YEAR R"((?:000[1-9]|00[1-9]\d|0[1-9]\d\d|[1-9]\d{3}))"
#define TERN_LEAP_YEAR R"((?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00))"
#define TERN_DATE                                                                                                  \
  "(?:" TERN_YEAR                                                                                                  \
  R"(-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8])))" \
  "|" TERN_LEAP_YEAR "-02-29)"
#define TERN_CLOCK R"((?:[01]\d|2[0-3]):[0-5]\d)"
#define TERN_TIME TERN_CLOCK R"(:[0-5]\d(?:\.\d{1,6})?(?:Z|[+-])" TERN_CLOCK ")"
// Labels have up to 61 characters, and names up to four labels, so that a name is shorter than the limit.
#define TERN_LABEL R"([A-Za-z0-9](?:-?[A-Za-z0-9]){0,30})"
#define TERN_HOST TERN_LABEL R"((?:\.)" TERN_LABEL "){0,3}"
#define TERN_OCTET R"((?:25[0-5]|2[0-4]\d|1\d\d|[1-9]\d|\d))"
#define TERN_HEX "[0-9A-Fa-f]"
#define TERN_GROUP TERN_HEX "{1,4}"

constexpr auto kFormats = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"date", TERN_DATE},
    {"time", TERN_TIME},
    {"date-time", TERN_DATE "T" TERN_TIME},
    // Units come in order, and none between two others is left out.
    {"duration",
     R"(P(?:\d{1,9}W|(?:\d{1,9}Y(?:\d{1,9}M(?:\d{1,9}D)?)?|\d{1,9}M(?:\d{1,9}D)?|\d{1,9}D)(?:T(?:\d{1,9}H(?:\d{1,9}M(?:\d{1,9}S)?)?|\d{1,9}M(?:\d{1,9}S)?|\d{1,9}S))?|T(?:\d{1,9}H(?:\d{1,9}M(?:\d{1,9}S)?)?|\d{1,9}M(?:\d{1,9}S)?|\d{1,9}S)))"},
    {"email", R"([A-Za-z0-9_+-]{1,20}(?:\.[A-Za-z0-9_+-]{1,20}){0,2}@)" TERN_LABEL R"((?:\.)" TERN_LABEL "){1,2}"},
    {"hostname", TERN_HOST},
    {"ipv4", TERN_OCTET R"((?:\.)" TERN_OCTET "){3}"},
    // Either all eight groups, or "::" in place of one or more of them.
    {"ipv6", "(?:" TERN_GROUP ":){7}" TERN_GROUP "|:(?::" TERN_GROUP "){1,7}|(?:" TERN_GROUP ":){1,7}:|(?:" TERN_GROUP
             ":){1}(?::" TERN_GROUP "){1,6}|(?:" TERN_GROUP ":){2}(?::" TERN_GROUP "){1,5}|(?:" TERN_GROUP
             ":){3}(?::" TERN_GROUP "){1,4}|(?:" TERN_GROUP ":){4}(?::" TERN_GROUP "){1,3}|(?:" TERN_GROUP
             ":){5}(?::" TERN_GROUP "){1,2}|(?:" TERN_GROUP ":){6}:" TERN_GROUP "|::"},
    {"uuid", TERN_HEX "{8}-" TERN_HEX "{4}-" TERN_HEX "{4}-" TERN_HEX "{4}-" TERN_HEX "{12}"},
});

}  // namespace

std::optional<std::string_view> format_pattern(std::string_view name) {
  for (const auto& [known, pattern] : kFormats) {
    if (known == name) return pattern;
  }
  return std::nullopt;
}

}  // namespace tern::grammar
