// A tool's result as a model may read it.
#pragma once

#include <string>

#include "tern/tokenizer.h"

namespace tern::mcp {

// Cuts the text to about `most` tokens and says how much is missing. A spelling of a control token, with which a server
// could end its message and begin another, gets a space behind its first character.
std::string text_for_model(const Tokenizer& tokenizer, std::string text, size_t most);

}  // namespace tern::mcp
