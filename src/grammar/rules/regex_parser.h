// The parts of a regular expression, as they are written.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "grammar/rules/char_set.h"
#include "grammar/rules/regex.h"

namespace tern::grammar {

struct RegexPart {
  enum Kind : uint8_t { kChars, kAtStart, kAtEnd, kSequence, kChoice, kRepeat } kind;
  CharSet set = {};
  std::vector<RegexPart> parts = {};
  int low = 0, high = 0;  // kRepeat; high < 0: no limit
};

// Errors are those of parse_regex().
Result<RegexPart> read_regex(std::u32string_view text, const RegexSyntax& syntax);

}  // namespace tern::grammar
