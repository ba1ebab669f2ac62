// One template from the two that some models have.
#pragma once

#include <string>
#include <string_view>

namespace tern {

// Renders as `with_tools` if the conversation has tools, else as `without`.
std::string join_chat_templates(std::string_view with_tools, std::string_view without);

}  // namespace tern
