// Upper and lower case of all scripts, as Python's str has them.
#pragma once

#include <string>

namespace tern {

void append_lower(char32_t c, std::string& out);
void append_upper(char32_t c, std::string& out);
void append_title(char32_t c, std::string& out);

// True if `c` has a form of the other case. A title case letter, as in U+01C5, has both.
bool is_lower_case(char32_t c);
bool is_upper_case(char32_t c);
inline bool is_cased(char32_t c) { return is_lower_case(c) || is_upper_case(c); }

}  // namespace tern
