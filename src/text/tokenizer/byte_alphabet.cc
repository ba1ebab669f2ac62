#include "text/tokenizer/byte_alphabet.h"

#include <array>

#include "text/unicode/utf8.h"

namespace tern {
namespace {

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr std::array<char32_t, 256> kSpelling = [] {
  std::array<char32_t, 256> spelling{};
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) spelling[byte] = stands_for_itself(byte) ? byte : next++;
  return spelling;
}();

constexpr size_t kAlphabetEnd = 0x100 + 68;

constexpr std::array<int16_t, kAlphabetEnd> kByteOf = [] {
  std::array<int16_t, kAlphabetEnd> byte_of{};
  byte_of.fill(-1);
  for (int byte = 0; byte < 256; ++byte) byte_of[kSpelling[static_cast<size_t>(byte)]] = static_cast<int16_t>(byte);
  return byte_of;
}();

}  // namespace

bool append_bytes_of(std::string_view spelled, std::string& out) {
  const size_t old_size = out.size();
  for (size_t at = 0; at < spelled.size();) {
    const Utf8Char c = decode_utf8(spelled.substr(at));
    if (c.status != Utf8Status::kValid || c.code >= kAlphabetEnd || kByteOf[c.code] < 0) {
      out.resize(old_size);
      return false;
    }
    out.push_back(static_cast<char>(kByteOf[c.code]));
    at += c.length;
  }
  return true;
}

std::string spell_byte(uint8_t byte) {
  std::string out;
  append_utf8(kSpelling[byte], out);
  return out;
}

}  // namespace tern
