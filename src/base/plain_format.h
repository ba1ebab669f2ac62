// std::format's texts without std::format, for builds that are downloaded: its tables for floating-point numbers alone
// are 100 kB there.
#pragma once

#include <format>
#include <string>
#include <string_view>

namespace tern {

// What messages need: {}, {N} and {:[[fill]align][#][0][width][.precision][type]} of numbers, characters and text,
// without nested braces. `format` has been checked by the compiler (format_text.h); an argument of another kind is
// "{?}".
std::string plain_format(std::string_view format, std::format_args arguments);

}  // namespace tern
