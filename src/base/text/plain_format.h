// Replaces std::format in builds that users download: its floating-point tables alone take 100 kB there.
#pragma once

#include <format>
#include <string>
#include <string_view>

namespace tern {

// Supports what messages need: {}, {N} and {:[[fill]align][#][0][width][.precision][type]} for numbers, characters and
// text, without nested braces. The compiler has checked `format` (format_text.h). An argument of another type prints
// "{?}".
std::string plain_format(std::string_view format, std::format_args arguments);

}  // namespace tern
