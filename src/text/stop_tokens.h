// Which tokens end a reply.
#pragma once

#include <string_view>

#include "text/vocab.h"

namespace tern {

// Adds the control tokens that are known to end a turn in the models that Tern runs (<|eot_id|>, <|im_end|>, …), and
// `eos`. Published files often declare but one of those that their model uses.
void add_known_stop_tokens(Vocab& vocab);

// Adds one; does nothing where it is known already or outside the vocabulary.
void add_stop_token(Vocab& vocab, TokenId id);

// Whether a control token spelled so is known to end a turn.
bool ends_a_turn(std::string_view spelling);

// The control or user-defined token that is spelled so, or kNoToken.
TokenId find_special_token(const Vocab& vocab, std::string_view spelling);

}  // namespace tern
