// Text for people: paragraphs, padded columns, and human_numbers.h. Lengths count characters, not bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/text/format_text.h"
#include "base/text/human_numbers.h"

namespace tern::cli {

// Number of UTF-8 characters, each taken as one column wide.
size_t display_width(std::string_view text);

// `text` padded with spaces to `width` columns, on the right (pad) or on the left (pad_left).
std::string pad(std::string_view text, size_t width);
std::string pad_left(std::string_view text, size_t width);

// At most `width` columns of `text`; if cut, it ends with "…".
std::string shorten(std::string_view text, size_t width);

// Breaks words into lines of at most `width` columns. A longer word gets its own line.
std::vector<std::string> wrap_words(std::string_view text, size_t width);

// Makes untrusted text from a file safe to show on one line. Line feeds and the like become spaces; other invisible
// characters that affect a terminal are escaped (tern/visible.h).
std::string one_line(std::string_view text);

// Returns the candidate that `word` probably misspells: one edit away (two or three if it is longer), or beginning with
// it. Returns "" if none or several match: a wrong guess is worse than none.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace tern::cli
