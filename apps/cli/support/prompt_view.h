// Shows a prompt as the model reads it, with invisible characters spelled out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tern::cli {

struct PromptToken {
  int id;
  std::string_view piece;  // its bytes, which need not be whole characters
};

// Returns `text` with escapes for invisible characters and those that a terminal would obey: \t, \\, \xE6 for a byte
// that belongs to no character, \u{202E} for control characters, spaces other than " ", and invisible marks. A line
// break is
// ; if `keep_lines`, a real line break follows.
std::string spelled_out(std::string_view text, bool keep_lines);

// The escaped prompt (including a final space), then one line per token: its id and its quoted piece.
std::string prompt_view(std::string_view prompt, const std::vector<PromptToken>& tokens);

}  // namespace tern::cli
