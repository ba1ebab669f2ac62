// Finds the end of a piece of JSON that arrives byte by byte, and splits JSON into its members.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tern {

// Follows one object or array as strictly as the standard, except that UTF-8 and surrogate pairs, which need more than
// the next byte, are not checked. It needs a few bytes of memory for any text.
class JsonScanner {
 public:
  enum class Step : uint8_t {
    kMore,  // the text is valid so far
    kDone,  // this byte ends the value; nothing may be fed after it
    kBad,   // not JSON, or nested more than 64 deep; nothing may be fed after it
  };
  Step feed(char c);

  int depth() const { return depth_; }  // open brackets
  bool in_text() const { return state_ == State::kText || state_ == State::kEscape || state_ == State::kHex; }
  bool after_colon() const { return colon_; }  // the last byte was the colon after a name

 private:
  enum class State : uint8_t {
    kStart,
    kValue,
    kFirstItem,  // or ]
    kFirstName,  // or }
    kName,
    kColon,
    kAfterValue,
    kText,
    kEscape,
    kHex,
    kWord,  // true, false, null
    kMinus,
    kZero,
    kDigits,
    kPoint,
    kFraction,
    kE,
    kESign,
    kExponent,
  };

  Step begin_value(char c);
  Step open(bool is_object);
  Step close(bool is_object);
  Step after_value(char c);
  Step text_byte(char c);
  Step number_byte(char c);
  Step to(State state) {
    state_ = state;
    return Step::kMore;
  }

  State state_ = State::kStart;
  int depth_ = 0;
  uint64_t objects_ = 0;  // a bit per open bracket, set for objects; bit 0 is the innermost
  bool is_name_ = false;  // the text is a member's name
  bool colon_ = false;
  int n_hex_ = 0;
  std::string_view word_;  // the rest of it
};

struct JsonMember {
  std::string_view name;   // with its quotes
  std::string_view value;  // as written
};

// The members of an object and the items of an array that the scanner has found complete; `value` begins with its
// bracket. nullopt: more than `most` of them, or other text.
std::optional<std::vector<JsonMember>> json_members(std::string_view object, size_t most);
std::optional<std::vector<std::string_view>> json_items(std::string_view array, size_t most);

// Removes white space before the JSON and between its parts. Text after the JSON is unchanged.
std::string compact_json(std::string_view text);

bool is_json_space(char c);
std::string_view without_json_space(std::string_view text);

}  // namespace tern
