// A prompt as the model reads it, for people: what cannot be seen is spelled out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tern::cli {

struct PromptToken {
  int id;
  std::string_view piece;  // its bytes, which need not be whole characters
};

// `text` with escapes for what a reader would not see or a terminal would obey: \t, \\, \xE6 for a byte that belongs to
// no character, \u{202E} for control characters, spaces other than " ", and marks that show nothing. A line break is
// \n, followed by one where `keep_lines`.
std::string spelled_out(std::string_view text, bool keep_lines);

// The prompt, spelled out as is a space at its end, and then a line for each token: its id and its piece, in quotes.
std::string prompt_view(std::string_view prompt, const std::vector<PromptToken>& tokens);

}  // namespace tern::cli
