// The token that a chat template puts after a reply.
#pragma once

#include "text/chat_template.h"
#include "text/vocab.h"

namespace tern {

// Renders a small conversation and makes the special token that follows the assistant's words a stop token: whatever
// ends a turn in the text that the model was trained on ends a reply. Does nothing where none follows, or where the
// template does not render.
void add_template_stop_token(const ChatTemplate& chat_template, Vocab& vocab);

}  // namespace tern
