// Makes names from files safe for a one-line message.
#pragma once

#include <string>
#include <string_view>

namespace tern {

// Returns 'text' with everything but printable ASCII written as \xNN, cut after 80 characters. A hostile file must not
// move the cursor of a user's terminal or fill the screen.
// Call it as tern::quoted() with a std::string: std::quoted() is also visible if <iomanip> is included.
std::string quoted(std::string_view text);

}  // namespace tern
