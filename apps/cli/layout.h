// Text for people: numbers with units, paragraphs, padded columns. Lengths are in characters, not bytes.
#pragma once

#include <cstdint>
#include <format>
#include <string>
#include <string_view>
#include <vector>

namespace tern::cli {

std::string vformat_text(std::string_view format, std::format_args arguments);

// std::format, but compiled once: its machinery costs every file that calls it 2 s.
template <class... Args>
[[nodiscard]] std::string format_text(std::format_string<Args...> format, Args&&... args) {
  return vformat_text(format.get(), std::make_format_args(args...));
}

std::string human_bytes(uint64_t bytes);    // "812 B", "12.3 MB" (1 MB = 10^6 bytes)
std::string human_count(uint64_t count);    // "812", "24.5 M"
std::string human_seconds(double seconds);  // "35 ms", "1.25 s", "3 min 20 s"
std::string human_number(double number);    // four significant digits: "0.1234", "98.77", "1234"

// Characters of UTF-8 text, each taken as one column wide.
size_t display_width(std::string_view text);

// `text` filled up with spaces to `width` columns, at the right (pad) or at the left (pad_left).
std::string pad(std::string_view text, size_t width);
std::string pad_left(std::string_view text, size_t width);

// At most `width` columns of `text`; the last is "…" where something was cut off.
std::string shorten(std::string_view text, size_t width);

// Words broken into lines of at most `width` columns; a longer word has a line of its own.
std::vector<std::string> wrap_words(std::string_view text, size_t width);

// One line, safe to show: a file's strings may hold anything. Line feeds and the like become spaces; the rest of what
// acts on a terminal unseen is written out (tern/visible.h).
std::string one_line(std::string_view text);

// The candidate that `word` is a misspelling of: one edit away (two or three where it is longer), or beginning with it.
// "" where none is, or more than one: a wrong guess is worse than none.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace tern::cli
