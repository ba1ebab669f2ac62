// Warnings for the person at the terminal. A library user may take them over.
#pragma once

#include <string_view>
#include <utility>

#include "base/format_text.h"

namespace tern {

using WarningSink = void (*)(std::string_view line);

// The default sink prints "tern: warning: LINE" to stderr. Passing nullptr brings it back.
void set_warning_sink(WarningSink sink);
void emit_warning(std::string_view line);

template <class... Args>
void warn(std::format_string<Args...> format, Args&&... args) {
  emit_warning(format_text(format, std::forward<Args>(args)...));
}

}  // namespace tern
