// Conversations in files: {"model": NAME, "messages": [{"role": "user", "content": TEXT}, …]}, the messages as other
// programs and services have them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tern/engine.h"

namespace tern::cli {

// Replaces what is there only once all is written. kIo.
Result<void> save_conversation(const std::string& path, const std::string& model,
                               std::span<const ChatMessage> messages);

// Also takes the bare array of messages. kNotFound, kIo; kCorruption where it is something else.
Result<std::vector<ChatMessage>> load_conversation(const std::string& path);

}  // namespace tern::cli
