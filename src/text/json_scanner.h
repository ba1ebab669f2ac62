// Where a piece of JSON ends that comes byte by byte, and what its members are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tern {

// Follows one object or array as strictly as the standard has it, but for what depends on more than the next byte:
// UTF-8 and pairs of surrogates go through. A few bytes of memory, whatever the text.
class JsonScanner {
 public:
  enum class Step : uint8_t {
    kMore,  // the text may go on so
    kDone,  // the value has ended with this byte; nothing may be fed after it
    kBad,   // no JSON, or nested more than 64 deep; the same
  };
  Step feed(char c);

  int depth() const { return depth_; }  // brackets that are open
  bool in_text() const { return state_ == State::kText || state_ == State::kEscape || state_ == State::kHex; }
  bool after_colon() const { return colon_; }  // the last byte was the one between a name and its value

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
  uint64_t objects_ = 0;  // which of the open brackets are objects: bit 0 is the innermost
  bool is_name_ = false;  // the text is a member's name
  bool colon_ = false;
  int n_hex_ = 0;
  std::string_view word_;  // what is left of it
};

struct JsonMember {
  std::string_view name;   // with its quotes
  std::string_view value;  // as written
};

// Of an object and of an array that the scanner has found whole; `value` begins with its bracket. Beyond `most`
// members, or where the text is something else: nothing.
std::optional<std::vector<JsonMember>> json_members(std::string_view object, size_t most);
std::optional<std::vector<std::string_view>> json_items(std::string_view array, size_t most);

// Without white space before the JSON, and between its parts; what stands behind it stays.
std::string compact_json(std::string_view text);

bool is_json_space(char c);
std::string_view without_json_space(std::string_view text);

}  // namespace tern
