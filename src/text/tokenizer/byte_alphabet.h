// The alphabet of byte-level BPE vocabularies: one printable character for each of the 256 bytes.
//
// This is GPT-2's scheme. Bytes that are printable in Latin-1 stand for themselves ('!'..'~', '¡'..'¬', '®'..'ÿ'). The
// other 68 use the characters from U+0100 on, in order. So a space is U+0120 'Ġ' and a newline U+010A 'Ċ'.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tern {

// Appends the bytes that `spelled` stands for. False, with nothing appended: a character is not in the alphabet.
bool append_bytes_of(std::string_view spelled, std::string& out);

// The character for one byte, in UTF-8.
std::string spell_byte(uint8_t byte);

}  // namespace tern
