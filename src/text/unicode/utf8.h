// UTF-8: decoding, validation, and turning a stream of bytes into whole characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tern {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

enum class Utf8Status : uint8_t {
  kValid,
  kInvalid,     // cannot become a character, whatever follows
  kIncomplete,  // the text ends inside a character
};

struct Utf8Char {
  char32_t code = 0;  // only if valid
  size_t length = 0;  // bytes of the character, or of the ill-formed part that one U+FFFD replaces; never 0
  Utf8Status status = Utf8Status::kInvalid;
};

// The first character of `text`, which must not be empty. Overlong forms, surrogates and everything above U+10FFFF are
// invalid. As in browsers, an invalid part is as long as Unicode's "maximal subpart" (standard, section 3.9, table
// 3-7).
Utf8Char decode_utf8(std::string_view text);

// The length of the longest prefix that is valid UTF-8.
size_t valid_utf8_prefix(std::string_view text);

inline bool is_valid_utf8(std::string_view text) { return valid_utf8_prefix(text) == text.size(); }

// Appends the UTF-8 form of `code`, which must be a Unicode scalar value.
void append_utf8(char32_t code, std::string& out);

// `text` for an error message: invalid bytes and those that visible() changes as \xNN, cut after about `max_bytes`
// bytes.
std::string printable(std::string_view text, size_t max_bytes = 60);

// Makes valid UTF-8 of bytes that arrive in pieces cut anywhere, as tokens do.
class Utf8Stream {
 public:
  // Returns the characters that are complete now; holds back at most 3 bytes. Invalid bytes become U+FFFD.
  std::string feed(std::string_view bytes);

  // Must be called at the end. Returns U+FFFD if the stream ended inside a character, else nothing.
  std::string finish();

 private:
  std::string pending_;
};

}  // namespace tern
