// What a chat template knows of tools and thoughts, found out by looking at what it makes of small conversations.
#pragma once

#include <span>

#include "base/result.h"
#include "tern/chat.h"
#include "tern/tokenizer.h"
#include "text/chat_template.h"

namespace tern {

// Everything but what depends on the vocabulary. What the template objects to, it does not know.
ChatFormat find_chat_format(const ChatTemplate& chat_template);

// The marks that are control tokens, and marks of thoughts where only the vocabulary has them.
void add_tokens(ChatFormat& format, const Tokenizer& tokenizer);

// kNotSupported, by name, what a conversation has and the template would leave out in silence.
Result<void> check_expressible(const ChatFormat& format, std::span<const ChatMessage> messages,
                               const ChatOptions& options);

}  // namespace tern
