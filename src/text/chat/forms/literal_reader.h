// Turns values in Python's or Gemma's notation into JSON while they arrive byte by byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tern {

// Reads JSON, and beside it
// - strings in single quotes, True, False and None;
// - with `is_gemma`, strings between <|"|>, and names of members without quotes.
class LiteralReader {
 public:
  enum class Step : uint8_t {
    kMore,  // the byte belongs to the value
    kEnd,   // the value ended before this byte
    kBad,   // there is no such value
  };
  explicit LiteralReader(bool is_gemma = false) : is_gemma_(is_gemma) {}

  // Appends what is certain to `json`. It is JSON if the strings are UTF-8 and have no lone surrogates.
  Step feed(char c, std::string& json);
  // True if the value may end here.
  bool may_end(std::string& json);

 private:
  enum class State : uint8_t {
    kValue,
    kFirstItem,  // or ]
    kFirstName,  // or }
    kName,
    kColon,
    kAfter,
    kText,
    kEscape,
    kHex,
    kQuote,  // in Gemma's quotation mark
    kWord,
    kBareName,
  };

  Step value(char c, std::string& json);
  Step name(char c, std::string& json);
  Step begin_text(char c, std::string& json);
  Step text_byte(char c, std::string& json);
  Step escaped(char c, std::string& json);
  Step open(char c, std::string& json);
  Step close(char c, std::string& json);
  Step after(char c, std::string& json);
  Step end_text(std::string& json);
  bool end_word(std::string& json);
  Step to(State state) {
    state_ = state;
    return Step::kMore;
  }

  bool is_gemma_;
  State state_ = State::kValue;
  int depth_ = 0;
  uint64_t objects_ = 0;  // a bit per open bracket, set for objects; bit 0 is the innermost
  bool is_name_ = false;  // the text is a member's name
  char quote_ = '"';      // '<' for Gemma's
  size_t n_matched_ = 0;  // bytes of Gemma's mark
  int n_hex_ = 0;
  std::string word_;
};

// The text as the inside of a JSON string.
void append_json_text(std::string_view text, std::string& json);

}  // namespace tern
