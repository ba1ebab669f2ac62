// Turns tokens into the text that the user sees: whole UTF-8 characters, up to the first stop string.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/unicode/utf8.h"

namespace tern {

class TextStream {
 public:
  explicit TextStream(std::span<const std::string> stop_strings)
      : stop_strings_(stop_strings.begin(), stop_strings.end()) {}

  // Takes new bytes and returns the text that may be shown. Text that could become a stop string is held back. Unless
  // `may_stop`, a stop string that ends in these bytes is ignored.
  std::string feed(std::string_view bytes, bool may_stop = true);

  // Returns the text held back, at the end of the reply. Empty after a stop string.
  std::string finish();

  bool stopped() const { return stopped_; }  // a stop string has appeared

 private:
  std::string release(std::string_view text, bool may_stop);

  std::vector<std::string> stop_strings_;
  Utf8Stream utf8_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace tern
