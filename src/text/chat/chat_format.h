// Detects how a chat template handles tools and thoughts, by rendering small conversations with it.
#pragma once

#include <span>

#include "base/result.h"
#include "tern/chat.h"
#include "tern/tokenizer.h"
#include "text/chat/chat_template.h"

namespace tern {

// Finds everything that does not depend on the vocabulary. A feature counts as unknown if the template rejects it.
ChatFormat find_chat_format(const ChatTemplate& chat_template);

// Adds the marks that are control tokens, and the marks of thoughts if only the vocabulary has them.
void add_tokens(ChatFormat& format, const Tokenizer& tokenizer);

// kNotSupported, naming it: a part of the conversation that the template would silently leave out.
Result<void> check_expressible(const ChatFormat& format, std::span<const ChatMessage> messages,
                               const ChatOptions& options);

}  // namespace tern
