#include "grammar/schema/formats.h"

#include <algorithm>

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
#define TERN_TIME TERN_CLOCK R"(:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-])" TERN_CLOCK ")"
// Labels have up to 61 characters, and names up to four labels, so that a name is shorter than the limit.
#define TERN_LABEL R"([A-Za-z0-9](?:-?[A-Za-z0-9]){0,30})"
#define TERN_HOST TERN_LABEL R"((?:\.)" TERN_LABEL "){0,3}"
#define TERN_SHORT_LABEL R"([A-Za-z0-9](?:-?[A-Za-z0-9]){0,20})"
#define TERN_EMAIL \
  R"([A-Za-z0-9_+-]{1,20}(?:\.[A-Za-z0-9_+-]{1,20}){0,2}@)" TERN_SHORT_LABEL R"((?:\.)" TERN_SHORT_LABEL "){1,3}"
#define TERN_OCTET R"((?:25[0-5]|2[0-4]\d|1\d\d|[1-9]\d|\d))"
#define TERN_IPV4 TERN_OCTET R"((?:\.)" TERN_OCTET "){3}"
#define TERN_HEX "[0-9A-Fa-f]"
#define TERN_GROUP TERN_HEX "{1,4}"
#define TERN_LAST_GROUPS "(?:" TERN_GROUP ":" TERN_GROUP "|" TERN_IPV4 ")"
// Either all eight groups, or "::" in place of one or more of them.
#define TERN_GROUPS_BEFORE(n) "(?:(?:" TERN_GROUP ":){0," n "}" TERN_GROUP ")?::"
#define TERN_IPV6                                                                                            \
  "(?:(?:" TERN_GROUP ":){6}" TERN_LAST_GROUPS "|::(?:" TERN_GROUP ":){5}" TERN_LAST_GROUPS                  \
  "|" TERN_GROUPS_BEFORE("0") "(?:" TERN_GROUP ":){4}" TERN_LAST_GROUPS "|" TERN_GROUPS_BEFORE(              \
      "1") "(?:" TERN_GROUP ":){3}" TERN_LAST_GROUPS                                                         \
           "|" TERN_GROUPS_BEFORE("2") "(?:" TERN_GROUP ":){2}" TERN_LAST_GROUPS "|" TERN_GROUPS_BEFORE("3") \
               TERN_GROUP ":" TERN_LAST_GROUPS "|" TERN_GROUPS_BEFORE("4") TERN_LAST_GROUPS                  \
      "|" TERN_GROUPS_BEFORE("5") TERN_GROUP "|" TERN_GROUPS_BEFORE("6") ")"

// RFC 3986, and RFC 3987 with `more` characters, without addresses in brackets.
#define TERN_UNRESERVED "A-Za-z0-9\\-._~"
#define TERN_SUB_DELIMITERS "!$&'()*+,;="
#define TERN_PERCENT "%" TERN_HEX TERN_HEX
#define TERN_CHARS(more) "(?:[" TERN_UNRESERVED TERN_SUB_DELIMITERS more "]|" TERN_PERCENT ")"
#define TERN_AUTHORITY(more) "(?:" TERN_CHARS(":" more) "*@)?(?:\\[" TERN_IPV6 "\\]|" TERN_CHARS(more) "*)(?::[0-9]*)?"
#define TERN_PATH(more) "(?:/" TERN_CHARS(":@" more) "*)*"
#define TERN_REST(more) "(?:\\?" TERN_CHARS(":@/?" more) "*)?(?:#" TERN_CHARS(":@/?" more) "*)?"
#define TERN_FROM_AUTHORITY(more) "//" TERN_AUTHORITY(more) TERN_PATH(more)
#define TERN_FROM_ROOT(more) "/(?:" TERN_CHARS(":@" more) "+" TERN_PATH(more) ")?"
#define TERN_URI(more)                                                                               \
  "[A-Za-z][A-Za-z0-9+.\\-]*:(?:" TERN_FROM_AUTHORITY(more) "|" TERN_FROM_ROOT(more) "|" TERN_CHARS( \
      ":@" more) "+" TERN_PATH(more) "|)" TERN_REST(more)
#define TERN_URI_REFERENCE(more)                                                                 \
  "(?:" TERN_URI(more) "|(?:" TERN_FROM_AUTHORITY(more) "|" TERN_FROM_ROOT(more) "|" TERN_CHARS( \
      "@" more) "+" TERN_PATH(more) "|)" TERN_REST(more) ")"
#define TERN_IRI_CHARS \
  R"(\u00A0-\uD7FF\uF900-\uFDCF\uFDF0-\uFFEF\u{10000}-\u{1FFFD}\u{20000}-\u{2FFFD}\u{30000}-\u{3FFFD})"

#define TERN_VARIABLE R"((?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})+(?:\.[A-Za-z0-9_]+)*(?:\*|:[1-9]\d{0,3})?)"
#define TERN_POINTER R"((?:/(?:[^/~]|~[01])*)*)"

// Regular expressions, with groups up to two deep.
#define TERN_ATOM \
  R"((?:[^\\\[\](){}*+?|^$.]|\.|\\[dDwWsSnrt\\.*+?()\[\]{}|^$/\-]|\[\^?(?:a-z|A-Z|0-9|\\[dws\\\]\-]|[^\\\[\]\-^])+\]))"
#define TERN_TIMES R"((?:[*+?]|\{[1-9]\d?\}|\{[1-9]\d?,\})?)"
#define TERN_ATOMS(atom) "(?:" atom TERN_TIMES ")*(?:\\|(?:" atom TERN_TIMES ")*)*"
#define TERN_GROUPED(atom) "(?:" atom "|\\((?:\\?:)?" TERN_ATOMS(atom) "\\))"

constexpr std::string_view kAnyText = R"([\s\S]*)";

constexpr Format kFormats[] = {
    {"date", TERN_DATE, R"(\d{4}-\d\d-\d\d)"},
    {"time", TERN_TIME, R"(\d\d:\d\d:\d\d[\s\S]*)"},
    {"date-time", TERN_DATE "T" TERN_TIME, R"(\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d[\s\S]*)"},
    // Units come in order, and none between two others is left out.
    {"duration",
     R"(P(?:\d{1,9}W|(?:\d{1,9}Y(?:\d{1,9}M(?:\d{1,9}D)?)?|\d{1,9}M(?:\d{1,9}D)?|\d{1,9}D)(?:T(?:\d{1,9}H(?:\d{1,9}M(?:\d{1,9}S)?)?|\d{1,9}M(?:\d{1,9}S)?|\d{1,9}S))?|T(?:\d{1,9}H(?:\d{1,9}M(?:\d{1,9}S)?)?|\d{1,9}M(?:\d{1,9}S)?|\d{1,9}S)))",
     R"(P[\s\S]*)"},
    {"email", TERN_EMAIL, R"([\s\S]*@[\s\S]*)"},
    {"idn-email", TERN_EMAIL, R"([\s\S]*@[\s\S]*)"},
    {"hostname", TERN_HOST, R"([A-Za-z0-9.\-]*)"},
    {"idn-hostname", TERN_HOST, kAnyText},
    {"ipv4", TERN_IPV4, ""},
    {"ipv6", TERN_IPV6, ""},
    {"uri", TERN_URI(""), R"([A-Za-z][A-Za-z0-9+.\-]*:[\s\S]*)"},
    {"uri-reference", TERN_URI_REFERENCE(""), kAnyText},
    {"iri", TERN_URI(TERN_IRI_CHARS), R"([A-Za-z][A-Za-z0-9+.\-]*:[\s\S]*)"},
    {"iri-reference", TERN_URI_REFERENCE(TERN_IRI_CHARS), kAnyText},
    {"uri-template",
     "(?:[A-Za-z0-9\\-._~:/?#@!$&()*+,;=\\[\\]]|" TERN_PERCENT R"(|\{[+#./;?&]?)" TERN_VARIABLE "(?:," TERN_VARIABLE
     ")*\\})*",
     kAnyText},
    {"uuid", TERN_HEX "{8}-" TERN_HEX "{4}-" TERN_HEX "{4}-" TERN_HEX "{4}-" TERN_HEX "{12}", ""},
    {"json-pointer", TERN_POINTER, ""},
    {"relative-json-pointer", "(?:0|[1-9][0-9]{0,8})(?:#|" TERN_POINTER ")", R"(\d[\s\S]*)"},
    {"regex", "\\^?" TERN_ATOMS(TERN_GROUPED(TERN_GROUPED(TERN_ATOM))) "\\$?", kAnyText},
};

}  // namespace

const Format* find_format(std::string_view name) {
  const auto* const found = std::ranges::find(kFormats, name, &Format::name);
  return found == std::end(kFormats) ? nullptr : found;
}

}  // namespace tern::grammar
