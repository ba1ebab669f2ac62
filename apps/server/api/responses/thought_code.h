// The thoughts in `encrypted_content`, for clients that send no other form of them back. They are not secret: anyone
// may read them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tern::server {

std::string encode_thoughts(std::string_view thoughts);
std::optional<std::string> decode_thoughts(std::string_view code);  // none: another server wrote it

}  // namespace tern::server
