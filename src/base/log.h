// Warnings for the user at the terminal. A program that uses the library can redirect them.
#pragma once

#include <string_view>
#include <utility>

#include "base/text/format_text.h"

namespace tern {

using WarningSink = void (*)(std::string_view line);

// The default sink prints "tern: warning: LINE" to stderr. Passing nullptr restores it.
void set_warning_sink(WarningSink sink);
void emit_warning(std::string_view line);

template <class... Args>
void warn(std::format_string<Args...> format, Args&&... args) {
  emit_warning(format_text(format, std::forward<Args>(args)...));
}

}  // namespace tern
