// Python's textwrap.wrap() for one line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/budget.h"

namespace tern {

struct WordWrap {
  size_t width = 79;  // in characters
  bool breaks_long_words = true, breaks_on_hyphens = true;
};

// The lines; parts of them are next to each other in `text`.
std::vector<std::string_view> wrap_words(std::string_view text, const WordWrap& style, TemplateBudget& budget);

}  // namespace tern
