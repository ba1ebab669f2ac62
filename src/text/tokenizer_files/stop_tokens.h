// The tokens that end a reply.
#pragma once

#include <string_view>

#include "text/tokenizer/vocab.h"

namespace tern {

// Adds `eos` and the control tokens that are known to end a turn in the models that Tern runs (<|eot_id|>, <|im_end|>,
// …). Published files often declare only one of those that their model uses.
void add_known_stop_tokens(Vocab& vocab);

// Adds one; does nothing if it is already known or outside the vocabulary.
void add_stop_token(Vocab& vocab, TokenId id);

// True if a control token with this spelling is known to end a turn.
bool ends_a_turn(std::string_view spelling);

// True if a reply is several messages, as with gpt-oss: what ends a message does not end the reply.
bool replies_are_messages(const Vocab& vocab);

// The control or user-defined token with this spelling, or kNoToken.
TokenId find_special_token(const Vocab& vocab, std::string_view spelling);

}  // namespace tern
