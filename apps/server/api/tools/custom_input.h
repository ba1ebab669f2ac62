// The text in the arguments of a custom tool's call, {"input": "…"}, while they arrive.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tern::server {

class CustomInput {
 public:
  // More of the arguments. Returns more of the text.
  std::string feed(std::string_view arguments);
  // The arguments are complete, or cut off. Returns what is left: of other arguments than expected, their JSON.
  std::string finish();

 private:
  enum class State : uint8_t {
    kBefore,  // the text
    kText,
    kEscape,
    kHex,
    kAfter,
    kOther,  // the arguments are none that were expected
  };
  void before(char c);
  void in_text(char c, std::string& out);
  void hex_digit(char c, std::string& out);

  State state_ = State::kBefore;
  std::string whole_;             // the arguments, until their text begins
  uint32_t code_ = 0, high_ = 0;  // a UTF-16 unit that is arriving; the first of a pair
  int n_digits_ = 0;
};

}  // namespace tern::server
