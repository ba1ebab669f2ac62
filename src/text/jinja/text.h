// Python's str functions for chat templates. Lengths and positions are in characters. Bytes that are not UTF-8 count as
// characters and are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/template_text.h"

namespace tern {

// The length of the first character; `text` must not be empty.
size_t character_bytes(std::string_view text);
size_t count_characters(std::string_view text, TemplateBudget& budget);
// The offset of character `n`; the end of the text if it has fewer.
size_t character_offset(std::string_view text, size_t n);

// The characters that str.strip() removes by default.
bool is_python_space(char32_t c);
std::string_view strip_left(std::string_view text);
std::string_view strip_right(std::string_view text);
// Without characters of `set` at that end.
std::string_view strip_left(std::string_view text, std::string_view set, TemplateBudget& budget);
std::string_view strip_right(std::string_view text, std::string_view set, TemplateBudget& budget);

std::string lower(std::string_view text, TemplateBudget& budget);
std::string upper(std::string_view text, TemplateBudget& budget);
std::string capitalize(std::string_view text, TemplateBudget& budget);
// str.title(); title_words() is Jinja's filter, whose words end at white space, hyphens and opening brackets.
std::string title(std::string_view text, TemplateBudget& budget);
std::string title_words(std::string_view text, TemplateBudget& budget);
// str.islower() and isupper(): there are letters with two cases, and all are in this one.
bool is_all_lower(std::string_view text, TemplateBudget& budget);
bool is_all_upper(std::string_view text, TemplateBudget& budget);
// True for a text that is not empty and whose characters all have the property. Bytes that are not UTF-8 have none.
bool all_of(std::string_view text, bool (*has)(char32_t), TemplateBudget& budget);

// With the five characters that mean something in HTML as entities.
std::string escape_markup(std::string_view text, TemplateBudget& budget);

// Takes time linear in both lengths; npos: not found.
size_t find_text(std::string_view text, std::string_view what, TemplateBudget& budget);

// `n_most` < 0: all. `old` may be empty, as in Python.
void replace(std::string_view text, std::string_view old, std::string_view with, int64_t n_most, TemplateText& out);
// The parts between separators; if `separator` is empty, between runs of white space.
std::vector<std::string_view> split(std::string_view text, std::string_view separator, int64_t n_most,
                                    TemplateBudget& budget);
// str.splitlines(). `keeps_ends`: with the line breaks.
std::vector<std::string_view> split_lines(std::string_view text, bool keeps_ends, TemplateBudget& budget);

}  // namespace tern
