#include "base/text/quoted.h"

#include "base/text/format_text.h"

namespace tern {

std::string quoted(std::string_view text) {
  constexpr size_t kLongest = 80;
  std::string out = "'";
  for (const char c : text.substr(0, kLongest)) {
    if (c >= 0x20 && c < 0x7F) {
      out += c;
    } else {
      out += format_text("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  if (text.size() > kLongest) out += "...";
  return out + "'";
}

}  // namespace tern
