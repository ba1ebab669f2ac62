#include "server/api/base64.h"

#include <algorithm>
#include <cstdint>

namespace tern::server {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t n = std::min<size_t>(bytes.size() - i, 3);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0);
    for (size_t digit = 0; digit < 4; ++digit) {
      text += digit > n ? '=' : kDigits[(bits >> (18 - 6 * digit)) & 63];
    }
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  size_t n_padding = 0;
  while (n_padding < 2 && n_padding < text.size() && text[text.size() - 1 - n_padding] == '=') ++n_padding;
  std::string bytes;
  for (size_t i = 0; i < text.size(); i += 4) {
    uint32_t bits = 0;
    for (size_t k = i; k < i + 4; ++k) {
      const size_t digit = k < text.size() - n_padding ? kDigits.find(text[k]) : 0;
      if (digit == kDigits.npos) return std::nullopt;
      bits = bits << 6 | static_cast<uint32_t>(digit);
    }
    for (const int shift : {16, 8, 0}) bytes += static_cast<char>(bits >> shift & 0xFF);
  }
  bytes.resize(bytes.size() - n_padding);
  return bytes;
}

}  // namespace tern::server
