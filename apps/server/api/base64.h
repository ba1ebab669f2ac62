// Bytes as text: base64 with padding.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tern::server {

std::string to_base64(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);  // none: it is no base64

}  // namespace tern::server
