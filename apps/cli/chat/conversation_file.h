// Conversations in files: {"model": NAME, "messages": [{"role": "user", "content": TEXT}, …]}. The messages have the
// form that other programs and services use, calls of tools and their results too.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tern/engine.h"

namespace tern::cli {

// Replaces an existing file only after all is written. kIo: it cannot be written.
Result<void> save_conversation(const std::string& path, const std::string& model,
                               std::span<const ChatMessage> messages);

// Also accepts the bare array of messages. kNotFound, kIo: cannot be read; kCorruption: the content is something else.
Result<std::vector<ChatMessage>> load_conversation(const std::string& path);

}  // namespace tern::cli
