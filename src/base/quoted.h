// Names from files, made fit for a one-line message.
#pragma once

#include <string>
#include <string_view>

namespace tern {

// 'text' with everything but printable ASCII written as \xNN, and cut after 80 characters: a hostile file must not be
// able to move the cursor of somebody's terminal, or to fill the screen.
// Called as tern::quoted() with a std::string: std::quoted() is found too where <iomanip> was included.
std::string quoted(std::string_view text);

}  // namespace tern
